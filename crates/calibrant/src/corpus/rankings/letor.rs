//! LETOR files: svmlight lines with a query, `grade qid:query 1:value 2:value … # comment`.

use std::collections::HashMap;
use std::io::{self, Write};

use crate::corpus::{Line, NoRowsReason, ReadError, Source, each_line};

use super::columns::{finite, shown};
use super::letor_header::{LetorHeader, header_of};
use super::table::{QueryRows, RankingTable};
use super::text_list::TextList;

/// The largest number that a feature may have.
pub(crate) const LARGEST_FEATURE: usize = 100_000;
/// So many cells are always allowed, and more only as the file holds features for them.
const FREE_CELLS: usize = 1 << 26;
const CELLS_A_FEATURE: usize = 64;

impl RankingTable {
    /// Reads a LETOR (svmlight) file.
    ///
    /// A line is `grade qid:query number:value …`, and a comment may follow after `#`. Settled here, since the format leaves it open:
    /// - **Rows of a query stand together.** If a query comes again after another one, that is an error that names both
    ///   lines: files of scores belong to the rows in their order, and rows moved together in silence would part from them.
    /// - Grades are whole numbers (`2`, `+1` or `2.0`); below 0 counts as not relevant.
    /// - A value written `NULL` (in any case) is missing, and NaN in the table. A feature that is not written is **0**, as
    ///   in svmlight. What is neither a number nor `NULL`, is infinite, or does not fit 32 bits is an error.
    /// - Features may come in any order; one that comes twice, and feature 0, are errors.
    /// - The table is dense. Features beyond 100,000 are refused, and so is a table of more than 67 million
    ///   values of which the file writes less than one in 64.
    /// - The document's name is what follows `#docid =` in the comment, or else its first word. `judged = no` behind `docid = NAME`
    ///   marks a document that nobody judged (see [`RankingTable::is_judged`]).
    /// - A line `# features: 1=bm25.stems 2=length` names columns, as [`RankingTable::write_letor`] writes it; one without a name is called
    ///   by its number. Headers that contradict each other, and two columns of one name, are errors.
    ///
    /// ```
    /// use calibrant::corpus::Source;
    /// use calibrant::ranking::RankingTable;
    /// # let file = tempfile::NamedTempFile::new()?;
    /// # let path = file.path().to_owned();
    /// std::fs::write(&path, "2 qid:7 1:0.5 2:NULL #docid = D1 inc = 1\n0 qid:7 2:3 # D2\n")?;
    /// let table = RankingTable::read(&Source::Path(path))?;
    /// assert_eq!(table.row(1), [0.0, 3.0]);
    /// assert!(table.row(0)[1].is_nan());
    /// assert_eq!((table.grades()[0], table.document(0), table.document(1)), (2, "D1", "D2"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(source: &Source) -> Result<Self, ReadError> {
        Self::read_files(std::slice::from_ref(source))
    }

    /// Reads several files one after the other into one table, as when a training set is divided into parts. A query
    /// that is in two of them is an error.
    pub fn read_files(sources: &[Source]) -> Result<Self, ReadError> {
        let mut reader = Reader::default();
        for source in sources {
            let before = reader.grades.len();
            reader.file += 1;
            each_line(source, |line| match line.is_comment() {
                true => reader.comment(&line),
                false => reader.row(&line),
            })?;
            if reader.grades.len() == before {
                return Err(ReadError::NoRows {
                    file: source.name(),
                    reason: NoRowsReason::Blank,
                });
            }
        }
        reader.finish()
    }

    /// Writes the table as LETOR lines: a missing value is written `NULL`, and columns are numbered from 1. Where they have names, the first
    /// line, a comment, says which; [`RankingTable::read`] reads it. Names and values come back as they were.
    ///
    /// ```
    /// # use calibrant::ranking::RankingTable;
    /// let table = RankingTable::new(
    ///     vec!["bm25".into(), "length".into()],
    ///     &[("q1".into(), 1)],
    ///     &["a"],
    ///     vec![2],
    ///     vec![0.5, f32::NAN],
    /// )?;
    /// let mut text = Vec::new();
    /// table.write_letor(&mut text)?;
    /// assert_eq!(text, b"# features: 1=bm25 2=length\n2 qid:q1 1:0.5 2:NULL #docid = a\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_letor(&self, out: &mut impl Write) -> io::Result<()> {
        if let Some(header) = header_of(self.features()) {
            writeln!(out, "{header}")?;
        }
        for query in self.queries() {
            for row in query.rows.clone() {
                write!(out, "{} qid:{}", self.grades()[row], query.id)?;
                for (column, value) in self.row(row).iter().enumerate() {
                    match value.is_nan() {
                        true => write!(out, " {}:NULL", column + 1)?,
                        false => write!(out, " {}:{value}", column + 1)?,
                    }
                }
                match (self.document(row), self.is_judged(row)) {
                    ("", true) => writeln!(out)?,
                    (document, true) => writeln!(out, " #docid = {document}")?,
                    (document, false) => writeln!(out, " #docid = {document} judged = no")?,
                }
            }
        }
        Ok(())
    }
}

