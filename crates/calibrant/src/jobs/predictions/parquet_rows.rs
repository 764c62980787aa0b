//! Predictions as Parquet, in groups of rows.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::{Out, PredictionColumns, WritePredictionsError, positive_numbers};
use crate::jobs::{DocumentKey, PositivePrediction, Prediction};

/// Rows are gathered into groups of this many.
const ROW_GROUP: usize = 1 << 17;

pub(super) struct ParquetRows<'a> {
    writer: SerializedFileWriter<Out<'a>>,
    layout: PredictionColumns,
    /// The key of documents, then one for each column of the layout.
    columns: Vec<Column>,
    rows: usize,
}

enum Column {
    Text(Vec<ByteArray>),
    Row(Vec<i64>),
    Whole(Vec<i32>),
    Real(Vec<f64>),
    /// Texts that may be missing, with a level of 1 for each that is there.
    SomeText(Vec<ByteArray>, Vec<i16>),
    /// Numbers that may be missing, in the same way.
    SomeReal(Vec<f64>, Vec<i16>),
}

impl<'a> ParquetRows<'a> {
    /// `key` is the name of the column that says which document it is.
    pub(super) fn new(
        out: Out<'a>,
        layout: PredictionColumns,
        key: &'static str,
    ) -> Result<Self, WritePredictionsError> {
        let names: Vec<&str> = [key]
            .into_iter()
            .chain(layout.names().iter().copied())
            .collect();
        let columns: Vec<Column> = names
            .iter()
            .map(|&name| match name {
                "row" => Column::Row(Vec::new()),
                "id" | "label" | "class" => Column::Text(Vec::new()),
                "rank" => Column::Whole(Vec::new()),
                "decision" | "runner_up" | "set" => Column::SomeText(Vec::new(), Vec::new()),
                "expected_cost" => Column::SomeReal(Vec::new(), Vec::new()),
                _ => Column::Real(Vec::new()),
            })
            .collect();
        let fields: String = names
            .iter()
            .zip(&columns)
            .map(|(name, column)| match column {
                Column::Text(_) => format!("required binary {name} (utf8); "),
                Column::Row(_) => format!("required int64 {name}; "),
                Column::Whole(_) => format!("required int32 {name}; "),
                Column::Real(_) => format!("required double {name}; "),
                Column::SomeText(..) => format!("optional binary {name} (utf8); "),
                Column::SomeReal(..) => format!("optional double {name}; "),
            })
            .collect();
        let schema = parse_message_type(&format!("message predictions {{ {fields} }}"))
            .map_err(parquet_error)?;
        let properties = Arc::new(
            WriterProperties::builder()
                .set_compression(Compression::SNAPPY)
                .build(),
        );
        let writer =
            SerializedFileWriter::new(out, Arc::new(schema), properties).map_err(parquet_error)?;
        Ok(Self {
            writer,
            layout,
            columns,
            rows: 0,
        })
    }

    pub(super) fn push(
        &mut self,
        key: &DocumentKey,
        prediction: &Prediction<'_>,
    ) -> Result<(), WritePredictionsError> {
        for (rank, class) in prediction.classes.iter().enumerate() {
            let numbers = [class.probability, class.log_odds];
            let mut numbers = numbers.into_iter().chain(class.score);
            let decision = prediction.decision_at(rank);
            let second = decision.and_then(|decision| decision.runner_up.as_ref());
            let (decided, separator) = match self.layout {
                PredictionColumns::Classes {
                    decisions, sets, ..
                } => (decisions, sets),
                PredictionColumns::Positive { .. } | PredictionColumns::Rows(_) => (false, None),
            };
            let set = separator.and_then(|separator| prediction.set_at(rank, separator));
            let names = [
                decision.map(|decision| decision.action.as_ref()),
                second.map(|second| second.action.as_ref()),
                set.as_deref(),
            ];
            // Columns that are not there take no name.
            let mut names = names.into_iter().skip(if decided { 0 } else { 2 });
            self.push_key(key);
            for column in &mut self.columns[1..] {
                match column {
                    Column::Text(values) => values.push(ByteArray::from(class.label.as_ref())),
                    Column::Row(_) => {}
                    Column::Whole(values) => values.push(rank as i32 + 1),
                    Column::Real(values) => values.extend(numbers.next()),
                    Column::SomeText(values, levels) => {
                        let name = names.next().flatten();
                        levels.push(i16::from(name.is_some()));
                        values.extend(name.map(ByteArray::from));
                    }
                    Column::SomeReal(values, levels) => {
                        let cost = decision.and_then(|decision| decision.expected_cost);
                        levels.push(i16::from(cost.is_some()));
                        values.extend(cost);
                    }
                }
            }
            self.rows += 1;
        }
        self.flush_if_full()
    }

