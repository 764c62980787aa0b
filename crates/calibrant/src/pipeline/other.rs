//! Documents of none of a model's classes.

use super::{FitSettings, Model, PredictBuffers};
use crate::calibration::CalibratedClass;
use crate::corpus::ContentRef;
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

    /// As [`Self::predict_into`] with one place more: the last is for `other`. Returns how far the best
    /// class is above its threshold, in log-odds. See [`share_with_other`].
    ///
    /// # Panics
    /// If `classes` is not one longer than there are classes, or `thresholds` come from elsewhere.
    pub(crate) fn predict_open_into<'a>(
        &self,
        content: impl Into<ContentRef<'a>>,
        thresholds: &[f64],
        buffers: &mut PredictBuffers,
        classes: &mut [Probability],
    ) -> f64 {
        let count = self.class_count();
        assert_eq!((classes.len(), thresholds.len()), (count + 1, count));
        let scores = self.predict_into(content, buffers, &mut classes[..count]);
        let (best, above) = scores.above_thresholds(thresholds);
        share_with_other(classes, best, above);
        above
    }
}

#[cfg(test)]
#[path = "other/tests.rs"]
mod tests;
