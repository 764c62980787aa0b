//! Helpers for the tests of the readers.

use std::io::Write;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::{Document, ReadError, ReadOptions, ReadSummary, Source, read_all};
use crate::NoProgress;

/// Writes the bytes to a file and reads it.
pub(super) fn read(
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(Vec<Document>, ReadSummary), ReadError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    read_all(&Source::Path(file.path().to_owned()), options, &NoProgress)
}

pub(super) fn text_of(documents: &[Document]) -> Vec<&str> {
    documents
        .iter()
        .map(|document| document.content.as_text().unwrap())
        .collect()
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn zstandard(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A Parquet file with one row group, filled by `fill`.
pub(super) fn write_parquet(
    schema: &str,
    fill: impl FnOnce(&mut SerializedRowGroupWriter<'_, Vec<u8>>),
) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    fill(&mut group);
    group.close().unwrap();
    writer.into_inner().unwrap()
}

/// A Parquet file of string columns.
pub(super) fn parquet_file(columns: &[(&str, &[&str])]) -> Vec<u8> {
    let fields: Vec<String> = columns
        .iter()
        .map(|(name, _)| format!("required binary {name} (UTF8);"))
        .collect();
    write_parquet(
        &format!("message schema {{ {} }}", fields.concat()),
        |group| {
            for (_, values) in columns {
                let values: Vec<ByteArray> = values.iter().map(|&v| ByteArray::from(v)).collect();
                let mut column = group.next_column().unwrap().unwrap();
                column
                    .typed::<ByteArrayType>()
                    .write_batch(&values, None, None)
                    .unwrap();
                column.close().unwrap();
            }
        },
    )
}
