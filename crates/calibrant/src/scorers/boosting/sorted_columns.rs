//! The entries of each column in the order of their values, sorted once for all rounds.

use std::ops::Range;

use crate::FitError;
use crate::features::SparseMatrix;
use crate::parallel;

/// How many entries a thread looks through at a time. Fixed, so that the pieces and with them every sum are
/// the same for any number of threads.
const BLOCK: usize = 1 << 15;

/// The columns of some rows, each as one or two wings.
///
/// Absent entries are zero and take no memory. A stump's threshold lies on one side of zero, so the
/// rows beyond it, away from zero, are stored entries all of them; the zeros are among the rest, whose weight is the
/// total minus that of the stored. So negative values are read from the lowest up and positive ones from the
/// highest down, and a dense column without zeros is nothing special.
#[derive(Debug)]
pub(super) struct SortedColumns {
    row_count: usize,
    /// Rows, numbered by their place among the members, wing after wing, outermost value first.
    rows: Vec<u32>,
    /// Where a threshold may stand: after this many rows of the wing.
    cuts: Vec<u32>,
    /// The thresholds beside the cuts.
    thresholds: Vec<f64>,
    wings: Vec<Wing>,
    blocks: Vec<Range<usize>>,
}

/// The negative or the positive values of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Wing {
    pub(super) column: u32,
    /// Negative values: the part of a cut lies below its threshold.
    pub(super) part_is_below: bool,
    rows_start: usize,
    cuts_start: usize,
    cuts_end: usize,
}

impl SortedColumns {
    /// The columns of the rows numbered in `members`.
    pub(super) fn new(rows: &SparseMatrix, members: &[u32]) -> Result<Self, FitError> {
        let (starts, mut keys) = by_column(rows, members)?;
        let mut slices = Vec::with_capacity(starts.len());
        let mut rest = keys.as_mut_slice();
        for bounds in starts.windows(2) {
            let (slice, after) = std::mem::take(&mut rest).split_at_mut(bounds[1] - bounds[0]);
            slices.push(slice);
            rest = after;
        }
        parallel::map_chunks_mut(&mut slices, 64, |_, slices| {
            slices.iter_mut().for_each(|slice| slice.sort_unstable());
        });

        let mut columns = Self {
            row_count: members.len(),
            rows: Vec::with_capacity(keys.len()),
            cuts: Vec::new(),
            thresholds: Vec::new(),
            wings: Vec::new(),
            blocks: Vec::new(),
        };
        for (column, bounds) in starts.windows(2).enumerate() {
            columns.push_column(column as u32, &keys[bounds[0]..bounds[1]]);
        }
        columns.divide();
        Ok(columns)
    }

    fn push_column(&mut self, column: u32, keys: &[u64]) {
        let negatives = keys.partition_point(|&key| value_of(key) < 0.0);
        let (low, high) = keys.split_at(negatives);
        let has_zeros = keys.len() < self.row_count;
        let zero = has_zeros.then_some(0.0);
        // Where no row has a zero, the lowest positive value is the negatives' neighbour, and the cut
        // between them is the negative wing's.
        let beside_low = zero.or(high.last().map(|&key| value_of(key)));
        self.push_wing(column, true, low, beside_low);
        self.push_wing(column, false, high, zero);
    }

    /// Appends a wing; `inner` is the value beside its innermost one, if there is any.
    fn push_wing(&mut self, column: u32, part_is_below: bool, keys: &[u64], inner: Option<f64>) {
        let (rows_start, cuts_start) = (self.rows.len(), self.cuts.len());
        for (place, &key) in keys.iter().enumerate() {
            let value = value_of(key);
            let next = keys.get(place + 1).map(|&key| value_of(key)).or(inner);
            if let Some(next) = next.filter(|&next| next != value) {
                self.cuts.push(place as u32 + 1);
                self.thresholds.push(value + (next - value) / 2.0);
            }
        }
        if let Some(&last) = self.cuts[cuts_start..].last() {
            let reached = &keys[..last as usize];
            self.rows.extend(reached.iter().map(|&key| key as u32));
            self.wings.push(Wing {
                column,
                part_is_below,
                rows_start,
                cuts_start,
                cuts_end: self.cuts.len(),
            });
        }
    }

    /// Cuts the wings into blocks of about equal work.
    fn divide(&mut self) {
        let mut first = 0;
        for wing in 0..self.wings.len() {
            let end = (self.wings.get(wing + 1)).map_or(self.rows.len(), |next| next.rows_start);
            if end - self.wings[first].rows_start >= BLOCK || wing + 1 == self.wings.len() {
                self.blocks.push(first..wing + 1);
                first = wing + 1;
            }
        }
    }

    /// How many rows there are.
    pub(super) fn row_count(&self) -> usize {
        self.row_count
    }

    /// Wings that are looked through together.
    pub(super) fn blocks(&self) -> &[Range<usize>] {
        &self.blocks
    }

    /// The wing with this number.
    pub(super) fn wing(&self, wing: usize) -> Wing {
        self.wings[wing]
    }

