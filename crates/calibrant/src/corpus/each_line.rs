//! Walks over the lines of a text file without copying them: for formats that are not documents.

use std::io::Read;

use memchr::{memchr, memrchr};

use super::source::open_text;
use super::{Encoding, ReadError, Source};

/// No line of a file of numbers and names is longer.
const LONGEST_LINE: usize = 1 << 24;
const BUFFER_BYTES: usize = 1 << 20;

/// One line without its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) file: &'a str,
    /// From 1.
    pub(crate) number: u64,
    pub(crate) text: &'a str,
}

/// Calls `visit` with every line of the file, which may be compressed, blank lines among them.
pub(crate) fn each_line(
    source: &Source,
    mut visit: impl FnMut(Line<'_>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let Some(mut stream) = open_text(source)? else {
        return Err(ReadError::IsDirectory {
            path: source.name().into(),
            hint: "name a file",
        });
    };
    let file = stream.name.clone();
    let mut buffer = vec![0u8; BUFFER_BYTES];
    let mut filled = 0;
    let mut number = 0u64;
    loop {
        let read = loop {
            match stream.reader.read(&mut buffer[filled..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                outcome => break outcome,
            }
        };
        let read = read.map_err(|error| stream.error(error))?;
        let at_end = read == 0;
        filled += read;
        let whole = match (at_end, memrchr(b'\n', &buffer[..filled])) {
            (true, _) => filled,
            (false, Some(last)) => last + 1,
            (false, None) => 0,
        };
        let mut start = 0;
        while start < whole {
            let end = memchr(b'\n', &buffer[start..whole]).map_or(whole, |at| start + at);
            number += 1;
            let row = &buffer[start..end];
            let row = row.strip_suffix(b"\r").unwrap_or(row);
            let text = std::str::from_utf8(row).map_err(|error| ReadError::InvalidUtf8 {
                file: file.clone(),
                line: number,
                column: column_of(row, error.valid_up_to()),
                likely: Encoding::likely(row),
            })?;
            visit(Line {
                file: &file,
                number,
                text,
            })?;
            start = end + 1;
        }
        if at_end {
            return Ok(());
        }
        buffer.copy_within(whole..filled, 0);
        filled -= whole;
        if filled == buffer.len() {
            if filled >= LONGEST_LINE {
                return Err(ReadError::RowTooLong {
                    file,
                    line: number + 1,
                    limit: LONGEST_LINE,
                });
            }
            buffer.resize(filled * 2, 0);
        }
    }
}

fn column_of(row: &[u8], offset: usize) -> u64 {
    String::from_utf8_lossy(&row[..offset]).chars().count() as u64 + 1
}

#[cfg(test)]
mod tests {
    use super::super::testing::gzip;
    use super::*;

    fn lines(bytes: &[u8]) -> Result<Vec<(u64, String)>, ReadError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let mut found = Vec::new();
        each_line(&Source::Path(file.path().to_owned()), |line| {
            found.push((line.number, line.text.to_owned()));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn lines_come_in_order_with_their_numbers_whatever_ends_them() {
        let expected = vec![(1, "a b".to_owned()), (2, String::new()), (3, "c".into())];
        assert_eq!(lines(b"a b\n\nc").unwrap(), expected);
        assert_eq!(
            lines(&gzip(b"\xEF\xBB\xBFa b\r\n\r\nc\r\n")).unwrap(),
            expected
        );
    }

    #[test]
    fn lines_longer_than_the_buffer_are_whole_and_endless_ones_are_refused() {
        let long = "x".repeat(3 * BUFFER_BYTES + 7);
        let found = lines(format!("{long}\ny\n").as_bytes()).unwrap();
        assert_eq!((found[0].1.len(), found[1].1.as_str()), (long.len(), "y"));
        let endless = vec![b'x'; LONGEST_LINE + BUFFER_BYTES];
        assert!(matches!(
            lines(&endless),
            Err(ReadError::RowTooLong { line: 1, .. })
        ));
    }

    #[test]
    fn bytes_that_are_no_text_are_named_by_their_place() {
        let error = lines("a\nü\u{e9}".as_bytes().split_last().unwrap().1).unwrap_err();
        assert!(
            matches!(
                error,
                ReadError::InvalidUtf8 {
                    line: 2,
                    column: 2,
                    ..
                }
            ),
            "{error}"
        );
    }
}
