//! What is asked of an index: documents for one query or many, runs, and tables to learn rankings from.

use serde::{Deserialize, Serialize};

use crate::Progress;
use crate::corpus::{
    JudgedShare, Qrels, Query, RankingTable, Run, RunBuilder, RunProblem, Unjudged,
    check_identifier,
};
use crate::index::{DetailSettings, IndexError, SearchIndex, retrieval_columns};
use crate::parallel;
use crate::progress::Stage;
use crate::ranking::functions::BaseFunction;
use crate::ranking::learning::{RankModel, unlisted_relevant};

#[doc(no_inline)]
pub use crate::index::SearchHit;

/// What documents are ranked by.
#[derive(Debug, Clone, Copy)]
pub enum SearchBy<'a> {
    /// A retrieval function.
    Function(BaseFunction),
    /// A learned ranking of the documents that one of its functions has among its best `depth`.
    Model {
        /// The model, whose columns are retrieval functions.
        model: &'a RankModel,
        /// How many documents of each function are ranked.
        depth: usize,
    },
}

impl SearchBy<'_> {
    /// How many documents of each function are ranked by a model, unless told otherwise: as `search --features` has it.
    pub const DEPTH: usize = 1000;

    /// Whether an index can do it.
    pub fn check(&self) -> Result<(), IndexError> {
        match self {
            Self::Function(function) => Ok(function.function.check()?),
            Self::Model { model, .. } => retrieval_columns(model).map(|_| ()),
        }
    }
}

/// What is wanted of each query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchSettings {
    /// How many documents.
    pub top: usize,
    /// What is shown of them.
    pub detail: DetailSettings,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            top: 10,
            detail: DetailSettings::default(),
        }
    }
}

/// The answer to one query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchAnswer {
    /// What the query is called, where it is one of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The query.
    pub query: String,
    /// The retrieval function, where documents are ranked by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// How many documents the index has.
    pub documents: u64,
    /// What was found, the best first.
    pub hits: Vec<SearchHit>,
}

/// Why a search gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The index could not do it.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The lists cannot be written as a run.
    #[error(transparent)]
    Run(#[from] RunProblem),
    /// The model has no curve from scores to probabilities.
    #[error("the model has no probabilities of relevance")]
    NoProbabilities,
    /// Nobody judged anything that was found.
    #[error("no document that was found is judged")]
    NothingJudged,
}

/// Queries that are answered before their answers are handed on.
const QUERIES_AT_ONCE: usize = 256;

/// Answers one query.
pub fn search(
    index: &SearchIndex,
    query: &str,
    by: SearchBy<'_>,
    settings: SearchSettings,
) -> Result<SearchAnswer, IndexError> {
    let SearchSettings { top, detail } = settings;
    let (function, hits) = match by {
        SearchBy::Function(function) => {
            let hits = index.search_in_detail(query, &function, top, detail)?;
            (Some(function.to_string()), hits)
        }
        SearchBy::Model { model, depth } => {
            let hits = index.rank_in_detail(query, model, depth, top, detail)?;
            (None, hits)
        }
    };
    Ok(SearchAnswer {
        id: None,
        query: query.to_owned(),
        function,
        documents: index.document_count(),
        hits,
    })
}

/// Answers many queries on all threads and hands the answers on in the order of the queries.
pub fn search_all<E: From<IndexError>>(
    index: &SearchIndex,
    queries: &[Query],
    by: SearchBy<'_>,
    settings: SearchSettings,
    mut sink: impl FnMut(SearchAnswer) -> Result<(), E>,
) -> Result<(), E> {
    by.check()?;
    for chunk in queries.chunks(QUERIES_AT_ONCE) {
        let answers = parallel::try_map(chunk, |query| search(index, &query.text, by, settings))?;
        for (query, answer) in chunk.iter().zip(answers) {
            let id = Some(query.id.clone());
            sink(SearchAnswer { id, ..answer })?;
        }
    }
    Ok(())
}

