//! Parquet, read row by row without Arrow.
//!
//! The decoder trusts files further than we can: on damaged ones it may index out of bounds or
//! hit an assertion. Everything that calls it therefore runs inside [`guarded`], which turns a
//! panic into an error. The panic hook stays as it is: replacing it would be visible in the
//! caller's other threads.

use std::fs::File;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use parquet::schema::types::Type;

use super::error::RowProblem;
use super::lines::PIECE_BYTES;
use super::plan::{Plan, Value, check_distinct};
use super::read::PieceSource;
use super::rows::Parsed;
use super::source::Stream;
use super::{ReadError, ReadOptions};

/// The most rows of a piece.
const ROWS_PER_PIECE: usize = 8192;

/// The most bytes that are laid aside when Parquet does not come from a plain file.
const SPOOL_LIMIT: u64 = 2 << 30;

/// Hands out rows of the wanted columns.
pub(super) struct ParquetRows {
    file: String,
    /// Gone after the last row, an error or a panic.
    rows: Option<RowIter<'static>>,
    next_row: u64,
    row_count: u64,
    size: u64,
    max_row_bytes: usize,
}

impl ParquetRows {
    /// Opens the file and checks the wanted fields against its schema.
    pub(super) fn open(stream: Stream, options: &ReadOptions) -> Result<(Self, Plan), ReadError> {
        let name = stream.name.clone();
        let file = seekable(stream)?;
        let size = file
            .metadata()
            .map_err(|source| io_error(&name, source))?
            .len();
        let (rows, row_count, plan) = guarded(&name, || open_rows(&name, file, size, options))?;
        let max_row_bytes = options.max_row_bytes;
        let reader = Self {
            file: name,
            rows: Some(rows),
            next_row: 1,
            row_count,
            size,
            max_row_bytes,
        };
        Ok((reader, plan))
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }
}

fn open_rows(
    name: &str,
    file: File,
    size: u64,
    options: &ReadOptions,
) -> Result<(RowIter<'static>, u64, Plan), ReadError> {
    let broken = |error: ParquetError| parquet_error(name, &error);
    let reader = SerializedFileReader::new(file).map_err(broken)?;
    let metadata = reader.metadata();
    for column in metadata
        .row_groups()
        .iter()
        .flat_map(|group| group.columns())
    {
        let (start, length) = column.byte_range();
        if start.checked_add(length).is_none_or(|end| end > size) {
            let reason = format!("column {} lies outside the file", column.column_path());
            return Err(ReadError::Parquet {
                file: name.to_owned(),
                reason,
            });
        }
    }
    let row_count = u64::try_from(metadata.file_metadata().num_rows()).unwrap_or(0);
    let root = metadata.file_metadata().schema_descr().root_schema_ptr();
    let available: Vec<String> = root
        .get_fields()
        .iter()
        .map(|f| f.name().to_owned())
        .collect();
    check_distinct(&available, name)?;
    let plan = Plan::resolve(name, options, &available)?;
    let wanted = plan.columns.iter().filter_map(|column| {
        root.get_fields()
            .iter()
            .find(|field| field.name() == column)
            .map(Arc::clone)
    });
    let projection = Type::group_type_builder(root.name())
        .with_fields(wanted.collect())
        .build()
        .map_err(broken)?;
    let rows = RowIter::from_file_into(Box::new(reader))
        .project(Some(projection))
        .map_err(broken)?;
    Ok((rows, row_count, plan))
}

/// The stream as a file that can be read out of order: itself, or a temporary copy.
fn seekable(mut stream: Stream) -> Result<File, ReadError> {
    let name = stream.name.clone();
    if let Some(path) = &stream.plain_file {
        return File::open(path).map_err(|source| io_error(&name, source));
    }
    let mut copy = tempfile::tempfile().map_err(|source| io_error(&name, source))?;
    let mut buffer = vec![0; 1 << 16];
    let mut copied = 0;
    loop {
        let read = match stream.reader.read(&mut buffer) {
            Ok(0) => return Ok(copy),
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(stream.error(error)),
        };
        copied += read as u64;
        if copied > SPOOL_LIMIT {
            return Err(ReadError::TooLarge {
                file: name,
                limit: SPOOL_LIMIT,
            });
        }
        std::io::Write::write_all(&mut copy, &buffer[..read])
            .map_err(|source| io_error(&name, source))?;
    }
}

