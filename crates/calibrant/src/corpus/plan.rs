//! From named values to a document or scores: which fields are wanted, resolved once per file.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use super::decimals::Decimals;
use super::error::{EMPTY_LABEL, RowProblem};
use super::side_cells::SideSlots;
use super::{
    Content, Document, EmptyLabels, Filter, KeptRow, LabelNeed, ReadError, ReadOptions, Record,
};
use crate::text::FIELD_BREAK;

/// What the parts of a line are called where a format does not name them.
pub(super) const LINE_FIELDS: [&str; 2] = ["text", "label"];

/// Amounts beyond this are none: sums of them must stay finite.
const LARGEST_AMOUNT: f64 = 1e100;

/// The value of one field in one row.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Value<'a> {
    /// The row has no such field.
    #[default]
    Absent,
    /// The field is there and says nothing.
    Null,
    /// A string.
    Text(Cow<'a, str>),
    /// A number or truth value, as printed.
    Scalar(String),
    /// A list of strings and printed scalars, nulls left out.
    List(Vec<String>),
    /// A list of numbers; only fields of vectors are read as such.
    Numbers(Vec<f32>),
    /// An object, or a list with lists or objects inside.
    Nested,
}

impl Value<'_> {
    fn equals(&self, wanted: &str) -> bool {
        match self {
            Value::Text(text) if wanted.is_empty() => text.trim().is_empty(),
            Value::Text(text) => text == wanted,
            Value::List(elements) if wanted.is_empty() => {
                elements.iter().all(|element| element.trim().is_empty())
            }
            Value::Scalar(printed) => printed == wanted,
            Value::List(elements) => elements.iter().any(|element| element == wanted),
            Value::Null | Value::Absent => wanted.is_empty(),
            Value::Numbers(numbers) => numbers.iter().any(|x| format!("{x:?}") == wanted),
            Value::Nested => false,
        }
    }

    /// The bytes it holds, to keep rows within their limit.
    #[cfg(any(feature = "parquet", feature = "spreadsheet"))]
    pub(super) fn byte_count(&self) -> usize {
        match self {
            Value::Text(text) => text.len(),
            Value::Scalar(printed) => printed.len(),
            Value::List(elements) => elements.iter().map(|element| element.len() + 24).sum(),
            Value::Numbers(numbers) => 4 * numbers.len(),
            Value::Absent | Value::Null | Value::Nested => 0,
        }
    }
}

/// What a row of a file becomes.
pub(super) trait Row: Sized + Send {
    /// The fields that hold its content: the text of a document, the scores of a scored row. `has`
    /// says which fields the file has.
    fn content_fields(options: &ReadOptions, has: impl Fn(&str) -> bool) -> Vec<&str>;

    /// The fields beside the content that make it a [`Record`].
    fn side_fields(_options: &ReadOptions) -> Vec<&str> {
        Vec::new()
    }

    /// Whether it has no label, and no list of labels that is empty.
    fn lacks_label(&self) -> bool;

    /// Whether it is of use without a label where labels are needed.
    const WITHOUT_LABEL: bool;

