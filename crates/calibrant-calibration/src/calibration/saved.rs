//! Any fitted calibrator as one value.

use serde::{Deserialize, Serialize};

use super::{
    AsymmetricGauss, AsymmetricLaplace, BbqCalibrator, BetaCalibrator, BlendCalibrator, Calibrator,
    CentredIsotonicCalibrator, CrossVennAbersCalibrator, DensityCalibrator, Gauss, HeldCalibrator,
    HeldOutScores, HistogramCalibrator, Hybrid, IntervalCalibrator, IsotonicCalibrator, Laplace,
    MonotoneCalibrator, PiecesCalibrator, PlattCalibrator, SplineCalibrator, ThreePieceCalibrator,
    Turning, VennAbersCalibrator,
};
use crate::Probability;

/// A fitted calibrator as a model file keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "method")]
pub enum SavedCalibrator {
    /// The score itself is the log-odds.
    Identity,
    /// A line: Platt's curve or plain logistic regression.
    Platt(PlattCalibrator),
    /// Two Gaussian densities.
    Gauss(DensityCalibrator<Gauss>),
    /// Two asymmetric Gaussian densities.
    AsymmetricGauss(DensityCalibrator<AsymmetricGauss>),
    /// Two Laplace densities.
    Laplace(DensityCalibrator<Laplace>),
    /// Two densities that are exponential on the side that faces the other, Gaussian on the other side.
    Hybrid(DensityCalibrator<Hybrid>),
    /// Two asymmetric Laplace densities.
    AsymmetricLaplace(DensityCalibrator<AsymmetricLaplace>),
    /// Two slopes over log-odds.
    Beta(BetaCalibrator),
    /// A smooth curve.
    Spline(SplineCalibrator),
    /// A line with two bends.
    ThreePiece(ThreePieceCalibrator),
    /// The most likely rising curve.
    Isotonic(IsotonicCalibrator),
    /// The same through the middle of its blocks.
    CentredIsotonic(CentredIsotonicCalibrator),
    /// One probability a bin.
    Histogram(HistogramCalibrator),
    /// Many histograms, averaged.
    Bbq(BbqCalibrator),
    /// Two rising curves, one for each answer.
    VennAbers(VennAbersCalibrator),
    /// The same by folds.
    CrossVennAbers(CrossVennAbersCalibrator),
    /// Straight pieces.
    Pieces(PiecesCalibrator),
    /// A class's own curve, weighed with one for all.
    Blend(Box<BlendCalibrator<SavedCalibrator>>),
    /// A curve that holds where the examples end.
    Held(Box<HeldCalibrator<SavedCalibrator>>),
    /// A curve that would fall here and there, made to rise.
    Monotone(Box<MonotoneCalibrator<SavedCalibrator>>),
}

/// Runs the same expression on the calibrator inside.
macro_rules! inside {
    ($saved:expr, $calibrator:ident => $found:expr, $identity:expr) => {
        match $saved {
            SavedCalibrator::Identity => $identity,
            SavedCalibrator::Platt($calibrator) => $found,
            SavedCalibrator::Gauss($calibrator) => $found,
            SavedCalibrator::AsymmetricGauss($calibrator) => $found,
            SavedCalibrator::Laplace($calibrator) => $found,
            SavedCalibrator::Hybrid($calibrator) => $found,
            SavedCalibrator::AsymmetricLaplace($calibrator) => $found,
            SavedCalibrator::Beta($calibrator) => $found,
            SavedCalibrator::Spline($calibrator) => $found,
            SavedCalibrator::ThreePiece($calibrator) => $found,
            SavedCalibrator::Isotonic($calibrator) => $found,
            SavedCalibrator::CentredIsotonic($calibrator) => $found,
            SavedCalibrator::Histogram($calibrator) => $found,
            SavedCalibrator::Bbq($calibrator) => $found,
            SavedCalibrator::VennAbers($calibrator) => $found,
            SavedCalibrator::CrossVennAbers($calibrator) => $found,
            SavedCalibrator::Pieces($calibrator) => $found,
            SavedCalibrator::Blend($calibrator) => $found,
            SavedCalibrator::Held($calibrator) => $found,
            SavedCalibrator::Monotone($calibrator) => $found,
        }
    };
}

impl Calibrator for SavedCalibrator {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        inside!(self, calibrator => calibrator.probability(score), Probability::from_log_odds(score))
    }

    fn ln_densities(&self, score: f64) -> Option<(f64, f64)> {
        inside!(self, calibrator => calibrator.ln_densities(score), None)
    }
}

