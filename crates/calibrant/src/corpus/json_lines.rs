//! JSON Lines: one object per line, of which only the wanted fields are built.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::error::RowProblem;
use super::kept::Form;
use super::lines::{Cutter, RowEnds};
use super::pieces::PieceSource as _;
use super::plan::{Plan, Row, Value};
use super::rows::{RowFormat, locate};
use super::source::Stream;
use super::vectors::VectorSeed;
use super::{Document, FileStyle, KeptColumn, KeptFile, ReadError, ReadOptions};

/// Which fields there are is judged by so many rows: objects may leave out what is empty, and a field that none of these has is an error.
const ROWS_LOOKED_AT: usize = 1000;

/// Reads the wanted fields of every object. Which fields there are is judged by the first rows.
pub(super) struct JsonLines<R = Document> {
    plan: Plan<R>,
    /// Whether each column of the plan is read as numbers.
    vectors: Vec<bool>,
    ends: RowEnds,
    /// What rows have in common that are kept as they stand.
    kept: Option<Arc<KeptFile>>,
    /// Where fields could not be judged by the first rows.
    unjudged: Option<Unjudged>,
}

/// Which of the wanted fields came up in any row.
struct Unjudged {
    /// The fields of the first rows.
    available: Vec<String>,
    /// For each column of the plan.
    came: Vec<AtomicBool>,
}

/// Where the objects of a file end: at line ends, or at the commas of one list that holds them all. The bracket that opens
/// such a list is taken off.
pub(super) fn object_ends(stream: &mut Stream) -> RowEnds {
    match stream.take_bracket() {
        true => RowEnds::ELEMENTS,
        false => RowEnds::Lines,
    }
}

impl<R: Row> JsonLines<R> {
    /// Looks at the first rows.
    pub(super) fn new(
        cutter: &mut Cutter,
        ends: RowEnds,
        style: FileStyle,
        file: &str,
        options: &ReadOptions,
    ) -> Result<Self, ReadError> {
        let names = names_of_first_rows(cutter, ends, file, options)?;
        let kept = R::keeps(options).then(|| {
            let columns = names.iter().flatten();
            Arc::new(KeptFile {
                columns: columns.map(|name| KeptColumn::new(name, false)).collect(),
                form: Form::Object,
                in_list: ends != RowEnds::Lines,
                header: None,
                style,
            })
        });
        let live = cutter.is_live();
        let (plan, available) = match names {
            // Rows that are still to be written may have what the first lacks.
            Some(available) if live && Plan::<R>::missing(options, &available).is_some() => {
                let has = |name: &str| available.iter().any(|known| known == name);
                (Plan::unchecked(options, has), Some(available))
            }
            Some(available) => (Plan::resolve(file, options, &available)?, None),
            // The rows themselves will tell what is wrong.
            None => (Plan::unchecked(options, |_| true), Some(Vec::new())),
        };
        let unjudged = available.map(|available| Unjudged {
            available,
            came: plan
                .columns
                .iter()
                .map(|_| AtomicBool::new(false))
                .collect(),
        });
        Ok(Self {
            ends,
            kept,
            vectors: (0..plan.columns.len())
                .map(|at| plan.is_vector(at))
                .collect(),
            plan,
            unjudged,
        })
    }
}

/// The keys of the first objects, each once, in the order in which they come; `None` where no row is an object.
pub(super) fn names_of_first_rows(
    cutter: &mut Cutter,
    ends: RowEnds,
    file: &str,
    options: &ReadOptions,
) -> Result<Option<Vec<String>>, ReadError> {
    let longest_row = options.max_row_bytes;
    let Some(piece) = cutter.peek()? else {
        return Ok(None);
    };
    let mut available: Vec<String> = Vec::new();
    let mut good_rows = 0;
    for (line, row) in piece.rows(ends) {
        if row.len() > longest_row || row.trim_ascii().is_empty() {
            continue;
        }
        let names = match std::str::from_utf8(row) {
            Ok(text) => field_names(text),
            Err(error) => Err(RowProblem::invalid_utf8(error.valid_up_to())),
        };
        match names {
            Ok(names) => {
                for name in names {
                    if !available.contains(&name) {
                        available.push(name);
                    }
                }
                good_rows += 1;
            }
            // What is wrong with a later row will be said when it is read.
            Err(_) if options.skip_bad_rows || good_rows > 0 => {}
            Err(problem) => return Err(locate(problem, file, line, row, longest_row)),
        }
        if good_rows == ROWS_LOOKED_AT {
            break;
        }
    }
    Ok((good_rows > 0).then_some(available))
}

