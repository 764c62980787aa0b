//! Why there is no policy.

use crate::corpus::ReadError;
use crate::decision::CascadeError;
use crate::jobs::PredictError;
use crate::saved::SavedFileError;

/// Why there is no policy, or it cannot be followed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CascadeJobError {
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A model cannot read the documents.
    #[error(transparent)]
    Predict(#[from] PredictError),
    /// Nothing can be certified.
    #[error(transparent)]
    Cascade(#[from] CascadeError),
    /// Two sources have one name.
    #[error("two sources are called `{name}`")]
    SameName {
        /// The name.
        name: String,
    },
    /// A person answers what is left.
    #[error("a person comes last, after all other sources")]
    PersonNotLast,
    /// An accuracy is none.
    #[error("{value} is not an accuracy; it must lie between 0 and 1")]
    BadAccuracy {
        /// What was given.
        value: f64,
    },
    /// A document does not have exactly one label.
    #[error("{file}, line {line}: one label is needed, found {found}")]
    NotOneLabel {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// How many there are.
        found: usize,
    },
    /// A model with several labels per document.
    #[error("`{name}` gives several labels to a document; a cascade needs one answer")]
    SeveralLabels {
        /// The source.
        name: String,
    },
    /// A document comes twice.
    #[error("{file}, line {line}: the document `{id}` comes twice")]
    Twice {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The document.
        id: String,
    },
    /// A column is missing.
    #[error("{file}: there is no column `{column}`")]
    NoColumn {
        /// The file.
        file: String,
        /// What it lacks.
        column: String,
    },
    /// There is nothing to say how sure an answer is.
    #[error(
        "{file}: there is no column `probability`, `confidence`, `log_probability` or `logprob`"
    )]
    NoConfidence {
        /// The file.
        file: String,
    },
    /// A confidence is none.
    #[error(
        "{file}, line {line}, field `{column}`: `{found}` is not a probability, or the logarithm of one"
    )]
    BadConfidence {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The column.
        column: String,
        /// What it holds.
        found: String,
    },
    /// A source says nothing of a document.
    #[error("{file}: there is no answer for the document `{id}`")]
    NoAnswer {
        /// The file.
        file: String,
        /// The document.
        id: String,
    },
    /// Documents that a model has learned from show nothing.
    #[error(
        "`{name}` learned from about {learned} of the {documents} documents; what it says of those shows nothing of others"
    )]
    Learned {
        /// The source.
        name: String,
        /// How many.
        learned: usize,
        /// How many documents there are.
        documents: usize,
    },
    /// What was certified is another model.
    #[error(
        "the policy was certified with another model as `{name}`, or before this one was recalibrated"
    )]
    OtherModel {
        /// The source.
        name: String,
    },
    /// A model that cannot be written has no fingerprint.
    #[error(transparent)]
    Saved(#[from] SavedFileError),
    /// Rows are counted after some were left out.
    #[error(
        "documents are named by their rows, some of which are left out: rows of a table of answers may be others"
    )]
    RowsFiltered,
    /// A policy has no such source.
    #[error("the policy has no source `{name}`; it has {sources}")]
    NoSource {
        /// What was named.
        name: String,
        /// Those that it has.
        sources: String,
    },
}

impl CascadeJobError {
    /// Whether a table may be in order, and only written otherwise than it was read.
    pub fn is_of_layout(&self) -> bool {
        match self {
            Self::Read(error) => error.is_of_layout(),
            Self::NoColumn { .. } | Self::NoConfidence { .. } => true,
            _ => false,
        }
    }
}
