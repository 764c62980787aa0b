//! Rows as a model without a fold would see them.

use rayon::prelude::*;

use crate::corpus::Folds;
use crate::features::{
    FittedSideColumns, FittedWeighting, SideTable, SparseMatrix, WeightingSettings,
};

/// Turns counts into feature values, learning document frequencies from all documents or from all
/// but a fold.
///
/// A document that took part in deciding which terms are features, and how much they weigh, is not
/// quite unseen: all of its rare terms are features, while a new document's mostly are not. So a
/// fold is scored over the terms and weights that the other folds alone would have given.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoldRows<'a> {
    pub(super) counts: &'a SparseMatrix,
    pub(super) settings: WeightingSettings,
    /// Terms in fewer documents are no features.
    pub(super) min_documents: u32,
    pub(super) folds: &'a Folds,
    /// What stands beside the text.
    pub(super) side: Option<SideRows<'a>>,
}

/// Side columns of the training documents: what they hold, and what all of them together taught.
#[derive(Debug, Clone, Copy)]
pub(super) struct SideRows<'a> {
    pub(super) table: &'a SideTable,
    pub(super) fitted: &'a FittedSideColumns,
}

impl FoldRows<'_> {
    /// All documents, and the weighting they give.
    pub(super) fn whole(&self) -> (FittedWeighting, SparseMatrix) {
        let weighting = FittedWeighting::fit(self.settings, self.counts);
        let rows = weighting.apply(self.counts.clone());
        match self.side {
            None => (weighting, rows),
            Some(side) => (weighting, side.fitted.append_to(&rows, side.table)),
        }
    }

    /// All documents over what the others than this fold give; columns keep their numbers.
    pub(super) fn without(&self, fold: usize) -> SparseMatrix {
        let members: Vec<usize> = (0..self.counts.row_count())
            .filter(|&row| self.folds.of(row) != fold)
            .collect();
        let mut frequencies = vec![0u32; self.counts.column_count()];
        let mut total_length = 0.0;
        for &row in &members {
            let row = self.counts.row(row);
            row.columns()
                .iter()
                .for_each(|&column| frequencies[column as usize] += 1);
            total_length += row
                .values()
                .iter()
                .map(|&value| f64::from(value))
                .sum::<f64>();
        }
        let is_feature: Vec<bool> = frequencies
            .iter()
            .map(|&n| n >= self.min_documents)
            .collect();
        let weighting = FittedWeighting::from_parts(
            self.settings,
            members.len() as u64,
            total_length,
            frequencies,
        );
        let numbers: Vec<usize> = (0..self.counts.row_count()).collect();
        let parts: Vec<SparseMatrix> = numbers
            .par_chunks(1024)
            .map(|numbers| {
                let mut part = SparseMatrix::new(self.counts.column_count());
                let (mut columns, mut values) = (Vec::new(), Vec::new());
                for &number in numbers {
                    let row = self.counts.row(number);
                    columns.clear();
                    values.clear();
                    for (&column, &value) in row.columns().iter().zip(row.values()) {
                        if is_feature[column as usize] {
                            columns.push(column);
                            values.push(value);
                        }
                    }
                    weighting.apply_row(&columns, &mut values);
                    part.push_row(columns.iter().copied().zip(values.iter().copied()));
                }
                part
            })
            .collect();
        let rows = SparseMatrix::concatenated(self.counts.column_count(), parts);
        let Some(SideRows { table, fitted }) = self.side else {
            return rows;
        };
        fitted
            .relearned(table, |row| self.folds.of(row) != fold)
            .append_to(&rows, table)
    }

    /// The columns of the text alone: which of them tell classes apart can be asked of these.
    pub(super) fn text_of(&self, rows: &SparseMatrix) -> Option<SparseMatrix> {
        let text: Vec<u32> = (0..self.counts.column_count() as u32).collect();
        self.side.map(|_| rows.with_columns(&text))
    }

    /// The columns beside the text.
    pub(super) fn side_columns(&self) -> std::ops::Range<u32> {
        let first = self.counts.column_count() as u32;
        let count = self.side.map_or(0, |side| side.fitted.column_count());
        first..first + count as u32
    }

    /// Which columns are features without this fold.
    pub(super) fn features_without(&self, fold: usize) -> Vec<bool> {
        let mut frequencies = vec![0u32; self.counts.column_count()];
        for row in (0..self.counts.row_count()).filter(|&row| self.folds.of(row) != fold) {
            self.counts
                .row(row)
                .columns()
                .iter()
                .for_each(|&column| frequencies[column as usize] += 1);
        }
        frequencies
            .iter()
            .map(|&n| n >= self.min_documents)
            .collect()
    }
}
