//! Documents of the Text REtrieval Conference: `<DOC> <DOCNO> … </DOCNO> … </DOC>`.

use std::io::{BufRead, Read};

use super::markup::plain_text;
use crate::corpus::{BadRow, ReadError, Source, open_lines};

/// A document of a TREC collection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrecDocument {
    /// What stands between `<DOCNO>` and `</DOCNO>`.
    pub id: String,
    /// The first `<TITLE>`, `<HEADLINE>`, `<TI>` or `<HL>`.
    pub title: Option<String>,
    /// All text, without tags.
    pub text: String,
    /// Where the document starts in its file.
    pub line: u64,
}

/// Opens a file of TREC documents, which may be compressed. See [`TrecDocuments`].
pub fn read_trec_documents(
    source: &Source,
    max_document_bytes: usize,
) -> Result<TrecDocuments<Box<dyn BufRead + Send>>, ReadError> {
    match open_lines(source)? {
        Some(lines) => Ok(TrecDocuments::new(lines, source.name(), max_document_bytes)),
        None => Err(ReadError::IsDirectory {
            path: source.name().into(),
            hint: "name a file",
        }),
    }
}

/// Reads documents one after the other.
///
/// A document begins with `<DOC>` and ends with `</DOC>`, in capitals or not; its identifier stands between `<DOCNO>` and
/// `</DOCNO>`. Its text is everything else without tags, comments, scripts, styles and `<DOCHDR>`; entities
/// such as `&amp;` are replaced. The title is the first `<TITLE>`, `<HEADLINE>`, `<TI>` or `<HL>`. A document that is not UTF-8 is read as
/// Latin-1, byte by byte, as old collections are.
///
/// After an error that names a document reading goes on behind it; after any other there is nothing more.
///
/// ```
/// use calibrant::corpus::TrecDocuments;
/// let file = "<DOC>\n<DOCNO> A-1 </DOCNO>\n<TEXT>Red <b>foxes</b></TEXT>\n</DOC>\n";
/// let documents: Vec<_> = TrecDocuments::new(file.as_bytes(), "a.trec".into(), 1 << 20)
///     .collect::<Result<_, _>>()?;
/// assert_eq!(documents[0].id, "A-1");
/// assert_eq!(documents[0].text.split_whitespace().collect::<Vec<_>>(), ["Red", "foxes"]);
/// # Ok::<(), calibrant::corpus::ReadError>(())
/// ```
#[derive(Debug)]
pub struct TrecDocuments<R> {
    reader: R,
    file: String,
    max_bytes: usize,
    /// The present line, of which everything before `used` has been dealt with.
    pending: Vec<u8>,
    used: usize,
    /// The number of that line.
    line: u64,
    ended: bool,
}

impl<R: BufRead> TrecDocuments<R> {
    /// Reads from `reader`; `file` is named in messages, and a document may have `max_bytes` bytes.
    pub fn new(reader: R, file: String, max_bytes: usize) -> Self {
        Self {
            reader,
            file,
            max_bytes,
            pending: Vec::new(),
            used: 0,
            line: 0,
            ended: false,
        }
    }

    /// Fills `pending` with the next line; `false` at the end.
    fn next_line(&mut self) -> Result<bool, ReadError> {
        self.pending.clear();
        self.used = 0;
        let limit = self.max_bytes as u64 + 1;
        let read = (&mut self.reader)
            .take(limit)
            .read_until(b'\n', &mut self.pending)
            .map_err(|source| ReadError::Io {
                file: self.file.clone(),
                source,
            })?;
        self.line += 1;
        if self.pending.len() > self.max_bytes {
            return Err(self.too_long(self.line));
        }
        Ok(read > 0)
    }

    fn too_long(&self, line: u64) -> ReadError {
        ReadError::RowTooLong {
            file: self.file.clone(),
            line,
            limit: self.max_bytes,
        }
    }

    fn bad(&self, line: u64, reason: &str) -> ReadError {
        ReadError::BadRow(BadRow {
            sheet: None,
            file: self.file.clone(),
            line,
            column: None,
            field: None,
            reason: reason.to_owned(),
        })
    }

    /// Skips to the next `<DOC>`; the line where it stands.
    fn find_start(&mut self) -> Result<Option<u64>, ReadError> {
        loop {
            let rest = &self.pending[self.used..];
            if let Some(at) = find_tag(rest, b"<doc>") {
                let stray = !rest[..at].trim_ascii().is_empty();
                self.used += at + b"<doc>".len();
                if stray {
                    return Err(self.bad(self.line, "there is text before <DOC>"));
                }
                return Ok(Some(self.line));
            }
            if !rest.trim_ascii().is_empty() {
                self.used = self.pending.len();
                return Err(self.bad(self.line, "there is text outside of <DOC> and </DOC>"));
            }
            if !self.next_line()? {
                return Ok(None);
            }
        }
    }

    /// The bytes up to `</DOC>`.
    fn content(&mut self, start: u64) -> Result<Vec<u8>, ReadError> {
        let mut content = Vec::new();
        loop {
            let rest = &self.pending[self.used..];
            if let Some(end) = find_tag(rest, b"</doc>") {
                content.extend_from_slice(&rest[..end]);
                self.used += end + b"</doc>".len();
                return Ok(content);
            }
            // A line of its own: in the middle of a web page these letters may stand for anything.
            if rest.trim_ascii().eq_ignore_ascii_case(b"<doc>") {
                return Err(self.bad(start, "the document that begins here has no </DOC>"));
            }
            content.extend_from_slice(rest);
            self.used = self.pending.len();
            if content.len() > self.max_bytes {
                return Err(self.too_long(start));
            }
            if !self.next_line()? {
                return Err(self.bad(start, "the document that begins here has no </DOC>"));
            }
        }
    }

