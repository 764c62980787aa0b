//! Rows of numbers for pairs of a query and a document.

use std::ops::Range;

use super::text_list::TextList;

/// Documents grouped by query, with a row of numbers each: one column for every retrieval function or feature.
///
/// Read with [`RankingTable::read`]. A value may be missing, which is written as NaN.
///
/// ```
/// use calibrant::ranking::RankingTable;
/// let table = RankingTable::new(
///     vec!["bm25".into(), "length".into()],
///     &[("q1".into(), 2), ("q2".into(), 1)], // rows of each query
///     &["a", "b", "c"],
///     vec![1, 0, 2],
///     vec![0.5, 10.0, 0.25, 20.0, f32::NAN, 5.0],
/// )?;
/// assert_eq!(table.row(1), [0.25, 20.0]);
/// assert_eq!(table.queries()[1].rows, 2..3);
/// assert_eq!(table.document(2), "c");
/// # Ok::<(), calibrant::ranking::TableError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RankingTable {
    functions: Vec<String>,
    queries: Vec<QueryRows>,
    documents: TextList,
    labels: Vec<i32>,
    values: Vec<f32>,
    /// Whether somebody judged the row's document; empty where all were.
    judged: Vec<bool>,
}

/// A query and its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryRows {
    /// The query's name.
    pub id: String,
    /// Its rows in the table.
    pub rows: Range<usize>,
}

/// Why parts make no table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// Two parts speak of different numbers of rows or columns.
    #[error("there are {found} {what}, and {expected} are needed")]
    Shape {
        /// What was counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A query stands in the table twice.
    #[error("query `{id}` stands in the table twice; the rows of a query belong together")]
    DuplicateQuery {
        /// The query.
        id: String,
    },
    /// Two columns have the same name.
    #[error("two columns are named `{name}`")]
    DuplicateFunction {
        /// The name.
        name: String,
    },
    /// A value is infinite.
    #[error(
        "row {row}, column `{function}`: {value} is not a finite number (NaN stands for a missing one)"
    )]
    NotFinite {
        /// The row, from 0.
        row: usize,
        /// The column.
        function: String,
        /// The value, as text.
        value: String,
    },
}

impl RankingTable {
    /// A table of its parts: names of columns; queries with the number of rows of each; for every row a document's name (empty where
    /// there is none) and a grade; values row by row, NaN where one is missing.
    pub fn new(
        functions: Vec<String>,
        queries: &[(String, usize)],
        documents: &[impl AsRef<str>],
        labels: Vec<i32>,
        values: Vec<f32>,
    ) -> Result<Self, TableError> {
        let mut list = TextList::default();
        for document in documents {
            list.push(document.as_ref());
        }
        let mut start = 0usize;
        let mut grouped = Vec::with_capacity(queries.len());
        for (id, count) in queries {
            let end = start.saturating_add(*count);
            grouped.push(QueryRows {
                id: id.clone(),
                rows: start..end,
            });
            start = end;
        }
        let table = Self {
            functions,
            queries: grouped,
            documents: list,
            labels,
            values,
            judged: Vec::new(),
        };
        table.check(start)?;
        Ok(table)
    }

    /// For readers, which have checked what they read.
    pub(super) fn from_checked(
        functions: Vec<String>,
        queries: Vec<QueryRows>,
        documents: TextList,
        labels: Vec<i32>,
        values: Vec<f32>,
        judged: Vec<bool>,
    ) -> Self {
        Self {
            functions,
            queries,
            documents,
            labels,
            values,
            judged,
        }
    }

    /// The same table with a mark for every row whether somebody judged its document. The grade of one that nobody judged says nothing.
    pub fn with_judged(mut self, judged: Vec<bool>) -> Result<Self, TableError> {
        if judged.len() != self.labels.len() {
            return Err(TableError::Shape {
                what: "marks of judgement",
                found: judged.len(),
                expected: self.labels.len(),
            });
        }
        let all = judged.iter().all(|&is| is);
        self.judged = if all { Vec::new() } else { judged };
        Ok(self)
    }

