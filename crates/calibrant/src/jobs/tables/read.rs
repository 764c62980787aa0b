//! Files of probabilities: what `calibrant predict` writes, and what other programs do.

use std::io::BufRead;
use std::path::Path;

use serde::Deserialize;

use super::arrange::{NameKind, Names, Rows, StatedForecasts, Wished, log_odds, plain_number};
use super::groups::Groups;
use super::layout::{Layout, layout};
use super::{TableError, TableNote, TableQuestion};
use crate::corpus::{
    Document, Fields, LabelNeed, ReadOptions, Source, field_names, open_lines, read_batches,
};
use crate::evaluation::StatedCell;
use crate::text::FIELD_BREAK;
use crate::{NoProgress, Task};

/// Reads the probabilities of all documents of the test set.
///
/// `ids` has the identifier of each document of the test set, where it has one.
pub fn read_forecasts(
    path: &Path,
    ids: &[Option<String>],
    question: &TableQuestion<'_>,
    task: Task,
    notes: &mut Vec<TableNote>,
) -> Result<StatedForecasts, TableError> {
    let source = Source::Path(path.to_owned());
    let columns = field_names(&source, &ReadOptions::default())?;
    let layout = layout(path, &columns, question, task, notes)?;
    let has = |name: &str| columns.iter().any(|column| column == name);
    // A class may be called `row`, and then its column holds its probabilities.
    let has_row_numbers = has("row")
        && !matches!(&layout, Layout::Wide(names, _) if names.iter().any(|name| name == "row"));
    let (id_field, kind) = match &question.reading.fields.id {
        Some(field) => (Some(id_column(path, field, &columns)?), NameKind::Ids),
        // Whoever wrote an identifier meant rows to be known by it.
        None if has("id") => (Some("id".to_owned()), NameKind::Ids),
        None if has_row_numbers => (Some("row".to_owned()), NameKind::RowNumbers),
        None => (None, NameKind::Ids),
    };
    let rows = match layout {
        Layout::Wide(columns, classes) => {
            let read = read_wide(&source, columns, id_field)?;
            read.rows(path, classes, kind, |row| row.to_vec())
        }
        Layout::One { classes, column } => {
            let read = read_wide(&source, vec![column.to_owned()], id_field)?;
            let two = classes.len() == 2;
            let rows = read.rows(path, classes, kind, |row| {
                if two {
                    vec![row[0].complement(), row[0]]
                } else {
                    row.to_vec()
                }
            });
            Rows {
                one_column: true,
                ..rows
            }
        }
        Layout::Long { with_log_odds } => {
            let mut groups = Groups::new(path, id_field.as_ref().map(|_| kind));
            read_long(&source, with_log_odds, id_field, &mut groups)?;
            groups.rows()?
        }
        Layout::Lists => {
            let mut groups = Groups::new(path, id_field.as_ref().map(|_| kind));
            read_lists(&source, path, &mut groups)?;
            groups.rows()?
        }
    };
    let documents = Wished {
        ids,
        rows: question.rows,
        asked: question.reading.fields.id.is_some(),
    };
    rows.arrange(documents, task, notes)
}

/// The class that a table of `calibrant calibrate` says its probabilities are of; `None` where rows differ.
pub(super) fn only_class(path: &Path) -> Result<Option<String>, TableError> {
    let options = table_options(vec!["class".to_owned()], None);
    let (mut first, mut differ) = (None, false);
    read_batches(
        &Source::Path(path.to_owned()),
        &options,
        &NoProgress,
        |batch| batch,
        |batch| {
            for document in &batch {
                let name = text_of(document);
                differ |= first.get_or_insert_with(|| name.to_owned()) != name;
            }
        },
    )?;
    Ok(first.filter(|_| !differ))
}

fn id_column(path: &Path, field: &str, columns: &[String]) -> Result<String, TableError> {
    [field, "id"]
        .into_iter()
        .find(|name| columns.iter().any(|column| column == name))
        .map(str::to_owned)
        .ok_or_else(|| TableError::NoIdColumn {
            file: path.display().to_string(),
            field: field.to_owned(),
        })
}

/// A table with a row for each document.
struct Wide {
    width: usize,
    cells: Vec<StatedCell>,
    ids: Option<Vec<String>>,
}

impl Wide {
    /// `complete` makes the probabilities of all classes from those of a row.
    fn rows(
        self,
        path: &Path,
        classes: Vec<String>,
        kind: NameKind,
        complete: impl Fn(&[StatedCell]) -> Vec<StatedCell>,
    ) -> Rows {
        let rows = self.cells.chunks_exact(self.width.max(1));
        Rows {
            file: path.display().to_string(),
            row_count: rows.len(),
            cells: rows.flat_map(complete).collect(),
            classes,
            names: Names::new(self.ids, kind),
            one_column: false,
        }
    }
}

/// The values of some columns arrive as one text, joined by line breaks.
fn table_options(columns: Vec<String>, id: Option<String>) -> ReadOptions {
    ReadOptions {
        fields: Fields {
            text: columns,
            id,
            ..Fields::default()
        },
        labels_required: LabelNeed::Ignored,
        ..ReadOptions::default()
    }
}

fn text_of(document: &Document) -> &str {
    document.content.as_text().unwrap_or_default()
}

/// A field without the mark that each but the first begins with.
fn unmarked(field: &str) -> &str {
    field.trim_start_matches(FIELD_BREAK)
}

/// A value that is not a probability, and where it stands.
fn not_a_probability(file: &str, line: u64, column: &str, value: &str) -> TableError {
    TableError::NotAProbability {
        file: file.to_owned(),
        line,
        column: column.to_owned(),
        value: value.chars().take(40).collect(),
    }
}

