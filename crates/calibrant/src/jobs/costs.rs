//! What mistakes cost, as people write it down: lines of truth, decision and cost, a table of truths and actions, or TOML.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use toml::Spanned;

use crate::NoProgress;
use crate::corpus::{
    Document, Fields, Format, LabelNeed, Layout, ReadError, ReadOptions, Source, field_names,
    open_lines, read_all,
};
use crate::decision::{AmountError, CostAmount, CostEntry};

/// Why costs cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadCostsError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file breaks off.
    #[error("{file}: {error}")]
    Input {
        /// The file.
        file: String,
        /// What the reader said.
        error: std::io::Error,
    },
    /// A line of a file is no cost.
    #[error("{file}, line {line}: {problem}")]
    Line {
        /// The file.
        file: String,
        /// Where, from 1.
        line: u64,
        /// What is wrong.
        problem: CostProblem,
    },
    /// One of the costs of a text is none.
    #[error("cost {number}: {problem}")]
    Entry {
        /// Which, from 1.
        number: u64,
        /// What is wrong.
        problem: CostProblem,
    },
    /// A file of JSON is not a list of costs.
    #[error("{file}: is not a list of costs: {error}")]
    Json {
        /// The file.
        file: String,
        /// What the parser said, with the line.
        error: serde_json::Error,
    },
    /// A file of TOML does not have a table for each truth.
    #[error("{file}, line {line}: {reason}")]
    Toml {
        /// The file.
        file: String,
        /// Where, from 1.
        line: usize,
        /// What the parser said.
        reason: String,
    },
    /// There is not a single cost.
    #[error("{file}: holds no costs")]
    Nothing {
        /// The file.
        file: String,
    },
}

/// Why something written is not a cost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CostProblem {
    /// Not truth, decision and cost.
    #[error("{found} values instead of 3 (truth, decision, cost)")]
    Values {
        /// How many there are.
        found: usize,
    },
    /// The cost is not an amount.
    #[error(transparent)]
    NotANumber(#[from] AmountError),
    /// The comma of a cost may stand between thousands, or be a decimal sign.
    #[error("`{0}` may be a thousand or one: write it without the comma, or with a point")]
    Comma(String),
    /// A row of a list lacks one of its three values.
    #[error("the column `{0}` is empty")]
    Lacks(&'static str),
    /// A table has one column.
    #[error(
        "a table of costs has the columns truth, decision and cost, or the truth in its first column and a column for each action"
    )]
    OneColumn,
    /// A name of TOML has a point.
    #[error("`{0}` holds a table; write names with points in quotes: [\"sci.space\"]")]
    Nested(String),
    /// The line cannot be taken apart.
    #[error("{0}")]
    Csv(String),
}

/// Reads costs from a file, whichever way a person has written them:
///
/// - a table with the columns `truth`, `decision` (or `action`) and `cost`, or three columns without a header;
/// - a table with the truth in its first column and a column for each action, whose empty cells say nothing;
/// - TOML, with a table for each truth: `[outage]`, then `access = 10`;
/// - a JSON list of objects with the keys `truth`, `decision` and `cost`.
///
/// Tables are read as documents are: delimiter, encoding and decimal sign are those of the file.
/// [`DecisionCosts`](crate::decision::DecisionCosts) says what the entries mean for the classes of a model.
///
/// ```
/// use calibrant::corpus::Source;
/// use calibrant::jobs::read_costs;
/// let list = Source::bytes("costs.csv", *b"truth,decision,cost\nham,spam,20\n");
/// let table = Source::bytes("costs.csv", *b"truth;ham;spam\nham;;20\n");
/// let toml = Source::bytes("costs.toml", *b"[ham]\nspam = 20\n");
/// for file in [list, table, toml] {
///     let costs = read_costs(&file)?;
///     assert_eq!((costs.len(), costs[0].to_string().as_str()), (1, "ham,spam,20"));
/// }
/// let wrong = Source::bytes("costs.csv", *b"ham,spam,20\nspam,ham,much\n");
/// let error = read_costs(&wrong).unwrap_err().to_string();
/// assert!(error.starts_with("costs.csv, line 2: `much` is not a number"));
/// # Ok::<(), calibrant::jobs::ReadCostsError>(())
/// ```
pub fn read_costs(source: &Source) -> Result<Vec<CostEntry>, ReadCostsError> {
    let file = source.name();
    let mut bytes = Vec::new();
    if let Some(mut lines) = open_lines(source)? {
        let read = lines.read_to_end(&mut bytes);
        read.map_err(|error| ReadCostsError::Input {
            file: file.clone(),
            error,
        })?;
    }
    let text = String::from_utf8(bytes).unwrap_or_default();
    let begins = text.trim_start_matches('\u{feff}').trim_start();
    let entries = match begins.strip_prefix('[').map(str::trim_start) {
        _ if file.to_lowercase().ends_with(".toml") => of_toml(&file, &text)?,
        Some(inside)
            if file.to_lowercase().ends_with(".json") || inside.starts_with(['{', ']']) =>
        {
            of_json(&file, begins)?
        }
        Some(_) => of_toml(&file, &text)?,
        None => of_table(source, &file)?,
    };
    match entries.is_empty() {
        true => Err(ReadCostsError::Nothing { file }),
        false => Ok(entries),
    }
}

