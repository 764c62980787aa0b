//! Judgements: which documents answer a query.

use std::ops::Range;

use crate::corpus::{NoRowsReason, ReadError, Source, each_line};

use super::columns::shown;
use super::grouping::Grouping;
use super::run_builder::check_identifier;
use super::text_list::TextList;

/// Judgements of documents, query by query, as in a TREC file of relevance judgements ("qrels").
///
/// A line has four columns, `query iteration document grade`; the iteration is not looked at. Grades are whole
/// numbers: 0 is not relevant, larger is better. A grade below 0 means that the document was set aside to be
/// judged and was not: it counts neither as relevant nor as judged. A document without a line was never looked at.
///
/// Queries are kept in the order of their names as text (`10` before `9`), documents of a query in that of theirs.
/// Rows of a query may be scattered over the file. Lines that begin with `#` and blank lines are passed over. Two
/// judgements of one document for one query are an error, even if they agree.
///
/// ```
/// use calibrant::corpus::Source;
/// use calibrant::ranking::Qrels;
/// # let file = tempfile::NamedTempFile::new()?;
/// # let path = file.path().to_owned();
/// std::fs::write(&path, "q1 0 apple 1\nq1 0 pear 0\nq2 0 plum 2\n")?;
/// let qrels = Qrels::read(&Source::Path(path))?;
/// assert_eq!(qrels.query_count(), 2);
/// assert_eq!(qrels.query("q1").unwrap().grade("apple"), Some(1));
/// assert_eq!(qrels.query("q1").unwrap().grade("plum"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qrels {
    queries: Vec<(String, Range<usize>)>,
    documents: TextList,
    grades: Vec<i32>,
}

/// One judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judgement<'a> {
    /// The document.
    pub document: &'a str,
    /// Its grade.
    pub grade: i32,
}

impl Qrels {
    /// Reads a file of judgements.
    pub fn read(source: &Source) -> Result<Self, ReadError> {
        let mut builder = QrelsBuilder::default();
        let file = source.name();
        each_line(source, |line| {
            if line.is_comment() {
                return Ok(());
            }
            let mut columns = line.columns();
            let (Some(query), Some(_), Some(document), Some(grade)) = (
                columns.next(),
                columns.next(),
                columns.next(),
                columns.next(),
            ) else {
                let found = line.columns().count();
                return Err(line.problem(format!(
                    "has {found} columns; a judgement has four: query, iteration, document, grade"
                )));
            };
            if let Some(more) = columns.next() {
                let hint = match columns.next() {
                    Some(_) => "; is this a run?",
                    None => "",
                };
                return Err(line.problem_at(
                    more,
                    "grade",
                    format!(
                        "there are more columns than query, iteration, document and grade{hint}"
                    ),
                ));
            }
            let Ok(value) = grade.parse::<i32>() else {
                return Err(line.problem_at(
                    grade,
                    "grade",
                    format!("{} is not a whole number", shown(grade)),
                ));
            };
            builder.push_line(query, document, value, line.number);
            Ok(())
        })?;
        if builder.grades.is_empty() {
            return Err(ReadError::NoRows {
                file,
                reason: NoRowsReason::Blank,
            });
        }
        builder.finish_named(&file)
    }

    /// The number of queries with a judgement.
    pub fn query_count(&self) -> usize {
        self.queries.len()
    }

    /// The number of judgements.
    pub fn judgement_count(&self) -> usize {
        self.grades.len()
    }

    /// All queries in the order of their names as text.
    pub fn queries(&self) -> impl ExactSizeIterator<Item = JudgedQuery<'_>> {
        (0..self.queries.len()).map(|number| self.judged(number))
    }

    /// The query of this name.
    pub fn query(&self, id: &str) -> Option<JudgedQuery<'_>> {
        let found = self
            .queries
            .binary_search_by(|(name, _)| name.as_str().cmp(id));
        found.ok().map(|number| self.judged(number))
    }

    fn judged(&self, number: usize) -> JudgedQuery<'_> {
        JudgedQuery {
            qrels: self,
            number,
        }
    }
}

/// The judgements of one query.
#[derive(Debug, Clone, Copy)]
pub struct JudgedQuery<'a> {
    qrels: &'a Qrels,
    number: usize,
}

impl<'a> JudgedQuery<'a> {
    /// The query's name.
    pub fn id(&self) -> &'a str {
        &self.qrels.queries[self.number].0
    }

    /// The judgements, in the order of the documents' names as text.
    pub fn judgements(&self) -> impl ExactSizeIterator<Item = Judgement<'a>> + use<'a> {
        let qrels = self.qrels;
        self.rows().map(move |row| Judgement {
            document: qrels.documents.get(row),
            grade: qrels.grades[row],
        })
    }

    /// The grades, in the order of the documents' names as text.
    pub fn grades(&self) -> &'a [i32] {
        &self.qrels.grades[self.rows()]
    }

    /// The grade of a document, if somebody looked at it.
    pub fn grade(&self, document: &str) -> Option<i32> {
        let rows = self.rows();
        let (mut low, mut high) = (rows.start, rows.end);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.qrels.documents.get(middle).cmp(document) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(self.qrels.grades[middle]),
            }
        }
        None
    }

    fn rows(&self) -> Range<usize> {
        self.qrels.queries[self.number].1.clone()
    }
}