    fn check(&self, rows_of_queries: usize) -> Result<(), TableError> {
        let rows = self.labels.len();
        let columns = self.functions.len();
        let shape = |what, found, expected| match found == expected {
            true => Ok(()),
            false => Err(TableError::Shape {
                what,
                found,
                expected,
            }),
        };
        shape("rows of queries", rows_of_queries, rows)?;
        shape("names of documents", self.documents.len(), rows)?;
        shape("values", self.values.len(), rows.saturating_mul(columns))?;
        let mut ids: Vec<&str> = self.queries.iter().map(|query| query.id.as_str()).collect();
        ids.sort_unstable();
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(TableError::DuplicateQuery {
                id: pair[0].to_owned(),
            });
        }
        let mut names: Vec<&str> = self.functions.iter().map(String::as_str).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(TableError::DuplicateFunction {
                name: pair[0].to_owned(),
            });
        }
        match self.values.iter().position(|value| value.is_infinite()) {
            None => Ok(()),
            Some(at) => Err(TableError::NotFinite {
                row: at / columns,
                function: self.functions[at % columns].clone(),
                value: self.values[at].to_string(),
            }),
        }
    }

    /// The names of the columns: `1`, `2`, … in a table that was read.
    pub fn functions(&self) -> &[String] {
        &self.functions
    }

    /// The number of columns.
    pub fn function_count(&self) -> usize {
        self.functions.len()
    }

    /// The queries with their rows, in the order of the file.
    pub fn queries(&self) -> &[QueryRows] {
        &self.queries
    }

    /// The number of queries.
    pub fn query_count(&self) -> usize {
        self.queries.len()
    }

    /// The number of rows, all queries together.
    pub fn row_count(&self) -> usize {
        self.labels.len()
    }

    /// The values of a row, NaN where one is missing.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &[f32] {
        let columns = self.functions.len();
        &self.values[row * columns..(row + 1) * columns]
    }

    /// All values, row by row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The grades of all rows: 0 and below are not relevant.
    pub fn labels(&self) -> &[i32] {
        &self.labels
    }

    /// Whether somebody judged a row's document; true unless the table says otherwise.
    pub fn is_judged(&self, row: usize) -> bool {
        self.judged.get(row).copied().unwrap_or(true)
    }

    /// The name of a row's document; empty where the file gives none.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn document(&self, row: usize) -> &str {
        self.documents.get(row)
    }

    /// The number of values that are missing.
    pub fn missing_count(&self) -> usize {
        self.values.iter().filter(|value| value.is_nan()).count()
    }

    /// The table of these queries, by their number in [`RankingTable::queries`], in this order. A number that does not
    /// exist is passed over.
    ///
    /// ```
    /// # use calibrant::ranking::RankingTable;
    /// # let queries = [("q1".into(), 2), ("q2".into(), 1)];
    /// # let table = RankingTable::new(vec!["1".into()], &queries, &["a", "b", "c"], vec![1, 0, 2], vec![0.5, 0.25, 5.0])?;
    /// let second = table.select(&[1]);
    /// assert_eq!((second.query_count(), second.row(0)), (1, &[5.0][..]));
    /// # Ok::<(), calibrant::ranking::TableError>(())
    /// ```
    pub fn select(&self, queries: &[usize]) -> Self {
        let known = queries
            .iter()
            .filter(|&&number| number < self.queries.len());
        let rows = known.map(|&number| (number, self.queries[number].rows.clone()));
        self.with_rows(rows)
    }

    /// These rows of these queries, in this order.
    pub(super) fn with_rows<R>(&self, queries: impl Iterator<Item = (usize, R)>) -> Self
    where
        R: Iterator<Item = usize>,
    {
        let mut selected = Self {
            functions: self.functions.clone(),
            queries: Vec::new(),
            documents: TextList::default(),
            labels: Vec::new(),
            values: Vec::new(),
            judged: Vec::new(),
        };
        for (query, rows) in queries {
            let start = selected.labels.len();
            for row in rows {
                selected.labels.push(self.labels[row]);
                selected.values.extend(self.row(row));
                selected.documents.push(self.documents.get(row));
                if !self.judged.is_empty() {
                    selected.judged.push(self.judged[row]);
                }
            }
            selected.queries.push(QueryRows {
                id: self.queries[query].id.clone(),
                rows: start..selected.labels.len(),
            });
        }
        selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(
        queries: &[(&str, usize)],
        documents: &[&str],
        values: Vec<f32>,
    ) -> Result<RankingTable, TableError> {
        let queries: Vec<(String, usize)> = queries
            .iter()
            .map(|&(id, rows)| (id.to_owned(), rows))
            .collect();
        let names = vec!["a".to_owned(), "b".to_owned()];
        RankingTable::new(names, &queries, documents, vec![0, 1], values)
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let good = vec![1.0, 2.0, 3.0, f32::NAN];
        let made = table(&[("q", 2)], &["", ""], good.clone()).unwrap();
        assert_eq!((made.missing_count(), made.function_count()), (1, 2));
        for (queries, documents, values) in [
            (&[("q", 3)][..], &["", ""][..], good.clone()),
            (&[("q", usize::MAX), ("r", 3)], &["", ""], good.clone()),
            (&[("q", 2)], &[""], good.clone()),
            (&[("q", 2)], &["", ""], vec![1.0]),
            (&[("q", 1), ("q", 1)], &["", ""], good.clone()),
            (&[("q", 2)], &["", ""], vec![1.0, f32::INFINITY, 1.0, 1.0]),
        ] {
            assert!(table(queries, documents, values).is_err());
        }
    }

    #[test]
    fn queries_are_selected_in_the_order_asked_for() {
        let made = table(&[("q", 1), ("r", 1)], &["x", "y"], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let turned = made.select(&[1, 7, 0]);
        assert_eq!(turned.labels(), [1, 0]);
        assert_eq!(turned.values(), [3.0, 4.0, 1.0, 2.0]);
        assert_eq!(
            (turned.document(0), turned.queries()[1].id.as_str()),
            ("y", "q")
        );
    }
}
