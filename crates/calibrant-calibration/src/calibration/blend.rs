//! A class's own curve, weighed with one for all.

use serde::{Deserialize, Serialize};

use super::{Calibrator, PiecesCalibrator, Turning};
use crate::Probability;

/// A class's own curve, weighed with what one curve for all classes says.
///
/// # Formula
/// ```text
/// ln P/(1-P) = w · own(s) + (1 - w) · common(s)
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked<C>")]
#[serde(bound(deserialize = "C: Deserialize<'de>"))]
pub struct BlendCalibrator<C> {
    own: C,
    common: PiecesCalibrator,
    weight: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked<C> {
    own: C,
    common: PiecesCalibrator,
    weight: f64,
}

impl<C> TryFrom<Unchecked<C>> for BlendCalibrator<C> {
    type Error = &'static str;

    fn try_from(read: Unchecked<C>) -> Result<Self, Self::Error> {
        Self::new(read.own, read.common, read.weight)
            .ok_or("the weight of a class's own curve lies between 0 and 1")
    }
}

impl<C> BlendCalibrator<C> {
    /// The weight is the own curve's, from zero to one.
    pub fn new(own: C, common: PiecesCalibrator, weight: f64) -> Option<Self> {
        (0.0..=1.0).contains(&weight).then_some(Self {
            own,
            common,
            weight,
        })
    }

    /// The class's own curve.
    pub fn own(&self) -> &C {
        &self.own
    }

    /// The curve for all classes, as it is for this one.
    pub fn common(&self) -> &PiecesCalibrator {
        &self.common
    }

    /// How much the own curve counts.
    pub fn weight(&self) -> f64 {
        self.weight
    }
}

impl<C: Calibrator> Calibrator for BlendCalibrator<C> {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        let own = self.own.probability(score).log_odds();
        let common = self.common.log_odds(score);
        Probability::from_log_odds(self.weight * own + (1.0 - self.weight) * common)
    }
}

impl<C: Turning> Turning for BlendCalibrator<C> {
    fn turns(&self) -> Vec<f64> {
        let mut turns = self.own.turns();
        turns.extend(self.common.turns());
        turns
    }
}
