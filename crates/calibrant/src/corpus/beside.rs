//! Files that come beside another one: labels of a sample, answers of another source, documents to calibrate with.

use super::{Layout, ReadError, ReadOptions};

impl ReadOptions {
    /// Reads a file that comes beside the one that these options are for.
    ///
    /// How one file is written says little about the other: a table that a person exported may lie beside one that this library wrote. So the
    /// file is read as it says itself that it is written, from the sheet of the stated name where it has one; where it cannot be read so
    /// (`is_of_layout` says that of an error), as these options say that the first one is. Which decimal sign it has no file says for sure:
    /// where that is stated, it is read as the first one is, and else as it is written itself. Filters and the skipping of bad rows are the first file's alone: every row of the other counts.
    ///
    /// The error is that of the first attempt.
    pub fn read_beside<T, E>(
        &self,
        is_of_layout: impl Fn(&E) -> bool,
        mut read: impl FnMut(&ReadOptions) -> Result<T, E>,
    ) -> Result<T, E> {
        let own = ReadOptions {
            filters: Vec::new(),
            skip_bad_rows: false,
            ..self.clone()
        };
        let detected = |sheet: Option<String>| ReadOptions {
            format: None,
            layout: Layout {
                sheet,
                ..Layout::default()
            },
            ..own.clone()
        };
        let decimal_is_stated = self.layout.decimal.is_some();
        let mut ways = vec![detected(self.layout.sheet.clone()), detected(None)];
        ways.insert(if decimal_is_stated { 0 } else { 2 }, own.clone());
        ways.dedup();
        let mut first = None;
        for way in &ways {
            let is_stated = decimal_is_stated && first.is_none();
            match read(way) {
                Err(error) if is_stated || is_of_layout(&error) => first = first.or(Some(error)),
                outcome => return outcome,
            }
        }
        first.map_or_else(|| read(&own), Err)
    }
}

impl ReadError {
    /// Whether the file may be in order, and only written otherwise than it was read: in another encoding, with another delimiter, without a
    /// header, on another sheet.
    pub fn is_of_layout(&self) -> bool {
        matches!(
            self,
            ReadError::UnknownField { .. }
                | ReadError::DuplicateField { .. }
                | ReadError::InvalidUtf8 { .. }
                | ReadError::NoSheet { .. }
                | ReadError::UnknownFormat { .. }
                | ReadError::NoRows { .. }
                | ReadError::MixedDecimals { .. }
                | ReadError::AmbiguousComma { .. }
                | ReadError::AmbiguousPoint { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use crate::corpus::{DecimalSign, Encoding, Fields, Source, read_all};

    fn read(options: &ReadOptions, bytes: &[u8]) -> Result<String, ReadError> {
        let source = Source::bytes("beside.csv", bytes.to_vec());
        options.read_beside(ReadError::is_of_layout, |options| {
            let (documents, _) = read_all(&source, options, &NoProgress)?;
            let text = documents[0].content.as_text().unwrap_or_default();
            Ok(format!("{text}|{}", documents[0].labels[0]))
        })
    }

    #[test]
    fn a_file_is_read_as_it_is_written_itself_else_as_its_neighbour() {
        let latin: Encoding = "windows-1252".parse().unwrap();
        let options = ReadOptions {
            layout: Layout {
                delimiter: Some(";".parse().unwrap()),
                encoding: Some(latin),
                ..Layout::default()
            },
            filters: vec!["label=none".parse().unwrap()],
            ..ReadOptions::default()
        };
        // UTF-8 with commas, as this library writes, though the neighbour is neither.
        assert_eq!(
            read(&options, "text,label\nüber,a\n".as_bytes()).unwrap(),
            "über|a"
        );
        assert_eq!(
            read(&options, b"text;label\n\xfcber;a\n").unwrap(),
            "über|a"
        );
        let no_header = ReadOptions {
            layout: Layout {
                no_header: true,
                ..Layout::default()
            },
            fields: Fields {
                text: vec!["1".to_owned()],
                label: Some("2".to_owned()),
                ..Fields::default()
            },
            ..ReadOptions::default()
        };
        assert_eq!(read(&no_header, b"maize,a\nbank,b\n").unwrap(), "maize|a");
        assert_eq!(read(&no_header, b"2,1\na,maize\n").unwrap(), "maize|a");
        // 5.179 is five thousand here as it is there; what this library wrote has points all the same.
        let numbers = ReadOptions {
            layout: Layout {
                decimal: Some(DecimalSign::Comma),
                ..Layout::default()
            },
            fields: Fields {
                numeric: vec!["price".to_owned()],
                ..Fields::default()
            },
            ..ReadOptions::default()
        };
        for (text, price) in [
            ("price;label\n5.179;a\n", 5179.0),
            ("price,label\n0.5,a\n", 0.5),
        ] {
            let source = Source::bytes("beside.csv", text.as_bytes().to_vec());
            let read = numbers.read_beside(ReadError::is_of_layout, |options| {
                read_all(&source, options, &NoProgress)
            });
            let (documents, _) = read.unwrap();
            let record = documents[0].content.as_record().unwrap();
            assert_eq!(record.numbers[0], Some(price), "{text}");
        }
        // A row that is wrong is wrong: another layout is not tried.
        let bad = read(&options, b"text,label\nx,\"a\n").unwrap_err();
        assert!(matches!(bad, ReadError::BadRow(_)), "{bad}");
    }
}
