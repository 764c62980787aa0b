//! Rows that somebody else holds.

use super::{CsrView, DenseView, SparseMatrix};

/// Rows of numbers, whoever holds them and however they are kept.
///
/// The two required methods are enough for all that learns and predicts. The provided ones say the same in another way, and whoever
/// has an array answers them from it: linear solvers and scorers then read rows where they are. Columns that
/// come twice in a row are added up everywhere.
pub trait RowSource: Sync {
    /// How many rows there are.
    fn row_count(&self) -> usize;

    /// Fills `entries` with the columns and values of a row, in any order. A column that comes twice is added up.
    fn row_into(&self, row: usize, entries: &mut Vec<(u32, f32)>);

    /// One more than the highest column of any row.
    fn column_count(&self) -> usize {
        let mut count = 0;
        for row in 0..self.row_count() {
            self.for_each_entry(row, &mut |column, _| count = count.max(column + 1));
        }
        count
    }

    /// How many numbers are kept, zeros that are kept included.
    fn entry_count(&self) -> usize {
        let mut count = 0;
        for row in 0..self.row_count() {
            self.for_each_entry(row, &mut |_, _| count += 1);
        }
        count
    }

    /// Tells the columns and values of a row, in any order.
    fn for_each_entry(&self, row: usize, each: &mut dyn FnMut(usize, f64)) {
        let mut entries = Vec::new();
        self.row_into(row, &mut entries);
        let entries = entries.into_iter();
        entries.for_each(|(column, value)| each(column as usize, f64::from(value)));
    }

    /// The sum of squares of a row.
    fn squared_norm(&self, row: usize) -> f64 {
        let mut entries = Vec::new();
        self.for_each_entry(row, &mut |column, value| entries.push((column, value)));
        summed_up(entries).map(|(_, value)| value * value).sum()
    }

    /// `Σ weight · value` over a row. Columns beyond the weights are unknown to them and add nothing.
    fn dot(&self, row: usize, weights: &[f64]) -> f64 {
        let mut sum = 0.0;
        self.for_each_entry(row, &mut |column, value| {
            sum += weights.get(column).map_or(0.0, |weight| weight * value);
        });
        sum
    }

    /// `weight += factor · value` over a row.
    fn add(&self, row: usize, factor: f64, weights: &mut [f64]) {
        self.for_each_entry(row, &mut |column, value| {
            if let Some(weight) = weights.get_mut(column) {
                *weight += factor * value;
            }
        });
    }

    /// [`Self::dot`] for four problems whose weights lie side by side.
    fn dot_lanes(&self, row: usize, weights: &[[f64; 4]]) -> [f64; 4] {
        let mut sums = [0.0; 4];
        self.for_each_entry(row, &mut |column, value| {
            if let Some(weights) = weights.get(column) {
                (0..4).for_each(|lane| sums[lane] += weights[lane] * value);
            }
        });
        sums
    }

    /// [`Self::add`] for four problems, each by its own factor.
    fn add_lanes(&self, row: usize, factors: [f64; 4], weights: &mut [[f64; 4]]) {
        self.for_each_entry(row, &mut |column, value| {
            if let Some(weights) = weights.get_mut(column) {
                (0..4).for_each(|lane| weights[lane] += factors[lane] * value);
            }
        });
    }

    /// Asks for what visits to come will need: a hint, and nothing depends on it.
    #[doc(hidden)]
    fn prefetch(&self, _ahead: Ahead<'_>) {}

    /// The rows as one block of numbers, where they are kept as one.
    fn as_dense(&self) -> Option<DenseView<'_>> {
        None
    }

    /// The rows as the arrays that most libraries keep sparse rows in, where they are in such arrays.
    #[doc(hidden)]
    fn as_csr(&self) -> Option<CsrView<'_>> {
        None
    }

    /// Row and column of the first value that is infinite or no number.
    fn first_not_finite(&self) -> Option<(usize, usize)> {
        (0..self.row_count()).find_map(|row| {
            let mut found = None;
            self.for_each_entry(row, &mut |column, value| {
                if !value.is_finite() && found.is_none() {
                    found = Some((row, column));
                }
            });
            found
        })
    }
}

