//! Predictions as Parquet, in groups of rows.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use tempfile::NamedTempFile;

use super::writer::{Layout, PositivePrediction, Prediction};
use crate::error::CliError;

/// Rows are gathered into groups of this many.
const ROW_GROUP: usize = 1 << 17;

pub(super) struct ParquetRows {
    file: NamedTempFile,
    writer: SerializedFileWriter<File>,
    layout: Layout,
    /// One for each column of the layout.
    columns: Vec<Column>,
    rows: usize,
}

enum Column {
    Text(Vec<ByteArray>),
    Whole(Vec<i32>),
    Real(Vec<f64>),
}

impl ParquetRows {
    pub(super) fn new(file: NamedTempFile, layout: Layout) -> Result<Self, CliError> {
        let names = layout.columns();
        let columns: Vec<Column> = names
            .iter()
            .map(|&name| match name {
                "id" | "label" => Column::Text(Vec::new()),
                "rank" => Column::Whole(Vec::new()),
                _ => Column::Real(Vec::new()),
            })
            .collect();
        let fields: String = names
            .iter()
            .zip(&columns)
            .map(|(name, column)| match column {
                Column::Text(_) => format!("required binary {name} (utf8); "),
                Column::Whole(_) => format!("required int32 {name}; "),
                Column::Real(_) => format!("required double {name}; "),
            })
            .collect();
        let schema = parse_message_type(&format!("message predictions {{ {fields} }}"))
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
            layout,
            columns,
            rows: 0,
        })
    }

    pub(super) fn push(&mut self, prediction: &Prediction<'_>) -> Result<(), CliError> {
        let id = ByteArray::from(prediction.id.as_str());
        for (rank, (label, probability)) in prediction.classes.iter().enumerate() {
            let mut numbers = [probability.value(), probability.log_odds()].into_iter();
            let mut texts = [id.clone(), ByteArray::from(*label)].into_iter();
            for column in &mut self.columns {
                match column {
                    Column::Text(values) => values.extend(texts.next()),
                    Column::Whole(values) => values.push(rank as i32 + 1),
                    Column::Real(values) => values.extend(numbers.next()),
                }
            }
            self.rows += 1;
        }
        self.flush_if_full()
    }

    pub(super) fn push_positive(&mut self, row: &PositivePrediction) -> Result<(), CliError> {
        let mut numbers = row.numbers(self.layout);
        for column in &mut self.columns {
            match column {
                Column::Text(values) => values.push(ByteArray::from(row.id.as_str())),
                Column::Whole(_) => {}
                Column::Real(values) => values.extend(numbers.next()),
            }
        }
        self.rows += 1;
        self.flush_if_full()
    }

    fn flush_if_full(&mut self) -> Result<(), CliError> {
        if self.rows >= ROW_GROUP {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<(), CliError> {
        if self.rows == 0 {
            return Ok(());
        }
        self.write_group().map_err(parquet_error)?;
        for column in &mut self.columns {
            match column {
                Column::Text(values) => values.clear(),
                Column::Whole(values) => values.clear(),
                Column::Real(values) => values.clear(),
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
                Column::Whole(values) => writer
                    .typed::<Int32Type>()
                    .write_batch(values, None, None)?,
                Column::Real(values) => writer
                    .typed::<DoubleType>()
                    .write_batch(values, None, None)?,
            };
            writer.close()?;
        }
        group.close()?;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<NamedTempFile, CliError> {
        self.flush()?;
        self.writer.close().map_err(parquet_error)?;
        Ok(self.file)
    }
}

fn parquet_error(error: parquet::errors::ParquetError) -> CliError {
    CliError::new(format!("cannot write Parquet: {error}"))
}
