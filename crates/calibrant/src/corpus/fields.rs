//! Which fields of a file mean what, which rows are wanted, and how strict to be.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Format, Layout};

/// Which field holds the text, the label and so on. A fitted model keeps it, so that
/// new files are read the way the training file was.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Fields {
    /// The text fields, joined in this order; empty means `text`.
    pub text: Vec<String>,
    /// The label field; `None` means `label`.
    pub label: Option<String>,
    /// Splits a written label into several, as `;` does in `grain;wheat`. Lists need none.
    pub label_separator: Option<String>,
    /// The field with the document's identifier.
    pub id: Option<String>,
    /// The field with the document's weight.
    pub weight: Option<String>,
    /// A file without the field for identifiers will do: a model remembers it, and it is no input.
    #[serde(skip)]
    pub id_if_present: bool,
    /// A file without the field for weights will do; the weight is then 1.
    #[serde(skip)]
    pub weight_if_present: bool,
    /// The field that says which documents belong together. Only files for fitting and evaluating need it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Fields that hold numbers, which become features beside the text's. With such fields, or
    /// categorical ones or vectors, there need be no text: without names, `text` is read where the file has it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numeric: Vec<String>,
    /// Fields that hold one of a set of values, each of which becomes a feature.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categorical: Vec<String>,
    /// Fields that hold a list of numbers, such as an embedding, each of which becomes a feature.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vector: Vec<String>,
    /// How many numbers the vectors of each of these fields have; empty where the first vector that is read decides. A
    /// fitted model says so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vector_lengths: Vec<usize>,
    /// Fields that rules ask for by name; they are not features by themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
    /// Fields that hold what decisions about the document cost; they belong to those costs and to no model.
    #[serde(skip)]
    pub amounts: Vec<String>,
}

impl Fields {
    /// The label field, named or by default.
    pub fn label_name(&self) -> &str {
        self.label.as_deref().unwrap_or("label")
    }

    /// These, and where nothing is named what `remembered` has. Cells beside the text are always the remembered ones, since
    /// they are features of a model; groups are those of the file at hand. Identifiers and weights that are only remembered are read
    /// where the file has them.
    ///
    /// ```
    /// use calibrant::corpus::Fields;
    /// let asked = Fields { label: Some("topic".into()), ..Fields::default() };
    /// let learned = Fields { text: vec!["body".into()], group: Some("thread".into()), ..Fields::default() };
    /// let both = asked.completed_by(&learned);
    /// assert_eq!((both.text[0].as_str(), both.label_name()), ("body", "topic"));
    /// assert_eq!(both.group, None);
    /// ```
    pub fn completed_by(&self, remembered: &Self) -> Self {
        let or = |own: &Option<String>, remembered: &Option<String>| {
            own.clone().or_else(|| remembered.clone())
        };
        Self {
            text: match self.text.is_empty() {
                true => remembered.text.clone(),
                false => self.text.clone(),
            },
            label: or(&self.label, &remembered.label),
            label_separator: or(&self.label_separator, &remembered.label_separator),
            id: or(&self.id, &remembered.id),
            weight: or(&self.weight, &remembered.weight),
            id_if_present: match self.id {
                Some(_) => self.id_if_present,
                None => remembered.id.is_some(),
            },
            weight_if_present: match self.weight {
                Some(_) => self.weight_if_present,
                None => remembered.weight.is_some(),
            },
            group: self.group.clone(),
            numeric: remembered.numeric.clone(),
            categorical: remembered.categorical.clone(),
            vector: remembered.vector.clone(),
            vector_lengths: remembered.vector_lengths.clone(),
            asked: remembered.asked.clone(),
            amounts: self.amounts.clone(),
        }
    }

    /// Whether a field for identifiers was named, and is not only remembered.
    pub(crate) fn asks_for_id(&self) -> bool {
        self.id.is_some() && !self.id_if_present
    }

    /// Whether numbers, categories or vectors are read beside the text, or instead of it.
    pub fn has_side_columns(&self) -> bool {
        !(self.numeric.is_empty() && self.categorical.is_empty() && self.vector.is_empty())
    }

    /// The fields whose cells are features beside the text, or instead of it.
    pub fn side_names(&self) -> impl Iterator<Item = &String> {
        let cells = self.numeric.iter().chain(&self.categorical);
        cells.chain(&self.vector)
    }
}

/// Keeps only the rows whose field has this very value, or only the others.
///
/// Values are compared as they are printed (`1` is not `1.0`); a list matches if one of
/// its elements does; `FIELD=` asks for an empty cell, as a row without the field has it, and `FIELD!=` for one that is not.
///
/// ```
/// use calibrant::corpus::Filter;
/// let filter: Filter = "split=train".parse()?;
/// assert_eq!((filter.field.as_str(), filter.value.as_str()), ("split", "train"));
/// assert_eq!("note=a=b".parse::<Filter>()?.value, "a=b"); // the first sign divides
/// assert!("split!=test".parse::<Filter>()?.negated);
/// # Ok::<(), calibrant::corpus::FilterError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// The field to look at.
    pub field: String,
    /// What it must hold.
    pub value: String,
    /// It must not hold it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub negated: bool,
}