fn of_json(file: &str, text: &str) -> Result<Vec<CostEntry>, ReadCostsError> {
    let entries: Vec<CostEntry> =
        serde_json::from_str(text).map_err(|error| ReadCostsError::Json {
            file: file.to_owned(),
            error,
        })?;
    let numbered = (1..).zip(entries);
    Ok(numbered
        .map(|(number, entry): (usize, _)| entry.at(format!("{file}, cost {number}")))
        .collect())
}

/// A table for each truth, with a cost for each action.
fn of_toml(file: &str, text: &str) -> Result<Vec<CostEntry>, ReadCostsError> {
    type Written = BTreeMap<String, BTreeMap<String, Spanned<toml::Value>>>;
    let text = text.trim_start_matches('\u{feff}');
    let line_at = |place: usize| 1 + text[..place].matches('\n').count();
    let written: Written = toml::from_str(text).map_err(|error| ReadCostsError::Toml {
        file: file.to_owned(),
        line: error.span().map_or(1, |span| line_at(span.start)),
        reason: error.message().to_owned(),
    })?;
    let mut entries = Vec::new();
    for (truth, actions) in written {
        for (action, cost) in actions {
            let place = cost.span();
            let line = line_at(place.start);
            let refused = |problem| ReadCostsError::Line {
                file: file.to_owned(),
                line: line as u64,
                problem,
            };
            let cost = match cost.into_inner() {
                toml::Value::Integer(cost) => CostAmount::Fixed(cost as f64),
                toml::Value::Float(cost) => CostAmount::Fixed(cost),
                toml::Value::String(text) => amount(&text).map_err(refused)?,
                toml::Value::Table(_) => {
                    let name = format!("{truth}.{action}");
                    return Err(refused(CostProblem::Nested(name)));
                }
                toml::Value::Boolean(_) | toml::Value::Array(_) | toml::Value::Datetime(_) => {
                    let error = AmountError(text[place].to_owned());
                    return Err(refused(error.into()));
                }
            };
            let at = format!("{file}, line {line}");
            entries.push((line, CostEntry::new(&*truth, action, cost).at(at)));
        }
    }
    // In the order in which they are written, as in other files.
    entries.sort_by_key(|(line, _)| *line);
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

/// A list of truth, decision and cost, or a row for each truth and a column for each action.
fn of_table(source: &Source, file: &str) -> Result<Vec<CostEntry>, ReadCostsError> {
    let mut options = ReadOptions {
        labels_required: LabelNeed::Ignored,
        format: Format::of_path(Path::new(file))
            .is_none()
            .then_some(Format::Csv),
        ..ReadOptions::default()
    };
    let mut names = field_names(source, &options)?;
    let headed = names.len() != 3 || amount(names[2].trim()).is_err();
    if !headed {
        options.layout = Layout {
            no_header: true,
            ..options.layout
        };
        names = field_names(source, &options)?;
    }
    options.fields = Fields {
        categorical: names.clone(),
        ..Fields::default()
    };
    let (documents, _) = read_all(source, &options, &NoProgress)?;
    let words: Vec<String> = names
        .iter()
        .map(|name| name.trim().to_lowercase())
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // In another language the headings of a list are other words: it has names in its second column, and amounts in its third.
    let is_like_a_list = || {
        let is_like = |document: &Document| match cells(document) {
            [_, Some(action), Some(cost)] => amount(action).is_err() && amount(cost).is_ok(),
            _ => false,
        };
        names.len() == 3
            && words[0] != "truth"
            && !documents.is_empty()
            && documents.iter().all(is_like)
    };
    let is_list = !headed
        || matches!(words[..], ["truth", "decision" | "action", "cost"])
        || is_like_a_list();
    let refused = |line: u64| {
        move |problem| ReadCostsError::Line {
            file: file.to_owned(),
            line,
            problem,
        }
    };
    if names.len() < 2 {
        return Err(refused(1)(CostProblem::OneColumn));
    }
    let mut entries = Vec::new();
    for document in &documents {
        let line = document.line;
        let found = match is_list {
            true => of_list(document),
            false => of_row(document, &names),
        };
        let place = format!("{file}, line {line}");
        let found = found.map_err(refused(line))?;
        entries.extend(found.into_iter().map(|entry| entry.at(&*place)));
    }
    Ok(entries)
}

fn cells(document: &Document) -> &[Option<String>] {
    let record = document.content.as_record();
    record.map_or(&[], |record| &record.categories)
}

fn of_list(document: &Document) -> Result<Vec<CostEntry>, CostProblem> {
    let [truth, decision, cost] = cells(document) else {
        let found = cells(document).len();
        return Err(CostProblem::Values { found });
    };
    let (Some(truth), Some(decision), Some(cost)) = (truth, decision, cost) else {
        let named = [(truth, "truth"), (decision, "decision"), (cost, "cost")];
        let mut empty = named.iter().filter(|(cell, _)| cell.is_none());
        return match (empty.next(), empty.count()) {
            // A blank line.
            (_, 2) | (None, _) => Ok(Vec::new()),
            (Some((_, name)), _) => Err(CostProblem::Lacks(name)),
        };
    };
    Ok(vec![CostEntry::new(truth, decision, amount(cost)?)])
}

/// The costs of one truth; empty cells say nothing.
fn of_row(document: &Document, names: &[String]) -> Result<Vec<CostEntry>, CostProblem> {
    let [truth, costs @ ..] = cells(document) else {
        return Ok(Vec::new());
    };
    let written = names[1..].iter().zip(costs);
    let written = written.filter_map(|(action, cost)| Some((action, cost.as_ref()?)));
    let mut entries = Vec::new();
    for (action, cost) in written {
        let truth = truth.as_ref().ok_or(CostProblem::Lacks("truth"))?;
        entries.push(CostEntry::new(truth, action.trim(), amount(cost)?));
    }
    Ok(entries)
}

/// An amount whose number may have a decimal comma.
fn amount(text: &str) -> Result<CostAmount, CostProblem> {
    let plain = text.parse();
    let Err(error) = plain else {
        return Ok(plain?);
    };
    let (number, field) = match text.find(['*', '@']) {
        Some(end) => text.split_at(end),
        None => (text, ""),
    };
    let number = number.trim();
    let Some((whole, fraction)) = number.split_once(',') else {
        return Err(error.into());
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = whole.trim_start_matches(['-', '+']);
    if !digits(unsigned) || !digits(fraction) || fraction.is_empty() {
        return Err(error.into());
    }
    if fraction.len() == 3 && !unsigned.is_empty() && !unsigned.starts_with('0') {
        return Err(CostProblem::Comma(number.to_owned()));
    }
    Ok(format!("{whole}.{fraction}{field}").parse()?)
}

/// Costs written one after the other, `TRUTH,DECISION,COST;…`; a decimal comma would be a fourth value there.
///
/// ```
/// let costs = calibrant::jobs::parse_costs("ham,spam,20; spam,ham,1")?;
/// assert_eq!(costs[1].to_string(), "spam,ham,1");
/// # Ok::<(), calibrant::jobs::ReadCostsError>(())
/// ```
pub fn parse_costs(text: &str) -> Result<Vec<CostEntry>, ReadCostsError> {
    let entries = lines_of(&text.replace(';', "\n"))
        .map_err(|(number, problem)| ReadCostsError::Entry { number, problem })?;
    match entries.is_empty() {
        true => Err(ReadCostsError::Entry {
            number: 1,
            problem: CostProblem::Values { found: 0 },
        }),
        false => Ok(entries),
    }
}

/// The costs of lines, or which line is none.
fn lines_of(text: &str) -> Result<Vec<CostEntry>, (u64, CostProblem)> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut entries = Vec::new();
    for (number, record) in (1..).zip(reader.records()) {
        let record = record.map_err(|error| {
            let line = line_of(text, error.position());
            (line, CostProblem::Csv(error.to_string()))
        })?;
        let line = || line_of(text, record.position());
        let fields: Vec<&str> = record.iter().collect();
        let [truth, decision, cost] = fields[..] else {
            let found = fields.len();
            return Err((line(), CostProblem::Values { found }));
        };
        if number == 1 && fields == ["truth", "decision", "cost"] {
            continue;
        }
        let cost = amount(cost).map_err(|problem| (line(), problem))?;
        entries.push(CostEntry::new(truth, decision, cost).at(format!("cost {number}")));
    }
    Ok(entries)
}

/// The line of a record, from 1. A record begins, for its reader, with the blank lines before it.
fn line_of(text: &str, position: Option<&csv::Position>) -> u64 {
    let start = position.map_or(0, |position| position.byte() as usize);
    let rest = text.get(start..).unwrap_or_default();
    let blank = rest.len() - rest.trim_start_matches(['\r', '\n']).len();
    let before = text.as_bytes().iter().take(start + blank);
    1 + before.filter(|&&byte| byte == b'\n').count() as u64
}

#[cfg(test)]
#[path = "costs/tests.rs"]
mod tests;