/// Rows that will be visited soon, the later the less is known of where they lie.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Ahead<'a> {
    /// Whose begin and end will be asked for.
    pub bounds: Option<usize>,
    /// Whose entries will be asked for.
    pub entries: Option<usize>,
    /// Whose weights will be asked for.
    pub weights: Option<usize>,
    /// The weights of all columns.
    pub table: &'a [f64],
    /// How many a column has.
    pub lanes: usize,
}

impl Ahead<'_> {
    /// For so many columns of a row weights are asked for: those of a long row are on their way soon enough.
    pub(super) const MOST_WEIGHTS: usize = 32;
}

/// Fills `entries` with a row, each column once and in order, however its source has them.
pub(crate) fn tidy_row_into(rows: &dyn RowSource, row: usize, entries: &mut Vec<(u32, f32)>) {
    rows.row_into(row, entries);
    if entries.is_sorted_by(|a, b| a.0 < b.0) {
        return;
    }
    entries.sort_by_key(|&(column, _)| column);
    entries.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
}

/// Entries in the order of their columns, each column once.
pub(super) fn summed_up(mut entries: Vec<(usize, f64)>) -> impl Iterator<Item = (usize, f64)> {
    entries.sort_by_key(|&(column, _)| column);
    entries.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    entries.into_iter()
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

/// Rows in another order, or some of them.
#[derive(Clone, Copy)]
pub(crate) struct OrderedRows<'a> {
    rows: &'a dyn RowSource,
    order: &'a [u32],
    column_count: usize,
}

impl<'a> OrderedRows<'a> {
    /// The rows with these numbers.
    pub(crate) fn new(rows: &'a dyn RowSource, order: &'a [u32]) -> Self {
        Self {
            rows,
            order,
            column_count: rows.column_count(),
        }
    }

    #[inline]
    fn number(&self, row: usize) -> usize {
        self.order[row] as usize
    }
}

impl RowSource for OrderedRows<'_> {
    fn row_count(&self) -> usize {
        self.order.len()
    }

    fn row_into(&self, row: usize, entries: &mut Vec<(u32, f32)>) {
        self.rows.row_into(self.number(row), entries);
    }

    fn column_count(&self) -> usize {
        self.column_count
    }

    fn entry_count(&self) -> usize {
        self.rows.entry_count()
    }

    fn for_each_entry(&self, row: usize, each: &mut dyn FnMut(usize, f64)) {
        self.rows.for_each_entry(self.number(row), each);
    }

    fn squared_norm(&self, row: usize) -> f64 {
        self.rows.squared_norm(self.number(row))
    }

    fn dot(&self, row: usize, weights: &[f64]) -> f64 {
        self.rows.dot(self.number(row), weights)
    }

    fn add(&self, row: usize, factor: f64, weights: &mut [f64]) {
        self.rows.add(self.number(row), factor, weights);
    }

    fn dot_lanes(&self, row: usize, weights: &[[f64; 4]]) -> [f64; 4] {
        self.rows.dot_lanes(self.number(row), weights)
    }

    fn add_lanes(&self, row: usize, factors: [f64; 4], weights: &mut [[f64; 4]]) {
        self.rows.add_lanes(self.number(row), factors, weights);
    }

    fn prefetch(&self, ahead: Ahead<'_>) {
        self.rows.prefetch(Ahead {
            bounds: ahead.bounds.map(|row| self.number(row)),
            entries: ahead.entries.map(|row| self.number(row)),
            weights: ahead.weights.map(|row| self.number(row)),
            ..ahead
        });
    }

    fn as_csr(&self) -> Option<CsrView<'_>> {
        let view = self.rows.as_csr().filter(|view| view.order.is_none())?;
        Some(CsrView {
            order: Some(self.order),
            ..view
        })
    }

    fn as_dense(&self) -> Option<DenseView<'_>> {
        let view = self.rows.as_dense().filter(|view| view.order.is_none())?;
        Some(DenseView {
            row_count: self.order.len(),
            order: Some(self.order),
            ..view
        })
    }
}
