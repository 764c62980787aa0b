//! What a model keeps of its held-out forecasts, so that sets and certified answers can be asked for later.

use serde::{Deserialize, Serialize};

use super::{CombinedModel, Model, PredictBuffers, SingleModel, TrainingKeys, TrainingSummary};
use crate::corpus::ContentRef;
use crate::decision::{
    AnswerTable, CalibrationRows, CalibrationSource, LabelSetTable, SetKind, SetSettings, SetTable,
};
use crate::evaluation::Forecasts;
use crate::numeric::stable_hash;
use crate::{CalibrationError, Probability, Task};

/// About so many scores are kept of each kind of set.
const MOST_SCORES: usize = 1_000;
/// So many of each class at least, if it has them.
const MOST_OF_CLASS: usize = 50;
/// Tables are made from so many numbers at most: rows are in the order of a hash, so that the first are a random sample.
const MOST_CELLS: usize = 10_000_000;
/// And from so many rows, however many classes there are.
const LEAST_ROWS: usize = 10_000;

/// Tables of held-out forecasts: how true classes fared, by kind of set, and how often sure answers were right. Copies of a document
/// count once, and weights do not count.
///
/// In a file they are the JSON of this, as bytes of one array: readers that know nothing of it pass over it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromiseTables {
    /// One for each kind of set, where documents have one label.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sets: Vec<SetTable>,
    /// Where they may have several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    labels: Option<LabelSetTable>,
    /// The most probable class of each document, where documents have one label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answers: Option<AnswerTable>,
}

impl PromiseTables {
    /// From forecasts of documents by scorers and curves that had not seen them; nothing where there are none.
    fn of(forecasts: &Forecasts, model_key: u64) -> Option<Self> {
        let width = forecasts.class_names.len();
        let rows = forecasts.labels.len();
        let used = rows.min((MOST_CELLS / width.max(1)).max(LEAST_ROWS));
        let stated: Vec<f64> = forecasts.probabilities[..used * width]
            .iter()
            .map(|probability| probability.value())
            .collect();
        match forecasts.task {
            Task::MultiLabel => {
                let labels = forecasts.labels.of_rows(0..used);
                let source = CalibrationSource::HeldOut;
                let table = LabelSetTable::fit(&stated, width, &labels, source).ok()?;
                Some(Self {
                    sets: Vec::new(),
                    labels: Some(table.compact(MOST_SCORES)),
                    answers: None,
                })
            }
            Task::SingleLabel => {
                let labels: Vec<u32> = forecasts.labels.iter().map(first).collect();
                let rows = CalibrationRows::new(&stated, width, &labels[..used]);
                Some(Self {
                    sets: set_tables(&rows, model_key).ok()?,
                    labels: None,
                    answers: answers(&forecasts.probabilities, width, &labels).ok(),
                })
            }
        }
    }

    /// The same as a file keeps it, for the model of this summary.
    pub(super) fn kept(forecasts: &Forecasts, summary: &TrainingSummary) -> Option<Vec<u8>> {
        let classes = forecasts.class_names.iter().map(String::as_str);
        let key = model_key(classes, summary.held_out.log_loss);
        serde_json::to_vec(&Self::of(forecasts, key)?).ok()
    }

    /// The table of a kind of set; nothing where documents may have several labels.
    pub fn sets(&self, kind: SetKind) -> Option<&SetTable> {
        self.sets.iter().find(|table| table.settings().kind == kind)
    }

    /// The table of sets where documents may have several labels.
    pub fn labels(&self) -> Option<&LabelSetTable> {
        self.labels.as_ref()
    }

    /// How often sure answers were right; nothing where documents may have several labels.
    pub fn answers(&self) -> Option<&AnswerTable> {
        self.answers.as_ref()
    }

    /// Of a file; whether they fit the model is asked, too.
    fn read(bytes: &[u8], class_count: usize, task: Task) -> Option<Self> {
        let tables: Self = serde_json::from_slice(bytes).ok()?;
        let labels = tables.labels.as_ref();
        let fits = tables
            .sets
            .iter()
            .all(|table| table.class_count() == class_count)
            && labels.is_none_or(|labels| labels.label_count() == class_count)
            && labels.is_some() == (task == Task::MultiLabel);
        fits.then_some(tables)
    }
}

