//! What can go wrong while reading, said so that the file can be mended.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::{Encoding, Filter, Format};
use crate::progress::Cancelled;

/// Why a source could not be read. Names the file, the place and what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is nothing at this path.
    #[error("{}: no such file or folder", path.display())]
    NotFound {
        /// The path as given.
        path: PathBuf,
    },
    /// A folder was given where it cannot be read.
    #[error("{}: is a folder; {hint}", path.display())]
    IsDirectory {
        /// The path as given.
        path: PathBuf,
        /// What a folder must look like.
        hint: &'static str,
    },
    /// The folder format was asked for, and the path is not a folder.
    #[error("{}: is not a folder; the folder format needs one subfolder of text files per class", path.display())]
    NotADirectory {
        /// The path as given.
        path: PathBuf,
    },
    /// The file has no bytes.
    #[error("{file}: is empty")]
    Empty {
        /// The file.
        file: String,
    },
    /// The file could be read, and no row was left.
    #[error("{file}: {reason}")]
    NoRows {
        /// The file.
        file: String,
        /// Where the rows went.
        reason: NoRowsReason,
    },
    /// A field that was asked for is not there.
    #[error("{file}: there is no field `{field}`; {}", fields_there_are(available))]
    UnknownField {
        /// The file.
        file: String,
        /// The field that was asked for.
        field: String,
        /// The fields of the file (of its first row in JSON Lines).
        available: Vec<String>,
    },
    /// A field that was asked for is in no row of a source whose rows were answered as they came.
    #[error(
        "{file}: no row has a field `{field}`, so that every answer given is void; {}",
        fields_there_are(available)
    )]
    FieldNeverCame {
        /// The source.
        file: String,
        /// The field that was asked for.
        field: String,
        /// The fields of its first rows.
        available: Vec<String>,
    },
    /// Two columns have the same name.
    #[error(
        "{file}: columns {first_column} and {second_column} are both named `{field}`; rename one of them"
    )]
    DuplicateField {
        /// The file.
        file: String,
        /// The name.
        field: String,
        /// The first column of that name, from 1.
        first_column: usize,
        /// The second column of that name, from 1.
        second_column: usize,
    },
    /// Scores were asked for, and the format has no fields to hold them.
    #[error(
        "{file}: the {format} format has no named fields; scores come as CSV, TSV, JSON Lines or Parquet"
    )]
    NoNumbers {
        /// The file.
        file: String,
        /// Its format.
        format: Format,
    },
    /// A column has numbers like 1,5 and numbers like 1.5.
    #[error(
        "{file}, field `{field}`: line {comma_line} has a number with a comma, line {point_line} one with a point; say which is the decimal sign"
    )]
    MixedDecimals {
        /// The file.
        file: String,
        /// The field.
        field: String,
        /// The first line with a comma.
        comma_line: u64,
        /// The first line with a point.
        point_line: u64,
    },
    /// All commas in the numbers of a column may stand between thousands.
    #[error(
        "{file}, field `{field}`: the comma of line {line} may be a decimal sign or stand between thousands; say which is the decimal sign"
    )]
    AmbiguousComma {
        /// The file.
        file: String,
        /// The field.
        field: String,
        /// The first line with a comma.
        line: u64,
    },
    /// All points in the numbers of a column may stand between thousands, and other columns have decimal commas.
    #[error(
        "{file}, field `{field}`: the point of line {line} may be a decimal sign or stand between thousands, as other fields have decimal commas; say which is the decimal sign"
    )]
    AmbiguousPoint {
        /// The file.
        file: String,
        /// The field.
        field: String,
        /// The first line with a point.
        line: u64,
    },
    /// A row cannot be understood.
    #[error("{0}")]
    BadRow(BadRow),
    /// A row is not UTF-8.
    #[error(
        "{file}, line {line}, column {column}: not valid UTF-8; the text looks like {likely}: read the file in that encoding"
    )]
    InvalidUtf8 {
        /// The file.
        file: String,
        /// The physical line, from 1.
        line: u64,
        /// The first character that is not UTF-8, from 1.
        column: u64,
        /// What the row is most likely written in.
        likely: Encoding,
    },
    /// The gzip or Zstandard stream is broken or ends too early.
    #[error(
        "{file}: the compressed data cannot be read ({reason}); the file may be cut off or damaged"
    )]
    Compressed {
        /// The file.
        file: String,
        /// What the decoder said.
        reason: String,
    },
    /// This build of the library was made without the reader of a format.
    #[error(
        "{file}: this build of calibrant does not read {format}; build it with the cargo feature `{}`",
        format.feature()
    )]
    FormatLeftOut {
        /// The file.
        file: String,
        /// Its format.
        format: super::Format,
    },
    /// The workbook cannot be read.
    #[error("{file}: the spreadsheet cannot be read: {reason}")]
    Spreadsheet {
        /// The file.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An Excel file of a kind that is not read.
    #[error(
        "{file}: is an Excel file of before 2007 (.xls), or one with a password; save it as .xlsx without a password, or as CSV"
    )]
    OldSpreadsheet {
        /// The file.
        file: String,
    },
    /// The workbook has no such sheet.
    #[error("{file}: there is no sheet `{sheet}`; {}", sheets_there_are(available))]
    NoSheet {
        /// The file.
        file: String,
        /// The sheet that was asked for.
        sheet: String,
        /// The sheets of the workbook.
        available: Vec<String>,
    },
    /// The workbook unpacks to too much, or its cells repeat too much.
    #[error(
        "{file}: unpacked, or with its repeated texts written out, the spreadsheet is larger than {} MiB; save the sheet as CSV",
        limit >> 20
    )]
    UnpackedTooLarge {
        /// The file.
        file: String,
        /// The most bytes that are unpacked.
        limit: u64,
    },
    /// The Parquet file cannot be read.
    #[error("{file}: the Parquet data cannot be read: {reason}")]
    Parquet {
        /// The file.
        file: String,
        /// What the decoder said.
        reason: String,
    },
    /// The operating system refused.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// Neither the name nor the first bytes tell the format.
    #[error(
        "{file}: the format cannot be detected; say which it is: csv, tsv, jsonl, parquet, xlsx, ods, fasttext, folder or svmlight"
    )]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// A reader was opened a second time.
    #[error("{file}: can be read only once")]
    ReadBefore {
        /// Its name.
        file: String,
    },
    /// Whoever watched the progress ended the reading.
    #[error("cancelled")]
    Cancelled,
    /// A single row is longer than allowed.
    #[error(
        "{file}, line {line}: the row is longer than {limit} bytes; is a line break or a closing quote missing?"
    )]
    RowTooLong {
        /// The file.
        file: String,
        /// The line where the row starts.
        line: u64,
        /// The most bytes a row may have.
        limit: usize,
    },
    /// A file that is read out of order does not come from a plain file, and is too large to be laid aside.
    #[error("{file}: more than {limit} bytes from a stream; unpack it into a file first")]
    TooLarge {
        /// The file.
        file: String,
        /// The most bytes that are laid aside.
        limit: u64,
    },
}

