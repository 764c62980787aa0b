//! How sure may we be? Scores to probabilities.
//!
//! Every method is fitted on [`HeldOutScores`] and nothing else. This stage knows scores, labels
//! and weights: no text, no features, no models.

mod auto;
mod bbq;
mod beta;
mod blend;
mod blocks;
mod centred_isotonic;
mod class_scores;
mod cross_venn_abers;
mod density;
mod digest;
mod distinct_scores;
mod few_positives;
mod held;
mod held_out;
mod held_out_shape;
mod histogram;
mod isotonic;
mod knots;
mod log_odds_pool;
mod logistic;
mod monotone;
mod pieces;
mod platt;
mod pooled;
mod prior_estimate;
mod prior_shift;
#[cfg(test)]
mod promises;
mod recalibration;
mod registry;
mod rising_line;
mod score_scale;
mod share;
mod spline;
mod spread;
mod steps;
mod three_piece;
mod three_piece_at_modes;
mod venn_abers;

pub use auto::{Choice, ChoiceRules, Margin, Tried};
pub use bbq::{Bbq, BbqCalibrator};
pub use beta::{Beta, BetaCalibrator, BetaKind, Squash};
pub use blend::BlendCalibrator;
pub use centred_isotonic::{CentredIsotonic, CentredIsotonicCalibrator};
pub use class_scores::{
    BoundedClasses, CalibratedClass, CalibrationNote, ClassBuffers, CouplingCalibrator, Dirichlet,
    DirichletCalibrator, FailedWay, HeldClasses, HeldOutClassScores, MulticlassChoice,
    MulticlassKind, OneVsRestCalibrator, PairwiseCoupling, PoolCalibrator, PoolMember,
    SavedMulticlassCalibrator, ScoreEnds, SharedCurve, SharedCurveCalibrator, Temperature,
    TemperatureCalibrator, TwoPasses, VectorCalibrator, VectorScaling, Weighed,
};
pub use cross_venn_abers::{CrossVennAbers, CrossVennAbersCalibrator};
pub use density::{
    AsymmetricGauss, AsymmetricLaplace, AsymmetricLaplaceMethod, ClassScores, Decay, Density,
    DensityCalibrator, DensityMethod, Gauss, Hybrid, Laplace, Side,
};
pub use held::HeldCalibrator;
pub use held_out::HeldOutScores;
pub use held_out_shape::{HeldOutShape, ShiftFit};
pub use histogram::{Binning, Histogram, HistogramCalibrator};
pub use isotonic::{Isotonic, IsotonicCalibrator};
pub use logistic::LogisticCurve;
pub use monotone::{Flat, Monotone, MonotoneCalibrator, Turning};
pub use pieces::PiecesCalibrator;
pub use platt::{Platt, PlattCalibrator};
pub use prior_estimate::{PriorEstimate, estimate_priors, estimate_priors_of_each};
pub use prior_shift::PriorShift;
pub use registry::{CalibratorKind, SavedCalibrator};
pub use score_scale::ScoreScale;
pub use spline::{Spline, SplineCalibrator};
pub use spread::LogOddsSpread;
pub use three_piece::{ThreePiece, ThreePieceCalibrator};
pub use three_piece_at_modes::ThreePieceAtModes;
pub use venn_abers::{VennAbers, VennAbersCalibrator};

// Not part of the documented interface: steps that the crate `calibrant` puts together.
#[doc(hidden)]
pub use class_scores::{
    MOST_CURVES, Wanted, calibrate_each, calibrate_labels, calibrate_members, calibrate_one,
    couple, made_to_rise, normalise_into,
};
#[doc(hidden)]
pub use held_out_shape::large_moves;
#[doc(hidden)]
pub use log_odds_pool::{LogOddsPool, MemberForecasts, evidence};
#[doc(hidden)]
pub use pooled::PooledCurve;
#[doc(hidden)]
pub use prior_estimate::{
    GAP_TOLERANCE, estimate_priors_learned, estimate_priors_of_each_learned, shifted_of_each,
};
#[doc(hidden)]
pub use prior_shift::complete_priors;
pub use recalibration::{Recalibration, RecalibrationTrial};
#[doc(hidden)]
pub use spread::MovedLogOdds;

use crate::{CalibrationError, Probability};

/// Fits held-out scores.
pub trait CalibrationMethod {
    /// What fitting returns.
    type Calibrator: Calibrator;
    /// Fits a calibrator to scores that were not learned from.
    fn fit(&self, held_out: &HeldOutScores) -> Result<Self::Calibrator, CalibrationError>;
}

/// Turns a score into a probability.
pub trait Calibrator {
    /// The probability that an example with this score is positive.
    fn probability(&self, score: f64) -> Probability;

    /// The logs of the densities of positive and of negative scores, where the method rests on
    /// them.
    fn ln_densities(&self, _score: f64) -> Option<(f64, f64)> {
        None
    }
}

impl<C: Calibrator + ?Sized> Calibrator for &C {
    fn probability(&self, score: f64) -> Probability {
        (**self).probability(score)
    }

    fn ln_densities(&self, score: f64) -> Option<(f64, f64)> {
        (**self).ln_densities(score)
    }
}

/// Says how sure its probability is.
pub trait IntervalCalibrator: Calibrator {
    /// A lower and an upper probability, the lower first.
    fn interval(&self, score: f64) -> (Probability, Probability);
}
