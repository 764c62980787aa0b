//! How many labels of a list are really wrong, after a random sample of it was read again.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::cells::{CellRow, names_of, read_cells};
use super::plain_table::PlainTable;
use super::suspects::{SuspectLabel, SuspectList};
use crate::Progress;
use crate::Task;
use crate::corpus::{ReadError, ReadOptions, Source};
use crate::decision::{draw_sample, wrong_among};
use crate::numeric::stable_hash;

/// The column of a sample that a reader fills in.
const CORRECT: &str = "correct";

/// The column that says how long the list was.
const LISTED: &str = "listed";

/// The column that says how many of it were drawn.
const DRAWN: &str = "drawn";

/// What reading a sample of a list again came to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RereadReport {
    /// Labels on the list.
    pub listed: usize,
    /// Those that were read again.
    pub read: usize,
    /// Those of them that are wrong.
    pub wrong: usize,
    /// At least so many labels of the list are wrong.
    pub lower: u64,
    /// At most so many are.
    pub upper: u64,
    /// How often such an interval holds the truth, at least.
    pub certainty: f64,
}

/// Why a sample that was read again says nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RereadError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A column is missing.
    #[error("{file}: there is no column `{column}`")]
    NoColumn {
        /// The file.
        file: String,
        /// What it lacks.
        column: String,
    },
    /// A row has no answer.
    #[error("{file}, line {line}: `{CORRECT}` is empty")]
    NotRead {
        /// The file.
        file: String,
        /// The line.
        line: u64,
    },
    /// A row is not on the list.
    #[error("{file}, line {line}: {row} is not on the list of suspect labels")]
    NotListed {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The document, with the label in question.
        row: String,
    },
    /// A row comes twice.
    #[error("{file}, line {line}: {row} comes twice")]
    Twice {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The document.
        row: String,
    },
    /// An answer is none of the classes.
    #[error("{file}, line {line}: `{answer}` is neither `{given}` nor another known label")]
    UnknownAnswer {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// What the reader wrote.
        answer: String,
        /// The label in question.
        given: String,
    },
    /// The sample was drawn from another list.
    #[error(
        "{file}: the sample was drawn from a list of {found} labels, and this list has {listed}"
    )]
    OtherList {
        /// The file.
        file: String,
        /// What the sample says.
        found: String,
        /// How long the list is.
        listed: usize,
    },
    /// Rows of the sample are missing, or others came in.
    #[error(
        "{file}: {drawn} labels were drawn, and the file has {found}: without the others the sample is not random"
    )]
    OtherCount {
        /// The file.
        file: String,
        /// How many rows it has.
        found: usize,
        /// How many its rows say were drawn.
        drawn: String,
    },
    /// Nothing was read.
    #[error("{file}: no label was read again")]
    Nothing {
        /// The file.
        file: String,
    },
}

impl RereadError {
    /// Whether the file may be in order, and only written otherwise than it was read.
    pub fn is_of_layout(&self) -> bool {
        match self {
            Self::Read(error) => error.is_of_layout(),
            Self::NoColumn { .. } => true,
            _ => false,
        }
    }
}

impl SuspectList {
    /// The list as a table.
    pub fn table(&self) -> PlainTable {
        let names = [
            "line",
            "given",
            "likely",
            "given_probability",
            "likely_probability",
            "copies",
            "words",
            "text",
        ];
        self.table_of(&names, self.suspects.iter(), |suspect| {
            vec![
                suspect.line.into(),
                suspect.given.clone().into(),
                suspect.likely.clone().into(),
                suspect.given_probability.into(),
                suspect.likely_probability.into(),
                suspect.copies.into(),
                suspect.words.clone().into(),
                suspect.text.clone().into(),
            ]
        })
    }

    /// So many labels of the list, drawn at random, as a table with an empty column `correct` for whoever reads them again.
    pub fn sample(&self, size: usize, seed: u64) -> PlainTable {
        let keys: Vec<u64> = self.suspects.iter().map(key).collect();
        let drawn = draw_sample(&keys, &[], &[size], seed);
        let names = ["given", "likely", CORRECT, LISTED, DRAWN, "text"];
        let count = drawn.len();
        let drawn = drawn.iter().map(|&place| &self.suspects[place]);
        self.table_of(&names, drawn, |suspect| {
            vec![
                suspect.given.clone().into(),
                suspect.likely.clone().into(),
                "".into(),
                self.suspects.len().into(),
                count.into(),
                suspect.text.clone().into(),
            ]
        })
    }

