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
    NoFeatures,
    /// Validation queries have none of the columns that are learned from.
    #[error(
        "the validation queries have none of the columns that are learned from: they have {}, and learned from are {}",
        some_names(found),
        some_names(expected)
    )]
    OtherFeatures {
        /// The columns of the validation queries.
        found: Vec<String>,
        /// The columns that are learned from.
        expected: Vec<String>,
    },
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
    /// Whoever watched the progress ended the work.
    #[error("cancelled")]
    Cancelled,
    /// A query stands in the training and in the validation table.
    #[error("query `{id}` is among those to learn from and among those for validation")]
    SharedQuery {
        /// The query.
        id: String,
    },
}

impl From<crate::Cancelled> for RankFitError {
    fn from(_: crate::Cancelled) -> Self {
        Self::Cancelled
    }
}

/// Columns that a model was not fitted on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the model does not know {} of the columns: {}; it was fitted on {} columns: {}",
    unknown.len(),
    some_names(unknown),
    known.len(),
    some_names(known)
)]
pub struct UnknownFeatures {
    /// All of them.
    pub unknown: Vec<String>,
    /// The columns that the model was fitted on.
    pub known: Vec<String>,
}

/// The first few names, for a message.
pub(crate) fn some_names(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut shown: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{name}`"))
        .collect();
    if names.len() > SHOWN {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}