    /// Makes it of the values of the plan's columns.
    fn of<P: Row>(plan: &Plan<P>, values: &[Value<'_>], line: u64) -> Result<Self, RowProblem>;

    /// Whether rows are wanted as they stand in the file, too.
    fn keeps(_options: &ReadOptions) -> bool {
        false
    }

    /// Takes the row as it stands in the file.
    fn keep(&mut self, _row: KeptRow) {}

    /// Its number among the rows of the file, or for a while among those of its piece.
    fn number(&mut self) -> &mut u64;

    /// The line that it starts in, with the vectors that it has.
    fn vectors(&self) -> (u64, &[Option<Vec<f32>>]) {
        (0, &[])
    }
}

impl Row for Document {
    /// Where a document may have several labels, it may have none.
    const WITHOUT_LABEL: bool = true;

    fn lacks_label(&self) -> bool {
        self.labels.is_empty() && !self.labels_were_list
    }

    fn number(&mut self) -> &mut u64 {
        &mut self.row
    }

    fn vectors(&self) -> (u64, &[Option<Vec<f32>>]) {
        let record = self.content.as_record();
        (self.line, record.map_or(&[], |record| &record.vectors))
    }

    fn content_fields(options: &ReadOptions, has: impl Fn(&str) -> bool) -> Vec<&str> {
        match options.fields.text.as_slice() {
            [] if options.fields.has_side_columns() && !has("text") => Vec::new(),
            [] => vec!["text"],
            text => text.iter().map(String::as_str).collect(),
        }
    }

    fn side_fields(options: &ReadOptions) -> Vec<&str> {
        let fields = &options.fields;
        let all = fields.side_names().chain(&fields.asked);
        all.map(String::as_str).collect()
    }

    fn of<P: Row>(plan: &Plan<P>, values: &[Value<'_>], line: u64) -> Result<Self, RowProblem> {
        let text = plan.joined_text(values)?;
        let content = match &plan.side {
            None => Content::Text(text.unwrap_or_default()),
            Some(side) => Content::Record(Box::new(Record {
                text,
                ..side.cells(plan, values, line)?
            })),
        };
        plan.finish(values, content, line)
    }
}

/// The wanted fields of a file: a reader fills one value per entry of `columns`, and the
/// plan makes an `R` of them.
#[derive(Debug, Clone)]
pub(super) struct Plan<R = Document> {
    /// The distinct fields to read.
    pub(super) columns: Vec<String>,
    /// Where [`Row::content_fields`] are among them.
    pub(super) content: Vec<usize>,
    pub(super) label: Option<usize>,
    pub(super) label_required: bool,
    empty_labels: EmptyLabels,
    pub(super) scores_are_probabilities: bool,
    label_separator: Option<String>,
    id: Option<usize>,
    /// Nobody asked for the identifier: what cannot be one is as good as none.
    own_id: bool,
    weight: Option<usize>,
    group: Option<usize>,
    amounts: Vec<usize>,
    filters: Vec<(usize, Filter)>,
    /// The decimal signs of the columns; shared by all that read the file.
    pub(super) decimals: Arc<Decimals>,
    /// Where the cells of records are among the columns.
    side: Option<SideSlots>,
    row: PhantomData<fn() -> R>,
}

impl<R: Row> Plan<R> {
    /// Checks the wanted fields against those the file has.
    pub(super) fn resolve(
        file: &str,
        options: &ReadOptions,
        available: &[String],
    ) -> Result<Self, ReadError> {
        if let Some(field) = Self::missing(options, available) {
            return Err(ReadError::UnknownField {
                file: file.to_owned(),
                field,
                available: available.to_vec(),
            });
        }
        let has = |name: &str| available.iter().any(|a| a == name);
        Ok(Self::unchecked(options, has))
    }

    /// The first wanted field that is not there.
    pub(super) fn missing(options: &ReadOptions, available: &[String]) -> Option<String> {
        let fields = &options.fields;
        let has = |name: &str| available.iter().any(|a| a == name);
        let mut wanted = R::content_fields(options, has);
        wanted.extend(R::side_fields(options));
        if options.labels_required == LabelNeed::Required {
            wanted.push(fields.label_name());
        }
        wanted.extend(fields.id.as_deref().filter(|_| !fields.id_if_present));
        wanted.extend(
            fields
                .weight
                .as_deref()
                .filter(|_| !fields.weight_if_present),
        );
        wanted.extend(fields.group.as_deref());
        wanted.extend(fields.amounts.iter().map(String::as_str));
        wanted.extend(options.filters.iter().map(|filter| filter.field.as_str()));
        let missing = wanted.into_iter().find(|&name| !has(name));
        missing.map(str::to_owned)
    }

    /// Takes the wanted fields on trust; `has` says whether an optional label field is there.
    pub(super) fn unchecked(options: &ReadOptions, has: impl Fn(&str) -> bool) -> Self {
        let mut columns: Vec<String> = Vec::new();
        let mut slot = |name: &str| match columns.iter().position(|column| column == name) {
            Some(at) => at,
            None => {
                columns.push(name.to_owned());
                columns.len() - 1
            }
        };
        let fields = &options.fields;
        let content = R::content_fields(options, &has)
            .into_iter()
            .map(&mut slot)
            .collect();
        let side = (!R::side_fields(options).is_empty()).then(|| SideSlots::new(fields, &mut slot));
        let label = match options.labels_required {
            LabelNeed::Required => Some(slot(fields.label_name())),
            LabelNeed::IfPresent => has(fields.label_name()).then(|| slot(fields.label_name())),
            LabelNeed::Ignored => None,
        };
        let asked_id = fields.id.as_deref().filter(|_| !fields.id_if_present);
        let found_id = || {
            let remembered = fields.id.as_deref().filter(|name| has(name));
            remembered.or((options.own_id && has("id")).then_some("id"))
        };
        let id = asked_id.or_else(found_id);
        let own_id = asked_id.is_none() && id.is_some();
        let id = id.map(&mut slot);
        let weight = fields.weight.as_deref();
        let weight = weight.filter(|name| !fields.weight_if_present || has(name));
        let weight = weight.map(&mut slot);
        let group = fields.group.as_deref().map(&mut slot);
        let amounts = fields.amounts.iter().map(|name| slot(name)).collect();
        let filters = options
            .filters
            .iter()
            .map(|filter| (slot(&filter.field), filter.clone()))
            .collect();
        let label_separator = fields
            .label_separator
            .clone()
            .filter(|text| !text.is_empty());
        Self {
            decimals: Arc::new(Decimals::new(options.layout.decimal, columns.len())),
            columns,
            content,
            label,
            label_required: options.labels_required == LabelNeed::Required,
            empty_labels: options.empty_labels,
            scores_are_probabilities: options.scores_are_probabilities,
            label_separator,
            id,
            own_id,
            weight,
            group,
            amounts,
            filters,
            side,
            row: PhantomData,
        }
    }

    /// Numbers may have a decimal comma: nothing else is divided by commas.
    pub(super) fn allow_decimal_commas(&mut self) {
        let mut decimals = Decimals::new(self.decimals.given(), self.columns.len());
        decimals.allow_commas();
        self.decimals = Arc::new(decimals);
    }

    /// Whether a column is read as numbers: it holds vectors, and is nothing else.
    pub(super) fn is_vector(&self, column: usize) -> bool {
        let elsewhere = self.content.iter().chain(&self.label).chain(&self.id);
        let side = self.side.as_ref();
        side.is_some_and(|side| side.is_vector(column))
            && !elsewhere.copied().any(|at| at == column)
    }

    /// Makes the row, or `None` if a filter rejects it.
    pub(super) fn row(&self, values: &[Value<'_>], line: u64) -> Result<Option<R>, RowProblem> {
        if !self.passes(values) {
            return Ok(None);
        }
        R::of(self, values, line).map(Some)
    }

    /// Whether the row passes every filter.
    pub(super) fn passes(&self, values: &[Value<'_>]) -> bool {
        self.filters
            .iter()
            .all(|(at, filter)| values[*at].equals(&filter.value) != filter.negated)
    }

    /// The document with this content; everything but the text comes from `values`.
    pub(super) fn finish(
        &self,
        values: &[Value<'_>],
        content: Content,
        line: u64,
    ) -> Result<Document, RowProblem> {
        let (labels, labels_were_list) = self.labels(values)?;
        if labels.is_empty() && !labels_were_list {
            self.refuse_empty_label()?;
        }
        Ok(Document {
            id: self.id(values)?,
            content,
            labels,
            labels_were_list,
            weight: self.weight(values, line)?,
            group: self.group(values)?,
            amounts: self.amounts(values, line)?,
            line,
            row: 0,
        })
    }

    /// For a row without a label: an error where that was asked for.
    pub(super) fn refuse_empty_label(&self) -> Result<(), RowProblem> {
        match (self.label, self.label_required, self.empty_labels) {
            (Some(at), true, EmptyLabels::Error) => {
                Err(RowProblem::in_field(&self.columns[at], EMPTY_LABEL))
            }
            _ => Ok(()),
        }
    }

    /// The text fields one below the other, with marks where each begins; `None` if there are none.
    fn joined_text(&self, values: &[Value<'_>]) -> Result<Option<String>, RowProblem> {
        let Some(breaks) = self.content.len().checked_sub(1) else {
            return Ok(None);
        };
        let mut length = 2 * breaks;
        for &at in &self.content {
            let field = &self.columns[at];
            length += match &values[at] {
                Value::Text(text) => text.len(),
                Value::Scalar(printed) => printed.len(),
                // An object may leave out what is empty.
                Value::Null | Value::Absent => 0,
                Value::List(_) | Value::Numbers(_) => {
                    return Err(RowProblem::in_field(
                        field,
                        "is a list; text must be a string",
                    ));
                }
                Value::Nested => {
                    return Err(RowProblem::in_field(
                        field,
                        "is nested; text must be a string",
                    ));
                }
            };
        }
        let mut joined = String::with_capacity(length);
        for (position, &at) in self.content.iter().enumerate() {
            if position > 0 {
                joined.push('\n');
                joined.push(FIELD_BREAK);
            }
            match &values[at] {
                Value::Text(text) => joined.push_str(text),
                Value::Scalar(printed) => joined.push_str(printed),
                _ => {}
            }
        }
        Ok(Some(joined))
    }

    pub(super) fn labels(&self, values: &[Value<'_>]) -> Result<(Vec<String>, bool), RowProblem> {
        let Some(at) = self.label else {
            return Ok((Vec::new(), false));
        };
        let (mut labels, were_list) = match (&values[at], &self.label_separator) {
            (Value::Absent | Value::Null, _) => (Vec::new(), false),
            (Value::Text(text), Some(separator)) => (
                text.split(separator.as_str())
                    .map(|piece| piece.trim().to_owned())
                    .collect(),
                true,
            ),
            (Value::Text(text), None) => (vec![text.trim().to_owned()], false),
            (Value::Scalar(printed), _) => (vec![printed.clone()], false),
            (Value::List(elements), _) => {
                let trimmed = elements.iter().map(|label| label.trim().to_owned());
                (trimmed.collect(), true)
            }
            (Value::Nested | Value::Numbers(_), _) => {
                let reason = "is nested; a label must be a string, a number or a list of them";
                return Err(RowProblem::in_field(&self.columns[at], reason));
            }
        };
        labels.retain(|label| !label.is_empty());
        labels.sort_unstable();
        labels.dedup();
        Ok((labels, were_list))
    }

    pub(super) fn id(&self, values: &[Value<'_>]) -> Result<Option<String>, RowProblem> {
        let reason = "an identifier must be a string or a number";
        let found = self.name(values, self.id, reason);
        if self.own_id {
            return Ok(Some(found.ok().flatten().unwrap_or_default()));
        }
        found
    }

    /// What the row belongs to; nothing where the cell is empty.
    pub(super) fn group(&self, values: &[Value<'_>]) -> Result<Option<String>, RowProblem> {
        self.name(values, self.group, "a group must be a string or a number")
    }

    fn name(
        &self,
        values: &[Value<'_>],
        at: Option<usize>,
        reason: &'static str,
    ) -> Result<Option<String>, RowProblem> {
        let Some(at) = at else { return Ok(None) };
        match &values[at] {
            Value::Absent | Value::Null => Ok(None),
            Value::Text(text) if text.is_empty() => Ok(None),
            Value::Text(text) => Ok(Some(text.clone().into_owned())),
            Value::Scalar(printed) => Ok(Some(printed.clone())),
            Value::List(_) | Value::Numbers(_) | Value::Nested => {
                Err(RowProblem::in_field(&self.columns[at], reason))
            }
        }
    }

    /// What decisions about the row cost; a cell must have a number, since costs cannot be guessed.
    fn amounts(&self, values: &[Value<'_>], line: u64) -> Result<Vec<f64>, RowProblem> {
        let amount = |&at: &usize| {
            let (number, written) = match &values[at] {
                Value::Text(text) => (self.decimals.number(at, line, text.trim()), text.trim()),
                Value::Scalar(printed) => (printed.parse().ok(), printed.as_str()),
                _ => (None, ""),
            };
            let found = number.filter(|number| number.abs() <= LARGEST_AMOUNT);
            found.ok_or_else(|| {
                let shown: String = written.chars().take(40).collect();
                let reason =
                    format!("a cost must be a number between -1e100 and 1e100, found `{shown}`");
                RowProblem::in_field(&self.columns[at], reason)
            })
        };
        self.amounts.iter().map(amount).collect()
    }

    pub(super) fn weight(&self, values: &[Value<'_>], line: u64) -> Result<f64, RowProblem> {
        let Some(at) = self.weight else {
            return Ok(1.0);
        };
        let written = match &values[at] {
            Value::Text(text) => text.trim(),
            Value::Scalar(printed) => printed.as_str(),
            _ => "",
        };
        let number = match &values[at] {
            Value::Scalar(printed) => printed.parse().ok(),
            _ => self.decimals.number(at, line, written),
        };
        match number {
            Some(weight) if weight.is_finite() && weight > 0.0 => Ok(weight),
            _ => {
                let shown: String = written.chars().take(40).collect();
                let reason = format!("a weight must be a finite number above 0, found `{shown}`");
                Err(RowProblem::in_field(&self.columns[at], reason))
            }
        }
    }
}

/// Two columns of one name would make it a matter of luck which is read. Nameless columns,
/// as spreadsheets leave them behind, cannot be asked for and may be many.
pub(super) fn check_distinct(header: &[String], file: &str) -> Result<(), ReadError> {
    let mut first_columns = std::collections::HashMap::new();
    for (at, name) in header
        .iter()
        .enumerate()
        .filter(|(_, name)| !name.is_empty())
    {
        if let Some(first) = first_columns.insert(name, at) {
            return Err(ReadError::DuplicateField {
                file: file.to_owned(),
                field: name.clone(),
                first_column: first + 1,
                second_column: at + 1,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Fields;
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn text(text: &str) -> Value<'_> {
        Value::Text(Cow::Borrowed(text))
    }

    #[test]
    fn fields_used_twice_are_read_once() {
        let options = ReadOptions {
            fields: Fields {
                text: names(&["b", "a"]),
                id: Some("a".into()),
                ..Fields::default()
            },
            filters: vec![Filter {
                field: "label".into(),
                value: "x".into(),
                negated: false,
            }],
            ..ReadOptions::default()
        };
        let plan = Plan::<Document>::resolve("f", &options, &names(&["a", "b", "label"])).unwrap();
        assert_eq!(plan.columns, ["b", "a", "label"]);
        let mut values = [text("two"), text("one"), text("x")];
        let document = plan.row(&values, 4).unwrap().unwrap();
        assert_eq!(document.content, Content::Text("two\n\u{1F}one".into()));
        assert_eq!((document.id.as_deref(), document.line), (Some("one"), 4));
        values[2] = text("y");
        assert_eq!(plan.row(&values, 4).unwrap(), None);
    }

    #[test]
    fn a_field_called_id_is_the_identifier_where_none_was_named() {
        let own = ReadOptions {
            own_id: true,
            labels_required: LabelNeed::Ignored,
            ..ReadOptions::default()
        };
        let id_of = |options: &ReadOptions, available: &[&str], values: &[Value<'_>]| {
            let plan = Plan::<Document>::resolve("f", options, &names(available)).unwrap();
            plan.row(values, 1).unwrap().unwrap().id
        };
        let of = |value| id_of(&own, &["text", "id"], &[text("a"), value]);
        assert_eq!(of(text("k7")), Some("k7".to_owned()));
        // What is empty, or cannot be an identifier, does not look like a file without the field.
        for value in [Value::Null, Value::Absent, Value::Nested, text("")] {
            assert_eq!(of(value), Some(String::new()));
        }
        assert_eq!(id_of(&own, &["text", "key"], &[text("a")]), None);
        let mut named = own.clone();
        named.fields.id = Some("key".into());
        let values = [text("a"), text("b")];
        let found = id_of(&named, &["text", "id", "key"], &values);
        assert_eq!(found, Some("b".to_owned()));
    }

    #[test]
    fn unknown_fields_of_every_kind_are_named() {
        let available = names(&["text", "label"]);
        let unknown =
            |options: &ReadOptions| match Plan::<Document>::resolve("f", options, &available) {
                Err(ReadError::UnknownField { field, .. }) => field,
                other => panic!("expected an unknown field, got {other:?}"),
            };
        let with = |fields: Fields| ReadOptions {
            fields,
            ..ReadOptions::default()
        };
        assert_eq!(
            unknown(&with(Fields {
                text: names(&["body"]),
                ..Fields::default()
            })),
            "body"
        );
        assert_eq!(
            unknown(&with(Fields {
                label: Some("c".into()),
                ..Fields::default()
            })),
            "c"
        );
        assert_eq!(
            unknown(&with(Fields {
                id: Some("key".into()),
                ..Fields::default()
            })),
            "key"
        );
        assert_eq!(
            unknown(&with(Fields {
                weight: Some("w".into()),
                ..Fields::default()
            })),
            "w"
        );
        let filters = vec!["split=train".parse().unwrap()];
        assert_eq!(
            unknown(&ReadOptions {
                filters,
                ..ReadOptions::default()
            }),
            "split"
        );
        let lenient = ReadOptions {
            labels_required: LabelNeed::IfPresent,
            ..with(Fields {
                label: Some("class".into()),
                ..Fields::default()
            })
        };
        assert_eq!(
            Plan::<Document>::resolve("f", &lenient, &available)
                .unwrap()
                .columns,
            ["text"]
        );
    }

    #[test]
    fn labels_are_split_trimmed_sorted_and_distinct() {
        let fields = Fields {
            label_separator: Some(";".into()),
            ..Fields::default()
        };
        let options = ReadOptions {
            fields,
            ..ReadOptions::default()
        };
        let plan = Plan::<Document>::resolve("f", &options, &names(&["text", "label"])).unwrap();
        let labels = |value: Value<'static>| {
            let document = plan.row(&[text(""), value], 1).unwrap().unwrap();
            (document.labels, document.labels_were_list)
        };
        assert_eq!(labels(text("b; a;; b ")), (names(&["a", "b"]), true));
        assert_eq!(labels(Value::Scalar("3".into())), (names(&["3"]), false));
        assert_eq!(
            labels(Value::List(names(&["z", "", "y"]))),
            (names(&["y", "z"]), true)
        );
        assert_eq!(labels(Value::Null), (vec![], false));
        assert_eq!(labels(Value::Absent), (vec![], false));
        assert!(plan.row(&[text(""), Value::Nested], 1).is_err());
    }

    #[test]
    fn weights_must_be_finite_and_above_zero() {
        let fields = Fields {
            weight: Some("w".into()),
            ..Fields::default()
        };
        let options = ReadOptions {
            fields,
            ..ReadOptions::default()
        };
        let plan =
            Plan::<Document>::resolve("f", &options, &names(&["text", "label", "w"])).unwrap();
        let weight = |written: &'static str| {
            plan.row(&[text(""), text("a"), text(written)], 1)
                .map(|d| d.unwrap().weight)
        };
        assert_eq!(weight(" 0.5 "), Ok(0.5));
        for bad in ["0", "-1", "inf", "NaN", "", "much", "1e999"] {
            assert_eq!(
                weight(bad).unwrap_err().field.as_deref(),
                Some("w"),
                "{bad}"
            );
        }
    }

    #[test]
    fn text_may_be_missing_and_must_be_a_string() {
        let plan =
            Plan::<Document>::resolve("f", &ReadOptions::default(), &names(&["text", "label"]))
                .unwrap();
        let content = |value: Value<'static>| {
            plan.row(&[value, Value::Null], 1)
                .map(|document| document.unwrap().content)
        };
        assert_eq!(content(Value::Null), Ok(Content::Text(String::new())));
        assert_eq!(
            content(Value::Scalar("1.5".into())),
            Ok(Content::Text("1.5".into()))
        );
        assert_eq!(content(Value::Absent), Ok(Content::Text(String::new())));
        assert!(content(Value::List(vec![])).is_err());
        assert!(content(Value::Nested).is_err());
    }
}
