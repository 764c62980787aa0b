//! Which rows use a column: a sparse matrix read column by column.

use crate::features::SparseMatrix;
use crate::saved::Storage;
use crate::saved::{NamedTensor, TensorReader};

/// For every column the rows that use it, in rising order, with their values.
///
/// Three flat arrays: where each column's list begins, all row numbers, all values. They may lie in
/// a memory-mapped model file.
#[derive(Debug, Clone)]
pub(crate) struct Postings {
    starts: Storage<u64>,
    rows: Storage<u32>,
    values: Storage<f32>,
    row_count: usize,
}

impl Postings {
    /// Every entry of the matrix, column after column.
    pub(crate) fn of(matrix: &SparseMatrix) -> Self {
        let mut starts = vec![0u64; matrix.column_count() + 1];
        for &column in matrix.columns() {
            starts[column as usize + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next: Vec<usize> = starts.iter().map(|&start| start as usize).collect();
        let mut rows = vec![0u32; matrix.entry_count()];
        let mut values = vec![0f32; matrix.entry_count()];
        for (number, row) in matrix.rows().enumerate() {
            for (&column, &value) in row.columns().iter().zip(row.values()) {
                let place = &mut next[column as usize];
                rows[*place] = number as u32;
                values[*place] = value;
                *place += 1;
            }
        }
        Self {
            starts: Storage::Owned(starts),
            rows: Storage::Owned(rows),
            values: Storage::Owned(values),
            row_count: matrix.row_count(),
        }
    }

    /// From its arrays; `None` unless they fit together: lists follow one another, row
    /// numbers rise within a list and lie below `row_count`, values are finite.
    pub(crate) fn from_parts(
        starts: Storage<u64>,
        rows: Storage<u32>,
        values: Storage<f32>,
        row_count: usize,
    ) -> Option<Self> {
        lists_follow_one_another(&starts, rows.len(), values.len()).then_some(())?;
        for bounds in starts.windows(2) {
            let list = rows.get(bounds[0] as usize..bounds[1] as usize)?;
            let rising = list.is_sorted_by(|a, b| a < b);
            let inside = list.last().is_none_or(|&row| (row as usize) < row_count);
            (rising && inside).then_some(())?;
        }
        values.iter().all(|value| value.is_finite()).then_some(())?;
        Some(Self {
            starts,
            rows,
            values,
            row_count,
        })
    }

    /// The numbers that a model file keeps.
    pub(super) fn tensors(&self) -> [NamedTensor<'_>; 3] {
        [
            NamedTensor::vector("posting_starts", &self.starts),
            NamedTensor::vector("posting_rows", &self.rows),
            NamedTensor::vector("posting_values", &self.values),
        ]
    }

    /// From a model file; `None` unless its arrays fit together.
    pub(super) fn from_tensors(reader: &TensorReader<'_>, row_count: usize) -> Option<Self> {
        Self::from_parts(
            reader.stored_vector("posting_starts")?,
            reader.stored_vector("posting_rows")?,
            reader.stored_vector("posting_values")?,
            row_count,
        )
    }

    /// How many columns there are.
    pub(crate) fn column_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many rows there are.
    pub(crate) fn row_count(&self) -> usize {
        self.row_count
    }

    /// The rows that use a column and their values; empty for a column that is not there.
    #[inline]
    pub(crate) fn list(&self, column: usize) -> (&[u32], &[f32]) {
        let Some(bounds) = self.starts.get(column..column + 2) else {
            return (&[], &[]);
        };
        let range = bounds[0] as usize..bounds[1] as usize;
        match (self.rows.get(range.clone()), self.values.get(range)) {
            (Some(rows), Some(values)) => (rows, values),
            _ => (&[], &[]),
        }
    }
}

/// Asks the processor for an element that will be read soon: a hint, which changes nothing else.
#[inline]
pub(super) fn prefetch<T>(elements: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = elements.get(place) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: an SSE instruction, which every x86-64 processor has, on the address of an element that is there.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (elements, place);
}

/// Whether `starts` cut arrays of these lengths into lists, the first of which begins at zero.
pub(super) fn lists_follow_one_another(starts: &[u64], entries: usize, values: usize) -> bool {
    entries == values
        && starts.first() == Some(&0)
        && starts.last() == Some(&(entries as u64))
        && starts.is_sorted()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_list_their_rows_in_order() {
        let rows = [vec![(0, 1.0), (2, 2.0)], vec![], vec![(2, 3.0)]];
        let postings = Postings::of(&SparseMatrix::from_rows(4, rows));
        assert_eq!(postings.list(0), (&[0][..], &[1.0][..]));
        assert_eq!(postings.list(1), (&[][..], &[][..]));
        assert_eq!(postings.list(2), (&[0, 2][..], &[2.0, 3.0][..]));
        assert_eq!(postings.list(9), (&[][..], &[][..]));
        assert_eq!((postings.column_count(), postings.row_count()), (4, 3));
    }

    #[test]
    fn forged_arrays_are_refused() {
        let read = |starts: &[u64], rows: &[u32], values: &[f32]| {
            Postings::from_parts(
                Storage::Owned(starts.to_vec()),
                Storage::Owned(rows.to_vec()),
                Storage::Owned(values.to_vec()),
                2,
            )
            .is_some()
        };
        assert!(read(&[0, 2, 2], &[0, 1], &[1.0, 1.0]));
        assert!(!read(&[], &[], &[]));
        assert!(!read(&[1, 2], &[0, 1], &[1.0, 1.0]));
        assert!(!read(&[0, 3], &[0, 1], &[1.0, 1.0]));
        assert!(!read(&[0, 2, 1, 2], &[0, 1], &[1.0, 1.0]));
        assert!(!read(&[0, 2], &[1, 1], &[1.0, 1.0]), "rows must rise");
        assert!(!read(&[0, 2], &[0, 2], &[1.0, 1.0]), "there is no row 2");
        assert!(!read(&[0, 2], &[0, 1], &[1.0, f32::NAN]));
        assert!(!read(&[0, 2], &[0, 1], &[1.0]));
        assert!(!read(&[0, u64::MAX, 2], &[0, 1], &[1.0, 1.0]));
    }
}