/// What a run is made with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunSettings {
    /// How many documents of each query.
    pub top: usize,
    /// The run's name; without one it is the function's, or `calibrant` for a learned ranking.
    pub name: Option<String>,
    /// Write probabilities of relevance instead of scores, by a learned ranking.
    pub probabilities: bool,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            top: 1000,
            name: None,
            probabilities: false,
        }
    }
}

/// The best documents of many queries as a run. A query that finds nothing is not in it.
pub fn search_run(
    index: &SearchIndex,
    queries: &[Query],
    by: SearchBy<'_>,
    settings: &RunSettings,
    progress: &dyn Progress,
) -> Result<Run, SearchError> {
    by.check()?;
    let (model, depth) = match by {
        SearchBy::Function(_) if settings.probabilities => {
            return Err(SearchError::NoProbabilities);
        }
        SearchBy::Function(function) => {
            let run = index.run(queries, &function, settings.top, progress)?;
            return Ok(match &settings.name {
                Some(name) => run.with_name(name)?,
                None => run,
            });
        }
        SearchBy::Model { model, depth } => (model, depth),
    };
    if settings.probabilities && model.relevance().is_none() {
        return Err(SearchError::NoProbabilities);
    }
    let mut builder = RunBuilder::new(settings.name.as_deref().unwrap_or("calibrant"))?;
    for query in queries {
        check_identifier("query", &query.id)?;
    }
    let stage = Stage::begin(progress, "searching", Some(queries.len() as u64));
    for chunk in queries.chunks(QUERIES_AT_ONCE) {
        let lists = parallel::try_map(chunk, |query| index.rank(&query.text, model, depth))?;
        for (query, hits) in chunk.iter().zip(lists) {
            for hit in hits.into_iter().take(settings.top) {
                let stated = hit.probability.filter(|_| settings.probabilities);
                builder.push(&query.id, &hit.id, stated.unwrap_or(hit.score))?;
            }
        }
        stage.step(chunk.len() as u64).map_err(IndexError::from)?;
    }
    Ok(builder.finish()?)
}

/// The candidates of many queries with the value of every function, and what is to be known about their judgements.
#[derive(Debug, Clone)]
pub struct SearchFeatures {
    /// One row per query and document.
    pub table: RankingTable,
    /// Queries for which no function found anything.
    pub empty_queries: usize,
    /// What nobody judged, where there are judgements.
    pub judged: Option<JudgedShare>,
    /// Queries that lost all their documents with those that nobody judged.
    pub vanished_queries: usize,
    /// Relevant documents that no function found.
    pub unlisted_relevant: usize,
}

/// The table that a ranking is learned from: see [`SearchIndex::candidates`].
pub fn search_features(
    index: &SearchIndex,
    queries: &[Query],
    functions: &[BaseFunction],
    depth: usize,
    judgements: Option<(&Qrels, Unjudged)>,
) -> Result<SearchFeatures, SearchError> {
    let qrels = judgements.map(|(qrels, _)| qrels);
    let table = index.candidates(queries, functions, depth, qrels)?;
    let judged = |query: &&Query| qrels.is_none_or(|qrels| qrels.is_judged(&query.id));
    let asked = queries.iter().filter(judged).count();
    let empty_queries = asked - table.query_count();
    let Some((qrels, unjudged)) = judgements else {
        return Ok(SearchFeatures {
            table,
            empty_queries,
            judged: None,
            vanished_queries: 0,
            unlisted_relevant: 0,
        });
    };
    let (kept, _) = table.judged(unjudged);
    if kept.row_count() == 0 {
        return Err(SearchError::NothingJudged);
    }
    Ok(SearchFeatures {
        empty_queries,
        judged: Some(JudgedShare {
            unjudged_queries: queries.len() - asked,
            ..table.judged_share()
        }),
        vanished_queries: table.query_count() - kept.query_count(),
        // Of all queries: those that are left out have relevant documents, too.
        unlisted_relevant: unlisted_relevant(&table, qrels, 1),
        table: kept,
    })
}
