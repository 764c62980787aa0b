//! Predictions as CSV, JSON Lines or Parquet, whole or not at all.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use calibrant::Probability;
use tempfile::NamedTempFile;

use super::parquet_rows::ParquetRows;
use crate::error::CliError;
use crate::output::stdout;

/// Which columns there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A row for each document and class: [`Prediction`].
    Classes,
    /// A row for each example: [`PositivePrediction`], with the ends of an interval or without.
    Positive { interval: bool },
}

impl Layout {
    pub(super) fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Classes => &["id", "rank", "label", "probability", "log_odds"],
            Self::Positive { interval: false } => &["id", "probability", "log_odds"],
            Self::Positive { interval: true } => {
                &["id", "probability", "log_odds", "lower", "upper"]
            }
        }
    }
}

/// The probability of the positive class of one example, between the ends of an interval if the
/// layout has one.
pub(crate) struct PositivePrediction {
    pub(crate) id: String,
    pub(crate) probability: Probability,
    pub(crate) interval: Option<(Probability, Probability)>,
}

impl PositivePrediction {
    /// The numbers, in the order of the columns behind the identifier.
    pub(super) fn numbers(&self, layout: Layout) -> impl Iterator<Item = f64> {
        let p = self.probability;
        let (lower, upper) = self.interval.unwrap_or((p, p));
        let numbers = [p.value(), p.log_odds(), lower.value(), upper.value()];
        numbers.into_iter().take(layout.columns().len() - 1)
    }
}

/// The classes of one document, the most probable first.
pub(crate) struct Prediction<'a> {
    pub(crate) id: String,
    pub(crate) classes: Vec<(&'a str, Probability)>,
}

pub(crate) struct PredictionWriter {
    format: Format,
    layout: Layout,
    target: Option<PathBuf>,
    // The header waits for the first prediction: a file that cannot be read leaves no trace.
    header_due: bool,
}

enum Format {
    Delimited(Box<csv::Writer<Box<dyn Write>>>, Option<NamedTempFile>),
    JsonLines(Box<dyn Write>, Option<NamedTempFile>),
    Parquet(Box<ParquetRows>),
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
                target: None,
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
                "cannot tell the format of `{}` from its ending",
                path.display()
            ))
            .hint("use .csv, .tsv, .jsonl or .parquet"));
        }
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let file = tempfile::Builder::new()
            .prefix(".calibrant-")
            .tempfile_in(folder)
            .map_err(|error| {
                CliError::new(format!("cannot write to `{}`: {error}", folder.display()))
            })?;
        let out =
            || -> Result<Box<dyn Write>, CliError> { Ok(Box::new(BufWriter::new(file.reopen()?))) };
        let format = match ending.as_str() {
            "csv" => Format::Delimited(delimited(out()?, b','), Some(file)),
            "tsv" => Format::Delimited(delimited(out()?, b'\t'), Some(file)),
            "parquet" => Format::Parquet(Box::new(ParquetRows::new(file, layout)?)),
            _ => Format::JsonLines(out()?, Some(file)),
        };
        Ok(Self {
            format,
            layout,
            target: Some(path.to_owned()),
            header_due: true,
        })
    }

    pub(crate) fn write(&mut self, prediction: &Prediction<'_>) -> Result<(), CliError> {
        match &mut self.format {
            Format::Delimited(out, _) => {
                if std::mem::take(&mut self.header_due) {
                    out.write_record(self.layout.columns()).map_err(csv_error)?;
                }
                for (rank, (label, probability)) in prediction.classes.iter().enumerate() {
                    out.write_record([
                        prediction.id.as_str(),
                        &(rank + 1).to_string(),
                        label,
                        &probability.value().to_string(),
                        &probability.log_odds().to_string(),
                    ])
                    .map_err(csv_error)?;
                }
            }
            Format::JsonLines(out, _) => {
                let classes: Vec<JsonClass<'_>> = prediction
                    .classes
                    .iter()
                    .map(|&(label, p)| JsonClass {
                        label,
                        probability: p.value(),
                        log_odds: p.log_odds(),
                    })
                    .collect();
                serde_json::to_writer(
                    &mut *out,
                    &JsonPrediction {
                        id: &prediction.id,
                        classes,
                    },
                )?;
                out.write_all(b"\n")?;
            }
            Format::Parquet(rows) => rows.push(prediction)?,
        }
        Ok(())
    }

    pub(crate) fn write_positive(&mut self, row: &PositivePrediction) -> Result<(), CliError> {
        match &mut self.format {
            Format::Delimited(out, _) => {
                if std::mem::take(&mut self.header_due) {
                    out.write_record(self.layout.columns()).map_err(csv_error)?;
                }
                out.write_field(&row.id).map_err(csv_error)?;
                for number in row.numbers(self.layout) {
                    out.write_field(number.to_string()).map_err(csv_error)?;
                }
                out.write_record(None::<&[u8]>).map_err(csv_error)?;
            }
            Format::JsonLines(out, _) => {
                let (lower, upper) = row.interval.unzip();
                serde_json::to_writer(
                    &mut *out,
                    &JsonPositive {
                        id: &row.id,
                        probability: row.probability.value(),
                        log_odds: row.probability.log_odds(),
                        lower: lower.map(Probability::value),
                        upper: upper.map(Probability::value),
                    },
                )?;
                out.write_all(b"\n")?;
            }
            Format::Parquet(rows) => rows.push_positive(row)?,
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
            Format::Parquet(rows) => Some(rows.finish()?),
        };
        if let Some((temporary, target)) = temporary.zip(self.target) {
            calibrant::pipeline::publish(temporary, &target).map_err(|error| {
                CliError::new(format!("cannot write `{}`: {error}", target.display()))
            })?;
        }
        Ok(())
    }
}

#[derive(serde::Serialize)]
struct JsonPrediction<'a> {
    id: &'a str,
    classes: Vec<JsonClass<'a>>,
}

#[derive(serde::Serialize)]
struct JsonClass<'a> {
    label: &'a str,
    probability: f64,
    log_odds: f64,
}

#[derive(serde::Serialize)]
struct JsonPositive<'a> {
    id: &'a str,
    probability: f64,
    log_odds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper: Option<f64>,
}

fn csv_error(error: csv::Error) -> CliError {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        other => CliError::new(format!("cannot write CSV: {other:?}")),
    }
}

fn delimited(out: Box<dyn Write>, delimiter: u8) -> Box<csv::Writer<Box<dyn Write>>> {
    let writer = csv::WriterBuilder::new()
        .delimiter(delimiter)
        .from_writer(out);
    Box::new(writer)
}
