//! Parquet, read row by row without Arrow.
//!
//! The decoder trusts files further than we can: on damaged ones it may index out of bounds or
//! hit an assertion. Everything that calls it therefore runs inside [`guarded`], which turns a
//! panic into an error. The panic hook stays as it is: replacing it would be visible in the
//! caller's other threads.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use parquet::schema::types::Type;

use super::error::RowProblem;
use super::lines::PIECE_BYTES;
use super::parquet_footer::check_schema;
use super::pieces::PieceSource;
use super::plan::{Plan, Row as PlannedRow, Value, check_distinct};
use super::row_values::{ROWS_PER_PIECE, RowValues};
use super::seekable::{SPOOL_LIMIT, seekable};
use super::source::Stream;
use super::{Cell, KeptColumn, KeptFile, ReadError, ReadOptions};

/// Hands out rows of the wanted columns.
pub(super) struct ParquetRows {
    file: String,
    /// Gone after the last row, an error or a panic.
    rows: Option<RowIter<'static>>,
    next_row: u64,
    row_count: u64,
    size: u64,
    max_row_bytes: usize,
    /// Whether each column of the plan is read as numbers.
    vectors: Vec<bool>,
    /// What rows have in common that are kept as they stand, and where the wanted columns are among all.
    kept: Option<(Arc<KeptFile>, Vec<usize>)>,
}

impl ParquetRows {
    /// Opens the file and checks the wanted fields against its schema.
    pub(super) fn open<R: PlannedRow>(
        stream: Stream,
        options: &ReadOptions,
    ) -> Result<(Self, Plan<R>), ReadError> {
        let name = stream.name.clone();
        let (file, size) = checked_file(stream)?;
        let (rows, row_count, plan, kept) =
            guarded(&name, || open_rows(&name, file, size, options))?;
        let max_row_bytes = options.max_row_bytes;
        let reader = Self {
            file: name,
            rows: Some(rows),
            next_row: 1,
            row_count,
            size,
            max_row_bytes,
            vectors: (0..plan.columns.len())
                .map(|at| plan.is_vector(at))
                .collect(),
            kept,
        };
        Ok((reader, plan))
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }
}

/// The names of the top-level columns.
pub(super) fn column_names(stream: Stream) -> Result<Vec<String>, ReadError> {
    let name = stream.name.clone();
    let (file, _) = checked_file(stream)?;
    guarded(&name, || {
        let reader =
            SerializedFileReader::new(file).map_err(|error| parquet_error(&name, &error))?;
        names_of(
            &reader
                .metadata()
                .file_metadata()
                .schema_descr()
                .root_schema_ptr(),
            &name,
        )
    })
}

fn names_of(root: &Type, file: &str) -> Result<Vec<String>, ReadError> {
    let fields = root.get_fields().iter();
    let names: Vec<String> = fields.map(|field| field.name().to_owned()).collect();
    check_distinct(&names, file)?;
    Ok(names)
}

/// The file behind the stream and its size, once its footer has been looked at.
fn checked_file(stream: Stream) -> Result<(File, u64), ReadError> {
    let name = stream.name.clone();
    let file = seekable(stream, SPOOL_LIMIT)?;
    let metadata = file.metadata().map_err(|source| io_error(&name, source))?;
    check_footer(&name, &file, metadata.len())?;
    Ok((file, metadata.len()))
}

/// Rows of a file with what rows have in common that are kept.
type OpenRows<R> = (
    RowIter<'static>,
    u64,
    Plan<R>,
    Option<(Arc<KeptFile>, Vec<usize>)>,
);

fn open_rows<R: PlannedRow>(
    name: &str,
    file: File,
    size: u64,
    options: &ReadOptions,
) -> Result<OpenRows<R>, ReadError> {
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
    let available = names_of(&root, name)?;
    let plan = Plan::resolve(name, options, &available)?;
    if R::keeps(options) {
        let columns = root.get_fields().iter().map(|field| KeptColumn {
            stored: Some(Arc::clone(field)),
            ..KeptColumn::new(field.name(), false)
        });
        let kept = Arc::new(KeptFile::of_cells(columns.collect()));
        let place = |column: &String| available.iter().position(|name| name == column);
        let places = plan.columns.iter().filter_map(place).collect();
        let rows = RowIter::from_file_into(Box::new(reader));
        return Ok((rows, row_count, plan, Some((kept, places))));
    }
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
    Ok((rows, row_count, plan, None))
}

