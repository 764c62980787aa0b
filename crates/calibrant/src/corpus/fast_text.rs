//! fastText lines: `__label__a __label__b the text`.

use std::borrow::Cow;

use super::error::RowProblem;
use super::lines::RowEnds;
use super::plan::{LINE_FIELDS, Plan, Value};
use super::rows::RowFormat;
use super::{Document, ReadError, ReadOptions};

const PREFIX: &str = "__label__";

/// Labels are the words at the start of the line that begin with `__label__`; what follows
/// is the text, as it stands. The fields are called `text` and `label`.
pub(super) struct FastText {
    plan: Plan,
}

impl FastText {
    pub(super) fn new(file: &str, options: &ReadOptions) -> Result<Self, ReadError> {
        let available = LINE_FIELDS.map(str::to_owned);
        Ok(Self {
            plan: Plan::resolve(file, options, &available)?,
        })
    }
}

impl RowFormat for FastText {
    fn row_ends(&self) -> RowEnds {
        RowEnds::Lines
    }

    fn row<'a>(
        &self,
        row: &'a str,
        line: u64,
        values: &mut Vec<Value<'a>>,
    ) -> Result<Option<Document>, RowProblem> {
        let mut labels: Vec<&str> = Vec::new();
        let mut rest = row.trim();
        while let Some(after) = rest.strip_prefix(PREFIX) {
            let end = after.find(char::is_whitespace).unwrap_or(after.len());
            if end == 0 {
                let offset = after.as_ptr() as usize - row.as_ptr() as usize;
                return Err(RowProblem::at(
                    offset,
                    "`__label__` must be followed by a label",
                ));
            }
            labels.push(&after[..end]);
            rest = after[end..].trim_start();
        }
        values.clear();
        for column in &self.plan.columns {
            values.push(match (column.as_str(), labels.as_slice()) {
                ("text", _) => Value::Text(Cow::Borrowed(rest)),
                (_, []) => Value::Null,
                (_, [label]) => Value::Text(Cow::Borrowed(*label)),
                (_, several) => Value::List(several.iter().map(|&l| l.to_owned()).collect()),
            });
        }
        self.plan.row(values, line)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{read, text_of};
    use super::super::{Fields, Format, ReadError, ReadOptions};

    fn options() -> ReadOptions {
        ReadOptions {
            format: Some(Format::FastText),
            ..ReadOptions::default()
        }
    }

    #[test]
    fn labels_come_first_and_the_text_is_kept_as_it_stands() {
        let text = "__label__b __label__a  Two  words\r\n__label__a one\n\nno label __label__x\n__label__c\n";
        let (documents, summary) = read(text.as_bytes(), &options()).unwrap();
        assert_eq!(
            text_of(&documents),
            ["Two  words", "one", "no label __label__x", ""]
        );
        assert_eq!(documents[0].labels, ["a", "b"]);
        assert!(documents[0].labels_were_list && !documents[1].labels_were_list);
        assert!(documents[2].labels.is_empty());
        assert_eq!(
            documents.iter().map(|d| d.line).collect::<Vec<_>>(),
            [1, 2, 4, 5]
        );
        assert_eq!(summary.rows, 4);
    }

    #[test]
    fn a_label_without_a_name_is_malformed() {
        let error = read("__label__a ok\n  __label__ text\n".as_bytes(), &options()).unwrap_err();
        let expected = "line 2, column 12: `__label__` must be followed by a label";
        assert!(error.to_string().ends_with(expected), "{error}");
    }

    #[test]
    fn other_field_names_are_unknown() {
        let fields = Fields {
            text: vec!["body".into()],
            ..Fields::default()
        };
        let outcome = read(
            b"__label__a x",
            &ReadOptions {
                fields,
                ..options()
            },
        );
        assert!(matches!(outcome, Err(ReadError::UnknownField { field, .. }) if field == "body"));
    }

    #[test]
    fn filters_see_the_labels() {
        let filters = vec!["label=a".parse().unwrap()];
        let text = b"__label__a x\n__label__b y\n__label__b __label__a z\n";
        let (documents, summary) = read(
            text,
            &ReadOptions {
                filters,
                ..options()
            },
        )
        .unwrap();
        assert_eq!(text_of(&documents), ["x", "z"]);
        assert_eq!(summary.filtered, 1);
    }
}
