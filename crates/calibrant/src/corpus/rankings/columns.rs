//! The columns of a line, and where in it something is wrong.

use crate::corpus::{BadRow, Line, ReadError};

impl<'a> Line<'a> {
    /// The words between blanks and tabs.
    pub(super) fn columns(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.text.split_ascii_whitespace()
    }

    /// Nothing to read here: a blank line, or one that begins with `#`.
    pub(super) fn is_comment(&self) -> bool {
        let text = self.text.trim_ascii_start();
        text.is_empty() || text.starts_with('#')
    }

    /// An error about the whole line.
    pub(super) fn problem(&self, reason: impl Into<String>) -> ReadError {
        self.problem_in(None, None, reason.into())
    }

    /// An error about a word of this line; `field` says what the word should have been.
    pub(super) fn problem_at(
        &self,
        word: &str,
        field: &str,
        reason: impl Into<String>,
    ) -> ReadError {
        let offset = (word.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let column = self
            .text
            .get(..offset)
            .map(|before| before.chars().count() as u64 + 1);
        self.problem_in(column, Some(field.to_owned()), reason.into())
    }

    fn problem_in(&self, column: Option<u64>, field: Option<String>, reason: String) -> ReadError {
        ReadError::BadRow(BadRow {
            sheet: None,
            file: self.file.to_owned(),
            line: self.number,
            column,
            field,
            reason,
        })
    }
}

/// The beginning of a word, for messages.
pub(super) fn shown(word: &str) -> String {
    const LONGEST: usize = 40;
    match word.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("`{}...`", &word[..end]),
        None => format!("`{word}`"),
    }
}

/// A number that is neither infinite nor missing.
pub(super) fn finite(word: &str) -> Option<f64> {
    word.parse::<f64>().ok().filter(|value| value.is_finite())
}
