//! Rows as their file has them, for results that stand beside them.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::delimited::Dialect;
use super::error::RowProblem;
use super::plan::{Plan, Row, Value};
use super::{Cell, DecimalSign, Delimiter, Encoding, ReadOptions};

/// A row of a file as it stands there: all of its columns, whether they were asked for or not.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptRow {
    file: Arc<KeptFile>,
    line: u64,
    written: Written,
}

/// What is kept of a row.
#[derive(Debug, Clone, PartialEq)]
enum Written {
    /// As it stands in the file, without its line end.
    Text(Box<str>, LineEnd),
    Cells(Vec<Cell<'static>>),
}

/// What follows a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LineEnd {
    /// Nothing: the last row of a file, or an element of a list.
    #[default]
    None,
    Feed,
    ReturnAndFeed,
}

impl LineEnd {
    pub(super) fn of(row: &[u8]) -> Self {
        match row {
            [.., b'\r', b'\n'] => Self::ReturnAndFeed,
            [.., b'\n'] => Self::Feed,
            _ => Self::None,
        }
    }

    /// As it is written.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Feed => "\n",
            Self::ReturnAndFeed => "\r\n",
        }
    }
}

/// What all rows of a file have in common.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KeptFile {
    pub(super) columns: Vec<KeptColumn>,
    pub(super) form: Form,
    /// Rows are the elements of one list.
    pub(super) in_list: bool,
    /// The header as it stands in the file, where it has one.
    pub(super) header: Option<String>,
    pub(super) style: FileStyle,
}

/// A column of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KeptColumn {
    pub(crate) name: String,
    /// Its type, where the file has types.
    #[cfg(feature = "parquet")]
    pub(crate) stored: Option<parquet::schema::types::TypePtr>,
    /// Every cell is text.
    pub(crate) is_text: bool,
}

impl KeptColumn {
    pub(super) fn new(name: &str, is_text: bool) -> Self {
        Self {
            name: name.to_owned(),
            #[cfg(feature = "parquet")]
            stored: None,
            is_text,
        }
    }
}

/// How rows are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Delimited(Dialect),
    Object,
    /// One cell.
    Line,
    Cells,
    /// Cells of a workbook, which writes TRUE and FALSE.
    Sheet,
}

/// How a file of text is written, beyond its format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileStyle {
    pub(crate) delimiter: Delimiter,
    /// It begins with the line `sep=;`.
    pub(crate) delimiter_line: bool,
    /// It begins with a byte-order mark.
    pub(crate) byte_order_mark: bool,
    pub(crate) line_end: LineEnd,
    /// How characters are written; `None` is UTF-8.
    pub(crate) encoding: Option<Encoding>,
    pub(crate) decimal: DecimalSign,
    pub(crate) no_header: bool,
}

impl Default for FileStyle {
    fn default() -> Self {
        Self {
            delimiter: Delimiter::COMMA,
            delimiter_line: false,
            byte_order_mark: false,
            line_end: LineEnd::Feed,
            encoding: None,
            decimal: DecimalSign::Point,
            no_header: false,
        }
    }
}

impl KeptFile {
    /// Rows that are one cell each.
    pub(super) fn of_lines(name: &str, style: FileStyle) -> Self {
        Self {
            columns: vec![KeptColumn::new(name, true)],
            form: Form::Line,
            in_list: false,
            header: None,
            style,
        }
    }

    /// Rows of cells.
    pub(super) fn of_cells(columns: Vec<KeptColumn>) -> Self {
        Self {
            columns,
            form: Form::Cells,
            in_list: false,
            header: None,
            style: FileStyle::default(),
        }
    }

    /// Rows of a sheet.
    #[cfg(feature = "spreadsheet")]
    pub(super) fn of_sheet(columns: Vec<KeptColumn>) -> Self {
        Self {
            form: Form::Sheet,
            ..Self::of_cells(columns)
        }
    }

