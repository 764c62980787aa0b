//! How sure may we be? Scores to probabilities.
//!
//! Every method is fitted on [`HeldOutScores`] and nothing else. This stage knows scores, labels
//! and weights: no text, no features, no models.

mod asymmetric_laplace;
mod auto;
mod beta;
mod held_out;
mod logistic;
mod platt;
mod pooled;
mod spline;
mod three_piece;

pub use asymmetric_laplace::{AsymmetricLaplace, AsymmetricLaplaceMethod, DensityCalibrator};
pub use auto::{CalibratorKind, Choice, Tried};
pub use beta::{Beta, BetaCalibrator, BetaKind, Squash};
pub use held_out::HeldOutScores;
pub use logistic::LogisticCurve;
pub use platt::{Platt, PlattCalibrator};
pub use pooled::PooledCurve;
pub use spline::{Spline, SplineCalibrator};
pub use three_piece::{ThreePiece, ThreePieceCalibrator};

use serde::{Deserialize, Serialize};

use crate::{FitError, Probability};

/// Fits held-out scores.
pub trait CalibrationMethod {
    /// What fitting returns.
    type Calibrator: Calibrator;
    /// Fits a calibrator to scores that were not learned from.
    fn fit(&self, held_out: &HeldOutScores) -> Result<Self::Calibrator, FitError>;
}

/// Turns a score into a probability.
pub trait Calibrator {
    /// The probability that an example with this score is positive.
    fn probability(&self, score: f64) -> Probability;
}

/// A class-conditional score density. Two of them and a prior make a [`DensityCalibrator`].
pub trait Density: Sized {
    /// Its name in messages.
    const NAME: &'static str;
    /// Fits `(score, weight)` pairs, which may be reordered; `spread` is the mean deviation of the
    /// scores of both classes, from which a degenerate side takes its floor.
    fn fit(examples: &mut [(f64, f64)], spread: f64) -> Result<Self, FitError>;
    /// Log of the density.
    fn ln_pdf(&self, score: f64) -> f64;
}

/// A fitted calibrator as a model file keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "method")]
pub enum SavedCalibrator {
    /// The score itself is the log-odds.
    Identity,
    /// Platt's curve.
    Platt(PlattCalibrator),
    /// Two asymmetric Laplace densities.
    AsymmetricLaplace(DensityCalibrator<AsymmetricLaplace>),
    /// A line with two bends.
    ThreePiece(ThreePieceCalibrator),
}

impl Calibrator for SavedCalibrator {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        match self {
            Self::Identity => Probability::from_log_odds(score),
            Self::Platt(calibrator) => calibrator.probability(score),
            Self::AsymmetricLaplace(calibrator) => calibrator.probability(score),
            Self::ThreePiece(calibrator) => calibrator.probability(score),
        }
    }
}
