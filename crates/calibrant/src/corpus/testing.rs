//! Helpers for the tests of the readers.

use std::io::Write;

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
