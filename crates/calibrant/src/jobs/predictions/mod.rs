//! Predictions as CSV, TSV, JSON Lines, Parquet or xlsx, to any writer; a file is there as a whole or not at all.

mod beside;
#[cfg(feature = "parquet")]
mod parquet_rows;
#[cfg(feature = "parquet")]
mod parquet_table;
#[cfg(feature = "spreadsheet")]
mod spreadsheet;
mod table;
#[cfg(test)]
mod tests;
mod text_table;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

use super::{Decision, DocumentKey, PositivePrediction, Prediction, ScorePrediction};
use crate::corpus::{Cell, Encoding, KeptRow, NewFieldError};
use crate::saved::{AtomicFile, WriteError};
pub use beside::RowColumns;
pub(super) use beside::free_separator;
use beside::{Ours, positive_cells};
#[cfg(feature = "parquet")]
use parquet_rows::ParquetRows;
pub(crate) use table::TableWriter;
pub(crate) use text_table::LineWriter;

/// How predictions are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PredictionFormat {
    /// Comma-separated values with a header line.
    Csv,
    /// Tab-separated values with a header line.
    Tsv,
    /// A JSON object per line.
    #[serde(alias = "jsonl")]
    JsonLines,
    /// Apache Parquet.
    Parquet,
    /// A sheet of xlsx, which is written when all rows are there.
    Xlsx,
}

named! {
    PredictionFormat, "a format of predictions";
    Csv = "csv", "Comma-separated values with a header line";
    Tsv = "tsv", "Tab-separated values with a header line";
    JsonLines = "jsonl" | "ndjson" | "json_lines", "A JSON object per line";
    Parquet = "parquet", "Apache Parquet";
    Xlsx = "xlsx", "A spreadsheet";
}

impl PredictionFormat {
    /// The format that the ending of a file's name stands for.
    ///
    /// ```
    /// use calibrant::jobs::PredictionFormat;
    /// assert_eq!(PredictionFormat::of_path("march.JSONL".as_ref()), Some(PredictionFormat::JsonLines));
    /// assert_eq!(PredictionFormat::of_path("march".as_ref()), None);
    /// ```
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "tsv" => Some(Self::Tsv),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            "parquet" => Some(Self::Parquet),
            "xlsx" => Some(Self::Xlsx),
            _ => None,
        }
    }
}

/// Which columns a table of predictions has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredictionColumns {
    /// A row for each document and class: [`Prediction`].
    Classes {
        /// With the learner's score.
        scores: bool,
        /// With the decision, in the row of the first class, or of every class where each label has its own.
        decisions: bool,
        /// With the set of classes, in the row of the first class, joined by this separator.
        sets: Option<&'static str>,
    },
    /// A row for each example: [`PositivePrediction`].
    Positive {
        /// With the ends of an interval.
        interval: bool,
    },
    /// A row for each document or example, beside its own columns or with a column for each class.
    Rows(RowColumns),
}

impl PredictionColumns {
    /// Their names, behind the one that says which document it is.
    pub fn names(self) -> &'static [&'static str] {
        /// All that rows of classes may have.
        const CLASSES: [&str; 9] = [
            "rank",
            "label",
            "probability",
            "log_odds",
            "score",
            "decision",
            "expected_cost",
            "runner_up",
            "set",
        ];
        const UNSCORED: [&str; 8] = [
            "rank",
            "label",
            "probability",
            "log_odds",
            "decision",
            "expected_cost",
            "runner_up",
            "set",
        ];
        const SETS: [&str; 6] = ["rank", "label", "probability", "log_odds", "score", "set"];
        const UNSCORED_SETS: [&str; 5] = ["rank", "label", "probability", "log_odds", "set"];
        match self {
            Self::Classes {
                scores,
                decisions,
                sets,
            } => match (scores, decisions, sets.is_some()) {
                (true, true, true) => &CLASSES,
                (true, true, false) => &CLASSES[..8],
                (true, false, true) => &SETS,
                (true, false, false) => &CLASSES[..5],
                (false, true, true) => &UNSCORED,
                (false, true, false) => &UNSCORED[..7],
                (false, false, true) => &UNSCORED_SETS,
                (false, false, false) => &CLASSES[..4],
            },
            Self::Positive { interval: false } => &["class", "probability", "log_odds"],
            Self::Positive { interval: true } => {
                &["class", "probability", "log_odds", "lower", "upper"]
            }
            Self::Rows(_) => &["label", "probability"],
        }
    }
}

