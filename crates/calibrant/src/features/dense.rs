//! A borrowed matrix whose rows hold every column.

use super::{CsrValue, RowSource};

/// Rows of numbers as NumPy and others keep a matrix: one after the other, every column in each.
///
/// ```
/// use calibrant::features::{DenseRows, RowSource};
/// // Three columns of which the first two are the matrix: rows begin three numbers apart.
/// let numbers = [1.0f32, 2.0, 9.0, 0.0, 4.0, 9.0];
/// let rows = DenseRows::with_stride(&numbers, 2, 2, 3)?;
/// assert_eq!(rows.dot(0, &[10.0, 1.0]), 12.0); // by hand: 1 · 10 + 2 · 1
/// assert_eq!(rows.squared_norm(1), 16.0);
/// assert!(DenseRows::new(&numbers, 4).is_err()); // six numbers are no rows of four
/// # Ok::<(), calibrant::features::DenseError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct DenseRows<'a, V> {
    values: &'a [V],
    row_count: usize,
    column_count: usize,
    stride: usize,
}

/// A value of a dense matrix: `f32` or `f64`.
pub trait DenseValue: CsrValue {
    /// Numbers of this type as one of the two that there are.
    fn view(values: &[Self]) -> DenseValues<'_>
    where
        Self: Sized;
}

impl DenseValue for f32 {
    fn view(values: &[Self]) -> DenseValues<'_> {
        DenseValues::Single(values)
    }
}

impl DenseValue for f64 {
    fn view(values: &[Self]) -> DenseValues<'_> {
        DenseValues::Double(values)
    }
}

/// The numbers of a dense matrix.
#[derive(Debug, Clone, Copy)]
pub enum DenseValues<'a> {
    /// Of four bytes.
    Single(&'a [f32]),
    /// Of eight bytes.
    Double(&'a [f64]),
}

/// A dense matrix, of whichever numbers.
#[derive(Debug, Clone, Copy)]
pub struct DenseView<'a> {
    /// All numbers.
    pub values: DenseValues<'a>,
    /// How many rows there are.
    pub row_count: usize,
    /// How many columns each has.
    pub column_count: usize,
    /// How far apart rows begin.
    pub stride: usize,
    /// Which row of the numbers each row is, where that is not its own number.
    pub order: Option<&'a [u32]>,
}

impl DenseView<'_> {
    /// Where a row begins.
    #[inline]
    pub(crate) fn offset(&self, row: usize) -> usize {
        let row = self.order.map_or(row, |order| order[row] as usize);
        row * self.stride
    }
}

/// Why numbers are not a dense matrix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DenseError {
    /// The numbers cannot be divided into rows.
    #[error("{values} numbers are no {rows} rows of {columns} columns that begin {stride} apart")]
    Shape {
        /// Numbers.
        values: usize,
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// From the begin of one row to the begin of the next.
        stride: usize,
    },
    /// A column number would be above 4294967294.
    #[error("{columns} columns are more than 4294967295")]
    TooWide {
        /// Columns.
        columns: usize,
    },
}

impl<'a, V: DenseValue> DenseRows<'a, V> {
    /// Rows that follow one another without a gap.
    pub fn new(values: &'a [V], column_count: usize) -> Result<Self, DenseError> {
        let row_count = values.len().checked_div(column_count).unwrap_or(0);
        if row_count * column_count != values.len() {
            return Err(DenseError::Shape {
                values: values.len(),
                rows: row_count,
                columns: column_count,
                stride: column_count,
            });
        }
        Self::with_stride(values, row_count, column_count, column_count)
    }

