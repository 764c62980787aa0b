//! One question with two answers, and a committee of them.

use crate::features::RowView;

/// Whether a feature lies above a threshold, with an answer for either case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stump {
    /// The feature.
    pub column: u32,
    /// The largest value that is still below.
    pub threshold: f64,
    /// What it adds to the score of a row at or below the threshold.
    pub below: f64,
    /// What it adds to the score of a row above it.
    pub above: f64,
}

impl Stump {
    /// What it adds for a value of its feature.
    #[inline]
    pub fn answer(&self, value: f64) -> f64 {
        if value > self.threshold {
            self.above
        } else {
            self.below
        }
    }

    /// Whether its numbers are finite.
    pub(super) fn is_finite(&self) -> bool {
        self.threshold.is_finite() && self.below.is_finite() && self.above.is_finite()
    }
}

/// A committee of stumps in the order in which they were learned.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AdaBoostModel {
    pub(super) bias: f64,
    pub(super) stumps: Vec<Stump>,
}

impl AdaBoostModel {
    /// What members that answer all rows alike add up to.
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// The stumps in the order of the rounds.
    pub fn stumps(&self) -> &[Stump] {
        &self.stumps
    }

    /// Divides all answers by what they add up to where all speak for the same side.
    pub(super) fn divide_by_all_votes(&mut self) {
        let most = |stump: &Stump| stump.below.abs().max(stump.above.abs());
        let all = self.bias.abs() + self.stumps.iter().map(most).sum::<f64>();
        if all > 0.0 {
            self.bias /= all;
            for stump in &mut self.stumps {
                stump.below /= all;
                stump.above /= all;
            }
        }
    }
}

impl AdaBoostModel {
    /// The score of a row, stump after stump. `StumpScorer` gives the same sum with less work.
    pub fn score(&self, row: RowView<'_>) -> f64 {
        let value = |column: u32| {
            let place = row.columns().binary_search(&column);
            place.map_or(0.0, |place| f64::from(row.values()[place]))
        };
        let answers = self
            .stumps
            .iter()
            .map(|stump| stump.answer(value(stump.column)));
        self.bias + answers.sum::<f64>()
    }
}