impl SavedCalibrator {
    /// The two probabilities between which the truth lies, for methods that give such an interval.
    pub fn interval(&self, score: f64) -> Option<(Probability, Probability)> {
        match self {
            Self::VennAbers(calibrator) => Some(calibrator.interval(score)),
            Self::CrossVennAbers(calibrator) => Some(calibrator.interval(score)),
            _ => None,
        }
    }

    /// The same, held where these examples no longer support it, see [`HeldCalibrator`].
    pub fn held_where_supported(self, held_out: &HeldOutScores) -> Self {
        match self.held(held_out) {
            Self::Held(held) => Self::Held(Box::new(HeldCalibrator::where_supported(
                held.into_inner(),
                held_out,
            ))),
            other => other,
        }
    }

    /// The same, held where these examples end. What says no more beyond them anyway stays as it is, and so does a score
    /// that is taken for log-odds.
    pub fn held(self, held_out: &HeldOutScores) -> Self {
        match self {
            Self::Identity
            | Self::Isotonic(_)
            | Self::CentredIsotonic(_)
            | Self::Histogram(_)
            | Self::Bbq(_)
            | Self::VennAbers(_)
            | Self::CrossVennAbers(_)
            | Self::Pieces(_)
            | Self::Held(_) => self,
            _ => Self::Held(Box::new(HeldCalibrator::of(self, held_out))),
        }
    }

    /// The curve itself, whether it is held or goes on without end.
    pub fn curve(&self) -> &Self {
        match self {
            Self::Held(held) => held.inner(),
            other => other,
        }
    }

    /// How much a class's own curve counts, where it is weighed with one for all.
    pub fn own_weight(&self) -> Option<f64> {
        match self {
            Self::Blend(blend) => Some(blend.weight()),
            Self::Held(held) => held.inner().own_weight(),
            _ => None,
        }
    }

    /// Whether the probability never falls while the score rises.
    pub fn never_falls(&self) -> bool {
        match self {
            Self::Gauss(_)
            | Self::AsymmetricGauss(_)
            | Self::Laplace(_)
            | Self::Hybrid(_)
            | Self::AsymmetricLaplace(_)
            | Self::Histogram(_)
            | Self::Bbq(_) => false,
            Self::Platt(line) => line.slope >= 0.0,
            Self::ThreePiece(curve) => curve.rises(),
            Self::Pieces(curve) => curve.rises(),
            Self::Held(held) => held.inner().never_falls(),
            Self::Blend(blend) => blend.own().never_falls() && blend.common().rises(),
            Self::Beta(curve) => {
                curve.a * curve.line.slope >= 0.0 && curve.b * curve.line.slope >= 0.0
            }
            Self::Identity
            | Self::Spline(_)
            | Self::Isotonic(_)
            | Self::CentredIsotonic(_)
            | Self::VennAbers(_)
            | Self::CrossVennAbers(_)
            | Self::Monotone(_) => true,
        }
    }

    /// Whether [`Self::interval`] gives anything.
    pub fn has_interval(&self) -> bool {
        self.interval(0.0).is_some()
    }
}

impl Turning for SavedCalibrator {
    fn turns(&self) -> Vec<f64> {
        match self {
            Self::Gauss(calibrator) => calibrator.turns(),
            Self::AsymmetricGauss(calibrator) => calibrator.turns(),
            Self::Laplace(calibrator) => calibrator.turns(),
            Self::Hybrid(calibrator) => calibrator.turns(),
            Self::AsymmetricLaplace(calibrator) => calibrator.turns(),
            Self::ThreePiece(calibrator) => calibrator.turns(),
            Self::Histogram(calibrator) => calibrator.turns(),
            Self::Bbq(calibrator) => calibrator.turns(),
            Self::Beta(calibrator) => calibrator.turns(),
            Self::Pieces(calibrator) => calibrator.turns(),
            Self::Blend(calibrator) => calibrator.turns(),
            Self::Held(calibrator) => calibrator.turns(),
            // These rise, or fall, throughout.
            Self::Identity
            | Self::Platt(_)
            | Self::Spline(_)
            | Self::Isotonic(_)
            | Self::CentredIsotonic(_)
            | Self::VennAbers(_)
            | Self::CrossVennAbers(_)
            | Self::Monotone(_) => Vec::new(),
        }
    }
}
