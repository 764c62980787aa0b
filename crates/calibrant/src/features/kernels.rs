//! The two inner loops of every linear learner.
//!
//! They run over a row's entries and touch a dense vector at the row's columns. The rows come
//! from [`SparseMatrix`](super::SparseMatrix), which refuses a column beyond its column count
//! when a row is added; callers check once per matrix that the vector is that long. That is what
//! lets these loops go without a bounds check per entry, worth a quarter of the training time.

use super::RowView;

/// A dense `f32` vector that is at least as long as the matrix is wide.
#[derive(Debug, Clone)]
pub struct DenseVector {
    values: Vec<f32>,
}

impl DenseVector {
    /// Zeros for `column_count` columns.
    pub fn zeros(column_count: usize) -> Self {
        Self {
            values: vec![0.0; column_count],
        }
    }

    /// The values.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Overwrites every value.
    pub fn copy_from(&mut self, other: &Self) {
        self.values.copy_from_slice(&other.values);
    }

    /// Sum of squares.
    pub fn squared_norm(&self) -> f64 {
        self.values
            .iter()
            .map(|&v| f64::from(v) * f64::from(v))
            .sum()
    }

    #[inline]
    fn covers(&self, row: RowView<'_>) -> bool {
        // Columns rise, so the last one is the largest.
        row.columns
            .last()
            .is_none_or(|&last| (last as usize) < self.values.len())
    }

    /// `Σ vector[column] · value` over the row.
    #[inline]
    pub fn dot(&self, row: RowView<'_>) -> f64 {
        assert!(self.covers(row) && row.columns.len() == row.values.len());
        let mut sums = [0f32; 4];
        let columns = row.columns.chunks_exact(4);
        let values = row.values.chunks_exact(4);
        let tail = columns.remainder().iter().zip(values.remainder());
        for (column, value) in columns.zip(values) {
            for lane in 0..4 {
                // SAFETY: columns rise strictly (an invariant of `SparseMatrix` rows) and the
                // largest was just checked to be inside the vector.
                sums[lane] +=
                    unsafe { *self.values.get_unchecked(column[lane] as usize) } * value[lane];
            }
        }
        let mut sum = f64::from(sums[0] + sums[1]) + f64::from(sums[2] + sums[3]);
        for (&column, &value) in tail {
            sum += f64::from(self.values[column as usize] * value);
        }
        sum
    }

    /// `vector[column] += factor · value` over the row.
    #[inline]
    pub fn add_scaled(&mut self, factor: f64, row: RowView<'_>) {
        assert!(self.covers(row));
        let factor = factor as f32;
        for (&column, &value) in row.columns.iter().zip(row.values) {
            // SAFETY: as in `dot`.
            unsafe { *self.values.get_unchecked_mut(column as usize) += factor * value };
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
        let mut vector = DenseVector::zeros(40);
        vector.add_scaled(0.5, matrix.row(0));
        for &(column, value) in &entries {
            assert_eq!(vector.values()[column as usize], 0.5 * value);
        }
        let expected: f32 = entries.iter().map(|&(_, value)| 0.5 * value * value).sum();
        assert!((vector.dot(matrix.row(0)) - f64::from(expected)).abs() < 1e-6);
    }

    #[test]
    #[should_panic(expected = "covers")]
    fn a_vector_that_is_too_short_is_refused() {
        let matrix = SparseMatrix::from_rows(40, [vec![(39, 1.0)]]);
        DenseVector::zeros(39).dot(matrix.row(0));
    }
}
