//! xlsx and ods: a sheet as a table, with a header row unless there is none.
//!
//! A workbook unpacks to more than its size, by any factor; [`archive`] measures it first. The library that reads Excel's cells
//! trusts files further than we can: whatever calls it runs inside [`guarded`], which turns a panic into an error.

mod archive;
mod cell;
mod excel;
mod open_document;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::ops::{ControlFlow, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::error::RowProblem;
use super::lines::PIECE_BYTES;
use super::pieces::PieceSource;
use super::plan::{Plan, Row, Value, check_distinct};
use super::row_values::{ROWS_PER_PIECE, RowValues};
use super::seekable::seekable;
use super::source::Stream;
use super::{Cell, Format, KeptColumn, KeptFile, ReadError, ReadOptions};
use archive::{FileName, UNPACKED_LIMIT, check_archive};
use cell::SheetCell;
use excel::ExcelBook;
use open_document::OpenDocument;

/// No sheet has more columns; what stands further right is not read.
const MOST_COLUMNS: u64 = 16_384;
/// What a cell takes beside its text.
const CELL_BYTES: u64 = 48;

/// A sheet of a workbook.
#[derive(Debug, Clone)]
struct Sheet {
    name: String,
    hidden: bool,
}

/// Is given the numbers, from 0, of equal rows and their cells that are not empty, each with its columns.
type VisitRow<'a> =
    dyn FnMut(Range<u64>, &[(Range<u64>, SheetCell)]) -> Result<ControlFlow<()>, ReadError> + 'a;

/// The cells of one row.
#[derive(Default)]
struct RowCells {
    cells: Vec<(Range<u64>, SheetCell)>,
    bytes: u64,
}

impl RowCells {
    fn push(
        &mut self,
        name: FileName<'_>,
        columns: Range<u64>,
        cell: SheetCell,
    ) -> Result<(), ReadError> {
        self.bytes += cell.value.byte_count() as u64 + CELL_BYTES;
        if self.bytes > UNPACKED_LIMIT {
            return Err(name.too_large());
        }
        self.cells.push((columns, cell));
        Ok(())
    }

    /// Hands them on, unless there are none, and begins the next row.
    fn hand_on(
        &mut self,
        rows: Range<u64>,
        visit: &mut VisitRow<'_>,
    ) -> Result<ControlFlow<()>, ReadError> {
        let outcome = match self.cells.is_empty() {
            true => Ok(ControlFlow::Continue(())),
            false => visit(rows, &self.cells),
        };
        self.cells.clear();
        self.bytes = 0;
        outcome
    }
}

enum Book {
    Excel(Box<ExcelBook>),
    OpenDocument(Box<OpenDocument>),
}

impl Book {
    fn open(name: FileName<'_>, file: File, format: Format) -> Result<Self, ReadError> {
        check_archive(name, &file, UNPACKED_LIMIT)?;
        match format {
            Format::Ods => Ok(Book::OpenDocument(Box::new(OpenDocument::open(
                name, file,
            )?))),
            _ => Ok(Book::Excel(Box::new(ExcelBook::open(name, file)?))),
        }
    }

    /// The name of the sheet that is asked for.
    fn choose(&self, name: FileName<'_>, asked: Option<&str>) -> Result<String, ReadError> {
        let sheets = match self {
            Book::Excel(book) => book.sheets(),
            Book::OpenDocument(book) => book.sheets(),
        };
        let found = match asked {
            None => sheets.iter().find(|sheet| !sheet.hidden).or(sheets.first()),
            Some(asked) => {
                let number = asked.parse::<usize>().ok();
                let by_number = number.and_then(|number| sheets.get(number.checked_sub(1)?));
                let by_name = sheets.iter().find(|sheet| sheet.name == asked);
                by_name.or(by_number)
            }
        };
        let found = found.map(|sheet| sheet.name.clone());
        found.ok_or_else(|| match asked {
            None => name.damaged("there is no sheet in it"),
            Some(asked) => ReadError::NoSheet {
                file: name.0.to_owned(),
                sheet: asked.to_owned(),
                available: sheets.into_iter().map(|sheet| sheet.name).collect(),
            },
        })
    }

