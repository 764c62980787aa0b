//! Files of probabilities: what `calibrant predict` writes, and what other programs do.

use std::io::BufRead;
use std::path::Path;

use calibrant::Task;
use calibrant::corpus::{
    Document, Fields, LabelNeed, ReadOptions, Source, field_names, open_lines, read_batches,
};
use calibrant::evaluation::StatedCell;
use calibrant::jobs::is_usual;
use calibrant::text::FIELD_BREAK;
use serde::Deserialize;

use super::Question;
use super::groups::Groups;
use super::stated::{NameKind, Names, Rows, Stated, log_odds, plain_number};
use super::test_set::TestSet;
use crate::error::CliError;
use crate::output::warn;
use crate::progress::TerminalProgress;

/// The classes that a file must speak of.
pub(super) enum Wanted {
    /// These; other columns are something else.
    Exactly(Vec<String>),
    /// These, which occur in the test set; other columns are classes that do not.
    AtLeast(Vec<String>),
}

impl Wanted {
    fn names(&self) -> &[String] {
        match self {
            Wanted::Exactly(names) | Wanted::AtLeast(names) => names,
        }
    }
}

/// What other programs put before the name of a class.
const PREFIXES: [&str; 5] = ["", "probability_", "proba_", "prob_", "p_"];

/// Columns that are no classes, whoever wrote the file.
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
enum Layout {
    /// A row a document, a column a class: names of columns, and of their classes.
    Wide(Vec<String>, Vec<String>),
    /// A row a document, one probability: of the second of these classes, or of the only one.
    One {
        classes: Vec<String>,
        column: &'static str,
    },
    /// A row for each document and class, as `calibrant predict` writes tables.
    Long { with_log_odds: bool },
    /// An object a document with a list of classes, as `calibrant predict` writes JSON Lines.
    Lists,
}

/// Reads the probabilities of all documents of the test set.
pub(super) fn read(
    arguments: &Question<'_>,
    path: &Path,
    test_set: &TestSet,
    wanted: &Wanted,
    task: Task,
) -> Result<Stated, CliError> {
    let source = Source::Path(path.to_owned());
    let columns = field_names(&source, None)?;
    let layout = layout(arguments, path, &columns, wanted, task)?;
    let has = |name: &str| columns.iter().any(|column| column == name);
    // A class may be called `row`, and then its column holds its probabilities.
    let has_row_numbers = has("row")
        && !matches!(&layout, Layout::Wide(names, _) if names.iter().any(|name| name == "row"));
    let (id_field, kind) = match &arguments.reading.id {
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
    rows.arrange(test_set, arguments.reading.id.is_some(), task)
}

fn layout(
    arguments: &Question<'_>,
    path: &Path,
    columns: &[String],
    wanted: &Wanted,
    task: Task,
) -> Result<Layout, CliError> {
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
            classes.extend(other_classes(arguments, columns, prefix, &known));
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
        let classes = one_column(arguments, path, columns, wanted.names())?;
        // Log-odds lose nothing near 0 and 1.
        let column = if has("log_odds") {
            "log_odds"
        } else {
            "probability"
        };
        return Ok(Layout::One { classes, column });
    }
    let lacking = missing("");
    let shown: Vec<String> = lacking
        .iter()
        .take(10)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = if lacking.len() > 10 { ", …" } else { "" };
    let there: Vec<String> = columns
        .iter()
        .take(20)
        .map(|name| format!("`{name}`"))
        .collect();
    Err(CliError::new(format!(
        "`{}` is not a calibrant model, and as a table of probabilities it has no column for the class {}{more}",
        path.display(),
        shown.join(", ")
    ))
    .hint(format!(
        "name the columns after the classes (or `proba_CLASS`); its columns are {}",
        there.join(", ")
    )))
}

