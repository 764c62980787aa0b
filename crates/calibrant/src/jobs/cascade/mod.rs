//! Several sources of answers as one policy: who answers what, so that few answers are wrong and little is paid.

mod answers;
mod error;
mod policy_file;

pub use answers::SourceAnswers;
pub use error::CascadeJobError;
pub use policy_file::{PolicyFile, PolicyInUse, PolicySource, SourceKind};

use policy_file::fingerprint;
use std::collections::HashSet;

use super::{DocumentKey, DocumentKeys};
use crate::Progress;
use crate::Task;
use crate::corpus::{ContentRef, Document, LabelNeed, ReadOptions, Source, folded_label, read_all};
use crate::decision::{CascadeSettings, CascadeTier, certify_cascade};
use crate::jobs::content::Readable;
use crate::jobs::{PredictError, Predictor};
use crate::pipeline::{Acquaintance, LabelMatcher, Model};

/// A source of answers.
#[derive(Debug)]
pub struct AnswerSource {
    /// Its name in policies and reports.
    pub name: String,
    /// What it costs to ask it about one document.
    pub cost: f64,
    /// What it says.
    pub says: Says,
}

/// Where the answers of a source come from.
#[derive(Debug)]
pub enum Says {
    /// A model is asked.
    Model(Box<Model>),
    /// A table of documents, labels and confidences.
    Table(Source),
    /// A person, who answers what is left. What people say is the truth, unless it is known how often they are right.
    Person {
        /// The share of answers that are right.
        accuracy: Option<f64>,
    },
}

/// A policy with what else is worth saying of how it came about.
#[derive(Debug)]
pub struct BuiltCascade {
    /// The policy, with its certificate.
    pub policy: PolicyFile,
    /// For each source that is a model: its name, and how many of the documents it learned from.
    pub known: Vec<(String, Acquaintance)>,
}

/// Documents whose truth is known.
struct Truth {
    keys: Vec<DocumentKey>,
    documents: Vec<Document>,
    /// Labels that differ in case or space alone are one, as to the models among the sources.
    fold: bool,
}