    /// Rows that begin `stride` numbers apart, of which the first `column_count` are theirs.
    pub fn with_stride(
        values: &'a [V],
        row_count: usize,
        column_count: usize,
        stride: usize,
    ) -> Result<Self, DenseError> {
        let needed = match row_count {
            0 => Some(0),
            rows => (rows - 1)
                .checked_mul(stride)
                .and_then(|before| before.checked_add(column_count)),
        };
        if stride < column_count || needed.is_none_or(|needed| needed > values.len()) {
            return Err(DenseError::Shape {
                values: values.len(),
                rows: row_count,
                columns: column_count,
                stride,
            });
        }
        if column_count > u32::MAX as usize {
            return Err(DenseError::TooWide {
                columns: column_count,
            });
        }
        Ok(Self {
            values,
            row_count,
            column_count,
            stride,
        })
    }

    #[inline]
    fn row(&self, row: usize) -> &'a [V] {
        assert!(row < self.row_count);
        &self.values[row * self.stride..][..self.column_count]
    }
}

impl<V: DenseValue> RowSource for DenseRows<'_, V> {
    fn row_count(&self) -> usize {
        self.row_count
    }

    fn row_into(&self, row: usize, entries: &mut Vec<(u32, f32)>) {
        entries.clear();
        let values = self.row(row).iter().map(|value| value.to_f32());
        // A zero is no entry, as in a sparse row that says the same.
        entries.extend((0..).zip(values).filter(|&(_, value)| value != 0.0));
    }

    fn column_count(&self) -> usize {
        self.column_count
    }

    fn entry_count(&self) -> usize {
        self.row_count * self.column_count
    }

    fn for_each_entry(&self, row: usize, each: &mut dyn FnMut(usize, f64)) {
        let values = self.row(row).iter().map(|value| value.to_f64());
        values
            .enumerate()
            .filter(|&(_, value)| value != 0.0)
            .for_each(|(column, value)| each(column, value));
    }

    fn squared_norm(&self, row: usize) -> f64 {
        let row = self.row(row);
        in_eight(row.iter().map(|value| value.to_f64().powi(2)))
    }

    fn dot(&self, row: usize, weights: &[f64]) -> f64 {
        let values = self.row(row).iter().zip(weights);
        in_eight(values.map(|(value, weight)| value.to_f64() * weight))
    }

    fn add(&self, row: usize, factor: f64, weights: &mut [f64]) {
        for (weight, value) in weights.iter_mut().zip(self.row(row)) {
            *weight += factor * value.to_f64();
        }
    }

    fn dot_lanes(&self, row: usize, weights: &[[f64; 4]]) -> [f64; 4] {
        let mut sums = [0.0; 4];
        for (weights, value) in weights.iter().zip(self.row(row)) {
            let value = value.to_f64();
            (0..4).for_each(|lane| sums[lane] += weights[lane] * value);
        }
        sums
    }

    fn add_lanes(&self, row: usize, factors: [f64; 4], weights: &mut [[f64; 4]]) {
        for (weights, value) in weights.iter_mut().zip(self.row(row)) {
            let value = value.to_f64();
            (0..4).for_each(|lane| weights[lane] += factors[lane] * value);
        }
    }

    fn as_dense(&self) -> Option<DenseView<'_>> {
        Some(DenseView {
            values: V::view(self.values),
            row_count: self.row_count,
            column_count: self.column_count,
            stride: self.stride,
            order: None,
        })
    }

    fn first_not_finite(&self) -> Option<(usize, usize)> {
        let is_bad = |value: &V| !value.to_f64().is_finite();
        // A look at the whole row without a branch first.
        let has_any = |row: &usize| self.row(*row).iter().fold(false, |any, v| any | is_bad(v));
        let row = (0..self.row_count).find(has_any)?;
        let column = self.row(row).iter().position(is_bad)?;
        Some((row, column))
    }
}

/// A sum in eight parts, so that an addition need not wait for the one before.
#[inline]
fn in_eight(mut numbers: impl ExactSizeIterator<Item = f64>) -> f64 {
    let mut sums = [0.0; 8];
    for _ in 0..numbers.len() / 8 {
        for sum in &mut sums {
            *sum += numbers.next().unwrap_or_default();
        }
    }
    for (sum, number) in sums.iter_mut().zip(numbers) {
        *sum += number;
    }
    sums.iter().sum()
}
