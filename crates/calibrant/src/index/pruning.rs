//! Which terms of a query can no longer bring a document into a list.

use crate::ranking::functions::PreparedFunction;

/// What the terms of a query can add to a score, the smallest gains first.
///
/// # Formula
/// A document with none of the query's terms but those of a set `S` scores at most
/// `Σ_t absent_t + Σ_{t in S} (present_t - absent_t)`. While that is below the worst score of a full list, documents that have only terms of
/// `S` need not be looked at: of the largest such `S`, postings are only read for documents that other terms have found.
///
/// # Reference
/// Turtle & Flood, Query evaluation: strategies and optimizations, Information Processing & Management 1995 (MaxScore).
#[derive(Debug)]
pub(super) struct TermGains {
    /// With the number of the term.
    gains: Vec<(f64, usize)>,
    /// What a document without any of the terms scores at most.
    without: f64,
}

impl TermGains {
    pub(super) fn new(function: &PreparedFunction) -> Self {
        let terms = 0..function.term_count();
        let mut gains: Vec<(f64, usize)> = terms
            .clone()
            .map(|term| {
                let (present, absent) = (function.most(term, true), function.most(term, false));
                ((present - absent).max(0.0), term)
            })
            .collect();
        gains.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Self {
            gains,
            without: terms.map(|term| function.most(term, false)).sum(),
        }
    }

    /// Unmarks the terms that documents have to be looked for with, where `floor` is the worst score of a full list.
    pub(super) fn unmark_needed(&self, floor: Option<f64>, needless: &mut [bool]) {
        let Some(floor) = floor else {
            needless.fill(false);
            return;
        };
        let mut most = self.without;
        for &(gain, term) in &self.gains {
            most += gain;
            // Sums in another order differ in their last digits.
            let sure = most + 1e-9 * (most.abs() + floor.abs()) < floor;
            if !sure {
                needless[term] = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::functions::{
        CollectionStatistics, QueryTerm, RetrievalFunction, TermStatistics,
    };

    fn needless(function: RetrievalFunction, floor: Option<f64>) -> Vec<bool> {
        let collection = CollectionStatistics {
            document_count: 1000,
            total_terms: 100_000,
        };
        let term = |df| QueryTerm {
            count: 1,
            statistics: TermStatistics {
                document_frequency: df,
                collection_frequency: 2 * df,
            },
        };
        let prepared = function.prepare(&collection, &[term(900), term(2), term(300)]);
        let mut marks = vec![true; 3];
        TermGains::new(&prepared).unmark_needed(floor, &mut marks);
        marks
    }

    #[test]
    fn common_terms_are_needless_once_a_list_is_good() {
        let bm25 = RetrievalFunction::bm25();
        assert_eq!(needless(bm25, None), [false; 3]);
        // By hand: ln(1 + 100.5/900.5) · 2.2 = 0.233, ln(1 + 700.5/300.5) · 2.2 = 2.65, ln(1 + 998.5/2.5) · 2.2 = 13.18.
        assert_eq!(needless(bm25, Some(0.2)), [false; 3]);
        assert_eq!(needless(bm25, Some(0.24)), [true, false, false]);
        assert_eq!(needless(bm25, Some(2.8)), [true, false, false]);
        assert_eq!(needless(bm25, Some(2.9)), [true, false, true]);
        assert_eq!(needless(bm25, Some(16.1)), [true; 3]);
        // Any count is possible, so nothing is sure.
        assert_eq!(needless(RetrievalFunction::TfIdf, Some(1e9)), [false; 3]);
    }
}
