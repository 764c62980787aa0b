//! Rows of text, divided by a delimiter, in any encoding.

use std::io::Write;

use super::table::{kept_cells, with_sign};
use super::{Out, WritePredictionsError};
use crate::corpus::{Cell, DecimalSign, Delimiter, FileStyle, KeptFile, KeptRow};

/// CSV and TSV.
pub(super) struct TextTable<'a> {
    out: Out<'a>,
    style: FileStyle,
    /// Rows of the file can be written as they stand.
    as_written: bool,
    buffer: String,
}

impl<'a> TextTable<'a> {
    pub(super) fn begin(
        out: Out<'a>,
        is_tsv: bool,
        file: Option<&KeptFile>,
        ours: &[String],
        like_input: bool,
    ) -> Result<Self, WritePredictionsError> {
        let mut style = match file.filter(|_| like_input) {
            Some(file) => file.style().clone(),
            None => FileStyle::default(),
        };
        if is_tsv {
            style.delimiter = Delimiter::TAB;
            style.delimiter_line = false;
        }
        let delimiter = style.delimiter.byte();
        let mut table = Self {
            out,
            as_written: file.is_some_and(|file| file.is_divided_by(delimiter)),
            style,
            buffer: String::new(),
        };
        table.header(file, ours)?;
        Ok(table)
    }

    fn header(
        &mut self,
        file: Option<&KeptFile>,
        ours: &[String],
    ) -> Result<(), WritePredictionsError> {
        let style = self.style.clone();
        if style.byte_order_mark {
            self.buffer.push('\u{FEFF}');
        }
        if style.delimiter_line {
            self.buffer.push_str("sep=");
            self.buffer.push(char::from(style.delimiter.byte()));
            self.buffer.push_str(style.line_end.text());
        }
        if style.no_header {
            return self.send();
        }
        let start = self.buffer.len();
        match file.and_then(KeptFile::header).filter(|_| self.as_written) {
            Some(header) => self.buffer.push_str(header),
            None => {
                for name in file.into_iter().flat_map(KeptFile::names) {
                    self.push(&name, start);
                }
            }
        }
        for name in ours {
            self.push(name, start);
        }
        self.buffer.push_str(style.line_end.text());
        self.send()
    }

    pub(super) fn row(
        &mut self,
        kept: Option<&KeptRow>,
        ours: &[Cell<'_>],
    ) -> Result<(), WritePredictionsError> {
        let mut end = self.style.line_end;
        let mut first = true;
        match kept
            .filter(|_| self.as_written)
            .and_then(KeptRow::as_written)
        {
            Some((text, written_end)) => {
                self.buffer.push_str(text);
                first = false;
                // Rows that nothing is added to stay as they are to the byte.
                if ours.is_empty() {
                    end = written_end;
                }
            }
            None => {
                let sheet = kept.is_some_and(|row| row.file().is_sheet());
                for cell in kept_cells(kept)? {
                    let text = match cell {
                        // As the same sheet saved as CSV would have it.
                        Cell::Truth(true) if sheet => "TRUE".into(),
                        Cell::Truth(false) if sheet => "FALSE".into(),
                        _ => cell.written(),
                    };
                    self.push_field(&text, std::mem::take(&mut first));
                }
            }
        }
        let comma = self.style.decimal == DecimalSign::Comma;
        for cell in ours {
            let is_real = matches!(cell, Cell::Real(_));
            let text = with_sign(cell.written(), comma && is_real);
            self.push_field(&text, std::mem::take(&mut first));
        }
        self.buffer.push_str(end.text());
        self.send()
    }

    /// A field of a row that began at `start`.
    fn push(&mut self, text: &str, start: usize) {
        let first = self.buffer.len() == start;
        self.push_field(text, first);
    }

    fn push_field(&mut self, text: &str, first: bool) {
        let delimiter = char::from(self.style.delimiter.byte());
        if !first {
            self.buffer.push(delimiter);
        }
        let special = |c: char| c == delimiter || matches!(c, '"' | '\n' | '\r');
        if text.contains(special) {
            self.buffer.push('"');
            self.buffer.push_str(&text.replace('"', "\"\""));
            self.buffer.push('"');
        } else {
            self.buffer.push_str(text);
        }
    }

    /// Writes the buffer in the encoding of the table.
    fn send(&mut self) -> Result<(), WritePredictionsError> {
        match self.style.encoding {
            None => self.out.write_all(self.buffer.as_bytes())?,
            Some(encoding) => {
                let bytes = encoding.encode(&self.buffer).map_err(|character| {
                    WritePredictionsError::Encoding {
                        encoding,
                        character,
                    }
                })?;
                self.out.write_all(&bytes)?;
            }
        }
        self.buffer.clear();
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<(), WritePredictionsError> {
        Ok(self.out.flush()?)
    }
}

/// Lines that are written as they stand: rows of JSON Lines, fastText or svmlight.
pub(crate) struct LineWriter<'a> {
    out: Out<'a>,
    style: FileStyle,
    in_list: bool,
    begun: bool,
}

impl<'a> LineWriter<'a> {
    pub(crate) fn new(out: Out<'a>, file: &KeptFile) -> Self {
        Self {
            out,
            style: file.style().clone(),
            in_list: file.is_list(),
            begun: false,
        }
    }

    fn send(&mut self, text: &str) -> Result<(), WritePredictionsError> {
        match self.style.encoding {
            None => self.out.write_all(text.as_bytes())?,
            Some(encoding) => {
                let bytes =
                    encoding
                        .encode(text)
                        .map_err(|character| WritePredictionsError::Encoding {
                            encoding,
                            character,
                        })?;
                self.out.write_all(&bytes)?;
            }
        }
        Ok(())
    }

    pub(crate) fn row(&mut self, row: &KeptRow) -> Result<(), WritePredictionsError> {
        let begun = std::mem::replace(&mut self.begun, true);
        let mut line = String::new();
        if !begun && self.style.byte_order_mark {
            line.push('\u{FEFF}');
        }
        if self.in_list {
            line.push_str(if begun { ",\n" } else { "[\n" });
        }
        if let Some((text, end)) = row.as_written() {
            line.push_str(text);
            line.push_str(end.text());
        }
        self.send(&line)
    }

    pub(crate) fn finish(mut self) -> Result<(), WritePredictionsError> {
        if self.in_list {
            let end = if self.begun { "\n]\n" } else { "[]\n" };
            self.send(end)?;
        }
        Ok(self.out.flush()?)
    }
}
