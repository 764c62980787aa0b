//! Rows of cells as Parquet. What has a type in the file that was read keeps it; of other columns the cells decide, so that
//! nothing is written before all of them are there.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    FloatType, Int32Type, Int64Type,
};
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::record::Field;
use parquet::schema::types::{Type, TypePtr};

use super::parquet_rows::parquet_error;
use super::table::kept_cells;
use super::{Out, WritePredictionsError};
use crate::corpus::{Cell, KeptFile, KeptRow};

/// Rows of a group.
const ROW_GROUP: usize = 1 << 17;

pub(super) struct ParquetTable<'a> {
    out: Out<'a>,
    columns: Vec<Column>,
}

struct Column {
    name: String,
    /// The type in the file that was read.
    stored: Option<TypePtr>,
    is_text: bool,
    cells: Vec<Cell<'static>>,
}

impl<'a> ParquetTable<'a> {
    pub(super) fn new(out: Out<'a>, file: Option<&KeptFile>, ours: &[String]) -> Self {
        let names = file.into_iter().flat_map(KeptFile::names);
        let columns = file.into_iter().flat_map(KeptFile::columns);
        let kept = names.zip(columns).map(|(name, column)| Column {
            name: name.into_owned(),
            stored: column.stored.clone(),
            is_text: column.is_text,
            cells: Vec::new(),
        });
        let added = ours.iter().map(|name| Column {
            name: name.clone(),
            stored: None,
            is_text: false,
            cells: Vec::new(),
        });
        Self {
            out,
            columns: kept.chain(added).collect(),
        }
    }

