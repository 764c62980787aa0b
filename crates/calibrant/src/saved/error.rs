//! Why something could not be saved or opened.

use std::path::{Path, PathBuf};

use super::SavedKind;

/// Why something could not be saved or opened: what it was wanted as, where, and what is wrong.
///
/// ```
/// use calibrant::pipeline::Model;
/// use calibrant::saved::{SavedKind, SavedProblem};
/// let error = Model::open("there/is/none.calibrant".as_ref()).unwrap_err();
/// assert_eq!(error.kind, Some(SavedKind::Model));
/// assert!(matches!(error.problem, SavedProblem::NotFound));
/// assert_eq!(error.to_string(), "there is no model file at `there/is/none.calibrant`");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct SavedFileError {
    /// What it was to be; `None` where a file of any kind would do.
    pub kind: Option<SavedKind>,
    /// The file; `None` where bytes were given.
    pub path: Option<PathBuf>,
    /// What is wrong.
    pub problem: SavedProblem,
}

/// What can be wrong with a saved file.
#[derive(Debug)]
#[non_exhaustive]
pub enum SavedProblem {
    /// The file is not there.
    NotFound,
    /// The system refused.
    Io {
        /// What was tried.
        action: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
    /// calibrant did not write it.
    Foreign {
        /// What shows it.
        reason: String,
    },
    /// calibrant wrote it, but it holds something else.
    OtherKind {
        /// What it holds.
        found: SavedKind,
    },
    /// A later calibrant wrote it.
    UnknownVersion {
        /// Its version.
        found: u32,
        /// The newest version that can be read.
        newest: u32,
    },
    /// calibrant wrote it, but it is cut short or changed.
    Damaged {
        /// What does not fit.
        reason: String,
    },
    /// It cannot be written so that it could be read again.
    Unsaveable {
        /// What stands in the way.
        reason: String,
    },
}

impl SavedProblem {
    pub(crate) fn damaged(reason: impl Into<String>) -> Self {
        Self::Damaged {
            reason: reason.into(),
        }
    }

    pub(crate) fn foreign(reason: impl Into<String>) -> Self {
        Self::Foreign {
            reason: reason.into(),
        }
    }

    pub(crate) fn unsaveable(reason: impl std::fmt::Display) -> Self {
        Self::Unsaveable {
            reason: reason.to_string(),
        }
    }

    /// For `map_err` on what the system answers.
    pub(crate) fn io(action: &'static str) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::Io { action, source }
    }
}

impl SavedFileError {
    /// Of something that was to be of this kind.
    pub(crate) fn new(kind: SavedKind, problem: SavedProblem) -> Self {
        Self {
            kind: Some(kind),
            path: None,
            problem,
        }
    }

    /// Where a file of any kind would do.
    pub(crate) fn of_any(problem: SavedProblem) -> Self {
        Self {
            kind: None,
            path: None,
            problem,
        }
    }

    /// In this file.
    pub(crate) fn at(mut self, path: &Path) -> Self {
        self.path = Some(path.to_owned());
        self
    }

    /// Whether calibrant did not write the file, so that it may be something else that a program takes.
    pub fn is_foreign(&self) -> bool {
        matches!(self.problem, SavedProblem::Foreign { .. })
    }

    /// What the file holds, where that is something else than was wanted.
    pub fn found_kind(&self) -> Option<SavedKind> {
        match self.problem {
            SavedProblem::OtherKind { found } => Some(found),
            _ => None,
        }
    }
}

impl std::fmt::Display for SavedFileError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = self.path.as_ref().map_or_else(
            || "the given data".to_owned(),
            |path| format!("`{}`", path.display()),
        );
        // Where any kind would do, a model is what most people look for.
        let file = self.kind.unwrap_or(SavedKind::Model).file();
        match &self.problem {
            SavedProblem::NotFound => write!(out, "there is no {file} at {place}"),
            SavedProblem::Io { action, source } => write!(out, "cannot {action} {place}: {source}"),
            SavedProblem::Foreign { reason } => {
                let claimed = self.kind.unwrap_or(SavedKind::Model).claimed();
                write!(out, "{place} is not {claimed}: {reason}")
            }
            SavedProblem::OtherKind { found } => {
                let found = found.described();
                match self.kind {
                    Some(wanted) => write!(out, "{place} is {found}, not {}", wanted.described()),
                    None => write!(out, "{place} is {found}"),
                }
            }
            SavedProblem::UnknownVersion { found, newest } => {
                let kind = self.kind.map_or("file", SavedKind::name);
                write!(
                    out,
                    "{place} has {kind} format version {found}; this calibrant reads versions up to {newest}"
                )
            }
            SavedProblem::Damaged { reason } => match &self.path {
                Some(_) => write!(out, "the {file} {place} is damaged: {reason}"),
                None => write!(out, "the {file} is damaged: {reason}"),
            },
            SavedProblem::Unsaveable { reason } => match &self.path {
                Some(_) => write!(out, "the {file} cannot be saved as {place}: {reason}"),
                None => write!(out, "the {file} cannot be saved: {reason}"),
            },
        }
    }
}

impl std::error::Error for SavedFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            SavedProblem::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
