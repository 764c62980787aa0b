//! Small tables of any columns: lists for a person to read, samples for a person to label.

use std::io::Write;
use std::path::Path;

use serde_json::Value;

use super::predictions::TableWriter;
use super::{PredictionFormat, WritePredictionsError};
use crate::corpus::Cell;
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

    /// The format in which a file with this name would be written.
    pub fn format_of(path: &Path) -> Result<PredictionFormat, WritePredictionsError> {
        PredictionFormat::of_path(path).ok_or_else(|| WritePredictionsError::Ending {
            path: path.to_owned(),
        })
    }

    /// The bytes of a file.
    pub fn to_bytes(&self, format: PredictionFormat) -> Result<Vec<u8>, WritePredictionsError> {
        let delimiter = match format {
            PredictionFormat::Csv => b',',
            PredictionFormat::Tsv => b'\t',
            PredictionFormat::JsonLines => return self.lines(),
            PredictionFormat::Parquet | PredictionFormat::Xlsx => return self.typed(format),
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

    /// Numbers as numbers, everything else as text.
    fn typed(&self, format: PredictionFormat) -> Result<Vec<u8>, WritePredictionsError> {
        let mut bytes = Vec::new();
        let header = self.header.clone();
        let mut table = TableWriter::begin(Box::new(&mut bytes), format, None, header, false)?;
        for row in &self.rows {
            let cells: Vec<Cell<'_>> = row.iter().map(typed_cell).collect();
            table.row(None, &cells)?;
        }
        table.finish()?;
        Ok(bytes)
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

fn typed_cell(value: &Value) -> Cell<'_> {
    match value {
        Value::Null => Cell::Empty,
        Value::String(text) => Cell::text(text),
        Value::Bool(truth) => Cell::Truth(*truth),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Cell::Whole(whole),
            (None, Some(real)) => Cell::Real(real),
            (None, None) => Cell::Number(number.to_string().into()),
        },
        other => Cell::Text(cell(other).into()),
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

#[cfg(all(test, feature = "spreadsheet", feature = "parquet"))]
mod tests {
    use super::*;
    use crate::NoProgress;
    use crate::corpus::{Fields, LabelNeed, ReadOptions, Source, read_all};

    #[test]
    fn a_list_is_what_its_ending_says() {
        let table = PlainTable {
            header: ["id", "share", "text"].map(str::to_owned).to_vec(),
            rows: vec![
                vec!["a".into(), 0.25.into(), "one, two".into()],
                vec!["b".into(), 2.into(), vec!["x", "y"].into()],
            ],
        };
        for name in ["list.xlsx", "list.parquet"] {
            let format = PlainTable::format_of(name.as_ref()).unwrap();
            let bytes = table.to_bytes(format).unwrap();
            assert!(bytes.starts_with(b"PK") || bytes.starts_with(b"PAR1"));
            let options = ReadOptions {
                fields: Fields {
                    id: Some("id".into()),
                    ..Fields::default()
                },
                labels_required: LabelNeed::Ignored,
                ..ReadOptions::default()
            };
            let source = Source::bytes(name, bytes);
            let (found, _) = read_all(&source, &options, &NoProgress).unwrap();
            let text = |place: usize| found[place].content.as_text();
            assert_eq!(
                (text(0), text(1)),
                (Some("one, two"), Some("x, y")),
                "{name}"
            );
        }
        assert!(PlainTable::format_of("list.doc".as_ref()).is_err());
    }
}