    pub(super) fn row(
        &mut self,
        kept: Option<&KeptRow>,
        ours: &[Cell<'_>],
    ) -> Result<(), WritePredictionsError> {
        let cells = kept_cells(kept)?;
        let cells = cells.into_iter().chain(ours.iter().cloned());
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.cells.push(cell.into_owned());
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<(), WritePredictionsError> {
        let mut out = self.write().map_err(parquet_error)?;
        Ok(out.flush()?)
    }

    fn write(self) -> ParquetResult<Out<'a>> {
        let kinds: Vec<Kind> = self.columns.iter().map(Kind::of).collect();
        let fields = self.columns.iter().zip(&kinds);
        let fields = fields.map(|(column, kind)| kind.field(column).map(Arc::new));
        let schema = Type::group_type_builder("predictions")
            .with_fields(fields.collect::<ParquetResult<_>>()?)
            .build()?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let properties = Arc::new(properties.build());
        let mut writer = SerializedFileWriter::new(self.out, Arc::new(schema), properties)?;
        let rows = self.columns.first().map_or(0, |column| column.cells.len());
        for start in (0..rows).step_by(ROW_GROUP) {
            let end = rows.min(start + ROW_GROUP);
            let mut group = writer.next_row_group()?;
            let mut columns = self.columns.iter().zip(&kinds);
            while let (Some(mut out), Some((column, kind))) = (group.next_column()?, columns.next())
            {
                kind.leaf(&column.cells[start..end])
                    .write(kind.physical, &mut out)?;
                out.close()?;
            }
            group.close()?;
        }
        writer.into_inner()
    }
}

/// How a column is written.
struct Kind {
    physical: Physical,
    shape: Shape,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// As the file has it; whether a cell may be missing.
    Stored {
        optional: bool,
    },
    /// A list as the file has it; whether it, and its elements, may be missing.
    List {
        optional: bool,
        elements: bool,
    },
    /// Milliseconds, of a type that is no longer written.
    Moment,
    Truth,
    Whole,
    Real,
    Text,
}

impl Kind {
    fn of(column: &Column) -> Self {
        if let Some(stored) = &column.stored {
            return Self::of_stored(stored);
        }
        let filled = || column.cells.iter().filter(|cell| !cell.is_empty());
        let all = |is: fn(&Cell<'_>) -> bool| filled().next().is_some() && filled().all(is);
        let (physical, shape) = if column.is_text {
            (Physical::BYTE_ARRAY, Shape::Text)
        } else if all(|cell| matches!(cell, Cell::Truth(_))) {
            (Physical::BOOLEAN, Shape::Truth)
        } else if all(|cell| whole(cell).is_some()) {
            (Physical::INT64, Shape::Whole)
        } else if all(|cell| real(cell).is_some()) {
            (Physical::DOUBLE, Shape::Real)
        } else {
            (Physical::BYTE_ARRAY, Shape::Text)
        };
        Self { physical, shape }
    }

    fn of_stored(stored: &Type) -> Self {
        let repetition = stored.get_basic_info().repetition();
        let optional = repetition == Repetition::OPTIONAL;
        if stored.is_primitive() && repetition != Repetition::REPEATED {
            return match stored.get_physical_type() {
                Physical::INT96 => Self {
                    physical: Physical::INT64,
                    shape: Shape::Moment,
                },
                physical => Self {
                    physical,
                    shape: Shape::Stored { optional },
                },
            };
        }
        match list_element(stored) {
            Some(element) => Self {
                physical: element.get_physical_type(),
                shape: Shape::List {
                    optional,
                    elements: element.get_basic_info().repetition() == Repetition::OPTIONAL,
                },
            },
            // Whatever is nested otherwise is written as JSON.
            None => Self {
                physical: Physical::BYTE_ARRAY,
                shape: Shape::Text,
            },
        }
    }

    fn field(&self, column: &Column) -> ParquetResult<Type> {
        if let (Shape::Stored { .. } | Shape::List { .. }, Some(stored)) =
            (self.shape, &column.stored)
        {
            return Ok(stored.as_ref().clone());
        }
        let field = Type::primitive_type_builder(&column.name, self.physical)
            .with_repetition(Repetition::OPTIONAL);
        match self.shape {
            Shape::Text => field.with_logical_type(Some(LogicalType::String)).build(),
            Shape::Moment => field
                .with_converted_type(ConvertedType::TIMESTAMP_MILLIS)
                .build(),
            _ => field.build(),
        }
    }

    /// The values of some cells, with what tells those that are missing.
    fn leaf(&self, cells: &[Cell<'static>]) -> Leaf {
        let mut leaf = Leaf::default();
        for cell in cells {
            match (self.shape, cell) {
                (Shape::List { optional, elements }, Cell::Stored(field)) => {
                    leaf.push_list(field, optional, elements);
                }
                _ => leaf.push(self.value(cell)),
            }
        }
        if self.shape == (Shape::Stored { optional: false }) {
            leaf.levels = None;
        }
        leaf
    }

    fn value(&self, cell: &Cell<'static>) -> Option<Field> {
        match (self.shape, cell) {
            _ if cell.is_empty() => None,
            (Shape::Stored { .. } | Shape::Moment, Cell::Stored(field)) => Some(field.clone()),
            (Shape::Truth, Cell::Truth(truth)) => Some(Field::Bool(*truth)),
            (Shape::Whole, cell) => whole(cell).map(Field::Long),
            (Shape::Real, cell) => real(cell).map(Field::Double),
            (_, cell) => Some(Field::Str(cell.written().into_owned())),
        }
    }
}

/// What is in a list of the usual form.
fn list_element(stored: &Type) -> Option<&Type> {
    let info = stored.get_basic_info();
    let is_list = info.converted_type() == ConvertedType::LIST
        || info.logical_type_ref() == Some(&LogicalType::List);
    if stored.is_primitive() || !is_list || info.repetition() == Repetition::REPEATED {
        return None;
    }
    let [inner] = stored.get_fields() else {
        return None;
    };
    if inner.is_primitive() || inner.get_basic_info().repetition() != Repetition::REPEATED {
        return None;
    }
    let [element] = inner.get_fields() else {
        return None;
    };
    let usual = element.is_primitive()
        && element.get_physical_type() != Physical::INT96
        && element.get_basic_info().repetition() != Repetition::REPEATED;
    usual.then_some(element.as_ref())
}

fn whole(cell: &Cell<'_>) -> Option<i64> {
    match cell {
        Cell::Whole(number) => Some(*number),
        Cell::Number(written) => written.parse().ok(),
        _ => None,
    }
}

fn real(cell: &Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Whole(number) => Some(*number as f64),
        Cell::Real(number) => Some(*number),
        Cell::Number(written) => written
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

/// Values of one column, and where there are none.
struct Leaf {
    values: Vec<Field>,
    levels: Option<Vec<i16>>,
    /// Whether a value goes on with a list; of lists only.
    repeats: Option<Vec<i16>>,
}

impl Default for Leaf {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            levels: Some(Vec::new()),
            repeats: None,
        }
    }
}

impl Leaf {
    fn push(&mut self, value: Option<Field>) {
        self.level(i16::from(value.is_some()));
        self.values.extend(value);
    }