    /// Whether it is a sheet of a workbook.
    pub(crate) fn is_sheet(&self) -> bool {
        self.form == Form::Sheet
    }

    /// The columns.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code))]
    pub(crate) fn columns(&self) -> &[KeptColumn] {
        &self.columns
    }

    /// The names of the columns; one without a name is called by its number.
    pub(crate) fn names(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let named = self.columns.iter().enumerate();
        named.map(|(at, column)| match column.name.is_empty() {
            true => Cow::Owned(format!("column_{}", at + 1)),
            false => Cow::Borrowed(column.name.as_str()),
        })
    }

    pub(crate) fn header(&self) -> Option<&str> {
        self.header.as_deref()
    }

    pub(crate) fn style(&self) -> &FileStyle {
        &self.style
    }

    /// Whether rows stand in the file as they would in one with this delimiter.
    pub(crate) fn is_divided_by(&self, delimiter: u8) -> bool {
        matches!(self.form, Form::Delimited(dialect) if dialect.delimiter().byte() == delimiter)
    }

    /// Whether rows are JSON objects.
    pub(crate) fn has_objects(&self) -> bool {
        self.form == Form::Object
    }

    /// Whether rows are the elements of one list.
    pub(crate) fn is_list(&self) -> bool {
        self.in_list
    }

    /// Whether rows are text, to be written as they stand.
    pub(crate) fn is_text(&self) -> bool {
        self.form != Form::Cells
    }
}

/// A row has a field that none of the first rows has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} has a field `{field}` that the first rows of the file have not")]
pub struct NewFieldError {
    /// Where the row starts.
    pub line: u64,
    /// The field.
    pub field: String,
}

impl KeptRow {
    pub(super) fn text(file: &Arc<KeptFile>, line: u64, text: &str, end: LineEnd) -> Self {
        Self {
            file: Arc::clone(file),
            line,
            written: Written::Text(text.into(), end),
        }
    }

    pub(super) fn of_cells(file: &Arc<KeptFile>, line: u64, cells: Vec<Cell<'static>>) -> Self {
        Self {
            file: Arc::clone(file),
            line,
            written: Written::Cells(cells),
        }
    }

    pub(crate) fn file(&self) -> &Arc<KeptFile> {
        &self.file
    }

    /// The row as it stands in the file, and its line end; `None` where it is no text.
    pub(crate) fn as_written(&self) -> Option<(&str, LineEnd)> {
        match &self.written {
            Written::Text(text, end) => Some((text, *end)),
            Written::Cells(_) => None,
        }
    }

    /// The names of the columns.
    pub fn names(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.file.names()
    }

    /// Where the row starts in its file.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The cells, one for each column.
    pub fn cells(&self) -> Result<Vec<Cell<'_>>, NewFieldError> {
        let text = match &self.written {
            Written::Cells(cells) => return Ok(cells.clone()),
            Written::Text(text, _) => text,
        };
        match self.file.form {
            Form::Delimited(dialect) => Ok(dialect.cells(text)),
            Form::Object => self.object_cells(text),
            Form::Line | Form::Cells | Form::Sheet => Ok(vec![Cell::Text(Cow::Borrowed(text))]),
        }
    }

    /// The keys of a JSON object that its file's columns are not; the reader has checked that it is one.
    pub(crate) fn object_keys(&self) -> Vec<String> {
        let Some((text, _)) = self.as_written() else {
            return Vec::new();
        };
        let pairs: Pairs<'_> = serde_json::from_str(text).unwrap_or_default();
        pairs
            .0
            .into_iter()
            .map(|(key, _)| key.into_owned())
            .collect()
    }

    fn object_cells<'a>(&self, text: &'a str) -> Result<Vec<Cell<'a>>, NewFieldError> {
        let mut cells = vec![Cell::Empty; self.file.columns.len()];
        let pairs: Pairs<'_> = serde_json::from_str(text).unwrap_or_default();
        for (key, value) in pairs.0 {
            let mut columns = self.file.columns.iter();
            let Some(at) = columns.position(|column| column.name == key) else {
                return Err(NewFieldError {
                    line: self.line,
                    field: key.into_owned(),
                });
            };
            cells[at] = Cell::of_json(value);
        }
        Ok(cells)
    }
}

