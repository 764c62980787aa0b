//! Rows that somebody else holds.

use super::SparseMatrix;

/// Sparse rows of numbers, whoever holds them and however they are kept.
pub trait RowSource: Sync {
    /// How many rows there are.
    fn row_count(&self) -> usize;

    /// Fills `entries` with the columns and values of a row, in any order. A column that comes twice is added up.
    fn row_into(&self, row: usize, entries: &mut Vec<(u32, f32)>);
}

impl RowSource for SparseMatrix {
    fn row_count(&self) -> usize {
        self.row_count()
    }

    fn row_into(&self, row: usize, entries: &mut Vec<(u32, f32)>) {
        let row = self.row(row);
        let (columns, values) = (row.columns().iter(), row.values().iter());
        entries.clear();
        entries.extend(columns.copied().zip(values.copied()));
    }
}

/// A number of a row or a column: `i32`, `i64`, `u32`, `u64` or `usize`.
pub trait CsrIndex: Copy + Sync {
    /// The number; `None` where it is negative or too large.
    fn to_usize(self) -> Option<usize>;
}

macro_rules! csr_index {
    ($($integer:ty),*) => {$(
        impl CsrIndex for $integer {
            #[inline]
            fn to_usize(self) -> Option<usize> {
                usize::try_from(self).ok()
            }
        }
    )*};
}
csr_index!(i32, i64, u32, u64, usize);

/// A value of a matrix: `f32` or `f64`. Learners work with `f32`.
pub trait CsrValue: Copy + Sync {
    /// The value as learners see it.
    fn to_f32(self) -> f32;
}

impl CsrValue for f32 {
    #[inline]
    fn to_f32(self) -> f32 {
        self
    }
}

impl CsrValue for f64 {
    #[inline]
    fn to_f32(self) -> f32 {
        self as f32
    }
}

/// A borrowed matrix of compressed sparse rows, as SciPy and others keep it: row `i` has the columns
/// `columns[starts[i]..starts[i + 1]]` and the values beside them.
///
/// ```
/// use calibrant::features::{Csr, RowSource};
/// let rows = Csr::new(&[0i64, 2, 2], &[3i32, 0], &[1.5f64, 2.0])?;
/// let mut entries = Vec::new();
/// rows.row_into(0, &mut entries);
/// assert_eq!(entries, [(3, 1.5), (0, 2.0)]);
/// assert_eq!(rows.row_count(), 2);
/// assert!(Csr::new(&[0, 1], &[-1], &[1.0f32]).is_err()); // no such column
/// # Ok::<(), calibrant::features::CsrError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Csr<'a, P, I, V> {
    starts: &'a [P],
    columns: &'a [I],
    values: &'a [V],
}

/// Why arrays are not a matrix of sparse rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CsrError {
    /// There is not one value per column number.
    #[error("there are {columns} column numbers but {values} values")]
    LengthMismatch {
        /// Column numbers.
        columns: usize,
        /// Values.
        values: usize,
    },
    /// Rows do not follow one another within the arrays.
    #[error("the start of row {row} is not between the previous start and the number of entries")]
    BadStart {
        /// The row, from 0.
        row: usize,
    },
    /// A column number is negative or above 4294967294.
    #[error("entry {entry} is in a column that is negative or beyond 4294967294")]
    BadColumn {
        /// The entry, from 0.
        entry: usize,
    },
}

impl<'a, P: CsrIndex, I: CsrIndex, V: CsrValue> Csr<'a, P, I, V> {
    /// Checks that the arrays fit together. They are not copied.
    pub fn new(starts: &'a [P], columns: &'a [I], values: &'a [V]) -> Result<Self, CsrError> {
        if columns.len() != values.len() {
            return Err(CsrError::LengthMismatch {
                columns: columns.len(),
                values: values.len(),
            });
        }
        let mut last = 0;
        for (row, start) in starts.iter().enumerate() {
            match start.to_usize() {
                Some(start) if start >= last && start <= columns.len() => last = start,
                _ => return Err(CsrError::BadStart { row }),
            }
        }
        if starts.is_empty() {
            return Err(CsrError::BadStart { row: 0 });
        }
        let fits = |column: &I| column.to_usize().is_some_and(|n| n < u32::MAX as usize);
        match columns.iter().position(|column| !fits(column)) {
            Some(entry) => Err(CsrError::BadColumn { entry }),
            None => Ok(Self {
                starts,
                columns,
                values,
            }),
        }
    }
}

impl<P: CsrIndex, I: CsrIndex, V: CsrValue> RowSource for Csr<'_, P, I, V> {
    fn row_count(&self) -> usize {
        self.starts.len() - 1
    }

    fn row_into(&self, row: usize, entries: &mut Vec<(u32, f32)>) {
        let at = |row: usize| self.starts[row].to_usize().unwrap_or_default();
        let range = at(row)..at(row + 1);
        entries.clear();
        let columns = self.columns[range.clone()].iter();
        let values = self.values[range].iter();
        entries.extend(columns.zip(values).map(|(column, value)| {
            let column = column.to_usize().unwrap_or_default();
            (column as u32, value.to_f32())
        }));
    }
}
