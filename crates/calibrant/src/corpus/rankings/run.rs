//! Runs: the documents that a system lists for each query, best first.

use std::io::{self, Write};
use std::ops::Range;

use crate::corpus::{BadRow, NoRowsReason, ReadError, Source, each_line};

use super::columns::{finite, shown};
use super::run_builder::{RunBuilder, RunProblem, check_identifier};
use super::text_list::TextList;

/// What a system listed, query by query, as in a TREC run.
///
/// A line has six columns, `query Q0 document rank score name`; more are passed over, as are blank lines and lines
/// that begin with `#`. **The rank is not looked at**: documents are put in the order of their scores, the largest
/// first, and equal scores in the order of the documents' names as text, the larger first. This is what trec_eval
/// does; a system whose ranks say something else than its scores is measured by its scores. Scores are compared as
/// 64-bit numbers (trec_eval before version 10 rounded them to 32 bits and so saw more ties).
///
/// Rows of a query may be scattered over the file; queries are kept in the order of their names as text (`10` before
/// `9`). A document that is listed twice for a query is an error, and so is a score that is not a finite number. The run's name is
/// that of the last line.
///
/// ```
/// use calibrant::corpus::Source;
/// use calibrant::ranking::Run;
/// # let file = tempfile::NamedTempFile::new()?;
/// # let path = file.path().to_owned();
/// std::fs::write(&path, "q1 Q0 pear 1 0.5 mine\nq1 Q0 apple 2 0.7 mine\n")?;
/// let run = Run::read(&Source::Path(path))?;
/// assert_eq!(run.name(), "mine");
/// let documents: Vec<&str> = run.query("q1").unwrap().documents().collect();
/// assert_eq!(documents, ["apple", "pear"]); // by score, not by rank
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    name: String,
    queries: Vec<(String, Range<usize>)>,
    documents: TextList,
    scores: Vec<f64>,
    lines: Vec<u64>,
}

impl Run {
    /// Reads a run.
    pub fn read(source: &Source) -> Result<Self, ReadError> {
        let mut builder = RunBuilder::unnamed();
        each_line(source, |line| {
            if line.is_comment() {
                return Ok(());
            }
            let mut columns = line.columns();
            let (Some(query), Some(_), Some(document), Some(_), Some(score), Some(name)) = (
                columns.next(),
                columns.next(),
                columns.next(),
                columns.next(),
                columns.next(),
                columns.next(),
            ) else {
                let found = line.columns().count();
                let hint = match found {
                    4 => " (is this a file of judgements?)",
                    _ => "",
                };
                return Err(line.problem(format!(
                    "has {found} columns; a run has six: query, Q0, document, rank, score, name{hint}"
                )));
            };
            let Some(value) = finite(score) else {
                return Err(line.problem_at(
                    score,
                    "score",
                    format!("{} is not a finite number", shown(score)),
                ));
            };
            builder.rename(name);
            builder.push_line(query, document, value, line.number);
            Ok(())
        })?;
        let file = source.name();
        if builder.is_empty() {
            return Err(ReadError::NoRows {
                file,
                reason: NoRowsReason::Blank,
            });
        }
        builder.finish().map_err(|problem| {
            let line = match &problem {
                RunProblem::Duplicate { line, .. } => *line,
                _ => 0,
            };
            ReadError::BadRow(BadRow {
                sheet: None,
                file,
                line,
                column: None,
                field: Some("document".to_owned()),
                reason: problem.to_string(),
            })
        })
    }

    pub(super) fn from_parts(
        name: String,
        queries: Vec<(String, Range<usize>)>,
        documents: TextList,
        scores: Vec<f64>,
        lines: Vec<u64>,
    ) -> Self {
        Self {
            name,
            queries,
            documents,
            scores,
            lines,
        }
    }

    /// The name in the last column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same lists under another name.
    pub fn with_name(self, name: &str) -> Result<Self, RunProblem> {
        check_identifier("run", name)?;
        Ok(Self {
            name: name.to_owned(),
            ..self
        })
    }

    /// The number of queries with a document.
    pub fn query_count(&self) -> usize {
        self.queries.len()
    }

    /// The number of documents, all queries together.
    pub fn row_count(&self) -> usize {
        self.scores.len()
    }

    /// All queries in the order of their names as text.
    pub fn queries(&self) -> impl ExactSizeIterator<Item = RankedQuery<'_>> {
        (0..self.queries.len()).map(|number| RankedQuery { run: self, number })
    }

    /// The query of this name.
    pub fn query(&self, id: &str) -> Option<RankedQuery<'_>> {
        let found = self
            .queries
            .binary_search_by(|(name, _)| name.as_str().cmp(id));
        found.ok().map(|number| RankedQuery { run: self, number })
    }

    /// Writes the run: ranks count from 1, and scores come back as the same numbers.
    ///
    /// ```
    /// # use calibrant::ranking::RunBuilder;
    /// let mut builder = RunBuilder::new("mine")?;
    /// builder.push("q1", "pear", 0.1)?;
    /// let mut text = Vec::new();
    /// builder.finish()?.write(&mut text)?;
    /// assert_eq!(text, b"q1 Q0 pear 1 0.1 mine\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for query in self.queries() {
            let scored = query.documents().zip(query.scores());
            for (rank, (document, score)) in scored.enumerate() {
                let (id, name) = (query.id(), &self.name);
                writeln!(out, "{id} Q0 {document} {} {score} {name}", rank + 1)?;
            }
        }
        Ok(())
    }
}