fn no_identifier(file: &str, line: u64) -> TableError {
    TableError::NoIdentifier {
        file: file.to_owned(),
        line,
    }
}

fn read_wide(
    source: &Source,
    columns: Vec<String>,
    id: Option<String>,
) -> Result<Wide, TableError> {
    let file = source.name();
    let with_ids = id.is_some();
    let options = table_options(columns.clone(), id);
    let parse = |documents: Vec<Document>| -> Result<Wide, TableError> {
        let mut batch = Wide {
            width: columns.len(),
            cells: Vec::with_capacity(documents.len() * columns.len()),
            ids: with_ids.then(Vec::new),
        };
        for document in documents {
            let mut values = text_of(&document).split('\n').map(unmarked);
            for column in &columns {
                let value = values.next().unwrap_or_default();
                let stated = if column == "log_odds" && columns.len() == 1 {
                    log_odds(value)
                } else {
                    plain_number(value)
                };
                let cell =
                    stated.ok_or_else(|| not_a_probability(&file, document.line, column, value))?;
                batch.cells.push(cell);
            }
            // A value with a line break inside has shifted the others.
            if let Some(value) = values.next() {
                let column = columns.last().map_or("", String::as_str);
                return Err(not_a_probability(&file, document.line, column, value));
            }
            if let Some(ids) = &mut batch.ids {
                ids.push(
                    document
                        .id
                        .ok_or_else(|| no_identifier(&file, document.line))?,
                );
            }
        }
        Ok(batch)
    };
    let mut all = Wide {
        width: columns.len(),
        cells: Vec::new(),
        ids: with_ids.then(Vec::new),
    };
    let mut failure = None;
    read_batches(source, &options, &NoProgress, parse, |batch| match batch {
        Ok(batch) if failure.is_none() => {
            all.cells.extend(batch.cells);
            if let (Some(all), Some(batch)) = (&mut all.ids, batch.ids) {
                all.extend(batch);
            }
        }
        Ok(_) => {}
        Err(error) => {
            failure.get_or_insert(error);
        }
    })?;
    failure.map_or(Ok(all), Err)
}

/// A row for each document and class; a document begins with rank 1.
fn read_long(
    source: &Source,
    with_log_odds: bool,
    id: Option<String>,
    groups: &mut Groups<'_>,
) -> Result<(), TableError> {
    let file = source.name();
    // The label comes last: it alone may hold a line break.
    let value_column = if with_log_odds {
        "log_odds"
    } else {
        "probability"
    };
    let columns = ["rank", value_column, "label"].map(str::to_owned).to_vec();
    let options = table_options(columns, id);
    let mut failure = None;
    let mut one = |document: Document| -> Result<(), TableError> {
        let mut values = text_of(&document).splitn(3, '\n').map(unmarked);
        let mut next = || values.next().unwrap_or_default();
        let (rank, value, label) = (next(), next(), next());
        let parsed = if with_log_odds {
            log_odds(value)
        } else {
            plain_number(value)
        };
        let cell =
            parsed.ok_or_else(|| not_a_probability(&file, document.line, value_column, value))?;
        if groups.has_ids() && document.id.is_none() {
            return Err(no_identifier(&file, document.line));
        }
        groups.push(rank.trim() == "1", document.id.as_deref(), label, cell);
        Ok(())
    };
    read_batches(
        source,
        &options,
        &NoProgress,
        |batch| batch,
        |batch| {
            for document in batch {
                if failure.is_none() {
                    failure = one(document).err();
                }
            }
        },
    )?;
    failure.map_or(Ok(()), Err)
}

#[derive(Deserialize)]
struct ListedDocument {
    #[serde(default)]
    id: serde_json::Value,
    #[serde(default)]
    row: serde_json::Value,
    classes: Vec<ListedClass>,
}

#[derive(Deserialize)]
struct ListedClass {
    label: String,
    probability: Option<f64>,
    log_odds: Option<f64>,
}

/// A longer line is not a list of classes.
const MOST_LINE_BYTES: u64 = 64 << 20;

/// An object for each document.
fn read_lists(source: &Source, path: &Path, groups: &mut Groups<'_>) -> Result<(), TableError> {
    let Some(mut lines) = open_lines(source)? else {
        return Err(TableError::Folder {
            file: path.display().to_string(),
        });
    };
    let mut line = Vec::new();
    let mut number = 0u64;
    loop {
        line.clear();
        number += 1;
        let bad = |reason: String| TableError::BadLine {
            file: path.display().to_string(),
            line: number,
            reason,
        };
        let read = std::io::Read::take(&mut lines, MOST_LINE_BYTES).read_until(b'\n', &mut line);
        if read.map_err(|error| bad(error.to_string()))? == 0 {
            return Ok(());
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let document: ListedDocument =
            serde_json::from_slice(&line).map_err(|error| bad(error.to_string()))?;
        let name = match groups.kind() {
            NameKind::Ids => document.id,
            NameKind::RowNumbers => document.row,
        };
        let id = match name {
            serde_json::Value::String(id) => Some(id).filter(|id| !id.is_empty()),
            serde_json::Value::Null => None,
            other => Some(other.to_string()),
        };
        if groups.has_ids() && id.is_none() {
            return Err(no_identifier(&path.display().to_string(), number));
        }
        for (place, class) in document.classes.into_iter().enumerate() {
            let odds = class.log_odds.and_then(StatedCell::of_log_odds);
            let parsed = odds.or_else(|| StatedCell::of_number(class.probability?));
            let cell = parsed
                .ok_or_else(|| bad(format!("the class `{}` has no probability", class.label)))?;
            groups.push(place == 0, id.as_deref(), &class.label, cell);
        }
    }
}