/// A filter that is not written as FIELD=VALUE.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a filter; write FIELD=VALUE or FIELD!=VALUE, for example split=train")]
pub struct FilterError(pub String);

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (field, value) = text
            .split_once('=')
            .ok_or_else(|| FilterError(text.to_owned()))?;
        let (field, negated) = match field.strip_suffix('!') {
            Some(field) => (field, true),
            None => (field, false),
        };
        if field.is_empty() {
            return Err(FilterError(text.to_owned()));
        }
        Ok(Filter {
            field: field.to_owned(),
            value: value.to_owned(),
            negated,
        })
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negated { "!=" } else { "=" };
        write!(f, "{}{sign}{}", self.field, self.value)
    }
}

/// What to do about labels: fitting and evaluating need them, predicting does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelNeed {
    /// The file must have the label field (single rows may leave it empty).
    #[default]
    Required,
    /// Labels are read if the file has the field.
    IfPresent,
    /// Labels are ignored.
    Ignored,
}

/// What to do about a row whose label is empty, where each document has one label. A list that is empty says that a document has none of
/// several labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmptyLabels {
    /// It is left out and counted.
    #[default]
    LeaveOut,
    /// It is malformed.
    Error,
}

calibrant_calibration::named! {
    EmptyLabels, "something to do with empty labels";
    LeaveOut = "leave-out" | "leave_out", "rows without a label are left out and counted";
    Error = "error", "a row without a label is an error";
}

/// How to read a file.
///
/// ```
/// use calibrant::corpus::ReadOptions;
/// assert_eq!(ReadOptions::default().max_row_bytes, 67_108_864); // by hand: 64 · 2^20
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// Which field means what.
    pub fields: Fields,
    /// Rows must pass all of these.
    pub filters: Vec<Filter>,
    /// The format, if the name and the first bytes shall not decide.
    pub format: Option<Format>,
    /// How the file is written, as far as the file does not say so itself.
    pub layout: Layout,
    /// Count malformed rows instead of stopping at the first.
    pub skip_bad_rows: bool,
    /// Whether labels are needed.
    pub labels_required: LabelNeed,
    /// What to do about rows without a label, where labels are needed.
    pub empty_labels: EmptyLabels,
    /// Labels that differ in case or space alone are one, where labels are held against classes or scores are calibrated. A fit
    /// has its own setting, which the model remembers.
    pub fold_labels: bool,
    /// Where [`Fields::id`] names no field, a field `id` is taken if the file has one. A row without a
    /// value there then has an empty identifier: that tells such a file from one without the field.
    pub own_id: bool,
    /// The fields that [`read_scores`](super::read_scores) reads as numbers; documents have none.
    pub scores: Vec<String>,
    /// A score outside 0 to 1 is malformed.
    pub scores_are_probabilities: bool,
    /// Predictions have the rows that they are of, with all columns as they stand in the file. Other readers do not look at it.
    pub keep: bool,
    /// Rows of a pipe or another reader are handed on as soon as it pauses, not by the mebibyte, so that whoever writes may wait
    /// for answers. Where batches end is then a matter of time; files are read as ever.
    pub as_they_come: bool,
    /// A longer row (or file, in a folder) is an error, so that a missing line break or
    /// closing quote cannot fill the memory.
    pub max_row_bytes: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            fields: Fields::default(),
            filters: Vec::new(),
            format: None,
            layout: Layout::default(),
            skip_bad_rows: false,
            labels_required: LabelNeed::Required,
            empty_labels: EmptyLabels::LeaveOut,
            fold_labels: false,
            own_id: false,
            scores: Vec::new(),
            scores_are_probabilities: false,
            keep: false,
            as_they_come: false,
            max_row_bytes: 64 << 20,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_field_and_a_value() {
        assert!("split".parse::<Filter>().is_err());
        assert!(
            "=train"
                .parse::<Filter>()
                .unwrap_err()
                .to_string()
                .contains("FIELD=VALUE")
        );
        assert_eq!("split=".parse::<Filter>().unwrap().value, "");
        assert!("!=a".parse::<Filter>().is_err());
        for written in ["split!=", "a!=b=c", "a=b!=c"] {
            assert_eq!(written.parse::<Filter>().unwrap().to_string(), written);
        }
        assert_eq!(
            "größe=klein".parse::<Filter>().unwrap().to_string(),
            "größe=klein"
        );
    }

    #[test]
    fn fields_survive_being_saved_and_may_be_left_out() {
        let fields = Fields {
            text: vec!["title".into(), "body".into()],
            ..Fields::default()
        };
        let saved = serde_json::to_string(&fields).unwrap();
        assert_eq!(serde_json::from_str::<Fields>(&saved).unwrap(), fields);
        assert_eq!(
            serde_json::from_str::<Fields>("{}").unwrap(),
            Fields::default()
        );
        assert_eq!(fields.label_name(), "label");
    }
}
