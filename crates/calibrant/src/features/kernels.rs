//! The two inner loops of every linear learner.
//!
//! They run over a row's entries and touch a table of weights at the row's columns. `L` problems
//! are solved side by side ("lanes"): the weights of one feature for all of them lie together, so
//! that an entry is loaded once and serves all, and the processor works on them at the same time.
//!
//! Rows come from [`SparseMatrix`](super::SparseMatrix), which refuses columns that do not rise;
//! so one look at a row's last column tells that the whole row is inside the table. That lets the
//! loops go without a check per entry.

use super::{RowView, prefetch};

/// For so many columns of a row weights are asked for ahead of time.
const MOST_PREFETCHED: usize = 32;

/// Weights of `L` problems, feature after feature.
#[derive(Debug, Clone)]
pub struct LaneWeights<const L: usize> {
    values: Vec<[f32; L]>,
}

impl<const L: usize> LaneWeights<L> {
    /// Zeros for `column_count` features.
    pub(crate) fn zeros(column_count: usize) -> Self {
        Self {
            values: vec![[0.0; L]; column_count],
        }
    }

    /// The weights of one problem.
    pub(crate) fn lane(&self, lane: usize) -> Vec<f32> {
        self.values.iter().map(|weights| weights[lane]).collect()
    }

    /// The sum of squares of each problem's weights.
    pub(crate) fn squared_norms(&self) -> [f64; L] {
        let mut sums = [0.0; L];
        for weights in &self.values {
            for lane in 0..L {
                sums[lane] += f64::from(weights[lane]) * f64::from(weights[lane]);
            }
        }
        sums
    }

    /// Asks for the weights at the row's columns, of which only so many as a short row has: those of a long
    /// one are on their way soon enough.
    #[inline]
    pub(crate) fn prefetch(&self, row: RowView<'_>) {
        let first = row.columns.len().min(MOST_PREFETCHED);
        for &column in &row.columns[..first] {
            prefetch(&self.values, column as usize);
        }
    }

    #[inline]
    fn covers(&self, row: RowView<'_>) -> bool {
        row.columns
            .last()
            .is_none_or(|&last| (last as usize) < self.values.len())
    }

    /// `Σ weight · value` over the row, for each problem.
    #[inline]
    pub(crate) fn dot(&self, row: RowView<'_>) -> [f64; L] {
        assert!(self.covers(row) && row.columns.len() == row.values.len());
        // Four sums a lane, so that an addition need not wait for the one before.
        let mut sums = [[0f32; L]; 4];
        let (columns, last_columns) = row.columns.as_chunks::<4>();
        let (values, last_values) = row.values.as_chunks::<4>();
        for (column, value) in columns.iter().zip(values) {
            for place in 0..4 {
                // SAFETY: columns rise strictly (an invariant of rows) and the last was just
                // checked to be inside the table.
                let weights = unsafe { self.values.get_unchecked(column[place] as usize) };
                for lane in 0..L {
                    sums[place][lane] += weights[lane] * value[place];
                }
            }
        }
        for (&column, &value) in last_columns.iter().zip(last_values) {
            let weights = &self.values[column as usize];
            for lane in 0..L {
                sums[0][lane] += weights[lane] * value;
            }
        }
        std::array::from_fn(|lane| {
            f64::from((sums[0][lane] + sums[1][lane]) + (sums[2][lane] + sums[3][lane]))
        })
    }

    /// `weight += factor · value` over the row, for each problem by its own factor.
    #[inline]
    pub(crate) fn add_scaled(&mut self, factors: [f64; L], row: RowView<'_>) {
        assert!(self.covers(row));
        let factors: [f32; L] = std::array::from_fn(|lane| factors[lane] as f32);
        for (&column, &value) in row.columns.iter().zip(row.values) {
            // SAFETY: as in `dot`.
            let weights = unsafe { self.values.get_unchecked_mut(column as usize) };
            for lane in 0..L {
                weights[lane] += factors[lane] * value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::SparseMatrix;

    #[test]
    fn dot_and_add_agree_with_plain_loops() {
        let entries: Vec<(u32, f32)> = (0..11).map(|i| (i * 3, i as f32 - 4.0)).collect();
        let matrix = SparseMatrix::from_rows(40, [entries.clone()]);
        let mut weights = LaneWeights::<2>::zeros(40);
        weights.add_scaled([0.5, -1.0], matrix.row(0));
        for &(column, value) in &entries {
            assert_eq!(weights.lane(0)[column as usize], 0.5 * value);
            assert_eq!(weights.lane(1)[column as usize], -value);
        }
        let squares: f32 = entries.iter().map(|&(_, value)| value * value).sum();
        let [first, second] = weights.dot(matrix.row(0));
        assert!((first - f64::from(0.5 * squares)).abs() < 1e-5);
        assert!((second + f64::from(squares)).abs() < 1e-5);
        assert!((weights.squared_norms()[1] - f64::from(squares)).abs() < 1e-5);
    }

    #[test]
    #[should_panic(expected = "covers")]
    fn a_table_that_is_too_short_is_refused() {
        let matrix = SparseMatrix::from_rows(40, [vec![(39, 1.0)]]);
        LaneWeights::<1>::zeros(39).dot(matrix.row(0));
    }
}
