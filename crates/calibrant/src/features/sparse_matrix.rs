//! Compressed sparse rows with `u32` columns and `f32` values.

use std::sync::Arc;

use super::prefetch;
use crate::parallel;

/// One row of a [`SparseMatrix`]: columns rise strictly, values stand beside them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowView<'a, V = f32> {
    pub(super) columns: &'a [u32],
    pub(super) values: &'a [V],
}

impl<'a, V> RowView<'a, V> {
    /// Column numbers, strictly rising.
    #[inline]
    pub fn columns(self) -> &'a [u32] {
        self.columns
    }

    /// The value in each of those columns.
    #[inline]
    pub fn values(self) -> &'a [V] {
        self.values
    }
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

/// So many rows are worked on by one thread at a time.
const ROWS_AT_ONCE: usize = 1024;

/// A matrix that keeps only non-zero entries, row after row.
///
/// Where the entries stand is shared between a matrix and its clones until one of them is given other
/// rows: several sets of values over the same documents cost four bytes per entry each.
///
/// ```
/// use calibrant::features::SparseMatrix;
/// let matrix = SparseMatrix::from_rows(3, [vec![(0, 1.0), (2, 5.0)], vec![]]);
/// assert_eq!((matrix.row_count(), matrix.entry_count()), (2, 2));
/// assert_eq!(matrix.row(0).columns(), &[0, 2]);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseMatrix<V = f32> {
    row_starts: Arc<Vec<usize>>,
    columns: Arc<Vec<u32>>,
    values: Vec<V>,
    column_count: usize,
}

impl SparseMatrix {
    /// An empty matrix with room for rows to come.
    pub fn new(column_count: usize) -> Self {
        Self::without_rows(column_count)
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

    /// Asks for where the row begins and ends; before long, [`Self::prefetch_entries`] can follow.
    #[inline]
    pub(crate) fn prefetch_bounds(&self, row: usize) {
        prefetch(&self.row_starts, row);
    }

    /// Asks for the first entries of the row; the processor itself notices that the others follow.
    #[inline]
    pub(crate) fn prefetch_entries(&self, row: usize) {
        let start = self.row_starts[row];
        for line in 0..2 {
            prefetch(&self.columns, start + 16 * line);
            prefetch(&self.values, start + 16 * line);
        }
    }

    /// Where each row begins (and the last ends), the columns and the values.
    pub(crate) fn into_parts(self) -> (Vec<usize>, Vec<u32>, Vec<f32>) {
        let parts = (self.row_starts, self.columns);
        (
            Arc::unwrap_or_clone(parts.0),
            Arc::unwrap_or_clone(parts.1),
            self.values,
        )
    }

    /// The same entries with every row's values rewritten by `change(columns, values)`, in parallel.
    pub fn map_rows(mut self, change: impl Fn(&[u32], &mut [f32]) + Sync) -> Self {
        let (row_starts, columns) = (&*self.row_starts, self.columns.as_slice());
        let mut rest = self.values.as_mut_slice();
        let mut chunks = Vec::new();
        for bounds in chunks_of_rows(row_starts) {
            let length = bounds[bounds.len() - 1] - bounds[0];
            let (values, after) = std::mem::take(&mut rest).split_at_mut(length);
            rest = after;
            chunks.push((bounds, values));
        }
        parallel::map_owned(chunks, |(bounds, values)| {
            for row in bounds.windows(2) {
                let values = &mut values[row[0] - bounds[0]..row[1] - bounds[0]];
                change(&columns[row[0]..row[1]], values);
            }
        });
        self
    }
}

impl<V: Copy + Default + Send + Sync> SparseMatrix<V> {
    pub(super) fn without_rows(column_count: usize) -> Self {
        Self {
            row_starts: Arc::new(vec![0]),
            columns: Arc::default(),
            values: Vec::new(),
            column_count,
        }
    }

    /// The same entries with other values, which share with these where they stand.
    pub(super) fn with_values<W>(&self, of: impl Fn(V) -> W) -> SparseMatrix<W> {
        SparseMatrix {
            row_starts: Arc::clone(&self.row_starts),
            columns: Arc::clone(&self.columns),
            values: self.values.iter().map(|&value| of(value)).collect(),
            column_count: self.column_count,
        }
    }

