//! One factor for all scores.

use serde::{Deserialize, Serialize};

use super::held_out::Part;
use super::{ClassBuffers, HeldOutClassScores, tame};
use crate::CalibrationError;
use crate::solvers::sum_in_parts;

/// Fits one factor for the scores of all classes, by maximum likelihood.
///
/// # Formula
/// ```text
/// P(class c) = e^{β s_c} / Σ_k e^{β s_k}       β >= 0, the inverse temperature
/// ```
/// The mean log loss is convex in `β`; the root of its slope is found by Newton's method in `ln β`
/// between bounds that close in on it. Where every example's right class has the highest score, the loss
/// would fall for ever: there `β` is taken where the mean loss is `1/(N+2)`, which is what `N` examples
/// without a mistake can vouch for.
///
/// # When it misleads
/// It keeps the order of classes and can mend nothing that differs from class to class: where some
/// classes' scores run high, the error stays however many examples there are.
///
/// # Reference
/// Guo, Pleiss, Sun & Weinberger, ICML 2017, section 4.2.
///
/// ```
/// use calibrant_calibration::calibration::{HeldOutClassScores, Temperature};
/// // The class with the higher score is right three times of four: by hand, e^β / (e^β + 1) = 3/4.
/// let scores = [1.0, 0.0].repeat(4);
/// let held_out = HeldOutClassScores::assume(scores, 2, vec![0, 0, 0, 1])?;
/// let calibrator = Temperature.fit(&held_out)?;
/// assert!((calibrator.inverse_temperature() - 3f64.ln()).abs() < 1e-9);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Temperature;

/// One factor for all scores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct TemperatureCalibrator {
    inverse_temperature: f64,
    class_count: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    inverse_temperature: f64,
    class_count: usize,
}

impl TryFrom<Unchecked> for TemperatureCalibrator {
    type Error = &'static str;

    fn try_from(read: Unchecked) -> Result<Self, Self::Error> {
        let factor = read.inverse_temperature;
        if !(factor.is_finite() && factor >= 0.0 && read.class_count >= 2) {
            return Err(
                "an inverse temperature is a number from zero on, for at least two classes",
            );
        }
        Ok(Self {
            inverse_temperature: factor,
            class_count: read.class_count,
        })
    }
}

impl TemperatureCalibrator {
    /// The factor `β`.
    pub fn inverse_temperature(&self) -> f64 {
        self.inverse_temperature
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.class_count
    }

    pub(super) fn ln_weights_into(&self, scores: &[f64], buffer: &mut ClassBuffers) {
        let largest = highest(scores);
        let factor = self.inverse_temperature;
        buffer.fill(scores.iter().map(|&score| factor * (tame(score) - largest)));
    }
}

impl Temperature {
    /// Fits the factor.
    pub fn fit(
        &self,
        held_out: &HeldOutClassScores,
    ) -> Result<TemperatureCalibrator, CalibrationError> {
        let (arranged, _) = held_out.arranged();
        self.fit_part(&arranged.whole())
    }

    pub(super) fn fit_part(
        &self,
        part: &Part<'_>,
    ) -> Result<TemperatureCalibrator, CalibrationError> {
        let (factor, scale) = self.factor_and_scale(part)?;
        Ok(TemperatureCalibrator {
            inverse_temperature: factor / scale,
            class_count: part.class_count(),
        })
    }

    /// The factor for scores in units of their spread, and that spread.
    pub(super) fn factor_and_scale(&self, part: &Part<'_>) -> Result<(f64, f64), CalibrationError> {
        let Some(overview) = Overview::of(part) else {
            return Err(CalibrationError::NoExamples);
        };
        let scale = overview.spread;
        // Constant scores tell nothing, whatever they are multiplied with.
        if scale <= 1e-280 {
            return Ok((1.0, 1.0));
        }
        let target = overview
            .least_loss
            .map(|least| least + 1.0 / (overview.weight + 2.0));
        // Rises through zero at the wanted factor; and how steeply, for a step of ln β.
        let rising = |factor: f64| {
            let here = Expansion::at(part, factor, scale);
            match target {
                None => (here.slope, factor * here.curve),
                Some(target) => {
                    let loss = here.loss / overview.weight;
                    ((target / loss).ln(), -factor * here.slope / here.loss)
                }
            }
        };
        let (mut low, mut high) = (-BOUND, BOUND);
        let mut ln_factor = 0.0;
        for _ in 0..200 {
            let (value, steepness) = rising(f64::exp(ln_factor));
            if value > 0.0 {
                high = ln_factor;
            } else {
                low = ln_factor;
            }
            let step = (-value / steepness).clamp(-2.0, 2.0);
            let next = ln_factor + step;
            let inside = next > low && next < high; // not so for NaN
            let previous = ln_factor;
            ln_factor = if inside { next } else { 0.5 * (low + high) };
            if (ln_factor - previous).abs() < 1e-12 || high - low < 1e-12 || value == 0.0 {
                let end = if value == 0.0 { previous } else { ln_factor };
                return Ok((end.exp(), scale));
            }
        }
        Ok((ln_factor.exp(), scale))
    }
}

/// The factor for scores in units of their spread lies within `e^±BOUND`.
const BOUND: f64 = 20.0;

/// A score this many spreads below the highest is as good as infinitely far below.
const FAR: f64 = -1e6;

fn highest(scores: &[f64]) -> f64 {
    scores
        .iter()
        .map(|&score| tame(score))
        .fold(f64::NEG_INFINITY, f64::max)
}

