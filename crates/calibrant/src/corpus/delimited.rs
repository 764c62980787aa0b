//! CSV and TSV: a header line, then one record per row.
//!
//! CSV is read by RFC 4180: quoted fields may hold delimiters, line breaks and doubled quotes. Spreadsheets divide fields
//! by what their country does: the delimiter is that of the header line, or of a line `sep=;` before it. TSV
//! knows no such thing: a line is a row and a tab divides fields, because in tab-separated
//! text a quotation mark at the start of a field is far more often speech than quoting, and
//! a quoting reader then silently swallows rows up to the next quotation mark. A TSV field
//! that is quoted as a whole is unquoted, so that files written by CSV libraries come out right.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::memchr;

use super::error::RowProblem;
use super::kept::{Form, decimal_of};
use super::lines::{Cutter, RowEnds, without_line_end};
use super::plan::{Plan, Row, Value, check_distinct};
use super::rows::{RowFormat, locate};
use super::{
    Cell, Delimiter, Document, FileStyle, Format, KeptColumn, KeptFile, Layout, LineEnd, ReadError,
    ReadOptions,
};

/// What divides fields, and whether they may be quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Csv(Delimiter),
    Tsv,
}

impl Dialect {
    /// As the layout says, or as the file begins. `fits` says whether a header has the fields that are wanted: where a
    /// name holds a sign that could divide, it decides.
    pub(super) fn of(
        format: Format,
        layout: &Layout,
        head: &[u8],
        fits: impl Fn(&[String]) -> bool,
    ) -> Self {
        match layout.delimiter {
            Some(delimiter) => Dialect::Csv(delimiter),
            None if format == Format::Tsv => Dialect::Tsv,
            None => Dialect::Csv(delimiter_of(head, layout.no_header, fits)),
        }
    }

    /// The format that it is a kind of.
    pub(super) fn format(self) -> Format {
        match self {
            Dialect::Csv(_) => Format::Csv,
            Dialect::Tsv => Format::Tsv,
        }
    }

    pub(super) fn delimiter(self) -> Delimiter {
        match self {
            Dialect::Csv(delimiter) => delimiter,
            Dialect::Tsv => Delimiter::TAB,
        }
    }

    pub(super) fn row_ends(self) -> RowEnds {
        match self {
            Dialect::Csv(delimiter) => RowEnds::quoted(delimiter.byte()),
            Dialect::Tsv => RowEnds::Lines,
        }
    }

    /// The cells of a row that the reader has found to be one.
    pub(super) fn cells(self, row: &str) -> Vec<Cell<'_>> {
        let mut cells = Vec::new();
        // What is malformed behind them has been said before.
        let _ = self.split(row, |_, field| cells.push(Cell::Text(field.value())));
        cells
    }

    /// How a file with these first bytes is written, beside what the stream says.
    pub(super) fn style(self, head: &[u8], layout: &Layout, stream: &FileStyle) -> FileStyle {
        let line = memchr(b'\n', head).map_or(head, |end| &head[..=end]);
        FileStyle {
            delimiter: self.delimiter(),
            delimiter_line: mark(line.trim_ascii_end()).is_some(),
            line_end: match LineEnd::of(line) {
                LineEnd::None => LineEnd::Feed,
                end => end,
            },
            decimal: decimal_of(head, self, layout.decimal),
            no_header: layout.no_header,
            ..stream.clone()
        }
    }

    /// Hands every field to `visit` and returns how many there are.
    fn split<'a>(
        self,
        row: &'a str,
        visit: impl FnMut(usize, Field<'a>),
    ) -> Result<usize, RowProblem> {
        match self {
            Dialect::Csv(delimiter) => split_csv(row, delimiter.byte(), visit),
            Dialect::Tsv => Ok(split_tsv(row, visit)),
        }
    }
}

/// A CSV or TSV file whose header has been read.
pub(super) struct Delimited<R = Document> {
    dialect: Dialect,
    plan: Plan<R>,
    /// For every column of the file, where its value goes.
    slots: Vec<Option<usize>>,
    /// What rows have in common that are kept as they stand.
    kept: Option<Arc<KeptFile>>,
}