/// The table so far. Rows are `stride` wide, of which `width` columns are in use.
#[derive(Default)]
struct Reader {
    /// Files are distinguished by number: a name may come twice.
    file: usize,
    header: LetorHeader,
    queries: Vec<QueryRows>,
    /// Where each query began: file number, file name, line.
    begun: HashMap<String, (usize, String, u64)>,
    documents: TextList,
    grades: Vec<i32>,
    values: Vec<f32>,
    judged: Vec<bool>,
    stride: usize,
    width: usize,
    /// The row, from 1, in which a feature was seen last.
    seen: Vec<usize>,
    written: usize,
    line_features: Vec<(usize, f32)>,
}

impl Reader {
    fn comment(&mut self, line: &Line<'_>) -> Result<(), ReadError> {
        self.width = self.width.max(self.header.comment(line)?);
        Ok(())
    }

    fn row(&mut self, line: &Line<'_>) -> Result<(), ReadError> {
        let (data, comment) = match line.text.split_once('#') {
            Some((data, comment)) => (data, comment),
            None => (line.text, ""),
        };
        let mut words = data.split_ascii_whitespace();
        let grade = words.next().unwrap_or_default();
        let label = grade_of(grade).ok_or_else(|| {
            line.problem_at(
                grade,
                "grade",
                format!(
                    "{} is not a whole number; a line is `grade qid:query number:value ...`",
                    shown(grade)
                ),
            )
        })?;
        let word = words.next().unwrap_or_default();
        let Some(query) = word.strip_prefix("qid:").filter(|id| !id.is_empty()) else {
            return Err(line.problem(
                "the grade is not followed by `qid:` and the query; a line is `grade qid:query number:value ...`",
            ));
        };
        self.enter(line, word, query)?;
        self.features(line, words)?;
        self.widen(line)?;
        let start = self.values.len();
        self.values.resize(start + self.stride, 0.0);
        for &(column, value) in &self.line_features {
            self.values[start + column] = value;
        }
        self.grades.push(label);
        let (document, judged) = comment_of(comment);
        self.documents.push(document);
        self.judged.push(judged);
        if let Some(current) = self.queries.last_mut() {
            current.rows.end = self.grades.len();
        }
        Ok(())
    }

    /// Goes on with the query, or begins it.
    fn enter(&mut self, line: &Line<'_>, word: &str, query: &str) -> Result<(), ReadError> {
        let current = self.queries.last().filter(|last| last.id == query);
        let place = self.begun.get(query);
        match (current, place) {
            // Rows that go on in the next file are no less torn apart.
            (Some(_), Some((file, _, _))) if *file == self.file => Ok(()),
            (_, Some((file, name, begun))) => {
                let query = shown(query);
                let reason = match *file == self.file {
                    true => format!(
                        "query {query} began in line {begun}, and other queries come between; sort the file so that the rows of a query are together"
                    ),
                    false => format!(
                        "query {query} began in line {begun} of {name}; the rows of a query must be together in one file"
                    ),
                };
                Err(line.problem_at(word, "qid", reason))
            }
            (_, None) => {
                let row = self.grades.len();
                self.queries.push(QueryRows {
                    id: query.to_owned(),
                    rows: row..row,
                });
                let place = (self.file, line.file.to_owned(), line.number);
                self.begun.insert(query.to_owned(), place);
                Ok(())
            }
        }
    }

