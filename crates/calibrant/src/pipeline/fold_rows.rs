//! Rows as a model without a fold would see them.

use crate::features::{
    FittedSideColumns, FittedWeighting, SideTable, SparseMatrix, TermCounts, WeightingSettings,
};
use crate::parallel;
use crate::problem::Folds;

/// Turns counts into feature values, learning document frequencies from all documents or from all
/// but a fold.
///
/// A document that took part in deciding which terms are features, and how much they weigh, is not
/// quite unseen: all of its rare terms are features, while a new document's mostly are not. So a
/// fold is scored over the terms and weights that the other folds alone would have given.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoldRows<'a> {
    pub(super) counts: &'a TermCounts,
    pub(super) settings: WeightingSettings,
    /// Terms in fewer documents are not features.
    pub(super) min_documents: u32,
    pub(super) folds: &'a Folds,
    /// Rows that are not the first of their document count in no document frequency.
    pub(super) is_first: &'a [bool],
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
        let weighting = self.weighting(|_| true).1;
        let rows = weighting.apply(self.counts.to_rows());
        match self.side {
            None => (weighting, rows),
            Some(side) => (weighting, side.fitted.append_to(&rows, side.table)),
        }
    }

    /// All documents over what the others than this fold give; columns keep their numbers, and terms
    /// that are not features without the fold have no entries.
    pub(super) fn without(&self, fold: usize) -> SparseMatrix {
        let (is_feature, weighting) = self.weighting(|row| self.folds.of(row) != fold);
        let parts = parallel::map_ranges(self.counts.row_count(), 1024, |numbers| {
            let mut part = SparseMatrix::new(self.counts.column_count());
            let (mut columns, mut values) = (Vec::new(), Vec::new());
            for number in numbers {
                let is_kept = |column: u32| is_feature[column as usize];
                self.counts
                    .row_into(number, is_kept, &mut columns, &mut values);
                weighting.apply_row(&columns, &mut values);
                part.push_row(columns.iter().copied().zip(values.iter().copied()));
            }
            part
        });
        let rows = SparseMatrix::concatenated(self.counts.column_count(), parts);
        self.with_side_columns(rows, fold)
    }

    /// As [`Self::without`] for learners to whom an entry of zero is none: values alone are new, and
    /// where they stand is shared with the counts.
    pub(super) fn revalued_without(&self, fold: usize) -> SparseMatrix {
        let (is_feature, weighting) = self.weighting(|row| self.folds.of(row) != fold);
        let rows = self.counts.to_rows().map_rows(|columns, values| {
            for (&column, value) in columns.iter().zip(values.iter_mut()) {
                if !is_feature[column as usize] {
                    *value = 0.0;
                }
            }
            weighting.apply_row(columns, values);
        });
        self.with_side_columns(rows, fold)
    }

    /// Which columns are features to some of the rows, and how much they weigh.
    fn weighting(&self, takes_part: impl Fn(usize) -> bool) -> (Vec<bool>, FittedWeighting) {
        let mut frequencies = vec![0u32; self.counts.column_count()];
        let mut members = 0;
        let mut total_length = 0.0;
        let is_counted = |&row: &usize| self.is_first[row] && takes_part(row);
        for row in (0..self.counts.row_count()).filter(is_counted) {
            let columns = self.counts.columns_of(row).iter();
            columns.for_each(|&column| frequencies[column as usize] += 1);
            total_length += self.counts.total_of(row);
            members += 1;
        }
        let is_feature = frequencies
            .iter()
            .map(|&n| n >= self.min_documents)
            .collect();
        let weighting =
            FittedWeighting::from_parts(self.settings, members, total_length, frequencies);
        (is_feature, weighting)
    }

    fn with_side_columns(&self, rows: SparseMatrix, fold: usize) -> SparseMatrix {
        let Some(SideRows { table, fitted }) = self.side else {
            return rows;
        };
        fitted
            .relearned(table, |row| {
                self.is_first[row] && self.folds.of(row) != fold
            })
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
        let is_counted = |row: usize| self.is_first[row] && self.folds.of(row) != fold;
        let (frequencies, _) = self.counts.document_frequencies(is_counted);
        frequencies
            .iter()
            .map(|&n| n >= self.min_documents)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Weighting;
    use crate::numeric::Random;

    /// 300 short documents over 60 columns, some of which occur once or twice.
    fn counts() -> TermCounts {
        let mut random = Random::from_seed(8);
        let row = |_| {
            let entry = |column: u32, random: &mut Random| {
                let share = 1.0 / f64::from(1 + 3 * column);
                (random.uniform() < share).then(|| (column, 1.0 + random.below(3) as f32))
            };
            let columns = 0..60;
            columns
                .filter_map(|column| entry(column, &mut random))
                .collect()
        };
        SparseMatrix::from_rows(60, (0..300).map(row)).into()
    }

    #[test]
    fn values_over_shared_columns_are_those_of_rows_made_anew() {
        let counts = counts();
        let keys: Vec<u128> = (0..300).collect();
        let labels = (0..300).map(|row| [row % 2]).collect();
        let folds = Folds::stratified(&keys, &labels, 2, 5, 1).unwrap();
        let kinds = [
            Weighting::Binary,
            Weighting::Tf,
            Weighting::LogTf,
            Weighting::TfIdf,
            Weighting::LogTfIdf,
            Weighting::Bm25 { k1: 1.2, b: 0.75 },
        ];
        for (weighting, l2_norm) in kinds
            .into_iter()
            .flat_map(|kind| [(kind, true), (kind, false)])
        {
            let source = FoldRows {
                counts: &counts,
                settings: WeightingSettings { weighting, l2_norm },
                min_documents: 3,
                folds: &folds,
                is_first: &[true; 300],
                side: None,
            };
            for fold in 0..5 {
                let (anew, shared) = (source.without(fold), source.revalued_without(fold));
                assert!(anew.entry_count() < shared.entry_count(), "no term is rare");
                for (anew, shared) in anew.rows().zip(shared.rows()) {
                    let kept: Vec<(usize, f64)> = shared.entries().filter(|e| e.1 != 0.0).collect();
                    assert_eq!(kept, anew.entries().collect::<Vec<_>>());
                }
            }
        }
    }
}