    fn document(&mut self) -> Result<Option<TrecDocument>, ReadError> {
        let Some(line) = self.find_start()? else {
            return Ok(None);
        };
        let content = self.content(line)?;
        let content = String::from_utf8(content).unwrap_or_else(|error| {
            let bytes = error.into_bytes();
            bytes.into_iter().map(char::from).collect()
        });
        let plain = plain_text(&content);
        match plain.number {
            Some(id) if !id.is_empty() => Ok(Some(TrecDocument {
                id,
                title: plain.title,
                text: plain.text,
                line,
            })),
            _ => Err(self.bad(line, "the document has no <DOCNO>")),
        }
    }
}

impl<R: BufRead> Iterator for TrecDocuments<R> {
    type Item = Result<TrecDocument, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        match self.document() {
            Ok(None) => {
                self.ended = true;
                None
            }
            Ok(Some(document)) => Some(Ok(document)),
            Err(error) => {
                self.ended = !matches!(error, ReadError::BadRow(_));
                Some(Err(error))
            }
        }
    }
}

/// Where a tag stands, whatever its case.
fn find_tag(bytes: &[u8], tag: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'<', bytes).find(|&at| {
        bytes[at..]
            .get(..tag.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(tag))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8], limit: usize) -> Vec<Result<TrecDocument, ReadError>> {
        TrecDocuments::new(bytes, "f".into(), limit).collect()
    }

    #[test]
    fn documents_may_share_lines_and_have_any_case() {
        let bytes = b"\n<DOC>\n<DOCNO> a </DOCNO>\nx\n</DOC>\n<doc><docno>b</docno><title>T</title>y</doc> <DOC><DOCNO>c</DOCNO></DOC>";
        let documents: Vec<TrecDocument> =
            read(bytes, 1000).into_iter().map(Result::unwrap).collect();
        let found: Vec<(&str, u64, Option<&str>)> = documents
            .iter()
            .map(|d| (d.id.as_str(), d.line, d.title.as_deref()))
            .collect();
        assert_eq!(found, [("a", 2, None), ("b", 6, Some("T")), ("c", 6, None)]);
        assert_eq!(documents[0].text.trim(), "x");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_latin1() {
        let documents = read(b"<DOC><DOCNO>a</DOCNO>caf\xE9</DOC>", 1000);
        assert_eq!(documents[0].as_ref().unwrap().text.trim(), "café");
    }

    #[test]
    fn mistakes_are_named_with_their_line_and_reading_goes_on() {
        let bytes = b"<DOC>\nno number\n</DOC>\njunk\n<DOC>\n<DOCNO>a</DOCNO>\n<DOC>\n<DOCNO>b</DOCNO></DOC>\n<DOC>\n<DOCNO>c</DOCNO>\n";
        let found: Vec<String> = read(bytes, 1000)
            .into_iter()
            .map(|outcome| match outcome {
                Ok(document) => document.id,
                Err(error) => error.to_string(),
            })
            .collect();
        assert_eq!(
            found,
            [
                "f, line 1: the document has no <DOCNO>",
                "f, line 4: there is text outside of <DOC> and </DOC>",
                "f, line 5: the document that begins here has no </DOC>",
                "b",
                "f, line 9: the document that begins here has no </DOC>",
            ]
        );
    }

    #[test]
    fn a_document_that_is_too_long_ends_the_reading() {
        let long = format!("<DOC>\n<DOCNO>a</DOCNO>\n{}</DOC>\n", "word\n".repeat(100));
        let found = read(long.as_bytes(), 100);
        assert_eq!(found.len(), 1);
        assert!(matches!(
            found[0],
            Err(ReadError::RowTooLong { line: 1, .. })
        ));
        let line = format!("<DOC><DOCNO>a</DOCNO>{}</DOC>", "word ".repeat(100));
        assert!(matches!(
            read(line.as_bytes(), 100)[0],
            Err(ReadError::RowTooLong { .. })
        ));
    }

    #[test]
    fn a_long_line_of_many_documents_takes_no_more_than_a_moment() {
        let line = "<DOC><DOCNO>1</DOCNO>x</DOC>".repeat(200_000);
        assert_eq!(read(line.as_bytes(), 1 << 26).len(), 200_000);
    }

    proptest! {
        #[test]
        fn any_bytes_give_documents_or_errors_and_come_to_an_end(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            prop_assert!(read(&bytes, 64).len() <= bytes.len() + 1);
        }

        #[test]
        fn any_pieces_give_documents_or_errors_and_come_to_an_end(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "<DOC>", "</DOC>", "<DOCNO>", "</DOCNO>", "a", "\n", "<doc>", "\u{e9}", "<", "<script>", "<!--",
                ]),
                0..60,
            ),
        ) {
            let text = pieces.concat();
            for document in read(text.as_bytes(), 200).into_iter().flatten() {
                prop_assert!(!document.id.is_empty());
            }
        }
    }
}
