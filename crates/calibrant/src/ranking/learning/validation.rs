//! How good a ranking is on queries that were not learned from, to choose settings by.

use std::ops::Range;

use crate::corpus::RankingTable;
use crate::evaluation::ranking::average_precision_at;
use crate::numeric::order_bits;

/// The average precision of one query's documents by falling score, equal scores in the order of the table; zero
/// where none is relevant.
///
/// ```
/// use calibrant::ranking::learning::average_precision;
/// // By hand: relevant documents at ranks 1 and 3, (1/1 + 2/3) / 2.
/// assert!((average_precision(&[0.9, 0.5, 0.1], &[1, 0, 2], 1) - 5.0 / 6.0).abs() < 1e-15);
/// ```
pub fn average_precision(scores: &[f64], grades: &[i32], relevant_from: i32) -> f64 {
    let mut order: Vec<(u64, usize)> = scores
        .iter()
        .enumerate()
        .map(|(place, &score)| (!order_bits(score), place))
        .collect();
    order.sort_unstable();
    let ranked = order.iter().enumerate();
    let found = ranked.filter(|(_, (_, place))| grades[*place] >= relevant_from);
    let relevant = grades.iter().filter(|&&grade| grade >= relevant_from);
    average_precision_at(found.map(|(rank, _)| rank), relevant.count())
}

/// Sums of average precisions over queries, as LETOR counts: a query without relevant documents counts as zero, and relevant documents that the
/// table does not list do not count. (trec_eval counts them as missed: `rank evaluate` against judgements says less where there are such.)
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PrecisionSum {
    pub(super) sum: f64,
    pub(super) queries: usize,
    /// Queries with a relevant document.
    pub(super) with_relevant: usize,
}

impl PrecisionSum {
    pub(super) fn add_table(&mut self, table: &RankingTable, scores: &[f64], relevant_from: i32) {
        for query in table.queries() {
            let rows: Range<usize> = query.rows.clone();
            let grades = &table.grades()[rows.clone()];
            self.sum += average_precision(&scores[rows], grades, relevant_from);
            self.queries += 1;
            let relevant = grades.iter().any(|&grade| grade >= relevant_from);
            self.with_relevant += usize::from(relevant);
        }
    }

    pub(super) fn mean(&self) -> f64 {
        self.sum / self.queries.max(1) as f64
    }
}