    fn features<'a>(
        &mut self,
        line: &Line<'_>,
        words: impl Iterator<Item = &'a str>,
    ) -> Result<(), ReadError> {
        self.line_features.clear();
        let row = self.grades.len() + 1;
        for word in words {
            let problem = |reason: &str| {
                line.problem_at(word, "feature", format!("{} {reason}", shown(word)))
            };
            let (number, value) = word
                .split_once(':')
                .ok_or_else(|| problem("is not of the form number:value"))?;
            let number = number
                .parse::<usize>()
                .ok()
                .filter(|number| (1..=LARGEST_FEATURE).contains(number))
                .ok_or_else(|| problem(&format!("needs a number from 1 to {LARGEST_FEATURE}")))?;
            let value = match value.eq_ignore_ascii_case("null") {
                true => f32::NAN,
                false => value
                    .parse::<f32>()
                    .ok()
                    .filter(|value| value.is_finite())
                    .ok_or_else(|| problem("needs a finite number, or NULL, as value"))?,
            };
            if self.seen.len() < number {
                self.seen.resize(number, 0);
            }
            if self.seen[number - 1] == row {
                return Err(problem("gives a feature of this line a second time"));
            }
            self.seen[number - 1] = row;
            self.width = self.width.max(number);
            self.line_features.push((number - 1, value));
        }
        self.written += self.line_features.len();
        Ok(())
    }

    /// Makes rows wide enough for the features seen, and refuses a table that would be nearly empty.
    fn widen(&mut self, line: &Line<'_>) -> Result<(), ReadError> {
        let rows = self.grades.len() + 1;
        let allowed = FREE_CELLS.max(self.written.saturating_mul(CELLS_A_FEATURE));
        let mut stride = self.stride;
        if self.width > stride {
            // Twice as wide as before: features that come one by one do not move the rows every time.
            stride = self
                .width
                .max(stride.saturating_mul(2).min(LARGEST_FEATURE));
            if rows.saturating_mul(stride) > allowed {
                stride = self.width;
            }
        }
        if rows.saturating_mul(stride) > allowed {
            return Err(line.problem(format!(
                "{rows} rows of {} features make a table that is nearly empty and would not fit into memory; number the features from 1 without gaps",
                self.width
            )));
        }
        if stride != self.stride {
            let mut wider = Vec::with_capacity(rows.saturating_mul(stride));
            for row in 0..self.grades.len() {
                wider.extend(&self.values[row * self.stride..(row + 1) * self.stride]);
                wider.resize((row + 1) * stride, 0.0);
            }
            self.values = wider;
            self.stride = stride;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<RankingTable, ReadError> {
        let rows = self.grades.len();
        // A header behind the last row names columns that no row has.
        self.width = self.width.min(self.stride);
        if self.width < self.stride {
            for row in 0..rows {
                let start = row * self.stride;
                self.values
                    .copy_within(start..start + self.width, row * self.width);
            }
            self.values.truncate(rows * self.width);
        }
        Ok(RankingTable::from_checked(
            self.header.finish(self.width)?,
            self.queries,
            self.documents,
            self.grades,
            self.values,
            match self.judged.iter().all(|&is| is) {
                true => Vec::new(),
                false => self.judged,
            },
        ))
    }
}

fn grade_of(word: &str) -> Option<i32> {
    if let Ok(grade) = word.parse::<i32>() {
        return Some(grade);
    }
    let value = finite(word)?;
    let whole = value.fract() == 0.0 && value.abs() <= f64::from(i32::MAX);
    whole.then_some(value as i32)
}

/// The document's name, and whether somebody judged it.
fn comment_of(comment: &str) -> (&str, bool) {
    let comment = comment.trim_ascii();
    let named = comment
        .strip_prefix("docid")
        .and_then(|rest| rest.trim_ascii_start().strip_prefix('='));
    let Some(named) = named else {
        let first = comment.split_ascii_whitespace().next();
        return (first.unwrap_or_default(), true);
    };
    let words = || named.split_ascii_whitespace();
    let mut marks = words().zip(words().skip(1)).zip(words().skip(2));
    let unjudged =
        marks.any(|((key, sign), value)| key == "judged" && sign == "=" && value == "no");
    // Without a name the first word is the mark's.
    let name = words()
        .next()
        .filter(|_| !named.trim_ascii_start().starts_with("judged = no"));
    (name.unwrap_or_default(), !unjudged)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(texts: &[&str]) -> (tempfile::TempDir, Vec<Source>) {
        let folder = tempfile::tempdir().unwrap();
        let write = |(number, text): (usize, &&str)| {
            let path = folder.path().join(format!("{number}.txt"));
            std::fs::write(&path, text).unwrap();
            Source::Path(path)
        };
        let sources = texts.iter().enumerate().map(write).collect();
        (folder, sources)
    }

    fn read(texts: &[&str]) -> Result<RankingTable, ReadError> {
        let (_folder, sources) = sources(texts);
        RankingTable::read_files(&sources)
    }

    #[test]
    fn the_mark_of_what_nobody_judged_is_read_and_written() {
        let text = "2 qid:1 1:1 #docid = a\n0 qid:1 1:2 #docid = b judged = no\n0 qid:1 1:3 #docid =  judged = no\n0 qid:1 1:4 #docid = judged inc = 1\n0 qid:1 1:5 # judged = no\n";
        let table = read(&[text]).unwrap();
        let marks: Vec<bool> = (0..5).map(|row| table.is_judged(row)).collect();
        // The last is somebody's own comment: only `docid = NAME` may be followed by a mark.
        assert_eq!(marks, [true, false, false, true, true]);
        let names: Vec<&str> = (0..5).map(|row| table.document(row)).collect();
        assert_eq!(names, ["a", "b", "", "judged", "judged"]);
        let mut written = Vec::new();
        table.write_letor(&mut written).unwrap();
        let again = read(&[std::str::from_utf8(&written).unwrap()]).unwrap();
        assert!((0..5).all(|row| again.is_judged(row) == marks[row]));
        assert!((0..5).all(|row| again.document(row) == names[row]));
    }

    #[test]
    fn rows_grades_features_and_documents_are_told_apart() {
        let table = read(&[
            "# head\n2 qid:a 3:1.5 1:NULL # doc9 more\n+1 qid:a 2:-2e0\n\n-1.0 qid:b #docid = X-1 inc = 1\n0 qid:b 1:null #docid=Y\n",
        ])
        .unwrap();
        assert_eq!(table.features(), ["1", "2", "3"]);
        assert_eq!(table.grades(), [2, 1, -1, 0]);
        assert!(table.row(0)[0].is_nan() && table.row(3)[0].is_nan());
        assert_eq!(table.row(0)[1..], [0.0, 1.5]);
        assert_eq!(table.row(1), [0.0, -2.0, 0.0]);
        assert_eq!(table.row(2), [0.0, 0.0, 0.0]);
        let documents: Vec<&str> = (0..4).map(|row| table.document(row)).collect();
        assert_eq!(documents, ["doc9", "", "X-1", "Y"]);
        let queries: Vec<_> = table
            .queries()
            .iter()
            .map(|query| (query.id.as_str(), query.rows.clone()))
            .collect();
        assert_eq!(queries, [("a", 0..2), ("b", 2..4)]);
    }

    #[test]
    fn several_files_make_one_table_of_the_widest() {
        let table = read(&["1 qid:1 1:1\n", "0 qid:2 5:2\n1 qid:2 2:3\n"]).unwrap();
        assert_eq!(table.feature_count(), 5);
        assert_eq!(table.row(0), [1.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(table.row(2), [0.0, 3.0, 0.0, 0.0, 0.0]);
        let error = read(&["1 qid:1 1:1\n", "0 qid:1 5:2\n"]).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("1.txt, line 1, column 3, field `qid`: query `1` began in line 1 of"),
            "{text}"
        );
        assert_eq!(read(&[]).unwrap().row_count(), 0);
    }

    #[test]
    fn malformed_lines_are_named_with_line_column_and_what_is_expected() {
        for (text, expected) in [
            (
                "x qid:1 1:1\n",
                "line 1, column 1, field `grade`: `x` is not a whole number; a line is `grade qid:query number:value ...`",
            ),
            (
                "0.5 qid:1 1:1\n",
                "a line is `grade qid:query number:value ...`",
            ),
            (
                "1 1:1\n",
                "line 1: the grade is not followed by `qid:` and the query; a line is `grade qid:query number:value ...`",
            ),
            ("1 qid: 1:1\n", "number:value ...`"),
            (
                "1 qid:1 1:1 x\n",
                "column 13, field `feature`: `x` is not of the form number:value",
            ),
            (
                "1 qid:1 0:1\n",
                "column 9, field `feature`: `0:1` needs a number from 1 to 100000",
            ),
            (
                "1 qid:1 4294967296:1\n",
                "`4294967296:1` needs a number from 1 to 100000",
            ),
            (
                "1 qid:1 1:inf\n",
                "`1:inf` needs a finite number, or NULL, as value",
            ),
            (
                "1 qid:1 1:nan\n",
                "needs a finite number, or NULL, as value",
            ),
            (
                "1 qid:1 1:1e39\n",
                "needs a finite number, or NULL, as value",
            ),
            (
                "1 qid:1 2:1 2:1\n",
                "column 13, field `feature`: `2:1` gives a feature of this line a second time",
            ),
            (
                "1 qid:1 1:1\n0 qid:2 1:1\n0 qid:1 1:1\n",
                "line 3, column 3, field `qid`: query `1` began in line 1, and other queries come between; sort the file so that the rows of a query are together",
            ),
            ("# nothing\n", "has no rows"),
        ] {
            let error = read(&[text]).unwrap_err().to_string();
            assert!(error.ends_with(expected), "{error}");
        }
    }

    #[test]
    fn a_small_file_cannot_ask_for_much_memory() {
        let mut text = String::from("0 qid:1 100000:1\n");
        for _ in 0..2000 {
            text.push_str("0 qid:1 1:1\n");
        }
        let error = read(&[&text]).unwrap_err().to_string();
        assert!(
            error.contains("number the features from 1 without gaps"),
            "{error}"
        );
        let rising: String = (1..=3000).map(|n| format!("0 qid:1 {n}:1\n")).collect();
        let table = read(&[&rising]).unwrap();
        assert_eq!((table.row_count(), table.feature_count()), (3000, 3000));
        assert_eq!(table.row(2999)[2999], 1.0);
        assert_eq!(table.values().iter().sum::<f32>(), 3000.0);
    }

    #[test]
    fn a_table_that_was_written_is_read_back_as_it_was() {
        let text = "2 qid:a 1:0.1 2:NULL 3:-1e-30 #docid = d\n0 qid:b 1:3 2:16777216 3:0\n";
        let table = read(&[text]).unwrap();
        let mut written = Vec::new();
        table.write_letor(&mut written).unwrap();
        let again = read(&[std::str::from_utf8(&written).unwrap()]).unwrap();
        assert_eq!(table.queries(), again.queries());
        assert_eq!(table.grades(), again.grades());
        let bits = |table: &RankingTable| -> Vec<u32> {
            table.values().iter().map(|value| value.to_bits()).collect()
        };
        assert_eq!(bits(&table), bits(&again));
        assert_eq!(again.document(0), "d");
    }

    #[test]
    fn a_header_names_columns_and_counts_those_without_a_value() {
        let text = "# features: 1=bm25 3=length\n1 qid:1 1:2\n0 qid:1 2:1\n";
        let table = read(&[text, "0 qid:2 3:7\n"]).unwrap();
        assert_eq!(table.features(), ["bm25", "2", "length"]);
        assert_eq!(table.row(1), [0.0, 1.0, 0.0]);
        let mut written = Vec::new();
        table.write_letor(&mut written).unwrap();
        let again = read(&[std::str::from_utf8(&written).unwrap()]).unwrap();
        assert_eq!(again.features(), table.features());
        let old = read(&["# functions: a b\n1 qid:1 1:2 2:0\n"]).unwrap();
        assert_eq!(old.features(), ["a", "b"]);
        let error = read(&[text, "# features: 3=x\n0 qid:2 3:7\n"]).unwrap_err();
        assert!(error.to_string().contains("1.txt, line 1"), "{error}");
        let late = read(&["1 qid:1 1:2\n# features: 9=z\n"]).unwrap();
        assert_eq!(late.features(), ["1"]);
    }
}
