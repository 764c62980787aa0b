//! Vectors of a file: lists of numbers that have one length in each field.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::error::RowProblem;
use super::plan::{Row, Value};
use super::rows::{Parsed, locate};
use super::{ReadError, ReadOptions};

/// How many numbers the vectors of each field have: as a model says, or as the first of the file.
#[derive(Debug)]
pub(super) struct VectorLengths {
    /// The length, and the line of the vector that decided it; nothing where a model did.
    of_field: Vec<Option<(usize, Option<u64>)>>,
}

impl VectorLengths {
    pub(super) fn new(options: &ReadOptions) -> Self {
        let fields = &options.fields;
        let given = |at: usize| fields.vector_lengths.get(at);
        let of_field = (0..fields.vector.len()).map(|at| given(at).map(|&length| (length, None)));
        Self {
            of_field: of_field.collect(),
        }
    }

    /// Looks at the next rows of the file, in order. A row whose vectors have other lengths is malformed.
    pub(super) fn check<R: Row>(
        &mut self,
        parsed: &mut Parsed<R>,
        file: &str,
        options: &ReadOptions,
    ) -> Result<(), ReadError> {
        if self.of_field.is_empty() {
            return Ok(());
        }
        let mut outcome = Ok(());
        let mut bad_rows = Vec::new();
        parsed.rows.retain(|row| {
            let (line, vectors) = row.vectors();
            let Err(problem) = self.check_row(line, vectors, options) else {
                return true;
            };
            match locate(problem, file, line, b"", options.max_row_bytes) {
                ReadError::BadRow(bad_row) if options.skip_bad_rows => bad_rows.push(bad_row),
                error if outcome.is_ok() => outcome = Err(error),
                _ => {}
            }
            false
        });
        parsed.tally.turned_bad(bad_rows);
        outcome
    }

    fn check_row(
        &mut self,
        line: u64,
        vectors: &[Option<Vec<f32>>],
        options: &ReadOptions,
    ) -> Result<(), RowProblem> {
        let names = &options.fields.vector;
        for ((known, vector), name) in self.of_field.iter_mut().zip(vectors).zip(names) {
            let Some(found) = vector.as_ref().map(Vec::len) else {
                continue;
            };
            let (length, decided) = *known.get_or_insert((found, Some(line)));
            if found != length {
                let than = match decided {
                    Some(line) => format!("that of line {line} has {length}"),
                    None => format!("those that the model learned from have {length}"),
                };
                let reason = format!("the vector has {found} numbers, and {than}");
                return Err(RowProblem::in_field(name, reason));
            }
        }
        Ok(())
    }
}

/// Reads a list of numbers without building a string for each; what is none is left to whoever looks at the value.
pub(super) struct VectorSeed;

impl<'de> DeserializeSeed<'de> for VectorSeed {
    type Value = Value<'de>;

    fn deserialize<D: de::Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for VectorSeed {
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
        Ok(Value::Scalar(format!("{value:?}")))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Value::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut numbers = Vec::with_capacity(list.size_hint().unwrap_or(0));
        let mut other = false;
        while let Some(number) = list.next_element_seed(NumberSeed)? {
            other |= number.is_none();
            numbers.extend(number);
        }
        Ok(match other {
            true => Value::Nested,
            false => Value::Numbers(numbers),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Nested)
    }
}

/// A number of a vector; `None` for anything else. JSON writes what is no number as null.
struct NumberSeed;

impl<'de> DeserializeSeed<'de> for NumberSeed {
    type Value = Option<f32>;

