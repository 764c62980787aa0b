//! What is read: files by their paths, or what a file would hold, in memory; and how, in the program's words.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use calibrant::corpus::{
    DecimalSign, Delimiter, EmptyLabels, Encoding, Fields, Filter, Format, LabelNeed, Layout,
    ReadOptions, Source, field_names, identifier_fields,
};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use serde::{Deserialize, Deserializer};

use crate::errors;
use crate::raise::Raise;

/// A path, or a name and bytes.
#[derive(FromPyObject)]
pub(crate) enum SourceArgument {
    /// What a file of this name would hold.
    Bytes(String, PyBackedBytes),
    /// A file or a folder.
    Path(PathBuf),
}

impl From<SourceArgument> for Source {
    fn from(given: SourceArgument) -> Self {
        match given {
            SourceArgument::Bytes(name, bytes) => Source::bytes(name, &*bytes),
            SourceArgument::Path(path) => Source::Path(path),
        }
    }
}

/// All of them.
pub(crate) fn sources(given: Vec<SourceArgument>) -> Vec<Source> {
    given.into_iter().map(Into::into).collect()
}

/// A member of a closed set by its word.
pub(crate) fn word<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    let text = Option::<String>::deserialize(deserializer)?;
    let member = |text: String| text.parse().map_err(serde::de::Error::custom);
    text.map(member).transpose()
}

/// [`ReadOptions`] as options of the program, by their long names with underscores for dashes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ReadWords {
    text: Vec<String>,
    label: Option<String>,
    label_separator: Option<String>,
    id: Option<String>,
    pub(crate) weight: Option<String>,
    pub(crate) group: Option<String>,
    numeric: Vec<String>,
    categorical: Vec<String>,
    vector: Vec<String>,
    #[serde(deserialize_with = "word")]
    format: Option<Format>,
    r#where: Vec<String>,
    skip_bad_rows: bool,
    delimiter: Option<Delimiter>,
    no_header: bool,
    #[serde(deserialize_with = "word")]
    decimal: Option<DecimalSign>,
    encoding: Option<Encoding>,
    sheet: Option<String>,
    fold_labels: bool,
    #[serde(deserialize_with = "word")]
    empty_labels: Option<EmptyLabels>,
}

impl ReadWords {
    /// The fields that are named, the others as `remembered`; groups are those of the file at hand.
    pub(crate) fn fields(&self, remembered: &Fields) -> Fields {
        let asked = Fields {
            text: self.text.clone(),
            label: self.label.clone(),
            label_separator: self.label_separator.clone(),
            id: self.id.clone(),
            weight: self.weight.clone(),
            ..Fields::default()
        };
        Fields {
            group: self.group.clone(),
            ..asked.completed_by(remembered)
        }
    }

    /// How a file is read.
    pub(crate) fn options(
        &self,
        remembered: &Fields,
        labels_required: LabelNeed,
    ) -> PyResult<ReadOptions> {
        let filters = self.r#where.iter().map(|filter| filter.parse::<Filter>());
        let filters = filters.collect::<Result<_, _>>();
        Ok(ReadOptions {
            fields: self.fields(remembered),
            filters: filters.map_err(errors::general)?,
            format: self.format,
            layout: Layout {
                delimiter: self.delimiter,
                no_header: self.no_header,
                decimal: self.decimal,
                encoding: self.encoding,
                sheet: self.sheet.clone(),
            },
            skip_bad_rows: self.skip_bad_rows,
            labels_required,
            empty_labels: self.empty_labels.unwrap_or_default(),
            fold_labels: self.fold_labels,
            ..ReadOptions::default()
        })
    }

    /// How a table beside the documents is read: which rows and how they are written, with fields of its own.
    pub(crate) fn rows(&self) -> PyResult<ReadOptions> {
        let options = self.options(&Fields::default(), LabelNeed::Required)?;
        Ok(ReadOptions {
            fields: Fields::default(),
            format: None,
            empty_labels: EmptyLabels::default(),
            fold_labels: false,
            ..options
        })
    }

    /// As [`Self::options`], for a file that is learned from: with fields beside the text, `*` written out, and those that rules ask for.
    pub(crate) fn training(&self, source: &Source, asked: Vec<String>) -> PyResult<ReadOptions> {
        let mut options = self.options(&Fields::default(), LabelNeed::Required)?;
        let fields = &mut options.fields;
        fields.asked = asked;
        fields.numeric = distinct(&self.numeric);
        fields.categorical = distinct(&self.categorical);
        fields.vector = distinct(&self.vector);
        self.expand(source, &mut options)?;
        let fields = &options.fields;
        let label = fields.label_name();
        for (option, names) in [
            ("numeric", &fields.numeric),
            ("categorical", &fields.categorical),
            ("vector", &fields.vector),
            ("rules", &fields.asked),
        ] {
            if names.iter().any(|name| name == label) {
                return Err(errors::general(format!(
                    "{option}: `{label}` is the label field, which cannot be a feature\nhint: leave it out, or name another field with label=…"
                )));
            }
        }
        Ok(options)
    }

    /// Writes out what `*` stands for: every field without another meaning, but for those that identify documents.
    fn expand(&self, source: &Source, options: &mut ReadOptions) -> PyResult<()> {
        let is_all = |names: &[String]| names.iter().any(|name| name == "*");
        let fields = &options.fields;
        let (numeric, categorical) = (is_all(&fields.numeric), is_all(&fields.categorical));
        if !numeric && !categorical {
            return Ok(());
        }
        if numeric && categorical {
            return Err(errors::general(
                "`*` can stand for numeric or for categorical, not for both",
            ));
        }
        let reading = ReadOptions {
            labels_required: LabelNeed::Ignored,
            ..options.clone()
        };
        let text = match fields.text.as_slice() {
            [] => vec!["text".to_owned()],
            text => text.to_vec(),
        };
        let named = [&fields.id, &fields.weight, &fields.group];
        let has_meaning = |name: &String| {
            name.is_empty()
                || name == fields.label_name()
                || text.contains(name)
                || named.iter().any(|field| field.as_ref() == Some(name))
                || fields.numeric.contains(name)
                || fields.categorical.contains(name)
                || fields.vector.contains(name)
                || fields.asked.contains(name)
                || options.filters.iter().any(|filter| filter.field == *name)
        };
        let available = field_names(source, &reading).map_err(Raise::raise)?;
        let mut rest: Vec<String> = available
            .into_iter()
            .filter(|name| !has_meaning(name))
            .collect();
        let of_documents = identifier_fields(source, &reading, &rest, numeric);
        let of_documents = of_documents.map_err(Raise::raise)?;
        rest.retain(|name| !of_documents.contains(name));
        for names in [&mut options.fields.numeric, &mut options.fields.categorical] {
            if let Some(at) = names.iter().position(|name| name == "*") {
                names.splice(at..=at, rest.iter().cloned());
            }
        }
        match options.fields.has_side_columns() {
            true => Ok(()),
            false => Err(errors::general(format!(
                "{}: no field is left for `*` to stand for",
                source.name()
            ))),
        }
    }
}

fn distinct(names: &[String]) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for name in names {
        if !seen.contains(name) {
            seen.push(name.clone());
        }
    }
    seen
}
