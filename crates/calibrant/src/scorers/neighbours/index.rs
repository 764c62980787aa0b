//! Training rows of unit length, column by column and row by row.

use super::block::CommonBlock;
use super::lists::RoundedLists;
use crate::FitError;
use crate::features::SparseMatrix;
use crate::saved::Storage;
use crate::saved::{NamedTensor, TensorReader};
use crate::scorers::postings::{lists_follow_one_another, prefetch};

/// A column that no row uses.
pub(super) const UNUSED: u32 = u32::MAX;

/// An inverted index of rows, for searches by cosine.
///
/// Columns are numbered again by falling frequency: their *rank*. The commonest have the longest lists
/// and tell rows apart least; what a row has in them is kept a second time, as a short vector of
/// rounded numbers (`CommonBlock`), from which their part of a dot product follows to within a known error.
#[derive(Debug, Clone)]
pub struct NeighbourIndex {
    rank_of_column: Storage<u32>,
    lists: RoundedLists,
    row_starts: Storage<u64>,
    row_ranks: Storage<u32>,
    row_values: Storage<f32>,
    block: CommonBlock,
}

impl NeighbourIndex {
    /// Indexes the rows numbered in `members`; they get the numbers 0, 1, … in that order. Rows are
    /// brought to unit length; a row of zeros stays one, and is nobody's neighbour.
    pub fn build(rows: &SparseMatrix, members: &[u32]) -> Result<Self, FitError> {
        let mut frequencies = vec![0u32; rows.column_count()];
        for &member in members {
            let row = rows.row(member as usize);
            if !row.values().iter().all(|value| value.is_finite()) {
                return Err(FitError::Overflow);
            }
            for &column in row.columns() {
                frequencies[column as usize] += 1;
            }
        }
        let mut used: Vec<u32> = (0..rows.column_count() as u32)
            .filter(|&column| frequencies[column as usize] > 0)
            .collect();
        used.sort_by_key(|&column| std::cmp::Reverse(frequencies[column as usize]));
        let mut rank_of_column = vec![UNUSED; rows.column_count()];
        for (rank, &column) in used.iter().enumerate() {
            rank_of_column[column as usize] = rank as u32;
        }
        let ranked = rows
            .rearranged(members, &rank_of_column, used.len())
            .map_rows(|_, values| to_unit_length(values));

        let lists = RoundedLists::of(&ranked);
        let block = CommonBlock::of(&ranked);
        let (row_starts, row_ranks, row_values) = ranked.into_parts();
        Ok(Self {
            rank_of_column: Storage::Owned(rank_of_column),
            lists,
            row_starts: Storage::Owned(row_starts.into_iter().map(|start| start as u64).collect()),
            row_ranks: Storage::Owned(row_ranks),
            row_values: Storage::Owned(row_values),
            block,
        })
    }

