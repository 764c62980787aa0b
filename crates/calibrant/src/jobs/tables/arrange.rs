//! Probabilities as somebody wrote them down, put into the order of the test set.

use std::collections::{HashMap, HashSet};

use super::{MissingRows, TableError, TableNote};
use crate::evaluation::{StatedCell, StatedEnds, StatedTable};
use crate::{Probability, Task};

/// What a system states about every document of a test set, in the order of the test set.
#[derive(Debug, Clone)]
pub struct StatedForecasts {
    /// Its classes, in its own order.
    pub classes: Vec<String>,
    /// Document by document, then by class.
    pub probabilities: Vec<Probability>,
    /// What was done about zeros and ones; absent for models.
    pub ends: Option<StatedEnds>,
}

/// How far the probabilities of exclusive classes may be from a sum of one: enough for a table printed with few
/// digits, not for unnormalised scores.
const SUM_TOLERANCE: f64 = 0.05;

/// How many identifiers a message shows.
const SHOWN: usize = 5;

/// A probability that was written as a plain number.
pub(super) fn plain_number(text: &str) -> Option<StatedCell> {
    StatedCell::of_number(text.trim().parse().ok()?)
}

/// A probability that was written as log-odds, which lose nothing.
pub(super) fn log_odds(text: &str) -> Option<StatedCell> {
    StatedCell::of_log_odds(text.trim().parse().ok()?)
}

/// Which documents the rows of a file are of.
pub(super) enum Names {
    /// Nobody says: they stand in the order of the test set.
    Nobody,
    /// Identifiers; written by earlier versions also for numbers of rows.
    Ids(Vec<String>),
    /// Numbers of rows, as `predict` writes for documents without identifiers.
    RowNumbers(Vec<String>),
}

/// The column with a document's name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    Ids,
    RowNumbers,
}

impl Names {
    pub(super) fn new(names: Option<Vec<String>>, kind: NameKind) -> Self {
        match (names, kind) {
            (None, _) => Self::Nobody,
            (Some(names), NameKind::Ids) => Self::Ids(names),
            (Some(names), NameKind::RowNumbers) => Self::RowNumbers(names),
        }
    }

    fn of_row(&self, row: usize) -> String {
        match self {
            Self::Nobody => format!("document {}", row + 1),
            Self::Ids(names) => format!("document {} (`{}`)", row + 1, names[row]),
            Self::RowNumbers(numbers) => format!("row {}", numbers[row]),
        }
    }
}

/// The documents of the test set that rows are wanted for.
#[derive(Clone, Copy)]
pub(super) struct Wished<'a> {
    /// The identifier of each that has one.
    pub(super) ids: &'a [Option<String>],
    /// The number of each one's row in its file.
    pub(super) rows: &'a [u64],
    /// Whether the field of the identifier was named.
    pub(super) asked: bool,
}

/// Rows in the order of a file, to be put into that of the test set.
pub(super) struct Rows {
    pub(super) file: String,
    pub(super) classes: Vec<String>,
    /// Row by row, class by class.
    pub(super) cells: Vec<StatedCell>,
    pub(super) names: Names,
    pub(super) row_count: usize,
    /// The file has one column; where there are two classes it is the second's, and the first's was made of it.
    pub(super) one_column: bool,
}

impl Rows {
    /// One row for each document: by identifier or number where rows have one, else by their order. The rule for zeros and ones looks at all rows of the file.
    pub(super) fn arrange(
        self,
        wished: Wished<'_>,
        task: Task,
        notes: &mut Vec<TableNote>,
    ) -> Result<StatedForecasts, TableError> {
        let order = self.order(wished, notes)?;
        let class_count = self.classes.len();
        let mut table = StatedTable::settle(task, class_count, &self.cells);
        if self.one_column && class_count == 2 {
            table.ends = table.ends.of_second_alone(&self.cells);
        }
        if let Some((row, sum)) = table.ends.farthest_row
            && (sum - 1.0).abs() > SUM_TOLERANCE
        {
            return Err(TableError::Sum {
                document: self.names.of_row(row),
                file: self.file,
                sum,
            });
        }
        for sentence in table.ends.sentences() {
            let file = self.file.clone();
            notes.push(TableNote::Ends { file, sentence });
        }
        let rows = order.into_iter().flat_map(|row| {
            let first = row * class_count;
            table.probabilities[first..first + class_count]
                .iter()
                .copied()
        });
        Ok(StatedForecasts {
            probabilities: rows.collect(),
            classes: self.classes,
            ends: Some(table.ends),
        })
    }

