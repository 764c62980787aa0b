//! Rows as dual coordinate descent visits them.

use crate::features::{Ahead, LaneWeights, RowSource, SparseMatrix};

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
    /// The sum of squares of a row.
    fn squared_norm(&self, row: usize) -> f64;
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

    fn squared_norm(&self, row: usize) -> f64 {
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

/// Rows that somebody else holds, with weights of eight bytes: what is asked of these solutions may be far more than
/// four bytes can say. Whatever arrays they are in, the solver is compiled once.
#[derive(Clone, Copy)]
pub struct BorrowedRows<'a> {
    rows: &'a dyn RowSource,
    column_count: usize,
    /// So many rows are probably in the processor's cache when they are visited again.
    near: usize,
}

/// Numbers with their columns that three megabytes hold, as the second or third cache has them.
const NEAR_ENTRIES: usize = 1 << 18;

impl<'a> BorrowedRows<'a> {
    /// Rows with as many weights as they have columns.
    pub fn new(rows: &'a dyn RowSource) -> Self {
        let rows_at_least_one = rows.row_count().max(1);
        Self {
            rows,
            column_count: rows.column_count(),
            near: NEAR_ENTRIES / (1 + rows.entry_count() / rows_at_least_one),
        }
    }
}

impl DescentRows<1> for BorrowedRows<'_> {
    type Weights = Vec<f64>;
    type Value = f64;
    const FINE: bool = true;

    fn row_count(&self) -> usize {
        self.rows.row_count()
    }

    fn zeros(&self) -> Vec<f64> {
        vec![0.0; self.column_count]
    }

    fn squared_norm(&self, row: usize) -> f64 {
        self.rows.squared_norm(row)
    }

    #[inline]
    fn dot(&self, row: usize, weights: &Vec<f64>) -> [f64; 1] {
        [self.rows.dot(row, weights)]
    }

    #[inline]
    fn add(&self, row: usize, [factor]: [f64; 1], weights: &mut Vec<f64>) {
        self.rows.add(row, factor, weights);
    }

    fn are_far(&self, row_count: usize) -> bool {
        row_count > self.near
    }

    #[inline]
    fn prefetch(&self, [bounds, entries, visited]: [Option<usize>; 3], weights: &Vec<f64>) {
        self.rows.prefetch(Ahead {
            bounds,
            entries,
            weights: visited,
            table: weights,
            lanes: 1,
        });
    }

    fn squared_norms(weights: &Vec<f64>) -> [f64; 1] {
        [weights.iter().map(|weight| weight * weight).sum()]
    }

    fn lane(weights: &Vec<f64>, _lane: usize) -> Vec<f64> {
        weights.clone()
    }
}

impl DescentRows<4> for BorrowedRows<'_> {
    type Weights = Vec<[f64; 4]>;
    type Value = f64;
    const FINE: bool = true;

    fn row_count(&self) -> usize {
        self.rows.row_count()
    }

    fn zeros(&self) -> Vec<[f64; 4]> {
        vec![[0.0; 4]; self.column_count]
    }

    fn squared_norm(&self, row: usize) -> f64 {
        self.rows.squared_norm(row)
    }

    #[inline]
    fn dot(&self, row: usize, weights: &Vec<[f64; 4]>) -> [f64; 4] {
        self.rows.dot_lanes(row, weights)
    }

    #[inline]
    fn add(&self, row: usize, factors: [f64; 4], weights: &mut Vec<[f64; 4]>) {
        self.rows.add_lanes(row, factors, weights);
    }

    fn are_far(&self, row_count: usize) -> bool {
        row_count > self.near
    }

    #[inline]
    fn prefetch(&self, [bounds, entries, visited]: [Option<usize>; 3], weights: &Vec<[f64; 4]>) {
        self.rows.prefetch(Ahead {
            bounds,
            entries,
            weights: visited,
            table: weights.as_flattened(),
            lanes: 4,
        });
    }

    fn squared_norms(weights: &Vec<[f64; 4]>) -> [f64; 4] {
        let mut sums = [0.0; 4];
        for weights in weights {
            (0..4).for_each(|lane| sums[lane] += weights[lane] * weights[lane]);
        }
        sums
    }

    fn lane(weights: &Vec<[f64; 4]>, lane: usize) -> Vec<f64> {
        weights.iter().map(|weights| weights[lane]).collect()
    }
}