/// Collects judgements in any order.
///
/// ```
/// use calibrant::ranking::QrelsBuilder;
/// let mut builder = QrelsBuilder::default();
/// builder.push("q1", "pear", 0)?;
/// builder.push("q1", "apple", 2)?;
/// let qrels = builder.finish()?;
/// assert_eq!(qrels.query("q1").unwrap().grades(), [2, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct QrelsBuilder {
    grouping: Grouping,
    documents: TextList,
    grades: Vec<i32>,
    lines: Vec<u64>,
}

impl QrelsBuilder {
    /// Takes one judgement.
    pub fn push(
        &mut self,
        query: &str,
        document: &str,
        grade: i32,
    ) -> Result<(), super::RunProblem> {
        check_identifier("query", query)?;
        check_identifier("document", document)?;
        let line = self.lines.len() as u64 + 1;
        self.push_line(query, document, grade, line);
        Ok(())
    }

    fn push_line(&mut self, query: &str, document: &str, grade: i32, line: u64) {
        self.grouping.push(query);
        self.documents.push(document);
        self.grades.push(grade);
        self.lines.push(line);
    }

    /// Puts the judgements in order; a document that was judged twice for a query is an error.
    pub fn finish(self) -> Result<Qrels, ReadError> {
        self.finish_named("judgements")
    }

    fn finish_named(self, file: &str) -> Result<Qrels, ReadError> {
        let (queries, mut order) = self.grouping.finish();
        for (query, rows) in &queries {
            let rows = &mut order[rows.clone()];
            // A stable sort: of two judgements of a document the first in the file comes first.
            rows.sort_by(|&a, &b| self.documents.get(a).cmp(self.documents.get(b)));
            let twice = rows
                .windows(2)
                .find(|pair| self.documents.get(pair[0]) == self.documents.get(pair[1]));
            if let Some(pair) = twice {
                return Err(ReadError::BadRow(crate::corpus::BadRow {
                    sheet: None,
                    file: file.to_owned(),
                    line: self.lines[pair[1]],
                    column: None,
                    field: Some("document".to_owned()),
                    reason: format!(
                        "document {} of query {} was already judged in line {}; remove one of the two",
                        shown(self.documents.get(pair[1])),
                        shown(query),
                        self.lines[pair[0]]
                    ),
                }));
            }
        }
        Ok(Qrels {
            documents: self.documents.select(order.iter().copied()),
            grades: order.iter().map(|&row| self.grades[row]).collect(),
            queries,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Qrels, ReadError> {
        Qrels::read(&Source::bytes("qrels", text.as_bytes()))
    }

    #[test]
    fn scattered_rows_are_put_together_and_comments_are_passed_over() {
        let qrels = read("# judged by hand\n9 0 b 1\n10 0 a#1 -1\n\n 9\tQ0\ta\t3 \n").unwrap();
        let ids: Vec<&str> = qrels.queries().map(|query| query.id()).collect();
        assert_eq!(ids, ["10", "9"]);
        let nine: Vec<_> = qrels.query("9").unwrap().judgements().collect();
        assert_eq!(nine.len(), 2);
        assert_eq!((nine[0].document, nine[0].grade), ("a", 3));
        assert_eq!(qrels.query("10").unwrap().grade("a#1"), Some(-1));
        assert!(qrels.query("8").is_none());
        assert_eq!(qrels.judgement_count(), 3);
    }

    #[test]
    fn malformed_lines_are_named_with_line_column_and_what_is_expected() {
        for (text, expected) in [
            (
                "q 0 d\n",
                "line 1: has 3 columns; a judgement has four: query, iteration, document, grade",
            ),
            (
                "q 0 d 1\nq 0 e 0.5\n",
                "line 2, column 7, field `grade`: `0.5` is not a whole number",
            ),
            (
                "q 0 d 1 2\n",
                "line 1, column 9, field `grade`: there are more columns than query, iteration, document and grade",
            ),
            (
                "q Q0 d 1 2.5 run\n",
                "line 1, column 10, field `grade`: there are more columns than query, iteration, document and grade; is this a run?",
            ),
            (
                "q 0 d 1\nr 0 d 1\nq 0 d 1\n",
                "line 3, field `document`: document `d` of query `q` was already judged in line 1; remove one of the two",
            ),
            ("q 0 d 9999999999\n", "`9999999999` is not a whole number"),
            ("# nothing\n\n", "has no rows"),
            ("", "is empty"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.ends_with(expected), "{error}");
        }
    }
}
