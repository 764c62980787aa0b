//! What is wrong with a rules file, and where.

/// Why a rules file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct RulesError {
    /// The line, from 1.
    pub line: usize,
    /// The character in it, from 1.
    pub column: usize,
    /// What is wrong and what to write instead.
    pub message: String,
}

/// A place in a rules file; all places are alike when queries are compared.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Place {}

impl Place {
    pub(super) fn error(self, message: impl Into<String>) -> RulesError {
        RulesError {
            line: self.line,
            column: self.column,
            message: message.into(),
        }
    }
}
