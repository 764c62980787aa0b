//! How sure may we be? Scores to probabilities.
//!
//! Every method is fitted on [`HeldOutScores`] and nothing else. This stage knows scores, labels
//! and weights: no text, no features, no models.

mod auto;
mod density;
mod held_out;
mod monotone;
mod platt;
mod pooled;
mod three_piece;
mod three_piece_at_modes;

pub use auto::{CalibratorKind, Choice, Tried};
pub use density::{
    AsymmetricGauss, AsymmetricLaplace, AsymmetricLaplaceMethod, ClassScores, Decay, Density,
    DensityCalibrator, DensityMethod, Gauss, Hybrid, Laplace, Side,
};
pub use held_out::HeldOutScores;
pub use monotone::{Flat, Monotone, MonotoneCalibrator, Turning};
pub use platt::{Platt, PlattCalibrator};
pub use pooled::PooledCurve;
pub use three_piece::{ThreePiece, ThreePieceCalibrator};
pub use three_piece_at_modes::ThreePieceAtModes;

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