impl ReadError {
    /// Names the sheet that a malformed row stands in.
    #[cfg(feature = "spreadsheet")]
    pub(super) fn on_sheet(self, sheet: &str) -> Self {
        match self {
            ReadError::BadRow(row) => ReadError::BadRow(BadRow {
                sheet: Some(sheet.to_owned()),
                ..row
            }),
            other => other,
        }
    }
}

impl From<Cancelled> for ReadError {
    fn from(_: Cancelled) -> Self {
        ReadError::Cancelled
    }
}

/// A row that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// The file.
    pub file: String,
    /// The sheet of a spreadsheet, whose rows `line` counts.
    pub sheet: Option<String>,
    /// Where the row starts, from 1.
    pub line: u64,
    /// The character in that line, from 1, where it is known.
    pub column: Option<u64>,
    /// The field at fault, where it is known.
    pub field: Option<String>,
    /// What is wrong.
    pub reason: String,
}

/// What to do with a cell that should be a number and is none.
pub(super) const READ_AS_CATEGORY: &str = "read the field as a category instead";

/// What is wrong with a row without a label, where that was asked for.
pub(super) const EMPTY_LABEL: &str = "the label is empty";

/// What is wrong with a list without an end.
pub(super) const NEVER_CLOSED: &str =
    "the list that opens the file is never closed; the file may be cut off";

impl BadRow {
    /// Whether the file ends before it should: there is no row to skip.
    pub fn is_cut_off(&self) -> bool {
        self.reason == NEVER_CLOSED
    }

    /// Whether nothing but the label is missing.
    pub fn has_empty_label(&self) -> bool {
        self.reason == EMPTY_LABEL
    }

