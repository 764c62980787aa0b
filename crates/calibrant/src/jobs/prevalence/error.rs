//! Why no shares can be stated.

use crate::CalibrationError;
use crate::corpus::ReadError;
use crate::decision::{PrevalenceError, PriorError};
use crate::jobs::PredictError;

/// Why no shares can be stated, or no sample drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrevalenceJobError {
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The model cannot read these documents.
    #[error(transparent)]
    Predict(#[from] PredictError),
    /// Shares cannot be estimated.
    #[error(transparent)]
    Prevalence(#[from] PrevalenceError),
    /// Predictions cannot be adapted.
    #[error(transparent)]
    Prior(#[from] PriorError),
    /// Neither.
    #[error(transparent)]
    Adapt(#[from] CalibrationError),
    /// A class that the model does not have.
    #[error("the model has no class `{class}`")]
    NoClass {
        /// What was asked for.
        class: String,
    },
    /// A row of the sample is not in the pool.
    #[error("{file}, line {line}: {what} is not in the pool")]
    NotInPool {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// How it was looked for.
        what: String,
    },
    /// A row of the sample comes twice.
    #[error("{file}, line {line}: {what} comes twice")]
    Twice {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The document.
        what: String,
    },
    /// Documents of the pool that cannot be told apart.
    #[error("two documents of the pool have the identifier `{id}`")]
    SameId {
        /// The identifier.
        id: String,
    },
    /// A row has no label.
    #[error("{file}, line {line}: the label is missing")]
    NotLabelled {
        /// The file.
        file: String,
        /// The line.
        line: u64,
    },
    /// Rows of a planned sample of several labels that nobody may have read.
    #[error(
        "{file}: {empty} of {rows} rows have an empty label; `-` says that a document has none of the labels"
    )]
    NotRead {
        /// The file.
        file: String,
        /// How many are empty.
        empty: usize,
        /// Of how many.
        rows: usize,
    },
    /// A label that the model does not know.
    #[error("{file}, line {line}: the model has no class `{label}`")]
    UnknownLabel {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The label.
        label: String,
    },
    /// More than one label for a model of exclusive classes.
    #[error("{file}, line {line}: one label is needed, found {found}")]
    SeveralLabels {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// How many there are.
        found: usize,
    },
    /// The model learned from the sample.
    #[error(
        "{file}: the model learned from about {known} of the {labelled} labelled documents, and from {share:.0} % of the others: \
         its predictions of the sample are better than those of the pool"
    )]
    Learned {
        /// The file.
        file: String,
        /// About so many were learned from.
        known: usize,
        /// Of so many.
        labelled: usize,
        /// Per cent of the other documents of the pool.
        share: f64,
    },
    /// The strata of a sample are not those of this pool and model.
    #[error("{file}, line {line}: {reason}")]
    OtherPlan {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// What does not fit.
        reason: String,
    },
}

impl PrevalenceJobError {
    /// Whether a file may be in order, and only written otherwise than it was read.
    pub fn is_of_layout(&self) -> bool {
        matches!(self, Self::Read(error) if error.is_of_layout())
    }
}
