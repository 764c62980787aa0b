//! Compressed sparse rows with `u32` columns and `f32` values.

use rayon::prelude::*;

/// One row of a [`SparseMatrix`]: columns rise strictly, values stand beside them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowView<'a> {
    pub(super) columns: &'a [u32],
    pub(super) values: &'a [f32],
}

impl<'a> RowView<'a> {
    /// A row from its parts; `None` unless the columns rise strictly and each has a value.
    pub fn new(columns: &'a [u32], values: &'a [f32]) -> Option<Self> {
        let fits = columns.len() == values.len() && columns.is_sorted_by(|a, b| a < b);
        fits.then_some(Self { columns, values })
    }

    /// A row whose columns the caller has just sorted and made distinct.
    pub(crate) fn of_rising(columns: &'a [u32], values: &'a [f32]) -> Self {
        debug_assert!(columns.is_sorted_by(|a, b| a < b) && columns.len() == values.len());
        Self { columns, values }
    }

    /// Column numbers, strictly rising.
    #[inline]
    pub fn columns(self) -> &'a [u32] {
        self.columns
    }

    /// The value in each of those columns.
    #[inline]
    pub fn values(self) -> &'a [f32] {
        self.values
    }

    /// The non-zero entries in column order.
    #[inline]
    pub fn entries(self) -> impl Iterator<Item = (usize, f64)> + 'a {
        self.columns
            .iter()
            .zip(self.values)
            .map(|(&column, &value)| (column as usize, f64::from(value)))
    }

    /// Sum of squared values.
    #[inline]
    pub fn squared_norm(self) -> f64 {
        self.values
            .iter()
            .map(|&v| f64::from(v) * f64::from(v))
            .sum()
    }
}

/// A matrix that keeps only non-zero entries, row after row.
///
/// ```
/// use calibrant::features::SparseMatrix;
/// let matrix = SparseMatrix::from_rows(3, [vec![(0, 1.0), (2, 5.0)], vec![]]);
/// assert_eq!((matrix.row_count(), matrix.entry_count()), (2, 2));
/// assert_eq!(matrix.row(0).columns(), &[0, 2]);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseMatrix {
    row_starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
    column_count: usize,
}

impl SparseMatrix {
    /// An empty matrix with room for rows to come.
    pub fn new(column_count: usize) -> Self {
        Self {
            row_starts: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
            column_count,
        }
    }

    /// From rows of `(column, value)`; entries are sorted, columns must not repeat in a row.
    pub fn from_rows(column_count: usize, rows: impl IntoIterator<Item = Vec<(u32, f32)>>) -> Self {
        let mut matrix = Self::new(column_count);
        for mut row in rows {
            row.sort_unstable_by_key(|&(column, _)| column);
            matrix.push_row(row);
        }
        matrix
    }

    /// Appends a row whose columns rise strictly and lie below the column count.
    pub fn push_row(&mut self, entries: impl IntoIterator<Item = (u32, f32)>) {
        let start = self.columns.len();
        for (column, value) in entries {
            // The learners' inner loops rely on both: see `kernels`.
            assert!(
                (column as usize) < self.column_count,
                "column {column} of {}",
                self.column_count
            );
            assert!(
                self.columns.len() == start || self.columns[self.columns.len() - 1] < column,
                "columns must rise"
            );
            self.columns.push(column);
            self.values.push(value);
        }
        self.row_starts.push(self.columns.len());
    }

    /// How many rows there are.
    #[inline]
    pub fn row_count(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// How many columns a row may use.
    #[inline]
    pub fn column_count(&self) -> usize {
        self.column_count
    }

    /// How many entries are stored.
    #[inline]
    pub fn entry_count(&self) -> usize {
        self.columns.len()
    }

    /// The row with this number.
    #[inline]
    pub fn row(&self, row: usize) -> RowView<'_> {
        let range = self.row_starts[row]..self.row_starts[row + 1];
        RowView {
            columns: &self.columns[range.clone()],
            values: &self.values[range],
        }
    }

