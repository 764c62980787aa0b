//! A fitted model and a few new labels to the same model with corrected probabilities.

use serde::{Deserialize, Serialize};

use super::combine::{ForecastBatch, HeldOutDocuments, Row, add_rows, distinct};
use super::{Acquaintance, Explanation, LabelMatcher, Model, PredictBuffers, TrainingKeys};
use crate::calibration::{MemberForecasts, Recalibration, RecalibrationTrial};
use crate::corpus::{ContentRef, Document};
use crate::problem::ClassLabels;
use crate::{FitError, Probability, Task};

/// Fewer different documents than this say nothing that could be held out.
const LEAST_DOCUMENTS: usize = 5;

/// How a recalibration is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecalibrateSettings {
    /// Folds of the cross-validation that decides; fewer where there are fewer documents.
    pub folds: usize,
    /// For the folds.
    pub seed: u64,
}

impl Default for RecalibrateSettings {
    fn default() -> Self {
        Self { folds: 10, seed: 0 }
    }
}

/// Why a model cannot be recalibrated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecalibrateError {
    /// Too few labels.
    #[error(
        "there are {found} different labelled documents, or groups of them; a recalibration needs at least {LEAST_DOCUMENTS}"
    )]
    TooFew {
        /// How many there are.
        found: usize,
    },
    /// Something is wrong with the documents.
    #[error(transparent)]
    Fit(#[from] FitError),
}

/// What new labels made of a model's probabilities, as its file keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRecalibration {
    /// What is done to probabilities after the curves of the fit: all recalibrations in a row as one.
    pub correction: Recalibration,
    /// The share of each class that the corrected probabilities imply, in place of the training documents'.
    pub shares: Vec<f64>,
    /// How often the model was recalibrated.
    pub times: usize,
    /// Documents of the last time, copies included.
    pub documents: usize,
    /// The log loss on them before.
    pub log_loss_before: f64,
    /// The log loss on them by corrections that had not seen them.
    pub log_loss_after: f64,
    /// The version of calibrant that did it.
    pub calibrant_version: String,
}

impl ModelRecalibration {
    /// Whether it can belong to so many classes, whatever a file may say.
    pub(super) fn is_sound(&self, class_count: usize) -> bool {
        self.correction.is_sound(class_count)
            && self.shares.len() == class_count
            && self.shares.iter().all(|share| *share > 0.0 && *share < 1.0)
    }

    /// An explanation of old log-odds becomes one of the corrected: parts times the slope, the intercept in the base.
    pub(super) fn explain(&self, task: Task, class: usize, explanation: &mut Explanation) {
        let (slope, intercepts) = (self.correction.slope(), self.correction.intercepts());
        let two = task == Task::SingleLabel && intercepts.len() == 2;
        let other = if two { intercepts[1 - class] } else { 0.0 };
        let own = intercepts[class] - other;
        explanation.base_log_odds = slope * explanation.base_log_odds + own;
        explanation.calibrated_log_odds = slope * explanation.calibrated_log_odds + own;
        for term in &mut explanation.terms {
            term.log_odds *= slope;
        }
    }
}

/// A model that is to be recalibrated.
#[derive(Debug)]
pub struct Recalibrator {
    model: Model,
}

/// A model after new labels.
#[derive(Debug)]
pub struct Recalibrated {
    /// With corrected probabilities, or as it was.
    pub model: Model,
    /// What the labels came to, and what that is worth on labels that took no part.
    pub trial: RecalibrationTrial,
    /// Whether the model was changed: only where it forecasts clearly better.
    pub changed: bool,
    /// Documents that took part, copies included.
    pub documents: usize,
    /// How many of them are copies.
    pub copies: usize,
    /// How many groups were held out together; `None` where none was named.
    pub groups: Option<usize>,
    /// Documents of each class.
    pub class_documents: Vec<usize>,
    /// Folds of the cross-validation.
    pub folds: usize,
}

impl Recalibrator {
    /// Of a model, single or combined.
    pub fn new(model: Model) -> Self {
        Self { model }
    }

    /// The model as it is.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Asks the model about documents that it has not seen; batches can be asked in parallel.
    pub fn forecast(&self, documents: Vec<Document>) -> ForecastBatch {
        let width = self.model.class_count();
        let even = Probability::from_log_odds(0.0);
        let mut probabilities = vec![even; documents.len() * width];
        let mut buffers = PredictBuffers::default();
        let mut known = Acquaintance::default();
        let mut keys = Vec::with_capacity(documents.len());
        for (document, classes) in documents.iter().zip(probabilities.chunks_exact_mut(width)) {
            let content = ContentRef::from(document);
            self.model.predict_into(content, &mut buffers, classes);
            keys.push(self.model.count_known(content, &mut buffers, &mut known));
        }
        ForecastBatch::new(documents, keys, vec![known], probabilities)
    }