fn first(labels: &[u32]) -> u32 {
    labels.first().copied().unwrap_or(0)
}

/// A table for each kind of set. Draws follow from the number of a row, which follows from the documents' content.
fn set_tables(
    rows: &CalibrationRows<'_>,
    model_key: u64,
) -> Result<Vec<SetTable>, CalibrationError> {
    let keys: Vec<u64> = (0..rows.labels.len() as u64).collect();
    let rows = CalibrationRows {
        keys: Some(&keys),
        ..*rows
    };
    let of_kind = |&kind: &SetKind| {
        let settings = SetSettings {
            kind,
            model_key,
            ..SetSettings::default()
        };
        let table = SetTable::fit(settings, &rows, CalibrationSource::HeldOut)?;
        Ok(table.compact(MOST_SCORES, MOST_OF_CLASS))
    };
    SetKind::ALL.iter().map(of_kind).collect()
}

/// The largest probability of each row, and whether its class is the true one.
fn answers(
    probabilities: &[Probability],
    width: usize,
    labels: &[u32],
) -> Result<AnswerTable, CalibrationError> {
    let answer = |(row, &label): (&[Probability], &u32)| {
        let (class, confidence) = best(row);
        (confidence, class == label as usize)
    };
    let rows = probabilities.chunks_exact(width.max(1));
    let (confidences, right): (Vec<f64>, Vec<bool>) = rows.zip(labels).map(answer).unzip();
    AnswerTable::new(&confidences, &right)
}

/// The most probable class, the first of equals, and how sure it is: its log-odds, which lose nothing near 1.
pub(crate) fn best(row: &[Probability]) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (class, probability) in row.iter().enumerate() {
        if probability.log_odds() > best.1 {
            best = (class, probability.log_odds());
        }
    }
    (best.0, best.1.clamp(f64::MIN, f64::MAX))
}

/// What names a model in draws: it follows from its classes and from how well it forecast.
fn model_key<'a>(classes: impl Iterator<Item = &'a str>, log_loss: f64) -> u64 {
    let mut bytes = log_loss.to_le_bytes().to_vec();
    for class in classes {
        bytes.extend_from_slice(class.as_bytes());
        bytes.push(0);
    }
    stable_hash(&bytes)
}

impl SingleModel {
    /// With what is kept of held-out forecasts.
    pub(super) fn with_promises(self, promises: Option<Vec<u8>>) -> Self {
        Self { promises, ..self }
    }

    /// With all that is kept of the documents learned from.
    pub(super) fn kept(self, keys: Option<TrainingKeys>, promises: Option<Vec<u8>>) -> Self {
        self.with_training_keys(keys).with_promises(promises)
    }
}

impl CombinedModel {
    /// The same; its members keep nothing of their own.
    pub(super) fn with_promises(mut self, promises: Option<Vec<u8>>) -> Self {
        self.promises = promises;
        for member in &mut self.members {
            member.model.promises = None;
        }
        self
    }
}

impl Model {
    /// Tables of held-out forecasts, if the model keeps any: models of earlier versions do not.
    pub fn promise_tables(&self) -> Option<PromiseTables> {
        let bytes = match self {
            Self::Single(model) => model.promises.as_deref(),
            Self::Combined(model) => model.promises.as_deref(),
        };
        PromiseTables::read(bytes?, self.class_count(), self.task())
    }

    /// What names the model in draws.
    pub(crate) fn draw_key(&self) -> u64 {
        model_key(self.class_names(), self.summary().held_out.log_loss)
    }

    /// What names a document in draws: documents that the model cannot distinguish have one.
    pub(crate) fn document_draw_key(
        &self,
        content: ContentRef<'_>,
        buffers: &mut PredictBuffers,
    ) -> u64 {
        let key = match self {
            Self::Single(model) => model.document_key(content, buffers),
            Self::Combined(model) => model.acquaintance(content, buffers).0,
        };
        draw_key_of(key)
    }
}

/// A document's key in half the length.
pub(crate) fn draw_key_of(key: u128) -> u64 {
    stable_hash(&key.to_le_bytes())
}
