//! Queries and documents to rankings.
//!
//! [`Qrels`] says which documents answer a query, [`Run`] in which order a system lists them, and a
//! [`RankingTable`] holds a row of numbers for every pair of a query and a document. [`functions`] holds the
//! classic retrieval functions, which score a document by the terms that it shares with a query.

mod files;
pub mod functions;
pub mod learning;

pub use files::{
    JudgedQuery, Judgement, LARGEST_FEATURE, Qrels, QrelsBuilder, QueryRows, RankedQuery,
    RankingTable, Run, RunBuilder, RunProblem, TableError, check_identifier, read_score_list,
};
