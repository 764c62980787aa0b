//! Training rows of unit length, column by column and row by row.

use super::block::CommonBlock;
use crate::FitError;
use crate::features::SparseMatrix;
use crate::scorers::Storage;
use crate::scorers::postings::{Postings, lists_follow_one_another};

/// A column that no row uses.
pub(super) const UNUSED: u32 = u32::MAX;

/// An inverted index of rows, for searches by cosine.
///
/// Columns are numbered anew by falling frequency: their *rank*. The commonest have the longest lists
/// and tell rows apart least; what a row has in them is kept a second time, as a short vector of
/// rounded numbers ([`CommonBlock`]), from which their part of a dot product follows to within a known error.
#[derive(Debug, Clone)]
pub struct NeighbourIndex {
    rank_of_column: Storage<u32>,
    postings: Postings,
    row_starts: Storage<u64>,
    row_ranks: Storage<u32>,
    row_values: Storage<f32>,
    block: CommonBlock,
}

/// The arrays of an index, as a model file keeps them.
#[derive(Debug, Clone)]
pub struct IndexParts {
    /// The rank of each column, `u32::MAX` where no row uses it.
    pub rank_of_column: Storage<u32>,
    /// Where each rank's list of rows begins.
    pub posting_starts: Storage<u64>,
    /// The rows of each list.
    pub posting_rows: Storage<u32>,
    /// Their values.
    pub posting_values: Storage<f32>,
    /// Where each row's entries begin.
    pub row_starts: Storage<u64>,
    /// Their ranks.
    pub row_ranks: Storage<u32>,
    /// Their values.
    pub row_values: Storage<f32>,
    /// Every row's part in the commonest ranks, rounded.
    pub block_rows: Storage<i8>,
    /// What the rounded numbers of each of those ranks are multiples of.
    pub block_scales: Storage<f32>,
    /// The length of that part of every row.
    pub block_norms: Storage<f32>,
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

        let postings = Postings::of(&ranked);
        let block = CommonBlock::of(&ranked);
        let (row_starts, row_ranks, row_values) = ranked.into_parts();
        Ok(Self {
            rank_of_column: Storage::Owned(rank_of_column),
            postings,
            row_starts: Storage::Owned(row_starts.into_iter().map(|start| start as u64).collect()),
            row_ranks: Storage::Owned(row_ranks),
            row_values: Storage::Owned(row_values),
            block,
        })
    }

    /// From the arrays of a model file; `None` unless they fit together.
    pub fn from_parts(parts: IndexParts) -> Option<Self> {
        let row_count = parts.row_starts.len().checked_sub(1)?;
        u32::try_from(row_count).ok()?;
        let postings = Postings::from_parts(
            parts.posting_starts,
            parts.posting_rows,
            parts.posting_values,
            row_count,
        )?;
        let ranks = postings.column_count();
        let falling = (1..ranks).all(|rank| postings.length(rank - 1) >= postings.length(rank));
        let known = |&rank: &u32| rank == UNUSED || (rank as usize) < ranks;
        let fits = falling
            && parts.rank_of_column.iter().all(known)
            && lists_follow_one_another(
                &parts.row_starts,
                parts.row_ranks.len(),
                parts.row_values.len(),
            )
            && parts.row_ranks.iter().all(|&rank| (rank as usize) < ranks)
            && parts.row_values.iter().all(|value| value.abs() <= 1.001);
        let block = CommonBlock::from_parts(
            parts.block_rows,
            parts.block_scales,
            parts.block_norms,
            row_count,
        )?;
        fits.then_some(Self {
            rank_of_column: parts.rank_of_column,
            postings,
            row_starts: parts.row_starts,
            row_ranks: parts.row_ranks,
            row_values: parts.row_values,
            block,
        })
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
        self.postings.column_count()
    }

    /// The rank of a column, if any row uses it.
    #[inline]
    pub(super) fn rank(&self, column: usize) -> Option<u32> {
        self.rank_of_column
            .get(column)
            .copied()
            .filter(|&rank| rank != UNUSED)
    }

    pub(super) fn postings(&self) -> &Postings {
        &self.postings
    }

    /// What rows have in the commonest ranks.
    pub(super) fn block(&self) -> &CommonBlock {
        &self.block
    }

    /// The entries of a row: ranks and values of unit length.
    #[inline]
    pub(super) fn entries(&self, row: u32) -> (&[u32], &[f32]) {
        let row = row as usize;
        let range = self.row_starts[row] as usize..self.row_starts[row + 1] as usize;
        (&self.row_ranks[range.clone()], &self.row_values[range])
    }

    /// The arrays with their names in a model file.
    pub(super) fn arrays(&self) -> [(&'static str, Array<'_>); 10] {
        let (block_rows, block_scales, block_norms) = self.block.parts();
        let (posting_starts, posting_rows, posting_values) = self.postings.parts();
        [
            ("rank_of_column", Array::U32(&self.rank_of_column)),
            ("posting_starts", Array::U64(posting_starts)),
            ("posting_rows", Array::U32(posting_rows)),
            ("posting_values", Array::F32(posting_values)),
            ("row_starts", Array::U64(&self.row_starts)),
            ("row_ranks", Array::U32(&self.row_ranks)),
            ("row_values", Array::F32(&self.row_values)),
            ("block_rows", Array::I8(block_rows)),
            ("block_scales", Array::F32(block_scales)),
            ("block_norms", Array::F32(block_norms)),
        ]
    }
}

/// Numbers of one of the kinds that an index is made of.
pub(super) enum Array<'a> {
    U32(&'a [u32]),
    U64(&'a [u64]),
    F32(&'a [f32]),
    I8(&'a [i8]),
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
            [vec![(1, 3.0), (4, 4.0)], vec![(4, -2.0)], vec![], vec![(3, 9.0)]],
        );
        let index = NeighbourIndex::build(&rows, &[0, 1, 2]).unwrap();
        assert_eq!((index.row_count(), index.column_count(), index.rank_count()), (3, 5, 2));
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
        assert_eq!(NeighbourIndex::build(&rows, &[0]).unwrap_err(), FitError::Overflow);
    }
}
