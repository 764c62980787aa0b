//! The blocks of isotonic regression, none of them without doubt.

use super::distinct_scores::DistinctScore;
use crate::Probability;
use crate::solvers::{Pool, pool_weighted_sums};

/// Neighbouring scores with one probability.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// Its lowest score.
    pub(super) first: f64,
    /// Its highest score.
    pub(super) last: f64,
    /// The position after its last distinct score.
    pub(super) end: usize,
    counted: f64,
    positive: f64,
    negative: f64,
}

impl Block {
    /// The blocks of the most likely rising curve. A first block without positives and a last one
    /// without negatives are softened as [`Isotonic`](super::Isotonic) says.
    pub(super) fn all(distinct: &[DistinctScore]) -> Vec<Self> {
        let sums = distinct
            .iter()
            .map(|point| (point.positive, point.weight()));
        let pools = pool_weighted_sums(sums);
        let is_pure = |pool: &Pool| pool.sum <= 0.0 || pool.sum >= pool.weight;
        let (sum, weight) = pools.iter().fold((0.0, 0.0), |(sum, weight), pool| {
            (sum + pool.sum, weight + pool.weight)
        });
        // The share of positives that a pure block leans to.
        let lean = |neighbour: Option<&Pool>| match neighbour {
            Some(pool) if !is_pure(pool) => pool.mean(),
            _ => sum / weight,
        };
        let mut start = 0;
        let mut blocks = Vec::with_capacity(pools.len());
        for (number, pool) in pools.iter().enumerate() {
            let (counted, positive, negative) = if pool.sum <= 0.0 {
                let share = lean(pools.get(number + 1));
                // One positive and what comes with it: (1 - m) / m negatives.
                (0.0, 1.0, pool.weight + (1.0 - share) / share)
            } else if pool.sum >= pool.weight {
                let share = lean(number.checked_sub(1).map(|before| &pools[before]));
                (1.0, pool.weight + share / (1.0 - share), 1.0)
            } else {
                (pool.mean(), pool.sum, pool.weight - pool.sum)
            };
            blocks.push(Self {
                first: distinct[start].score,
                last: distinct[pool.end - 1].score,
                end: pool.end,
                counted,
                positive,
                negative,
            });
            start = pool.end;
        }
        blocks
    }

    /// The share of positives as it was counted, which may be 0 or 1.
    pub(super) fn counted(&self) -> f64 {
        self.counted
    }

    /// Whether the examples all have one label.
    pub(super) fn is_pure(&self) -> bool {
        self.counted == 0.0 || self.counted == 1.0
    }

    /// The softened share.
    pub(super) fn probability(&self) -> f64 {
        self.positive / (self.positive + self.negative)
    }

    /// Its log-odds, finite.
    pub(super) fn log_odds(&self) -> f64 {
        Probability::from_log_odds((self.positive / self.negative).ln()).log_odds()
    }
}
