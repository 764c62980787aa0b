//! Collects scored documents in any order and makes a run of them.

use hashbrown::HashTable;
use std::cmp::Ordering;
use std::hash::BuildHasher;

use super::columns::shown;
use super::grouping::Grouping;
use super::run::Run;
use super::text_list::TextList;

/// Why scored documents make no run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunProblem {
    /// A name is empty or has a blank in it, and could not be read back from a file with blanks between columns.
    #[error("the {what} {} cannot be written to a file whose columns are separated by blanks", shown(.id))]
    Identifier {
        /// What the name is of.
        what: &'static str,
        /// The name.
        id: String,
    },
    /// A score is infinite or missing.
    #[error("the score of document {} for query {} is {score}; scores must be finite", shown(.document), shown(.query))]
    NotFinite {
        /// The query.
        query: String,
        /// The document.
        document: String,
        /// The score.
        score: f64,
    },
    /// A document stands in the list of a query twice.
    #[error("document {} of query {} was already listed in line {first_line}; a ranking lists a document once", shown(.document), shown(.query))]
    Duplicate {
        /// The query.
        query: String,
        /// The document.
        document: String,
        /// The line, or the number from 1 among the documents pushed, of the first.
        first_line: u64,
        /// That of the second.
        line: u64,
    },
}

/// Makes sure that a name can be written in a column and read back: it is not empty, has no blanks and does not begin with `#`.
///
/// ```
/// use calibrant::ranking::check_identifier;
/// assert!(check_identifier("document", "d-1#2").is_ok());
/// assert!(check_identifier("document", "two words").is_err());
/// ```
pub fn check_identifier(what: &'static str, id: &str) -> Result<(), RunProblem> {
    // Only at the start of a line is `#` a comment, that is, in the name of a query.
    let comment = what == "query" && id.starts_with('#');
    if id.is_empty() || comment || id.bytes().any(|byte| byte.is_ascii_whitespace()) {
        return Err(RunProblem::Identifier {
            what,
            id: id.to_owned(),
        });
    }
    Ok(())
}

/// Collects scored documents and puts them in order.
///
/// ```
/// use calibrant::ranking::RunBuilder;
/// let mut builder = RunBuilder::new("bm25")?;
/// builder.push("q1", "pear", 1.5)?;
/// builder.push("q1", "apple", 2.0)?;
/// builder.push("q1", "plum", 1.5)?;
/// let run = builder.finish()?;
/// let documents: Vec<&str> = run.query("q1").unwrap().documents().collect();
/// assert_eq!(documents, ["apple", "plum", "pear"]); // equal scores: the larger name first
/// # Ok::<(), calibrant::ranking::RunProblem>(())
/// ```
#[derive(Debug)]
pub struct RunBuilder {
    name: String,
    grouping: Grouping,
    documents: TextList,
    scores: Vec<f64>,
    lines: Vec<u64>,
}

impl RunBuilder {
    /// An empty run with the name that stands in the last column.
    pub fn new(name: &str) -> Result<Self, RunProblem> {
        check_identifier("run", name)?;
        Ok(Self::unnamed().named(name))
    }

    pub(super) fn unnamed() -> Self {
        Self {
            name: String::new(),
            grouping: Grouping::default(),
            documents: TextList::default(),
            scores: Vec::new(),
            lines: Vec::new(),
        }
    }

    fn named(mut self, name: &str) -> Self {
        self.rename(name);
        self
    }

    pub(super) fn rename(&mut self, name: &str) {
        if self.name != name {
            name.clone_into(&mut self.name);
        }
    }

    /// Takes one document with its score; the order does not matter.
    pub fn push(&mut self, query: &str, document: &str, score: f64) -> Result<(), RunProblem> {
        check_identifier("query", query)?;
        check_identifier("document", document)?;
        if !score.is_finite() {
            return Err(RunProblem::NotFinite {
                query: query.to_owned(),
                document: document.to_owned(),
                score,
            });
        }
        let line = self.lines.len() as u64 + 1;
        self.push_line(query, document, score, line);
        Ok(())
    }

    pub(super) fn push_line(&mut self, query: &str, document: &str, score: f64, line: u64) {
        self.grouping.push(query);
        self.documents.push(document);
        self.scores.push(score);
        self.lines.push(line);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Ranks the documents of every query. A document listed twice for a query is an error.
    pub fn finish(self) -> Result<Run, RunProblem> {
        let (queries, mut order) = self.grouping.finish();
        let mut seen = Seen::default();
        for (query, rows) in &queries {
            let rows = &mut order[rows.clone()];
            if let Some((first, second)) = seen.duplicate(&self.documents, rows) {
                return Err(RunProblem::Duplicate {
                    query: query.clone(),
                    document: self.documents.get(second).to_owned(),
                    first_line: self.lines[first],
                    line: self.lines[second],
                });
            }
            rows.sort_by(|&a, &b| {
                let by_score = self.scores[b].partial_cmp(&self.scores[a]);
                by_score
                    .unwrap_or(Ordering::Equal)
                    .then_with(|| self.documents.get(b).cmp(self.documents.get(a)))
            });
        }
        let in_order = order.iter().enumerate().all(|(place, &row)| place == row);
        if in_order {
            return Ok(Run::from_parts(
                self.name,
                queries,
                self.documents,
                self.scores,
                self.lines,
            ));
        }
        Ok(Run::from_parts(
            self.name,
            queries,
            self.documents.select(order.iter().copied()),
            order.iter().map(|&row| self.scores[row]).collect(),
            order.iter().map(|&row| self.lines[row]).collect(),
        ))
    }
}

/// Finds a document that stands among the rows of a query twice.
#[derive(Default)]
struct Seen {
    table: HashTable<usize>,
    // A fixed hash would let a crafted file make every search slow.
    hasher: foldhash::fast::RandomState,
}

impl Seen {
    /// The first row of which an earlier one has the same document: the earlier one, and it.
    fn duplicate(&mut self, documents: &TextList, rows: &[usize]) -> Option<(usize, usize)> {
        self.table.clear();
        let hasher = &self.hasher;
        for &row in rows {
            let document = documents.get(row);
            let entry = self.table.entry(
                hasher.hash_one(document),
                |&other| documents.get(other) == document,
                |&other| hasher.hash_one(documents.get(other)),
            );
            match entry {
                hashbrown::hash_table::Entry::Occupied(found) => return Some((*found.get(), row)),
                hashbrown::hash_table::Entry::Vacant(place) => {
                    place.insert(row);
                }
            }
        }
        None
    }
}
