//! Queries and documents to rankings.
//!
//! [`Qrels`] says which documents answer a query, [`Run`] in which order a system lists them, and a
//! [`RankingTable`] holds a row of numbers for every pair of a query and a document. [`functions`] holds the
//! classic retrieval functions, which score a document by the terms that it shares with a query, [`learning`] what
//! combines them. [`Relevance`] turns scores into probabilities, from which an [`Outlook`] says how much is still to be found.

pub mod functions;
pub mod learning;
mod relevance;

// Documented in `corpus`, where they are read.
#[doc(hidden)]
pub use crate::corpus::{
    JudgedQuery, JudgedShare, Judgement, Qrels, QrelsBuilder, QueryRows, RankedQuery, RankingTable,
    Run, RunBuilder, RunProblem, TableError, Unjudged, check_identifier,
};
pub use relevance::{
    HeldOutRankings, Outlook, Relevance, RelevanceSettings, RelevanceSummary, ScoreFrame,
};