    /// The numbers that a model file keeps.
    pub(super) fn tensors(&self) -> Vec<NamedTensor<'_>> {
        let mut tensors = vec![
            NamedTensor::vector("rank_of_column", &self.rank_of_column),
            NamedTensor::vector("row_starts", &self.row_starts),
            NamedTensor::vector("row_ranks", &self.row_ranks),
            NamedTensor::vector("row_values", &self.row_values),
        ];
        tensors.extend(self.lists.tensors());
        tensors.extend(self.block.tensors());
        tensors
    }

    /// From a model file; `None` unless its arrays fit together.
    pub(super) fn from_tensors(reader: &TensorReader<'_>) -> Option<Self> {
        let row_starts = reader.stored_vector::<u64>("row_starts")?;
        let row_count = row_starts.len().checked_sub(1)?;
        u32::try_from(row_count).ok()?;
        let rank_of_column = reader.stored_vector::<u32>("rank_of_column")?;
        let ranks = rank_of_column
            .iter()
            .filter(|&&rank| rank != UNUSED)
            .count();
        let index = Self {
            lists: RoundedLists::from_tensors(reader, row_count, ranks)?,
            rank_of_column,
            row_starts,
            row_ranks: reader.stored_vector("row_ranks")?,
            row_values: reader.stored_vector("row_values")?,
            block: CommonBlock::from_tensors(reader, row_count)?,
        };
        let lengths = (0..ranks).map(|rank| index.lists.length(rank));
        let entries = index.row_ranks.len();
        let fits = lengths.is_sorted_by(|a, b| a >= b)
            && index
                .rank_of_column
                .iter()
                .all(|&rank| rank == UNUSED || (rank as usize) < ranks)
            && lists_follow_one_another(&index.row_starts, entries, index.row_values.len())
            && index.row_ranks.iter().all(|&rank| (rank as usize) < ranks)
            && index.row_values.iter().all(|value| value.abs() <= 1.001);
        fits.then_some(index)
    }

    /// How many rows are indexed.
    pub fn row_count(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// How many columns the rows were given with.
    pub fn column_count(&self) -> usize {
        self.rank_of_column.len()
    }

    /// How many columns are used.
    pub fn rank_count(&self) -> usize {
        self.lists.rank_count()
    }

    /// The rank of a column, if any row uses it.
    #[inline]
    pub(super) fn rank(&self, column: usize) -> Option<u32> {
        self.rank_of_column
            .get(column)
            .copied()
            .filter(|&rank| rank != UNUSED)
    }

    pub(super) fn lists(&self) -> &RoundedLists {
        &self.lists
    }

    /// What rows have in the commonest ranks.
    pub(super) fn block(&self) -> &CommonBlock {
        &self.block
    }

    /// Asks the processor for the entries of a row.
    #[inline]
    pub(super) fn prefetch(&self, row: u32) {
        let start = self.row_starts[row as usize] as usize;
        // What follows comes by itself.
        for line in 0..6 {
            prefetch(&self.row_ranks, start + 16 * line);
            prefetch(&self.row_values, start + 16 * line);
        }
    }

    /// The entries of a row: ranks and values of unit length.
    #[inline]
    pub(super) fn entries(&self, row: u32) -> (&[u32], &[f32]) {
        let row = row as usize;
        let range = self.row_starts[row] as usize..self.row_starts[row + 1] as usize;
        (&self.row_ranks[range.clone()], &self.row_values[range])
    }
}

fn to_unit_length(values: &mut [f32]) {
    let squares = values.iter().map(|&v| f64::from(v) * f64::from(v));
    let norm = squares.sum::<f64>().sqrt();
    if norm > 0.0 {
        for value in values {
            *value = (f64::from(*value) / norm) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_follow_frequency_and_rows_have_unit_length() {
        let rows = SparseMatrix::from_rows(
            5,
            [
                vec![(1, 3.0), (4, 4.0)],
                vec![(4, -2.0)],
                vec![],
                vec![(3, 9.0)],
            ],
        );
        let index = NeighbourIndex::build(&rows, &[0, 1, 2]).unwrap();
        assert_eq!(
            (index.row_count(), index.column_count(), index.rank_count()),
            (3, 5, 2)
        );
        // Column 4 is used twice, column 1 once; column 3 only by a row that is left out.
        let ranks: Vec<_> = (0..6).map(|column| index.rank(column)).collect();
        assert_eq!(ranks, [None, Some(1), None, None, Some(0), None]);
        assert_eq!(index.entries(0), (&[0, 1][..], &[0.8, 0.6][..])); // by hand: 3, 4, 5
        assert_eq!(index.entries(1), (&[0][..], &[-1.0][..]));
        assert_eq!(index.entries(2), (&[][..], &[][..]));
    }

    #[test]
    fn numbers_beyond_all_bounds_are_refused() {
        let rows = SparseMatrix::from_rows(1, [vec![(0, f32::INFINITY)]]);
        assert_eq!(
            NeighbourIndex::build(&rows, &[0]).unwrap_err(),
            FitError::Overflow
        );
    }
}
