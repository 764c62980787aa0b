//! Why a document has its score.

use serde::Serialize;
use tantivy::DocId;

use super::error::IndexError;
use super::matches::for_each_of;
use super::query_terms::QueryTerms;
use super::search::SearchIndex;
use crate::ranking::functions::{
    BaseFunction, CollectionStatistics, DocumentStatistics, TermStatistics,
};

/// A score taken apart: the parts of the terms, added in their order, give it to the last bit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreExplanation {
    /// The document.
    pub id: String,
    /// The function's name.
    pub function: String,
    /// The score.
    pub score: f64,
    /// What each distinct term of the query brings, in the order of the query.
    pub parts: Vec<TermPart>,
    /// The document's lengths under the function's analysis.
    pub document: DocumentStatistics,
    /// The collection under the function's analysis.
    pub collection: CollectionStatistics,
}

/// What a term brings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermPart {
    /// The term, as the analysis made it.
    pub term: String,
    /// How often the query has it.
    pub query_count: u32,
    /// How often the document has it.
    pub frequency: u32,
    /// How common it is; zeros if no document has it, and then it is passed over.
    pub statistics: TermStatistics,
    /// What it adds to the score.
    pub part: f64,
}

impl SearchIndex {
    /// Takes the score of a document apart; `None` if the index has no such document. A document without any term
    /// of the query has a score, too, though a search does not find it.
    pub fn explain(
        &self,
        text: &str,
        function: &BaseFunction,
        id: &str,
    ) -> Result<Option<ScoreExplanation>, IndexError> {
        let Some(document) = self.find(id)? else {
            return Ok(None);
        };
        let query = QueryTerms::new(text, self.analysis(function.analysis))?;
        Ok(self.explain_all(&query, function, &[document])?.pop())
    }

    /// Takes the scores of several documents apart, whose numbers rise; postings are walked over once.
    pub(super) fn explain_all(
        &self,
        query: &QueryTerms,
        function: &BaseFunction,
        documents: &[DocId],
    ) -> Result<Vec<ScoreExplanation>, IndexError> {
        function.function.check()?;
        let index = self.analysis(function.analysis);
        let prepared = function.function.prepare(&index.collection, &query.terms);
        let mut explanations = Vec::with_capacity(documents.len());
        for_each_of(index, query, documents, |document, counts| {
            let statistics = index.document(document);
            let factors = prepared.factors(&statistics);
            let terms = query.terms.iter().enumerate();
            let parts: Vec<TermPart> = terms
                .map(|(number, term)| TermPart {
                    term: query.names[number].clone(),
                    query_count: term.count,
                    frequency: counts[number],
                    statistics: term.statistics,
                    part: prepared.part(number, counts[number], &factors),
                })
                .collect();
            explanations.push(ScoreExplanation {
                id: self.id(document).to_owned(),
                function: function.to_string(),
                score: parts.iter().fold(0.0, |sum, part| sum + part.part),
                parts,
                document: statistics,
                collection: index.collection,
            });
        })?;
        Ok(explanations)
    }
}
