//! Rows that somebody else holds, as dual coordinate descent visits them.

use super::DescentRows;
use crate::features::{Ahead, CsrArrays, RowSource};

/// Rows that somebody else holds, with weights of eight bytes: what is asked of these solutions may be far more than
/// four bytes can say. The solver is compiled once for the arrays that most rows are in and for any others.
#[derive(Clone, Copy)]
pub struct BorrowedRows<'a> {
    kept: Kept<'a>,
    /// Which row of what is kept each row is, where that is not its own number.
    order: Option<&'a [u32]>,
    row_count: usize,
    column_count: usize,
    /// So many rows are probably in the processor's cache when they are visited again.
    near: usize,
}

#[derive(Clone, Copy)]
enum Kept<'a> {
    Csr(CsrArrays<'a>),
    Anyhow(&'a dyn RowSource),
}

/// Numbers with their columns that three megabytes hold, as the second or third cache has them.
const NEAR_ENTRIES: usize = 1 << 18;

/// Does the same with the rows, whatever they are: each of the three is compiled by itself.
macro_rules! with_rows {
    ($kept:expr, $rows:ident => $work:expr) => {
        match $kept {
            Kept::Csr(CsrArrays::Double($rows)) => $work,
            Kept::Csr(CsrArrays::Single($rows)) => $work,
            Kept::Anyhow($rows) => $work,
        }
    };
}

impl<'a> BorrowedRows<'a> {
    /// Rows with as many weights as they have columns.
    pub fn new(rows: &'a dyn RowSource) -> Self {
        let row_count = rows.row_count();
        let view = rows.as_csr();
        Self {
            kept: view.map_or(Kept::Anyhow(rows), |view| Kept::Csr(view.arrays)),
            order: view.and_then(|view| view.order),
            row_count,
            column_count: rows.column_count(),
            near: NEAR_ENTRIES / (1 + rows.entry_count() / row_count.max(1)),
        }
    }

    #[inline]
    fn number(&self, row: usize) -> usize {
        self.order.map_or(row, |order| order[row] as usize)
    }

    /// `|x|²` of every row, for several problems.
    pub fn norms(&self) -> Vec<f64> {
        let mut zeros = vec![0.0; self.column_count];
        let norm = |row| self.norm(row, &mut zeros, 1);
        (0..self.row_count).map(norm).collect()
    }

    fn norm(&self, row: usize, zeros: &mut [f64], lanes: usize) -> f64 {
        let row = self.number(row);
        match &self.kept {
            Kept::Csr(CsrArrays::Double(rows)) => rows.squared_norm_by(row, zeros, lanes),
            Kept::Csr(CsrArrays::Single(rows)) => rows.squared_norm_by(row, zeros, lanes),
            Kept::Anyhow(rows) => rows.squared_norm(row),
        }
    }

    #[inline]
    fn prefetch_of(&self, rows: [Option<usize>; 3], table: &[f64], lanes: usize) {
        let [bounds, entries, weights] = rows;
        let number = |row: Option<usize>| row.map(|row| self.number(row));
        let ahead = Ahead {
            bounds: number(bounds),
            entries: number(entries),
            weights: number(weights),
            table,
            lanes,
        };
        with_rows!(&self.kept, rows => rows.prefetch(ahead));
    }
}

impl DescentRows<1> for BorrowedRows<'_> {
    type Weights = Vec<f64>;
    type Value = f64;
    const FINE: bool = true;

    fn row_count(&self) -> usize {
        self.row_count
    }

    fn zeros(&self) -> Vec<f64> {
        vec![0.0; self.column_count]
    }

    fn clear(&self, weights: &mut Vec<f64>) {
        weights.fill(0.0);
    }

    fn squared_norm(&self, row: usize, zeros: &mut Vec<f64>) -> f64 {
        self.norm(row, zeros, 1)
    }

    #[inline]
    fn dot(&self, row: usize, weights: &Vec<f64>) -> [f64; 1] {
        let row = self.number(row);
        [with_rows!(&self.kept, rows => rows.dot(row, weights))]
    }

    #[inline]
    fn add(&self, row: usize, [factor]: [f64; 1], weights: &mut Vec<f64>) {
        let row = self.number(row);
        with_rows!(&self.kept, rows => rows.add(row, factor, weights));
    }

    fn are_far(&self, row_count: usize) -> bool {
        row_count > self.near
    }

    #[inline]
    fn prefetch(&self, rows: [Option<usize>; 3], weights: &Vec<f64>) {
        self.prefetch_of(rows, weights, 1);
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
        self.row_count
    }

    fn zeros(&self) -> Vec<[f64; 4]> {
        vec![[0.0; 4]; self.column_count]
    }

    fn squared_norm(&self, row: usize, zeros: &mut Vec<[f64; 4]>) -> f64 {
        self.norm(row, zeros.as_flattened_mut(), 4)
    }

    #[inline]
    fn dot(&self, row: usize, weights: &Vec<[f64; 4]>) -> [f64; 4] {
        let row = self.number(row);
        with_rows!(&self.kept, rows => rows.dot_lanes(row, weights))
    }

    #[inline]
    fn add(&self, row: usize, factors: [f64; 4], weights: &mut Vec<[f64; 4]>) {
        let row = self.number(row);
        with_rows!(&self.kept, rows => rows.add_lanes(row, factors, weights));
    }

    fn are_far(&self, row_count: usize) -> bool {
        row_count > self.near
    }

    #[inline]
    fn prefetch(&self, rows: [Option<usize>; 3], weights: &Vec<[f64; 4]>) {
        self.prefetch_of(rows, weights.as_flattened(), 4);
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