    fn each_row(
        &mut self,
        name: FileName<'_>,
        sheet: &str,
        visit: &mut VisitRow<'_>,
    ) -> Result<(), ReadError> {
        match self {
            Book::Excel(book) => book.each_row(name, sheet, visit),
            Book::OpenDocument(book) => book.each_row(name, sheet, visit),
        }
    }

    /// The names of the columns and the number of their row: the first that has a cell. Without a header columns are numbered from 1.
    /// With `all`, columns to the right of the last name have empty ones.
    fn header(
        &mut self,
        name: FileName<'_>,
        sheet: &str,
        options: &ReadOptions,
        all: bool,
    ) -> Result<(Vec<String>, Option<u64>), ReadError> {
        let mut names: Vec<String> = Vec::new();
        let mut header_row = None;
        let mut width = 0;
        let no_header = options.layout.no_header;
        self.each_row(name, sheet, &mut |rows, cells| {
            let ends = cells.iter().map(|(columns, _)| columns.end);
            width = width.max(ends.max().unwrap_or(0).min(MOST_COLUMNS));
            if no_header || header_row.is_some() {
                return Ok(ControlFlow::Continue(()));
            }
            header_row = Some(rows.start);
            names = vec![String::new(); width as usize];
            for (columns, cell) in cells {
                let text = match &cell.value {
                    Value::Text(text) => text.trim(),
                    Value::Scalar(printed) => printed,
                    _ => "",
                };
                for column in columns.start..columns.end.min(MOST_COLUMNS) {
                    text.clone_into(&mut names[column as usize]);
                }
            }
            Ok(match all {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            })
        })?;
        if no_header {
            names = (1..=width).map(|number| number.to_string()).collect();
        }
        names.resize(width as usize, String::new());
        check_distinct(&names, name.0)?;
        Ok((names, header_row))
    }
}

/// The most bytes of a workbook that does not come from a plain file.
const SPOOL_LIMIT: u64 = UNPACKED_LIMIT;

fn open_book(stream: Stream, format: Format) -> Result<(Book, u64), ReadError> {
    let name = stream.name.clone();
    let name = FileName(&name);
    let file = seekable(stream, SPOOL_LIMIT)?;
    let size = file.metadata().map_err(|source| name.io(source))?.len();
    Ok((Book::open(name, file, format)?, size))
}

/// The names of the columns.
pub(super) fn column_names(
    stream: Stream,
    format: Format,
    options: &ReadOptions,
) -> Result<Vec<String>, ReadError> {
    let name = stream.name.clone();
    guarded(&name, || {
        let (mut book, _) = open_book(stream, format)?;
        let sheet = book.choose(FileName(&name), options.layout.sheet.as_deref())?;
        let (names, _) = book.header(FileName(&name), &sheet, options, false)?;
        Ok(names)
    })
}

/// Hands out rows of the wanted columns.
pub(super) struct SheetRows {
    /// The sheet that is read.
    pub(super) sheet: String,
    rows: std::vec::IntoIter<SheetRow>,
    row_count: usize,
    size: u64,
    /// What rows have in common that are kept as they stand.
    kept: Option<Arc<KeptFile>>,
}

struct SheetRow {
    number: u64,
    values: Result<Vec<Value<'static>>, RowProblem>,
    /// All of its cells, where rows are kept.
    cells: Vec<Cell<'static>>,
}

impl SheetRows {
    /// Reads the wanted columns of the sheet. They are in memory at once: the texts of a workbook are anyhow.
    pub(super) fn open<R: Row>(
        stream: Stream,
        format: Format,
        options: &ReadOptions,
    ) -> Result<(Self, Plan<R>), ReadError> {
        let name = stream.name.clone();
        guarded(&name, || {
            let (mut book, size) = open_book(stream, format)?;
            let name = FileName(&name);
            let sheet = book.choose(name, options.layout.sheet.as_deref())?;
            let keeps = R::keeps(options);
            let (names, header_row) = book.header(name, &sheet, options, keeps)?;
            let mut plan = Plan::resolve(name.0, options, &names)?;
            plan.allow_decimal_commas();
            let rows = wanted_rows(&mut book, name, &sheet, &names, header_row, &plan, options)?;
            let reader = Self {
                sheet,
                row_count: rows.len(),
                rows: rows.into_iter(),
                size,
                kept: keeps.then(|| {
                    let columns = names.iter().map(|name| KeptColumn::new(name, false));
                    Arc::new(KeptFile::of_sheet(columns.collect()))
                }),
            };
            Ok((reader, plan))
        })
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }
}

fn wanted_rows<R: Row>(
    book: &mut Book,
    name: FileName<'_>,
    sheet: &str,
    names: &[String],
    header_row: Option<u64>,
    plan: &Plan<R>,
    options: &ReadOptions,
) -> Result<Vec<SheetRow>, ReadError> {
    // For every column of the sheet, where its value goes.
    let slots: Vec<Option<usize>> = names
        .iter()
        .map(|name| plan.columns.iter().position(|column| column == name))
        .collect();
    let mut found: Vec<SheetRow> = Vec::new();
    let mut taken = 0u64;
    let keeps = R::keeps(options);
    book.each_row(name, sheet, &mut |rows, cells| {
        if header_row.is_some_and(|header| rows.start <= header) {
            return Ok(ControlFlow::Continue(()));
        }
        let mut values = vec![Value::Null; plan.columns.len()];
        let mut all = vec![Cell::Empty; if keeps { slots.len() } else { 0 }];
        for (columns, cell) in cells {
            let end = columns.end.min(slots.len() as u64);
            for column in columns.start.min(end)..end {
                if keeps {
                    all[column as usize] = cell.kept();
                }
                if let Some(slot) = slots[column as usize] {
                    values[slot] = cell.value.clone();
                }
            }
        }
        let bytes: usize = values.iter().map(Value::byte_count).sum();
        let kept_bytes: usize = all.iter().map(|cell| cell.written().len()).sum();
        let cell_count = (1 + values.len() + all.len()) as u64;
        let row_bytes = (bytes + kept_bytes) as u64 + CELL_BYTES * cell_count;
        taken = taken.saturating_add(row_bytes.saturating_mul(rows.end - rows.start));
        if taken > UNPACKED_LIMIT {
            return Err(name.too_large());
        }
        for row in rows {
            let values = match bytes > options.max_row_bytes {
                true => Err(RowProblem::too_long()),
                false => Ok(values.clone()),
            };
            found.push(SheetRow {
                number: row + 1,
                values,
                cells: all.clone(),
            });
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

impl PieceSource for SheetRows {
    type Piece = RowValues;

    fn next_piece(&mut self) -> Result<Option<RowValues>, ReadError> {
        let mut piece = RowValues {
            file: self.kept.clone(),
            ..RowValues::default()
        };
        while piece.rows.len() < ROWS_PER_PIECE && piece.bytes < PIECE_BYTES {
            let Some(row) = self.rows.next() else {
                break;
            };
            if let Ok(values) = &row.values {
                piece.bytes += values.iter().map(Value::byte_count).sum::<usize>();
            }
            piece.rows.push((row.number, row.values));
            if self.kept.is_some() {
                piece.kept.push(row.cells);
            }
        }
        Ok((!piece.rows.is_empty()).then_some(piece))
    }

    /// By the share of the rows.
    fn bytes_read(&self) -> u64 {
        let left = self.rows.len() as f64 / self.row_count.max(1) as f64;
        (self.size as f64 * (1.0 - left)) as u64
    }

    fn weight(piece: &RowValues) -> usize {
        piece.bytes
    }
}

/// Runs what trusts the file, and turns its panics into errors. Whatever `work` owned is dropped, so that nothing half-updated is
/// used again.
fn guarded<T>(file: &str, work: impl FnOnce() -> Result<T, ReadError>) -> Result<T, ReadError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("unknown reason");
        Err(FileName(file).damaged(format!("the file is damaged ({message})")))
    })
}