    /// The row of each document.
    fn order(
        &self,
        Wished {
            ids: wanted,
            rows,
            asked,
        }: Wished<'_>,
        notes: &mut Vec<TableNote>,
    ) -> Result<Vec<usize>, TableError> {
        let documents = wanted.len();
        let ids = match &self.names {
            Names::Nobody => return self.in_their_order(documents),
            Names::RowNumbers(numbers) => return self.by_number(numbers, rows),
            Names::Ids(ids) => ids,
        };
        let wanted: Vec<Option<&str>> = wanted.iter().map(Option::as_deref).collect();
        // The same identifiers in the same order, unique or not.
        let same = ids.iter().map(|id| Some(id.as_str()));
        if ids.len() == documents && same.eq(wanted.iter().copied()) {
            return Ok((0..documents).collect());
        }
        let known: Option<Vec<&str>> = wanted.iter().copied().collect();
        match known.filter(|_| documents > 0) {
            Some(wanted) => self.joined(ids, &wanted, asked, notes),
            None if asked => Err(without_identifier(&wanted)),
            // Nothing to join by in the test set. Documents without a name were numbered under `id`.
            None => match numbered(ids, documents) {
                Some(order) => {
                    if !order.is_sorted() {
                        notes.push(self.are_numbers());
                    }
                    Ok(order)
                }
                None => {
                    let file = self.file.clone();
                    notes.push(TableNote::OnlyTableHasIds { file });
                    self.in_their_order(documents)
                }
            },
        }
    }

    fn in_their_order(&self, documents: usize) -> Result<Vec<usize>, TableError> {
        if self.row_count == documents {
            return Ok((0..documents).collect());
        }
        Err(TableError::RowCount {
            file: self.file.clone(),
            rows: self.row_count,
            documents,
        })
    }

    /// By the numbers that rows have in the file of the test set, or by their order from 0. A table that has more rows may be of another
    /// file, whose numbers say nothing here.
    fn by_number(&self, numbers: &[String], wanted: &[u64]) -> Result<Vec<usize>, TableError> {
        let numbered_rows = numbers.iter().enumerate();
        let row_of: HashMap<u64, usize> = numbered_rows
            .filter_map(|(row, number)| Some((number.parse().ok()?, row)))
            .collect();
        let of_file = || -> Option<Vec<usize>> {
            wanted.iter().map(|row| row_of.get(row).copied()).collect()
        };
        let order = match row_of.contains_key(&0) {
            true => numbered(numbers, wanted.len()),
            false => of_file().filter(|_| numbers.len() == wanted.len()),
        };
        order.ok_or_else(|| TableError::RowNumbers {
            file: self.file.clone(),
            rows: numbers.len(),
            documents: wanted.len(),
        })
    }

    fn are_numbers(&self) -> TableNote {
        TableNote::IdsAreRows {
            file: self.file.clone(),
        }
    }

    /// Earlier versions wrote numbers of rows under `id`. Where identifiers are such numbers, and those of the test
    /// set do not count its rows, nothing tells which was meant.
    fn check_unambiguous(&self, ids: &[String], wanted: &[&str]) -> Result<(), TableError> {
        let are_numbers = numbered(ids, ids.len()).is_some();
        if !are_numbers || rise(wanted) {
            return Ok(());
        }
        Err(TableError::IdsOrRows {
            file: self.file.clone(),
            rows: ids.len(),
        })
    }

