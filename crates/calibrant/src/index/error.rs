//! What can go wrong with an index, said so that it can be mended.

use std::path::PathBuf;

use crate::corpus::{ReadError, RunProblem};
use crate::ranking::functions::ParameterError;
use crate::saved::{SavedFileError, SavedKind, SavedProblem};
use crate::text::AnalyzerError;

/// Why an index could not be built, opened or searched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// A file of documents could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// There are no stems or stop words for the language.
    #[error(transparent)]
    Analyzer(#[from] AnalyzerError),
    /// A parameter of a retrieval function is outside its range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A list of documents cannot be written as a run.
    #[error(transparent)]
    Run(#[from] RunProblem),
    /// A ranking model looks at something that an index does not know.
    #[error(
        "the ranking model uses {} columns that are not retrieval functions, the first being `{}`; an index can only provide columns such as `bm25.stems`",
        columns.len(),
        columns.first().map_or("", String::as_str)
    )]
    ModelColumns {
        /// The columns.
        columns: Vec<String>,
    },
    /// A document has no identifier.
    #[error("{file}, line {line}: the document has no id; every document needs one")]
    MissingId {
        /// The file.
        file: String,
        /// Where the document starts.
        line: u64,
    },
    /// An identifier that is longer than anybody could want.
    #[error("{file}, line {line}: the id has {bytes} bytes; at most {limit} are allowed")]
    LongId {
        /// The file.
        file: String,
        /// Where the document starts.
        line: u64,
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
    /// Two documents have one identifier.
    #[error("{file}, line {line}: the id `{id}` already occurs in {first_file}, line {first_line}")]
    DuplicateId {
        /// The identifier.
        id: String,
        /// The file of the second.
        file: String,
        /// Where the second starts.
        line: u64,
        /// The file of the first.
        first_file: String,
        /// Where the first starts.
        first_line: u64,
    },
    /// A row of numbers where a text was wanted.
    #[error("{file}, line {line}: there is no text to index")]
    NoText {
        /// The file.
        file: String,
        /// Where the document starts.
        line: u64,
    },
    /// TREC documents have no fields to choose from.
    #[error(
        "{file} holds TREC documents, whose whole text is indexed: {option} cannot be used with them"
    )]
    NoFields {
        /// The file.
        file: String,
        /// What names a field.
        option: &'static str,
    },
    /// Nothing to index.
    #[error("there are no documents to index")]
    NoDocuments,
    /// More documents than one index can number.
    #[error("an index holds at most {limit} documents; divide the collection")]
    TooManyDocuments {
        /// How many it can number.
        limit: u64,
    },
    /// There is not an index at this path, or one that cannot be read.
    #[error(transparent)]
    Saved(#[from] SavedFileError),
    /// Something that is not an index stands where the index shall be written.
    #[error("`{}` exists and {reason}; it is not replaced", path.display())]
    Occupied {
        /// The path.
        path: PathBuf,
        /// What is there.
        reason: String,
    },
    /// The system refused.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The search engine failed.
    #[error("the search engine could not {action}: {reason}")]
    Engine {
        /// What was tried.
        action: &'static str,
        /// What it said.
        reason: String,
    },
}

impl IndexError {
    /// Of the index in this folder.
    pub(super) fn saved(folder: &std::path::Path) -> impl Fn(SavedProblem) -> Self {
        move |problem| {
            SavedFileError::new(SavedKind::Index, problem)
                .at(folder)
                .into()
        }
    }

    /// The index in this folder is incomplete or changed.
    pub(super) fn damaged(folder: &std::path::Path, reason: impl Into<String>) -> Self {
        Self::saved(folder)(SavedProblem::damaged(reason))
    }

    /// For `map_err` on what the search engine answers.
    pub(super) fn engine<E: std::fmt::Display>(action: &'static str) -> impl Fn(E) -> Self {
        move |error| Self::Engine {
            action,
            reason: error.to_string(),
        }
    }

    /// For `map_err` on what the system answers.
    pub(super) fn io(
        action: &'static str,
        path: &std::path::Path,
    ) -> impl Fn(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path: path.clone(),
            source,
        }
    }
}

impl From<crate::Cancelled> for IndexError {
    fn from(cancelled: crate::Cancelled) -> Self {
        IndexError::Read(cancelled.into())
    }
}