impl<R: Row> Delimited<R> {
    /// Reads the header and takes it off the first piece.
    pub(super) fn new(
        cutter: &mut Cutter,
        dialect: Dialect,
        style: FileStyle,
        file: &str,
        options: &ReadOptions,
    ) -> Result<Self, ReadError> {
        let (header, written) = read_header(cutter, dialect, file, options)?;
        let kept = R::keeps(options).then(|| {
            Arc::new(KeptFile {
                columns: header
                    .iter()
                    .map(|name| KeptColumn::new(name, true))
                    .collect(),
                form: Form::Delimited(dialect),
                in_list: false,
                header: written,
                style,
            })
        });
        let mut plan = Plan::resolve(file, options, &header)?;
        if dialect.delimiter() != Delimiter::COMMA {
            plan.allow_decimal_commas();
        }
        let slot = |name: &String| plan.columns.iter().position(|column| column == name);
        let slots = header.iter().map(slot).collect();
        Ok(Self {
            dialect,
            plan,
            slots,
            kept,
        })
    }
}

/// The names of the columns, all different, and the header as it stands. The header is taken off the first piece; a file without any row has none.
/// Without a header columns are numbered from 1.
pub(super) fn read_header(
    cutter: &mut Cutter,
    dialect: Dialect,
    file: &str,
    options: &ReadOptions,
) -> Result<(Vec<String>, Option<String>), ReadError> {
    let mut header: Vec<String> = Vec::new();
    let mut written = None;
    if let Some(piece) = cutter.peek()? {
        let ends = dialect.row_ends();
        let mut rows_used = 0;
        for (line, row) in piece.rows(ends) {
            rows_used += 1;
            if row.is_empty() || is_mark(row) {
                continue;
            }
            let names = std::str::from_utf8(row)
                .map_err(|error| RowProblem::invalid_utf8(error.valid_up_to()))
                .and_then(|text| {
                    written = Some(text.to_owned());
                    let collect = |_, field: Field<'_>| header.push(field.value().into_owned());
                    dialect.split(text, collect)
                });
            names.map_err(|problem| locate(problem, file, line, row, options.max_row_bytes))?;
            if options.layout.no_header {
                rows_used -= 1;
                written = None;
                header = (1..=header.len())
                    .map(|number| number.to_string())
                    .collect();
            }
            break;
        }
        piece.skip_rows(ends, rows_used);
    }
    check_distinct(&header, file)?;
    Ok((header, written))
}

/// Whether it is the line `sep=;` by which spreadsheets are told the delimiter.
fn is_mark(row: &[u8]) -> bool {
    mark(row).is_some()
}

fn mark(row: &[u8]) -> Option<Delimiter> {
    let row = row
        .strip_prefix(b"\"")
        .and_then(|row| row.strip_suffix(b"\""))
        .unwrap_or(row);
    let (name, sign) = row.split_at_checked(4)?;
    if !name.eq_ignore_ascii_case(b"sep=") {
        return None;
    }
    std::str::from_utf8(sign).ok()?.parse().ok()
}

/// The delimiter by which the header has most columns, among those by which it has the wanted fields.
fn delimiter_of(head: &[u8], no_header: bool, fits: impl Fn(&[String]) -> bool) -> Delimiter {
    let line_end = memchr(b'\n', head).unwrap_or(head.len());
    if let Some(delimiter) = mark(head[..line_end].trim_ascii_end()) {
        return delimiter;
    }
    let mut headers: Vec<(Delimiter, bool, Vec<String>)> = Delimiter::USUAL
        .into_iter()
        .map(|delimiter| {
            let names = first_row(head, delimiter).unwrap_or_default();
            (delimiter, is_steady(head, delimiter), names)
        })
        .collect();
    // A stable order: of equals the comma. Without names to go by, commas in texts and numbers are more likely than other
    // signs that divide every row alike.
    headers.sort_by_key(|(delimiter, steady, names)| {
        let rarer = no_header && *steady && *delimiter != Delimiter::COMMA;
        std::cmp::Reverse((*steady, rarer, names.len()))
    });
    let wanted = headers
        .iter()
        .find(|(_, _, names)| !no_header && names.len() > 1 && fits(names));
    let best = wanted.or(headers.first());
    best.map_or(Delimiter::COMMA, |(delimiter, ..)| *delimiter)
}

/// Whether by one of the usual delimiters the first rows, at least two, have equally many fields where quoted ones may hold line breaks.
pub(super) fn has_quoted_rows(head: &[u8]) -> bool {
    Delimiter::USUAL.into_iter().any(|delimiter| {
        let counts = first_counts(head, delimiter);
        counts.len() > 1 && is_steady(head, delimiter)
    })
}

