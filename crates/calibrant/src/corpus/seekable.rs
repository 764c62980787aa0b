//! Formats that are read out of order need a file, wherever their bytes come from.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};

use super::ReadError;
use super::source::Stream;

/// The most bytes that are laid aside when Parquet does not come from a plain file.
#[cfg(feature = "parquet")]
pub(super) const SPOOL_LIMIT: u64 = 2 << 30;

/// The stream as a file that can be read out of order: itself, or a temporary copy of at most `limit` bytes.
pub(super) fn seekable(mut stream: Stream, limit: u64) -> Result<File, ReadError> {
    let name = stream.name.clone();
    let io_error = |source| ReadError::Io {
        file: name.clone(),
        source,
    };
    if let Some(path) = &stream.plain_file {
        return File::open(path).map_err(io_error);
    }
    let mut copy = tempfile::tempfile().map_err(io_error)?;
    let mut buffer = vec![0; 1 << 16];
    let mut copied = 0;
    loop {
        let read = match stream.reader.read(&mut buffer) {
            Ok(0) => return Ok(copy),
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(stream.error(error)),
        };
        copied += read as u64;
        if copied > limit {
            return Err(ReadError::TooLarge { file: name, limit });
        }
        copy.write_all(&buffer[..read]).map_err(io_error)?;
    }
}
