//! Documents of none of the classes.
//!
//! Normalising one-against-rest probabilities divides away how improbable all classes together
//! are. Here that is kept: a document whose best class looks worse than a threshold belongs to `other`.

use serde::{Deserialize, Serialize};

use super::threshold::{balanced_threshold, least_cost_threshold};
use crate::Probability;
use crate::numeric::log_sum_exp;

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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
#[non_exhaustive]
pub enum OtherError {
    /// Several labels per document.
    #[error(
        "documents of this model may have several labels, so having none of them is already possible"
    )]
    SeveralLabels,
    /// Two classes share a score.
    #[error("this model has two classes that share one score, so one of them is always likely")]
    TwoClasses,
    /// One calibrator for all classes.
    #[error(
        "this model calibrates all classes together, which always sum to one; fit it with separately calibrated classes (`auto` or `one_vs_rest`)"
    )]
    Joint,
    /// Several models in one.
    #[error("this model is a combination, whose classes always sum to one; use one of its models")]
    Combined,
    /// Fitted before thresholds were kept.
    #[error("this model was fitted without the data that `other` needs; fit it again")]
    Missing,
    /// Costs are learned from when fitting.
    #[error("this model was fitted without costs for `other`")]
    NoCosts,
    /// The share of known documents that may be lost.
    #[error("the share of known documents to lose must lie between 0 and 1")]
    BadShare,
}

/// Steps between the quantiles that are kept.
const STEPS: usize = 400;

impl KnownDocuments {
    /// From held-out forecasts of each class against the rest: `forecasts[class][document]`, whether each document
    /// belongs to a class, and the documents' weights. `None` where there is nothing to look at.
    pub fn of_forecasts(
        forecasts: &[&[Probability]],
        membership: impl Fn(usize) -> Vec<bool>,
        weights: &[f64],
        costs: Option<ThresholdCosts>,
    ) -> Option<Self> {
        let rows = forecasts.first()?.len();
        let mut best: Vec<f64> = (0..rows)
            .map(|row| {
                let all = forecasts.iter().map(|class| class[row].log_odds());
                all.fold(f64::NEG_INFINITY, f64::max)
            })
            .collect();
        best.sort_by(f64::total_cmp);
        let last = rows.checked_sub(1)?;
        let steps = STEPS.min(last).max(1);
        let quantiles = (0..=steps).map(|step| best[step * last / steps]);
        let thresholds = |costs: Option<ThresholdCosts>| -> Vec<f64> {
            let threshold = |(class, forecasts): (usize, &&[Probability])| {
                let scores: Vec<f64> = forecasts.iter().map(|p| p.log_odds()).collect();
                let members = membership(class);
                match costs {
                    None => balanced_threshold(&scores, &members, weights).value,
                    Some(costs) => {
                        let (wrong, missed) = (costs.false_positive, costs.false_negative);
                        least_cost_threshold(&scores, &members, weights, wrong, missed).value
                    }
                }
            };
            forecasts.iter().enumerate().map(threshold).collect()
        };
        Some(Self {
            best_log_odds: quantiles.collect(),
            balanced: thresholds(None),
            least_cost: costs.map(|costs| thresholds(Some(costs))),
        })
    }

    /// For each class the log-odds against the rest that its documents should reach by this rule.
    pub fn thresholds(&self, rule: OtherRule) -> Result<Vec<f64>, OtherError> {
        match rule {
            OtherRule::Loss(share) if (0.0..=1.0).contains(&share) => {
                Ok(vec![self.quantile(share); self.balanced.len()])
            }
            OtherRule::Loss(_) => Err(OtherError::BadShare),
            OtherRule::Balanced => Ok(self.balanced.clone()),
            OtherRule::LeastCost => self.least_cost.clone().ok_or(OtherError::NoCosts),
        }
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
    pub fn fits(&self, class_count: usize) -> bool {
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        let of_classes = |values: &[f64]| values.len() == class_count && finite(values);
        (1..=STEPS + 1).contains(&self.best_log_odds.len())
            && finite(&self.best_log_odds)
            && of_classes(&self.balanced)
            && self.least_cost.as_deref().is_none_or(of_classes)
    }
}

/// Gives `other` a share of the probabilities of classes that sum to one: `classes` has one place more than there
/// are classes, the last for `other`. `best` is the class with the largest log-odds against the rest, `above` how
/// far these are above its threshold.
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
/// ```
/// use calibrant_calibration::{Probability, decision::share_with_other};
/// let half = Probability::from_log_odds(0.0);
/// let mut classes = [half, half, half];
/// share_with_other(&mut classes, 0, 0.0);
/// // By hand: w = 1/2, so other gets (1/2) / (3/2) = 1/3, as do the classes.
/// assert!(classes.iter().all(|p| (p.value() - 1.0 / 3.0).abs() < 1e-12));
/// ```
pub fn share_with_other(classes: &mut [Probability], best: usize, above: f64) {
    let Some((other, known)) = classes.split_last_mut() else {
        return;
    };
    let Some(best) = known.get(best) else { return };
    let ln_weight = best.ln() - above;
    for class in known {
        let others = log_sum_exp(&[class.complement().ln(), ln_weight]);
        *class = Probability::from_ln(class.ln(), others);
    }
    *other = Probability::from_log_odds(ln_weight);
}
