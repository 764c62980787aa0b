//! The documents of a pool, with what a model says of each.

use super::PrevalenceJobError;
use crate::Probability;
use crate::Progress;
use crate::corpus::{
    ContentRef, Document, LabelNeed, ReadOptions, ReadSummary, Source, read_batches,
};
use crate::jobs::content::Readable;
use crate::jobs::{DocumentKey, DocumentKeys, PredictError, Predictor};
use crate::numeric::binomial_at_most;
use crate::pipeline::{Acquaintance, Model, PredictBuffers};

/// The documents of a pool, with what a model says of each.
#[derive(Debug)]
pub struct Pool<'m> {
    pub(super) model: &'m Model,
    /// Which documents they are.
    pub(super) keys: Vec<DocumentKey>,
    /// A hash of what each says.
    pub(super) contents: Vec<u128>,
    /// Document by document, class by class.
    pub(super) probabilities: Vec<f64>,
    log_odds: Vec<f64>,
    /// Whether the model takes the document for one that it learned from.
    learned: Vec<bool>,
    /// What was read.
    pub read: ReadSummary,
}

/// One document.
struct Said {
    id: Option<String>,
    row: u64,
    content: u128,
    classes: Vec<Probability>,
    learned: bool,
}

impl<'m> Pool<'m> {
    /// Reads and predicts the documents of a source. Fields that `options` do not name are those that the model learned from.
    pub fn read(
        model: &'m Model,
        source: &Source,
        options: &ReadOptions,
        progress: &dyn Progress,
    ) -> Result<Self, PrevalenceJobError> {
        let mut options = options.clone();
        options.labels_required = LabelNeed::Ignored;
        options.own_id = true;
        options.fields = options.fields.completed_by(&Predictor::new(model).fields());
        options.fields.weight = None;
        let readable = Readable::of(model);
        let map = |documents: Vec<Document>| -> Result<Vec<Said>, PredictError> {
            let mut buffers = PredictBuffers::default();
            let one = |document: Document| {
                let content = ContentRef::from(&document);
                readable.check(content)?;
                let mut classes = vec![Probability::from_log_odds(0.0); model.class_count()];
                model.predict_into(content, &mut buffers, &mut classes);
                let mut known = Acquaintance::default();
                model.count_known(content, &mut buffers, &mut known);
                Ok(Said {
                    content: content_key(content),
                    classes,
                    learned: known.hits > 0,
                    id: document.id,
                    row: document.row,
                })
            };
            documents.into_iter().map(one).collect()
        };
        let mut next = DocumentKeys::new(options.fields.asks_for_id());
        let mut failure = None;
        let mut all: Vec<Said> = Vec::new();
        let mut keys = Vec::new();
        let read = read_batches(source, &options, progress, map, |batch| match batch {
            Ok(batch) => {
                for mut said in batch {
                    keys.push(next.next(said.id.take(), said.row));
                    all.push(said);
                }
            }
            Err(error) => failure = failure.take().or(Some(error)),
        })?;
        if let Some(error) = failure {
            return Err(error.into());
        }
        let classes = || all.iter().flat_map(|said| &said.classes);
        Ok(Self {
            model,
            keys,
            probabilities: classes().map(|p| p.value()).collect(),
            log_odds: classes().map(|p| p.log_odds()).collect(),
            contents: all.iter().map(|said| said.content).collect(),
            learned: all.iter().map(|said| said.learned).collect(),
            read,
        })
    }

    /// How many classes the model has.
    pub(super) fn class_count(&self) -> usize {
        self.model.class_count()
    }

    /// What was stated, as it was stated.
    pub(super) fn stated_probabilities(&self) -> Vec<Probability> {
        self.log_odds
            .iter()
            .map(|&log_odds| Probability::from_log_odds(log_odds))
            .collect()
    }

    /// What was stated of one class.
    pub(super) fn stated_of(&self, class: usize) -> Vec<f64> {
        let from = self.probabilities.iter().skip(class);
        from.step_by(self.class_count()).copied().collect()
    }

    /// Refuses a sample that the model learned from more often than from the rest of the pool. Where it learned from both alike, a sample
    /// drawn at random is one all the same.
    pub(super) fn refuse_learned(
        &self,
        places: &[usize],
        file: &str,
    ) -> Result<(), PrevalenceJobError> {
        let known = places.iter().filter(|&&place| self.learned[place]).count();
        let all = self.learned.iter().filter(|&&learned| learned).count();
        let labelled = places.len();
        let (rest, left) = (all - known, self.learned.len() - labelled);
        // The filter takes one document in thousands for one that it is not.
        let share = ((rest as f64 + 1.0) / (left as f64 + 2.0)).min(1.0);
        let fewer = (known as u64).saturating_sub(1);
        let chance = 1.0 - binomial_at_most(fewer, labelled as u64, share);
        if known >= 3 && chance < 1e-3 {
            return Err(PrevalenceJobError::Learned {
                file: file.to_owned(),
                known,
                labelled,
                share: 100.0 * rest as f64 / (left as f64).max(1.0),
            });
        }
        Ok(())
    }
}

/// A hash of what a document says, as it came.
pub(super) fn content_key(content: ContentRef<'_>) -> u128 {
    let mut hasher = blake3::Hasher::new();
    content.for_each_part(|letter, bytes| {
        hasher.update(&[letter]);
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    });
    let mut key = [0; 16];
    hasher.finalize_xof().fill(&mut key);
    u128::from_le_bytes(key)
}
