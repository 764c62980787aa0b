//! How a file of probabilities is laid out.

use std::path::Path;

use super::read::only_class;
use super::{TableError, TableNote, TableQuestion};
use crate::Task;
use crate::corpus::ReadOptions;
use crate::jobs::is_usual;

/// The classes that a file must speak of.
#[derive(Debug, Clone)]
pub enum Wanted {
    /// These; other columns are something else.
    Exactly(Vec<String>),
    /// These, which occur in the test set; other columns are classes that do not.
    AtLeast(Vec<String>),
}

impl Wanted {
    pub(super) fn names(&self) -> &[String] {
        match self {
            Wanted::Exactly(names) | Wanted::AtLeast(names) => names,
        }
    }
}

/// What other programs put before the name of a class.
const PREFIXES: [&str; 5] = ["", "probability_", "proba_", "prob_", "p_"];

/// Columns that are not classes, whoever wrote the file.
const NO_CLASSES: [&str; 12] = [
    "",
    "id",
    "row",
    "index",
    "Unnamed: 0",
    "text",
    "label",
    "prediction",
    "predicted",
    "rank",
    "fold",
    "split",
];

/// How a file is laid out.
pub(super) enum Layout {
    /// A row per document, a column per class: names of columns, and of their classes.
    Wide(Vec<String>, Vec<String>),
    /// A row per document, one probability: of the second of these classes, or of the only one.
    One {
        classes: Vec<String>,
        column: &'static str,
    },
    /// A row for each document and class, as `calibrant predict` writes tables.
    Long { with_log_odds: bool },
    /// An object per document with a list of classes, as `calibrant predict` writes JSON Lines.
    Lists,
}

/// How a file with these columns is laid out.
pub(super) fn layout(
    path: &Path,
    columns: &[String],
    question: &TableQuestion<'_>,
    task: Task,
    notes: &mut Vec<TableNote>,
) -> Result<Layout, TableError> {
    let wanted = question.wanted;
    let has = |name: &str| columns.iter().any(|column| column == name);
    if has("rank") && has("label") && has("probability") {
        return Ok(Layout::Long {
            with_log_odds: has("log_odds"),
        });
    }
    if has("classes")
        && (has("id") || has("row"))
        && !wanted.names().iter().any(|name| name == "classes")
    {
        return Ok(Layout::Lists);
    }
    let named = |prefix: &str, class: &str| format!("{prefix}{class}");
    let missing = |prefix: &str| -> Vec<&str> {
        let classes = wanted.names().iter().map(String::as_str);
        classes
            .filter(|class| !has(&named(prefix, class)))
            .collect()
    };
    if let Some(prefix) = PREFIXES.iter().find(|prefix| missing(prefix).is_empty()) {
        let mut classes = wanted.names().to_vec();
        if let Wanted::AtLeast(_) = wanted {
            let known = classes.clone();
            classes.extend(other_classes(question.reading, columns, prefix, &known));
            classes.sort_unstable();
        }
        let names = classes.iter().map(|class| named(prefix, class)).collect();
        return Ok(Layout::Wide(names, classes));
    }
    let classes = match task {
        Task::SingleLabel => 2,
        Task::MultiLabel => 1,
    };
    if has("probability") && wanted.names().len() == classes {
        let classes = one_column(path, columns, question, notes)?;
        // Log-odds lose nothing near 0 and 1.
        let column = if has("log_odds") {
            "log_odds"
        } else {
            "probability"
        };
        return Ok(Layout::One { classes, column });
    }
    Err(TableError::NoColumns {
        file: path.display().to_string(),
        lacking: missing("").into_iter().map(str::to_owned).collect(),
        columns: columns.to_vec(),
    })
}

/// Columns beyond the labels that occur: classes too, unless they are known to be something else.
fn other_classes(
    reading: &ReadOptions,
    columns: &[String],
    prefix: &str,
    known: &[String],
) -> Vec<String> {
    let asked = &reading.fields;
    let fields = asked.text.iter();
    let fields = fields
        .chain(&asked.label)
        .chain(&asked.id)
        .chain(&asked.weight);
    let fields: Vec<&String> = fields
        .chain(reading.filters.iter().map(|filter| &filter.field))
        .collect();
    columns
        .iter()
        .filter(|column| !NO_CLASSES.contains(&column.as_str()) && !fields.contains(column))
        .filter_map(|column| column.strip_prefix(prefix))
        .filter(|class| !class.is_empty() && !known.iter().any(|name| name == class))
        .map(str::to_owned)
        .collect()
}

/// The classes of a file with one column, the one that it speaks of last.
fn one_column(
    path: &Path,
    columns: &[String],
    question: &TableQuestion<'_>,
    notes: &mut Vec<TableNote>,
) -> Result<Vec<String>, TableError> {
    let mut classes = question.wanted.names().to_vec();
    classes.sort_unstable();
    let named = match question.positive {
        Some(positive) => Some(positive.to_owned()),
        None if columns.iter().any(|column| column == "class") => only_class(path)?,
        None => None,
    };
    if let Some(positive) = &named {
        let position = classes.iter().position(|class| class == positive);
        let position = position.ok_or_else(|| TableError::NoPositive {
            positive: positive.clone(),
            classes: classes.clone(),
        })?;
        let positive = classes.remove(position);
        classes.push(positive);
    } else if let [first, second] = &classes[..] {
        if is_usual(first, second) {
            classes.swap(0, 1);
            return Ok(classes);
        }
        if is_usual(second, first) {
            return Ok(classes);
        }
        notes.push(TableNote::GuessedPositive {
            file: path.display().to_string(),
            class: second.clone(),
        });
    }
    Ok(classes)
}
