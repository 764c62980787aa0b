//! The distinct terms of a query, and what the index knows of them.

use hashbrown::HashMap;
use tantivy::postings::TermInfo;

use super::error::IndexError;
use super::search::AnalysisIndex;
use crate::ranking::functions::{QueryTerm, TermStatistics};

/// A query under one analysis.
#[derive(Debug, Clone)]
pub(super) struct QueryTerms {
    /// In the order of their first appearance.
    pub(super) names: Vec<String>,
    pub(super) terms: Vec<QueryTerm>,
    /// Where the postings are; `None` for a term that no document has.
    pub(super) infos: Vec<Option<TermInfo>>,
}

impl QueryTerms {
    pub(super) fn new(text: &str, index: &AnalysisIndex) -> Result<Self, IndexError> {
        let look_up = IndexError::engine("look up a term");
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut counts: Vec<(String, u32)> = Vec::new();
        let mut buffers = Default::default();
        index
            .analyzer
            .for_each_term(text, &mut buffers, |term| match places.get(term) {
                Some(&place) => counts[place].1 = counts[place].1.saturating_add(1),
                None => {
                    places.insert(term.to_owned(), counts.len());
                    counts.push((term.to_owned(), 1));
                }
            });
        let mut found = Self {
            names: Vec::with_capacity(counts.len()),
            terms: Vec::with_capacity(counts.len()),
            infos: Vec::with_capacity(counts.len()),
        };
        let dictionary = index.inverted.terms();
        for (name, count) in counts {
            let ordinal = dictionary.term_ord(&name).map_err(&look_up)?;
            let info = dictionary.get(&name).map_err(&look_up)?;
            let statistics = TermStatistics {
                document_frequency: info.as_ref().map_or(0, |info| u64::from(info.doc_freq)),
                collection_frequency: ordinal
                    .map_or(0, |ordinal| index.collection_frequencies.get(ordinal)),
            };
            found.names.push(name);
            found.terms.push(QueryTerm { count, statistics });
            found.infos.push(info);
        }
        Ok(found)
    }
}
