//! Documents of none of a model's classes.

use super::single_model::{PredictBuffers, SingleModel};
use super::{FitSettings, Model};
use crate::calibration::{CalibratedClass, Calibrator};
use crate::corpus::Content;
use crate::decision::{KnownDocuments, OtherError, OtherRule, share_with_other};
use crate::problem::ClassLabels;
use crate::{Probability, Task};

/// What held-out forecasts say of known documents; `None` where `other` has no meaning.
pub(super) fn known_documents(
    settings: &FitSettings,
    labels: &ClassLabels,
    weights: &[f64],
    outputs: &[CalibratedClass],
) -> Option<KnownDocuments> {
    if labels.task != Task::SingleLabel || outputs.len() < 3 {
        return None;
    }
    let forecasts: Vec<&[Probability]> = outputs
        .iter()
        .map(|output| output.forecasts.as_slice())
        .collect();
    let membership = |class| labels.membership(class);
    KnownDocuments::of_forecasts(&forecasts, membership, weights, settings.other_cost)
}

impl Model {
    /// For each class the log-odds against the rest that its documents should reach.
    pub fn other_thresholds(&self, rule: OtherRule) -> Result<Vec<f64>, OtherError> {
        if self.task() == Task::MultiLabel {
            return Err(OtherError::SeveralLabels);
        }
        let single = self.as_single().ok_or(OtherError::Combined)?;
        if self.class_count() < 3 {
            return Err(OtherError::TwoClasses);
        }
        if single.class_calibrator().is_some() && single.calibrators().is_empty() {
            return Err(OtherError::Joint);
        }
        let known = self.summary().known_documents.as_ref();
        let known = known.ok_or(OtherError::Missing)?;
        known.thresholds(rule)
    }

    /// How far the best class of the last prediction is above its threshold, in log-odds.
    pub fn above_thresholds(&self, thresholds: &[f64], buffers: &PredictBuffers) -> f64 {
        self.best_class(buffers, thresholds).1
    }

    /// As [`Self::predict_into`] with one place more: the last is for `other`. Returns how far the best
    /// class is above its threshold, in log-odds. See [`share_with_other`].
    ///
    /// # Panics
    /// If `classes` is not one longer than there are classes, or `thresholds` come from elsewhere.
    pub fn predict_open_into(
        &self,
        content: &Content,
        thresholds: &[f64],
        buffers: &mut PredictBuffers,
        classes: &mut [Probability],
    ) -> f64 {
        let count = self.class_count();
        assert_eq!((classes.len(), thresholds.len()), (count + 1, count));
        self.predict_into(content, buffers, &mut classes[..count]);
        let (best, above) = self.best_class(buffers, thresholds);
        share_with_other(classes, best, above);
        above
    }

    /// The class of the last prediction with the largest log-odds against the rest, and how far it is above
    /// its threshold.
    fn best_class(&self, buffers: &PredictBuffers, thresholds: &[f64]) -> (usize, f64) {
        let calibrators = self.as_single().map_or(&[][..], SingleModel::calibrators);
        let said = calibrators.iter().zip(buffers.scores());
        let log_odds = said.map(|(calibrator, &score)| calibrator.probability(score).log_odds());
        let (best, largest) =
            log_odds
                .enumerate()
                .fold((0, f64::NEG_INFINITY), |best, (class, value)| {
                    if value > best.1 { (class, value) } else { best }
                });
        (best, largest - thresholds.get(best).copied().unwrap_or(0.0))
    }
}

#[cfg(test)]
#[path = "other/tests.rs"]
mod tests;
