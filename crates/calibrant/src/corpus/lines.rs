//! Cuts a stream into pieces of whole rows, which can then be parsed in parallel.
//!
//! Where a piece ends depends on the bytes alone, never on how many of them a read happens
//! to return or on the number of threads.

use std::io::Read;

use memchr::{memchr, memchr_iter, memchr2, memrchr};

use super::error::NEVER_CLOSED;
use super::kept::LineEnd;
use super::live::Live;
use super::pieces::PieceSource;
use super::source::Stream;
use super::{BadRow, ReadError};

/// The size of a piece, unless a single row is longer.
pub(super) const PIECE_BYTES: usize = 1 << 20;

/// Whole rows, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    bytes: Vec<u8>,
    /// Rows begin here; what lies before (a header) has been dealt with.
    start: usize,
    /// The physical line at `start`.
    first_line: u64,
}

impl Piece {
    /// The rows with the line they start at, without their line ends. Blank rows are among them.
    pub(super) fn rows(&self, ends: RowEnds) -> impl Iterator<Item = (u64, &[u8])> {
        self.rows_and_ends(ends).map(|(line, row, _)| (line, row))
    }

    /// The rows with the line they start at, and what ends them.
    pub(super) fn rows_and_ends(
        &self,
        mut ends: RowEnds,
    ) -> impl Iterator<Item = (u64, &[u8], LineEnd)> {
        let mut rest = &self.bytes[self.start..];
        let mut line = self.first_line;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let end = ends.next_end(rest, 0).unwrap_or(rest.len());
            let (row, after) = rest.split_at(end);
            let row_line = line;
            line += match ends {
                RowEnds::Lines => 1,
                _ => memchr_iter(b'\n', row).count() as u64,
            };
            rest = after;
            let found = match ends {
                RowEnds::Elements { .. } => {
                    let (line, row) = element(row_line, row);
                    (line, row, LineEnd::None)
                }
                _ => (row_line, without_line_end(row), LineEnd::of(row)),
            };
            ends.restart();
            Some(found)
        })
    }

    /// Leaves out everything before the row that follows `header_rows` rows.
    pub(super) fn skip_rows(&mut self, ends: RowEnds, header_rows: usize) {
        let mut ends = ends;
        for _ in 0..header_rows {
            let rest = &self.bytes[self.start..];
            let end = ends.next_end(rest, 0).unwrap_or(rest.len());
            self.first_line += memchr_iter(b'\n', &rest[..end]).count() as u64;
            self.start += end;
            ends.restart();
        }
    }
}

/// An element of a JSON list without what divides it from the others, and the line where it begins.
fn element(line: u64, row: &[u8]) -> (u64, &[u8]) {
    let row = row.trim_ascii_end();
    let row = row
        .strip_suffix(b",")
        .or(row.strip_suffix(b"]"))
        .unwrap_or(row);
    let inner = row.trim_ascii_start();
    let breaks = memchr_iter(b'\n', &row[..row.len() - inner.len()]).count();
    (line + breaks as u64, inner.trim_ascii_end())
}

pub(super) fn without_line_end(row: &[u8]) -> &[u8] {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    row.strip_suffix(b"\r").unwrap_or(row)
}

/// Where rows end: at every line break, or at every line break outside quotes.
///
/// Quotes follow the usual CSV rule: a field is quoted if its first character is a quote;
/// inside, a doubled quote stands for one; a quote in the middle of an unquoted field is
/// an ordinary character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowEnds {
    Lines,
    Quoted {
        delimiter: u8,
        inside: bool,
        /// Where the last quoted field was closed. A quote right behind it re-opens the
        /// field, which is what a doubled quote amounts to.
        closed: Option<usize>,
    },
    /// At the commas of a JSON list that lie inside nothing else, and where the list ends.
    Elements {
        depth: usize,
        in_string: bool,
        escaped: bool,
        /// The list has ended.
        ended: bool,
    },
}

impl RowEnds {
    pub(super) const fn quoted(delimiter: u8) -> RowEnds {
        RowEnds::Quoted {
            delimiter,
            inside: false,
            closed: None,
        }
    }

    /// Inside a JSON list whose opening bracket has been read.
    pub(super) const ELEMENTS: RowEnds = RowEnds::Elements {
        depth: 0,
        in_string: false,
        escaped: false,
        ended: false,
    };

    /// The index behind the first row that ends at or after `from`. `bytes` starts at the start
    /// of a row and everything before `from` has been scanned.
    fn next_end(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        let (delimiter, inside, closed) = match self {
            RowEnds::Lines => return memchr(b'\n', &bytes[from..]).map(|at| from + at + 1),
            RowEnds::Elements { .. } => return self.next_element(bytes, from),
            RowEnds::Quoted {
                delimiter,
                inside,
                closed,
            } => (*delimiter, inside, closed),
        };
        let mut at = from;
        loop {
            if *inside {
                at += memchr(b'"', &bytes[at..])?;
                *inside = false;
                *closed = Some(at);
            } else {
                at += memchr2(b'"', b'\n', &bytes[at..])?;
                if bytes[at] == b'\n' {
                    return Some(at + 1);
                }
                let at_field_start =
                    at == 0 || bytes[at - 1] == delimiter || bytes[at - 1] == b'\n';
                let doubled = *closed == at.checked_sub(1) && closed.is_some();
                *inside = at_field_start || doubled;
            }
            at += 1;
        }
    }