/// Why predictions cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WritePredictionsError {
    /// The writer failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file could not be begun, or given its name.
    #[error(transparent)]
    File(#[from] WriteError),
    /// The name of a file does not tell its format.
    #[error("cannot recognise the format of `{}` from its extension", path.display())]
    Ending {
        /// The file.
        path: PathBuf,
    },
    /// A prediction without a key.
    #[error("a prediction does not say of which document it is")]
    NoKey,
    /// A row that the columns are not made for.
    #[error("a prediction does not have the columns {}", columns.join(", "))]
    OtherColumns {
        /// The columns.
        columns: &'static [&'static str],
    },
    /// A prediction cannot be written as CSV.
    #[error("cannot write CSV: {reason}")]
    Csv {
        /// Why not.
        reason: String,
    },
    /// A prediction cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A prediction without the row that it shall stand beside.
    #[error("a prediction does not have the row that it is of")]
    NoRow,
    /// A row has a field that the table has no column for.
    #[error("{0}; JSON Lines can hold it")]
    NewField(#[from] NewFieldError),
    /// A row has a field that a column of ours is called by.
    #[error(
        "line {line} has a field `{field}` that the first rows have not, and by which a result is called: rename it, or give it to the first row as null"
    )]
    Clash {
        /// Where the row starts.
        line: u64,
        /// The field.
        field: String,
    },
    /// Something cannot be written as the input is.
    #[error("`{character}` cannot be written in {encoding}, the encoding of the input")]
    Encoding {
        /// The encoding.
        encoding: Encoding,
        /// What it has no bytes for.
        character: char,
    },
    /// A spreadsheet cannot be written.
    #[error("cannot write xlsx: {reason}")]
    Spreadsheet {
        /// Why not.
        reason: String,
    },
    /// A file of Parquet cannot be written.
    #[error("cannot write Parquet: {reason}")]
    Parquet {
        /// Why not.
        reason: String,
    },
}

type Out<'a> = Box<dyn Write + Send + 'a>;

/// Writes predictions one after the other.
///
/// ```
/// use calibrant::Probability;
/// use calibrant::jobs::{DocumentKey, Prediction, PredictionColumns, PredictionFormat, PredictionWriter};
/// let said = [0.0, 1.5].map(Probability::from_log_odds);
/// let mut prediction = Prediction::best_first(&["ham", "spam"], &said, &[], 1);
/// prediction.key = Some(DocumentKey::Row(1));
/// let mut table = Vec::new();
/// let columns = PredictionColumns::Classes { scores: false, decisions: false, sets: None };
/// let mut writer = PredictionWriter::new(&mut table, PredictionFormat::Csv, columns);
/// writer.write(&prediction)?;
/// writer.finish()?;
/// // By hand: 1 / (1 + e^-1.5) = 0.81757…
/// let text = String::from_utf8(table)?;
/// assert!(text.starts_with("row,rank,label,probability,log_odds\n1,1,spam,0.81757"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PredictionWriter<'a> {
    rows: Rows<'a>,
    columns: PredictionColumns,
    // The header waits for the first prediction: a file that cannot be read leaves no trace.
    header_due: bool,
    /// Waits for its name.
    file: Option<AtomicFile>,
}

