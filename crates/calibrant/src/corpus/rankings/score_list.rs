//! A score per line, in the order of the rows that they belong to.

use crate::corpus::{NoRowsReason, ReadError, Source, each_line};

use super::columns::{finite, shown};

/// Reads a file with one finite number in each line, as learners of rankings write for the rows of a test file.
/// Blank lines and lines that begin with `#` are passed over.
///
/// # When it misleads
/// Nothing in such a file says which row a score belongs to. If the test file was sorted in between, every
/// figure is wrong and nothing can tell; count and order are all there is to check.
pub(crate) fn read_score_list(source: &Source) -> Result<Vec<f64>, ReadError> {
    let mut scores = Vec::new();
    each_line(source, |line| {
        if line.is_comment() {
            return Ok(());
        }
        let mut columns = line.columns();
        let word = columns.next().unwrap_or_default();
        if let Some(more) = columns.next() {
            return Err(line.problem_at(
                more,
                "score",
                "a file of scores has one number per line; a run is read with its judgements instead of a test file",
            ));
        }
        let Some(score) = finite(word) else {
            return Err(line.problem_at(
                word,
                "score",
                format!("{} is not a finite number", shown(word)),
            ));
        };
        scores.push(score);
        Ok(())
    })?;
    if scores.is_empty() {
        return Err(ReadError::NoRows {
            file: source.name(),
            reason: NoRowsReason::Blank,
        });
    }
    Ok(scores)
}