    /// All rows in order.
    pub fn rows(&self) -> impl Iterator<Item = RowView<'_>> {
        (0..self.row_count()).map(|row| self.row(row))
    }

    /// The columns of all rows, one after the other.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The value of every entry, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Where each row begins (and the last ends), the columns and the values.
    pub(crate) fn into_parts(self) -> (Vec<usize>, Vec<u32>, Vec<f32>) {
        (self.row_starts, self.columns, self.values)
    }

    /// The same entries with every row's values rewritten by `change(columns, values)`, in parallel.
    pub fn map_rows(mut self, change: impl Fn(&[u32], &mut [f32]) + Sync) -> Self {
        let mut rows = Vec::with_capacity(self.row_count());
        let (mut columns, mut values) = (self.columns.as_slice(), self.values.as_mut_slice());
        for bounds in self.row_starts.windows(2) {
            let length = bounds[1] - bounds[0];
            let (row_columns, rest) = columns.split_at(length);
            columns = rest;
            let (row_values, rest) = std::mem::take(&mut values).split_at_mut(length);
            values = rest;
            rows.push((row_columns, row_values));
        }
        rows.into_par_iter()
            .with_min_len(64)
            .for_each(|(columns, values)| change(columns, values));
        self
    }

    /// The matrix with rows in the order given and columns renamed by `new_column`
    /// (`u32::MAX` drops a column), each row sorted again.
    pub fn rearranged(&self, row_order: &[u32], new_column: &[u32], column_count: usize) -> Self {
        let parts: Vec<Self> = row_order
            .par_chunks(1024)
            .map(|chunk| {
                let mut part = Self::new(column_count);
                let mut entries = Vec::new();
                for &row in chunk {
                    let view = self.row(row as usize);
                    entries.clear();
                    entries.extend(
                        view.columns
                            .iter()
                            .zip(view.values)
                            .map(|(&column, &value)| (new_column[column as usize], value))
                            .filter(|&(column, _)| column != u32::MAX),
                    );
                    entries.sort_unstable_by_key(|&(column, _)| column);
                    part.push_row(entries.iter().copied());
                }
                part
            })
            .collect();
        Self::concatenated(column_count, parts)
    }

    /// Matrices one below the other.
    pub fn concatenated(column_count: usize, parts: Vec<Self>) -> Self {
        let mut whole = Self::new(column_count);
        let entries = parts.iter().map(Self::entry_count).sum();
        whole
            .row_starts
            .reserve_exact(parts.iter().map(Self::row_count).sum());
        whole.columns.reserve_exact(entries);
        whole.values.reserve_exact(entries);
        for part in parts {
            whole.append(part);
        }
        whole
    }

    /// Puts the rows of `other` below these.
    pub fn append(&mut self, other: Self) {
        let base = self.columns.len();
        self.row_starts
            .extend(other.row_starts[1..].iter().map(|start| start + base));
        self.columns.extend_from_slice(&other.columns);
        self.values.extend_from_slice(&other.values);
        self.column_count = self.column_count.max(other.column_count);
    }

    /// Puts the rows of `other` below these, its columns renamed.
    pub fn append_renamed(&mut self, other: &Self, new_column: &[u32]) {
        let mut entries = Vec::new();
        for row in other.rows() {
            entries.clear();
            entries.extend(
                row.columns
                    .iter()
                    .zip(row.values)
                    .map(|(&column, &value)| (new_column[column as usize], value)),
            );
            entries.sort_unstable_by_key(|&(column, _)| column);
            self.push_row(entries.iter().copied());
        }
    }

    /// Keeps only the listed columns (rising), renumbered from zero.
    pub fn with_columns(&self, kept: &[u32]) -> Self {
        let mut new_column = vec![u32::MAX; self.column_count];
        for (new, &old) in kept.iter().enumerate() {
            new_column[old as usize] = new as u32;
        }
        let mut matrix = Self::new(kept.len());
        for row in self.rows() {
            matrix.push_row(
                row.columns
                    .iter()
                    .zip(row.values)
                    .map(|(&column, &value)| (new_column[column as usize], value))
                    .filter(|&(column, _)| column != u32::MAX),
            );
        }
        matrix
    }

    /// In how many rows each column occurs.
    pub fn document_frequencies(&self) -> Vec<u32> {
        let mut frequencies = vec![0u32; self.column_count];
        for &column in &self.columns {
            frequencies[column as usize] += 1;
        }
        frequencies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rearranging_renames_sorts_and_drops() {
        let matrix =
            SparseMatrix::from_rows(3, [vec![(0, 1.0), (1, 2.0), (2, 3.0)], vec![(1, 4.0)]]);
        let new = matrix.rearranged(&[1, 0], &[1, u32::MAX, 0], 2);
        assert_eq!(new.row(0).columns, &[] as &[u32]);
        assert_eq!(
            new.row(1),
            RowView {
                columns: &[0, 1],
                values: &[3.0, 1.0]
            }
        );
        assert_eq!(new.column_count(), 2);
    }

    #[test]
    fn selecting_columns_keeps_their_values() {
        let matrix = SparseMatrix::from_rows(4, [vec![(0, 1.0), (3, 2.0)], vec![(2, 4.0)]]);
        let new = matrix.with_columns(&[2, 3]);
        assert_eq!(
            new.row(0),
            RowView {
                columns: &[1],
                values: &[2.0]
            }
        );
        assert_eq!(
            new.row(1),
            RowView {
                columns: &[0],
                values: &[4.0]
            }
        );
    }

    #[test]
    fn mapping_rows_sees_each_row_once() {
        let matrix = SparseMatrix::from_rows(3, [vec![(0, 1.0), (2, 3.0)], vec![], vec![(1, 2.0)]]);
        let doubled = matrix.map_rows(|columns, values| {
            assert_eq!(columns.len(), values.len());
            values.iter_mut().for_each(|v| *v *= 2.0);
        });
        assert_eq!(doubled.row(0).values, &[2.0, 6.0]);
        assert_eq!(doubled.row(2).values, &[4.0]);
        assert_eq!(doubled.document_frequencies(), vec![1, 1, 1]);
    }
}
