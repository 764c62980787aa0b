//! A borrowed matrix of compressed sparse rows.

use super::prefetch;
use super::row_source::{Ahead, RowSource, summed_up};

/// A number of a row or a column: `i32`, `i64`, `u32`, `u64` or `usize`.
pub trait CsrIndex: Copy + Sync {
    /// The number; `None` where it is negative or too large.
    fn to_usize(self) -> Option<usize>;

    /// The number, without a look at whether there is such a one: what is negative is far beyond the end of anything.
    fn wrapped(self) -> usize;

    /// Numbers as those that SciPy keeps, where they are such.
    #[doc(hidden)]
    fn as_i32(_numbers: &[Self]) -> Option<&[i32]>
    where
        Self: Sized,
    {
        None
    }
}

macro_rules! csr_index {
    ($($integer:ty $(: $own:item)?),*) => {$(
        impl CsrIndex for $integer {
            #[inline]
            fn to_usize(self) -> Option<usize> {
                usize::try_from(self).ok()
            }

            #[inline]
            fn wrapped(self) -> usize {
                self as usize
            }

            $($own)?
        }
    )*};
}
csr_index!(
    i32: fn as_i32(numbers: &[i32]) -> Option<&[i32]> { Some(numbers) },
    i64, u32, u64, usize
);

/// A value of a matrix: `f32` or `f64`.
pub trait CsrValue: Copy + Sync {
    /// The value as learners see it that keep rows of their own.
    fn to_f32(self) -> f32;

    /// The value as it is.
    fn to_f64(self) -> f64;

    /// A matrix of such values as one of those that there is a view of.
    #[doc(hidden)]
    fn csr_view<'a>(_rows: Csr<'a, i32, i32, Self>) -> Option<CsrArrays<'a>>
    where
        Self: Sized,
    {
        None
    }
}

impl CsrValue for f32 {
    #[inline]
    fn to_f32(self) -> f32 {
        self
    }

    #[inline]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn csr_view<'a>(rows: Csr<'a, i32, i32, f32>) -> Option<CsrArrays<'a>> {
        Some(CsrArrays::Single(rows))
    }
}

impl CsrValue for f64 {
    #[inline]
    fn to_f32(self) -> f32 {
        self as f32
    }

    #[inline]
    fn to_f64(self) -> f64 {
        self
    }

    fn csr_view<'a>(rows: Csr<'a, i32, i32, f64>) -> Option<CsrArrays<'a>> {
        Some(CsrArrays::Double(rows))
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
    /// One more than the highest column.
    column_count: usize,
}

/// Sparse rows in the arrays that SciPy makes of a matrix with fewer than 2^31 entries, as solvers ask for them: loops over them
/// are then compiled into the solver instead of being called for every row.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum CsrArrays<'a> {
    /// Values of four bytes.
    Single(Csr<'a, i32, i32, f32>),
    /// Values of eight bytes.
    Double(Csr<'a, i32, i32, f64>),
}

/// Such arrays, and which row of them each row is.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct CsrView<'a> {
    /// All rows.
    pub arrays: CsrArrays<'a>,
    /// Which row of the arrays each row is, where that is not its own number.
    pub order: Option<&'a [u32]>,
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
        let mut column_count = 0;
        for (entry, column) in columns.iter().enumerate() {
            match column.to_usize() {
                Some(column) if column < u32::MAX as usize => {
                    column_count = column_count.max(column + 1);
                }
                _ => return Err(CsrError::BadColumn { entry }),
            }
        }
        Ok(Self {
            starts,
            columns,
            values,
            column_count,
        })
    }

    #[inline]
    fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row].wrapped()..self.starts[row + 1].wrapped()
    }

    /// The sum of squares of a row, where columns may come twice, by a table of zeros, of which every column has so many numbers: far
    /// sooner than by sorting. It is zero again afterwards.
    pub(crate) fn squared_norm_by(&self, row: usize, table: &mut [f64], lanes: usize) -> f64 {
        let (columns, values) = self.entries(row);
        if columns.is_sorted_by(|a, b| a.wrapped() < b.wrapped()) {
            return values.iter().map(|value| value.to_f64().powi(2)).sum();
        }
        let places = || {
            columns
                .iter()
                .map(|column| column.wrapped().wrapping_mul(lanes))
        };
        for (place, value) in places().zip(values) {
            if let Some(sum) = table.get_mut(place) {
                *sum += value.to_f64();
            }
        }
        let sums = places().zip(values);
        let norm = sums
            .map(|(place, value)| value.to_f64() * table.get(place).unwrap_or(&0.0))
            .sum();
        for place in places() {
            if let Some(sum) = table.get_mut(place) {
                *sum = 0.0;
            }
        }
        norm
    }

    /// Columns and values of a row.
    #[inline]
    fn entries(&self, row: usize) -> (&'a [I], &'a [V]) {
        let range = self.range(row);
        (&self.columns[range.clone()], &self.values[range])
    }
}

