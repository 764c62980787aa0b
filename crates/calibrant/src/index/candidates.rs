//! Candidates of a query and what every base function says of them: the table a ranking is learned from.

use tantivy::DocId;

use super::error::IndexError;
use super::matches::for_each_of;
use super::query_terms::QueryTerms;
use super::search::SearchIndex;
use crate::corpus::{Qrels, Query, RankingTable, TableError};
use crate::parallel;
use crate::ranking::functions::{Analysis, BaseFunction};

/// The rows of one query.
struct CandidateRows {
    documents: Vec<String>,
    grades: Vec<i32>,
    judged: Vec<bool>,
    values: Vec<f32>,
}

/// The candidates of one query, with a row of values each.
pub(super) struct CandidateValues {
    pub(super) documents: Vec<DocId>,
    pub(super) values: Vec<f32>,
}

impl SearchIndex {
    /// For each query the documents that some function has among its best `top`, with the value of every function.
    ///
    /// A document that only one function found has the exact values of all the others, too, even if it has no term
    /// of the query under their analysis. Grades come from `qrels`. Documents that nobody judged, or that have a grade below 0, have grade 0 and
    /// are marked (see [`RankingTable::is_judged`]); queries without any judgement are left out. Judged
    /// documents that no function found are not in the table. The rows of a query stand in the order of the documents'
    /// identifiers as bytes. A query that finds nothing has no rows and is left out.
    ///
    /// # When it misleads
    /// What is not found cannot be ranked: recall ends here. Unjudged is not the same as not relevant.
    ///
    /// # Reference
    /// Yue, Finley, Radlinski and Joachims, SIGIR 2007, section 5.1: the union of the top 1000 of each base function.
    ///
    /// ```
    /// use calibrant::index::{IndexBuilder, IndexDocument, IndexSettings, Query, SearchIndex};
    /// use calibrant::ranking::functions::BaseFunction;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("fruit");
    /// let mut builder = IndexBuilder::create(&path, IndexSettings::default())?;
    /// for (id, text) in [("a", "green apples"), ("b", "apple"), ("c", "plums")] {
    ///     let (id, text) = (id.to_owned(), text.to_owned());
    ///     builder.add("fruit", IndexDocument { id, text, ..IndexDocument::default() })?;
    /// }
    /// builder.finish()?;
    /// let index = SearchIndex::open(&path)?;
    /// let query = Query { id: "q".into(), text: "apple".into() };
    /// let functions: [BaseFunction; 2] = ["tf-idf.plain".parse()?, "tf-idf.stems".parse()?];
    /// let table = index.candidates(&[query], &functions, 1000, None)?;
    /// // By hand: only `b` has the word, both have the stem; ln 3 and ln(3/2).
    /// assert_eq!(table.row(0), [0.0, 1.5f64.ln() as f32]);
    /// assert_eq!(table.row(1), [3f64.ln() as f32, 1.5f64.ln() as f32]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn candidates(
        &self,
        queries: &[Query],
        functions: &[BaseFunction],
        top: usize,
        qrels: Option<&Qrels>,
    ) -> Result<RankingTable, IndexError> {
        let is_judged = |query: &&Query| qrels.is_none_or(|qrels| qrels.is_judged(&query.id));
        let queries: Vec<&Query> = queries.iter().filter(is_judged).collect();
        let rows: Vec<CandidateRows> = parallel::try_map(&queries, |query| {
            self.candidates_of(query, functions, top, qrels)
        })?;
        let mut counts = Vec::new();
        let (mut documents, mut grades, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let mut marks = Vec::new();
        for (query, rows) in queries.iter().zip(rows) {
            if rows.documents.is_empty() {
                continue;
            }
            counts.push((query.id.clone(), rows.documents.len()));
            documents.extend(rows.documents);
            grades.extend(rows.grades);
            marks.extend(rows.judged);
            values.extend(rows.values);
        }
        let names = functions.iter().map(ToString::to_string).collect();
        let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
        RankingTable::new(names, &counts, &documents, grades, values)
            .and_then(|table| table.with_judged(marks))
            .map_err(|error: TableError| IndexError::engine("make a table")(error))
    }

    fn candidates_of(
        &self,
        query: &Query,
        functions: &[BaseFunction],
        top: usize,
        qrels: Option<&Qrels>,
    ) -> Result<CandidateRows, IndexError> {
        let found = self.candidate_values(&query.text, functions, top)?;
        let judged = qrels.and_then(|qrels| qrels.query(&query.id));
        let mut rows = CandidateRows {
            documents: Vec::with_capacity(found.documents.len()),
            grades: Vec::with_capacity(found.documents.len()),
            judged: Vec::with_capacity(found.documents.len()),
            values: found.values,
        };
        for document in found.documents {
            let id = self.id(document);
            let grade = judged.and_then(|judged| judged.grade(id));
            let grade = grade.filter(|&grade| grade >= 0);
            rows.grades.push(grade.unwrap_or(0));
            rows.judged.push(qrels.is_none() || grade.is_some());
            rows.documents.push(id.to_owned());
        }
        Ok(rows)
    }

    /// The documents that some function has among its best `top`, in the order of their identifiers, and what every function says of them.
    pub(super) fn candidate_values(
        &self,
        text: &str,
        functions: &[BaseFunction],
        top: usize,
    ) -> Result<CandidateValues, IndexError> {
        let best = self.best(text, functions, top)?;
        let mut documents: Vec<DocId> = best
            .into_iter()
            .flatten()
            .map(|scored| scored.document)
            .collect();
        documents.sort_unstable();
        documents.dedup();
        let width = functions.len();
        let mut values = vec![0f32; documents.len() * width];
        for analysis in Analysis::ALL {
            let index = self.analysis(analysis);
            let terms = QueryTerms::new(text, index)?;
            let prepared: Vec<_> = functions
                .iter()
                .enumerate()
                .filter(|(_, function)| function.analysis == analysis)
                .map(|(column, function)| {
                    let prepared = function.function.prepare(&index.collection, &terms.terms);
                    (column, prepared)
                })
                .collect();
            if prepared.is_empty() {
                continue;
            }
            let mut row = 0;
            for_each_of(index, &terms, &documents, |document, counts| {
                let statistics = index.document(document);
                for (column, prepared) in &prepared {
                    let score = prepared.score(&statistics, counts);
                    values[row * width + column] = score as f32;
                }
                row += 1;
            })?;
        }
        let mut order: Vec<usize> = (0..documents.len()).collect();
        order.sort_unstable_by_key(|&row| self.id_rank(documents[row]));
        let in_order = order
            .iter()
            .flat_map(|&row| &values[row * width..(row + 1) * width]);
        Ok(CandidateValues {
            values: in_order.copied().collect(),
            documents: order.into_iter().map(|row| documents[row]).collect(),
        })
    }
}
