//! Bennett's asymmetric Laplace density and the calibrator made of two of them.

use serde::{Deserialize, Serialize};

use super::{CalibrationMethod, Calibrator, Density, HeldOutScores};
use crate::numeric::order_bits;
use crate::{FitError, Probability};

/// Laplace density with a different decay on each side of its mode.
///
/// # Formula
/// ```text
/// p(s) = βγ/(β+γ) · exp(-β(θ-s))   if s <= θ
/// p(s) = βγ/(β+γ) · exp(-γ(s-θ))   otherwise
/// ```
/// `θ` is the mode, `β` and `γ` the decay rates left and right of it. Fitting maximises the
/// likelihood exactly: with `D_l = Σ_{s<=θ} (θ-s)` and `D_r = Σ_{s>θ} (s-θ)` the best rates are
/// `β = N/(D_l + √(D_l D_r))`, `γ = N/(D_r + √(D_l D_r))`, and the likelihood falls with
/// `√D_l + √D_r`. Between neighbouring scores both are linear in `θ`, so that sum is concave there
/// and least at an end: trying every score as the mode, by prefix sums after one sort, is exact.
///
/// # When it misleads
/// With a handful of positive scores one side may rest on a single example. A side without any
/// spread gets a small one, tied to the spread of all scores, so that no slope is infinite.
///
/// # Reference
/// Bennett, SIGIR 2003, section 3.3 and equations 1 to 3; the exact search in place of his grid is ours.
///
/// ```
/// use calibrant::calibration::{AsymmetricLaplace, Density};
/// let d = AsymmetricLaplace::new(0.0, 2.0, 1.0)?;
/// let peak = (2.0f64 / 3.0).ln(); // by hand: βγ/(β+γ) = 2/3
/// assert!((d.ln_pdf(0.0) - peak).abs() < 1e-12);
/// assert!((d.ln_pdf(-800.0) - (peak - 1600.0)).abs() < 1e-9); // far tail, still finite
/// # Ok::<(), calibrant::FitError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AsymmetricLaplace {
    mode: f64,
    left_rate: f64,
    right_rate: f64,
}

impl AsymmetricLaplace {
    /// From mode and decay rates, which must be positive.
    pub fn new(mode: f64, left_rate: f64, right_rate: f64) -> Result<Self, FitError> {
        for (setting, value) in [("the left rate", left_rate), ("the right rate", right_rate)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(FitError::BadSetting {
                    setting,
                    requirement: "a positive number",
                    value: value.to_string(),
                });
            }
        }
        if !mode.is_finite() {
            return Err(FitError::BadSetting {
                setting: "the mode",
                requirement: "a finite number",
                value: mode.to_string(),
            });
        }
        Ok(Self {
            mode,
            left_rate,
            right_rate,
        })
    }

    /// Where the density is highest.
    pub fn mode(&self) -> f64 {
        self.mode
    }

    /// The decay rates left and right of the mode.
    pub fn rates(&self) -> (f64, f64) {
        (self.left_rate, self.right_rate)
    }

    /// Fits scores with weights that are sorted by score already.
    fn fit_sorted(sorted: &[(f64, f64)], least_deviation: f64) -> Result<Self, FitError> {
        let (mut total, mut sum) = (0.0, 0.0);
        for &(score, weight) in sorted {
            total += weight;
            sum += weight * score;
        }
        // Sums of deviations are taken from a point inside the data: far from zero, `N θ - S`
        // would cancel to nothing.
        let origin = if total > 0.0 { sum / total } else { 0.0 };
        let centred_sum: f64 = sorted
            .iter()
            .map(|&(score, weight)| weight * (score - origin))
            .sum();
        let (mut weight_left, mut sum_left) = (0.0, 0.0);
        let mut best = (f64::INFINITY, 0.0, 0.0, 0.0);
        for &(score, weight) in sorted {
            let centred = score - origin;
            weight_left += weight;
            sum_left += weight * centred;
            let left = (weight_left * centred - sum_left).max(0.0);
            let right = ((centred_sum - sum_left) - (total - weight_left) * centred).max(0.0);
            let spread = left.sqrt() + right.sqrt();
            if spread < best.0 {
                best = (spread, score, left, right);
            }
        }
        let (_, mode, left, right) = best;
        let (left, right) = (left.max(least_deviation), right.max(least_deviation));
        let both = (left * right).sqrt();
        Self::new(mode, total / (left + both), total / (right + both))
    }
}

