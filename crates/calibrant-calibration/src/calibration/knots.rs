//! A rising curve through given points.

use serde::{Deserialize, Serialize};

use crate::numeric::sigmoid;
use crate::{CalibrationError, Probability};

/// Scores, rising, and the log-odds of each, never falling; at least one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedKnots")]
pub(super) struct Knots {
    scores: Vec<f64>,
    log_odds: Vec<f64>,
    /// `P` and `1 - P` of each, both exact near zero.
    #[serde(skip)]
    chances: Vec<(f64, f64)>,
}

impl Knots {
    /// `None` where scores do not rise, log-odds fall, or a number is not finite.
    pub(super) fn new(scores: Vec<f64>, log_odds: Vec<f64>) -> Option<Self> {
        let usable = !scores.is_empty()
            && scores.len() == log_odds.len()
            && scores.iter().all(|score| score.is_finite())
            && log_odds
                .iter()
                .all(|log_odds| log_odds.abs() <= Probability::MAX_LOG_ODDS)
            && scores.windows(2).all(|pair| pair[0] < pair[1])
            && log_odds.is_sorted();
        usable.then(|| Self {
            chances: log_odds
                .iter()
                .map(|&log_odds| (sigmoid(log_odds), sigmoid(-log_odds)))
                .collect(),
            scores,
            log_odds,
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (f64, Probability)> + '_ {
        let log_odds = self.log_odds.iter().copied();
        let probabilities = log_odds.map(Probability::from_log_odds);
        self.scores.iter().copied().zip(probabilities)
    }

    /// The knots around a score, or the end that it lies beyond (or on).
    #[inline]
    pub(super) fn place(&self, score: f64) -> Place {
        // Halving without a branch that depends on the score: the processor cannot guess those.
        let right = self.scores.partition_point(|&knot| knot <= score);
        if right == 0 {
            Place::Before
        } else if right == self.scores.len() {
            Place::After
        } else {
            Place::Between(right - 1)
        }
    }

    /// The value at the first or the last knot.
    #[inline]
    pub(super) fn ends(&self) -> [(f64, f64); 2] {
        let last = self.scores.len() - 1;
        [
            (self.scores[0], self.log_odds[0]),
            (self.scores[last], self.log_odds[last]),
        ]
    }

    /// The log-odds between knots `left` and `left + 1`, linear in the probability.
    #[inline]
    pub(super) fn linear_in_probability(&self, left: usize, score: f64) -> f64 {
        let (low, high) = (self.log_odds[left], self.log_odds[left + 1]);
        if low == high {
            return low;
        }
        let t = fraction(self.scores[left], self.scores[left + 1], score);
        let ((p, q), (p_next, q_next)) = (self.chances[left], self.chances[left + 1]);
        let odds = (p + t * (p_next - p)) / (q + t * (q_next - q));
        // Rounding must not carry the curve beyond its knots.
        odds.ln().clamp(low, high)
    }

    /// The log-odds between knots `left` and `left + 1`, linear in themselves.
    #[inline]
    pub(super) fn linear_in_log_odds(&self, left: usize, score: f64) -> f64 {
        let (low, high) = (self.log_odds[left], self.log_odds[left + 1]);
        let t = fraction(self.scores[left], self.scores[left + 1], score);
        (low + t * (high - low)).clamp(low, high)
    }
}

/// Collects knots.
#[derive(Debug, Default)]
pub(super) struct KnotList {
    scores: Vec<f64>,
    log_odds: Vec<f64>,
}

impl KnotList {
    /// Adds a knot unless the last one stands at this score or beyond; log-odds do not fall by a
    /// rounding error.
    pub(super) fn add(&mut self, score: f64, log_odds: f64) {
        if self.scores.last().is_none_or(|&last| last < score) {
            let least = self.log_odds.last().copied();
            self.scores.push(score);
            self.log_odds
                .push(least.map_or(log_odds, |least| log_odds.max(least)));
        }
    }

    pub(super) fn finish(self) -> Result<Knots, CalibrationError> {
        Knots::new(self.scores, self.log_odds).ok_or(CalibrationError::Overflow)
    }
}

/// Where a score lies among knots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    /// Below the first.
    Before,
    /// At this one or above it, and below the next.
    Between(usize),
    /// At the last or above it.
    After,
}

/// How far a score lies on the way from `left` to `right`.
#[inline]
fn fraction(left: f64, right: f64, score: f64) -> f64 {
    let width = right - left;
    if width.is_finite() {
        (score - left) / width
    } else {
        (score / 2.0 - left / 2.0) / (right / 2.0 - left / 2.0)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedKnots {
    scores: Vec<f64>,
    log_odds: Vec<f64>,
}

impl TryFrom<SavedKnots> for Knots {
    type Error = &'static str;

    fn try_from(saved: SavedKnots) -> Result<Self, Self::Error> {
        Self::new(saved.scores, saved.log_odds).ok_or(
            "a curve needs finite knots, as many scores as log-odds, rising scores and log-odds that do not fall",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_is_linear_between_its_knots() {
        let knots = Knots::new(vec![0.0, 4.0], vec![-(3f64.ln()), 3f64.ln()]).unwrap();
        // By hand: from 1/4 to 3/4, so 3/8 a quarter of the way on.
        let log_odds = knots.linear_in_probability(0, 1.0);
        assert!((sigmoid(log_odds) - 0.375).abs() < 1e-15);
        assert!((knots.linear_in_log_odds(0, 1.0) + 0.5 * 3f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn knots_as_far_apart_as_floats_go_stay_finite() {
        let knots = Knots::new(vec![-f64::MAX, f64::MAX], vec![-1e15, 1e15]).unwrap();
        for score in [-f64::MAX, -1.0, 0.0, 1e308] {
            assert!(knots.linear_in_probability(0, score).is_finite());
            assert!(knots.linear_in_log_odds(0, score).is_finite());
        }
        let tiny = f64::from_bits(1);
        let knots = Knots::new(vec![0.0, tiny], vec![-1.0, 1.0]).unwrap();
        assert_eq!(knots.linear_in_probability(0, 0.0), -1.0);
        assert_eq!(knots.place(tiny), Place::After);
    }

    #[test]
    fn bad_knots_are_refused() {
        for (scores, log_odds) in [
            (vec![], vec![]),
            (vec![0.0], vec![]),
            (vec![0.0, 0.0], vec![1.0, 2.0]),
            (vec![0.0, 1.0], vec![2.0, 1.0]),
            (vec![0.0, f64::NAN], vec![1.0, 2.0]),
            (vec![0.0, 1.0], vec![1.0, f64::INFINITY]),
            (vec![0.0], vec![f64::NAN]),
        ] {
            assert_eq!(Knots::new(scores, log_odds), None);
        }
    }
}
