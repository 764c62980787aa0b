//! How often terms come in documents.

use super::SparseMatrix;

/// How often each term comes in each document, or any other value of a numbered feature.
///
/// Nearly all counts are small whole numbers: as long as every one of them is, an entry takes one byte beside its column.
///
/// ```
/// use calibrant::features::{SparseMatrix, TermCounts};
/// let rows = SparseMatrix::from_rows(3, [vec![(0, 1.0), (2, 5.0)], vec![(1, 255.0)]]);
/// let counts = TermCounts::from(rows.clone());
/// assert!(matches!(counts, TermCounts::Small(_)));
/// assert_eq!(counts.columns_of(0), [0, 2]);
/// assert_eq!(counts.total_of(0), 6.0);
/// assert_eq!(counts.to_rows(), rows);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum TermCounts {
    /// Whole numbers from 0 to 255.
    Small(SparseMatrix<u8>),
    /// Any numbers.
    Any(SparseMatrix),
}

impl From<SparseMatrix> for TermCounts {
    fn from(rows: SparseMatrix) -> Self {
        match rows.values().iter().copied().all(is_small) {
            true => Self::Small(rows.with_values(|value| value as u8)),
            false => Self::Any(rows),
        }
    }
}

fn is_small(value: f32) -> bool {
    f32::from(value as u8) == value && !(value == 0.0 && value.is_sign_negative())
}

/// The same of either kind.
macro_rules! of_either {
    ($counts:expr, $matrix:ident => $answer:expr) => {
        match $counts {
            TermCounts::Small($matrix) => $answer,
            TermCounts::Any($matrix) => $answer,
        }
    };
}

impl TermCounts {
    /// No documents yet.
    pub(super) fn new(column_count: usize) -> Self {
        Self::Small(SparseMatrix::without_rows(column_count))
    }

    /// How many documents there are.
    pub fn row_count(&self) -> usize {
        of_either!(self, matrix => matrix.row_count())
    }

    /// How many columns a document may use.
    pub fn column_count(&self) -> usize {
        of_either!(self, matrix => matrix.column_count())
    }

    /// How many counts are stored.
    pub fn entry_count(&self) -> usize {
        of_either!(self, matrix => matrix.entry_count())
    }

    /// The columns of a document, rising.
    #[inline]
    pub fn columns_of(&self, row: usize) -> &[u32] {
        of_either!(self, matrix => matrix.row(row).columns())
    }

    /// The sum of a document's counts.
    pub fn total_of(&self, row: usize) -> f64 {
        of_either!(self, matrix => {
            let values = matrix.row(row).values().iter();
            values.map(|&value| f64::from(value)).sum()
        })
    }

    /// Fills lists with a document's columns and counts, those for which `is_kept` holds.
    pub(crate) fn row_into(
        &self,
        row: usize,
        is_kept: impl Fn(u32) -> bool,
        columns: &mut Vec<u32>,
        values: &mut Vec<f32>,
    ) {
        columns.clear();
        values.clear();
        let mut keep = |column: u32, value: f32| {
            if is_kept(column) {
                columns.push(column);
                values.push(value);
            }
        };
        match self {
            Self::Small(matrix) => {
                let row = matrix.row(row);
                let entries = row.columns().iter().zip(row.values());
                entries.for_each(|(&column, &value)| keep(column, f32::from(value)));
            }
            Self::Any(matrix) => {
                let row = matrix.row(row);
                let entries = row.columns().iter().zip(row.values());
                entries.for_each(|(&column, &value)| keep(column, value));
            }
        }
    }

    /// The counts as rows of numbers, which share with these where they stand.
    pub fn to_rows(&self) -> SparseMatrix {
        match self {
            Self::Small(matrix) => matrix.with_values(f32::from),
            Self::Any(matrix) => matrix.clone(),
        }
    }

    /// Whether all are finite, or the first that is not.
    pub(crate) fn first_infinite(&self) -> Option<f32> {
        match self {
            Self::Small(_) => None,
            Self::Any(matrix) => matrix.values().iter().copied().find(|v| !v.is_finite()),
        }
    }

