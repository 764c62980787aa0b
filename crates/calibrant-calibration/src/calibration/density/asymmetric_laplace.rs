//! Bennett's asymmetric Laplace density.

use serde::{Deserialize, Serialize};

use super::mode_search::{Deviations, best_mode};
use super::{
    ClassScores, Decay, Density, DensityMethod, Side, finite, kept_finite, kept_positive, positive,
};
use crate::CalibrationError;

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
/// and least at an end: the best mode is one of the scores, and one pass after the sort is exact.
///
/// # When it misleads
/// With a handful of positive scores one side may rest on a single example. A side without any
/// spread gets a small one, tied to the spread of all scores, so that no slope is infinite.
///
/// # Reference
/// Bennett, SIGIR 2003, section 3.3 and equations 1 to 3; the exact search instead of his grid is ours.
///
/// ```
/// use calibrant_calibration::calibration::{AsymmetricLaplace, Density};
/// let d = AsymmetricLaplace::new(0.0, 2.0, 1.0)?;
/// let peak = (2.0f64 / 3.0).ln(); // by hand: βγ/(β+γ) = 2/3
/// assert!((d.ln_pdf(0.0) - peak).abs() < 1e-12);
/// assert!((d.ln_pdf(-800.0) - (peak - 1600.0)).abs() < 1e-9); // far tail, still finite
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parameters", into = "Parameters")]
pub struct AsymmetricLaplace {
    mode: f64,
    left_rate: f64,
    right_rate: f64,
    ln_peak: f64,
}

/// Calibrates by two asymmetric Laplace densities and Bayes' rule.
///
/// The log-odds are linear in three pieces with bends at the two modes, which suits scores whose
/// extremes behave unlike the hard cases in between. They need not rise everywhere: a score far
/// beyond anything seen of either class may be improbable for both.
pub type AsymmetricLaplaceMethod = DensityMethod<AsymmetricLaplace>;

/// The method as a value, written like its type.
#[allow(non_upper_case_globals)]
pub const AsymmetricLaplaceMethod: AsymmetricLaplaceMethod = DensityMethod::new();

impl AsymmetricLaplace {
    /// From mode and decay rates, which must be positive.
    pub fn new(mode: f64, left_rate: f64, right_rate: f64) -> Result<Self, CalibrationError> {
        finite("the mode", mode)?;
        positive("the left rate", left_rate)?;
        positive("the right rate", right_rate)?;
        Ok(Self::kept(mode, left_rate, right_rate))
    }

    /// From a fit, whose numbers a unit may have taken beyond `f64`.
    fn kept(mode: f64, left_rate: f64, right_rate: f64) -> Self {
        let (left_rate, right_rate) = (kept_positive(left_rate), kept_positive(right_rate));
        let (less, more) = (left_rate.min(right_rate), left_rate.max(right_rate));
        Self {
            mode: kept_finite(mode),
            left_rate,
            right_rate,
            // βγ/(β+γ) = β/(1+β/γ), whose parts cannot overflow if β is the lesser one.
            ln_peak: less.ln() - (less / more).ln_1p(),
        }
    }

    /// The decay rates left and right of the mode.
    pub fn rates(&self) -> (f64, f64) {
        (self.left_rate, self.right_rate)
    }
}

impl Density for AsymmetricLaplace {
    const NAME: &'static str = "asymmetric Laplace";

    fn fit(class: &ClassScores) -> Result<Self, CalibrationError> {
        // (√D_l + √D_r)², which needs only one root.
        let cost = |left: &Deviations, right: &Deviations| {
            left.first + right.first + 2.0 * (left.first * right.first).sqrt()
        };
        let best = best_mode(class, cost);
        let left = best.left.first.max(class.least_deviation());
        let right = best.right.first.max(class.least_deviation());
        let both = (left * right).sqrt();
        let total = class.total();
        Ok(Self::kept(
            best.at,
            total / (left + both),
            total / (right + both),
        ))
    }

    fn rescaled(&self, unit: f64) -> Self {
        Self::kept(
            self.mode * unit,
            self.left_rate / unit,
            self.right_rate / unit,
        )
    }

    #[inline]
    fn mode(&self) -> f64 {
        self.mode
    }

    #[inline]
    fn ln_peak(&self) -> f64 {
        self.ln_peak
    }

    #[inline]
    fn decay(&self, side: Side) -> Decay {
        Decay::Exponential {
            rate: match side {
                Side::Left => self.left_rate,
                Side::Right => self.right_rate,
            },
        }
    }
}

/// What is saved.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    mode: f64,
    left_rate: f64,
    right_rate: f64,
}

impl TryFrom<Parameters> for AsymmetricLaplace {
    type Error = CalibrationError;

