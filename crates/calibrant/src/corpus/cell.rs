//! One cell of a table, with the type that its file gives it.

use std::borrow::Cow;
use std::fmt::Write;

#[cfg(feature = "parquet")]
use parquet::record::Field;
use serde_json::value::RawValue;

/// One cell of a table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Cell<'a> {
    /// Nothing.
    Empty,
    /// Text.
    Text(Cow<'a, str>),
    /// A number as JSON writes it.
    Number(Cow<'a, str>),
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
    /// True or false.
    Truth(bool),
    /// A date, a time or both in a workbook, in the notation of ISO 8601: `2026-11-18`, `2026-11-18T07:30:00`, `07:30:00`.
    Moment(Cow<'a, str>),
    /// A list or an object, as JSON.
    Nested(Cow<'a, str>),
    /// A value of a Parquet file.
    #[cfg(feature = "parquet")]
    #[doc(hidden)]
    Stored(Field),
}

impl<'a> Cell<'a> {
    /// Text that is borrowed.
    pub fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// The same with text of its own.
    pub fn into_owned(self) -> Cell<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            Self::Empty => Cell::Empty,
            Self::Text(text) => Cell::Text(owned(text)),
            Self::Number(text) => Cell::Number(owned(text)),
            Self::Whole(number) => Cell::Whole(number),
            Self::Real(number) => Cell::Real(number),
            Self::Truth(truth) => Cell::Truth(truth),
            Self::Moment(text) => Cell::Moment(owned(text)),
            Self::Nested(json) => Cell::Nested(owned(json)),
            #[cfg(feature = "parquet")]
            Self::Stored(field) => Cell::Stored(field),
        }
    }

    /// A value of JSON.
    pub(super) fn of_json(value: &'a RawValue) -> Self {
        let written = value.get();
        match written.as_bytes().first() {
            Some(b'"') => match serde_json::from_str::<&str>(written) {
                Ok(text) => Self::Text(Cow::Borrowed(text)),
                Err(_) => Self::Text(Cow::Owned(
                    serde_json::from_str(written).unwrap_or_default(),
                )),
            },
            Some(b'n') | None => Self::Empty,
            Some(b't') => Self::Truth(true),
            Some(b'f') => Self::Truth(false),
            Some(b'{' | b'[') => Self::Nested(Cow::Borrowed(written)),
            Some(_) => Self::Number(Cow::Borrowed(written)),
        }
    }

    /// As it is written in a table of text: nothing where it is empty, lists and objects as JSON.
    pub fn written(&self) -> Cow<'_, str> {
        match self {
            Self::Empty => Cow::Borrowed(""),
            Self::Text(text) | Self::Number(text) | Self::Moment(text) | Self::Nested(text) => {
                Cow::Borrowed(text)
            }
            Self::Whole(number) => Cow::Owned(number.to_string()),
            Self::Real(number) => Cow::Owned(number.to_string()),
            Self::Truth(truth) => Cow::Borrowed(if *truth { "true" } else { "false" }),
            #[cfg(feature = "parquet")]
            Self::Stored(Field::Str(text)) => Cow::Borrowed(text),
            #[cfg(feature = "parquet")]
            Self::Stored(field) => Cow::Owned(stored_text(field)),
        }
    }

    /// Adds it to a line of JSON.
    pub fn write_json(&self, out: &mut String) {
        match self {
            Self::Empty => out.push_str("null"),
            Self::Text(text) | Self::Moment(text) => push_string(out, text),
            // In a list objects may take several lines; inside strings line ends are written otherwise.
            Self::Number(json) | Self::Nested(json) => out.push_str(&one_line(json)),
            Self::Whole(_) | Self::Truth(_) => out.push_str(&self.written()),
            Self::Real(number) => push_number(out, *number),
            #[cfg(feature = "parquet")]
            Self::Stored(field) => push_stored(out, field),
        }
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Empty => true,
            #[cfg(feature = "parquet")]
            Self::Stored(Field::Null) => true,
            _ => false,
        }
    }
}

/// JSON in one line: line ends stand between its parts only.
pub(crate) fn one_line(json: &str) -> Cow<'_, str> {
    match json.contains(['\n', '\r']) {
        true => Cow::Owned(json.replace(['\n', '\r'], " ")),
        false => Cow::Borrowed(json),
    }
}

/// Adds a string of JSON.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// Adds a number of JSON, which knows no infinity.
fn push_number(out: &mut String, number: f64) {
    match number.is_finite() {
        true => {
            let _ = write!(out, "{number:?}");
        }
        false => out.push_str("null"),
    }
}

#[cfg(feature = "parquet")]
fn stored_text(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Bytes(bytes) => match std::str::from_utf8(bytes.data()) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes
                .data()
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
        },
        Field::Float(number) => format!("{number:?}"),
        Field::Double(number) => format!("{number:?}"),
        Field::Group(_) | Field::ListInternal(_) | Field::MapInternal(_) => {
            let mut json = String::new();
            push_stored(&mut json, field);
            json
        }
        plain => plain.to_string(),
    }
}

#[cfg(feature = "parquet")]
fn push_stored(out: &mut String, field: &Field) {
    match field {
        Field::Null => out.push_str("null"),
        Field::Bool(_)
        | Field::Byte(_)
        | Field::Short(_)
        | Field::Int(_)
        | Field::Long(_)
        | Field::UByte(_)
        | Field::UShort(_)
        | Field::UInt(_)
        | Field::ULong(_)
        | Field::Decimal(_) => out.push_str(&field.to_string()),
        Field::Float16(number) => push_number(out, f64::from(*number)),
        Field::Float(number) => match number.is_finite() {
            true => out.push_str(&format!("{number:?}")),
            false => out.push_str("null"),
        },
        Field::Double(number) => push_number(out, *number),
        Field::ListInternal(list) => {
            push_each(out, ['[', ']'], list.elements(), |out, element| {
                push_stored(out, element);
            });
        }
        Field::Group(row) => {
            let pairs: Vec<_> = row.get_column_iter().collect();
            push_each(out, ['{', '}'], &pairs, |out, (name, value)| {
                push_string(out, name);
                out.push(':');
                push_stored(out, value);
            });
        }
        Field::MapInternal(map) => {
            push_each(out, ['{', '}'], map.entries(), |out, (key, value)| {
                push_string(out, &stored_text(key));
                out.push(':');
                push_stored(out, value);
            });
        }
        other => push_string(out, &stored_text(other)),
    }
}

#[cfg(feature = "parquet")]
fn push_each<T>(
    out: &mut String,
    [open, close]: [char; 2],
    parts: &[T],
    mut push: impl FnMut(&mut String, &T),
) {
    out.push(open);
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        push(out, part);
    }
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_written_as_text_and_as_json() {
        let raw = |json: &'static str| serde_json::from_str::<&RawValue>(json).unwrap();
        for (json, text) in [
            ("\"a\\\"b\"", "a\"b"),
            ("\"plain\"", "plain"),
            ("1e400", "1e400"),
            ("1.50", "1.50"),
            ("true", "true"),
            ("[1, {\"a\": null}]", "[1, {\"a\": null}]"),
        ] {
            let cell = Cell::of_json(raw(json));
            assert_eq!(cell.written(), text);
            let mut again = String::new();
            cell.write_json(&mut again);
            assert_eq!(again, json);
        }
        assert!(Cell::of_json(raw("null")).is_empty());
        let mut infinite = String::new();
        Cell::Real(f64::INFINITY).write_json(&mut infinite);
        assert_eq!(infinite, "null");
    }
}