enum Rows<'a> {
    Delimited(Box<csv::Writer<Out<'a>>>),
    JsonLines(Out<'a>),
    /// Its columns are known with the first prediction.
    Parquet(ParquetTable<'a>),
    /// One row for each document; its columns are known with the first.
    Table(RowTable<'a>),
}

/// A table that waits for its first row, or goes on.
struct RowTable<'a> {
    out: Option<Out<'a>>,
    format: PredictionFormat,
    begun: Option<(TableWriter<'a>, Ours)>,
}

impl<'a> PredictionWriter<'a> {
    /// Writes to `out`, which should be buffered.
    pub fn new(
        out: impl Write + Send + 'a,
        format: PredictionFormat,
        columns: PredictionColumns,
    ) -> Self {
        let out: Out<'a> = Box::new(out);
        let delimited = |out, delimiter| {
            let mut writer = csv::WriterBuilder::new();
            Rows::Delimited(Box::new(writer.delimiter(delimiter).from_writer(out)))
        };
        let table = |out| {
            Rows::Table(RowTable {
                out: Some(out),
                format,
                begun: None,
            })
        };
        Self {
            rows: match format {
                _ if matches!(columns, PredictionColumns::Rows(_)) => table(out),
                // A sheet of all classes of all documents is a table like any other.
                PredictionFormat::Xlsx => table(out),
                PredictionFormat::Csv => delimited(out, b','),
                PredictionFormat::Tsv => delimited(out, b'\t'),
                PredictionFormat::JsonLines => Rows::JsonLines(out),
                PredictionFormat::Parquet => Rows::Parquet(ParquetTable::new(out)),
            },
            columns,
            header_due: true,
            file: None,
        }
    }

    /// Begins a temporary file beside `path`, whose ending tells the format. It has its name when the writer is finished.
    pub fn create(path: &Path, columns: PredictionColumns) -> Result<Self, WritePredictionsError> {
        let format =
            PredictionFormat::of_path(path).ok_or_else(|| WritePredictionsError::Ending {
                path: path.to_owned(),
            })?;
        let file = AtomicFile::create(path)?;
        let writer = Self::new(BufWriter::new(file.writer()?), format, columns);
        Ok(Self {
            file: Some(file),
            ..writer
        })
    }

    /// One document; it must have a key.
    pub fn write(&mut self, prediction: &Prediction<'_>) -> Result<(), WritePredictionsError> {
        let PredictionColumns::Classes {
            scores,
            decisions,
            sets,
        } = self.columns
        else {
            return self.write_row(prediction);
        };
        let Some(key) = &prediction.key else {
            return Err(WritePredictionsError::NoKey);
        };
        // A table has the same columns in every row.
        let mut classes = prediction.classes.iter();
        let decided = prediction.decision_at(0).is_some();
        if classes.any(|class| class.score.is_some() != scores)
            || (decided != decisions && !prediction.classes.is_empty())
            || prediction.set.is_some() != sets.is_some()
        {
            return Err(self.other_columns());
        }
        match &mut self.rows {
            Rows::Delimited(out) => {
                if std::mem::take(&mut self.header_due) {
                    write_header(out, key, self.columns)?;
                }
                let key = key.text();
                for (rank, class) in prediction.classes.iter().enumerate() {
                    let place = (rank + 1).to_string();
                    let numbers = [class.probability, class.log_odds].into_iter();
                    for text in [key.as_ref(), &place, &class.label] {
                        out.write_field(text).map_err(csv_error)?;
                    }
                    for number in numbers.chain(class.score) {
                        out.write_field(number.to_string()).map_err(csv_error)?;
                    }
                    if decisions {
                        write_decision(out, prediction.decision_at(rank))?;
                    }
                    if let Some(separator) = sets {
                        let set = prediction.set_at(rank, separator).unwrap_or_default();
                        out.write_field(set).map_err(csv_error)?;
                    }
                    out.write_record(None::<&[u8]>).map_err(csv_error)?;
                }
            }
            Rows::JsonLines(out) => write_line(out, prediction)?,
            Rows::Parquet(table) => table.push(self.columns, key, prediction)?,
            Rows::Table(table) => table.push_classes(self.columns, key, prediction)?,
        }
        Ok(())
    }

    /// One example of a single score.
    pub fn write_positive(
        &mut self,
        row: &PositivePrediction<'_>,
    ) -> Result<(), WritePredictionsError> {
        if let PredictionColumns::Rows(columns) = self.columns {
            let Rows::Table(table) = &mut self.rows else {
                return Err(self.other_columns());
            };
            let kept = kept_row(columns, row.kept.as_deref())?;
            let begin = || Ours::of_positive(row, columns, kept.map(|row| row.file().as_ref()));
            table.begin(kept, columns.like_input, begin)?;
            return table.push(kept, positive_cells(row, columns));
        }
        if !matches!(self.columns, PredictionColumns::Positive { .. }) {
            return Err(self.other_columns());
        }
        match &mut self.rows {
            Rows::Delimited(out) => {
                if std::mem::take(&mut self.header_due) {
                    write_header(out, &row.key, self.columns)?;
                }
                for text in [row.key.text().as_ref(), row.class] {
                    out.write_field(text).map_err(csv_error)?;
                }
                write_numbers(out, positive_numbers(row, self.columns))?;
            }
            Rows::JsonLines(out) => write_line(out, row)?,
            Rows::Parquet(table) => table.push_positive(self.columns, row)?,
            Rows::Table(table) => table.push_positive(self.columns, row)?,
        }
        Ok(())
    }

    /// What is said of one row of scores.
    pub fn write_scored(
        &mut self,
        prediction: &ScorePrediction<'_>,
    ) -> Result<(), WritePredictionsError> {
        match prediction {
            ScorePrediction::Positive(prediction) => self.write_positive(prediction),
            ScorePrediction::Classes(prediction) => self.write(prediction),
        }
    }

    fn write_row(&mut self, prediction: &Prediction<'_>) -> Result<(), WritePredictionsError> {
        let (PredictionColumns::Rows(columns), Rows::Table(table)) = (self.columns, &mut self.rows)
        else {
            return Err(self.other_columns());
        };
        if prediction.key.is_none() && !columns.keep {
            return Err(WritePredictionsError::NoKey);
        }
        let kept = kept_row(columns, prediction.kept.as_deref())?;
        let begin = || Ours::of(prediction, columns, kept.map(|row| row.file().as_ref()));
        let ours = table.begin(kept, columns.like_input, begin)?;
        let cells = ours.cells(prediction, columns);
        table.push(kept, cells)
    }

    /// Hands on what is written so far, where the format can: Parquet and spreadsheets wait for the end.
    pub fn flush(&mut self) -> Result<(), WritePredictionsError> {
        match &mut self.rows {
            Rows::Delimited(out) => out.flush()?,
            Rows::JsonLines(out) => out.flush()?,
            Rows::Parquet(_) => {}
            Rows::Table(table) => {
                if let Some((table, _)) = &mut table.begun {
                    table.flush()?;
                }
            }
        }
        Ok(())
    }

    /// Writes what is left, and gives a file its name.
    pub fn finish(self) -> Result<(), WritePredictionsError> {
        match self.rows {
            Rows::Delimited(mut out) => out.flush()?,
            Rows::JsonLines(mut out) => out.flush()?,
            Rows::Parquet(table) => table.finish(self.columns)?,
            Rows::Table(table) => table.finish()?,
        }
        Ok(self.file.map_or(Ok(()), AtomicFile::finish)?)
    }

    fn other_columns(&self) -> WritePredictionsError {
        let columns = self.columns.names();
        WritePredictionsError::OtherColumns { columns }
    }
}

/// The row that a prediction shall stand beside.
fn kept_row(
    columns: RowColumns,
    row: Option<&KeptRow>,
) -> Result<Option<&KeptRow>, WritePredictionsError> {
    match (columns.keep, row) {
        (true, None) => Err(WritePredictionsError::NoRow),
        (keep, row) => Ok(row.filter(|_| keep)),
    }
}

/// A library built without a format says so.
#[cfg(not(all(feature = "parquet", feature = "spreadsheet")))]
fn left_out(format: PredictionFormat) -> WritePredictionsError {
    let reason = "this library was built without the feature".to_owned();
    match format {
        PredictionFormat::Xlsx => WritePredictionsError::Spreadsheet {
            reason: reason + " `spreadsheet`",
        },
        _ => WritePredictionsError::Parquet {
            reason: reason + " `parquet`",
        },
    }
}

impl<'a> RowTable<'a> {
    /// Begins the table with its first row.
    fn begin(
        &mut self,
        kept: Option<&KeptRow>,
        like_input: bool,
        ours: impl FnOnce() -> Ours,
    ) -> Result<&Ours, WritePredictionsError> {
        if let Some(out) = self.out.take() {
            let ours = ours();
            let file = kept.map(KeptRow::file);
            let names = ours.names.clone();
            let table = TableWriter::begin(out, self.format, file, names, like_input)?;
            self.begun = Some((table, ours));
        }
        let begun = self.begun.as_ref().map(|(_, ours)| ours);
        begun.ok_or(WritePredictionsError::NoRow)
    }

    fn push(
        &mut self,
        kept: Option<&KeptRow>,
        cells: Vec<(std::borrow::Cow<'_, str>, Cell<'_>)>,
    ) -> Result<(), WritePredictionsError> {
        let cells: Vec<Cell<'_>> = cells.into_iter().map(|(_, cell)| cell).collect();
        match &mut self.begun {
            Some((table, _)) => table.row(kept, &cells),
            None => Err(WritePredictionsError::NoRow),
        }
    }

    /// Rows of all classes, for a sheet.
    fn push_classes(
        &mut self,
        columns: PredictionColumns,
        key: &DocumentKey,
        prediction: &Prediction<'_>,
    ) -> Result<(), WritePredictionsError> {
        self.begin(None, false, || Ours::long(key, columns))?;
        for (rank, class) in prediction.classes.iter().enumerate() {
            let numbers = [class.probability, class.log_odds].into_iter();
            let cells = [
                beside::key_cell(key).1,
                Cell::Whole(rank as i64 + 1),
                Cell::text(&class.label),
            ];
            let numbers = numbers.chain(class.score).map(Cell::Real);
            let mut cells: Vec<_> = cells.into_iter().chain(numbers).collect();
            if matches!(
                columns,
                PredictionColumns::Classes {
                    decisions: true,
                    ..
                }
            ) {
                cells.extend(beside::decision_cells(prediction.decision_at(rank)));
            }
            if let PredictionColumns::Classes {
                sets: Some(separator),
                ..
            } = columns
            {
                let set = prediction.set_at(rank, separator).unwrap_or_default();
                cells.push(Cell::Text(set.into()));
            }
            let cells = cells.into_iter().map(|cell| ("".into(), cell));
            self.push(None, cells.collect())?;
        }
        Ok(())
    }

    fn push_positive(
        &mut self,
        columns: PredictionColumns,
        row: &PositivePrediction<'_>,
    ) -> Result<(), WritePredictionsError> {
        self.begin(None, false, || Ours::long(&row.key, columns))?;
        let cells = [beside::key_cell(&row.key).1, Cell::text(row.class)];
        let numbers = positive_numbers(row, columns).map(Cell::Real);
        let cells = cells.into_iter().chain(numbers);
        self.push(None, cells.map(|cell| ("".into(), cell)).collect())
    }

    /// A table without any row has no columns either.
    fn finish(self) -> Result<(), WritePredictionsError> {
        match (self.begun, self.out) {
            (Some((table, _)), _) => table.finish(),
            (None, Some(mut out)) => Ok(out.flush()?),
            (None, None) => Ok(()),
        }
    }
}

/// The numbers of a positive class, in the order of the columns behind the class.
fn positive_numbers(
    row: &PositivePrediction<'_>,
    columns: PredictionColumns,
) -> impl Iterator<Item = f64> + use<> {
    let p = row.probability;
    let (lower, upper) = (row.lower.unwrap_or(p), row.upper.unwrap_or(p));
    let numbers = [p, row.log_odds, lower, upper];
    numbers.into_iter().take(columns.names().len() - 1)
}

fn write_header(
    out: &mut csv::Writer<Out<'_>>,
    first: &DocumentKey,
    columns: PredictionColumns,
) -> Result<(), WritePredictionsError> {
    let key = first.column();
    let names = std::iter::once(&key).chain(columns.names());
    out.write_record(names).map_err(csv_error)
}

/// The last fields of a row.
fn write_numbers(
    out: &mut csv::Writer<Out<'_>>,
    numbers: impl Iterator<Item = f64>,
) -> Result<(), WritePredictionsError> {
    for number in numbers {
        out.write_field(number.to_string()).map_err(csv_error)?;
    }
    out.write_record(None::<&[u8]>).map_err(csv_error)
}

/// Three fields, empty where nothing was decided.
fn write_decision(
    out: &mut csv::Writer<Out<'_>>,
    decision: Option<&Decision<'_>>,
) -> Result<(), WritePredictionsError> {
    let cost = decision.and_then(|decision| decision.expected_cost);
    let cost = cost.map_or_else(String::new, |cost| cost.to_string());
    let second = decision.and_then(|decision| decision.runner_up.as_ref());
    for text in [
        decision.map_or("", |decision| &decision.action),
        &cost,
        second.map_or("", |second| &second.action),
    ] {
        out.write_field(text).map_err(csv_error)?;
    }
    Ok(())
}

fn write_line(out: &mut Out<'_>, row: &impl Serialize) -> Result<(), WritePredictionsError> {
    serde_json::to_writer(&mut *out, row)?;
    Ok(out.write_all(b"\n")?)
}

fn csv_error(error: csv::Error) -> WritePredictionsError {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        other => WritePredictionsError::Csv {
            reason: format!("{other:?}"),
        },
    }
}

/// Rows of Parquet, or the writer that they will go to.
struct ParquetTable<'a> {
    out: Option<Out<'a>>,
    #[cfg(feature = "parquet")]
    rows: Option<Box<ParquetRows<'a>>>,
}

#[cfg(feature = "parquet")]
impl<'a> ParquetTable<'a> {
    fn new(out: Out<'a>) -> Self {
        Self {
            out: Some(out),
            rows: None,
        }
    }

    fn rows(
        &mut self,
        columns: PredictionColumns,
        key: &'static str,
    ) -> Result<&mut ParquetRows<'a>, WritePredictionsError> {
        if let Some(out) = self.out.take() {
            self.rows = Some(Box::new(ParquetRows::new(out, columns, key)?));
        }
        let rows = self.rows.as_deref_mut();
        rows.ok_or_else(|| WritePredictionsError::Parquet {
            reason: "the table could not be begun".to_owned(),
        })
    }

    fn push(
        &mut self,
        columns: PredictionColumns,
        key: &DocumentKey,
        prediction: &Prediction<'_>,
    ) -> Result<(), WritePredictionsError> {
        self.rows(columns, key.column())?.push(key, prediction)
    }

    fn push_positive(
        &mut self,
        columns: PredictionColumns,
        row: &PositivePrediction<'_>,
    ) -> Result<(), WritePredictionsError> {
        self.rows(columns, row.key.column())?.push_positive(row)
    }

    fn finish(mut self, columns: PredictionColumns) -> Result<(), WritePredictionsError> {
        self.rows(columns, "id")?;
        self.rows.map_or(Ok(()), |rows| rows.finish())
    }
}

/// A library built without Parquet says so.
#[cfg(not(feature = "parquet"))]
impl<'a> ParquetTable<'a> {
    fn new(out: Out<'a>) -> Self {
        Self { out: Some(out) }
    }

    fn left_out(&mut self) -> Result<(), WritePredictionsError> {
        self.out = None;
        Err(WritePredictionsError::Parquet {
            reason: "this library was built without the feature `parquet`".to_owned(),
        })
    }

    fn push(
        &mut self,
        _: PredictionColumns,
        _: &DocumentKey,
        _: &Prediction<'_>,
    ) -> Result<(), WritePredictionsError> {
        self.left_out()
    }

    fn push_positive(
        &mut self,
        _: PredictionColumns,
        _: &PositivePrediction<'_>,
    ) -> Result<(), WritePredictionsError> {
        self.left_out()
    }

    fn finish(mut self, _: PredictionColumns) -> Result<(), WritePredictionsError> {
        self.left_out()
    }
}
