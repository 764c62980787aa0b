//! svmlight (libsvm) lines: `label index:value index:value ... # comment`.

use std::borrow::Cow;

use super::error::RowProblem;
use super::lines::RowEnds;
use super::plan::{LINE_FIELDS, Plan, Value};
use super::rows::RowFormat;
use super::{Content, Document, ReadError, ReadOptions};

/// Features counted elsewhere. Several labels are separated by commas, a line may have none,
/// `qid:` is passed over, and indices are kept as they are, whether they start at 0 or at 1.
/// A plus sign before a numeric label is dropped, since `+1` and `1` are the same class.
pub(super) struct SvmLight {
    plan: Plan,
}

impl SvmLight {
    pub(super) fn new(file: &str, options: &ReadOptions) -> Result<Self, ReadError> {
        if options.filters.iter().any(|filter| filter.field == "text") {
            return Err(ReadError::UnknownField {
                file: file.to_owned(),
                field: "text".to_owned(),
                available: vec!["label".to_owned()],
            });
        }
        // The features stand in for the text, so its default name is accepted.
        let available = LINE_FIELDS.map(str::to_owned);
        Ok(Self {
            plan: Plan::resolve(file, options, &available)?,
        })
    }
}

impl RowFormat for SvmLight {
    fn row_ends(&self) -> RowEnds {
        RowEnds::Lines
    }

    fn is_blank(&self, row: &str) -> bool {
        let row = row.trim_start();
        row.is_empty() || row.starts_with('#')
    }

    fn row<'a>(
        &self,
        row: &'a str,
        line: u64,
        values: &mut Vec<Value<'a>>,
    ) -> Result<Option<Document>, RowProblem> {
        let data = row.split('#').next().unwrap_or_default();
        let mut words = data.split_ascii_whitespace().peekable();
        let written = words.next_if(|word| !word.contains(':'));
        let label = match written.map(|word| (word, word.contains(','))) {
            None => Value::Null,
            Some((word, false)) => Value::Text(Cow::Borrowed(without_plus(word))),
            Some((word, true)) => Value::List(
                word.split(',')
                    .map(|piece| without_plus(piece).to_owned())
                    .collect(),
            ),
        };
        values.clear();
        for column in &self.plan.columns {
            values.push(if column == "text" {
                Value::Null
            } else {
                label.clone()
            });
        }
        if !self.plan.passes(values) {
            return Ok(None);
        }
        let features = features(row, words)?;
        self.plan
            .finish(values, Content::Features(features), line)
            .map(Some)
    }
}

fn without_plus(label: &str) -> &str {
    match label.strip_prefix('+') {
        Some(rest) if rest.starts_with(|first: char| first.is_ascii_digit()) => rest,
        _ => label,
    }
}

fn features<'a>(
    row: &str,
    words: impl Iterator<Item = &'a str>,
) -> Result<Vec<(u32, f32)>, RowProblem> {
    let mut features: Vec<(u32, f32)> = Vec::new();
    for word in words.filter(|word| !word.starts_with("qid:")) {
        let problem = |reason: String| {
            let offset = word.as_ptr() as usize - row.as_ptr() as usize;
            let shown: String = word.chars().take(40).collect();
            RowProblem::at(offset, format!("`{shown}` {reason}"))
        };
        let (index, value) = word
            .split_once(':')
            .ok_or_else(|| problem("is not of the form index:value".into()))?;
        let index = index
            .parse::<u32>()
            .map_err(|_| problem(format!("needs an index from 0 to {}", u32::MAX)))?;
        let value = value
            .parse::<f32>()
            .ok()
            .filter(|value| value.is_finite())
            .ok_or_else(|| problem("needs a finite number as value".into()))?;
        features.push((index, value));
    }
    features.sort_by_key(|&(index, _)| index);
    match features.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(RowProblem::malformed(format!(
            "feature {} appears twice",
            pair[0].0
        ))),
        None => Ok(features),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;
    use super::super::{Content, Document, Fields, Format, ReadError, ReadOptions};

    fn options() -> ReadOptions {
        ReadOptions {
            format: Some(Format::SvmLight),
            ..ReadOptions::default()
        }
    }

    fn documents(text: &str) -> Vec<Document> {
        read(text.as_bytes(), &options()).unwrap().0
    }

    #[test]
    fn labels_features_query_identifiers_and_comments_are_told_apart() {
        let text = "# made by hand\n+1 qid:7 3:0.5 1:-2e0 # note: 9:9\n-1 0:1\n\n2,10 5:1\n4:1\n";
        let found = documents(text);
        assert_eq!(
            found[0].content,
            Content::Features(vec![(1, -2.0), (3, 0.5)])
        );
        assert_eq!(
            found.iter().map(|d| d.line).collect::<Vec<_>>(),
            [2, 3, 5, 6]
        );
        assert_eq!(
            (found[0].labels[0].as_str(), found[1].labels[0].as_str()),
            ("1", "-1")
        );
        assert_eq!(
            (found[2].labels.join(" "), found[2].labels_were_list),
            ("10 2".into(), true)
        );
        assert!(found[3].labels.is_empty() && !found[3].labels_were_list);
    }

    #[test]
    fn malformed_features_are_named_with_their_column() {
        for (row, expected) in [
            (
                "1 2:x",
                "line 1, column 3: `2:x` needs a finite number as value",
            ),
            (
                "1 2:inf",
                "column 3: `2:inf` needs a finite number as value",
            ),
            (
                "1 2:1 -3:1",
                "column 7: `-3:1` needs an index from 0 to 4294967295",
            ),
            ("1 2:1 3", "column 7: `3` is not of the form index:value"),
            ("1 2:1 2:2", "line 1: feature 2 appears twice"),
        ] {
            let error = read(row.as_bytes(), &options()).unwrap_err().to_string();
            assert!(error.ends_with(expected), "{error}");
        }
    }

    #[test]
    fn there_are_no_other_fields() {
        let fields = Fields {
            id: Some("id".into()),
            ..Fields::default()
        };
        let outcome = read(
            b"1 2:1",
            &ReadOptions {
                fields,
                ..options()
            },
        );
        assert!(matches!(outcome, Err(ReadError::UnknownField { field, .. }) if field == "id"));
        let filters = vec!["text=a".parse().unwrap()];
        let outcome = read(
            b"1 2:1",
            &ReadOptions {
                filters,
                ..options()
            },
        );
        assert!(matches!(outcome, Err(ReadError::UnknownField { field, .. }) if field == "text"));
    }
}