/// Finds the cheapest policy that is shown to be right often enough, on documents whose truth is known and that no source has learned from.
/// The last source answers what is left.
pub fn build_cascade(
    truth: &Source,
    options: &ReadOptions,
    sources: &[AnswerSource],
    settings: &CascadeSettings,
    progress: &dyn Progress,
) -> Result<BuiltCascade, CascadeJobError> {
    check_sources(sources)?;
    let known_truth = Truth::read(truth, options, sources, progress)?;
    let mut known = Vec::new();
    let mut tiers = Vec::new();
    let mut kept = Vec::new();
    for (place, source) in sources.iter().enumerate() {
        let last = place + 1 == sources.len();
        let mut model_of_source = (None, None);
        let tier = match &source.says {
            Says::Model(model) => {
                let (tier, seen) = known_truth.ask(source, model)?;
                let learned = seen.learned_from();
                let documents = seen.documents;
                // A few short texts come again by themselves.
                if let Some(learned) = learned.filter(|learned| learned * 20 > documents) {
                    let name = source.name.clone();
                    return Err(CascadeJobError::Learned {
                        name,
                        learned,
                        documents,
                    });
                }
                known.push((source.name.clone(), seen));
                model_of_source = (Some(fingerprint(model)?), Some(learned.unwrap_or(0)));
                tier
            }
            Says::Table(table) => {
                let column = known_truth.column();
                if column == "row" && !options.filters.is_empty() {
                    return Err(CascadeJobError::RowsFiltered);
                }
                let answers = options.read_beside(CascadeJobError::is_of_layout, |options| {
                    SourceAnswers::read(table, options, column, !last, progress)
                })?;
                known_truth.hold_against(source, &answers, &table.name())?
            }
            Says::Person { accuracy: None } => CascadeTier::truth(&source.name, source.cost),
            Says::Person {
                accuracy: Some(accuracy),
            } => CascadeTier::with_accuracy(
                &source.name,
                source.cost,
                *accuracy,
                known_truth.keys.len(),
                settings.seed,
            ),
        };
        tiers.push(tier);
        kept.push(model_of_source);
    }
    let report = certify_cascade(&tiers, settings)?;
    let sources = sources.iter().zip(kept);
    let sources = sources.map(|(source, (model, learned))| PolicySource {
        name: source.name.clone(),
        cost: source.cost,
        kind: match source.says {
            Says::Model(_) => SourceKind::Model,
            Says::Table(_) => SourceKind::Table,
            Says::Person { .. } => SourceKind::Person,
        },
        model,
        learned,
    });
    let policy = PolicyFile {
        sources: sources.collect(),
        report,
        calibrant_version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    Ok(BuiltCascade { policy, known })
}

fn check_sources(sources: &[AnswerSource]) -> Result<(), CascadeJobError> {
    let mut names = HashSet::new();
    for (place, source) in sources.iter().enumerate() {
        if !names.insert(&source.name) {
            let name = source.name.clone();
            return Err(CascadeJobError::SameName { name });
        }
        if let Says::Person { accuracy } = &source.says {
            if place + 1 < sources.len() {
                return Err(CascadeJobError::PersonNotLast);
            }
            if let Some(value) = accuracy.filter(|accuracy| !(*accuracy > 0.0 && *accuracy <= 1.0))
            {
                return Err(CascadeJobError::BadAccuracy { value });
            }
        }
    }
    Ok(())
}

impl Truth {
    fn read(
        truth: &Source,
        options: &ReadOptions,
        sources: &[AnswerSource],
        progress: &dyn Progress,
    ) -> Result<Self, CascadeJobError> {
        let mut options = options.clone();
        options.labels_required = LabelNeed::Required;
        options.own_id = true;
        let models = sources.iter().filter_map(|source| match &source.says {
            Says::Model(model) => Some(model),
            _ => None,
        });
        let fold = options.fold_labels || models.clone().any(|model| model.folds_labels());
        let mut models = models.peekable();
        match models.peek() {
            Some(model) => {
                let mut remembered = Predictor::new(model).fields();
                remembered.label = model.fields().label.clone();
                options.fields = options.fields.completed_by(&remembered);
            }
            // Nobody reads the text: an identifier beside the label is enough.
            None => {
                let id = options.fields.id.clone();
                let names = crate::corpus::field_names(truth, &options)?;
                let id = id.or_else(|| names.iter().find(|name| *name == "id").cloned());
                options
                    .fields
                    .categorical
                    .extend(id.or_else(|| names.first().cloned()));
                options.fields.text.clear();
            }
        }
        let file = truth.name();
        let (documents, _) = read_all(truth, &options, progress)?;
        let mut keys = DocumentKeys::new(options.fields.asks_for_id());
        let keys: Vec<DocumentKey> = documents
            .iter()
            .map(|document| keys.next(document.id.clone(), document.row))
            .collect();
        let mut seen = HashSet::new();
        for (key, document) in keys.iter().zip(&documents) {
            let (file, line) = (file.clone(), document.line);
            if document.labels.len() != 1 {
                let found = document.labels.len();
                return Err(CascadeJobError::NotOneLabel { file, line, found });
            }
            if !seen.insert(key.text()) {
                let id = key.text().into_owned();
                return Err(CascadeJobError::Twice { file, line, id });
            }
        }
        Ok(Self {
            keys,
            documents,
            fold,
        })
    }

    /// The column by which tables name these documents.
    fn column(&self) -> &'static str {
        self.keys.first().map_or("id", |key| key.column())
    }

    fn truth(&self, place: usize) -> &str {
        self.documents[place]
            .labels
            .first()
            .map_or("", String::as_str)
    }

    /// Whether a label says what the truth says.
    fn is_truth(&self, place: usize, label: &str) -> bool {
        let truth = self.truth(place);
        match self.fold {
            true => folded_label(label) == folded_label(truth),
            false => label.trim() == truth.trim(),
        }
    }

    /// What a model says of the documents.
    fn ask(
        &self,
        source: &AnswerSource,
        model: &Model,
    ) -> Result<(CascadeTier, Acquaintance), CascadeJobError> {
        if model.task() == Task::MultiLabel {
            let name = source.name.clone();
            return Err(CascadeJobError::SeveralLabels { name });
        }
        let readable = Readable::of(model);
        let matcher = LabelMatcher::new(model.task(), model.class_names());
        let mut matcher = matcher.folding(self.fold);
        let mut tier = CascadeTier::truth(&source.name, source.cost);
        let mut known = Acquaintance::default();
        let mut buffers = Default::default();
        for (place, document) in self.documents.iter().enumerate() {
            let content = ContentRef::from(document);
            readable.check(content).map_err(PredictError::from)?;
            model.count_known(content, &mut buffers, &mut known);
            let said = model.predict(content);
            let best = (0..said.len()).reduce(|a, b| if said[b] > said[a] { b } else { a });
            let best = best.unwrap_or(0);
            tier.confidences.push(said[best].value());
            let (truth, _) = matcher.classes([self.truth(place)]);
            tier.right.push(truth == [best as u32]);
        }
        Ok((tier, known))
    }

    /// What a table says of them.
    fn hold_against(
        &self,
        source: &AnswerSource,
        answers: &SourceAnswers,
        file: &str,
    ) -> Result<CascadeTier, CascadeJobError> {
        let mut tier = CascadeTier::truth(&source.name, source.cost);
        for (place, key) in self.keys.iter().enumerate() {
            let Some((label, confidence)) = answers.of(&key.text()) else {
                let (file, id) = (file.to_owned(), key.text().into_owned());
                return Err(CascadeJobError::NoAnswer { file, id });
            };
            // Who says nothing is not right, and not sure.
            tier.right
                .push(label.is_some_and(|label| self.is_truth(place, label)));
            tier.confidences.extend(confidence);
        }
        Ok(tier)
    }
}
