//! Small tables of any columns: lists for a person to read, samples for a person to label.

use std::io::Write;
use std::path::Path;

use serde_json::Value;

use super::{PredictionFormat, WritePredictionsError};
use crate::saved::write_file;

/// Rows of named cells.
///
/// ```
/// use calibrant::jobs::{PlainTable, PredictionFormat};
/// let table = PlainTable {
///     header: vec!["id".into(), "words".into()],
///     rows: vec![vec!["a;b".into(), vec!["x", "y"].into()]],
/// };
/// let text = table.to_bytes(PredictionFormat::Csv)?;
/// assert_eq!(text, b"id,words\na;b,\"x, y\"\n");
/// let lines = table.to_bytes(PredictionFormat::JsonLines)?;
/// assert_eq!(lines, b"{\"id\":\"a;b\",\"words\":[\"x\",\"y\"]}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlainTable {
    /// The names of the columns.
    pub header: Vec<String>,
    /// The rows: text, numbers, or lists, which tables show with commas.
    pub rows: Vec<Vec<Value>>,
}

impl PlainTable {
    /// Writes the table to `path`, whose ending tells the format, as a whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), WritePredictionsError> {
        let format = Self::format_of(path)?;
        Ok(write_file(path, &self.to_bytes(format)?)?)
    }

    /// The format in which a file with this name would be written: CSV, TSV or JSON Lines.
    pub fn format_of(path: &Path) -> Result<PredictionFormat, WritePredictionsError> {
        PredictionFormat::of_path(path)
            .filter(|format| *format != PredictionFormat::Parquet)
            .ok_or_else(|| WritePredictionsError::Ending {
                path: path.to_owned(),
            })
    }

    /// The bytes of a file.
    pub fn to_bytes(&self, format: PredictionFormat) -> Result<Vec<u8>, WritePredictionsError> {
        let delimiter = match format {
            PredictionFormat::Csv => b',',
            PredictionFormat::Tsv => b'\t',
            _ => return self.lines(),
        };
        let error = |error: csv::Error| WritePredictionsError::Csv {
            reason: error.to_string(),
        };
        let mut writer = csv::WriterBuilder::new()
            .delimiter(delimiter)
            .from_writer(Vec::new());
        writer.write_record(&self.header).map_err(error)?;
        for row in &self.rows {
            writer.write_record(row.iter().map(cell)).map_err(error)?;
        }
        writer
            .into_inner()
            .map_err(|error| WritePredictionsError::Csv {
                reason: error.to_string(),
            })
    }

    fn lines(&self) -> Result<Vec<u8>, WritePredictionsError> {
        let mut out = Vec::new();
        for row in &self.rows {
            let mut begin = b'{';
            for (name, value) in self.header.iter().zip(row) {
                out.push(begin);
                serde_json::to_writer(&mut out, name)?;
                out.push(b':');
                serde_json::to_writer(&mut out, value)?;
                begin = b',';
            }
            out.write_all(b"}\n")?;
        }
        Ok(out)
    }
}

/// A cell as text.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(cell).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