    /// Adds a batch to those before it.
    pub fn add(&self, batch: ForecastBatch, to: &mut HeldOutDocuments) {
        let names = self.model.class_names();
        let matcher = LabelMatcher::new(self.model.task(), names);
        add_rows(batch, matcher.folding(self.model.folds_labels()), 1, to);
    }

    /// Finds the correction with the least penalised log loss, and takes it where it is clearly better on labels that took no
    /// part. The order of the documents does not matter.
    pub fn recalibrate(
        mut self,
        documents: HeldOutDocuments,
        settings: &RecalibrateSettings,
    ) -> Result<Recalibrated, RecalibrateError> {
        let rows = documents.into_rows();
        if rows.is_empty() {
            return Err(FitError::NoDocuments.into());
        }
        let (task, class_count) = (self.model.task(), self.model.class_count());
        let (distinct, remembered) = distinct(&rows, settings.folds);
        let units = distinct
            .documents
            .group_count()
            .unwrap_or(distinct.documents.count);
        if units < LEAST_DOCUMENTS {
            return Err(RecalibrateError::TooFew { found: units });
        }
        let mut stated = MemberForecasts::new(task, 1, class_count);
        for (&row, weight) in distinct.rows.iter().zip(&distinct.documents.weights) {
            let Row {
                labels,
                probabilities,
                ..
            } = &rows[row as usize];
            let pushed = stated.push(&[probabilities], labels, *weight);
            pushed.map_err(FitError::from)?;
        }
        let mut class_documents = vec![0; class_count];
        for &label in rows.iter().flat_map(|row| &row.labels) {
            class_documents[label as usize] += 1;
        }
        drop(rows);
        let labels = ClassLabels {
            task,
            class_count,
            of_row: distinct.classes,
        };
        let folds = settings.folds.clamp(2, units.min(255));
        let kept = &distinct.documents;
        let folds = kept.folds(&labels, folds, settings.seed);
        let folds = folds.map_err(FitError::from)?;
        let unit_of = |row: usize| {
            let document = kept.of_row(row) as usize;
            let together = kept.together.as_ref();
            together.map_or(document, |together| together[document] as usize)
        };
        let trial = RecalibrationTrial::new(&stated, folds.count(), |row| folds.of(row), unit_of);
        let trial = trial.map_err(FitError::from)?;
        let changed = trial.is_better();
        if changed {
            self.correct(&trial, &stated, (kept.row_count(), remembered));
        }
        Ok(Recalibrated {
            model: self.model,
            trial,
            changed,
            documents: kept.row_count(),
            copies: kept.copy_count(),
            groups: kept.group_count(),
            class_documents,
            folds: folds.count(),
        })
    }

    fn correct(
        &mut self,
        trial: &RecalibrationTrial,
        stated: &MemberForecasts,
        (documents, keys): (usize, TrainingKeys),
    ) {
        let shares = Self::shares(&trial.found, stated);
        let before = self.model.recalibration();
        let correction = match before {
            Some(before) => before.correction.then(&trial.found),
            None => trial.found.clone(),
        };
        let times = before.map_or(0, |before| before.times) + 1;
        let own = ModelRecalibration {
            correction,
            shares,
            times,
            documents,
            log_loss_before: trial.log_loss_before,
            log_loss_after: trial.log_loss_after,
            calibrant_version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        self.model.set_recalibration(own, keys);
    }

    /// The classes' shares among documents like the new ones: the mean of what is stated of each after the correction.
    fn shares(found: &Recalibration, stated: &MemberForecasts) -> Vec<f64> {
        let class_count = stated.class_count();
        let even = Probability::from_log_odds(0.0);
        let (mut buffer, mut classes) = (Vec::new(), vec![even; class_count]);
        let (mut shares, mut total) = (vec![0.0; class_count], 0.0);
        for row in 0..stated.len() {
            found.state_evidence(
                stated.task(),
                stated.evidence(row),
                &mut buffer,
                &mut classes,
            );
            let weight = stated.weights()[row];
            total += weight;
            for (share, class) in shares.iter_mut().zip(&classes) {
                *share += weight * class.value();
            }
        }
        shares.iter_mut().for_each(|share| *share /= total);
        let least = 1e-9;
        shares
            .iter_mut()
            .for_each(|share| *share = share.clamp(least, 1.0 - least));
        shares
    }
}

#[cfg(test)]
mod tests;
