//! The normal density.

use serde::{Deserialize, Serialize};

use super::{
    ClassScores, Decay, Density, LN_HALF_AREA, Side, finite, kept_finite, kept_positive, positive,
};
use crate::CalibrationError;

/// The normal density: one width for both sides of the mean.
///
/// # Formula
/// ```text
/// p(s) = exp(-(s-μ)²/2σ²) / (σ√(2π)),   μ = Σ w s / N,   σ² = Σ w (s-μ)² / N
/// ```
/// with `N` the sum of weights. The squares add up to at least those of one example that is as
/// far away as scores are in the mean, so that equal scores do not make an infinite peak.
///
/// # When it misleads
/// Scores far from the mean are all but impossible to it, so that a few of them widen it for all;
/// and with unequal widths the log-odds turn round on one side.
///
/// # Reference
/// Bennett, SIGIR 2003, section 3.2, where it is what the asymmetric ones are compared with.
///
/// ```
/// use calibrant_calibration::calibration::{ClassScores, Density, Gauss, Side};
/// let d = Gauss::fit(&ClassScores::new(&[(1.0, 1.0), (3.0, 1.0)], Side::Left, 0.1)?)?;
/// assert_eq!((d.mean(), d.deviation()), (2.0, 1.0)); // by hand
/// let peak = -0.5 * std::f64::consts::TAU.ln();
/// assert!((d.ln_pdf(5.0) - (peak - 4.5)).abs() < 1e-14); // three deviations away: 3²/2
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parameters", into = "Parameters")]
pub struct Gauss {
    mean: f64,
    deviation: f64,
    ln_peak: f64,
}

impl Gauss {
    /// From mean and standard deviation, which must be positive.
    pub fn new(mean: f64, deviation: f64) -> Result<Self, CalibrationError> {
        finite("the mean", mean)?;
        positive("the deviation", deviation)?;
        Ok(Self::kept(mean, deviation))
    }

    /// From a fit, whose numbers a unit may have taken beyond `f64`.
    fn kept(mean: f64, deviation: f64) -> Self {
        let deviation = kept_positive(deviation);
        Self {
            mean: kept_finite(mean),
            deviation,
            ln_peak: -deviation.ln() - LN_HALF_AREA - std::f64::consts::LN_2,
        }
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The standard deviation.
    pub fn deviation(&self) -> f64 {
        self.deviation
    }
}

impl Density for Gauss {
    const NAME: &'static str = "Gauss";

    fn fit(class: &ClassScores) -> Result<Self, CalibrationError> {
        let total = class.total();
        // Means of distances from a score in the middle: scores far from zero lose no digits.
        let origin = class.scores()[class.scores().len() / 2];
        let mean = class
            .examples()
            .map(|(score, weight)| weight * (score - origin))
            .sum::<f64>()
            / total;
        let squares: f64 = class
            .examples()
            .map(|(score, weight)| weight * (score - origin - mean) * (score - origin - mean))
            .sum();
        let squares = squares.max(2.0 * class.least_square());
        Ok(Self::kept(origin + mean, (squares / total).sqrt()))
    }

    fn rescaled(&self, unit: f64) -> Self {
        Self::kept(self.mean * unit, self.deviation * unit)
    }

    #[inline]
    fn mode(&self) -> f64 {
        self.mean
    }

    #[inline]
    fn ln_peak(&self) -> f64 {
        self.ln_peak
    }

    #[inline]
    fn decay(&self, _: Side) -> Decay {
        Decay::Gaussian {
            deviation: self.deviation,
        }
    }
}

/// What is saved.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    mean: f64,
    deviation: f64,
}

impl TryFrom<Parameters> for Gauss {
    type Error = CalibrationError;

    fn try_from(saved: Parameters) -> Result<Self, CalibrationError> {
        Self::new(saved.mean, saved.deviation)
    }
}

impl From<Gauss> for Parameters {
    fn from(density: Gauss) -> Self {
        Self {
            mean: density.mean,
            deviation: density.deviation,
        }
    }
}
