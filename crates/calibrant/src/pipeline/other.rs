//! Documents of none of the classes.
//!
//! Normalising one-against-rest probabilities divides away how improbable all classes together
//! are. Here that is kept: a document whose best class looks worse than a threshold belongs to `other`.

use serde::{Deserialize, Serialize};

use super::single_model::{PredictBuffers, SingleModel};
use super::{FitSettings, Model};
use crate::calibration::{CalibratedClass, Calibrator};
use crate::corpus::Content;
use crate::evaluation::{balanced_threshold, least_cost_threshold};
use crate::numeric::log_sum_exp;
use crate::problem::ClassLabels;
use crate::{Probability, Task};

/// What the mistakes of a threshold cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThresholdCosts {
    /// Taking a document of another class.
    pub false_positive: f64,
    /// Leaving a document of the class.
    pub false_negative: f64,
}

/// What held-out training documents say about how well known documents look.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownDocuments {
    /// Quantiles of the best class's log-odds against the rest, evenly spaced from the least to the
    /// largest.
    pub best_log_odds: Vec<f64>,
    /// For each class the log-odds at which as many are wrongly taken as are wrongly left.
    pub balanced: Vec<f64>,
    /// For each class the log-odds at which mistakes cost least, if their costs were stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_cost: Option<Vec<f64>>,
}

/// When a document belongs to none of the classes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OtherRule {
    /// When it looks worse than all but this share of the known documents: about that share of them
    /// will be lost.
    Loss(f64),
    /// When it is beyond the threshold of its nearest class, where wrongly taken and wrongly left
    /// documents are equally many.
    Balanced,
    /// The same with the threshold of least cost.
    LeastCost,
}

/// Why a rule cannot be used with a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OtherError {
    /// Several labels a document.
    #[error(
        "documents of this model may have several labels, and none of them is an answer already"
    )]
    SeveralLabels,
    /// Two classes share a score.
    #[error(
        "this model has two classes that share one score, so that one of them is always likely"
    )]
    TwoClasses,
    /// One calibrator for all classes.
    #[error(
        "this model calibrates all classes together, which always sum to one; fit it with `--multiclass auto` or `one_vs_rest`"
    )]
    Joint,
    /// Several models in one.
    #[error("this model is a combination, whose classes always sum to one; use one of its models")]
    Combined,
    /// Fitted before thresholds were kept.
    #[error("this model was fitted without what `other` needs; fit it anew")]
    Missing,
    /// Costs are learned from when fitting.
    #[error("this model was fitted without costs; fit it with `--other-cost`")]
    NoCosts,
    /// The share of known documents that may be lost.
    #[error("the share of known documents to lose must lie between 0 and 1")]
    BadShare,
}

/// Steps between the quantiles that are kept.
const STEPS: usize = 400;

impl KnownDocuments {
    /// From held-out forecasts of each class against the rest; `None` where `other` has no meaning.
    pub(super) fn of(
        settings: &FitSettings,
        labels: &ClassLabels,
        weights: &[f64],
        outputs: &[CalibratedClass],
    ) -> Option<Self> {
        if labels.task != Task::SingleLabel || outputs.len() < 3 {
            return None;
        }
        let rows = labels.of_row.len();
        let mut best: Vec<f64> = (0..rows)
            .map(|row| {
                let all = outputs
                    .iter()
                    .map(|output| output.forecasts[row].log_odds());
                all.fold(f64::NEG_INFINITY, f64::max)
            })
            .collect();
        best.sort_by(f64::total_cmp);
        let steps = STEPS.min(rows.saturating_sub(1)).max(1);
        let quantiles = (0..=steps).map(|step| best[step * (rows - 1) / steps]);
        let thresholds = |costs: Option<ThresholdCosts>| -> Vec<f64> {
            let threshold = |(class, output): (usize, &CalibratedClass)| {
                let scores: Vec<f64> = output.forecasts.iter().map(|p| p.log_odds()).collect();
                let membership = labels.membership(class);
                match costs {
                    None => balanced_threshold(&scores, &membership, weights).value,
                    Some(costs) => {
                        let (wrong, missed) = (costs.false_positive, costs.false_negative);
                        least_cost_threshold(&scores, &membership, weights, wrong, missed).value
                    }
                }
            };
            outputs.iter().enumerate().map(threshold).collect()
        };
        Some(Self {
            best_log_odds: quantiles.collect(),
            balanced: thresholds(None),
            least_cost: settings.other_cost.map(|costs| thresholds(Some(costs))),
        })
    }

    /// The log-odds that `share` of the known documents do not reach.
    fn quantile(&self, share: f64) -> f64 {
        let last = self.best_log_odds.len() - 1;
        let place = share * last as f64;
        let below = (place.floor() as usize).min(last);
        let above = (below + 1).min(last);
        let part = place - below as f64;
        self.best_log_odds[below] * (1.0 - part) + self.best_log_odds[above] * part
    }

    /// Whether it can belong to a model of so many classes.
    pub(super) fn fits(&self, class_count: usize) -> bool {
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        let of_classes = |values: &[f64]| values.len() == class_count && finite(values);
        (1..=STEPS + 1).contains(&self.best_log_odds.len())
            && finite(&self.best_log_odds)
            && of_classes(&self.balanced)
            && self.least_cost.as_deref().is_none_or(of_classes)
    }
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
        match rule {
            OtherRule::Loss(share) if (0.0..=1.0).contains(&share) => {
                Ok(vec![known.quantile(share); self.class_count()])
            }
            OtherRule::Loss(_) => Err(OtherError::BadShare),
            OtherRule::Balanced => Ok(known.balanced.clone()),
            OtherRule::LeastCost => known.least_cost.clone().ok_or(OtherError::NoCosts),
        }
    }

    /// How far the best class of the last prediction is above its threshold, in log-odds.
    pub fn above_thresholds(&self, thresholds: &[f64], buffers: &PredictBuffers) -> f64 {
        self.best_class(buffers, thresholds).1
    }

    /// As [`Self::predict_into`] with one place more: the last is for `other`. Returns how far the best
    /// class is above its threshold, in log-odds.
    ///
    /// # Formula
    /// ```text
    /// b = argmax l_c    the class with the largest log-odds against the rest
    /// w = q_b e^{T_b - l_b}            q: the classes' probabilities that sum to one
    /// P(other) = w / (1 + w),  P(c) = q_c / (1 + w)
    /// ```
    /// so that `other` comes first exactly where the best class misses its threshold, and the classes
    /// keep their proportions.
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
        // ln w
        let weight = classes[best].ln() - above;
        for class in &mut classes[..count] {
            let others = log_sum_exp(&[class.complement().ln(), weight]);
            *class = Probability::from_ln(class.ln(), others);
        }
        classes[count] = Probability::from_log_odds(weight);
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