    fn try_from(saved: Parameters) -> Result<Self, CalibrationError> {
        Self::new(saved.mode, saved.left_rate, saved.right_rate)
    }
}

impl From<AsymmetricLaplace> for Parameters {
    fn from(density: AsymmetricLaplace) -> Self {
        Self {
            mode: density.mode,
            left_rate: density.left_rate,
            right_rate: density.right_rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::DensityCalibrator;
    use super::*;
    use crate::calibration::{Calibrator, HeldOutScores};
    use crate::numeric::{Random, sigmoid, softplus};

    #[test]
    fn the_fit_worked_by_hand() {
        // θ=0: D_l=0, D_r=1+3=4 -> 2.  θ=1: 1 and 2 -> 2.414.  θ=3: 3+2=5 and 0 -> 2.236.
        let examples = [(3.0, 1.0), (0.0, 1.0), (1.0, 1.0)];
        let d = AsymmetricLaplace::fit(&ClassScores::new(&examples, Side::Left, 0.02).unwrap())
            .unwrap();
        assert_eq!(d.mode(), 0.0);
        // The left side has no spread and gets 0.01: γ = 3/(4 + √0.04) = 3/4.2, β = 3/(0.01 + 0.2).
        assert!((d.rates().1 - 3.0 / 4.2).abs() < 1e-12 && (d.rates().0 - 3.0 / 0.21).abs() < 1e-9);
    }

    /// Ten per cent positives, both classes asymmetric Laplace.
    struct Truth(DensityCalibrator<AsymmetricLaplace>);

    impl Truth {
        fn new() -> Self {
            Self(DensityCalibrator {
                positive: AsymmetricLaplace::new(0.5, 1.5, 1.0).unwrap(),
                negative: AsymmetricLaplace::new(-1.0, 1.0, 3.0).unwrap(),
                ln_prior_odds: (0.1f64 / 0.9).ln(),
            })
        }

        fn draw(&self, random: &mut Random) -> (f64, bool) {
            let positive = random.uniform() < 0.1;
            let density = if positive {
                self.0.positive
            } else {
                self.0.negative
            };
            let (left, right) = density.rates();
            let distance = -random.open_uniform().ln();
            let score = if random.uniform() < right / (left + right) {
                density.mode() - distance / left
            } else {
                density.mode() + distance / right
            };
            (score, positive)
        }

        /// The excess log loss over fresh scores of a fit to so many, which are multiplied by the
        /// factor before the fit.
        fn excess(&self, count: usize, seed: u64, factor: f64) -> f64 {
            let mut random = Random::from_seed(seed);
            let (scores, labels): (Vec<f64>, Vec<bool>) =
                (0..count).map(|_| self.draw(&mut random)).unzip();
            let scores = scores.into_iter().map(|score| score * factor).collect();
            let held_out = HeldOutScores::assume(scores, labels).unwrap();
            let fitted = DensityCalibrator::<AsymmetricLaplace>::fit(&held_out).unwrap();
            let fresh = 100_000;
            let excess: f64 = (0..fresh)
                .map(|_| {
                    let (score, _) = self.draw(&mut random);
                    let truth = self.0.probability(score).log_odds();
                    let stated = fitted.probability(score * factor).log_odds();
                    // The relative entropy of two coins, from their log-odds.
                    sigmoid(truth) * (truth - stated) + softplus(stated) - softplus(truth)
                })
                .sum();
            excess / f64::from(fresh)
        }

        /// Checks the median and the mean of some draws.
        #[track_caller]
        fn check(&self, count: usize, draws: u64, most: f64) {
            let mut found: Vec<f64> = (0..draws)
                .map(|seed| self.excess(count, 1000 + seed, 1.0))
                .collect();
            found.sort_by(f64::total_cmp);
            let median = found[found.len() / 2];
            assert!(median <= most, "{median} from {count}");
            // The information matrices of the densities and of the posterior say that no estimator
            // has a mean excess below 0.977/n; that of one draw varies by about 0.8/n.
            let mean = found.iter().sum::<f64>() / draws as f64;
            let expected = (0.977 + 4.0 * 0.8 / (draws as f64).sqrt()) / count as f64;
            assert!(mean <= expected, "{mean} from {count}");
        }
    }

    #[test]
    fn the_truth_is_found_as_fast_as_examples_allow() {
        Truth::new().check(10_000, 25, 1.5e-4);
        Truth::new().check(100_000, 15, 1e-5);
    }

    #[test]
    fn scores_times_thirty_are_fitted_as_well() {
        let truth = Truth::new();
        let (plain, scaled) = (truth.excess(10_000, 1, 1.0), truth.excess(10_000, 1, 30.0));
        assert!((plain - scaled).abs() < 1e-14, "{plain} {scaled}");
    }
}