    fn deserialize<D: de::Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NumberSeed {
    type Value = Option<f32>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Some(f32::NAN))
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Some(value as f32))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(value as f32))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Some(value as f32))
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{read, write_parquet};
    use super::super::{Document, Fields, Format, LabelNeed, ReadError, ReadOptions};
    use parquet::data_type::{DoubleType, FloatType};

    fn options(format: Format) -> ReadOptions {
        ReadOptions {
            fields: Fields {
                vector: vec!["v".into()],
                ..Fields::default()
            },
            format: Some(format),
            ..ReadOptions::default()
        }
    }

    fn vectors(documents: &[Document]) -> Vec<Option<Vec<f32>>> {
        let of = |document: &Document| document.content.as_record().unwrap().vectors[0].clone();
        documents.iter().map(of).collect()
    }

    #[test]
    fn vectors_come_from_json_and_from_text() {
        let json = "{\"v\":[1,-0.5,2e3],\"label\":\"a\"}\n{\"v\":null,\"label\":\"a\"}\n{\"label\":\"b\"}\n\
                    {\"v\":\"[0, 0.1, -0]\",\"label\":\"b\"}\n";
        let csv = "v,label\n\"[1, -0.5, 2e3]\",a\n,a\nNA,b\n[0 0.1  -0],b\n";
        for (text, format) in [(json, Format::JsonLines), (csv, Format::Csv)] {
            let (documents, _) = read(text.as_bytes(), &options(format)).unwrap();
            let found = vectors(&documents);
            assert_eq!(found[0], Some(vec![1.0, -0.5, 2000.0]));
            assert_eq!((&found[1], &found[2]), (&None, &None));
            let last = found[3].as_ref().unwrap();
            assert_eq!(*last, [0.0, 0.1, 0.0]);
            assert!(last[2].is_sign_positive());
            assert_eq!(documents[0].content.as_text(), None);
        }
    }

    #[test]
    fn lists_of_parquet_are_vectors() {
        let schema = "message schema {
            optional group v (LIST) { repeated group list { optional float element; } }
            optional group w (LIST) { repeated group list { optional double element; } }
        }";
        // Row 1: two numbers; row 2: null.
        let levels: (&[i16], &[i16]) = (&[3, 3, 0], &[0, 1, 0]);
        let bytes = write_parquet(schema, |group| {
            let mut column = group.next_column().unwrap().unwrap();
            let typed = column.typed::<FloatType>();
            let written = typed.write_batch(&[0.1, -2.0], Some(levels.0), Some(levels.1));
            written.unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            let typed = column.typed::<DoubleType>();
            let written = typed.write_batch(&[0.1, -2.0], Some(levels.0), Some(levels.1));
            written.unwrap();
            column.close().unwrap();
        });
        let mut options = options(Format::Parquet);
        options.labels_required = LabelNeed::Ignored;
        options.fields.vector.push("w".into());
        let (documents, _) = read(&bytes, &options).unwrap();
        let first = &documents[0].content.as_record().unwrap().vectors;
        assert_eq!(*first, [Some(vec![0.1, -2.0]), Some(vec![0.1, -2.0])]);
        assert_eq!(vectors(&documents)[1], None);
    }

    #[test]
    fn vectors_of_other_lengths_are_named_with_their_row() {
        let json = "{\"v\":[1,2],\"label\":\"a\"}\n{\"v\":[1,2,3],\"label\":\"b\"}\n{\"v\":[3,4],\"label\":\"b\"}\n";
        let mut options = options(Format::JsonLines);
        let error = read(json.as_bytes(), &options).unwrap_err().to_string();
        assert!(
            error
                .ends_with("line 2, field `v`: the vector has 3 numbers, and that of line 1 has 2"),
            "{error}"
        );
        options.skip_bad_rows = true;
        let (documents, summary) = read(json.as_bytes(), &options).unwrap();
        assert_eq!(
            (documents.len(), summary.rows, summary.bad_row_count),
            (2, 2, 1)
        );
        assert_eq!(summary.bad_rows[0].line, 2);
        options.fields.vector_lengths = vec![3];
        let (documents, summary) = read(json.as_bytes(), &options).unwrap();
        assert_eq!((documents.len(), summary.bad_row_count), (1, 2));
        options.skip_bad_rows = false;
        let error = read(json.as_bytes(), &options).unwrap_err().to_string();
        assert!(error.contains("learned from have 3"), "{error}");
    }

    #[test]
    fn what_is_no_vector_of_finite_numbers_is_a_bad_row() {
        for (written, said) in [
            ("7", "no list of numbers"),
            ("\"seven\"", "no list of numbers"),
            ("[1,null]", "number 1 of the vector, from 0, is NaN"),
            ("[1e300]", "is inf"),
            ("[\"a\"]", "is nested"),
            ("[[1],[2]]", "is nested"),
            ("{\"a\":[1]}", "is nested"),
            ("[]", "without numbers"),
            ("\"[1, x]\"", "`x` in the vector is not a number"),
        ] {
            let json = format!("{{\"v\":{written},\"label\":\"a\"}}\n");
            let error = read(json.as_bytes(), &options(Format::JsonLines)).unwrap_err();
            assert!(matches!(error, ReadError::BadRow(_)), "{written}: {error}");
            let error = error.to_string();
            assert!(
                error.contains("field `v`") && error.contains(said),
                "{written}: {error}"
            );
        }
    }
}