/// Four columns. (Written out: where `map` is not inlined, as happens within large functions, it takes longer than all else.)
#[inline(always)]
fn wrapped<I: CsrIndex>(columns: &[I; 4]) -> [usize; 4] {
    [
        columns[0].wrapped(),
        columns[1].wrapped(),
        columns[2].wrapped(),
        columns[3].wrapped(),
    ]
}

/// One look at four columns: the loop over a row then has no branch that is taken for each entry.
#[inline(always)]
fn are_below(columns: [usize; 4], count: usize) -> bool {
    (columns[0] < count) & (columns[1] < count) & (columns[2] < count) & (columns[3] < count)
}

impl<P: CsrIndex, I: CsrIndex, V: CsrValue> RowSource for Csr<'_, P, I, V> {
    fn row_count(&self) -> usize {
        self.starts.len() - 1
    }

    fn row_into(&self, row: usize, entries: &mut Vec<(u32, f32)>) {
        let (columns, values) = self.entries(row);
        entries.clear();
        let pairs = columns.iter().zip(values);
        entries.extend(pairs.map(|(column, value)| (column.wrapped() as u32, value.to_f32())));
    }

    fn column_count(&self) -> usize {
        self.column_count
    }

    fn entry_count(&self) -> usize {
        let at = |row: usize| self.starts[row].wrapped();
        at(self.row_count()) - at(0)
    }

    fn for_each_entry(&self, row: usize, each: &mut dyn FnMut(usize, f64)) {
        let (columns, values) = self.entries(row);
        let pairs = columns.iter().zip(values);
        pairs.for_each(|(column, value)| each(column.wrapped(), value.to_f64()));
    }

    fn squared_norm(&self, row: usize) -> f64 {
        let (columns, values) = self.entries(row);
        if columns.is_sorted_by(|a, b| a.wrapped() < b.wrapped()) {
            return values.iter().map(|value| value.to_f64().powi(2)).sum();
        }
        let pairs = columns.iter().zip(values);
        let pairs = pairs.map(|(column, value)| (column.wrapped(), value.to_f64()));
        summed_up(pairs.collect())
            .map(|(_, value)| value * value)
            .sum()
    }

    #[inline]
    fn dot(&self, row: usize, weights: &[f64]) -> f64 {
        let (columns, values) = self.entries(row);
        let (columns, last_columns) = columns.as_chunks::<4>();
        let (values, last_values) = values.as_chunks::<4>();
        // Four sums, so that an addition need not wait for the one before.
        let mut sums = [0.0; 4];
        for place in 0..columns.len().min(values.len()) {
            let (columns, values) = (wrapped(&columns[place]), &values[place]);
            if are_below(columns, weights.len()) {
                for place in 0..4 {
                    sums[place] += weights[columns[place]] * values[place].to_f64();
                }
                continue;
            }
            for place in 0..4 {
                // What is beyond the weights is unknown to them and adds nothing.
                if let Some(weight) = weights.get(columns[place]) {
                    sums[place] += weight * values[place].to_f64();
                }
            }
        }
        for (column, value) in last_columns.iter().zip(last_values) {
            if let Some(weight) = weights.get(column.wrapped()) {
                sums[0] += weight * value.to_f64();
            }
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }

    #[inline]
    fn add(&self, row: usize, factor: f64, weights: &mut [f64]) {
        let (columns, values) = self.entries(row);
        let (columns, last_columns) = columns.as_chunks::<4>();
        let (values, last_values) = values.as_chunks::<4>();
        for place in 0..columns.len().min(values.len()) {
            let (columns, values) = (wrapped(&columns[place]), &values[place]);
            if are_below(columns, weights.len()) {
                for place in 0..4 {
                    weights[columns[place]] += factor * values[place].to_f64();
                }
                continue;
            }
            for place in 0..4 {
                if let Some(weight) = weights.get_mut(columns[place]) {
                    *weight += factor * values[place].to_f64();
                }
            }
        }
        for (column, value) in last_columns.iter().zip(last_values) {
            if let Some(weight) = weights.get_mut(column.wrapped()) {
                *weight += factor * value.to_f64();
            }
        }
    }

    #[inline]
    fn dot_lanes(&self, row: usize, weights: &[[f64; 4]]) -> [f64; 4] {
        let (columns, values) = self.entries(row);
        let mut sums = [[0.0; 4]; 2];
        for (place, (column, value)) in columns.iter().zip(values).enumerate() {
            if let Some(weights) = weights.get(column.wrapped()) {
                let (value, sums) = (value.to_f64(), &mut sums[place % 2]);
                (0..4).for_each(|lane| sums[lane] += weights[lane] * value);
            }
        }
        std::array::from_fn(|lane| sums[0][lane] + sums[1][lane])
    }

    #[inline]
    fn add_lanes(&self, row: usize, factors: [f64; 4], weights: &mut [[f64; 4]]) {
        let (columns, values) = self.entries(row);
        for (column, value) in columns.iter().zip(values) {
            if let Some(weights) = weights.get_mut(column.wrapped()) {
                let value = value.to_f64();
                (0..4).for_each(|lane| weights[lane] += factors[lane] * value);
            }
        }
    }

    fn first_not_finite(&self) -> Option<(usize, usize)> {
        let bounds = self.starts[0].wrapped()..self.starts[self.row_count()].wrapped();
        let is_bad = |value: &V| !value.to_f64().is_finite();
        // A look at all values of a part without a branch first.
        let has_any = |values: &&[V]| values.iter().fold(false, |any, v| any | is_bad(v));
        let part = self.values[bounds.clone()]
            .chunks(1024)
            .position(|part| has_any(&part))?;
        let first = bounds.start + 1024 * part;
        let entry = first + self.values[first..].iter().position(is_bad)?;
        let row = self
            .starts
            .partition_point(|start| start.wrapped() <= entry)
            - 1;
        Some((row, self.columns[entry].wrapped()))
    }

    fn as_csr(&self) -> Option<CsrView<'_>> {
        let arrays = V::csr_view(Csr {
            starts: P::as_i32(self.starts)?,
            columns: I::as_i32(self.columns)?,
            values: self.values,
            column_count: self.column_count,
        })?;
        Some(CsrView {
            arrays,
            order: None,
        })
    }

    #[inline]
    fn prefetch(&self, ahead: Ahead<'_>) {
        if let Some(row) = ahead.bounds {
            prefetch(self.starts, row);
        }
        if let Some(row) = ahead.entries {
            let start = self.starts[row].wrapped();
            for line in 0..2 {
                prefetch(self.columns, start + 16 * line);
                prefetch(self.values, start + 16 * line);
            }
        }
        if let Some(row) = ahead.weights {
            let (columns, _) = self.entries(row);
            for column in &columns[..columns.len().min(Ahead::MOST_WEIGHTS)] {
                prefetch(ahead.table, column.wrapped().wrapping_mul(ahead.lanes));
            }
        }
    }
}