    /// Appends a row whose columns rise strictly and lie below the column count.
    pub fn push_row(&mut self, entries: impl IntoIterator<Item = (u32, V)>) {
        let columns = Arc::make_mut(&mut self.columns);
        let start = columns.len();
        for (column, value) in entries {
            // The learners' inner loops rely on both: see `kernels`.
            assert!(
                (column as usize) < self.column_count,
                "column {column} of {}",
                self.column_count
            );
            assert!(
                columns.len() == start || columns[columns.len() - 1] < column,
                "columns must rise"
            );
            columns.push(column);
            self.values.push(value);
        }
        Arc::make_mut(&mut self.row_starts).push(columns.len());
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
    pub fn row(&self, row: usize) -> RowView<'_, V> {
        let range = self.row_starts[row]..self.row_starts[row + 1];
        RowView {
            columns: &self.columns[range.clone()],
            values: &self.values[range],
        }
    }

    /// All rows in order.
    pub fn rows(&self) -> impl Iterator<Item = RowView<'_, V>> {
        (0..self.row_count()).map(|row| self.row(row))
    }

    /// The columns of all rows, one after the other.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The value of every entry, row after row.
    pub fn values(&self) -> &[V] {
        &self.values
    }

    /// The matrix with rows in the order given and columns renamed by `new_column`
    /// (`u32::MAX` drops a column), each row sorted again. Nothing is held beside this matrix and the new one.
    pub fn rearranged(&self, row_order: &[u32], new_column: &[u32], column_count: usize) -> Self {
        let renamed = |&column: &u32| new_column[column as usize];
        let mut row_starts = vec![0; row_order.len() + 1];
        parallel::map_chunks_mut(&mut row_starts[1..], ROWS_AT_ONCE, |part, lengths| {
            let rows = &row_order[part * ROWS_AT_ONCE..];
            for (length, &row) in lengths.iter_mut().zip(rows) {
                let columns = self.row(row as usize).columns.iter().map(renamed);
                *length = columns.filter(|&column| column != u32::MAX).count();
            }
        });
        let mut total = 0;
        for length in &mut row_starts {
            total += *length;
            *length = total;
        }
        let (mut columns, mut values) = (vec![0; total], vec![V::default(); total]);
        let (mut columns_left, mut values_left) = (columns.as_mut_slice(), values.as_mut_slice());
        let mut chunks = Vec::new();
        for (bounds, rows) in chunks_of_rows(&row_starts).zip(row_order.chunks(ROWS_AT_ONCE)) {
            let length = bounds[bounds.len() - 1] - bounds[0];
            let (columns, after) = std::mem::take(&mut columns_left).split_at_mut(length);
            columns_left = after;
            let (values, after) = std::mem::take(&mut values_left).split_at_mut(length);
            values_left = after;
            chunks.push((rows, columns, values));
        }
        parallel::map_owned(chunks, |(rows, columns, values)| {
            let mut entries = Vec::new();
            let mut written = 0;
            for &row in rows {
                let row = self.row(row as usize);
                entries.clear();
                entries.extend(row.columns.iter().map(renamed).zip(row.values));
                entries.retain(|&(column, _)| column != u32::MAX);
                entries.sort_unstable_by_key(|&(column, _)| column);
                check_columns(entries.iter().map(|&(column, _)| column), column_count);
                for &(column, &value) in &entries {
                    (columns[written], values[written]) = (column, value);
                    written += 1;
                }
            }
        });
        Self {
            row_starts: Arc::new(row_starts),
            columns: Arc::new(columns),
            values,
            column_count,
        }
    }

    /// Matrices one below the other.
    pub fn concatenated(column_count: usize, parts: Vec<Self>) -> Self {
        let mut whole = Self::without_rows(column_count);
        let entries = parts.iter().map(Self::entry_count).sum();
        let rows = parts.iter().map(Self::row_count).sum();
        Arc::make_mut(&mut whole.row_starts).reserve_exact(rows);
        Arc::make_mut(&mut whole.columns).reserve_exact(entries);
        whole.values.reserve_exact(entries);
        for part in parts {
            whole.append(part);
        }
        whole
    }

