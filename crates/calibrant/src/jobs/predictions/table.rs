//! Tables of cells: those of a row that was read, then ours.

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

#[cfg(feature = "parquet")]
use super::parquet_table::ParquetTable;
#[cfg(feature = "spreadsheet")]
use super::spreadsheet::Spreadsheet;
use super::text_table::TextTable;
use super::{Out, PredictionFormat, WritePredictionsError};
use crate::corpus::{Cell, KeptFile, KeptRow, one_line, push_string};

/// Writes rows of cells in any format.
pub(crate) struct TableWriter<'a> {
    rows: Rows<'a>,
    /// Our columns.
    ours: Vec<String>,
    /// The file whose rows come first.
    file: Option<Arc<KeptFile>>,
}

enum Rows<'a> {
    Text(TextTable<'a>),
    JsonLines(Out<'a>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetTable<'a>>),
    #[cfg(feature = "spreadsheet")]
    Spreadsheet(Box<Spreadsheet<'a>>),
    #[cfg(not(all(feature = "parquet", feature = "spreadsheet")))]
    LeftOut(PredictionFormat),
}

impl<'a> TableWriter<'a> {
    /// A table with the columns of `file` and these of ours, none of which has the name of another. Text is written as the file
    /// is where `like_input` says so.
    pub(crate) fn begin(
        out: Out<'a>,
        format: PredictionFormat,
        file: Option<&Arc<KeptFile>>,
        ours: Vec<String>,
        like_input: bool,
    ) -> Result<Self, WritePredictionsError> {
        let of_file = file.map(Arc::as_ref);
        let rows = match format {
            PredictionFormat::Csv | PredictionFormat::Tsv => {
                let is_tsv = format == PredictionFormat::Tsv;
                Rows::Text(TextTable::begin(out, is_tsv, of_file, &ours, like_input)?)
            }
            PredictionFormat::JsonLines => Rows::JsonLines(out),
            #[cfg(feature = "parquet")]
            PredictionFormat::Parquet => {
                Rows::Parquet(Box::new(ParquetTable::new(out, of_file, &ours)))
            }
            #[cfg(feature = "spreadsheet")]
            PredictionFormat::Xlsx => {
                Rows::Spreadsheet(Box::new(Spreadsheet::begin(out, of_file, &ours)?))
            }
            #[cfg(not(all(feature = "parquet", feature = "spreadsheet")))]
            left_out => Rows::LeftOut(left_out),
        };
        Ok(Self {
            rows,
            ours,
            file: file.cloned(),
        })
    }

    /// One row: that of the file where there is one, and our cells.
    pub(crate) fn row(
        &mut self,
        kept: Option<&KeptRow>,
        ours: &[Cell<'_>],
    ) -> Result<(), WritePredictionsError> {
        match &mut self.rows {
            Rows::Text(table) => table.row(kept, ours),
            Rows::JsonLines(out) => {
                let line = json_line(self.file.as_deref(), kept, &self.ours, ours)?;
                Ok(out.write_all(line.as_bytes())?)
            }
            #[cfg(feature = "parquet")]
            Rows::Parquet(table) => table.row(kept, ours),
            #[cfg(feature = "spreadsheet")]
            Rows::Spreadsheet(sheet) => sheet.row(kept, ours),
            #[cfg(not(all(feature = "parquet", feature = "spreadsheet")))]
            Rows::LeftOut(format) => Err(super::left_out(*format)),
        }
    }

    /// Hands on what is written so far, where the format can.
    pub(crate) fn flush(&mut self) -> Result<(), WritePredictionsError> {
        match &mut self.rows {
            Rows::Text(table) => table.flush(),
            Rows::JsonLines(out) => Ok(out.flush()?),
            #[allow(unreachable_patterns)] // Without Parquet and spreadsheets these are all.
            _ => Ok(()),
        }
    }

    /// Writes what is left.
    pub(crate) fn finish(self) -> Result<(), WritePredictionsError> {
        match self.rows {
            Rows::Text(mut table) => table.flush(),
            Rows::JsonLines(mut out) => Ok(out.flush()?),
            #[cfg(feature = "parquet")]
            Rows::Parquet(table) => table.finish(),
            #[cfg(feature = "spreadsheet")]
            Rows::Spreadsheet(sheet) => sheet.finish(),
            #[cfg(not(all(feature = "parquet", feature = "spreadsheet")))]
            Rows::LeftOut(format) => Err(super::left_out(format)),
        }
    }
}

/// The cells of a kept row, if there is one.
pub(super) fn kept_cells(kept: Option<&KeptRow>) -> Result<Vec<Cell<'_>>, WritePredictionsError> {
    Ok(kept.map_or_else(|| Ok(Vec::new()), KeptRow::cells)?)
}

fn json_line(
    file: Option<&KeptFile>,
    kept: Option<&KeptRow>,
    names: &[String],
    ours: &[Cell<'_>],
) -> Result<String, WritePredictionsError> {
    let object = kept
        .filter(|row| row.file().has_objects())
        .and_then(KeptRow::as_written);
    let mut line = match (object, kept) {
        (Some((text, _)), Some(row)) => {
            check_keys(row, text, names)?;
            let text = one_line(text);
            let inner = text.trim_ascii_end();
            inner
                .strip_suffix('}')
                .unwrap_or(inner)
                .trim_ascii_end()
                .to_owned()
        }
        _ => {
            let mut line = String::from("{");
            let columns = file.into_iter().flat_map(KeptFile::names);
            for (name, cell) in columns.zip(kept_cells(kept)?) {
                push_pair(&mut line, &name, &cell);
            }
            line
        }
    };
    for (name, cell) in names.iter().zip(ours) {
        push_pair(&mut line, name, cell);
    }
    line.push_str("}\n");
    Ok(line)
}

fn push_pair(line: &mut String, name: &str, cell: &Cell<'_>) {
    if !line.ends_with('{') {
        line.push(',');
    }
    push_string(line, name);
    line.push(':');
    cell.write_json(line);
}

/// Our names are chosen by the first rows; a later row must not have one of them.
fn check_keys(row: &KeptRow, text: &str, names: &[String]) -> Result<(), WritePredictionsError> {
    let mut quoted = names.iter().map(|name| format!("\"{name}\""));
    // Names with escapes in the text are looked at, too.
    if !text.contains('\\') && !quoted.any(|name| text.contains(&name)) {
        return Ok(());
    }
    let mut keys = row.object_keys().into_iter();
    match keys.find(|key| names.contains(key)) {
        None => Ok(()),
        Some(field) => Err(WritePredictionsError::Clash {
            line: row.line(),
            field,
        }),
    }
}

/// A number with its decimal sign.
pub(super) fn with_sign(text: Cow<'_, str>, comma: bool) -> Cow<'_, str> {
    match comma {
        true => Cow::Owned(text.replace('.', ",")),
        false => text,
    }
}
