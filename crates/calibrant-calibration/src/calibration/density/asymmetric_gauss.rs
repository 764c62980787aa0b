//! Two half Gaussians that share a mode.

use serde::{Deserialize, Serialize};

use super::mode_search::{Deviations, best_mode};
use super::{
    ClassScores, Decay, Density, LN_HALF_AREA, Side, finite, kept_finite, kept_positive, ln_sum,
    positive,
};
use crate::CalibrationError;

/// Normal density with a different width on each side of its mode.
///
/// # Formula
/// ```text
/// p(s) = 2/(√(2π)(σ_l+σ_r)) · exp(-(s-θ)²/2σ²),   σ = σ_l if s <= θ, else σ_r
/// ```
/// With `A = Σ_{s<=θ} w (s-θ)²`, `B = Σ_{s>θ} w (s-θ)²` and `N` the sum of weights, the likeliest widths
/// for a mode `θ` are `σ_l² = (A + A^⅔ B^⅓)/N` and `σ_r² = (B + B^⅔ A^⅓)/N`, and the likelihood
/// falls with `A^⅓ + B^⅓`. The best mode may lie between two scores; it is found by halving the
/// few intervals where a bound from below allows for something better, to 14 digits of that sum.
///
/// # When it misleads
/// Tails of text classifiers' scores are often exponential; a Gaussian one makes the extremes too
/// sure. A side without any deviation gets a little, tied to the spread of all scores.
///
/// # Reference
/// Bennett, SIGIR 2003, section 3.3 and equations 4 and 5, whose right-hand sides are the squares
/// of the widths and whose sums of squares lack a factor two; the exact search instead of his
/// grid is ours.
///
/// ```
/// use calibrant_calibration::calibration::{AsymmetricGauss, ClassScores, Density, Side};
/// let scores = ClassScores::new(&[(-1.0, 1.0), (0.0, 24.0), (2.0, 2.0)], Side::Left, 0.1)?;
/// let d = AsymmetricGauss::fit(&scores)?;
/// // By hand: at 0, A = 1 and B = 8, so that σ_l² = (1+2)/27 and σ_r² = (8+4)/27.
/// assert!(d.mode().abs() < 1e-6);
/// assert!((d.deviations().0 - 1.0 / 3.0).abs() < 1e-6);
/// assert!((d.deviations().1 - 2.0 / 3.0).abs() < 1e-6);
/// // The widths add up to one: the peak is 2/√(2π).
/// assert!((d.ln_pdf(0.0) - (2.0 / std::f64::consts::TAU.sqrt()).ln()).abs() < 1e-6);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parameters", into = "Parameters")]
pub struct AsymmetricGauss {
    mode: f64,
    left_deviation: f64,
    right_deviation: f64,
    ln_peak: f64,
}

impl AsymmetricGauss {
    /// From mode and widths, which must be positive.
    pub fn new(
        mode: f64,
        left_deviation: f64,
        right_deviation: f64,
    ) -> Result<Self, CalibrationError> {
        finite("the mode", mode)?;
        positive("the left deviation", left_deviation)?;
        positive("the right deviation", right_deviation)?;
        Ok(Self::kept(mode, left_deviation, right_deviation))
    }

    /// From a fit, whose numbers a unit may have taken beyond `f64`.
    fn kept(mode: f64, left_deviation: f64, right_deviation: f64) -> Self {
        let left_deviation = kept_positive(left_deviation);
        let right_deviation = kept_positive(right_deviation);
        Self {
            mode: kept_finite(mode),
            left_deviation,
            right_deviation,
            ln_peak: -LN_HALF_AREA - ln_sum(left_deviation, right_deviation),
        }
    }

    /// The widths left and right of the mode.
    pub fn deviations(&self) -> (f64, f64) {
        (self.left_deviation, self.right_deviation)
    }
}

impl Density for AsymmetricGauss {
    const NAME: &'static str = "asymmetric Gauss";

    fn fit(class: &ClassScores) -> Result<Self, CalibrationError> {
        let cost = |left: &Deviations, right: &Deviations| left.second.cbrt() + right.second.cbrt();
        let best = best_mode(class, cost);
        let left = best.left.second.max(class.least_square()).cbrt();
        let right = best.right.second.max(class.least_square()).cbrt();
        // A + A^⅔ B^⅓ is A^⅔ (A^⅓ + B^⅓), and its root A^⅓ times that of the sum.
        let width = |side: f64| side * ((left + right) / class.total()).sqrt();
        Ok(Self::kept(best.at, width(left), width(right)))
    }

    fn rescaled(&self, unit: f64) -> Self {
        Self::kept(
            self.mode * unit,
            self.left_deviation * unit,
            self.right_deviation * unit,
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
        Decay::Gaussian {
            deviation: match side {
                Side::Left => self.left_deviation,
                Side::Right => self.right_deviation,
            },
        }
    }
}

/// What is saved.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    mode: f64,
    left_deviation: f64,
    right_deviation: f64,
}

impl TryFrom<Parameters> for AsymmetricGauss {
    type Error = CalibrationError;

    fn try_from(saved: Parameters) -> Result<Self, CalibrationError> {
        Self::new(saved.mode, saved.left_deviation, saved.right_deviation)
    }
}

impl From<AsymmetricGauss> for Parameters {
    fn from(density: AsymmetricGauss) -> Self {
        Self {
            mode: density.mode,
            left_deviation: density.left_deviation,
            right_deviation: density.right_deviation,
        }
    }
}
