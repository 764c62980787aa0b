//! What was found, with what a person wants to see of it.

use serde::{Deserialize, Serialize};
use tantivy::DocId;

use super::error::IndexError;
use super::explain::ScoreExplanation;
use super::query_terms::QueryTerms;
use super::rank::ColumnPart;
use super::search::SearchIndex;
use super::snippet::{Snippet, SnippetTerms};
use crate::ranking::functions::{Analysis, BaseFunction};

/// What is shown of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DetailSettings {
    /// Words of its text; none for 0.
    pub snippet_words: usize,
    /// Whether its score is taken apart.
    pub explain: bool,
}

impl Default for DetailSettings {
    fn default() -> Self {
        Self {
            snippet_words: 30,
            explain: false,
        }
    }
}

/// A document that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchHit {
    /// Its place, from 1.
    pub rank: usize,
    /// Its identifier.
    pub id: String,
    /// How well it answers the query, by a retrieval function or a learned ranking.
    pub score: f64,
    /// The probability that it is relevant, by a learned ranking that has a curve for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// Its title, where the index has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The words that speak of the query, where the index has the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Snippet>,
    /// What the terms of the query add to the score of a retrieval function, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<ScoreExplanation>,
    /// What the columns add to the score of a learned ranking, in the order of the model's columns, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<ColumnPart>>,
}

/// What a person is shown of a document.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) title: Option<String>,
    pub(super) snippet: Option<Snippet>,
}

impl SearchIndex {
    /// As [`SearchIndex::search`], with what a person wants to see. The query is analysed once, and no document is looked up by its name.
    ///
    /// ```
    /// use calibrant::index::{DetailSettings, IndexBuilder, IndexDocument, IndexSettings, SearchIndex};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("fruit");
    /// let mut builder = IndexBuilder::create(&path, IndexSettings::default())?;
    /// for (id, text) in [("a", "green apples"), ("b", "ripe plums")] {
    ///     let (id, text) = (id.to_owned(), text.to_owned());
    ///     builder.add("fruit", IndexDocument { id, text, ..IndexDocument::default() })?;
    /// }
    /// builder.finish()?;
    /// let settings = DetailSettings { explain: true, ..DetailSettings::default() };
    /// let index = SearchIndex::open(&path)?;
    /// let hits = index.search_in_detail("plum", &"tf-idf.stems".parse()?, 10, settings)?;
    /// assert_eq!(hits[0].snippet.as_ref().map(|snippet| snippet.text.as_str()), Some("ripe plums"));
    /// assert_eq!(hits[0].explanation.as_ref().map(|why| why.score), Some(hits[0].score));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn search_in_detail(
        &self,
        text: &str,
        function: &BaseFunction,
        top: usize,
        settings: DetailSettings,
    ) -> Result<Vec<SearchHit>, IndexError> {
        let mut found = self.best(text, std::slice::from_ref(function), top)?;
        let found = found.pop().unwrap_or_default();
        let documents: Vec<DocId> = found.iter().map(|scored| scored.document).collect();
        let query = QueryTerms::new(text, self.analysis(function.analysis))?;
        let mut explanations = match settings.explain {
            true => self.explained(&query, function, &documents)?.into_iter(),
            false => Vec::new().into_iter(),
        };
        let words = settings.snippet_words;
        let shown = self.shown_by(&query, function.analysis, &documents, words)?;
        let hits = (1..).zip(found.iter().zip(shown));
        let hits = hits.map(|(rank, (scored, shown))| SearchHit {
            rank,
            id: self.id(scored.document).to_owned(),
            score: scored.score,
            probability: None,
            title: shown.title,
            snippet: shown.snippet,
            explanation: explanations.next(),
            parts: None,
        });
        Ok(hits.collect())
    }

    /// Explanations in the order of the documents.
    fn explained(
        &self,
        query: &QueryTerms,
        function: &BaseFunction,
        documents: &[DocId],
    ) -> Result<Vec<ScoreExplanation>, IndexError> {
        // Postings are walked over by rising number.
        let mut rising: Vec<(DocId, usize)> = documents.iter().copied().zip(0..).collect();
        rising.sort_unstable();
        let numbers: Vec<DocId> = rising.iter().map(|pair| pair.0).collect();
        let explanations = self.explain_all(query, function, &numbers)?;
        let mut placed: Vec<(usize, ScoreExplanation)> =
            rising.iter().map(|pair| pair.1).zip(explanations).collect();
        placed.sort_unstable_by_key(|pair| pair.0);
        Ok(placed.into_iter().map(|pair| pair.1).collect())
    }

    /// Title and snippet of each document.
    pub(super) fn shown(
        &self,
        text: &str,
        analysis: Analysis,
        documents: &[DocId],
        words: usize,
    ) -> Result<Vec<Shown>, IndexError> {
        let query = QueryTerms::new(text, self.analysis(analysis))?;
        self.shown_by(&query, analysis, documents, words)
    }

    fn shown_by(
        &self,
        query: &QueryTerms,
        analysis: Analysis,
        documents: &[DocId],
        words: usize,
    ) -> Result<Vec<Shown>, IndexError> {
        let terms = SnippetTerms::new(query, self.analysis(analysis), self.document_count());
        let show = |&document: &DocId| {
            let stored = self.stored_at(document)?;
            let text = stored.text.filter(|_| words > 0);
            Ok(Shown {
                title: stored.title,
                snippet: text.map(|text| terms.snippet(&text, words)),
            })
        };
        documents.iter().map(show).collect()
    }
}