/// The fields of an object, in their order.
#[derive(Default)]
struct Pairs<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> serde::de::Visitor<'de> for Fields {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Pairs<'de>, A::Error> {
                let mut pairs = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
                    pairs.push((Cow::Owned(key), value));
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// What a row becomes, with the row itself where [`ReadOptions::keep`] asks for it.
#[derive(Debug)]
pub(crate) struct Kept<R> {
    pub(crate) row: R,
    pub(crate) kept: Option<KeptRow>,
}

impl<R> From<R> for Kept<R> {
    fn from(row: R) -> Self {
        Self { row, kept: None }
    }
}

impl<R: Row> Row for Kept<R> {
    const WITHOUT_LABEL: bool = R::WITHOUT_LABEL;

    fn lacks_label(&self) -> bool {
        self.row.lacks_label()
    }

    fn number(&mut self) -> &mut u64 {
        self.row.number()
    }

    fn vectors(&self) -> (u64, &[Option<Vec<f32>>]) {
        self.row.vectors()
    }

    fn content_fields(options: &ReadOptions, has: impl Fn(&str) -> bool) -> Vec<&str> {
        R::content_fields(options, has)
    }

    fn side_fields(options: &ReadOptions) -> Vec<&str> {
        R::side_fields(options)
    }

    fn of<P: Row>(plan: &Plan<P>, values: &[Value<'_>], line: u64) -> Result<Self, RowProblem> {
        R::of(plan, values, line).map(Self::from)
    }

    fn keeps(options: &ReadOptions) -> bool {
        options.keep
    }

    fn keep(&mut self, row: KeptRow) {
        self.kept = Some(row);
    }
}

/// The decimal sign of the numbers in the first rows: a comma where more cells have one than have a point. Where no number tells,
/// that of the spreadsheets which write such a delimiter. Where the delimiter is a comma, one inside a number parts thousands.
pub(super) fn decimal_of(head: &[u8], dialect: Dialect, given: Option<DecimalSign>) -> DecimalSign {
    const ROWS: usize = 200;
    if let Some(sign) = given {
        return sign;
    }
    if dialect.delimiter().byte() == b',' {
        return DecimalSign::Point;
    }
    let (mut commas, mut points) = (0, 0);
    let text = String::from_utf8_lossy(head);
    for row in text.lines().skip(1).take(ROWS) {
        for cell in dialect.cells(row) {
            if let Cell::Text(cell) = cell {
                commas += u32::from(is_number(&cell, ','));
                points += u32::from(is_number(&cell, '.'));
            }
        }
    }
    let comma = match (commas, points) {
        (0, 0) => dialect.delimiter().byte() == b';',
        (commas, points) => commas > points,
    };
    match comma {
        true => DecimalSign::Comma,
        false => DecimalSign::Point,
    }
}

/// Whether it is a number with this sign in it, and not one whose sign may part thousands.
fn is_number(cell: &str, sign: char) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let cell = cell.trim().trim_start_matches(['+', '-']);
    cell.split_once(sign).is_some_and(|(whole, parts)| {
        let thousands = parts.len() == 3 && (1..=3).contains(&whole.len()) && whole != "0";
        digits(whole) && digits(parts) && !thousands
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_no_decimals() {
        assert!(is_number("-0,93", ',') && is_number("12,5", ',') && is_number("1234,567", ','));
        assert!(is_number("0,125", ','));
        assert!(!is_number("1,234", ',') && !is_number("12.345", '.') && !is_number("1,2,3", ','));
    }
}