    /// The index behind the first row, if it has an end.
    pub(super) fn end(mut self, bytes: &[u8]) -> Option<usize> {
        self.next_end(bytes, 0)
    }

    /// The index behind the comma or the bracket that ends an element.
    fn next_element(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        let RowEnds::Elements {
            depth,
            in_string,
            escaped,
            ended,
        } = self
        else {
            return None;
        };
        for (at, &byte) in bytes.iter().enumerate().skip(from) {
            match byte {
                _ if *escaped => *escaped = false,
                b'\\' if *in_string => *escaped = true,
                b'"' => *in_string = !*in_string,
                _ if *in_string => {}
                b'{' | b'[' => *depth += 1,
                b',' if *depth == 0 => return Some(at + 1),
                b']' if *depth == 0 => {
                    *ended = true;
                    return Some(at + 1);
                }
                b'}' | b']' => *depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        None
    }

    /// Whether what was opened is still open at the end of the file.
    fn is_open(self) -> bool {
        matches!(self, RowEnds::Elements { ended: false, .. })
    }

    /// The index behind the last row that ends at or after `from`.
    fn last_end(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        if *self == RowEnds::Lines {
            return memrchr(b'\n', &bytes[from..]).map(|at| from + at + 1);
        }
        let mut last = None;
        let mut from = from;
        while let Some(end) = self.next_end(bytes, from) {
            last = Some(end);
            from = end;
        }
        last
    }

    /// The buffer now begins `by` bytes later.
    fn shift(&mut self, by: usize) {
        if let RowEnds::Quoted { closed, .. } = self {
            *closed = closed.and_then(|at| at.checked_sub(by));
        }
    }

    fn restart(&mut self) {
        match self {
            RowEnds::Lines => {}
            RowEnds::Quoted { delimiter, .. } => *self = RowEnds::quoted(*delimiter),
            RowEnds::Elements { .. } => *self = RowEnds::ELEMENTS,
        }
    }
}

/// Reads a stream piece by piece.
pub(super) struct Cutter {
    stream: Stream,
    /// Reads the stream where whoever writes it may wait for answers.
    live: Option<Live>,
    ends: RowEnds,
    max_row_bytes: usize,
    piece_bytes: usize,
    /// The beginning of a row whose end has not been read yet; scanned already.
    rest: Vec<u8>,
    next_line: u64,
    finished: bool,
    waiting: Option<Piece>,
}

impl Cutter {
    pub(super) fn new(mut stream: Stream, ends: RowEnds, max_row_bytes: usize) -> Self {
        let live = stream.live.then(|| stream.take_live());
        Self {
            stream,
            live,
            ends,
            max_row_bytes,
            piece_bytes: PIECE_BYTES,
            rest: Vec::new(),
            next_line: 1,
            finished: false,
            waiting: None,
        }
    }

    /// The piece that will come next, to look at its header.
    pub(super) fn peek(&mut self) -> Result<Option<&mut Piece>, ReadError> {
        if self.waiting.is_none() {
            self.waiting = self.cut()?;
        }
        Ok(self.waiting.as_mut())
    }

    fn cut(&mut self) -> Result<Option<Piece>, ReadError> {
        let mut bytes = std::mem::take(&mut self.rest);
        loop {
            if self.finished {
                let end = bytes.len();
                let blank = bytes.trim_ascii().is_empty();
                if self.ends.is_open() && blank {
                    return Err(self.never_closed());
                }
                return Ok(self.piece(bytes, end));
            }
            let scanned = bytes.len();
            let target = (scanned / self.piece_bytes + 1) * self.piece_bytes;
            self.fill(&mut bytes, target)?;
            if let Some(end) = self.ends.last_end(&bytes, scanned) {
                return Ok(self.piece(bytes, end));
            }
            if bytes.len() > self.max_row_bytes {
                return Err(ReadError::RowTooLong {
                    file: self.stream.name.clone(),
                    line: self.next_line,
                    limit: self.max_row_bytes,
                });
            }
        }
    }

    fn never_closed(&self) -> ReadError {
        ReadError::BadRow(BadRow {
            sheet: None,
            file: self.stream.name.clone(),
            line: self.next_line,
            column: None,
            field: None,
            reason: NEVER_CLOSED.into(),
        })
    }

    fn fill(&mut self, bytes: &mut Vec<u8>, target: usize) -> Result<(), ReadError> {
        if let Some(live) = &mut self.live {
            let mut waits = true;
            while bytes.len() < target && (std::mem::take(&mut waits) || live.is_ready()) {
                match live.take().map_err(|error| self.stream.error(error))? {
                    Some(chunk) => bytes.extend(chunk),
                    None => {
                        self.finished = true;
                        break;
                    }
                }
            }
            return Ok(());
        }
        let wanted = target - bytes.len();
        bytes.reserve_exact(wanted);
        let outcome = (&mut self.stream.reader)
            .take(wanted as u64)
            .read_to_end(bytes);
        let read = outcome.map_err(|error| self.stream.error(error))?;
        self.finished = read < wanted;
        Ok(())
    }

    /// The first `end` bytes as a piece; what follows waits for its end.
    fn piece(&mut self, mut bytes: Vec<u8>, end: usize) -> Option<Piece> {
        self.rest = bytes.split_off(end);
        self.ends.shift(end);
        let first_line = self.next_line;
        self.next_line += memchr_iter(b'\n', &bytes).count() as u64;
        (!bytes.is_empty()).then_some(Piece {
            bytes,
            start: 0,
            first_line,
        })
    }
}

impl PieceSource for Cutter {
    type Piece = Piece;

    fn next_piece(&mut self) -> Result<Option<Piece>, ReadError> {
        match self.waiting.take() {
            Some(piece) => Ok(Some(piece)),
            None => self.cut(),
        }
    }

    fn is_live(&self) -> bool {
        self.live.is_some()
    }

    fn is_ready(&mut self) -> bool {
        let live = self.live.as_mut();
        self.waiting.is_some() || self.finished || live.is_none_or(Live::is_ready)
    }

    fn bytes_read(&self) -> u64 {
        self.stream.bytes_read()
    }

    fn weight(piece: &Piece) -> usize {
        piece.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces(bytes: &[u8], ends: RowEnds, piece_bytes: usize) -> Vec<Piece> {
        let stream = Stream::from_bytes("test", bytes.to_vec());
        let mut cutter = Cutter::new(stream, ends, 1 << 20);
        cutter.piece_bytes = piece_bytes;
        std::iter::from_fn(|| cutter.next_piece().unwrap()).collect()
    }

    fn rows(bytes: &[u8], ends: RowEnds, piece_bytes: usize) -> Vec<(u64, Vec<u8>)> {
        let pieces = pieces(bytes, ends, piece_bytes);
        pieces
            .iter()
            .flat_map(|p| p.rows(ends).map(|(line, row)| (line, row.to_vec())))
            .collect()
    }

    #[test]
    fn rows_keep_their_line_numbers_across_pieces() {
        let text = b"one\r\ntwo\n\nfour, which is long\nfive";
        for piece_bytes in [1, 2, 7, 1000] {
            let found = rows(text, RowEnds::Lines, piece_bytes);
            let expected: [(u64, &[u8]); 5] = [
                (1, b"one"),
                (2, b"two"),
                (3, b""),
                (4, b"four, which is long"),
                (5, b"five"),
            ];
            assert_eq!(found.len(), 5);
            assert!(
                found
                    .iter()
                    .zip(expected)
                    .all(|(f, e)| (f.0, f.1.as_slice()) == e)
            );
        }
    }

    #[test]
    fn line_breaks_inside_quotes_do_not_end_a_row() {
        let text = b"a,\"x\ny\"\nb,in \"middle\",\"\"\"\n\"\"\"\r\nc,\"\"\nd,\"open\n";
        for piece_bytes in [1, 2, 3, 5, 8, 1000] {
            let lines: Vec<u64> = rows(text, RowEnds::quoted(b','), piece_bytes)
                .iter()
                .map(|row| row.0)
                .collect();
            assert_eq!(lines, [1, 3, 5, 6], "pieces of {piece_bytes}");
        }
    }

    #[test]
    fn a_row_over_the_limit_is_an_error_with_its_line() {
        let mut text = b"short\n".to_vec();
        text.extend(std::iter::repeat_n(b'x', 100_000));
        let mut cutter = Cutter::new(Stream::from_bytes("f", text), RowEnds::Lines, 5000);
        cutter.piece_bytes = 1000;
        assert!(cutter.next_piece().unwrap().is_some());
        let error = cutter.next_piece().unwrap_err();
        assert!(
            matches!(
                error,
                ReadError::RowTooLong {
                    line: 2,
                    limit: 5000,
                    ..
                }
            ),
            "{error}"
        );
    }

    #[test]
    fn a_header_is_skipped_with_its_lines() {
        let mut pieces = pieces(b"\"a\nb\",c\n1,2\n", RowEnds::quoted(b','), 1000);
        pieces[0].skip_rows(RowEnds::quoted(b','), 1);
        let rows: Vec<(u64, &[u8])> = pieces[0].rows(RowEnds::quoted(b',')).collect();
        assert_eq!(rows, [(3, b"1,2".as_slice())]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn rows_do_not_depend_on_the_size_of_pieces(
            text in proptest::collection::vec(prop::sample::select(b"a\",\n\r".to_vec()), 0..200),
            piece_bytes in 1usize..40,
        ) {
            for ends in [RowEnds::Lines, RowEnds::quoted(b',')] {
                prop_assert_eq!(rows(&text, ends, piece_bytes), rows(&text, ends, 10_000));
            }
        }
    }
}