    /// Puts the rows of `other` below these.
    pub fn append(&mut self, other: Self) {
        let base = self.columns.len();
        Arc::make_mut(&mut self.row_starts)
            .extend(other.row_starts[1..].iter().map(|start| start + base));
        Arc::make_mut(&mut self.columns).extend_from_slice(&other.columns);
        self.values.extend_from_slice(&other.values);
        self.column_count = self.column_count.max(other.column_count);
    }

    /// Puts the rows of `other` below these, its columns renamed and its values as `of` has them.
    pub(super) fn append_renamed<W: Copy + Default + Send + Sync>(
        &mut self,
        other: &SparseMatrix<W>,
        new_column: &[u32],
        of: impl Fn(W) -> V,
    ) {
        let mut entries = Vec::new();
        for row in other.rows() {
            entries.clear();
            entries.extend(
                row.columns
                    .iter()
                    .zip(row.values)
                    .map(|(&column, &value)| (new_column[column as usize], of(value))),
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
        let mut matrix = Self::without_rows(kept.len());
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
        for &column in self.columns.iter() {
            frequencies[column as usize] += 1;
        }
        frequencies
    }
}

/// Where rows begin and the last ends, some rows at a time.
fn chunks_of_rows(row_starts: &[usize]) -> impl Iterator<Item = &[usize]> {
    let rows = row_starts.len() - 1;
    (0..rows)
        .step_by(ROWS_AT_ONCE)
        .map(move |first| &row_starts[first..=(first + ROWS_AT_ONCE).min(rows)])
}

/// The learners' inner loops rely on columns that rise and lie inside: see `kernels`.
fn check_columns(columns: impl Iterator<Item = u32>, column_count: usize) {
    let mut last = None;
    for column in columns {
        assert!(
            (column as usize) < column_count,
            "column {column} of {column_count}"
        );
        assert!(last.is_none_or(|last| last < column), "columns must rise");
        last = Some(column);
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
    fn many_rows_are_rearranged_as_they_are_one_by_one() {
        let row = |row: u32| {
            (0..row % 5)
                .map(|k| ((row + 3 * k) % 16, row as f32 + 0.1))
                .collect()
        };
        let matrix = SparseMatrix::from_rows(16, (0..2500).map(row));
        let order: Vec<u32> = (0..2500).rev().filter(|row| row % 3 != 0).collect();
        // Columns in reverse, every fourth dropped.
        let new_column: Vec<u32> = (0..16)
            .map(|column| {
                if column % 4 == 1 {
                    u32::MAX
                } else {
                    15 - column
                }
            })
            .collect();
        let found = matrix.rearranged(&order, &new_column, 16);
        assert_eq!(found.row_count(), order.len());
        for (place, &row) in order.iter().enumerate() {
            let mut expected: Vec<(usize, f64)> = matrix
                .row(row as usize)
                .entries()
                .filter(|&(column, _)| column % 4 != 1)
                .map(|(column, value)| (15 - column, value))
                .collect();
            expected.reverse();
            assert_eq!(found.row(place).entries().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    #[should_panic(expected = "columns must rise")]
    fn two_columns_of_one_name_are_refused() {
        let matrix = SparseMatrix::from_rows(2, [vec![(0, 1.0), (1, 2.0)]]);
        matrix.rearranged(&[0], &[1, 1], 2);
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
    fn clones_share_columns_until_one_of_them_gets_another_row() {
        let rows = (0..3000).map(|row| vec![(row % 7, 1.0), (7, row as f32)]);
        let counts = SparseMatrix::from_rows(8, rows);
        let doubled = counts.clone().map_rows(|columns, values| {
            assert_eq!(columns.len(), 2);
            values.iter_mut().for_each(|value| *value *= 2.0);
        });
        assert!(Arc::ptr_eq(&counts.columns, &doubled.columns));
        for row in [0, 1023, 1024, 2999] {
            assert_eq!(doubled.row(row).values, &[2.0, 2.0 * row as f32]);
            assert_eq!(counts.row(row).values, &[1.0, row as f32]);
        }
        let mut longer = counts.clone();
        longer.push_row([(3, 1.0)]);
        assert_eq!((counts.row_count(), longer.row_count()), (3000, 3001));
        assert_eq!(longer.row(2999), counts.row(2999));
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