    /// In how many documents each column occurs, of those that `is_counted` lets through; and how many these are.
    pub(crate) fn document_frequencies(
        &self,
        is_counted: impl Fn(usize) -> bool,
    ) -> (Vec<u32>, usize) {
        let mut frequencies = vec![0; self.column_count()];
        let mut documents = 0;
        for row in (0..self.row_count()).filter(|&row| is_counted(row)) {
            documents += 1;
            for &column in self.columns_of(row) {
                frequencies[column as usize] += 1;
            }
        }
        (frequencies, documents)
    }

    /// Documents in the order given, with columns renamed: see [`SparseMatrix::rearranged`].
    pub fn rearranged(&self, row_order: &[u32], new_column: &[u32], column_count: usize) -> Self {
        match self {
            Self::Small(matrix) => {
                Self::Small(matrix.rearranged(row_order, new_column, column_count))
            }
            Self::Any(matrix) => Self::Any(matrix.rearranged(row_order, new_column, column_count)),
        }
    }

    /// Keeps only the listed columns (rising), renumbered from zero.
    pub fn with_columns(&self, kept: &[u32]) -> Self {
        match self {
            Self::Small(matrix) => Self::Small(matrix.with_columns(kept)),
            Self::Any(matrix) => Self::Any(matrix.with_columns(kept)),
        }
    }

    /// Puts documents below these; the columns are renamed where there are names.
    pub(super) fn append(&mut self, batch: SparseMatrix, names: Option<&[u32]>) {
        if let Self::Small(matrix) = self
            && !batch.values().iter().copied().all(is_small)
        {
            *self = Self::Any(matrix.with_values(f32::from));
        }
        match (self, names) {
            (Self::Small(matrix), Some(names)) => {
                matrix.append_renamed(&batch, names, |value| value as u8)
            }
            (Self::Any(matrix), Some(names)) => matrix.append_renamed(&batch, names, |value| value),
            (Self::Small(matrix), None) => matrix.append(batch.with_values(|value| value as u8)),
            (Self::Any(matrix), None) => matrix.append(batch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_no_small_counts_are_kept_as_they_are() {
        for odd in [0.5, 256.0, -1.0, -0.0, f32::NAN, f32::INFINITY] {
            let rows = SparseMatrix::from_rows(2, [vec![(0, 3.0)], vec![(1, odd)]]);
            let counts = TermCounts::from(rows);
            assert!(matches!(counts, TermCounts::Any(_)), "{odd}");
            let kept = counts.to_rows().row(1).values()[0];
            assert_eq!(kept.to_bits(), odd.to_bits());
            assert_eq!(counts.first_infinite().is_some(), !odd.is_finite());
        }
    }

    #[test]
    fn columns_without_names_may_be_any_number() {
        let rows =
            || SparseMatrix::from_rows(u32::MAX as usize, [vec![(7, 1.0), (4_000_000_000, 2.0)]]);
        let mut counts = TermCounts::new(u32::MAX as usize);
        counts.append(rows(), None);
        counts.append(rows(), None);
        assert_eq!(counts.columns_of(1), [7, 4_000_000_000]);
        assert_eq!(counts.total_of(1), 3.0);
    }

    #[test]
    fn counts_that_come_in_pieces_are_those_that_came_at_once() {
        let pieces = [vec![(0, 1.0), (1, 200.0)], vec![(1, 300.0)], vec![(0, 2.0)]];
        let mut counts = TermCounts::new(9);
        for piece in &pieces {
            let batch = SparseMatrix::from_rows(2, [piece.clone()]);
            counts.append(batch, Some(&[4, 2]));
        }
        let renamed = pieces.map(|piece| {
            let renamed = piece
                .into_iter()
                .map(|(column, value)| ([4, 2][column as usize], value));
            renamed.collect()
        });
        assert_eq!(counts.to_rows(), SparseMatrix::from_rows(9, renamed));
        assert!(matches!(counts, TermCounts::Any(_)));
        let (frequencies, documents) = counts.document_frequencies(|row| row != 1);
        assert_eq!((frequencies[4], frequencies[2], documents), (2, 1, 2));
        let kept = counts.with_columns(&[2]);
        assert_eq!((kept.entry_count(), kept.total_of(1)), (2, 300.0));
    }
}