    pub(super) fn push_positive(
        &mut self,
        row: &PositivePrediction<'_>,
    ) -> Result<(), WritePredictionsError> {
        let mut numbers = positive_numbers(row, self.layout);
        self.push_key(&row.key);
        for column in &mut self.columns[1..] {
            match column {
                Column::Text(values) => values.push(ByteArray::from(row.class)),
                Column::Row(_) | Column::Whole(_) => {}
                Column::SomeText(..) | Column::SomeReal(..) => {}
                Column::Real(values) => values.extend(numbers.next()),
            }
        }
        self.rows += 1;
        self.flush_if_full()
    }

    fn push_key(&mut self, key: &DocumentKey) {
        match (&mut self.columns[0], key) {
            (Column::Row(values), DocumentKey::Row(number)) => values.push(*number as i64),
            (Column::Text(values), key) => values.push(ByteArray::from(key.text().as_ref())),
            _ => {}
        }
    }

    fn flush_if_full(&mut self) -> Result<(), WritePredictionsError> {
        if self.rows >= ROW_GROUP {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<(), WritePredictionsError> {
        if self.rows == 0 {
            return Ok(());
        }
        self.write_group().map_err(parquet_error)?;
        for column in &mut self.columns {
            match column {
                Column::Text(values) => values.clear(),
                Column::Row(values) => values.clear(),
                Column::Whole(values) => values.clear(),
                Column::Real(values) => values.clear(),
                Column::SomeText(values, levels) => {
                    values.clear();
                    levels.clear();
                }
                Column::SomeReal(values, levels) => {
                    values.clear();
                    levels.clear();
                }
            }
        }
        self.rows = 0;
        Ok(())
    }

    fn write_group(&mut self) -> parquet::errors::Result<()> {
        let mut group = self.writer.next_row_group()?;
        let mut columns = self.columns.iter();
        while let (Some(mut writer), Some(column)) = (group.next_column()?, columns.next()) {
            match column {
                Column::Text(values) => writer
                    .typed::<ByteArrayType>()
                    .write_batch(values, None, None)?,
                Column::Row(values) => writer
                    .typed::<Int64Type>()
                    .write_batch(values, None, None)?,
                Column::Whole(values) => writer
                    .typed::<Int32Type>()
                    .write_batch(values, None, None)?,
                Column::Real(values) => writer
                    .typed::<DoubleType>()
                    .write_batch(values, None, None)?,
                Column::SomeText(values, levels) => {
                    writer
                        .typed::<ByteArrayType>()
                        .write_batch(values, Some(levels), None)?
                }
                Column::SomeReal(values, levels) => {
                    writer
                        .typed::<DoubleType>()
                        .write_batch(values, Some(levels), None)?
                }
            };
            writer.close()?;
        }
        group.close()?;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<(), WritePredictionsError> {
        self.flush()?;
        let mut out = self.writer.into_inner().map_err(parquet_error)?;
        Ok(out.flush()?)
    }
}

fn failed(reason: String) -> WritePredictionsError {
    WritePredictionsError::Parquet { reason }
}

pub(super) fn parquet_error(error: ParquetError) -> WritePredictionsError {
    // What the writer says names its file.
    match error {
        ParquetError::External(error) => match error.downcast::<std::io::Error>() {
            Ok(error) => WritePredictionsError::Io(*error),
            Err(error) => failed(error.to_string()),
        },
        other => failed(other.to_string()),
    }
}