    /// The field whose cell should be a number, is none, and could be a category.
    pub fn field_of_categories(&self) -> Option<&str> {
        let field = self.field.as_deref();
        field.filter(|_| self.reason.contains(READ_AS_CATEGORY))
    }
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.sheet {
            Some(sheet) => write!(f, "{}, sheet `{sheet}`, row {}", self.file, self.line)?,
            None => write!(f, "{}, line {}", self.file, self.line)?,
        }
        if let Some(column) = self.column {
            write!(f, ", column {column}")?;
        }
        if let Some(field) = &self.field {
            write!(f, ", field `{field}`")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// Why a readable file has no rows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoRowsReason {
    /// There is a header and nothing below it.
    HeaderOnly,
    /// There are only blank lines, or no rows at all.
    Blank,
    /// The class folders hold no text files.
    NoFiles,
    /// No row passed the filters.
    AllFiltered {
        /// The rows that were looked at.
        rows_read: u64,
        /// The filters.
        filters: Vec<Filter>,
    },
    /// No row has a label.
    NoLabels {
        /// How many there are.
        rows: u64,
    },
    /// Every row was malformed (and skipped).
    AllBad {
        /// How many.
        bad_rows: u64,
        /// The first of them.
        first: Box<BadRow>,
    },
}

impl fmt::Display for NoRowsReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeaderOnly => f.write_str("has a header line and no rows"),
            Self::Blank => f.write_str("has no rows"),
            Self::NoLabels { rows } => write!(f, "none of the {rows} rows has a label"),
            Self::NoFiles => f.write_str("the class folders hold no .txt files"),
            Self::AllFiltered { rows_read, filters } => {
                let filters: Vec<String> = filters.iter().map(ToString::to_string).collect();
                let filters = filters.join(" and ");
                write!(
                    f,
                    "none of the {rows_read} rows passes the filter {filters}"
                )
            }
            Self::AllBad { bad_rows, first } => {
                write!(f, "all {bad_rows} rows are malformed; the first: {first}")
            }
        }
    }
}

/// Lists field names for a message: the first thirty of them, and no more than their beginnings.
pub(super) fn fields_there_are(available: &[String]) -> String {
    const SHOWN: usize = 30;
    const LONGEST: usize = 60;
    if available.is_empty() {
        return "there are no fields".to_owned();
    }
    // A file without a header offers whole texts as names.
    let shorten = |name: &String| match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("`{}...`", &name[..end]),
        None => format!("`{name}`"),
    };
    let names: Vec<String> = available.iter().take(SHOWN).map(shorten).collect();
    let more = match available.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("the fields are {}{more}", names.join(", "))
}

fn sheets_there_are(available: &[String]) -> String {
    fields_there_are(available).replacen("fields", "sheets", 1)
}

/// What is wrong with one row, before it is known which row of which file it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowProblem {
    pub(super) kind: ProblemKind,
    /// Bytes from the start of the row.
    pub(super) offset: Option<usize>,
    pub(super) field: Option<String>,
    pub(super) reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProblemKind {
    Malformed,
    InvalidUtf8,
    TooLong,
}

impl RowProblem {
    pub(super) fn malformed(reason: impl Into<String>) -> Self {
        Self {
            kind: ProblemKind::Malformed,
            offset: None,
            field: None,
            reason: reason.into(),
        }
    }

    pub(super) fn in_field(field: &str, reason: impl Into<String>) -> Self {
        Self {
            field: Some(field.to_owned()),
            ..Self::malformed(reason)
        }
    }

    pub(super) fn at(offset: usize, reason: impl Into<String>) -> Self {
        Self {
            offset: Some(offset),
            ..Self::malformed(reason)
        }
    }

    pub(super) fn invalid_utf8(offset: usize) -> Self {
        Self {
            kind: ProblemKind::InvalidUtf8,
            ..Self::at(offset, "not valid UTF-8")
        }
    }

    pub(super) fn too_long() -> Self {
        Self {
            kind: ProblemKind::TooLong,
            ..Self::malformed("the row is too long")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_where_and_what_to_do() {
        let bad = BadRow {
            file: "a.csv".into(),
            sheet: None,
            line: 7,
            column: Some(3),
            field: Some("weight".into()),
            reason: "must be above zero".into(),
        };
        assert_eq!(
            ReadError::BadRow(bad.clone()).to_string(),
            "a.csv, line 7, column 3, field `weight`: must be above zero"
        );
        let unknown = ReadError::UnknownField {
            file: "a.csv".into(),
            field: "txt".into(),
            available: vec!["text".into(), "größe".into()],
        };
        assert_eq!(
            unknown.to_string(),
            "a.csv: there is no field `txt`; the fields are `text`, `größe`"
        );
        let filtered = NoRowsReason::AllFiltered {
            rows_read: 5,
            filters: vec!["split=train".parse().unwrap()],
        };
        assert_eq!(
            filtered.to_string(),
            "none of the 5 rows passes the filter split=train"
        );
        assert!(
            NoRowsReason::AllBad {
                bad_rows: 1,
                first: Box::new(bad)
            }
            .to_string()
            .contains("line 7")
        );
    }

    #[test]
    fn many_or_long_fields_do_not_make_an_endless_message() {
        let names: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
        let listed = fields_there_are(&names);
        assert!(listed.ends_with("`29` and 970 more"), "{listed}");
        assert_eq!(fields_there_are(&[]), "there are no fields");
        let listed = fields_there_are(&["ü".repeat(100_000)]);
        assert_eq!(listed, format!("the fields are `{}...`", "ü".repeat(60)));
    }
}
