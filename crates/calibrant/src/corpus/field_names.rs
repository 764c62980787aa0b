//! What fields does a file have?

use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;

use super::source::{Opened, open};
use super::{Fields, Format, LabelNeed, ReadError, ReadOptions, Source, read_batches_until};
use crate::NoProgress;

/// The names of the fields of a CSV, TSV, JSON Lines (by its first rows) or Parquet file, in the order
/// of the file; of the other formats those by which their parts are called, such as `text`.
///
/// ```
/// use calibrant::corpus::{Source, field_names};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("mail.csv");
/// std::fs::write(&path, "label,text\nham,See you\n")?;
/// assert_eq!(field_names(&Source::Path(path), None)?, ["label", "text"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn field_names(source: &Source, format: Option<Format>) -> Result<Vec<String>, ReadError> {
    // Every reader that knows names refuses a field that the file does not have, and says which
    // ones it has. A name of control characters is none that a file would use.
    let options = ReadOptions {
        fields: Fields {
            text: vec!["\u{1}\u{2}\u{3}".to_owned()],
            ..Fields::default()
        },
        format,
        labels_required: LabelNeed::Ignored,
        ..ReadOptions::default()
    };
    let stop = |()| ControlFlow::Break(());
    match read_batches_until(source, &options, &NoProgress, |_| (), stop) {
        Err(ReadError::UnknownField { available, .. }) => Ok(available),
        Ok(_) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The lines of a file, decompressed if need be and read one after the other; `None` for a folder.
/// What fails on the way is an [`std::io::Error`].
pub fn open_lines(source: &Source) -> Result<Option<Box<dyn BufRead + Send>>, ReadError> {
    // The format has no influence on the bytes but for a mark at their start.
    match open(source, Some(Format::JsonLines))? {
        Opened::Folder(_) => Ok(None),
        Opened::Stream(stream, _) => Ok(Some(Box::new(BufReader::with_capacity(
            1 << 16,
            stream.reader,
        )))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::gzip;
    use super::*;

    #[test]
    fn names_come_from_the_header_or_the_first_rows() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| -> Source {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            Source::Path(path)
        };
        let csv = write("a.csv.gz", &gzip(b"id,\"a,b\"\n1,2\n"));
        assert_eq!(field_names(&csv, None).unwrap(), ["id", "a,b"]);
        let json = write("a.jsonl", b"{\"x\":1,\"y\":{\"z\":2}}\n{\"w\":1}\n");
        assert_eq!(field_names(&json, None).unwrap(), ["x", "y", "w"]);
        let fast_text = write("a.ft", b"__label__a word\n");
        assert_eq!(field_names(&fast_text, None).unwrap(), ["text", "label"]);
        assert!(field_names(&write("empty.csv", b""), None).is_err());
        assert!(field_names(&Source::Path("nowhere.csv".into()), None).is_err());
    }

    #[test]
    fn lines_are_decompressed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl.gz");
        std::fs::write(&path, gzip(b"\xEF\xBB\xBFone\ntwo")).unwrap();
        let lines = open_lines(&Source::Path(path)).unwrap().unwrap().lines();
        assert_eq!(
            lines.map(Result::unwrap).collect::<Vec<_>>(),
            ["one", "two"]
        );
        let none = open_lines(&Source::Path(folder.path().to_owned()));
        assert!(!matches!(none, Ok(Some(_))));
    }
}
