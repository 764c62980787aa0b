//! What mistakes cost, as people write it down: lines of truth, decision and cost.

use std::io::Read;

use crate::corpus::{ReadError, Source, open_lines};
use crate::decision::CostEntry;

/// Why costs cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadCostsError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file breaks off, or is not text.
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
    /// The cost is not a number.
    #[error("`{cost}` is not a number")]
    NotANumber {
        /// What is written.
        cost: String,
    },
    /// The line cannot be taken apart.
    #[error("{0}")]
    Csv(String),
}

/// Reads costs from a file: CSV lines of truth, decision and cost, with or without a header line of these names, or a JSON list of
/// objects with these keys. [`CostMatrix::of_entries`](crate::decision::CostMatrix::of_entries) makes a matrix of them.
///
/// ```
/// use calibrant::corpus::Source;
/// use calibrant::jobs::read_costs;
/// let file = Source::bytes("costs.csv", *b"truth,decision,cost\nham,spam,20\n");
/// let costs = read_costs(&file)?;
/// assert_eq!((costs.len(), costs[0].truth.as_str(), costs[0].cost), (1, "ham", 20.0));
/// let wrong = Source::bytes("costs.csv", *b"ham,spam,20\nspam,ham,much\n");
/// assert_eq!(read_costs(&wrong).unwrap_err().to_string(), "costs.csv, line 2: `much` is not a number");
/// # Ok::<(), calibrant::jobs::ReadCostsError>(())
/// ```
pub fn read_costs(source: &Source) -> Result<Vec<CostEntry>, ReadCostsError> {
    let file = source.name();
    let mut text = String::new();
    if let Some(mut lines) = open_lines(source)? {
        let read = lines.read_to_string(&mut text);
        read.map_err(|error| ReadCostsError::Input {
            file: file.clone(),
            error,
        })?;
    }
    let entries: Vec<CostEntry> = if text.trim_start().starts_with('[') {
        serde_json::from_str(&text).map_err(|error| ReadCostsError::Json {
            file: file.clone(),
            error,
        })?
    } else {
        lines_of(&text).map_err(|(line, problem)| ReadCostsError::Line {
            file: file.clone(),
            line,
            problem,
        })?
    };
    match entries.is_empty() {
        true => Err(ReadCostsError::Nothing { file }),
        false => Ok(entries),
    }
}

/// Costs written one after the other, `TRUTH,DECISION,COST;…`.
///
/// ```
/// let costs = calibrant::jobs::parse_costs("ham,spam,20; spam,ham,1")?;
/// assert_eq!((costs[1].decision.as_str(), costs[1].cost), ("ham", 1.0));
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
        let cost = cost.parse().map_err(|_| {
            let cost = cost.to_owned();
            (line(), CostProblem::NotANumber { cost })
        })?;
        entries.push(CostEntry {
            truth: truth.to_owned(),
            decision: decision.to_owned(),
            cost,
        });
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
mod tests {
    use super::*;
    use crate::Task;
    use crate::decision::CostMatrix;

    fn file(name: &str, text: &str) -> Result<Vec<CostEntry>, ReadCostsError> {
        read_costs(&Source::bytes(name, text.as_bytes()))
    }

    #[test]
    fn lines_json_and_text_say_the_same() {
        let lines = "truth,decision,cost\nham,spam,20\n\"spam\",spam,-0.5\n";
        let json = r#"[{"truth":"ham","decision":"spam","cost":20},{"truth":"spam","decision":"spam","cost":-0.5}]"#;
        let expected = CostMatrix::new(2, vec![0.0, 20.0, 1.0, -0.5]).unwrap();
        for entries in [
            parse_costs("ham,spam,20; spam,spam,-0.5"),
            file("costs.csv", lines),
            file("costs.json", json),
        ] {
            let classes = ["ham", "spam"];
            let costs = CostMatrix::of_entries(&entries.unwrap(), Task::SingleLabel, classes);
            assert_eq!(costs.unwrap(), expected);
        }
        let yes = parse_costs("yes,no,5").unwrap();
        let yes = CostMatrix::of_entries(&yes, Task::MultiLabel, ["a"]).unwrap();
        assert_eq!((yes.cost(1, 0), yes.cost(0, 1)), (5.0, 1.0));
    }

    #[test]
    fn what_is_no_cost_is_refused_by_its_place() {
        for (text, message) in [
            ("", "cost 1: 0 values"),
            ("ham,spam", "cost 1: 2 values instead of 3"),
            ("a,b,1;ham,spam,much", "cost 2: `much` is not a number"),
            ("nowhere.csv", "cost 1: 1 values"),
        ] {
            let error = parse_costs(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text}: {error}");
        }
        for (text, message) in [
            ("", "costs.csv: is empty"),
            ("truth,decision,cost\n", "costs.csv: holds no costs"),
            ("a,b,1\n\nham,spam\n", "costs.csv, line 3: 2 values"),
            ("[1]", "costs.csv: is not a list of costs"),
            (r#"[{"truth":"a","cost":1}]"#, "costs.csv: is not a list"),
        ] {
            let error = file("costs.csv", text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }
}
