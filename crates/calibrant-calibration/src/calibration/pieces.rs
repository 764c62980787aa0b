//! Log-odds in straight pieces.

use serde::{Deserialize, Serialize};

use super::{Calibrator, Turning};
use crate::Probability;

/// Log-odds in straight pieces between knots; beyond the first and the last knot they hold.
///
/// ```
/// use calibrant_calibration::calibration::{Calibrator, PiecesCalibrator};
/// let curve = PiecesCalibrator::new(vec![0.0, 2.0], vec![-1.0, 3.0]).expect("two rising knots");
/// assert_eq!(curve.probability(0.5).log_odds(), 0.0); // a quarter of the way from -1 to 3
/// assert_eq!(curve.probability(50.0).log_odds(), 3.0);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct PiecesCalibrator {
    knots: Vec<f64>,
    values: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    knots: Vec<f64>,
    values: Vec<f64>,
}

impl TryFrom<Unchecked> for PiecesCalibrator {
    type Error = &'static str;

    fn try_from(read: Unchecked) -> Result<Self, Self::Error> {
        Self::new(read.knots, read.values)
            .ok_or("a curve needs a value of ordinary size at each of two or more rising knots")
    }
}

impl PiecesCalibrator {
    /// A value for each of at least two rising knots, or nothing.
    pub fn new(knots: Vec<f64>, values: Vec<f64>) -> Option<Self> {
        let sound = |numbers: &[f64]| numbers.iter().all(|number| number.abs() <= 1e300);
        let rising = knots.len() >= 2 && knots.is_sorted_by(|a, b| a < b);
        let alike = knots.len() == values.len();
        (rising && alike && sound(&knots) && sound(&values)).then_some(Self { knots, values })
    }

    /// From a curve whose knots and values were checked before.
    pub(super) fn of_curve(knots: Vec<f64>, values: Vec<f64>) -> Self {
        Self { knots, values }
    }

    /// The same with something added to all log-odds.
    pub(crate) fn shifted(mut self, shift: f64) -> Self {
        self.values.iter_mut().for_each(|value| *value += shift);
        self
    }

    /// The log-odds at a score.
    #[inline]
    pub fn log_odds(&self, score: f64) -> f64 {
        let last = self.knots.len() - 1;
        let score = score.clamp(self.knots[0], self.knots[last]);
        let piece = self.knots[1..last].partition_point(|&knot| knot <= score);
        let width = self.knots[piece + 1] - self.knots[piece];
        let along = (score - self.knots[piece]) / width;
        self.values[piece] + along * (self.values[piece + 1] - self.values[piece])
    }

    /// Whether it never falls.
    pub(super) fn rises(&self) -> bool {
        self.values.is_sorted()
    }
}

impl Calibrator for PiecesCalibrator {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        Probability::from_log_odds(self.log_odds(score))
    }
}

impl Turning for PiecesCalibrator {
    fn turns(&self) -> Vec<f64> {
        self.knots.clone()
    }
}
