//! Platt's curve: a logistic function of the score with softened targets.

use serde::{Deserialize, Serialize};

use super::{CalibrationMethod, Calibrator, HeldOutScores};
use crate::solvers::newton_logistic_of;
use crate::{CalibrationError, Probability, parallel};

/// Fits log-odds that are linear in the score ("LR+Noise" in Bennett's tables).
///
/// # Formula
/// ```text
/// ln P/(1-P) = a s + b,  by cross-entropy with targets (N₊+1)/(N₊+2) for positives, 1/(N₋+2) for negatives
/// ```
/// The targets stand for labels that may be wrong, and keep the slope finite where the classes
/// are perfectly separated.
///
/// # When it misleads
/// It assumes that the log-odds are a straight line in the score: where the extremes behave
/// unlike the middle, as naive Bayes' do, it is too sure at one end and too timid at the other.
///
/// # Reference
/// Platt 1999; fitted by Newton's method as in Lin, Lin & Weng 2007.
///
/// ```
/// use calibrant_calibration::calibration::{CalibrationMethod, Calibrator, HeldOutScores, Platt};
/// // Two scores seen equally often with both labels: nothing can be learned from the score.
/// let held_out = HeldOutScores::assume(vec![1.0, 1.0, -1.0, -1.0], vec![true, false, true, false])?;
/// let calibrator = Platt.fit(&held_out)?;
/// assert!((calibrator.probability(5.0).value() - 0.5).abs() < 1e-9);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Platt;

/// Log-odds that are linear in the score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlattCalibrator {
    /// How fast the log-odds grow with the score.
    pub slope: f64,
    /// The log-odds at score zero.
    pub intercept: f64,
}

impl Calibrator for PlattCalibrator {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        Probability::from_log_odds(self.slope * score + self.intercept)
    }
}

impl CalibrationMethod for Platt {
    type Calibrator = PlattCalibrator;

    fn fit(&self, held_out: &HeldOutScores) -> Result<PlattCalibrator, CalibrationError> {
        self.fit_from(held_out, None)
    }
}

impl Platt {
    /// Fits from a curve that is near, such as that of all folds for all but one.
    pub(super) fn fit_from(
        &self,
        held_out: &HeldOutScores,
        start: Option<&PlattCalibrator>,
    ) -> Result<PlattCalibrator, CalibrationError> {
        let positives = held_out.positives();
        if positives < 1 || positives == held_out.len() {
            let negatives = held_out.len() - positives;
            return Err(CalibrationError::TooFewExamples {
                method: "Platt's curve",
                needed: 1,
                positives,
                negatives,
            });
        }
        let (positive, negative) = held_out.class_weights();
        let targets = (1.0 / (negative + 2.0), (positive + 1.0) / (positive + 2.0));
        let scale = Standard::of(held_out);
        let tolerance = if start.is_some() {
            FOLD_TOLERANCE
        } else {
            TOLERANCE
        };
        let start = start.map_or_else(
            || scale.guess(held_out),
            |curve| {
                let curve = scale.redo(curve);
                [curve.intercept, curve.slope]
            },
        );
        let examples = |part| {
            held_out.examples_of(part).map(|(score, label, weight)| {
                let target = if label { targets.1 } else { targets.0 };
                ([1.0, scale.apply(score)], target, weight)
            })
        };
        let count = held_out.len();
        let [intercept, slope] =
            newton_logistic_of("Platt's curve", start, tolerance, count, examples)?;
        Ok(scale.undo(slope, intercept))
    }
}

/// For curves that are kept, and for those that only forecast their fold.
pub(super) const TOLERANCE: f64 = 1e-9;
pub(super) const FOLD_TOLERANCE: f64 = 1e-6;

/// Centre and spread of scores, so that Newton's method sees numbers near one whatever the
/// scorer's units are.
///
/// Both are kept as quarters: differences of scores near the ends of `f64` do not overflow then,
/// and a quarter is exact.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standard {
    quarter_mean: f64,
    quarter_deviation: f64,
}

impl Standard {
    pub(super) fn of(held_out: &HeldOutScores) -> Self {
        let total = sum(held_out, |_, weight| weight);
        let quarter_mean = sum(held_out, |score, weight| weight / total * (0.25 * score));
        let quarter_deviation = sum(held_out, |score, weight| {
            weight / total * (0.25 * score - quarter_mean).abs()
        });
        Self::from_quarters(quarter_mean, quarter_deviation)
    }

    fn from_quarters(quarter_mean: f64, quarter_deviation: f64) -> Self {
        let usable = quarter_deviation > 0.0 && quarter_deviation.is_finite();
        Self {
            quarter_mean,
            quarter_deviation: if usable { quarter_deviation } else { 0.25 },
        }
    }

    /// Of numbers and their weights.
    pub(super) fn of_values(values: impl Iterator<Item = (f64, f64)> + Clone) -> Self {
        let total: f64 = values.clone().map(|(_, weight)| weight).sum();
        let quarter_mean = values
            .clone()
            .map(|(value, weight)| weight / total * (0.25 * value))
            .sum::<f64>();
        let quarter_deviation = values
            .map(|(value, weight)| weight / total * (0.25 * value - quarter_mean).abs())
            .sum::<f64>();
        Self::from_quarters(quarter_mean, quarter_deviation)
    }

