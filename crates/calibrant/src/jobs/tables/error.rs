//! What can be wrong with a file of probabilities, and what is worth saying about it.

use std::fmt;

use crate::corpus::ReadError;

/// How many names a message shows.
const SHOWN: usize = 10;

/// Why a file of probabilities cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Classes have no column.
    #[error(
        "`{file}` is not a calibrant model, and as a table of probabilities it has no column for the class {}",
        quoted(lacking)
    )]
    NoColumns {
        /// The file.
        file: String,
        /// The classes without a column.
        lacking: Vec<String>,
        /// The columns that there are.
        columns: Vec<String>,
    },
    /// The class that a single column is said to speak of.
    #[error("there is no class `{positive}`")]
    NoPositive {
        /// What was named.
        positive: String,
        /// The classes that there are.
        classes: Vec<String>,
    },
    /// No column holds the identifier.
    #[error("`{file}` has no column `{field}`{}", if field == "id" { "" } else { " or `id`" })]
    NoIdColumn {
        /// The file.
        file: String,
        /// The column that was asked for.
        field: String,
    },
    /// A value is not a probability.
    #[error("{file}, line {line}: `{value}` in the column `{column}` is not a probability")]
    NotAProbability {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The column.
        column: String,
        /// How the value begins.
        value: String,
    },
    /// A row lacks the identifier that others have.
    #[error("{file}, line {line}: the row has no identifier")]
    NoIdentifier {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
    },
    /// A folder instead of a file.
    #[error("`{file}` is a folder")]
    Folder {
        /// The folder.
        file: String,
    },
    /// A line is not understood.
    #[error("{file}, line {line}: {reason}")]
    BadLine {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// Nothing says where a document begins.
    #[error("{file}: the first row of a document must have rank 1")]
    FirstRank {
        /// The file.
        file: String,
    },
    /// A document has no probability, or two, of a class.
    #[error(
        "document {document} of `{file}` does not have exactly one probability for the class `{class}`"
    )]
    MissingClass {
        /// The file.
        file: String,
        /// The document, from 1.
        document: usize,
        /// The class.
        class: String,
    },
    /// Probabilities of exclusive classes do not sum to one.
    #[error(
        "the probabilities of {document} of `{file}` sum to {sum:.4}, and those of exclusive classes must sum to 1"
    )]
    Sum {
        /// The document, as a reader would look for it.
        document: String,
        /// The file.
        file: String,
        /// What they sum to.
        sum: f64,
    },
    /// Not as many rows as documents, and nothing to join them by.
    #[error(
        "`{file}` covers {}, but the test set has {documents}",
        if *rows == 1 { "1 document".to_owned() } else { format!("{rows} documents") }
    )]
    RowCount {
        /// The file.
        file: String,
        /// Rows in it.
        rows: usize,
        /// Documents of the test set.
        documents: usize,
    },
    /// Numbers of rows that do not number the documents.
    #[error(
        "the column `row` of `{file}` does not number the {documents} documents of the test set: it has {rows} rows{}",
        if rows == documents { ", but not each of their row numbers once" } else { "" }
    )]
    RowNumbers {
        /// The file.
        file: String,
        /// Rows in it.
        rows: usize,
        /// Documents of the test set.
        documents: usize,
    },
    /// A document of the test set cannot be joined.
    #[error("document {document} of the test set has no identifier")]
    TestSetWithoutId {
        /// The document, from 1.
        document: usize,
    },
    /// Identifiers that may as well be numbers of rows.
    #[error(
        "the column `id` of `{file}` may hold identifiers of the test set or row numbers: it has every number up to {rows}"
    )]
    IdsOrRows {
        /// The file.
        file: String,
        /// Rows in it.
        rows: usize,
    },
    /// An identifier that is not unique in the file.
    #[error("`{file}` has two rows with the identifier `{id}`")]
    TwiceInTable {
        /// The file.
        file: String,
        /// The identifier.
        id: String,
    },
    /// An identifier that is not unique in the test set.
    #[error("the test set has two documents with the identifier `{id}`")]
    TwiceInTestSet {
        /// The identifier.
        id: String,
    },
    /// Documents without a row.
    #[error("{0}")]
    MissingRows(Box<MissingRows>),
}

/// Documents of a test set that a file says nothing of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingRows {
    /// The file.
    pub file: String,
    /// Documents without a row.
    pub missing: usize,
    /// Documents of the test set.
    pub documents: usize,
    /// Some of those without.
    pub shown_missing: String,
    /// Rows of no document.
    pub more: usize,
    /// Some of those.
    pub shown_more: String,
    /// Whether the file's identifiers are numbers from 0 or 1 on.
    pub are_numbers: bool,
}

impl fmt::Display for MissingRows {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "`{}` has no row for {} of {} documents of the test set ({}), and {} rows of its own",
            self.file, self.missing, self.documents, self.shown_missing, self.more
        )?;
        match self.more {
            0 => Ok(()),
            _ => write!(formatter, " ({})", self.shown_more),
        }
    }
}

/// What is worth saying about a file of probabilities that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableNote {
    /// What was done about zeros and ones, or about rows that do not sum to one.
    Ends {
        /// The file.
        file: String,
        /// What was done.
        sentence: String,
    },
    /// Rows are taken in their order, though they have identifiers.
    OnlyTableHasIds {
        /// The file.
        file: String,
    },
    /// Identifiers are taken as numbers of rows.
    IdsAreRows {
        /// The file.
        file: String,
    },
    /// Rows of no document.
    MoreRows {
        /// The file.
        file: String,
        /// How many.
        rows: usize,
        /// Some of them.
        shown: String,
    },
    /// Nobody said which class a single column speaks of.
    GuessedPositive {
        /// The file.
        file: String,
        /// The class that it is taken for.
        class: String,
    },
}

impl TableNote {
    /// Whether something may be wrong, and not merely decided for the user.
    pub fn is_warning(&self) -> bool {
        !matches!(self, Self::IdsAreRows { .. } | Self::MoreRows { .. })
    }
}

impl fmt::Display for TableNote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ends { file, sentence } => write!(formatter, "`{file}`: {sentence}"),
            Self::OnlyTableHasIds { file } => write!(
                formatter,
                "`{file}` has a column `id` and the test set has none: rows are matched by order"
            ),
            Self::IdsAreRows { file } => write!(
                formatter,
                "the identifiers of `{file}` are row numbers, and are treated as such"
            ),
            Self::MoreRows { file, rows, shown } => {
                let rows = match rows {
                    1 => format!("1 row of `{file}` is"),
                    many => format!("{many} rows of `{file}` are"),
                };
                write!(formatter, "{rows} of no document of the test set ({shown})")
            }
            Self::GuessedPositive { file, class } => write!(
                formatter,
                "the column `probability` of `{file}` is taken as that of the class `{class}`"
            ),
        }
    }
}

/// Some names, each in marks.
pub(in crate::jobs) fn quoted(names: &[impl AsRef<str>]) -> String {
    let shown = names.iter().take(SHOWN);
    let shown: Vec<String> = shown.map(|name| format!("`{}`", name.as_ref())).collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