    fn table_of<'a>(
        &self,
        names: &[&str],
        suspects: impl Iterator<Item = &'a SuspectLabel>,
        cells: impl Fn(&SuspectLabel) -> Vec<serde_json::Value>,
    ) -> PlainTable {
        let header = std::iter::once(self.key_column()).chain(names.iter().copied());
        let row = |suspect: &SuspectLabel| {
            let mut row = vec![suspect.key.text().into_owned().into()];
            row.extend(cells(suspect));
            row
        };
        PlainTable {
            header: header.map(str::to_owned).collect(),
            rows: suspects.map(row).collect(),
        }
    }

    fn key_column(&self) -> &'static str {
        self.suspects
            .first()
            .map_or("row", |first| first.key.column())
    }

    /// How many labels of the list are wrong, after a random sample of it was read again: a table with the document (`id` or `row`), the
    /// label in question (`given`) and what is right (`correct`).
    ///
    /// # When it misleads
    /// Where the sample was chosen, not drawn; where some of what was drawn was left unread.
    pub fn reread(
        &self,
        source: &Source,
        options: &ReadOptions,
        certainty: f64,
        classes: &[&str],
        progress: &dyn Progress,
    ) -> Result<RereadReport, RereadError> {
        let file = source.name();
        let names = names_of(source, options)?;
        let key = self.key_column();
        for column in [key, "given", CORRECT] {
            if !names.iter().any(|name| name == column) {
                let column = column.to_owned();
                return Err(RereadError::NoColumn { file, column });
            }
        }
        let mut wanted = vec![key, "given", CORRECT];
        let has = |wanted: &str| names.iter().any(|name| name == wanted);
        wanted.extend(has(LISTED).then_some(LISTED));
        let drawn_at = has(DRAWN).then_some(wanted.len());
        wanted.extend(has(DRAWN).then_some(DRAWN));
        let rows = read_cells(source, options, &wanted, progress)?;
        check_drawn(&file, &rows, drawn_at)?;
        let left = self.suspects.iter().map(|suspect| {
            let document = suspect.key.text().into_owned();
            ((document, suspect.given.clone()), false)
        });
        let mut reading = Reading {
            file: file.clone(),
            key,
            list: self,
            classes,
            tells_length: has(LISTED),
            seen: left.collect(),
        };
        let (mut read, mut wrong) = (0, 0);
        for row in &rows {
            read += 1;
            wrong += usize::from(reading.is_wrong(row)?);
        }
        if read == 0 {
            return Err(RereadError::Nothing { file });
        }
        let listed = self.suspects.len();
        let found = wrong_among(listed as u64, read as u64, wrong as u64, certainty);
        Ok(RereadReport {
            listed,
            read,
            wrong,
            lower: found.lower,
            upper: found.upper,
            certainty,
        })
    }

    /// Whether a reader may answer so: the label itself, or another class; with several labels its opposite.
    fn is_answer(&self, answer: &str, given: &str, classes: &[&str]) -> bool {
        if answer == given {
            return true;
        }
        match self.task {
            Task::SingleLabel => classes.contains(&answer),
            Task::MultiLabel => {
                answer.strip_prefix("not ") == Some(given)
                    || given.strip_prefix("not ") == Some(answer)
            }
        }
    }
}

/// Whether as many rows came back as were drawn.
fn check_drawn(file: &str, rows: &[CellRow], at: Option<usize>) -> Result<(), RereadError> {
    let found = rows.len();
    let told = |row: &CellRow| row.cell(at?).map(str::to_owned);
    let other = rows.iter().filter_map(told);
    match other.into_iter().find(|drawn| *drawn != found.to_string()) {
        Some(drawn) => Err(RereadError::OtherCount {
            file: file.to_owned(),
            found,
            drawn,
        }),
        None => Ok(()),
    }
}

/// Rows that were read again, held against the list.
struct Reading<'a> {
    file: String,
    /// The column that names the document.
    key: &'static str,
    list: &'a SuspectList,
    classes: &'a [&'a str],
    /// Whether rows say how long the list was.
    tells_length: bool,
    /// Document and label of every suspect, and whether they have come.
    seen: HashMap<(String, String), bool>,
}

impl Reading<'_> {
    /// Whether the label of this row is wrong; `row` has document, label, answer, and perhaps the length of the list.
    fn is_wrong(&mut self, row: &CellRow) -> Result<bool, RereadError> {
        let (file, line) = (self.file.clone(), row.line);
        let given = row.cell(1).unwrap_or_default().to_owned();
        let document = row.cell(0).unwrap_or_default().to_owned();
        let shown = format!("{} `{document}` with the label `{given}`", self.key);
        let listed = self.list.suspects.len();
        let told = row.cell(3).filter(|_| self.tells_length);
        if let Some(found) = told.filter(|found| *found != listed.to_string()) {
            let found = found.to_owned();
            return Err(RereadError::OtherList {
                file,
                found,
                listed,
            });
        }
        let seen = self.seen.get_mut(&(document, given.clone()));
        let Some(seen) = seen else {
            let row = shown;
            return Err(RereadError::NotListed { file, line, row });
        };
        if std::mem::replace(seen, true) {
            let row = shown;
            return Err(RereadError::Twice { file, line, row });
        }
        let Some(answer) = row.cell(2) else {
            return Err(RereadError::NotRead { file, line });
        };
        if !self.list.is_answer(answer, &given, self.classes) {
            let answer = answer.to_owned();
            return Err(RereadError::UnknownAnswer {
                file,
                line,
                answer,
                given,
            });
        }
        Ok(answer != given)
    }
}

/// What tells a suspect from others, whatever the order of the list.
fn key(suspect: &SuspectLabel) -> u64 {
    let text = format!("{}\u{1F}{}", suspect.key.text(), suspect.given);
    stable_hash(text.as_bytes())
}