/// Looks at the footer before the decoder does; see [`check_schema`].
fn check_footer(name: &str, mut file: &File, size: u64) -> Result<(), ReadError> {
    let broken = |reason: &str| ReadError::Parquet {
        file: name.to_owned(),
        reason: reason.into(),
    };
    let mut read_at = |start: u64, length: usize| -> std::io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    };
    let Some(end) = size.checked_sub(8).filter(|&end| end >= 4) else {
        return Err(broken("the file is too short"));
    };
    let tail = read_at(end, 8).map_err(|source| io_error(name, source))?;
    let &[a, b, c, d, b'P', b'A', b'R', b'1'] = tail.as_slice() else {
        return Err(broken(
            "the file does not end in `PAR1`; it may be cut off or encrypted",
        ));
    };
    let length = u32::from_le_bytes([a, b, c, d]);
    let Some(start) = end.checked_sub(u64::from(length)) else {
        return Err(broken("the footer is longer than the file"));
    };
    let metadata = read_at(start, length as usize).map_err(|source| io_error(name, source))?;
    check_schema(&metadata).map_err(broken)
}

impl PieceSource for ParquetRows {
    type Piece = RowValues;

    fn next_piece(&mut self) -> Result<Option<RowValues>, ReadError> {
        let Some(mut rows) = self.rows.take() else {
            return Ok(None);
        };
        let (file, first, max_row_bytes) = (&self.file, self.next_row, self.max_row_bytes);
        let (kept, vectors) = (&self.kept, &self.vectors);
        let (piece, rows) = guarded(file, move || {
            let mut piece = RowValues {
                file: kept.as_ref().map(|(file, _)| Arc::clone(file)),
                ..RowValues::default()
            };
            while piece.rows.len() < ROWS_PER_PIECE && piece.bytes < PIECE_BYTES {
                let Some(row) = rows.next() else {
                    return Ok((piece, None));
                };
                let row = row.map_err(|error| parquet_error(file, &error))?;
                let mut values = match kept {
                    Some((_, places)) => {
                        let (values, cells) = kept_values(row, places, vectors);
                        piece.bytes += cells.iter().map(cell_bytes).sum::<usize>();
                        piece.kept.push(cells);
                        values
                    }
                    None => row_values(row, vectors),
                };
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

fn row_values(row: Row, vectors: &[bool]) -> Result<Vec<Value<'static>>, RowProblem> {
    let columns = row.into_columns().into_iter().zip(vectors);
    let value = |((name, field), is_vector): ((String, Field), &bool)| match is_vector {
        true => vector_value(&name, &field),
        false => field_value(&name, field),
    };
    columns.map(value).collect()
}

/// A list of numbers, without printing them; anything else as it is elsewhere.
fn vector_value(name: &str, field: &Field) -> Result<Value<'static>, RowProblem> {
    let Field::ListInternal(list) = field else {
        return field_value(name, field.clone());
    };
    let number = |element: &Field| match element {
        Field::Float(value) => Some(*value),
        Field::Double(value) => Some(*value as f32),
        Field::Float16(value) => Some(f32::from(*value)),
        Field::Byte(value) => Some(f32::from(*value)),
        Field::Short(value) => Some(f32::from(*value)),
        Field::Int(value) => Some(*value as f32),
        Field::Long(value) => Some(*value as f32),
        Field::UByte(value) => Some(f32::from(*value)),
        Field::UShort(value) => Some(f32::from(*value)),
        Field::UInt(value) => Some(*value as f32),
        Field::ULong(value) => Some(*value as f32),
        Field::Null => Some(f32::NAN),
        _ => None,
    };
    let numbers: Option<Vec<f32>> = list.elements().iter().map(number).collect();
    Ok(numbers.map_or(Value::Nested, Value::Numbers))
}

/// The values of the wanted columns, and all cells as they stand.
fn kept_values(
    row: Row,
    places: &[usize],
    vectors: &[bool],
) -> (Result<Vec<Value<'static>>, RowProblem>, Vec<Cell<'static>>) {
    let columns = row.into_columns();
    let wanted = places.iter().map(|&at| &columns[at]).zip(vectors);
    let values = wanted.map(|((name, field), is_vector)| match is_vector {
        true => vector_value(name, field),
        false => field_value(name, field.clone()),
    });
    let values = values.collect();
    let cells = columns.into_iter().map(|(_, field)| Cell::Stored(field));
    (values, cells.collect())
}

/// Roughly the bytes a cell occupies.
fn cell_bytes(cell: &Cell<'_>) -> usize {
    match cell {
        Cell::Stored(Field::Str(text)) => text.len() + 48,
        Cell::Stored(Field::Bytes(bytes)) => bytes.len() + 48,
        _ => 48,
    }
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
                    Value::List(_) | Value::Numbers(_) | Value::Nested => {
                        return Ok(Value::Nested);
                    }
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

#[cfg(test)]
mod tests {
    use super::super::testing::{gzip, parquet_file, read, text_of, write_parquet, zstandard};
    use super::super::{Fields, Filter, Format, LabelNeed, NoRowsReason};
    use super::*;
    use parquet::data_type::{
        BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type,
    };

    fn strings(values: &[&str]) -> Vec<ByteArray> {
        values.iter().map(|&value| ByteArray::from(value)).collect()
    }

    /// Text with a null, several kinds of numbers, and a list of labels.
    fn mixed() -> Vec<u8> {
        let schema = "message schema {
            optional binary text (UTF8);
            optional group label (LIST) { repeated group list { optional binary element (UTF8); } }
            required int64 id;
            required double weight;
            required boolean flag;
            required float share;
            required int32 day (DATE);
            optional group pair { required int32 left; }
        }";
        write_parquet(schema, |group| {
            let mut column = group.next_column().unwrap().unwrap();
            let text = strings(&["one", "three"]);
            column
                .typed::<ByteArrayType>()
                .write_batch(&text, Some(&[1, 0, 1]), None)
                .unwrap();
            column.close().unwrap();
            // Row 1: ["b", "a"]; row 2: []; row 3: null.
            let mut column = group.next_column().unwrap().unwrap();
            let labels = strings(&["b", "a"]);
            let levels: (&[i16], &[i16]) = (&[3, 3, 1, 0], &[0, 1, 0, 0]);
            column
                .typed::<ByteArrayType>()
                .write_batch(&labels, Some(levels.0), Some(levels.1))
                .unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column
                .typed::<Int64Type>()
                .write_batch(&[7, 8, 9], None, None)
                .unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column
                .typed::<DoubleType>()
                .write_batch(&[0.5, 1.0, 2.0], None, None)
                .unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column
                .typed::<BoolType>()
                .write_batch(&[true, false, true], None, None)
                .unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column
                .typed::<FloatType>()
                .write_batch(&[0.1, 1.0, 2.5], None, None)
                .unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column
                .typed::<Int32Type>()
                .write_batch(&[0, 1, 2], None, None)
                .unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column
                .typed::<Int32Type>()
                .write_batch(&[5], Some(&[1, 0, 0]), None)
                .unwrap();
            column.close().unwrap();
        })
    }

    fn fields() -> Fields {
        Fields {
            id: Some("id".into()),
            weight: Some("weight".into()),
            ..Fields::default()
        }
    }

    #[test]
    fn strings_numbers_nulls_and_lists_become_documents() {
        let options = ReadOptions {
            fields: fields(),
            ..ReadOptions::default()
        };
        let (documents, summary) = read(&mixed(), &options).unwrap();
        assert_eq!(summary.format, Format::Parquet);
        assert_eq!(text_of(&documents), ["one", "", "three"]);
        assert_eq!(documents[0].labels, ["a", "b"]);
        assert!(documents[0].labels_were_list && documents[1].labels_were_list);
        assert!(documents[1].labels.is_empty() && documents[2].labels.is_empty());
        let ids: Vec<&str> = documents.iter().filter_map(|d| d.id.as_deref()).collect();
        assert_eq!(ids, ["7", "8", "9"]);
        assert_eq!(
            documents.iter().map(|d| d.weight).collect::<Vec<_>>(),
            [0.5, 1.0, 2.0]
        );
        assert_eq!(
            documents.iter().map(|d| d.line).collect::<Vec<_>>(),
            [1, 2, 3]
        );
    }

    #[test]
    fn other_columns_may_be_labels_filters_and_text() {
        let with = |label: &str, filter: Option<&str>| {
            let filters: Vec<Filter> = filter.iter().map(|f| f.parse().unwrap()).collect();
            let fields = Fields {
                label: Some(label.into()),
                ..Fields::default()
            };
            read(
                &mixed(),
                &ReadOptions {
                    fields,
                    filters,
                    ..ReadOptions::default()
                },
            )
        };
        let label = |name: &str| with(name, None).unwrap().0[0].labels[0].clone();
        assert_eq!(
            (label("flag"), label("share"), label("weight")),
            ("true".into(), "0.1".into(), "0.5".into())
        );
        assert!(label("day").starts_with("1970-01-01"));
        assert_eq!(with("flag", Some("id=9")).unwrap().0[0].line, 3);
        let error = with("pair", None).unwrap_err().to_string();
        assert!(error.contains("line 1, field `pair`: is nested"), "{error}");
        let outcome = with("flag", Some("id=10"));
        let Err(ReadError::NoRows { reason, .. }) = outcome else {
            panic!("{outcome:?}")
        };
        assert!(matches!(
            reason,
            NoRowsReason::AllFiltered { rows_read: 3, .. }
        ));
    }

    #[test]
    fn compressed_files_are_laid_aside_and_read() {
        let options = ReadOptions::default();
        for packed in [gzip(&mixed()), zstandard(&mixed())] {
            assert_eq!(read(&packed, &options).unwrap().0.len(), 3);
        }
    }

    #[test]
    fn pieces_keep_the_order_of_rows() {
        let text: Vec<String> = (0..20_000).map(|number| format!("text {number}")).collect();
        let text: Vec<&str> = text.iter().map(String::as_str).collect();
        let options = ReadOptions {
            labels_required: LabelNeed::Ignored,
            ..ReadOptions::default()
        };
        let (documents, summary) = read(&parquet_file(&[("text", &text)]), &options).unwrap();
        assert_eq!(text_of(&documents), text);
        assert!(
            documents
                .iter()
                .zip(1..)
                .all(|(document, row)| document.line == row)
        );
        assert_eq!(summary.rows, 20_000);
    }

    #[test]
    fn fields_are_checked_against_the_schema() {
        let file = parquet_file(&[("text", &["x"]), ("text", &["y"])]);
        let outcome = read(&file, &ReadOptions::default());
        assert!(matches!(
            outcome,
            Err(ReadError::DuplicateField {
                second_column: 2,
                ..
            })
        ));
        let outcome = read(&parquet_file(&[("body", &["x"])]), &ReadOptions::default());
        let Err(ReadError::UnknownField {
            field, available, ..
        }) = outcome
        else {
            panic!("{outcome:?}");
        };
        assert_eq!(
            (field.as_str(), available),
            ("text", vec!["body".to_owned()])
        );
    }

    #[test]
    fn a_file_without_rows_says_so() {
        let outcome = read(
            &parquet_file(&[("text", &[]), ("label", &[])]),
            &ReadOptions::default(),
        );
        let Err(ReadError::NoRows { reason, .. }) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(reason, NoRowsReason::Blank);
    }

    #[test]
    fn cut_off_files_are_errors() {
        let options = ReadOptions {
            format: Some(Format::Parquet),
            ..ReadOptions::default()
        };
        let file = mixed();
        for length in [1, 4, 8, 11, 12, file.len() / 2, file.len() - 1] {
            let outcome = read(&file[..length], &options);
            assert!(
                matches!(outcome, Err(ReadError::Parquet { .. })),
                "{length}: {outcome:?}"
            );
        }
    }

    #[test]
    fn a_panic_becomes_an_error() {
        let outcome = guarded("f", || -> Result<(), ReadError> {
            panic!("index {} of 3", 7)
        });
        let message = outcome.unwrap_err().to_string();
        assert!(
            message.ends_with("the file is damaged (index 7 of 3)"),
            "{message}"
        );
    }

    /// Hadoop and Spark write LZ4 in frames of their own; the others write it plainly.
    #[test]
    fn every_codec_is_read() {
        use parquet::basic::Compression;
        use parquet::file::properties::WriterProperties;
        use parquet::file::writer::SerializedFileWriter;
        let schema = "message m { required binary text (UTF8); required binary label (UTF8); }";
        let text = "again and again and again ".repeat(100);
        for codec in [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(Default::default()),
            Compression::BROTLI(Default::default()),
            Compression::ZSTD(Default::default()),
            Compression::LZ4,
            Compression::LZ4_RAW,
        ] {
            let schema = parquet::schema::parser::parse_message_type(schema).unwrap();
            let settings = WriterProperties::builder().set_compression(codec).build();
            let mut writer =
                SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(settings))
                    .unwrap();
            let mut group = writer.next_row_group().unwrap();
            for value in [text.as_str(), "a"] {
                let mut column = group.next_column().unwrap().unwrap();
                let values = [ByteArray::from(value)];
                let batch = column.typed::<ByteArrayType>();
                batch.write_batch(&values, None, None).unwrap();
                column.close().unwrap();
            }
            group.close().unwrap();
            let bytes = writer.into_inner().unwrap();
            let (documents, _) = read(&bytes, &ReadOptions::default()).unwrap();
            assert_eq!(text_of(&documents), [text.as_str()], "{codec:?}");
        }
    }
}