    /// The rows of a wing, up to its last cut, and its cuts.
    #[inline]
    pub(super) fn rows_and_cuts(&self, wing: Wing) -> (&[u32], &[u32]) {
        let cuts = &self.cuts[wing.cuts_start..wing.cuts_end];
        let length = cuts.last().map_or(0, |&end| end as usize);
        (&self.rows[wing.rows_start..][..length], cuts)
    }

    /// The threshold of a cut, and the rows beyond it.
    pub(super) fn cut(&self, wing: Wing, cut: usize) -> (f64, &[u32]) {
        let place = wing.cuts_start + cut;
        let length = self.cuts[place] as usize;
        (
            self.thresholds[place],
            &self.rows[wing.rows_start..][..length],
        )
    }
}

/// Where each column's keys begin, and the keys of all columns one after the other.
fn by_column(rows: &SparseMatrix, members: &[u32]) -> Result<(Vec<usize>, Vec<u64>), FitError> {
    let entries = |&row: &u32| {
        let row = rows.row(row as usize);
        // A zero that is stored is as good as one that is not.
        let stored = row.columns().iter().copied().zip(row.values().iter());
        stored.filter(|&(_, &value)| value != 0.0)
    };
    let mut starts = vec![0usize; rows.column_count() + 1];
    for (column, value) in members.iter().flat_map(entries) {
        if !value.is_finite() {
            return Err(FitError::Overflow);
        }
        starts[column as usize + 1] += 1;
    }
    for column in 0..rows.column_count() {
        starts[column + 1] += starts[column];
    }
    let mut next = starts.clone();
    let mut keys = vec![0u64; starts[rows.column_count()]];
    for (place, member) in members.iter().enumerate() {
        for (column, &value) in entries(member) {
            let slot = &mut next[column as usize];
            keys[*slot] = key_of(value, place as u32);
            *slot += 1;
        }
    }
    Ok((starts, keys))
}

const MAGNITUDE: u32 = 0x7fff_ffff;

/// A number that sorts entries: negative values from the lowest, then positive ones from the highest,
/// rows of equal value in their order. Either way the larger magnitude comes first.
fn key_of(value: f32, row: u32) -> u64 {
    let bits = value.to_bits();
    let wing = if value > 0.0 { MAGNITUDE + 1 } else { 0 };
    let order = wing | (MAGNITUDE - (bits & MAGNITUDE));
    u64::from(order) << 32 | u64::from(row)
}

/// The value in a key.
fn value_of(key: u64) -> f64 {
    let order = (key >> 32) as u32;
    let magnitude = f64::from(f32::from_bits(MAGNITUDE - (order & MAGNITUDE)));
    if order > MAGNITUDE {
        magnitude
    } else {
        -magnitude
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every threshold of a column with the rows beyond it, worked out from the values.
    fn thresholds_of(values: &[f32]) -> Vec<f64> {
        let mut distinct: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let middle = |pair: &[f64]| (pair[0] + pair[1]) / 2.0;
        distinct.windows(2).map(middle).collect()
    }

    proptest! {
        #[test]
        fn every_gap_between_values_is_cut_once(
            values in prop::collection::vec(prop::sample::select(vec![-3.0f32, -1.5, -0.5, 0.0, 0.25, 1.0, 4.0]), 0..12),
        ) {
            let rows = SparseMatrix::from_rows(1, values.iter().map(|&value| {
                if value == 0.0 { vec![] } else { vec![(0, value)] }
            }));
            let members: Vec<u32> = (0..values.len() as u32).collect();
            let columns = SortedColumns::new(&rows, &members).unwrap();
            let mut found = Vec::new();
            for wing in columns.blocks().iter().cloned().flatten() {
                let wing = columns.wing(wing);
                for cut in 0..columns.rows_and_cuts(wing).1.len() {
                    let (threshold, part) = columns.cut(wing, cut);
                    found.push(threshold);
                    for (row, &value) in values.iter().enumerate() {
                        let below = f64::from(value) <= threshold;
                        prop_assert_eq!(part.contains(&(row as u32)), below == wing.part_is_below);
                    }
                }
            }
            found.sort_by(f64::total_cmp);
            prop_assert_eq!(found, thresholds_of(&values));
        }

        #[test]
        fn a_key_keeps_its_value(value in prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL) {
            prop_assert_eq!(value_of(key_of(value, 7)), f64::from(value));
        }
    }

    #[test]
    fn blocks_cover_all_wings_in_order() {
        let many = (0..3 * BLOCK).map(|row| vec![(row as u32 % 7, 1.0 + (row % 50) as f32)]);
        let rows = SparseMatrix::from_rows(7, many);
        let members: Vec<u32> = (0..rows.row_count() as u32).collect();
        let columns = SortedColumns::new(&rows, &members).unwrap();
        assert!(columns.blocks().len() > 1);
        let covered: Vec<usize> = columns.blocks().iter().cloned().flatten().collect();
        assert_eq!(covered, (0..7).collect::<Vec<_>>());
    }
}
