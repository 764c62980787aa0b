//! Scores of many classes to probabilities that sum to one.
//!
//! Every way is fitted on [`HeldOutClassScores`]: one score per class for each example, of which
//! exactly one class is right.

mod bounded;
mod choose;
mod coupling;
mod dirichlet;
mod held;
mod held_out;
mod labels;
mod lines;
mod one_vs_rest;
mod pool;
mod shared_curve;
mod shrinkage;
mod temperature;
mod two_passes;
mod vector;

#[cfg(test)]
mod tests;

pub use bounded::BoundedClasses;
pub use choose::{FailedWay, MulticlassChoice, MulticlassKind, Weighed};
pub use coupling::{CouplingCalibrator, PairwiseCoupling, couple};
pub use dirichlet::{Dirichlet, DirichletCalibrator};
pub use held::{HeldClasses, ScoreEnds};
pub use held_out::HeldOutClassScores;
pub use one_vs_rest::{CalibratedClass, CalibrationNote, OneVsRestCalibrator};
pub use pool::{PoolCalibrator, PoolMember};
pub use shared_curve::{SharedCurve, SharedCurveCalibrator};
pub use temperature::{Temperature, TemperatureCalibrator};
pub use two_passes::TwoPasses;
pub use vector::{VectorCalibrator, VectorScaling};

#[doc(hidden)]
pub use choose::{MOST_CURVES, Wanted};
#[doc(hidden)]
pub use labels::calibrate_labels;
#[doc(hidden)]
pub use one_vs_rest::{
    calibrate_each, calibrate_members, calibrate_one, made_to_rise, normalise_into,
};

use serde::{Deserialize, Serialize};

use crate::Probability;
use crate::numeric::log_odds_against_rest;

/// A fitted calibrator of all classes as a model file keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "method")]
pub enum SavedMulticlassCalibrator {
    /// A calibrator for each class against the rest, normalised.
    OneVsRest(OneVsRestCalibrator),
    /// One factor for all scores.
    Temperature(TemperatureCalibrator),
    /// A slope and an intercept for each class.
    Vector(VectorCalibrator),
    /// A curve for each pair of classes.
    Coupling(CouplingCalibrator),
    /// A matrix over log-probabilities.
    Dirichlet(DirichletCalibrator),
    /// One curve for all classes, with a line for each.
    SharedCurve(SharedCurveCalibrator),
    /// Several of these, weighed.
    Pool(PoolCalibrator),
    /// One of these, set right by a curve over what it says.
    TwoPasses(Box<TwoPasses>),
    /// One of these, held where the examples end.
    Held(Box<HeldClasses>),
    /// One of these, no surer than the examples support.
    Bounded(Box<BoundedClasses>),
}

impl From<TemperatureCalibrator> for SavedMulticlassCalibrator {
    fn from(calibrator: TemperatureCalibrator) -> Self {
        Self::Temperature(calibrator)
    }
}

impl From<VectorCalibrator> for SavedMulticlassCalibrator {
    fn from(calibrator: VectorCalibrator) -> Self {
        Self::Vector(calibrator)
    }
}

impl From<CouplingCalibrator> for SavedMulticlassCalibrator {
    fn from(calibrator: CouplingCalibrator) -> Self {
        Self::Coupling(calibrator)
    }
}

impl From<DirichletCalibrator> for SavedMulticlassCalibrator {
    fn from(calibrator: DirichletCalibrator) -> Self {
        Self::Dirichlet(calibrator)
    }
}

impl From<SharedCurveCalibrator> for SavedMulticlassCalibrator {
    fn from(calibrator: SharedCurveCalibrator) -> Self {
        Self::SharedCurve(calibrator)
    }
}

impl SavedMulticlassCalibrator {
    /// Which way it is.
    pub fn kind(&self) -> MulticlassKind {
        match self {
            Self::OneVsRest(_) => MulticlassKind::OneVsRest,
            Self::Temperature(_) => MulticlassKind::Temperature,
            Self::Vector(_) => MulticlassKind::Vector,
            Self::Coupling(_) => MulticlassKind::Coupling,
            Self::Dirichlet(_) => MulticlassKind::Dirichlet,
            Self::SharedCurve(_) => MulticlassKind::SharedCurve,
            Self::Pool(_) | Self::TwoPasses(_) => MulticlassKind::Auto,
            Self::Held(held) => held.inner().kind(),
            Self::Bounded(bounded) => bounded.inner().kind(),
        }
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        match self {
            Self::OneVsRest(calibrator) => calibrator.calibrators().len(),
            Self::Temperature(calibrator) => calibrator.class_count(),
            Self::Vector(calibrator) => calibrator.class_count(),
            Self::Coupling(calibrator) => calibrator.class_count(),
            Self::Dirichlet(calibrator) => calibrator.class_count(),
            Self::SharedCurve(calibrator) => calibrator.class_count(),
            Self::Pool(calibrator) => calibrator.class_count(),
            Self::TwoPasses(passes) => passes.second().class_count(),
            Self::Held(held) => held.inner().class_count(),
            Self::Bounded(bounded) => bounded.inner().class_count(),
        }
    }