/// Whether the first rows have equally many fields, and more than one.
fn is_steady(head: &[u8], delimiter: Delimiter) -> bool {
    let counts = first_counts(head, delimiter);
    counts
        .first()
        .is_some_and(|&first| first > 1 && counts.iter().all(|&count| count == first))
}

/// How many fields the first whole rows have.
fn first_counts(head: &[u8], delimiter: Delimiter) -> Vec<usize> {
    const ROWS: usize = 10;
    let mut counts = Vec::new();
    let mut rest = head;
    // A row without a line end may be cut off.
    while let (true, Some(end)) = (
        counts.len() < ROWS,
        RowEnds::quoted(delimiter.byte()).end(rest),
    ) {
        let row = String::from_utf8_lossy(without_line_end(&rest[..end]));
        if !row.is_empty() {
            counts.push(split_csv(&row, delimiter.byte(), |_, _| {}).unwrap_or(0));
        }
        rest = &rest[end..];
    }
    counts
}

/// The fields of the first row that is not blank, if it can be divided so.
fn first_row(head: &[u8], delimiter: Delimiter) -> Option<Vec<String>> {
    let blank = |byte: &&u8| matches!(byte, b'\r' | b'\n');
    let head = &head[head.iter().take_while(blank).count()..];
    let end = RowEnds::quoted(delimiter.byte()).end(head);
    let row = &head[..end.unwrap_or(head.len())];
    let row = String::from_utf8_lossy(without_line_end(row));
    let mut names = Vec::new();
    let collect = |_, field: Field<'_>| names.push(field.value().into_owned());
    split_csv(&row, delimiter.byte(), collect).ok()?;
    Some(names)
}

impl<R: Row> RowFormat<R> for Delimited<R> {
    fn row_ends(&self) -> RowEnds {
        self.dialect.row_ends()
    }

    fn is_blank(&self, row: &str) -> bool {
        row.is_empty()
    }

    fn kept_file(&self) -> Option<&Arc<KeptFile>> {
        self.kept.as_ref()
    }

    fn check(&self, file: &str, _options: &ReadOptions, _whole: bool) -> Result<(), ReadError> {
        self.plan.decimals.check(file, &self.plan.columns)
    }

    fn row<'a>(
        &self,
        row: &'a str,
        line: u64,
        values: &mut Vec<Value<'a>>,
    ) -> Result<Option<R>, RowProblem> {
        values.clear();
        values.resize(self.plan.columns.len(), Value::Absent);
        let found = self.dialect.split(row, |column, field| {
            if let Some(&Some(slot)) = self.slots.get(column) {
                values[slot] = Value::Text(field.value());
            }
        })?;
        let expected = self.slots.len();
        if found != expected {
            let hint = match self.dialect {
                Dialect::Tsv if found < expected => " (in TSV a row cannot hold a line break)",
                Dialect::Csv(delimiter) if found > expected => {
                    &format!(" (a field that holds `{delimiter}` must be quoted)")
                }
                _ => "",
            };
            let fields = if expected == 1 { "field" } else { "fields" };
            return Err(RowProblem::malformed(format!(
                "expected {expected} {fields} as in the header, found {found}{hint}"
            )));
        }
        self.plan.row(values, line)
    }
}

/// A field as it stands in the file, so that only wanted fields are unquoted.
#[derive(Debug, Clone, Copy)]
struct Field<'a> {
    inner: &'a str,
    has_doubled_quotes: bool,
}

impl<'a> Field<'a> {
    fn value(self) -> Cow<'a, str> {
        if self.has_doubled_quotes {
            Cow::Owned(self.inner.replace("\"\"", "\""))
        } else {
            Cow::Borrowed(self.inner)
        }
    }
}

fn split_csv<'a>(
    row: &'a str,
    delimiter: u8,
    mut visit: impl FnMut(usize, Field<'a>),
) -> Result<usize, RowProblem> {
    let bytes = row.as_bytes();
    let mut start = 0;
    let mut count = 0;
    loop {
        let end = if bytes.get(start) == Some(&b'"') {
            let (close, has_doubled_quotes) = closing_quote(bytes, start + 1)
                .ok_or_else(|| RowProblem::at(start, "the quote opened here is never closed"))?;
            visit(
                count,
                Field {
                    inner: &row[start + 1..close],
                    has_doubled_quotes,
                },
            );
            close + 1
        } else {
            let end = memchr(delimiter, &bytes[start..]).map_or(bytes.len(), |at| start + at);
            visit(
                count,
                Field {
                    inner: &row[start..end],
                    has_doubled_quotes: false,
                },
            );
            end
        };
        count += 1;
        match bytes.get(end) {
            None => return Ok(count),
            Some(&byte) if byte == delimiter => start = end + 1,
            Some(_) => {
                let delimiter = char::from(delimiter);
                let reason = format!(
                    "a closing quote must be followed by `{delimiter}` or a line end; \
                     a quote inside a quoted field must be doubled"
                );
                return Err(RowProblem::at(end, reason));
            }
        }
    }
}

