//! Predictions as CSV, JSON Lines or Parquet, whole or not at all.

use std::io::{BufWriter, Write};
use std::path::Path;

use calibrant::jobs::{DocumentKey, PositivePrediction, Prediction};
use calibrant::saved::AtomicFile;

use super::parquet_rows::ParquetRows;
use crate::error::CliError;
use crate::output::stdout;

/// Which columns there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A row for each document and class: [`Prediction`], with the learner's score or without.
    Classes { scores: bool },
    /// A row for each example: [`PositivePrediction`], with the ends of an interval or without.
    Positive { interval: bool },
}

impl Layout {
    /// The columns behind the one that says which document it is.
    pub(super) fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Classes { scores: false } => &["rank", "label", "probability", "log_odds"],
            Self::Classes { scores: true } => {
                &["rank", "label", "probability", "log_odds", "score"]
            }
            Self::Positive { interval: false } => &["class", "probability", "log_odds"],
            Self::Positive { interval: true } => {
                &["class", "probability", "log_odds", "lower", "upper"]
            }
        }
    }
}

/// The numbers of a positive class, in the order of the columns behind the class.
pub(super) fn positive_numbers(
    row: &PositivePrediction<'_>,
    layout: Layout,
) -> impl Iterator<Item = f64> + use<> {
    let p = row.probability;
    let (lower, upper) = (row.lower.unwrap_or(p), row.upper.unwrap_or(p));
    let numbers = [p, row.log_odds, lower, upper];
    numbers.into_iter().take(layout.columns().len() - 1)
}

pub(crate) struct PredictionWriter {
    format: Format,
    layout: Layout,
    // The header waits for the first prediction: a file that cannot be read leaves no trace.
    header_due: bool,
}

enum Format {
    Delimited(Box<csv::Writer<Box<dyn Write>>>, Option<AtomicFile>),
    JsonLines(Box<dyn Write>, Option<AtomicFile>),
    /// Its columns are known with the first prediction.
    Parquet(Option<Box<ParquetRows>>, AtomicFile),
}

impl PredictionWriter {
    /// Begins a temporary file beside `path`, or writes to standard output.
    pub(crate) fn create(
        path: Option<&Path>,
        json: bool,
        layout: Layout,
    ) -> Result<Self, CliError> {
        let Some(path) = path else {
            let out: Box<dyn Write> = Box::new(stdout());
            let format = if json {
                Format::JsonLines(out, None)
            } else {
                Format::Delimited(delimited(out, b','), None)
            };
            return Ok(Self {
                format,
                layout,
                header_due: true,
            });
        };
        let ending = path
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or_default()
            .to_ascii_lowercase();
        if !["csv", "tsv", "jsonl", "ndjson", "parquet"].contains(&ending.as_str()) {
            return Err(CliError::new(format!(
                "cannot recognise the format of `{}` from its extension",
                path.display()
            ))
            .hint("use .csv, .tsv, .jsonl or .parquet"));
        }
        let file = AtomicFile::create(path)?;
        let out =
            || -> Result<Box<dyn Write>, CliError> { Ok(Box::new(BufWriter::new(file.writer()?))) };
        let format = match ending.as_str() {
            "csv" => Format::Delimited(delimited(out()?, b','), Some(file)),
            "tsv" => Format::Delimited(delimited(out()?, b'\t'), Some(file)),
            "parquet" => Format::Parquet(None, file),
            _ => Format::JsonLines(out()?, Some(file)),
        };
        Ok(Self {
            format,
            layout,
            header_due: true,
        })
    }

    /// One document; it must have a key.
    pub(crate) fn write(&mut self, prediction: &Prediction<'_>) -> Result<(), CliError> {
        let Some(key) = &prediction.key else {
            return Err(CliError::new(
                "a prediction does not say of which document it is",
            ));
        };
        match &mut self.format {
            Format::Delimited(out, _) => {
                if std::mem::take(&mut self.header_due) {
                    write_header(out, key, self.layout)?;
                }
                let key = key.text();
                for (rank, class) in prediction.classes.iter().enumerate() {
                    let place = (rank + 1).to_string();
                    let numbers = [class.probability, class.log_odds].into_iter();
                    let numbers = numbers.chain(class.score).map(|n| n.to_string());
                    for text in [key.as_ref(), &place, &class.label] {
                        out.write_field(text).map_err(csv_error)?;
                    }
                    for number in numbers {
                        out.write_field(number).map_err(csv_error)?;
                    }
                    out.write_record(None::<&[u8]>).map_err(csv_error)?;
                }
            }
            Format::JsonLines(out, _) => {
                serde_json::to_writer(&mut *out, prediction)?;
                out.write_all(b"\n")?;
            }
            Format::Parquet(rows, file) => {
                opened(rows, file, self.layout, key.column())?.push(key, prediction)?;
            }
        }
        Ok(())
    }

    pub(crate) fn write_positive(&mut self, row: &PositivePrediction<'_>) -> Result<(), CliError> {
        match &mut self.format {
            Format::Delimited(out, _) => {
                if std::mem::take(&mut self.header_due) {
                    write_header(out, &row.key, self.layout)?;
                }
                out.write_field(row.key.text().as_ref())
                    .map_err(csv_error)?;
                out.write_field(row.class).map_err(csv_error)?;
                for number in positive_numbers(row, self.layout) {
                    out.write_field(number.to_string()).map_err(csv_error)?;
                }
                out.write_record(None::<&[u8]>).map_err(csv_error)?;
            }
            Format::JsonLines(out, _) => {
                serde_json::to_writer(&mut *out, row)?;
                out.write_all(b"\n")?;
            }
            Format::Parquet(rows, file) => {
                opened(rows, file, self.layout, row.key.column())?.push_positive(row)?;
            }
        }
        Ok(())
    }

    /// Flushes, and gives a file its name.
    pub(crate) fn finish(self) -> Result<(), CliError> {
        let temporary = match self.format {
            Format::Delimited(mut out, temporary) => {
                out.flush()?;
                temporary
            }
            Format::JsonLines(mut out, temporary) => {
                out.flush()?;
                temporary
            }
            Format::Parquet(mut rows, file) => {
                opened(&mut rows, &file, self.layout, "id")?;
                rows.map_or(Ok(()), |rows| rows.finish())?;
                Some(file)
            }
        };
        Ok(temporary.map_or(Ok(()), AtomicFile::finish)?)
    }
}

fn csv_error(error: csv::Error) -> CliError {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        other => CliError::new(format!("cannot write CSV: {other:?}")),
    }
}

fn opened<'a>(
    rows: &'a mut Option<Box<ParquetRows>>,
    file: &AtomicFile,
    layout: Layout,
    key: &'static str,
) -> Result<&'a mut ParquetRows, CliError> {
    let there = match rows.take() {
        Some(there) => there,
        None => Box::new(ParquetRows::new(file, layout, key)?),
    };
    Ok(rows.insert(there))
}

fn write_header(
    out: &mut csv::Writer<Box<dyn Write>>,
    first: &DocumentKey,
    layout: Layout,
) -> Result<(), CliError> {
    let key = first.column();
    let columns = std::iter::once(&key).chain(layout.columns());
    out.write_record(columns).map_err(csv_error)
}

fn delimited(out: Box<dyn Write>, delimiter: u8) -> Box<csv::Writer<Box<dyn Write>>> {
    let writer = csv::WriterBuilder::new()
        .delimiter(delimiter)
        .from_writer(out);
    Box::new(writer)
}
