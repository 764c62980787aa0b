//! Which rows use a rank, in four bytes per entry.

use crate::features::SparseMatrix;
use crate::saved::Storage;
use crate::saved::{NamedTensor, TensorReader};
use crate::scorers::postings::{lists_follow_one_another, prefetch};

/// Rows of one piece: as many as half of an entry can number.
pub(super) const PIECE: usize = 1 << 16;
/// The whole numbers that 1 is divided into.
const STEPS: f32 = 32_000.0;

/// For every rank the rows that use it, with rounded values: an inverted index for rows of unit length.
///
/// An entry is the number of the row (the low half) and its value in steps of 1/32,000 (the high half). Lists are read
/// at the speed of memory, so half the bytes are half the time. Rows come in pieces of 65,536, each with
/// lists of its own, whose sums stay in the cache.
#[derive(Debug, Clone)]
pub(super) struct RoundedLists {
    /// Where each list begins, piece after piece and rank after rank, and where the last one ends.
    starts: Storage<u64>,
    entries: Storage<u32>,
    rank_count: usize,
}

impl RoundedLists {
    /// No value is further off than this.
    pub(super) const ERROR: f32 = 0.5001 / STEPS;

    /// Every entry of rows of unit length.
    pub(super) fn of(ranked: &SparseMatrix) -> Self {
        let rank_count = ranked.column_count();
        let piece_count = pieces(ranked.row_count());
        let mut starts = vec![0u64; piece_count * rank_count + 1];
        let list = |row: usize, rank: u32| row / PIECE * rank_count + rank as usize;
        for (number, row) in ranked.rows().enumerate() {
            for &rank in row.columns() {
                starts[list(number, rank) + 1] += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut entries = vec![0u32; ranked.entry_count()];
        for (number, row) in ranked.rows().enumerate() {
            for (&rank, &value) in row.columns().iter().zip(row.values()) {
                let place = &mut next[list(number, rank)];
                entries[*place as usize] = packed(number % PIECE, value);
                *place += 1;
            }
        }
        Self {
            starts: Storage::Owned(starts),
            entries: Storage::Owned(entries),
            rank_count,
        }
    }

    /// The numbers that a model file keeps.
    pub(super) fn tensors(&self) -> [NamedTensor<'_>; 2] {
        [
            NamedTensor::vector("list_starts", &self.starts),
            NamedTensor::vector("list_entries", &self.entries),
        ]
    }

    /// From a model file; `None` unless its arrays fit together: lists follow one another, row
    /// numbers rise within a list and are those of rows.
    pub(super) fn from_tensors(
        reader: &TensorReader<'_>,
        row_count: usize,
        rank_count: usize,
    ) -> Option<Self> {
        let starts = reader.stored_vector::<u64>("list_starts")?;
        let entries = reader.stored_vector::<u32>("list_entries")?;
        let list_count = pieces(row_count).checked_mul(rank_count)?;
        let fits = starts.len() == list_count.checked_add(1)?
            && lists_follow_one_another(&starts, entries.len(), entries.len());
        fits.then_some(())?;
        for (number, bounds) in starts.windows(2).enumerate() {
            let list = entries.get(bounds[0] as usize..bounds[1] as usize)?;
            let rows_of_piece = row_count - number / rank_count * PIECE;
            let rising = list.is_sorted_by(|a, b| row_of(*a) < row_of(*b));
            let inside = list.last().is_none_or(|&last| row_of(last) < rows_of_piece);
            (rising && inside).then_some(())?;
        }
        Some(Self {
            starts,
            entries,
            rank_count,
        })
    }

    pub(super) fn rank_count(&self) -> usize {
        self.rank_count
    }

    /// How many rows use a rank.
    pub(super) fn length(&self, rank: usize) -> usize {
        let piece_starts = (0..self.starts.len() - 1).step_by(self.rank_count.max(1));
        piece_starts
            .map(|first| (self.starts[first + rank + 1] - self.starts[first + rank]) as usize)
            .sum()
    }

    /// Asks the processor for the beginning of a list.
    #[inline]
    pub(super) fn prefetch(&self, piece: usize, rank: u32) {
        if let Some(&start) = self.starts.get(piece * self.rank_count + rank as usize) {
            prefetch(&self.entries, start as usize);
        }
    }

    /// Adds `value` times what the rows of a piece have in a rank to their sums; tells how many there are.
    #[inline]
    pub(super) fn add(
        &self,
        piece: usize,
        rank: u32,
        value: f32,
        sums: &mut [f32; PIECE],
    ) -> usize {
        let place = piece * self.rank_count + rank as usize;
        let range = self.starts[place] as usize..self.starts[place + 1] as usize;
        let list = &self.entries[range];
        let value = value / STEPS;
        for &entry in list {
            sums[row_of(entry)] += value * ((entry as i32) >> 16) as f32;
        }
        list.len()
    }
}

/// How many pieces so many rows make.
pub(super) fn pieces(row_count: usize) -> usize {
    row_count.div_ceil(PIECE)
}

fn packed(row: usize, value: f32) -> u32 {
    let steps = (value * STEPS).round() as i16;
    row as u32 | u32::from(steps as u16) << 16
}

#[inline]
fn row_of(entry: u32) -> usize {
    (entry & 0xffff) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_any_sign_are_added_within_the_stated_error() {
        let rows = SparseMatrix::from_rows(
            3,
            [
                vec![(0, 0.6), (2, -0.8)],
                vec![],
                vec![(2, 1.0)],
                vec![(0, -1.0)],
            ],
        );
        let lists = RoundedLists::of(&rows);
        let mut sums: Box<[f32; PIECE]> = vec![0.0; PIECE].try_into().unwrap();
        assert_eq!(lists.add(0, 2, 0.5, &mut sums), 2);
        assert_eq!(lists.add(0, 1, 0.5, &mut sums), 0);
        assert_eq!(lists.add(0, 0, -0.25, &mut sums), 2);
        let by_hand = [-0.55, 0.0, 0.5, 0.25];
        for (sum, exact) in sums.iter().zip(by_hand) {
            assert!((sum - exact).abs() <= RoundedLists::ERROR, "{sum} {exact}");
        }
        assert_eq!(
            (lists.length(0), lists.length(1), lists.length(2)),
            (2, 0, 2)
        );
    }

    #[test]
    fn rows_beyond_a_piece_have_lists_of_their_own() {
        let count = PIECE + 3;
        let rows = SparseMatrix::from_rows(1, (0..count).map(|_| vec![(0, 1.0)]));
        let lists = RoundedLists::of(&rows);
        assert_eq!(lists.length(0), count);
        let mut sums: Box<[f32; PIECE]> = vec![0.0; PIECE].try_into().unwrap();
        assert_eq!(lists.add(1, 0, 1.0, &mut sums), 3);
        assert_eq!(sums.iter().filter(|sum| **sum > 0.5).count(), 3);
        assert_eq!(lists.add(0, 0, 1.0, &mut sums), PIECE);
        assert!((sums[2] - 2.0).abs() < 1e-6 && (sums[3] - 1.0).abs() < 1e-6);
    }
}
