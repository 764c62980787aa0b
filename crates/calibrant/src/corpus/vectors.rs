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