    pub(super) fn mean(all: &[Self]) -> Self {
        let count = all.len().max(1) as f64;
        let mean = |part: fn(&Self) -> f64| all.iter().map(|scale| part(scale) / count).sum();
        Self {
            quarter_mean: mean(|scale| scale.quarter_mean),
            quarter_deviation: mean(|scale| scale.quarter_deviation),
        }
    }

    #[inline]
    pub(super) fn apply(&self, score: f64) -> f64 {
        (0.25 * score - self.quarter_mean) / self.quarter_deviation
    }

    /// Where to start: the curve if both classes' standardised scores were normal with one
    /// variance, though no surer of the means of the classes than one would be of a common
    /// example: too steep a start is far harder to come back from than one that is too flat.
    pub(super) fn guess(&self, held_out: &HeldOutScores) -> [f64; 2] {
        let parts = parallel::map_parts(held_out.len(), |part| {
            let mut sums = [[0.0; 3]; 2];
            for (score, label, weight) in held_out.examples_of(part) {
                let z = self.apply(score);
                let sums = &mut sums[usize::from(label)];
                sums[0] += weight;
                sums[1] += weight * z;
                sums[2] += weight * z * z;
            }
            sums
        });
        let mut sums = [[0.0; 3]; 2];
        for (sum, part) in sums
            .iter_mut()
            .flatten()
            .zip(parts.iter().flatten().flatten())
        {
            *sum += part;
        }
        let [negative, positive] =
            sums.map(|[weight, sum, squares]| (sum / weight, squares - sum * sum / weight));
        let variance = (negative.1 + positive.1) / (sums[0][0] + sums[1][0]);
        let prior = held_out.ln_prior_odds();
        let apart = positive.0 - negative.0;
        let most = (8.0 + prior.abs()) / apart.abs().max(1e-3);
        // Not by `clamp`, which minds where weights without measure leave no number.
        let slope = (apart / variance.max(1e-3)).max(-most).min(most);
        if slope.is_finite() {
            [prior - slope * (positive.0 + negative.0) / 2.0, slope]
        } else {
            [prior, 0.0]
        }
    }

    /// A curve over scores as one over standardised scores.
    pub(super) fn redo(&self, curve: &PlattCalibrator) -> PlattCalibrator {
        PlattCalibrator {
            slope: self.redo_slope(curve.slope),
            intercept: curve.intercept + curve.slope * self.quarter_mean * 4.0,
        }
    }

    pub(super) fn undo_score(&self, standardised: f64) -> f64 {
        (self.quarter_mean + self.quarter_deviation * standardised) * 4.0
    }

    pub(super) fn redo_slope(&self, slope: f64) -> f64 {
        slope * self.quarter_deviation * 4.0
    }

    /// Kept finite where scores differ by less than any number's inverse.
    pub(super) fn undo_slope(&self, slope: f64) -> f64 {
        (slope / self.quarter_deviation * 0.25).clamp(-1e307, 1e307)
    }

    pub(super) fn undo(&self, slope: f64, intercept: f64) -> PlattCalibrator {
        let slope = self.undo_slope(slope);
        PlattCalibrator {
            slope,
            intercept: intercept - slope * self.quarter_mean * 4.0,
        }
    }
}

/// The sum over all examples of something that a score and its weight give.
fn sum(held_out: &HeldOutScores, of: impl Fn(f64, f64) -> f64 + Sync) -> f64 {
    let (scores, weights) = (held_out.scores(), held_out.weights());
    let parts = parallel::map_parts(scores.len(), |part| -> f64 {
        let each = scores[part.clone()].iter().zip(&weights[part]);
        each.map(|(&score, &weight)| of(score, weight)).sum()
    });
    parts.into_iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perfectly_separated_scores_give_a_finite_curve() {
        let held_out =
            HeldOutScores::assume(vec![-2.0, -1.0, 1.0, 2.0], vec![false, false, true, true])
                .unwrap();
        let calibrator = Platt.fit(&held_out).unwrap();
        assert!(calibrator.slope.is_finite() && calibrator.slope > 0.0);
        // By symmetry the curve passes through one half at zero.
        assert!(calibrator.intercept.abs() < 1e-8);
        assert!(calibrator.probability(1e6).value() < 1.0);
    }

    #[test]
    fn the_mean_probability_equals_the_mean_target() {
        // The intercept's equation: at the optimum the probabilities add up to the targets.
        let scores: Vec<f64> = (0..30)
            .map(|i| f64::from(i % 7) - 3.0 + 0.1 * f64::from(i))
            .collect();
        let labels: Vec<bool> = (0..30).map(|i| i % 4 == 0 || i > 25).collect();
        let held_out = HeldOutScores::assume(scores.clone(), labels).unwrap();
        let calibrator = Platt.fit(&held_out).unwrap();
        let positives = held_out.positives() as f64;
        let target = positives * (positives + 1.0) / (positives + 2.0)
            + (30.0 - positives) / (30.0 - positives + 2.0);
        let stated: f64 = scores
            .iter()
            .map(|&s| calibrator.probability(s).value())
            .sum();
        assert!((stated - target).abs() < 1e-7, "{stated} {target}");
    }
}
