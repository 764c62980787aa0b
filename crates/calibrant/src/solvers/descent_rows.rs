//! Rows as dual coordinate descent visits them.

use crate::features::{LaneWeights, SparseMatrix};

/// Rows with the two inner loops over weights of `L` problems side by side.
pub trait DescentRows<const L: usize>: Sync {
    /// The weights of all problems.
    type Weights: Send + Sync;
    /// One weight.
    type Value: Copy + Send + Sync;
    /// Whether weights have the digits for gaps so small that the loss's own guess of where they are reached is better than the
    /// general one. (Models that were learned from counts keep the general guess, and with it their numbers.)
    const FINE: bool = false;

    /// How many rows there are.
    fn row_count(&self) -> usize;
    /// No weight for any column.
    fn zeros(&self) -> Self::Weights;
    /// Makes all weights zero.
    fn clear(&self, weights: &mut Self::Weights) {
        *weights = self.zeros();
    }
    /// The sum of squares of a row; the weights are all zero, before and after.
    fn squared_norm(&self, row: usize, zeros: &mut Self::Weights) -> f64;
    /// `w·x` for each problem.
    fn dot(&self, row: usize, weights: &Self::Weights) -> [f64; L];
    /// `w += factor · x` for each problem.
    fn add(&self, row: usize, factors: [f64; L], weights: &mut Self::Weights);
    /// Whether so many rows are too many to be near the processor already.
    fn are_far(&self, _row_count: usize) -> bool {
        true
    }
    /// Asks for bounds, entries and weights of three rows to come.
    fn prefetch(&self, rows: [Option<usize>; 3], weights: &Self::Weights);
    /// The sum of squares of each problem's weights.
    fn squared_norms(weights: &Self::Weights) -> [f64; L];
    /// The weights of one problem.
    fn lane(weights: &Self::Weights, lane: usize) -> Vec<Self::Value>;
}

impl<const L: usize> DescentRows<L> for SparseMatrix {
    type Weights = LaneWeights<L>;
    type Value = f32;

    fn row_count(&self) -> usize {
        self.row_count()
    }

    fn zeros(&self) -> LaneWeights<L> {
        LaneWeights::zeros(self.column_count())
    }

    fn squared_norm(&self, row: usize, _zeros: &mut LaneWeights<L>) -> f64 {
        self.row(row).squared_norm()
    }

    #[inline]
    fn dot(&self, row: usize, weights: &LaneWeights<L>) -> [f64; L] {
        weights.dot(self.row(row))
    }

    #[inline]
    fn add(&self, row: usize, factors: [f64; L], weights: &mut LaneWeights<L>) {
        weights.add_scaled(factors, self.row(row));
    }

    #[inline]
    fn prefetch(&self, [bounds, entries, visited]: [Option<usize>; 3], weights: &LaneWeights<L>) {
        if let Some(row) = bounds {
            self.prefetch_bounds(row);
        }
        if let Some(row) = entries {
            self.prefetch_entries(row);
        }
        if let Some(row) = visited {
            weights.prefetch(self.row(row));
        }
    }

    fn squared_norms(weights: &LaneWeights<L>) -> [f64; L] {
        weights.squared_norms()
    }

    fn lane(weights: &LaneWeights<L>, lane: usize) -> Vec<f32> {
        weights.lane(lane)
    }
}