impl<R: Row> RowFormat<R> for JsonLines<R> {
    fn row_ends(&self) -> RowEnds {
        self.ends
    }

    fn kept_file(&self) -> Option<&Arc<KeptFile>> {
        self.kept.as_ref()
    }

    fn row<'a>(
        &self,
        row: &'a str,
        line: u64,
        values: &mut Vec<Value<'a>>,
    ) -> Result<Option<R>, RowProblem> {
        values.clear();
        values.resize(self.plan.columns.len(), Value::Absent);
        with_object(
            row,
            RowSeed {
                columns: &self.plan.columns,
                vectors: &self.vectors,
                values,
            },
        )?;
        if let Some(unjudged) = &self.unjudged {
            let came = unjudged.came.iter().zip(values.iter());
            for (came, _) in came.filter(|(_, value)| **value != Value::Absent) {
                came.store(true, Ordering::Relaxed);
            }
        }
        self.plan.row(values, line)
    }

    /// A field that no row has was not meant.
    fn check(&self, file: &str, options: &ReadOptions, whole: bool) -> Result<(), ReadError> {
        let unjudged = self.unjudged.as_ref().filter(|_| whole);
        let Some(Unjudged { available, came }) = unjudged else {
            return Ok(());
        };
        let columns = self.plan.columns.iter().zip(came);
        let late = columns.filter(|(_, came)| came.load(Ordering::Relaxed));
        let all = available.iter().chain(late.map(|(name, _)| name));
        let all: Vec<String> = all.cloned().collect();
        match Plan::<R>::missing(options, &all) {
            Some(field) => Err(ReadError::FieldNeverCame {
                file: file.to_owned(),
                field,
                available: available.clone(),
            }),
            None => Ok(()),
        }
    }
}

/// The keys of an object, in its order.
fn field_names(row: &str) -> Result<Vec<String>, RowProblem> {
    with_object(row, NamesSeed)
}

/// Deserialises exactly one value from the row; says where it went wrong.
fn with_object<'de, S: DeserializeSeed<'de>>(
    row: &'de str,
    seed: S,
) -> Result<S::Value, RowProblem> {
    let start = row.len() - row.trim_start().len();
    if row[start..].starts_with('[') {
        let reason = "found a list; every row must be an object `{...}`";
        return Err(RowProblem::at(start, reason));
    }
    let mut deserializer = serde_json::Deserializer::from_str(row);
    let outcome = seed.deserialize(&mut deserializer);
    outcome
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| {
            let message = error.to_string();
            let reason = message
                .split(" at line ")
                .next()
                .unwrap_or_default()
                .to_owned();
            let problem = RowProblem::malformed(reason);
            // In a list an object may take several lines.
            let earlier = row
                .split_inclusive('\n')
                .take(error.line().saturating_sub(1));
            let before: usize = earlier.map(str::len).sum();
            match error.column() {
                0 => problem,
                column => RowProblem {
                    offset: Some(floor_boundary(row, before + column - 1)),
                    ..problem
                },
            }
        })
}

/// The start of the character that `offset` lies in.
fn floor_boundary(row: &str, offset: usize) -> usize {
    (0..=offset.min(row.len()))
        .rev()
        .find(|&at| row.is_char_boundary(at))
        .unwrap_or(0)
}

struct NamesSeed;

impl<'de> DeserializeSeed<'de> for NamesSeed {
    type Value = Vec<String>;

    fn deserialize<D: de::Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for NamesSeed {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut names = Vec::new();
        while let Some((name, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
            names.push(name);
        }
        Ok(names)
    }
}

/// Fills one value per wanted column and passes over everything else.
struct RowSeed<'plan, 'values, 'de> {
    columns: &'plan [String],
    vectors: &'plan [bool],
    values: &'values mut [Value<'de>],
}

impl<'de> DeserializeSeed<'de> for RowSeed<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(column) = map.next_key_seed(ColumnSeed(self.columns))? {
            let Some(at) = column else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if self.values[at] != Value::Absent {
                let name = &self.columns[at];
                return Err(de::Error::custom(format_args!(
                    "field `{name}` appears twice"
                )));
            }
            self.values[at] = match self.vectors[at] {
                true => map.next_value_seed(VectorSeed)?,
                false => map.next_value_seed(ValueSeed)?,
            };
        }
        Ok(())
    }
}

/// Turns a key into the number of its column, without building a string.
struct ColumnSeed<'plan>(&'plan [String]);

impl<'de> DeserializeSeed<'de> for ColumnSeed<'_> {
    type Value = Option<usize>;

    fn deserialize<D: de::Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for ColumnSeed<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field name")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|column| column == name))
    }
}