impl Density for AsymmetricLaplace {
    const NAME: &'static str = "asymmetric Laplace";

    fn fit(examples: &mut [(f64, f64)], spread: f64) -> Result<Self, FitError> {
        if !examples.is_sorted_by(|a, b| a.0 <= b.0) {
            examples.sort_unstable_by_key(|example| order_bits(example.0));
        }
        Self::fit_sorted(examples, 0.5 * spread)
    }

    #[inline]
    fn ln_pdf(&self, score: f64) -> f64 {
        let rate = if score <= self.mode {
            self.left_rate
        } else {
            self.right_rate
        };
        let peak =
            self.left_rate.ln() + self.right_rate.ln() - (self.left_rate + self.right_rate).ln();
        peak - rate * (score - self.mode).abs()
    }
}

/// Calibrates by two asymmetric Laplace densities and Bayes' rule.
///
/// The log-odds are linear in three pieces with bends at the two modes, which suits scores whose
/// extremes behave unlike the hard cases in between. They need not rise everywhere: a score far
/// beyond anything seen of either class may be improbable for both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AsymmetricLaplaceMethod;

/// Two densities and a prior.
///
/// `ln P(+|s) / P(-|s) = ln p(s|+) - ln p(s|-) + ln prior odds`
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DensityCalibrator<D> {
    /// The scores of positives.
    pub positive: D,
    /// The scores of negatives.
    pub negative: D,
    /// `ln((N₊ + 1) / (N₋ + 1))`.
    pub ln_prior_odds: f64,
}

impl<D: Density> DensityCalibrator<D> {
    /// Fits both densities and the prior.
    pub fn fit(held_out: &HeldOutScores) -> Result<Self, FitError> {
        let positives = held_out.positives();
        let negatives = held_out.len() - positives;
        if positives < 1 || negatives < 1 {
            return Err(FitError::TooFewExamples {
                method: D::NAME,
                needed: 1,
                positives,
                negatives,
            });
        }
        let spread = mean_deviation(held_out);
        let part = |wanted: bool| -> Vec<(f64, f64)> {
            held_out
                .examples()
                .filter(|&(_, label, _)| label == wanted)
                .map(|(score, _, weight)| (score, weight))
                .collect()
        };
        Ok(Self {
            positive: D::fit(&mut part(true), spread)?,
            negative: D::fit(&mut part(false), spread)?,
            ln_prior_odds: held_out.ln_prior_odds(),
        })
    }
}

impl<D: Density> Calibrator for DensityCalibrator<D> {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        Probability::from_log_odds(
            self.positive.ln_pdf(score) - self.negative.ln_pdf(score) + self.ln_prior_odds,
        )
    }

    fn ln_densities(&self, score: f64) -> Option<(f64, f64)> {
        Some((self.positive.ln_pdf(score), self.negative.ln_pdf(score)))
    }
}

impl CalibrationMethod for AsymmetricLaplaceMethod {
    type Calibrator = DensityCalibrator<AsymmetricLaplace>;

    fn fit(&self, held_out: &HeldOutScores) -> Result<Self::Calibrator, FitError> {
        DensityCalibrator::fit(held_out)
    }
}

