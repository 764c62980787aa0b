//! A model and new labelled documents to a model with corrected probabilities.

use std::collections::BTreeMap;

use serde::Serialize;

use super::held_out::{NotHeldOut, read_held_out};
use crate::corpus::{ReadError, ReadOptions, ReadSummary, Source};
use crate::evaluation::LossUnit;
use crate::pipeline::{
    Acquaintance, Model, RecalibrateError, RecalibrateSettings, Recalibrated, Recalibrator,
};
use crate::{FitError, Progress, Task};

/// Why there is no recalibrated model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecalibrateJobError {
    /// The documents could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The model cannot be recalibrated on them.
    #[error(transparent)]
    Recalibrate(#[from] RecalibrateError),
    /// On documents that a model has mostly learned from it looks better than it is.
    #[error(
        "the model learned from about {count} of the {documents} documents of {file}; a recalibration needs documents that it has not learned from"
    )]
    LearnedFrom {
        /// How many documents it knows.
        count: usize,
        /// How many there are.
        documents: usize,
        /// Where they come from.
        file: String,
    },
}

/// A recalibrated model and what it came from.
#[derive(Debug)]
pub struct RecalibratedModel {
    /// The model, and what the new labels are worth.
    pub recalibrated: Recalibrated,
    /// What was read for it.
    pub read: ReadSummary,
    /// Labels that the model does not know, with how many documents have them.
    pub unknown_labels: BTreeMap<String, usize>,
    /// Documents that took no part because their only label is unknown.
    pub left_out: usize,
    /// How many of the documents the model had learned from: none, if all is well.
    pub known: Acquaintance,
}

/// Reads labelled documents that the model has not learned from, and corrects its probabilities by them where that is clearly
/// better on labels that took no part. Fields that `options` do not name are those that the model learned from. A model that has learned
/// from most of the documents is refused unless `even_if_learned_from`.
///
/// ```
/// use calibrant::corpus::{ReadOptions, Source};
/// use calibrant::jobs::{RecalibrateReport, recalibrate_source};
/// use calibrant::{Document, FitSettings, NoProgress, fit};
/// let word = |i: usize| if i % 10 < 3 { "money" } else { "lunch" };
/// let model = fit(
///     (0..100).map(|i| Document::new(format!("{} {i}", word(i))).label(if i % 10 < 2 { "spam" } else { "ham" })),
///     &FitSettings::default(),
/// )?;
/// // Now everything that speaks of money is spam.
/// let new: String = (200..300).map(|i| format!("{},{} {i}\n", if i % 10 < 3 { "spam" } else { "ham" }, word(i))).collect();
/// let new = Source::bytes("new.csv", format!("label,text\n{new}").into_bytes());
/// let found = recalibrate_source(model, &new, &ReadOptions::default(), &Default::default(), false, &NoProgress)?;
/// let report = RecalibrateReport::of(&found);
/// assert!(report.changed && report.log_loss_after < report.log_loss_before);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn recalibrate_source(
    model: Model,
    source: &Source,
    options: &ReadOptions,
    settings: &RecalibrateSettings,
    even_if_learned_from: bool,
    progress: &dyn Progress,
) -> Result<RecalibratedModel, RecalibrateJobError> {
    let mut options = options.clone();
    options.fields = options.fields.completed_by(model.fields());
    let recalibrator = Recalibrator::new(model);
    let held_out = read_held_out(
        source,
        &options,
        even_if_learned_from,
        progress,
        |documents| recalibrator.forecast(documents),
        |batch, documents| recalibrator.add(batch, documents),
    );
    let held_out = held_out.map_err(|error| match error {
        NotHeldOut::Read(error) => error.into(),
        NotHeldOut::Cancelled => RecalibrateError::from(FitError::Cancelled).into(),
        NotHeldOut::LearnedFrom {
            count, documents, ..
        } => RecalibrateJobError::LearnedFrom {
            count,
            documents,
            file: source.name(),
        },
    })?;
    let known = held_out.documents.known.first().cloned();
    Ok(RecalibratedModel {
        recalibrated: recalibrator.recalibrate(held_out.documents, settings)?,
        read: held_out.read,
        unknown_labels: held_out.unknown_labels,
        left_out: held_out.left_out,
        known: known.unwrap_or_default(),
    })
}

/// What a recalibration has to tell, as `calibrant recalibrate --json` writes it.
#[derive(Debug, Clone, Serialize)]
pub struct RecalibrateReport<'a> {
    /// Whether probabilities are corrected; else the old ones were kept.
    pub changed: bool,
    /// Documents that took part, copies included.
    pub documents: usize,
    /// How many of them are copies.
    pub copies: usize,
    /// How many groups were held out together; absent where none was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<usize>,
    /// Documents that took no part.
    pub documents_left_out: usize,
    /// Malformed rows that were skipped.
    pub bad_rows: u64,
    /// Labels that the model does not know, with how many documents have them.
    pub unknown_labels: &'a BTreeMap<String, usize>,
    /// About how many of the documents it had learned from; null where there is no sign of any.
    pub learned_from: Option<usize>,
    /// Folds of the cross-validation.
    pub folds: usize,
    /// The mean log loss of the old probabilities on the new documents, in nats.
    pub log_loss_before: f64,
    /// The same of corrections that were fitted without the document's fold.
    pub log_loss_after: f64,
    /// What the log losses are means over.
    pub log_loss_over: LossUnit,
    /// The standard error of their difference.
    pub standard_error: f64,
    /// How much surer (above 1) or less sure (below 1) probabilities become by the new labels.
    pub slope: f64,
    /// The classes.
    pub classes: Vec<RecalibratedClass<'a>>,
}

/// What became of one class.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RecalibratedClass<'a> {
    /// Its name.
    pub label: &'a str,
    /// New documents that have it.
    pub documents: usize,
    /// What is added to its log-odds by the new labels.
    pub intercept: f64,
}

impl<'a> RecalibrateReport<'a> {
    /// Of a recalibrated model and what it came from.
    pub fn of(found: &'a RecalibratedModel) -> Self {
        let recalibrated = &found.recalibrated;
        let trial = &recalibrated.trial;
        let counts = recalibrated.class_documents.iter();
        let classes = recalibrated.model.class_names().zip(counts);
        let classes = classes.zip(trial.found.intercepts());
        Self {
            changed: recalibrated.changed,
            documents: recalibrated.documents,
            copies: recalibrated.copies,
            groups: recalibrated.groups,
            documents_left_out: found.left_out,
            bad_rows: found.read.bad_row_count,
            unknown_labels: &found.unknown_labels,
            learned_from: found.known.learned_from(),
            folds: recalibrated.folds,
            log_loss_before: trial.log_loss_before,
            log_loss_after: trial.log_loss_after,
            log_loss_over: match recalibrated.model.task() {
                Task::SingleLabel => LossUnit::Documents,
                Task::MultiLabel => LossUnit::Decisions,
            },
            standard_error: trial.standard_error,
            slope: trial.found.slope(),
            classes: classes
                .map(|((label, &documents), &intercept)| RecalibratedClass {
                    label,
                    documents,
                    intercept,
                })
                .collect(),
        }
    }
}
