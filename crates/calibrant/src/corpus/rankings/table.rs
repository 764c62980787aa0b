//! Rows of numbers for pairs of a query and a document.

use std::ops::Range;

use super::text_list::TextList;

/// Documents grouped by query, with a row of numbers each: one column per feature.
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
    features: Vec<String>,
    queries: Vec<QueryRows>,
    documents: TextList,
    grades: Vec<i32>,
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
    #[error("query `{id}` occurs twice in the table; the rows of a query must be together")]
    DuplicateQuery {
        /// The query.
        id: String,
    },
    /// Two columns have the same name.
    #[error("two columns are named `{name}`")]
    DuplicateFeature {
        /// The name.
        name: String,
    },
    /// A value is infinite.
    #[error(
        "row {row}, column `{feature}`: {value} is not a finite number (NaN marks a missing one)"
    )]
    NotFinite {
        /// The row, from 0.
        row: usize,
        /// The column.
        feature: String,
        /// The value, as text.
        value: String,
    },
}

impl RankingTable {
    /// A table of its parts: names of columns; queries with the number of rows of each; for every row a document's name (empty where
    /// there is none) and a grade; values row by row, NaN where one is missing.
    pub fn new(
        features: Vec<String>,
        queries: &[(String, usize)],
        documents: &[impl AsRef<str>],
        grades: Vec<i32>,
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
            features,
            queries: grouped,
            documents: list,
            grades,
            values,
            judged: Vec::new(),
        };
        table.check(start)?;
        Ok(table)
    }

    /// For readers, which have checked what they read.
    pub(super) fn from_checked(
        features: Vec<String>,
        queries: Vec<QueryRows>,
        documents: TextList,
        grades: Vec<i32>,
        values: Vec<f32>,
        judged: Vec<bool>,
    ) -> Self {
        Self {
            features,
            queries,
            documents,
            grades,
            values,
            judged,
        }
    }

    /// The same table with a mark for every row whether somebody judged its document. The grade of one that nobody judged says nothing.
    pub fn with_judged(mut self, judged: Vec<bool>) -> Result<Self, TableError> {
        if judged.len() != self.grades.len() {
            return Err(TableError::Shape {
                what: "marks of judgement",
                found: judged.len(),
                expected: self.grades.len(),
            });
        }
        let all = judged.iter().all(|&is| is);
        self.judged = if all { Vec::new() } else { judged };
        Ok(self)
    }

    fn check(&self, rows_of_queries: usize) -> Result<(), TableError> {
        let rows = self.grades.len();
        let columns = self.features.len();
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
        let mut names: Vec<&str> = self.features.iter().map(String::as_str).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(TableError::DuplicateFeature {
                name: pair[0].to_owned(),
            });
        }
        match self.values.iter().position(|value| value.is_infinite()) {
            None => Ok(()),
            Some(at) => Err(TableError::NotFinite {
                row: at / columns,
                feature: self.features[at % columns].clone(),
                value: self.values[at].to_string(),
            }),
        }
    }

    /// The names of the columns, the features; `1`, `2`, … where the file that was read names none.
    pub fn features(&self) -> &[String] {
        &self.features
    }

    /// Whether columns are called by their numbers, `1`, `2`, …: as in a file that names none.
    pub fn is_numbered(&self) -> bool {
        (1..)
            .zip(&self.features)
            .all(|(number, name)| *name == number.to_string())
    }

    /// The same table with the columns found by number, where either it or `names` has numbers alone; otherwise as it is.
    ///
    /// A LETOR file need not name its columns: then only their numbers can tell which is which.
    ///
    /// ```
    /// # use calibrant::ranking::RankingTable;
    /// let table = RankingTable::new(vec!["1".into(), "2".into()], &[("q".into(), 1)], &["a"], vec![1], vec![0.5, 7.0])?;
    /// let named = table.matched_by_number(&["bm25".into()]);
    /// assert_eq!(named.features(), ["bm25", "2"]);
    /// assert_eq!(named.matched_by_number(&["1".into(), "2".into()]).features(), ["1", "2"]);
    /// # Ok::<(), calibrant::ranking::TableError>(())
    /// ```
    pub fn matched_by_number(mut self, names: &[String]) -> Self {
        let are_numbers = (1..)
            .zip(names)
            .all(|(number, name)| *name == number.to_string());
        if are_numbers {
            self.features = (1..=self.features.len()).map(|n| n.to_string()).collect();
        } else if self.is_numbered() {
            let named = names.iter().take(self.features.len());
            self.features.splice(..named.len(), named.cloned());
        }
        self
    }

    /// The number of columns.
    pub fn feature_count(&self) -> usize {
        self.features.len()
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
        self.grades.len()
    }

    /// The values of a row, NaN where one is missing.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &[f32] {
        let columns = self.features.len();
        &self.values[row * columns..(row + 1) * columns]
    }

    /// All values, row by row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The grades of all rows: 0 and below are not relevant.
    pub fn grades(&self) -> &[i32] {
        &self.grades
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
            features: self.features.clone(),
            queries: Vec::new(),
            documents: TextList::default(),
            grades: Vec::new(),
            values: Vec::new(),
            judged: Vec::new(),
        };
        for (query, rows) in queries {
            let start = selected.grades.len();
            for row in rows {
                selected.grades.push(self.grades[row]);
                selected.values.extend(self.row(row));
                selected.documents.push(self.documents.get(row));
                if !self.judged.is_empty() {
                    selected.judged.push(self.judged[row]);
                }
            }
            selected.queries.push(QueryRows {
                id: self.queries[query].id.clone(),
                rows: start..selected.grades.len(),
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
        assert_eq!((made.missing_count(), made.feature_count()), (1, 2));
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
        assert_eq!(turned.grades(), [1, 0]);
        assert_eq!(turned.values(), [3.0, 4.0, 1.0, 2.0]);
        assert_eq!(
            (turned.document(0), turned.queries()[1].id.as_str()),
            ("y", "q")
        );
    }
}