    fn level(&mut self, level: i16) {
        self.levels.get_or_insert_default().push(level);
    }

    fn push_list(&mut self, list: &Field, optional: bool, elements: bool) {
        let empty = i16::from(optional);
        let Field::ListInternal(list) = list else {
            self.level(0);
            self.repeats.get_or_insert_default().push(0);
            return;
        };
        if list.elements().is_empty() {
            self.level(empty);
            self.repeats.get_or_insert_default().push(0);
        }
        for (at, element) in list.elements().iter().enumerate() {
            let is_there = *element != Field::Null;
            let full = empty + 1 + i16::from(elements);
            self.level(if is_there { full } else { empty + 1 });
            self.repeats.get_or_insert_default().push(i16::from(at > 0));
            self.values.extend(is_there.then(|| element.clone()));
        }
    }

    fn write(&self, physical: Physical, out: &mut SerializedColumnWriter<'_>) -> ParquetResult<()> {
        let (levels, repeats) = (self.levels.as_deref(), self.repeats.as_deref());
        macro_rules! write_as {
            ($kind:ty, $value:expr) => {{
                let values: Vec<_> = self.values.iter().filter_map($value).collect();
                out.typed::<$kind>().write_batch(&values, levels, repeats)?
            }};
        }
        match physical {
            Physical::BOOLEAN => write_as!(BoolType, |field| match field {
                Field::Bool(truth) => Some(*truth),
                _ => None,
            }),
            Physical::INT32 => write_as!(Int32Type, |field| int(field).map(|n| n as i32)),
            Physical::INT64 | Physical::INT96 => write_as!(Int64Type, int),
            Physical::FLOAT => write_as!(FloatType, |field| match field {
                Field::Float(number) => Some(*number),
                _ => None,
            }),
            Physical::DOUBLE => write_as!(DoubleType, |field| match field {
                Field::Double(number) => Some(*number),
                _ => None,
            }),
            Physical::BYTE_ARRAY => write_as!(ByteArrayType, bytes),
            Physical::FIXED_LEN_BYTE_ARRAY => {
                write_as!(FixedLenByteArrayType, |field| bytes(field)
                    .map(FixedLenByteArray::from))
            }
        };
        Ok(())
    }
}

/// The whole number behind a value.
fn int(field: &Field) -> Option<i64> {
    Some(match field {
        Field::Byte(n) => i64::from(*n),
        Field::Short(n) => i64::from(*n),
        Field::Int(n) | Field::Date(n) | Field::TimeMillis(n) => i64::from(*n),
        Field::UByte(n) => i64::from(*n),
        Field::UShort(n) => i64::from(*n),
        Field::UInt(n) => i64::from(*n),
        Field::ULong(n) => *n as i64,
        Field::Long(n)
        | Field::TimeMicros(n)
        | Field::TimestampMillis(n)
        | Field::TimestampMicros(n) => *n,
        // The highest byte comes first, with the sign.
        Field::Decimal(decimal) => {
            let bytes = decimal.data();
            let sign = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) {
                -1
            } else {
                0
            };
            bytes
                .iter()
                .fold(sign, |n: i64, &byte| (n << 8) | i64::from(byte))
        }
        _ => return None,
    })
}

fn bytes(field: &Field) -> Option<ByteArray> {
    Some(match field {
        Field::Str(text) => ByteArray::from(text.as_str()),
        Field::Bytes(bytes) => bytes.clone(),
        Field::Decimal(decimal) => ByteArray::from(decimal.data().to_vec()),
        Field::Float16(number) => ByteArray::from(number.to_le_bytes().to_vec()),
        _ => return None,
    })
}
