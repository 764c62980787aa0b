//! What fields does a file have?

use std::io::{BufRead, BufReader};

use super::delimited::{Dialect, read_header};
use super::folder::FOLDER_FIELDS;
use super::json_lines::{names_of_first_rows, object_ends};
use super::lines::Cutter;
#[cfg(feature = "parquet")]
use super::parquet::column_names;
use super::plan::{LINE_FIELDS, Plan};
use super::source::{Opened, open, open_text};
#[cfg(feature = "spreadsheet")]
use super::spreadsheet::column_names as sheet_columns;
use super::{Document, Format, NoRowsReason, ReadError, ReadOptions, Source};

/// The names of the fields of a CSV, TSV, JSON Lines (by its first rows), Parquet file or sheet, in the order
/// of the file; of the other formats those by which their parts are called, such as `text`.
///
/// ```
/// use calibrant::corpus::{ReadOptions, Source, field_names};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("mail.csv");
/// std::fs::write(&path, "label,text\nham,See you\n")?;
/// assert_eq!(field_names(&Source::Path(path), &ReadOptions::default())?, ["label", "text"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn field_names(source: &Source, options: &ReadOptions) -> Result<Vec<String>, ReadError> {
    let file = source.name();
    let (mut stream, format) = match open(source, options)? {
        Opened::Folder(_) => return Ok(owned(&FOLDER_FIELDS)),
        Opened::Stream(stream, format) => (stream, format),
    };
    let cut = |stream, ends| Cutter::new(stream, ends, options.max_row_bytes);
    match format {
        Format::Csv | Format::Tsv => {
            let fits = |names: &[String]| Plan::<Document>::missing(options, names).is_none();
            let dialect = Dialect::of(format, &options.layout, &stream.head, fits);
            let mut cutter = cut(stream, dialect.row_ends());
            Ok(read_header(&mut cutter, dialect, &file, options)?.0)
        }
        Format::JsonLines => {
            let ends = object_ends(&mut stream);
            let names = names_of_first_rows(&mut cut(stream, ends), ends, &file, options)?;
            names.ok_or(ReadError::NoRows {
                file,
                reason: NoRowsReason::Blank,
            })
        }
        Format::Parquet => column_names(stream),
        Format::Xlsx | Format::Ods => sheet_columns(stream, format, options),
        Format::FastText | Format::SvmLight => Ok(owned(&LINE_FIELDS)),
        Format::Folder => Err(ReadError::NotADirectory { path: file.into() }),
    }
}

/// A library built without Parquet says so.
#[cfg(not(feature = "parquet"))]
fn column_names(stream: super::source::Stream) -> Result<Vec<String>, ReadError> {
    Err(ReadError::FormatLeftOut {
        file: stream.name,
        format: Format::Parquet,
    })
}

/// A library built without spreadsheets says so.
#[cfg(not(feature = "spreadsheet"))]
fn sheet_columns(
    stream: super::source::Stream,
    format: Format,
    _options: &ReadOptions,
) -> Result<Vec<String>, ReadError> {
    Err(ReadError::FormatLeftOut {
        file: stream.name,
        format,
    })
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// The lines of a file, decompressed if need be and read one after the other; `None` for a folder.
/// What fails on the way is an [`std::io::Error`].
pub fn open_lines(source: &Source) -> Result<Option<Box<dyn BufRead + Send>>, ReadError> {
    let stream = open_text(source)?;
    Ok(stream.map(|stream| -> Box<dyn BufRead + Send> {
        Box::new(BufReader::with_capacity(1 << 16, stream.reader))
    }))
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
        assert_eq!(
            field_names(&csv, &ReadOptions::default()).unwrap(),
            ["id", "a,b"]
        );
        let json = write("a.jsonl", b"{\"x\":1,\"y\":{\"z\":2}}\n{\"w\":1}\n");
        assert_eq!(
            field_names(&json, &ReadOptions::default()).unwrap(),
            ["x", "y", "w"]
        );
        let fast_text = write("a.ft", b"__label__a word\n");
        assert_eq!(
            field_names(&fast_text, &ReadOptions::default()).unwrap(),
            ["text", "label"]
        );
        let whole = Source::Path(folder.path().to_owned());
        assert_eq!(
            field_names(&whole, &ReadOptions::default()).unwrap(),
            ["text", "label", "id"]
        );
        let header_only = write("header.tsv", b"a\tb\n");
        assert_eq!(
            field_names(&header_only, &ReadOptions::default()).unwrap(),
            ["a", "b"]
        );
        let blank =
            field_names(&write("blank.jsonl", b"\n \n"), &ReadOptions::default()).unwrap_err();
        assert!(matches!(blank, ReadError::NoRows { .. }), "{blank}");
        let list =
            field_names(&write("list.jsonl", b"[1]\n"), &ReadOptions::default()).unwrap_err();
        assert!(matches!(list, ReadError::BadRow(_)), "{list}");
        let twice = field_names(&write("twice.csv", b"a,a\n"), &ReadOptions::default());
        assert!(twice.is_err());
        assert!(field_names(&write("empty.csv", b""), &ReadOptions::default()).is_err());
        assert!(field_names(&Source::Path("nowhere.csv".into()), &ReadOptions::default()).is_err());
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