    fn joined(
        &self,
        ids: &[String],
        wanted: &[&str],
        asked: bool,
        notes: &mut Vec<TableNote>,
    ) -> Result<Vec<usize>, TableError> {
        let mut row_of: HashMap<&str, usize> = HashMap::with_capacity(ids.len());
        let mut twice = None;
        for (row, id) in ids.iter().enumerate() {
            if row_of.insert(id, row).is_some() {
                twice.get_or_insert(id);
            }
        }
        let missing: Vec<&str> = wanted
            .iter()
            .copied()
            .filter(|id| !row_of.contains_key(id))
            .collect();
        if !asked {
            // A test set whose identifiers are others altogether cannot be meant.
            if missing.len() == wanted.len()
                && let Some(order) = numbered(ids, wanted.len())
            {
                notes.push(self.are_numbers());
                return Ok(order);
            }
            self.check_unambiguous(ids, wanted)?;
        }
        if let Some(id) = twice {
            return Err(TableError::TwiceInTable {
                file: self.file.clone(),
                id: id.clone(),
            });
        }
        let known: HashSet<&str> = wanted.iter().copied().collect();
        if known.len() < wanted.len() {
            let mut seen = HashSet::new();
            let id = wanted.iter().find(|id| !seen.insert(**id)).copied();
            return Err(TableError::TwiceInTestSet {
                id: id.unwrap_or_default().to_owned(),
            });
        }
        let more: Vec<&str> = ids
            .iter()
            .map(String::as_str)
            .filter(|id| !known.contains(id))
            .collect();
        if !missing.is_empty() {
            return Err(TableError::MissingRows(Box::new(MissingRows {
                file: self.file.clone(),
                missing: missing.len(),
                documents: wanted.len(),
                shown_missing: listed(&missing),
                more: more.len(),
                shown_more: listed(&more),
                are_numbers: numbered(ids, ids.len()).is_some(),
            })));
        }
        if !more.is_empty() {
            notes.push(TableNote::MoreRows {
                file: self.file.clone(),
                rows: more.len(),
                shown: listed(&more),
            });
        }
        Ok(wanted.iter().map(|id| row_of[id]).collect())
    }
}

fn without_identifier(wanted: &[Option<&str>]) -> TableError {
    let first = wanted.iter().position(Option::is_none).unwrap_or(0);
    TableError::TestSetWithoutId {
        document: first + 1,
    }
}

/// Whether identifiers are rising numbers: then they name the same documents as numbers of rows would.
fn rise(wanted: &[&str]) -> bool {
    let numbers: Option<Vec<u64>> = wanted.iter().map(|id| id.parse().ok()).collect();
    numbers.is_some_and(|numbers| numbers.is_sorted())
}

/// The row of each document where identifiers are the numbers of the documents, from 1 or from 0.
fn numbered(ids: &[String], documents: usize) -> Option<Vec<usize>> {
    if ids.len() != documents {
        return None;
    }
    let numbers: Vec<usize> = ids
        .iter()
        .map(|id| id.parse().ok())
        .collect::<Option<_>>()?;
    let least = numbers.iter().copied().min().filter(|least| *least <= 1)?;
    let mut order = vec![usize::MAX; documents];
    for (row, number) in numbers.iter().enumerate() {
        let place = order.get_mut(number - least)?;
        if *place != usize::MAX {
            return None;
        }
        *place = row;
    }
    Some(order)
}

fn listed(ids: &[&str]) -> String {
    let shown: Vec<String> = ids
        .iter()
        .take(SHOWN)
        .map(|id| format!("`{}`", id.chars().take(40).collect::<String>()))
        .collect();
    let more = if ids.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_rows_are_known_from_one_and_from_zero() {
        let ids = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
        assert_eq!(numbered(&ids(&["2", "1", "3"]), 3), Some(vec![1, 0, 2]));
        assert_eq!(numbered(&ids(&["2", "1", "0"]), 3), Some(vec![2, 1, 0]));
        for wrong in [
            &["1", "1", "2"][..],
            &["2", "3", "4"],
            &["a", "1", "2"],
            &["1", "2"],
        ] {
            assert_eq!(numbered(&ids(wrong), 3), None, "{wrong:?}");
        }
    }
}
