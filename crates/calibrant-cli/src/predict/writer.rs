//! Predictions as CSV, JSON Lines or Parquet, whole or not at all.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use calibrant::Probability;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use tempfile::NamedTempFile;

use crate::error::CliError;
use crate::output::stdout;

/// The classes of one document, the most probable first.
pub(super) struct Prediction<'a> {
    pub(super) id: String,
    pub(super) classes: Vec<(&'a str, Probability)>,
}

pub(super) struct PredictionWriter {
    format: Format,
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
    pub(super) fn create(path: Option<&Path>, json: bool) -> Result<Self, CliError> {
        let Some(path) = path else {
            let out: Box<dyn Write> = Box::new(stdout());
            let format = if json {
                Format::JsonLines(out, None)
            } else {
                Format::Delimited(delimited(out, b','), None)
            };
            return Ok(Self {
                format,
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
            "parquet" => Format::Parquet(Box::new(ParquetRows::new(file)?)),
            _ => Format::JsonLines(out()?, Some(file)),
        };
        Ok(Self {
            format,
            target: Some(path.to_owned()),
            header_due: true,
        })
    }

    pub(super) fn write(&mut self, prediction: &Prediction<'_>) -> Result<(), CliError> {
        match &mut self.format {
            Format::Delimited(out, _) => {
                if std::mem::take(&mut self.header_due) {
                    out.write_record(["id", "rank", "label", "probability", "log_odds"])
                        .map_err(csv_error)?;
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

    /// Flushes, and gives a file its name.
    pub(super) fn finish(self) -> Result<(), CliError> {
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

/// Rows are gathered into groups of this many.
const ROW_GROUP: usize = 1 << 17;

struct ParquetRows {
    file: NamedTempFile,
    writer: SerializedFileWriter<File>,
    ids: Vec<ByteArray>,
    ranks: Vec<i32>,
    labels: Vec<ByteArray>,
    probabilities: Vec<f64>,
    log_odds: Vec<f64>,
}

impl ParquetRows {
    fn new(file: NamedTempFile) -> Result<Self, CliError> {
        let schema = parse_message_type(
            "message predictions { required binary id (utf8); required int32 rank; required binary label (utf8); \
             required double probability; required double log_odds; }",
        )
        .map_err(parquet_error)?;
        let properties = Arc::new(
            WriterProperties::builder()
                .set_compression(Compression::SNAPPY)
                .build(),
        );
        let writer = SerializedFileWriter::new(file.reopen()?, Arc::new(schema), properties)
            .map_err(parquet_error)?;
        Ok(Self {
            file,
            writer,
            ids: Vec::new(),
            ranks: Vec::new(),
            labels: Vec::new(),
            probabilities: Vec::new(),
            log_odds: Vec::new(),
        })
    }

    fn push(&mut self, prediction: &Prediction<'_>) -> Result<(), CliError> {
        let id = ByteArray::from(prediction.id.as_str());
        for (rank, (label, probability)) in prediction.classes.iter().enumerate() {
            self.ids.push(id.clone());
            self.ranks.push(rank as i32 + 1);
            self.labels.push(ByteArray::from(*label));
            self.probabilities.push(probability.value());
            self.log_odds.push(probability.log_odds());
        }
        if self.ids.len() >= ROW_GROUP {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<(), CliError> {
        if self.ids.is_empty() {
            return Ok(());
        }
        self.write_group().map_err(parquet_error)?;
        self.ids.clear();
        self.ranks.clear();
        self.labels.clear();
        self.probabilities.clear();
        self.log_odds.clear();
        Ok(())
    }

    fn write_group(&mut self) -> parquet::errors::Result<()> {
        let mut group = self.writer.next_row_group()?;
        let mut number = 0;
        while let Some(mut column) = group.next_column()? {
            match number {
                0 => column
                    .typed::<ByteArrayType>()
                    .write_batch(&self.ids, None, None)?,
                1 => column
                    .typed::<Int32Type>()
                    .write_batch(&self.ranks, None, None)?,
                2 => column
                    .typed::<ByteArrayType>()
                    .write_batch(&self.labels, None, None)?,
                3 => column
                    .typed::<DoubleType>()
                    .write_batch(&self.probabilities, None, None)?,
                _ => column
                    .typed::<DoubleType>()
                    .write_batch(&self.log_odds, None, None)?,
            };
            column.close()?;
            number += 1;
        }
        group.close()?;
        Ok(())
    }

    fn finish(mut self) -> Result<NamedTempFile, CliError> {
        self.flush()?;
        self.writer.close().map_err(parquet_error)?;
        Ok(self.file)
    }
}

fn parquet_error(error: parquet::errors::ParquetError) -> CliError {
    CliError::new(format!("cannot write Parquet: {error}"))
}
