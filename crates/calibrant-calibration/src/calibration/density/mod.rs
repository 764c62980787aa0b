//! Two class-conditional densities of the score and Bayes' rule.

mod asymmetric_gauss;
mod asymmetric_laplace;
mod class_scores;
mod gauss;
mod hybrid;
mod laplace;
mod mode_search;
#[cfg(test)]
mod promises;
mod turns;

pub use asymmetric_gauss::AsymmetricGauss;
pub use asymmetric_laplace::{AsymmetricLaplace, AsymmetricLaplaceMethod};
pub use class_scores::ClassScores;
pub use gauss::Gauss;
pub use hybrid::Hybrid;
pub use laplace::Laplace;

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use self::class_scores::BothClasses;
use super::{CalibrationMethod, Calibrator, HeldOutScores};
use crate::{CalibrationError, Probability};

/// The scores of one class: a density with one mode that decays to either side of it. Two of them
/// and a prior make a [`DensityCalibrator`].
pub trait Density: Sized {
    /// Its name in messages.
    const NAME: &'static str;

    /// The likeliest density. The scores have an ordinary size: neither they nor the sum of their
    /// squares overflow.
    fn fit(scores: &ClassScores) -> Result<Self, CalibrationError>;

    /// The density of scores that are `unit` times these.
    fn rescaled(&self, unit: f64) -> Self;

    /// Where it is highest.
    fn mode(&self) -> f64;

    /// Log of the density at the mode.
    fn ln_peak(&self) -> f64;

    /// How it decays on a side of the mode.
    fn decay(&self, side: Side) -> Decay;

    /// Log of the density: finite everywhere.
    #[inline]
    fn ln_pdf(&self, score: f64) -> f64 {
        let side = if score <= self.mode() {
            Side::Left
        } else {
            Side::Right
        };
        self.ln_peak() - self.decay(side).loss(score - self.mode())
    }
}

/// A side of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Lower scores.
    Left,
    /// Higher scores.
    Right,
}

/// How a density falls away from its mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decay {
    /// `exp(-rate · distance)`.
    Exponential {
        /// The rate.
        rate: f64,
    },
    /// `exp(-distance² / 2 deviation²)`.
    Gaussian {
        /// The deviation.
        deviation: f64,
    },
}

impl Decay {
    /// How much less the log-density is at a distance from the mode; finite at any distance.
    #[inline]
    pub fn loss(self, distance: f64) -> f64 {
        // The distance of finite scores may overflow; limits whose difference and square do not
        // are far beyond what a probability can say.
        let distance = distance.abs().min(f64::MAX);
        match self {
            Self::Exponential { rate } => (rate * distance).min(1e307),
            Self::Gaussian { deviation } => {
                let distances = (distance / deviation).min(1e153);
                0.5 * distances * distances
            }
        }
    }
}

/// Calibrates by two densities and Bayes' rule.
///
/// # When it misleads
/// The log-odds need not rise everywhere: a score far beyond anything seen of either class belongs
/// to the class with the heavier tail. That is a feature where it is true of the scores.
///
/// ```
/// use calibrant_calibration::calibration::{CalibrationMethod, Calibrator, DensityMethod, Gauss, HeldOutScores};
/// let held_out = HeldOutScores::assume(
///     vec![-3.0, -1.0, 1.0, 3.0],
///     vec![false, false, true, true],
/// )?;
/// let calibrator = DensityMethod::<Gauss>::new().fit(&held_out)?;
/// // By hand: means -2 and 2, floor of the squares 2² = 4, so both variances are 4/2; at score 1
/// // the log-odds are ((1+2)² - (1-2)²) / (2·2) = 2.
/// assert!((calibrator.probability(1.0).log_odds() - 2.0).abs() < 1e-12);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
pub struct DensityMethod<D>(PhantomData<fn() -> D>);

impl<D> DensityMethod<D> {
    /// The method; it has no settings.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

// Derived ones would ask the same of the density.
impl<D> Clone for DensityMethod<D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D> Copy for DensityMethod<D> {}

impl<D> Default for DensityMethod<D> {
    fn default() -> Self {
        Self::new()
    }
}

impl<D: Density> std::fmt::Debug for DensityMethod<D> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "DensityMethod({})", D::NAME)
    }
}

impl<D: Density> CalibrationMethod for DensityMethod<D> {
    type Calibrator = DensityCalibrator<D>;

    fn fit(&self, held_out: &HeldOutScores) -> Result<Self::Calibrator, CalibrationError> {
        DensityCalibrator::fit(held_out)
    }
}

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
    pub fn fit(held_out: &HeldOutScores) -> Result<Self, CalibrationError> {
        let classes = BothClasses::of(held_out, D::NAME)?;
        Ok(Self {
            positive: D::fit(&classes.positive)?.rescaled(classes.unit),
            negative: D::fit(&classes.negative)?.rescaled(classes.unit),
            ln_prior_odds: classes.ln_prior_odds(),
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

/// `ln √(π/2)`: half of a Gaussian of deviation one has this logarithm of its area.
const LN_HALF_AREA: f64 = 0.225_791_352_644_727_43;

fn positive(setting: &'static str, value: f64) -> Result<f64, CalibrationError> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(CalibrationError::BadSetting {
        setting,
        requirement: "a positive number",
        value: value.to_string(),
    })
}

fn finite(setting: &'static str, value: f64) -> Result<f64, CalibrationError> {
    if value.is_finite() {
        return Ok(value);
    }
    Err(CalibrationError::BadSetting {
        setting,
        requirement: "a finite number",
        value: value.to_string(),
    })
}

/// Keeps a width or rate positive and finite where its unit has taken it beyond `f64`.
fn kept_positive(value: f64) -> f64 {
    value.clamp(f64::MIN_POSITIVE, f64::MAX)
}

/// As [`kept_positive`], for a place.
fn kept_finite(value: f64) -> f64 {
    value.clamp(f64::MIN, f64::MAX)
}

/// `ln(a + b)` of two positive numbers whose sum may overflow.
fn ln_sum(a: f64, b: f64) -> f64 {
    let (less, more) = (a.min(b), a.max(b));
    more.ln() + (less / more).ln_1p()
}
