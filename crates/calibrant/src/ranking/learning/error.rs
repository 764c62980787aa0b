//! Why a ranking could not be learned or used.

use super::TooManyOrders;
use crate::FitError;

/// Why a ranking could not be learned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RankFitError {
    /// A setting makes no sense.
    #[error(transparent)]
    Setting(#[from] FitError),
    /// There are no columns.
    #[error("the table has no columns to learn from")]
    NoFunctions,
    /// No query tells how documents are to be ordered.
    #[error(
        "none of the {queries} queries has both documents from grade {relevant_from} on and others, so there is nothing to learn"
    )]
    NothingToLearn {
        /// How many queries there are.
        queries: usize,
        /// The least grade of a relevant document.
        relevant_from: i32,
    },
    /// None of the queries that `C` is chosen on has a relevant document.
    #[error(
        "none of the {queries} queries to choose C on has a document from grade {relevant_from} on"
    )]
    NothingToChooseBy {
        /// How many queries there are.
        queries: usize,
        /// The least grade of a relevant document.
        relevant_from: i32,
    },
    /// There are more parts than queries.
    #[error("{queries} queries cannot be divided into {folds} parts")]
    TooManyFolds {
        /// How many queries there are.
        queries: usize,
        /// How many parts were asked for.
        folds: usize,
    },
    /// A query with too many ways to order its documents.
    #[error(transparent)]
    TooManyOrders(#[from] TooManyOrders),
    /// A query stands in the training and in the validation table.
    #[error("query `{id}` is among those to learn from and among those for validation")]
    SharedQuery {
        /// The query.
        id: String,
    },
}

/// Columns that a model was not fitted on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the model does not know {count} of the columns, the first of them `{first}`; it was fitted on {known} columns"
)]
pub struct UnknownFunctions {
    /// The first of them.
    pub first: String,
    /// How many there are.
    pub count: usize,
    /// How many columns the model was fitted on.
    pub known: usize,
}