/// Some rows, still as values.
#[derive(Debug, Default)]
pub(super) struct RowValues {
    rows: Vec<(u64, Result<Vec<Value<'static>>, RowProblem>)>,
    bytes: usize,
}

impl RowValues {
    pub(super) fn parse(
        self,
        plan: &Plan,
        file: &str,
        options: &ReadOptions,
    ) -> Result<Parsed, ReadError> {
        let mut parsed = Parsed::default();
        for (row, values) in self.rows {
            let outcome = values.and_then(|values| plan.document(&values, row));
            parsed.push(outcome, file, row, b"", options)?;
        }
        Ok(parsed)
    }
}

impl PieceSource for ParquetRows {
    type Piece = RowValues;

    fn next_piece(&mut self) -> Result<Option<RowValues>, ReadError> {
        let Some(mut rows) = self.rows.take() else {
            return Ok(None);
        };
        let (file, first, max_row_bytes) = (&self.file, self.next_row, self.max_row_bytes);
        let (piece, rows) = guarded(file, move || {
            let mut piece = RowValues::default();
            while piece.rows.len() < ROWS_PER_PIECE && piece.bytes < PIECE_BYTES {
                let Some(row) = rows.next() else {
                    return Ok((piece, None));
                };
                let row = row.map_err(|error| parquet_error(file, &error))?;
                let mut values = row_values(row);
                if let Ok(found) = &values {
                    let bytes: usize = found.iter().map(Value::byte_count).sum();
                    piece.bytes += bytes;
                    if bytes > max_row_bytes {
                        values = Err(RowProblem::too_long());
                    }
                }
                piece.rows.push((first + piece.rows.len() as u64, values));
            }
            Ok((piece, Some(rows)))
        })?;
        self.rows = rows;
        self.next_row += piece.rows.len() as u64;
        Ok((!piece.rows.is_empty()).then_some(piece))
    }

    /// Columns lie apart in the file, so the share of the rows has to stand for that of the bytes.
    fn bytes_read(&self) -> u64 {
        if self.rows.is_none() {
            return self.size;
        }
        let share = (self.next_row - 1) as f64 / self.row_count.max(1) as f64;
        (self.size as f64 * share.min(1.0)) as u64
    }

    fn weight(piece: &RowValues) -> usize {
        piece.bytes
    }
}

fn row_values(row: Row) -> Result<Vec<Value<'static>>, RowProblem> {
    row.into_columns()
        .into_iter()
        .map(|(name, field)| field_value(&name, field))
        .collect()
}

fn field_value(name: &str, field: Field) -> Result<Value<'static>, RowProblem> {
    Ok(match field {
        Field::Null => Value::Null,
        Field::Str(text) => Value::Text(text.into()),
        Field::Bytes(bytes) => match String::from_utf8(bytes.data().to_vec()) {
            Ok(text) => Value::Text(text.into()),
            Err(_) => return Err(RowProblem::in_field(name, "not valid UTF-8")),
        },
        // The debug form keeps `1.0` apart from `1`, as in JSON Lines.
        Field::Float(value) => Value::Scalar(format!("{value:?}")),
        Field::Double(value) => Value::Scalar(format!("{value:?}")),
        Field::Group(_) | Field::MapInternal(_) => Value::Nested,
        Field::ListInternal(list) => {
            let mut elements = Vec::with_capacity(list.elements().len());
            for element in list.elements() {
                match field_value(name, element.clone())? {
                    Value::Text(text) => elements.push(text.into_owned()),
                    Value::Scalar(printed) => elements.push(printed),
                    Value::Null | Value::Absent => {}
                    Value::List(_) | Value::Nested => return Ok(Value::Nested),
                }
            }
            Value::List(elements)
        }
        scalar => Value::Scalar(scalar.to_string()),
    })
}

fn io_error(file: &str, source: std::io::Error) -> ReadError {
    ReadError::Io {
        file: file.to_owned(),
        source,
    }
}

fn parquet_error(file: &str, error: &ParquetError) -> ReadError {
    // Messages may quote whole values.
    let reason = error.to_string().chars().take(300).collect();
    ReadError::Parquet {
        file: file.to_owned(),
        reason,
    }
}

/// Runs the decoder and turns its panics into errors. Whatever `work` owned is dropped, so that
/// nothing half-updated is used again.
fn guarded<T>(file: &str, work: impl FnOnce() -> Result<T, ReadError>) -> Result<T, ReadError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("unknown reason");
        let message: String = message.chars().take(300).collect();
        let reason = format!("the file is damaged ({message})");
        Err(ReadError::Parquet {
            file: file.to_owned(),
            reason,
        })
    })
}
