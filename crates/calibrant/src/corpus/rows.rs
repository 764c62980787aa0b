//! Parses the rows of a piece and keeps account of those that are filtered out or malformed.

use std::sync::Arc;

use super::error::{ProblemKind, RowProblem};
use super::lines::{Piece, RowEnds};
use super::plan::{Row, Value};
use super::{BadRow, Document, Encoding, KeptFile, KeptRow, LabelNeed, ReadError, ReadOptions};

/// How many malformed rows are kept for the report; the others are counted.
pub(super) const BAD_ROWS_KEPT: usize = 20;

/// A format whose rows are lines of text, each of which becomes an `R`.
pub(super) trait RowFormat<R = Document>: Sync {
    /// Where its rows end.
    fn row_ends(&self) -> RowEnds;

    /// Whether the row holds nothing and is passed over.
    fn is_blank(&self, row: &str) -> bool {
        row.trim().is_empty()
    }

    /// What its rows have in common, where they are to be kept as they stand.
    fn kept_file(&self) -> Option<&Arc<KeptFile>> {
        None
    }

    /// What can only be said once rows have been read; `whole` says that these are all.
    fn check(&self, _file: &str, _options: &ReadOptions, _whole: bool) -> Result<(), ReadError> {
        Ok(())
    }

    /// Reads a row, or `None` if a filter rejects it. `values` is scratch space.
    fn row<'a>(
        &self,
        row: &'a str,
        line: u64,
        values: &mut Vec<Value<'a>>,
    ) -> Result<Option<R>, RowProblem>;
}

/// The rows of a piece, or the totals of many.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) kept: u64,
    pub(super) filtered: u64,
    /// Rows without a label, and where the first of them stands.
    pub(super) unlabelled: u64,
    pub(super) first_unlabelled: Option<u64>,
    pub(super) bad_rows: Vec<BadRow>,
    pub(super) bad_row_count: u64,
}

impl Tally {
    /// Adds a later one.
    pub(super) fn add(&mut self, later: Tally) {
        self.kept += later.kept;
        self.filtered += later.filtered;
        self.unlabelled += later.unlabelled;
        self.first_unlabelled = self.first_unlabelled.or(later.first_unlabelled);
        self.bad_row_count += later.bad_row_count;
        let left = BAD_ROWS_KEPT - self.bad_rows.len().min(BAD_ROWS_KEPT);
        self.bad_rows.extend(later.bad_rows.into_iter().take(left));
    }

    /// Counts rows as malformed that were kept so far.
    pub(super) fn turned_bad(&mut self, rows: Vec<BadRow>) {
        self.kept -= rows.len() as u64;
        self.bad_row_count += rows.len() as u64;
        self.bad_rows.extend(rows);
        self.bad_rows.sort_by_key(|row| row.line);
        self.bad_rows.truncate(BAD_ROWS_KEPT);
    }
}

/// What one piece comes to.
#[derive(Debug)]
pub(super) struct Parsed<R = Document> {
    pub(super) rows: Vec<R>,
    pub(super) tally: Tally,
    /// How many rows there were, whatever became of them.
    row_count: u64,
}

impl<R> Default for Parsed<R> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            tally: Tally::default(),
            row_count: 0,
        }
    }
}

impl<R: Row> Parsed<R> {
    /// Names the sheet that malformed rows stand in.
    #[cfg(feature = "spreadsheet")]
    pub(super) fn on_sheet(mut self, sheet: &str) -> Self {
        for row in &mut self.tally.bad_rows {
            row.sheet = Some(sheet.to_owned());
        }
        self
    }

    /// Behind so many rows of the file; gives how many there are then.
    pub(super) fn place_behind(&mut self, before: u64) -> u64 {
        for row in &mut self.rows {
            *row.number() += before;
        }
        before + self.row_count
    }

    /// The same rows as something else.
    pub(super) fn map<S>(self, make: impl FnMut(R) -> S) -> Parsed<S> {
        Parsed {
            rows: self.rows.into_iter().map(make).collect(),
            tally: self.tally,
            row_count: self.row_count,
        }
    }