/// Where the quoted field that starts at `from` is closed, and whether it has doubled quotes.
fn closing_quote(bytes: &[u8], from: usize) -> Option<(usize, bool)> {
    let mut at = from;
    let mut has_doubled_quotes = false;
    loop {
        at += memchr(b'"', &bytes[at..])?;
        if bytes.get(at + 1) != Some(&b'"') {
            return Some((at, has_doubled_quotes));
        }
        has_doubled_quotes = true;
        at += 2;
    }
}

fn split_tsv<'a>(row: &'a str, mut visit: impl FnMut(usize, Field<'a>)) -> usize {
    let mut count = 0;
    for field in row.split('\t') {
        let quoted = field.as_bytes().first() == Some(&b'"');
        let whole = match quoted.then(|| closing_quote(field.as_bytes(), 1)).flatten() {
            Some((close, has_doubled_quotes)) if close + 1 == field.len() => Field {
                inner: &field[1..close],
                has_doubled_quotes,
            },
            _ => Field {
                inner: field,
                has_doubled_quotes: false,
            },
        };
        visit(count, whole);
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::super::testing::{read, text_of};
    use super::super::{Fields, Format, Layout, NoRowsReason, ReadError, ReadOptions};
    use proptest::prelude::*;

    fn csv() -> ReadOptions {
        ReadOptions {
            format: Some(Format::Csv),
            ..ReadOptions::default()
        }
    }

    fn tsv() -> ReadOptions {
        ReadOptions {
            format: Some(Format::Tsv),
            ..ReadOptions::default()
        }
    }

    #[test]
    fn the_delimiter_is_that_of_the_header() {
        for sign in [",", ";", "\t", "|"] {
            let text = format!(
                "id{sign}text{sign}label\r\n1{sign}\"a{sign} \"\"b\"\"\r\nc\"{sign}x\r\n2{sign}d{sign}y\r\n"
            );
            let (documents, _) = read(text.as_bytes(), &csv()).unwrap();
            let joined = format!("a{sign} \"b\"\r\nc");
            assert_eq!(text_of(&documents), [joined.as_str(), "d"], "{sign}");
            assert_eq!(
                (documents[1].labels.join(""), documents[1].line),
                ("y".into(), 4)
            );
        }
    }

    #[test]
    fn names_that_hold_signs_do_not_mislead() {
        // Three signs `|` in a name, one comma: the wanted fields decide.
        let (documents, _) = read(b"text,label,a|b|c|d\nx,y,z\n", &csv()).unwrap();
        assert_eq!(
            (text_of(&documents), documents[0].labels.join("")),
            (vec!["x"], "y".into())
        );
        let (documents, _) = read(b"\"text\";\"a,b,c,d\";label\nx;y;z\n", &csv()).unwrap();
        assert_eq!(
            (text_of(&documents), documents[0].labels.join("")),
            (vec!["x"], "z".into())
        );
    }

    #[test]
    fn a_line_for_spreadsheets_says_the_delimiter() {
        for mark in ["sep=;", "SEP=;", "\"sep=;\""] {
            let text = format!("{mark}\r\ntext;label\r\na,b;x\r\n");
            let (documents, _) = read(text.as_bytes(), &csv()).unwrap();
            assert_eq!((text_of(&documents), documents[0].line), (vec!["a,b"], 3));
        }
    }

    #[test]
    fn fields_without_a_header_are_numbers() {
        let layout = Layout {
            no_header: true,
            ..Layout::default()
        };
        let fields = Fields {
            text: vec!["2".into()],
            label: Some("1".into()),
            ..Fields::default()
        };
        let options = ReadOptions {
            layout,
            fields,
            ..csv()
        };
        let (documents, _) = read(b"x;a, b\ny;c, d\n", &options).unwrap();
        assert_eq!(text_of(&documents), ["a, b", "c, d"]);
        let (documents, _) = read(b"x;a, b\ny;c\n", &options).unwrap();
        assert_eq!(text_of(&documents), ["a, b", "c"]);
        assert_eq!(
            (documents[0].labels.join(""), documents[0].line),
            ("x".into(), 1)
        );
        let tabs = ReadOptions {
            format: Some(Format::Tsv),
            ..options
        };
        let (documents, _) = read(b"x\ta\ny\tb\n", &tabs).unwrap();
        assert_eq!(text_of(&documents), ["a", "b"]);
    }

    #[test]
    fn a_delimiter_that_was_said_counts() {
        let options = ReadOptions {
            layout: Layout {
                delimiter: Some("~".parse().unwrap()),
                ..Layout::default()
            },
            ..csv()
        };
        let (documents, _) = read(b"text~label\n\"a~b\"~x\n", &options).unwrap();
        assert_eq!(text_of(&documents), ["a~b"]);
    }

    #[test]
    fn tables_in_other_encodings_are_read() {
        let text = "Text;label\r\nGr\u{fc}\u{df}e;\u{e4}\r\n".replace("Text", "text");
        let units = |big: bool| -> Vec<u8> {
            let bytes = |unit: u16| {
                if big {
                    unit.to_be_bytes()
                } else {
                    unit.to_le_bytes()
                }
            };
            format!("\u{FEFF}{text}")
                .encode_utf16()
                .flat_map(bytes)
                .collect()
        };
        let (western, _, _) = encoding_rs::WINDOWS_1252.encode(&text);
        let western_options = ReadOptions {
            layout: Layout {
                encoding: Some("cp1252".parse().unwrap()),
                ..Layout::default()
            },
            ..csv()
        };
        for (bytes, options) in [
            (units(false), csv()),
            (units(true), csv()),
            (western.to_vec(), western_options),
        ] {
            let (documents, _) = read(&bytes, &options).unwrap();
            assert_eq!(text_of(&documents), ["Gr\u{fc}\u{df}e"]);
            assert_eq!(documents[0].labels, ["\u{e4}"]);
        }
        let error = read(&western, &csv()).unwrap_err().to_string();
        assert!(error.contains("looks like windows-1252"), "{error}");
    }

    #[test]
    fn quoted_fields_hold_commas_quotes_and_line_breaks() {
        let text =
            "label,text\r\na,\"one, \"\"two\"\"\r\nthree\"\r\n\r\nb,plain \"quote\"\r\n\"c\",\"\"";
        let (documents, _) = read(text.as_bytes(), &csv()).unwrap();
        assert_eq!(
            text_of(&documents),
            ["one, \"two\"\r\nthree", "plain \"quote\"", ""]
        );
        assert_eq!(
            documents.iter().map(|d| d.line).collect::<Vec<_>>(),
            [2, 5, 6]
        );
        assert_eq!(documents[2].labels, ["c"]);
    }

    #[test]
    fn fields_are_joined_in_the_order_asked_for() {
        let fields = Fields {
            text: vec!["body".into(), "überschrift".into()],
            id: Some("key".into()),
            weight: Some("w".into()),
            label_separator: Some("|".into()),
            ..Fields::default()
        };
        let text = "\u{FEFF}überschrift,body,label,key,w\nT,B,x|y,k1,2.5\n";
        let (documents, _) = read(text.as_bytes(), &ReadOptions { fields, ..csv() }).unwrap();
        assert_eq!(text_of(&documents), ["B\n\u{1F}T"]);
        assert_eq!(documents[0].labels, ["x", "y"]);
        assert_eq!(
            (documents[0].id.as_deref(), documents[0].weight),
            (Some("k1"), 2.5)
        );
    }

    #[test]
    fn a_row_of_another_length_than_the_header_is_malformed() {
        let error = read(b"text,label,x\na,b,c\n1,2,3,4,5\n", &csv())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 3: expected 3 fields as in the header, found 5"),
            "{error}"
        );
        let error = read(b"text\tlabel\na\tb\n\nonly one\n", &tsv())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 4: expected 2 fields as in the header, found 1"),
            "{error}"
        );
    }

    #[test]
    fn careless_quotes_are_malformed_with_their_place() {
        let error = read(b"text,label\na,b\n\"open,c\nd,e\n", &csv())
            .unwrap_err()
            .to_string();
        assert!(
            error.ends_with("line 3, column 1: the quote opened here is never closed"),
            "{error}"
        );
        let error = read("text,label\n\"ü\" b,c\n".as_bytes(), &csv())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 2, column 4: a closing quote must be followed"),
            "{error}"
        );
        let skipping = ReadOptions {
            skip_bad_rows: true,
            ..csv()
        };
        let (documents, summary) = read(b"text,label\n\"a\" b,c\nd,e\n", &skipping).unwrap();
        assert_eq!((text_of(&documents), summary.bad_row_count), (vec!["d"], 1));
    }

    #[test]
    fn headers_are_checked_before_any_row() {
        let outcome = read(b"text,label,text\n", &csv());
        let Err(ReadError::DuplicateField {
            field,
            first_column,
            second_column,
            ..
        }) = outcome
        else {
            panic!("{outcome:?}");
        };
        assert_eq!(
            (field.as_str(), first_column, second_column),
            ("text", 1, 3)
        );
        let outcome = read(b"texts,label\nbad,row\n", &csv());
        assert!(matches!(outcome, Err(ReadError::UnknownField { field, .. }) if field == "text"));
        assert!(read(b"text,label,,\na,b,,\n", &csv()).is_ok());
        let outcome = read(b"\ntext,label\n\n", &csv());
        let Err(ReadError::NoRows { reason, .. }) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(reason, NoRowsReason::HeaderOnly);
    }

    #[test]
    fn invalid_utf8_is_placed_on_its_physical_line() {
        let error = read(b"text,label\n\"a\nb\xFFc\",d\n", &csv()).unwrap_err();
        assert!(
            matches!(
                error,
                ReadError::InvalidUtf8 {
                    line: 3,
                    column: 2,
                    ..
                }
            ),
            "{error}"
        );
        let error = read(b"te\xFFxt,label\n", &csv()).unwrap_err();
        assert!(
            matches!(
                error,
                ReadError::InvalidUtf8 {
                    line: 1,
                    column: 3,
                    ..
                }
            ),
            "{error}"
        );
    }

    #[test]
    fn in_tsv_a_quotation_mark_is_speech_unless_it_wraps_the_field() {
        let text =
            "label\ttext\na\t\"Hi\" she said\nb\t\"never closed\nc\t\"say \"\"hi\"\"\"\nd\t\"\"\n";
        let (documents, _) = read(text.as_bytes(), &tsv()).unwrap();
        assert_eq!(
            text_of(&documents),
            ["\"Hi\" she said", "\"never closed", "say \"hi\"", ""]
        );
    }

    #[test]
    fn a_row_of_tabs_is_a_row_and_an_empty_line_is_none() {
        let (documents, _) = read(b"text\tlabel\r\n\t\r\n\r\na\tb\r\n", &tsv()).unwrap();
        assert_eq!(text_of(&documents), ["", "a"]);
        assert!(documents[0].labels.is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn what_the_csv_crate_writes_is_read_back(
            rows in prop::collection::vec(("[a,;|\t\"\n\r ü]{0,12}", "[a-c]", ".*"), 1..30),
            crlf in any::<bool>(),
            delimiter in prop::sample::select(b",;\t|".to_vec()),
        ) {
            let terminator = if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
            let mut writer = csv::WriterBuilder::new().delimiter(delimiter).terminator(terminator).from_writer(Vec::new());
            writer.write_record(["text", "label", "other"]).unwrap();
            for (text, label, other) in &rows {
                writer.write_record([text, label, other]).unwrap();
            }
            let bytes = writer.into_inner().unwrap();
            let (documents, _) = read(&bytes, &csv()).unwrap();
            let expected: Vec<&str> = rows.iter().map(|row| row.0.as_str()).collect();
            prop_assert_eq!(text_of(&documents), expected);
            prop_assert!(documents.iter().zip(&rows).all(|(d, row)| d.labels == [row.1.clone()]));
        }

        #[test]
        fn well_formed_files_are_read_as_the_csv_crate_reads_them(
            bytes in prop::collection::vec(prop::sample::select(b"ab,\"\n".to_vec()), 0..60),
        ) {
            let mut text = b"text,label\n".to_vec();
            text.extend(bytes);
            let Ok((documents, _)) = read(&text, &csv()) else { return Ok(()) };
            let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_slice());
            let expected: Vec<String> =
                reader.records().map(|record| record.unwrap()[0].to_owned()).collect();
            prop_assert_eq!(text_of(&documents), expected);
        }
    }
}