/// The list of one query, best document first.
#[derive(Debug, Clone, Copy)]
pub struct RankedQuery<'a> {
    run: &'a Run,
    number: usize,
}

impl<'a> RankedQuery<'a> {
    /// The query's name.
    pub fn id(&self) -> &'a str {
        &self.run.queries[self.number].0
    }

    /// The documents, best first.
    pub fn documents(&self) -> impl ExactSizeIterator<Item = &'a str> + use<'a> {
        let documents = &self.run.documents;
        self.rows().map(|row| documents.get(row))
    }

    /// Their scores.
    pub fn scores(&self) -> &'a [f64] {
        &self.run.scores[self.rows()]
    }

    /// The lines of the file that they came from; for a run that was not read, when they were pushed, from 1.
    pub fn lines(&self) -> &'a [u64] {
        &self.run.lines[self.rows()]
    }

    /// The number of documents; at least one.
    pub fn document_count(&self) -> usize {
        self.rows().len()
    }

    fn rows(&self) -> Range<usize> {
        self.run.queries[self.number].1.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Run, ReadError> {
        Run::read(&Source::bytes("run", text.as_bytes()))
    }

    #[test]
    fn scores_decide_and_ties_go_to_the_larger_name() {
        let text =
            "q Q0 a 1 1.0 old\nq Q0 b 2 1.0 old\np Q0 a 1 -3 old\nq Q0 c 3 2e0 new more columns\n";
        let run = read(text).unwrap();
        let query = run.query("q").unwrap();
        assert_eq!(query.documents().collect::<Vec<_>>(), ["c", "b", "a"]);
        assert_eq!(query.scores(), [2.0, 1.0, 1.0]);
        assert_eq!(query.lines(), [4, 2, 1]);
        assert_eq!(
            (run.name(), run.query_count(), run.row_count()),
            ("new", 2, 4)
        );
        assert_eq!(run.queries().next().unwrap().id(), "p");
    }

    #[test]
    fn a_run_that_was_written_is_read_back_as_it_was() {
        let run =
            read("q Q0 a 1 0.1 n\nq Q0 b 1 0.30000000000000004 n\nr Q0 z 1 -1e-300 n\n").unwrap();
        let mut text = Vec::new();
        run.write(&mut text).unwrap();
        let again = read(std::str::from_utf8(&text).unwrap()).unwrap();
        for (before, after) in run.queries().zip(again.queries()) {
            assert_eq!(before.id(), after.id());
            assert!(before.documents().eq(after.documents()));
            assert_eq!(before.scores(), after.scores());
        }
    }

    #[test]
    fn malformed_lines_are_named_with_line_column_and_what_is_expected() {
        for (text, expected) in [
            (
                "q Q0 d 1 2.5\n",
                "line 1: has 5 columns; a run has six: query, Q0, document, rank, score, name",
            ),
            ("q 0 d 1\n", "score, name (is this a file of judgements?)"),
            (
                "# c\nq Q0 d 1 high n\n",
                "line 2, column 10, field `score`: `high` is not a finite number",
            ),
            ("q Q0 d 1 NaN n\n", "`NaN` is not a finite number"),
            ("q Q0 d 1 1e999 n\n", "`1e999` is not a finite number"),
            (
                "q Q0 d 1 1 n\nr Q0 d 1 1 n\nq Q0 e 1 1 n\nq Q0 d 2 0 n\n",
                "line 4, field `document`: document `d` of query `q` was already listed in line 1; a ranking lists a document once",
            ),
            ("\n\n", "has no rows"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.ends_with(expected), "{error}");
        }
    }

    #[test]
    fn names_that_could_not_be_read_back_are_refused() {
        let mut builder = RunBuilder::new("n").unwrap();
        assert!(RunBuilder::new("my run").is_err());
        assert!(builder.push("q", "", 1.0).is_err());
        assert!(builder.push("#q", "d", 1.0).is_err());
        assert!(builder.push("q", "d\t", 1.0).is_err());
        assert!(builder.push("q", "d", f64::NAN).is_err());
        builder.push("q", "d", 1.0).unwrap();
        builder.push("q", "d", 2.0).unwrap();
        assert!(matches!(
            builder.finish(),
            Err(RunProblem::Duplicate {
                first_line: 1,
                line: 2,
                ..
            })
        ));
    }
}
