//! Rows as a spreadsheet.

use std::io::Write;

use rust_xlsxwriter::{ExcelDateTime, Format, Workbook, Worksheet, XlsxError};

use super::table::kept_cells;
use super::{Out, WritePredictionsError};
use crate::corpus::{Cell, KeptFile, KeptRow};

/// The most rows that a sheet can have, with its header.
const MOST_ROWS: u32 = 1 << 20;
/// The most columns.
const MOST_COLUMNS: usize = 1 << 14;
/// The largest whole number up to which all can be told apart in a cell.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// One sheet, which is written when all rows are there.
pub(super) struct Spreadsheet<'a> {
    out: Out<'a>,
    sheet: Worksheet,
    next: u32,
    moments: MomentFormats,
}

/// How dates and times are shown: a number of days is a date by its format alone.
struct MomentFormats {
    date: Format,
    time: Format,
    both: Format,
    /// More than a day of hours.
    hours: Format,
}

impl MomentFormats {
    fn new() -> Self {
        let shown = |shape: &str| Format::new().set_num_format(shape);
        Self {
            date: shown("yyyy-mm-dd"),
            time: shown("hh:mm:ss"),
            both: shown("yyyy-mm-dd hh:mm:ss"),
            hours: shown("[hh]:mm:ss"),
        }
    }

    /// The days since 1900 that this moment is, and how they are shown; nothing where a sheet has no such moment.
    fn of(&self, written: &str) -> Option<(f64, &Format)> {
        let digits = |c: char| c.is_ascii_digit() || matches!(c, '-' | ':' | 'T' | '.');
        if !written.starts_with(|c: char| c.is_ascii_digit()) || !written.chars().all(digits) {
            return None;
        }
        let days = ExcelDateTime::parse_from_str(written).ok()?.to_excel();
        let format = match (written.contains('-'), written.contains('T')) {
            (true, true) => &self.both,
            (true, false) => &self.date,
            (false, _) if days < 1.0 => &self.time,
            (false, _) => &self.hours,
        };
        Some((days, format))
    }
}

impl<'a> Spreadsheet<'a> {
    pub(super) fn begin(
        out: Out<'a>,
        file: Option<&KeptFile>,
        ours: &[String],
    ) -> Result<Self, WritePredictionsError> {
        let mut sheet = Worksheet::new();
        sheet.set_name("calibrant").map_err(failed)?;
        let bold = Format::new().set_bold();
        let names: Vec<String> = file
            .into_iter()
            .flat_map(KeptFile::names)
            .map(|name| name.into_owned())
            .chain(ours.iter().cloned())
            .collect();
        if names.len() > MOST_COLUMNS {
            return Err(WritePredictionsError::Spreadsheet {
                reason: format!(
                    "a sheet has at most {MOST_COLUMNS} columns, and there are {}",
                    names.len()
                ),
            });
        }
        for (column, name) in names.iter().enumerate() {
            sheet
                .write_string_with_format(0, column as u16, name, &bold)
                .map_err(|error| in_cell(&error, 0, column))?;
        }
        sheet.set_freeze_panes(1, 0).map_err(failed)?;
        Ok(Self {
            out,
            sheet,
            next: 1,
            moments: MomentFormats::new(),
        })
    }

    pub(super) fn row(
        &mut self,
        kept: Option<&KeptRow>,
        ours: &[Cell<'_>],
    ) -> Result<(), WritePredictionsError> {
        if self.next >= MOST_ROWS {
            return Err(WritePredictionsError::Spreadsheet {
                reason: format!("a sheet has at most {MOST_ROWS} rows; write CSV or Parquet"),
            });
        }
        let row = self.next;
        self.next += 1;
        let cells = kept_cells(kept)?;
        for (column, cell) in cells.iter().chain(ours).enumerate() {
            self.cell(row, column as u16, cell)
                .map_err(|error| in_cell(&error, row, column))?;
        }
        Ok(())
    }

    fn cell(&mut self, row: u32, column: u16, cell: &Cell<'_>) -> Result<(), XlsxError> {
        if let Cell::Moment(written) = cell
            && let Some((days, format)) = self.moments.of(written)
        {
            self.sheet
                .write_number_with_format(row, column, days, format)?;
            return Ok(());
        }
        match (number(cell), cell) {
            (Some(number), _) => self.sheet.write_number(row, column, number)?,
            (None, Cell::Truth(truth)) => self.sheet.write_boolean(row, column, *truth)?,
            #[cfg(feature = "parquet")]
            (None, Cell::Stored(parquet::record::Field::Bool(truth))) => {
                self.sheet.write_boolean(row, column, *truth)?
            }
            _ => match cell.written() {
                text if text.is_empty() => return Ok(()),
                text => self.sheet.write_string(row, column, text)?,
            },
        };
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<(), WritePredictionsError> {
        let mut book = Workbook::new();
        book.push_worksheet(self.sheet);
        let bytes = book.save_to_buffer().map_err(failed)?;
        self.out.write_all(&bytes)?;
        Ok(self.out.flush()?)
    }
}

/// The number of a cell that is one, and loses nothing as one.
fn number(cell: &Cell<'_>) -> Option<f64> {
    let number = match cell {
        Cell::Whole(whole) => *whole as f64,
        Cell::Real(number) => return Some(*number).filter(|number| number.is_finite()),
        Cell::Number(written) => {
            let number: f64 = written.parse().ok()?;
            // What has decimals or an exponent is no identifier, whose every digit counts.
            if number.is_finite() && written.contains(['.', 'e', 'E']) {
                return Some(number);
            }
            number
        }
        #[cfg(feature = "parquet")]
        Cell::Stored(field) => {
            use parquet::record::Field;
            match field {
                Field::Double(number) => *number,
                Field::Float(_)
                | Field::Byte(_)
                | Field::Short(_)
                | Field::Int(_)
                | Field::Long(_)
                | Field::UByte(_)
                | Field::UShort(_)
                | Field::UInt(_)
                | Field::ULong(_) => field.to_string().parse().ok()?,
                _ => return None,
            }
        }
        _ => return None,
    };
    let is_safe = number.fract() != 0.0 || number.abs() < LARGEST_WHOLE;
    Some(number).filter(|number| number.is_finite() && is_safe)
}

fn failed(error: XlsxError) -> WritePredictionsError {
    WritePredictionsError::Spreadsheet {
        reason: error.to_string(),
    }
}

fn in_cell(error: &XlsxError, row: u32, column: usize) -> WritePredictionsError {
    let reason = match error {
        XlsxError::MaxStringLengthExceeded => {
            "the text is longer than the 32,767 characters that a cell can hold; write CSV or Parquet"
                .to_owned()
        }
        other => other.to_string(),
    };
    WritePredictionsError::Spreadsheet {
        reason: format!("row {}, column {}: {reason}", row + 1, column + 1),
    }
}