    /// Fills `out` with the probability of each class; they sum to one.
    ///
    /// # Panics
    /// If there is not one score and one place for each class.
    pub fn probabilities_into(
        &self,
        scores: &[f64],
        buffer: &mut ClassBuffers,
        out: &mut [Probability],
    ) {
        assert_eq!(scores.len(), self.class_count());
        assert_eq!(out.len(), self.class_count());
        self.log_odds_into(scores, buffer);
        buffer.state(out);
    }

    /// Leaves the log-odds of each class against the rest.
    fn log_odds_into(&self, scores: &[f64], buffer: &mut ClassBuffers) {
        match self {
            // It has them already.
            Self::Bounded(bounded) => bounded.log_odds_into(scores, buffer),
            other => {
                other.ln_weights_into(scores, buffer);
                buffer.fill_log_odds();
            }
        }
    }

    /// Leaves log-weights of the classes, up to a common summand.
    fn ln_weights_into(&self, scores: &[f64], buffer: &mut ClassBuffers) {
        match self {
            Self::OneVsRest(calibrator) => calibrator.ln_weights_into(scores, buffer),
            Self::Temperature(calibrator) => calibrator.ln_weights_into(scores, buffer),
            Self::Vector(calibrator) => calibrator.ln_weights_into(scores, buffer),
            Self::Coupling(calibrator) => calibrator.ln_weights_into(scores, buffer),
            Self::Dirichlet(calibrator) => calibrator.ln_weights_into(scores, buffer),
            Self::SharedCurve(calibrator) => calibrator.ln_weights_into(scores, buffer),
            Self::Pool(calibrator) => calibrator.ln_weights_into(scores, buffer),
            Self::TwoPasses(passes) => passes.ln_weights_into(scores, buffer),
            Self::Held(held) => held.ln_weights_into(scores, buffer),
            Self::Bounded(bounded) => bounded.log_odds_into(scores, buffer),
        }
    }
}

/// Buffers for one prediction, reused between calls.
#[derive(Debug, Clone, Default)]
pub struct ClassBuffers {
    /// Log-weights of the classes, up to a common summand.
    ln_weights: Vec<f64>,
    log_odds: Vec<f64>,
    /// Whatever a calibrator needs on the way.
    more: Vec<f64>,
    /// What the members of a pool have said so far.
    pooled: Vec<f64>,
    /// Scores where they count as no farther out than the examples were.
    held: Vec<f64>,
}

impl ClassBuffers {
    /// Takes log-weights one by one; those out of all bounds are brought back.
    fn fill(&mut self, ln_weights: impl Iterator<Item = f64>) {
        self.ln_weights.clear();
        self.ln_weights.extend(ln_weights.map(bounded));
    }

    /// Log-weights to the log-odds of each class against the rest.
    fn fill_log_odds(&mut self) {
        self.log_odds.resize(self.ln_weights.len(), 0.0);
        log_odds_against_rest(&self.ln_weights, &mut self.log_odds);
    }

    fn probabilities_into(&mut self, out: &mut [Probability]) {
        self.fill_log_odds();
        self.state(out);
    }

    /// The log-odds as probabilities.
    fn state(&self, out: &mut [Probability]) {
        for (probability, &log_odds) in out.iter_mut().zip(&self.log_odds) {
            *probability = Probability::from_log_odds(log_odds);
        }
    }
}

/// Keeps a log-weight finite: beyond the largest log-odds nothing more is said.
fn bounded(ln_weight: f64) -> f64 {
    if ln_weight.is_nan() {
        return 0.0;
    }
    ln_weight.clamp(-Probability::MAX_LOG_ODDS, Probability::MAX_LOG_ODDS)
}

/// A score from outside, brought to where arithmetic is safe: beyond `1e300` it says no more than
/// `1e300` does and differences must not overflow, and below `1e-290` slopes would.
#[inline]
fn tame(score: f64) -> f64 {
    if score.is_nan() || score.abs() < 1e-290 {
        return 0.0;
    }
    score.clamp(-1e300, 1e300)
}