/// The mean distance of all scores from their mean; 1 where they are all equal.
fn mean_deviation(held_out: &HeldOutScores) -> f64 {
    let total: f64 = held_out.weights().iter().sum();
    let mean = held_out
        .examples()
        .map(|(score, _, weight)| weight / total * score)
        .sum::<f64>();
    let deviation = held_out
        .examples()
        .map(|(score, _, weight)| weight / total * (score - mean).abs())
        .sum::<f64>();
    if deviation > 0.0 && deviation.is_finite() {
        deviation
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ln_likelihood(d: &AsymmetricLaplace, scores: &[(f64, f64)]) -> f64 {
        scores
            .iter()
            .map(|&(score, weight)| weight * d.ln_pdf(score))
            .sum()
    }

    #[test] // Scores 0, 1, 3: modes give √D_l+√D_r = √4, √1+√2, √5; the least is at 0... by hand below.
    fn the_fit_worked_by_hand() {
        // θ=0: D_l=0, D_r=1+3=4 -> 2.  θ=1: 1 and 2 -> 2.414.  θ=3: 3+2=5 and 0 -> 2.236.
        let d = AsymmetricLaplace::fit(&mut [(3.0, 1.0), (0.0, 1.0), (1.0, 1.0)], 0.02).unwrap();
        assert_eq!(d.mode(), 0.0);
        // The left side has no spread and gets 0.01: γ = 3/(4 + √0.04) = 3/4.2, β = 3/(0.01 + 0.2).
        assert!((d.rates().1 - 3.0 / 4.2).abs() < 1e-12 && (d.rates().0 - 3.0 / 0.21).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn no_parameters_on_a_fine_grid_are_likelier(
            scores in prop::collection::vec((-5.0f64..5.0, 0.2f64..3.0), 4..20),
        ) {
            let mut sorted = scores.clone();
            let fitted = AsymmetricLaplace::fit(&mut sorted, 1e-9).unwrap();
            let best = ln_likelihood(&fitted, &scores);
            for step in 0..200 {
                let mode = -5.0 + step as f64 / 20.0;
                let left: f64 = scores.iter().filter(|s| s.0 <= mode).map(|s| s.1 * (mode - s.0)).sum();
                let right: f64 = scores.iter().filter(|s| s.0 > mode).map(|s| s.1 * (s.0 - mode)).sum();
                if left < 1e-6 || right < 1e-6 { continue; }
                let total: f64 = scores.iter().map(|s| s.1).sum();
                for (a, b) in [(1.0, 1.0), (0.9, 1.0), (1.0, 1.2)] {
                    let both = (left * right).sqrt();
                    let other = AsymmetricLaplace::new(mode, a * total / (left + both), b * total / (right + both)).unwrap();
                    prop_assert!(ln_likelihood(&other, &scores) <= best + 1e-9 * best.abs().max(1.0));
                }
            }
        }

        #[test]
        fn the_density_integrates_to_one(mode in -3.0f64..3.0, left in 0.3f64..4.0, right in 0.3f64..4.0) {
            let d = AsymmetricLaplace::new(mode, left, right).unwrap();
            // The trapezium rule on each side of the kink.
            let side = |sign: f64| (0..80_000).map(|i| {
                let at = |i: f64| d.ln_pdf(mode + sign * i * 1e-3 + sign * 1e-12).exp();
                0.5e-3 * (at(i as f64) + at(i as f64 + 1.0))
            }).sum::<f64>();
            prop_assert!((side(1.0) + side(-1.0) - 1.0).abs() < 1e-5);
        }

        #[test]
        fn scaling_the_scores_scales_the_fit(scores in prop::collection::vec(-5.0f64..5.0, 6..20), factor in 0.01f64..1e3) {
            let labels: Vec<bool> = (0..scores.len()).map(|i| i % 3 == 0).collect();
            let fit = |k: f64| DensityCalibrator::<AsymmetricLaplace>::fit(
                &HeldOutScores::assume(scores.iter().map(|s| s * k).collect(), labels.clone()).unwrap()).unwrap();
            let (plain, scaled) = (fit(1.0), fit(factor));
            for s in [-7.0, -1.0, 0.3, 2.0, 9.0] {
                let (a, b) = (plain.probability(s).log_odds(), scaled.probability(s * factor).log_odds());
                prop_assert!((a - b).abs() < 1e-6 * (1.0 + a.abs()), "{} {}", a, b);
            }
        }
    }
}