/// Columns beyond the labels that occur: classes too, unless they are known to be something else.
fn other_classes(
    arguments: &Question<'_>,
    columns: &[String],
    prefix: &str,
    known: &[String],
) -> Vec<String> {
    let reading = &arguments.reading;
    let fields = reading.text.iter();
    let fields = fields
        .chain(&reading.label)
        .chain(&reading.id)
        .chain(&reading.weight);
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
    arguments: &Question<'_>,
    path: &Path,
    columns: &[String],
    names: &[String],
) -> Result<Vec<String>, CliError> {
    let mut classes = names.to_vec();
    classes.sort_unstable();
    let named = match arguments.positive {
        Some(positive) => Some(positive.to_owned()),
        None if columns.iter().any(|column| column == "class") => only_class(path)?,
        None => None,
    };
    if let Some(positive) = &named {
        let position = classes.iter().position(|class| class == positive);
        let position = position.ok_or_else(|| {
            let names: Vec<String> = classes.iter().map(|name| format!("`{name}`")).collect();
            CliError::new(format!("there is no class `{positive}` for --positive"))
                .hint(format!("the classes are {}", names.join(", ")))
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
        warn(&format!(
            "the column `probability` of `{}` is taken for the class `{second}`; --positive names another",
            path.display()
        ));
    }
    Ok(classes)
}

/// The class that a table of `calibrant calibrate` says its probabilities are of; `None` where rows differ.
fn only_class(path: &Path) -> Result<Option<String>, CliError> {
    let options = table_options(vec!["class".to_owned()], None);
    let (mut first, mut differ) = (None, false);
    read_batches(
        &Source::Path(path.to_owned()),
        &options,
        &TerminalProgress::default(),
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

fn id_column(path: &Path, field: &str, columns: &[String]) -> Result<String, CliError> {
    [field, "id"]
        .into_iter()
        .find(|name| columns.iter().any(|column| column == name))
        .map(str::to_owned)
        .ok_or_else(|| {
            let other = if field == "id" { "" } else { " or `id`" };
            let path = path.display();
            CliError::new(format!("`{path}` has no column `{field}`{other}"))
                .hint("without --id rows are taken in the order of the test set")
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

/// A value that is no probability, and where it stands.
fn not_a_probability(file: &str, line: u64, column: &str, value: &str) -> CliError {
    let shown: String = value.chars().take(40).collect();
    CliError::new(format!(
        "{file}, line {line}: `{shown}` in the column `{column}` is no probability"
    ))
    .hint("probabilities are numbers from 0 to 1; --classes names the columns of the classes")
}

fn no_identifier(file: &str, line: u64) -> CliError {
    CliError::new(format!("{file}, line {line}: the row has no identifier"))
        .hint("without --id rows are taken in the order of the test set")
}

fn read_wide(source: &Source, columns: Vec<String>, id: Option<String>) -> Result<Wide, CliError> {
    let file = source.name();
    let with_ids = id.is_some();
    let options = table_options(columns.clone(), id);
    let parse = |documents: Vec<Document>| -> Result<Wide, CliError> {
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
    read_batches(
        source,
        &options,
        &TerminalProgress::default(),
        parse,
        |batch| match batch {
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
        },
    )?;
    failure.map_or(Ok(all), Err)
}

/// A row for each document and class; a document begins with rank 1.
fn read_long(
    source: &Source,
    with_log_odds: bool,
    id: Option<String>,
    groups: &mut Groups<'_>,
) -> Result<(), CliError> {
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
    let mut one = |document: Document| -> Result<(), CliError> {
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
        &TerminalProgress::default(),
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

/// A longer line is no list of classes.
const MOST_LINE_BYTES: u64 = 64 << 20;

/// An object for each document.
fn read_lists(source: &Source, path: &Path, groups: &mut Groups<'_>) -> Result<(), CliError> {
    let Some(mut lines) = open_lines(source)? else {
        return Err(CliError::new(format!("`{}` is a folder", path.display())));
    };
    let mut line = Vec::new();
    let mut number = 0u64;
    loop {
        line.clear();
        number += 1;
        let bad =
            |reason: String| CliError::new(format!("{}, line {number}: {reason}", path.display()));
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