struct ValueSeed;

impl<'de> DeserializeSeed<'de> for ValueSeed {
    type Value = Value<'de>;

    fn deserialize<D: de::Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Value::Scalar(value.to_string()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Value::Scalar(value.to_string()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Value::Scalar(value.to_string()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        // The debug form keeps `1.0` apart from `1`, as the file does.
        Ok(Value::Scalar(format!("{value:?}")))
    }

    fn visit_borrowed_str<E: de::Error>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Value::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Value::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        let mut nested = false;
        while let Some(element) = list.next_element_seed(ValueSeed)? {
            match element {
                Value::Text(text) => elements.push(text.into_owned()),
                Value::Scalar(printed) => elements.push(printed),
                Value::Null | Value::Absent => {}
                Value::List(_) | Value::Numbers(_) | Value::Nested => nested = true,
            }
        }
        Ok(if nested {
            Value::Nested
        } else {
            Value::List(elements)
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Nested)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{read, text_of};
    use super::super::{Fields, Format, LabelNeed, ReadError, ReadOptions, Source, read_all};
    use crate::NoProgress;
    use proptest::prelude::*;

    fn options() -> ReadOptions {
        ReadOptions {
            format: Some(Format::JsonLines),
            ..ReadOptions::default()
        }
    }

    fn message(text: &str) -> String {
        read(text.as_bytes(), &options()).unwrap_err().to_string()
    }

    #[test]
    fn a_list_of_objects_is_read_as_its_objects() {
        let pretty = "\u{FEFF} [\n  {\"text\": \"a, ] \\\" [\",\n   \"label\": \"x\"},\n  {\"text\": \"b\", \"label\": [\"y\", \"z\"], \"n\": {\"k\": [1, {}]}}\n]\n";
        let flat =
            "[{\"text\":\"a, ] \\\" [\",\"label\":\"x\"},{\"text\":\"b\",\"label\":[\"y\",\"z\"]}]";
        for (text, lines) in [(pretty, [2, 4]), (flat, [1, 1])] {
            let (documents, _) = read(text.as_bytes(), &options()).unwrap();
            assert_eq!(text_of(&documents), ["a, ] \" [", "b"]);
            assert_eq!(documents[1].labels, ["y", "z"]);
            assert_eq!([documents[0].line, documents[1].line], lines);
        }
    }

    #[test]
    fn what_is_wrong_with_a_list_is_named_by_its_line() {
        let cut = "[\n{\"text\":\"a\",\"label\":\"x\"},\n";
        let error = read(cut.as_bytes(), &options()).unwrap_err().to_string();
        assert!(error.contains("never closed"), "{error}");
        let cut = "[{\"text\":\"a\",\"label\":\"x\"}";
        let error = read(cut.as_bytes(), &options()).unwrap_err().to_string();
        assert!(error.contains("never closed"), "{error}");
        let wrong = "[\n{\"text\":\"a\",\"label\":\"x\"},\n{\"text\":\n  oops}\n]";
        let error = read(wrong.as_bytes(), &options()).unwrap_err().to_string();
        assert!(error.contains("line 3"), "{error}");
        let nested = "[{\"text\":\"a\",\"label\":\"x\"},[1]]";
        let error = read(nested.as_bytes(), &options()).unwrap_err().to_string();
        assert!(error.contains("found a list"), "{error}");
        let after = "[{\"text\":\"a\",\"label\":\"x\"}] more";
        assert!(read(after.as_bytes(), &options()).is_err());
        assert!(read(b"[]", &options()).is_err());
    }

    #[test]
    fn of_a_source_that_is_answered_as_it_comes_a_field_may_come_late_but_not_never() {
        let rows = |fields: Fields, filter: Option<&str>| {
            let text = "{\"body\":\"a\"}\n{\"text\":\"b\",\"body\":\"c\"}\n";
            let source = Source::reader("standard input", text.as_bytes());
            let options = ReadOptions {
                fields,
                filters: filter
                    .map(|filter| filter.parse().unwrap())
                    .into_iter()
                    .collect(),
                labels_required: LabelNeed::Ignored,
                as_they_come: true,
                ..options()
            };
            read_all(&source, &options, &NoProgress).map(|(documents, _)| documents.len())
        };
        let never = |outcome: Result<usize, ReadError>, name: &str| match outcome {
            Err(
                ReadError::FieldNeverCame { field, .. } | ReadError::UnknownField { field, .. },
            ) => {
                assert_eq!(field, name);
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(rows(Fields::default(), None).unwrap(), 2);
        let misspelt = Fields {
            text: vec!["txt".into()],
            ..Fields::default()
        };
        never(rows(misspelt, None), "txt");
        never(rows(Fields::default(), Some("splt=test")), "splt");
        never(rows(Fields::default(), Some("splt!=test")), "splt");
    }

    #[test]
    fn wanted_fields_are_found_in_any_order_among_others() {
        let text = r#"{"x": {"deep": [1, {"a": null}]}, "label": "b", "text": "one"}

{"text": "tw\u00f6 \"quoted\"\n", "label": ["c", 2, null, true, "c"], "n": 1e400}
{"label": null, "text": null}
{"text": 3.0}
"#;
        let (documents, _) = read(text.as_bytes(), &options()).unwrap();
        assert_eq!(text_of(&documents), ["one", "twö \"quoted\"\n", "", "3.0"]);
        assert_eq!(documents[0].labels, ["b"]);
        assert_eq!(documents[1].labels, ["2", "c", "true"]);
        assert!(documents[1].labels_were_list && !documents[0].labels_were_list);
        assert!(documents[2].labels.is_empty() && documents[3].labels.is_empty());
        assert_eq!(
            documents.iter().map(|d| d.line).collect::<Vec<_>>(),
            [1, 3, 4, 5]
        );
    }

    #[test]
    fn numbers_become_labels_and_identifiers_as_printed() {
        let fields = Fields {
            id: Some("id".into()),
            ..Fields::default()
        };
        let text =
            "{\"id\":7,\"text\":\"\",\"label\":-1}\n{\"id\":\"\",\"text\":\"\",\"label\":0.5}\n";
        let (documents, _) = read(
            text.as_bytes(),
            &ReadOptions {
                fields,
                ..options()
            },
        )
        .unwrap();
        assert_eq!(
            (documents[0].id.as_deref(), documents[1].id.as_deref()),
            (Some("7"), None)
        );
        assert_eq!(
            (
                documents[0].labels[0].as_str(),
                documents[1].labels[0].as_str()
            ),
            ("-1", "0.5")
        );
    }

    #[test]
    fn unicode_and_escaped_field_names_are_matched() {
        let fields = Fields {
            text: vec!["größe".into()],
            label: Some("標籤".into()),
            ..Fields::default()
        };
        let text = "{\"gr\\u00f6\\u00dfe\": \"klein\", \"標籤\": \"a\"}";
        let (documents, _) = read(
            text.as_bytes(),
            &ReadOptions {
                fields,
                ..options()
            },
        )
        .unwrap();
        assert_eq!(text_of(&documents), ["klein"]);
        assert_eq!(documents[0].labels, ["a"]);
    }

    #[test]
    fn the_first_rows_decide_which_fields_there_are() {
        let error = message("\n{\"body\": \"x\", \"label\": \"a\"}\n");
        assert!(
            error.ends_with("no field `text`; the fields are `body`, `label`"),
            "{error}"
        );
        let lenient = ReadOptions {
            labels_required: LabelNeed::IfPresent,
            ..options()
        };
        let (documents, _) = read(
            b"{\"text\": \"x\"}\n{\"text\": \"y\", \"label\": 1}\n",
            &lenient,
        )
        .unwrap();
        assert!(documents[0].labels.is_empty());
        assert_eq!(documents[1].labels, ["1"]);
    }

    #[test]
    fn the_first_row_may_leave_out_what_others_have() {
        // What is left out is empty.
        let text = "{\"label\": \"a\"}\n{\"text\": \"y\", \"label\": \"b\"}\n";
        let (documents, _) = read(text.as_bytes(), &options()).unwrap();
        assert_eq!(text_of(&documents), ["", "y"]);
        // One of several text fields is enough, and beside other cells a text may be missing like they may.
        let fields = Fields {
            text: vec!["title".into(), "body".into()],
            ..Fields::default()
        };
        let two = ReadOptions {
            fields,
            ..options()
        };
        let text = "{\"body\": \"y\", \"label\": 1}\n{\"title\": \"x\", \"label\": 1}\n";
        let (documents, _) = read(text.as_bytes(), &two).unwrap();
        assert_eq!(text_of(&documents), ["\n\u{1F}y", "x\n\u{1F}"]);
        let fields = Fields {
            numeric: vec!["price".into()],
            ..Fields::default()
        };
        let beside = ReadOptions {
            fields,
            ..options()
        };
        let text = "{\"label\": 1}\n{\"text\": \"x\", \"price\": 2, \"label\": 1}\n";
        let (documents, _) = read(text.as_bytes(), &beside).unwrap();
        let texts: Vec<_> = documents
            .iter()
            .map(|document| document.content.as_text())
            .collect();
        assert_eq!(texts, [Some(""), Some("x")]);
    }

    #[test]
    fn later_rows_may_lack_anything_and_what_no_row_has_is_an_error() {
        let text = "{\"text\": \"x\", \"label\": \"a\"}\n{\"body\": \"y\"}\n";
        let (documents, summary) = read(text.as_bytes(), &options()).unwrap();
        assert_eq!(text_of(&documents), ["x", ""]);
        let unlabelled = summary.unlabelled.unwrap();
        assert_eq!((unlabelled.rows, unlabelled.first_line), (1, 2));
        let error = message("{\"label\": \"a\"}\n{\"body\": \"y\"}\n");
        let expected = "there is no field `text`; the fields are `label`, `body`";
        assert!(error.ends_with(expected), "{error}");
        let filters = vec!["split=train".parse().unwrap()];
        let text =
            "{\"text\":\"x\",\"label\":1,\"split\":\"train\"}\n{\"text\":\"y\",\"label\":1}\n";
        let (_, summary) = read(
            text.as_bytes(),
            &ReadOptions {
                filters,
                ..options()
            },
        )
        .unwrap();
        assert_eq!((summary.rows, summary.filtered), (1, 1));
    }

    #[test]
    fn broken_rows_are_named_by_line_and_column() {
        let good = "{\"text\": \"x\", \"label\": \"a\"}\n";
        for (row, expected) in [
            ("{\"text\": \"x\",", "line 2, column 13: EOF while parsing"),
            (
                "{\"text\": \"x\"} 7",
                "line 2, column 15: trailing characters",
            ),
            (
                "[1, 2]",
                "line 2, column 1: found a list; every row must be an object",
            ),
            (
                "  17",
                "line 2, column 4: invalid type: integer `17`, expected a JSON object",
            ),
            (
                "{\"text\": \"x\", \"text\": \"y\"}",
                "field `text` appears twice",
            ),
            (
                "{\"text\": [\"x\"], \"label\": 1}",
                "field `text`: is a list",
            ),
            (
                "{\"text\": \"x\", \"label\": {}}",
                "field `label`: is nested",
            ),
            (
                "{\"text\": \"x\", \"label\": [[1]]}",
                "field `label`: is nested",
            ),
        ] {
            let error = message(&format!("{good}{row}\n"));
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn bad_rows_are_skipped_and_counted_on_demand() {
        let text =
            b"nonsense\n{\"text\":\"x\",\"label\":1}\n{\n\xFF\n{\"text\":\"y\",\"label\":1}\n";
        let skipping = ReadOptions {
            skip_bad_rows: true,
            ..options()
        };
        let (documents, summary) = read(text, &skipping).unwrap();
        assert_eq!(text_of(&documents), ["x", "y"]);
        assert_eq!(summary.bad_row_count, 3);
        assert_eq!(
            summary
                .bad_rows
                .iter()
                .map(|row| row.line)
                .collect::<Vec<_>>(),
            [1, 3, 4]
        );
        assert!(matches!(read(text, &options()), Err(ReadError::BadRow(row)) if row.line == 1));
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_overflow() {
        let good = "{\"text\": \"x\", \"label\": 1}";
        let deep = "[".repeat(100_000);
        let wanted = format!("{good}\n{{\"text\": \"x\", \"label\": {deep}");
        assert!(message(&wanted).contains("recursion limit exceeded"));
        let ignored = format!("{good}\n{{\"text\": \"x\", \"label\": 1, \"z\": {deep}");
        assert!(message(&ignored).contains("line 2"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn what_serde_json_writes_is_read_back(rows in prop::collection::vec((".*", ".*", any::<i64>()), 1..20)) {
            let mut text = String::new();
            for (body, label, number) in &rows {
                let row = serde_json::json!({"n": number, "text": body, "label": [label], "x": [{"y": body}]});
                text.push_str(&row.to_string());
                text.push('\n');
            }
            let fields = Fields { id: Some("n".into()), ..Fields::default() };
            let (documents, _) = read(text.as_bytes(), &ReadOptions { fields, ..options() }).unwrap();
            prop_assert_eq!(documents.len(), rows.len());
            for (document, (body, label, number)) in documents.iter().zip(&rows) {
                prop_assert_eq!(document.content.as_text(), Some(body.as_str()));
                prop_assert_eq!(&document.id, &Some(number.to_string()));
                let kept = Some(label.trim()).filter(|label| !label.is_empty());
                prop_assert_eq!(document.labels.first().map(String::as_str), kept);
            }
        }
    }
}