    /// Adds the outcome of one row; an error means that reading stops here.
    pub(super) fn push(
        &mut self,
        outcome: Result<Option<R>, RowProblem>,
        file: &str,
        line: u64,
        row: &[u8],
        options: &ReadOptions,
    ) -> Result<(), ReadError> {
        self.row_count += 1;
        match outcome {
            Ok(Some(mut row)) => {
                if options.labels_required == LabelNeed::Required && row.lacks_label() {
                    self.tally.unlabelled += 1;
                    self.tally.first_unlabelled.get_or_insert(line);
                    if !R::WITHOUT_LABEL {
                        return Ok(());
                    }
                }
                self.tally.kept += 1;
                *row.number() = self.row_count;
                self.rows.push(row);
            }
            Ok(None) => self.tally.filtered += 1,
            Err(problem) => {
                let error = locate(problem, file, line, row, options.max_row_bytes);
                let bad_row = match error {
                    ReadError::BadRow(bad_row) if options.skip_bad_rows => bad_row,
                    ReadError::InvalidUtf8 {
                        file, line, column, ..
                    } if options.skip_bad_rows => {
                        let reason = "not valid UTF-8".to_owned();
                        BadRow {
                            sheet: None,
                            file,
                            line,
                            column: Some(column),
                            field: None,
                            reason,
                        }
                    }
                    error => return Err(error),
                };
                self.tally.bad_row_count += 1;
                if self.tally.bad_rows.len() < BAD_ROWS_KEPT {
                    self.tally.bad_rows.push(bad_row);
                }
            }
        }
        Ok(())
    }
}

/// Parses every row of a piece.
pub(super) fn parse_piece<R: Row>(
    format: &impl RowFormat<R>,
    piece: &Piece,
    file: &str,
    options: &ReadOptions,
) -> Result<Parsed<R>, ReadError> {
    let mut parsed = Parsed::default();
    let mut values = Vec::new();
    let kept = format.kept_file();
    for (line, row, end) in piece.rows_and_ends(format.row_ends()) {
        let outcome = if row.len() > options.max_row_bytes {
            Err(RowProblem::too_long())
        } else {
            match std::str::from_utf8(row) {
                Ok(text) if format.is_blank(text) => continue,
                Ok(text) => {
                    let mut outcome = format.row(text, line, &mut values);
                    if let (Some(file), Ok(Some(row))) = (kept, &mut outcome) {
                        row.keep(KeptRow::text(file, line, text, end));
                    }
                    outcome
                }
                Err(error) => Err(RowProblem::invalid_utf8(error.valid_up_to())),
            }
        };
        parsed.push(outcome, file, line, row, options)?;
    }
    Ok(parsed)
}

/// Says where in the file a problem of a row lies.
pub(super) fn locate(
    problem: RowProblem,
    file: &str,
    line: u64,
    row: &[u8],
    limit: usize,
) -> ReadError {
    let file = file.to_owned();
    let before = problem.offset.map(|offset| &row[..offset.min(row.len())]);
    let breaks = before.map_or(0, |before| {
        memchr::memchr_iter(b'\n', before).count() as u64
    });
    let column = before.map(|before| {
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        String::from_utf8_lossy(&before[start..]).chars().count() as u64 + 1
    });
    match problem.kind {
        ProblemKind::TooLong => ReadError::RowTooLong { file, line, limit },
        ProblemKind::InvalidUtf8 => ReadError::InvalidUtf8 {
            file,
            line: line + breaks,
            column: column.unwrap_or(1),
            likely: Encoding::likely(row),
        },
        ProblemKind::Malformed => ReadError::BadRow(BadRow {
            sheet: None,
            file,
            line,
            // A row is named by the line where it starts; a column only makes sense there.
            column: column.filter(|_| breaks == 0),
            field: problem.field,
            reason: problem.reason,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_inside_a_row_count_too() {
        let row = "äö\nüx\u{20AC}".as_bytes();
        let error = locate(RowProblem::invalid_utf8(7), "f", 10, row, 0);
        assert!(
            error
                .to_string()
                .starts_with("f, line 11, column 2: not valid UTF-8")
        );
        let error = locate(RowProblem::at(2, "odd"), "f", 10, row, 0);
        assert_eq!(error.to_string(), "f, line 10, column 2: odd");
        let error = locate(RowProblem::at(7, "odd"), "f", 10, row, 0);
        assert_eq!(error.to_string(), "f, line 10: odd");
        let error = locate(RowProblem::at(999, "far out"), "f", 1, b"abc", 0);
        assert_eq!(error.to_string(), "f, line 1, column 4: far out");
    }

    #[test]
    fn only_the_first_bad_rows_are_kept_and_all_are_counted() {
        let options = ReadOptions {
            skip_bad_rows: true,
            ..ReadOptions::default()
        };
        let mut total = Tally::default();
        for start in [0, 15, 30] {
            let mut parsed = Parsed::<Document>::default();
            for line in start..start + 15 {
                let problem = Err(RowProblem::malformed("bad"));
                parsed.push(problem, "f", line, b"", &options).unwrap();
            }
            total.add(parsed.tally);
        }
        let lines: Vec<u64> = total.bad_rows.iter().map(|row| row.line).collect();
        assert_eq!(lines, (0..20).collect::<Vec<u64>>());
        assert_eq!(total.bad_row_count, 45);
    }
}