/// What one look at all scores tells.
struct Overview {
    weight: f64,
    /// The mean distance of scores from the mean of their row.
    spread: f64,
    /// The mean loss for an infinite factor, where it is finite: no right class is ever below another.
    least_loss: Option<f64>,
}

impl Overview {
    fn of(part: &Part<'_>) -> Option<Self> {
        let classes = part.class_count() as f64;
        let weight: f64 = part.class_weights().iter().sum();
        if weight <= 0.0 {
            return None;
        }
        let sums = sum_in_parts(
            part.places(),
            || (0.0, Some(0.0)),
            |sums: &mut (f64, Option<f64>), places| {
                for (scores, label, example) in part.examples_of(places) {
                    let share = example / weight;
                    let mean = scores.iter().map(|score| score / classes).sum::<f64>();
                    let distance = scores.iter().map(|s| (s - mean).abs() / classes);
                    sums.0 += share * distance.sum::<f64>();
                    let largest = highest(scores);
                    let ties = scores.iter().filter(|&&score| score == largest).count();
                    let right = scores[label] == largest;
                    sums.1 = sums
                        .1
                        .filter(|_| right)
                        .map(|loss| loss + share * (ties as f64).ln());
                }
            },
            |total, sums| {
                total.0 += sums.0;
                total.1 = total.1.zip(sums.1).map(|(a, b)| a + b);
            },
        );
        Some(Self {
            weight,
            spread: sums.0,
            least_loss: sums.1,
        })
    }
}

/// The loss with its first two derivatives by the factor.
#[derive(Default)]
struct Expansion {
    loss: f64,
    slope: f64,
    curve: f64,
}

impl Expansion {
    fn at(part: &Part<'_>, factor: f64, scale: f64) -> Self {
        sum_in_parts(
            part.places(),
            Self::default,
            |sums, places| {
                for (scores, label, weight) in part.examples_of(places) {
                    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
                    for &score in scores {
                        let x = ((score - largest) / scale).max(FAR);
                        let e = (factor * x).exp();
                        total += e;
                        first += e * x;
                        second += e * x * x;
                    }
                    let mean = first / total;
                    let own = ((scores[label] - largest) / scale).max(FAR);
                    sums.loss += weight * (total.ln() - factor * own);
                    sums.slope += weight * (mean - own);
                    sums.curve += weight * (second / total - mean * mean);
                }
            },
            |total, sums| {
                total.loss += sums.loss;
                total.slope += sums.slope;
                total.curve += sums.curve;
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(scores: Vec<f64>, classes: usize, labels: Vec<u32>) -> f64 {
        let held_out = HeldOutClassScores::assume(scores, classes, labels).unwrap();
        Temperature.fit(&held_out).unwrap().inverse_temperature()
    }

    #[test]
    fn other_units_give_the_same_probabilities() {
        let scores = vec![1.0, 0.2, -0.5, 0.3, 0.9, 0.1, -0.2, 0.0, 0.4, 1.1, 1.0, 0.0];
        let labels = vec![0, 1, 0, 1];
        let plain = fit(scores.clone(), 3, labels.clone());
        for unit in [1e-150, 1e-3, 1e7, 1e200] {
            let other: Vec<f64> = scores.iter().map(|score| unit * score).collect();
            let scaled = fit(other, 3, labels.clone());
            assert!((scaled * unit / plain - 1.0).abs() < 1e-9, "{unit}");
        }
        // A shift that is the same for all classes of a row changes nothing either.
        let shifted = scores.iter().map(|score| score + 5.0).collect();
        assert!((fit(shifted, 3, labels) - plain).abs() < 1e-9);
    }

    #[test] // Margin 2 in every row: the loss ln(1 + e^-2β) must be 1/(4+2).
    fn perfectly_separated_scores_give_a_finite_factor() {
        let scores = vec![1.0, -1.0, 2.0, 0.0, -1.0, 1.0, 0.0, 2.0];
        let factor = fit(scores, 2, vec![0, 0, 1, 1]);
        let expected = -0.5 * (1.0f64 / 6.0).exp_m1().ln();
        assert!((factor - expected).abs() < 1e-9, "{factor} {expected}");
    }

    #[test]
    fn scores_that_mislead_get_almost_no_weight() {
        let factor = fit(vec![1.0, -1.0, 2.0, 0.0, -1.0, 1.0], 2, vec![1, 1, 0]);
        assert!((0.0..1e-8).contains(&factor));
    }

    #[test]
    fn constant_and_enormous_scores_stay_finite() {
        assert_eq!(fit(vec![3.0; 9], 3, vec![0, 1, 2]), 1.0);
        let factor = fit(
            vec![1e308, -1e308, 0.0, 1.0, -1e308, 1e308],
            2,
            vec![0, 1, 0],
        );
        assert!(factor.is_finite() && factor >= 0.0);
        assert!(
            HeldOutClassScores::assume(vec![], 3, vec![])
                .is_ok_and(|none| Temperature.fit(&none).is_err())
        );
    }

    #[test]
    fn a_forged_factor_is_refused() {
        let read = serde_json::from_str::<TemperatureCalibrator>;
        assert!(read(r#"{"inverse_temperature":0.5,"class_count":3}"#).is_ok());
        assert!(read(r#"{"inverse_temperature":-0.5,"class_count":3}"#).is_err());
        assert!(read(r#"{"inverse_temperature":0.5,"class_count":1}"#).is_err());
        assert!(read(r#"{"inverse_temperature":1e999,"class_count":3}"#).is_err());
    }
}
