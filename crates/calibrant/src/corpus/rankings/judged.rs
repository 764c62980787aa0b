//! What nobody judged.

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

use super::qrels::{JudgedQuery, Qrels};
use super::table::RankingTable;

/// What becomes of documents that nobody judged, in queries of which others were.
///
/// # When it misleads
/// `Zero`, the default, is what every measure of trec_eval does, and the only choice where judgements list relevant documents alone.
/// Where only a pool was judged, some of the rest is relevant as well: a probability is then that of being *judged* relevant.
/// `LeaveOut` learns from the pool alone, in which relevant documents are more frequent than in the lists that are to be ranked, so
/// that probabilities come out too high for those.
///
/// Queries without any judgement are left out either way, where judgements and lists are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unjudged {
    /// They count as not relevant.
    #[default]
    Zero,
    /// They are passed over.
    LeaveOut,
}

named! {
    Unjudged, "a way to treat unjudged documents";
    Zero = "zero", "They count as not relevant";
    LeaveOut = "leave-out", "They are passed over";
}

/// How much of a table was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgedShare {
    /// Queries without any judgement, which are left out; a table does not hold them.
    pub unjudged_queries: usize,
    /// Documents of judged queries.
    pub documents: usize,
    /// Those of them that nobody judged.
    pub unjudged_documents: usize,
}

impl JudgedShare {
    /// The share of the documents that was judged; 1 where there are none.
    pub fn share(&self) -> f64 {
        let judged = self.documents - self.unjudged_documents.min(self.documents);
        match self.documents {
            0 => 1.0,
            all => judged as f64 / all as f64,
        }
    }
}

impl JudgedQuery<'_> {
    /// Whether somebody gave any of its documents a grade. (Below 0 is none: set aside and not judged.)
    pub fn has_judgement(&self) -> bool {
        self.grades().iter().any(|&grade| grade >= 0)
    }
}

impl Qrels {
    /// Whether somebody judged a document for this query.
    pub fn is_judged(&self, query: &str) -> bool {
        self.query(query)
            .is_some_and(|judged| judged.has_judgement())
    }
}

impl RankingTable {
    /// How much of the table was judged.
    ///
    /// ```
    /// use calibrant::ranking::RankingTable;
    /// let table = RankingTable::new(vec!["f".into()], &[("q".into(), 2)], &["a", "b"], vec![1, 0], vec![3.0, 2.0])?;
    /// let share = table.with_judged(vec![true, false])?.judged_share();
    /// assert_eq!((share.documents, share.unjudged_documents), (2, 1));
    /// assert_eq!(share.share(), 0.5);
    /// # Ok::<(), calibrant::ranking::TableError>(())
    /// ```
    pub fn judged_share(&self) -> JudgedShare {
        let rows = 0..self.row_count();
        JudgedShare {
            unjudged_queries: 0,
            documents: rows.len(),
            unjudged_documents: rows.filter(|&row| !self.is_judged(row)).count(),
        }
    }

    /// The rows that are learned from and measured, query by query. A query of which nothing is left is left out.
    pub(super) fn judged_rows(&self, unjudged: Unjudged) -> Vec<(usize, Vec<usize>)> {
        let queries = self.queries().iter().enumerate();
        let rows = queries.filter_map(|(number, query)| {
            let kept = |row: &usize| unjudged == Unjudged::Zero || self.is_judged(*row);
            let rows: Vec<usize> = query.rows.clone().filter(kept).collect();
            (!rows.is_empty() || query.rows.is_empty()).then_some((number, rows))
        });
        rows.collect()
    }

    /// The table without unjudged documents where they are to be left out; and which rows it holds.
    pub fn judged(&self, unjudged: Unjudged) -> (Self, Vec<usize>) {
        let kept = self.judged_rows(unjudged);
        let rows = kept.iter().flat_map(|(_, rows)| rows).copied().collect();
        let table = self.with_rows(
            kept.into_iter()
                .map(|(query, rows)| (query, rows.into_iter())),
        );
        (table, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unjudged_documents_stay_or_go_as_asked() {
        let queries = [("p".into(), 2), ("q".into(), 2), ("r".into(), 1)];
        let names = ["a", "b", "c", "d", "e"];
        let values = vec![1.0, 2.0, 3.0, 4.0, 5.0];
        let table = RankingTable::new(
            vec!["f".into()],
            &queries,
            &names,
            vec![1, 0, 0, 0, 2],
            values,
        );
        let table = table.unwrap();
        assert_eq!(table.judged(Unjudged::LeaveOut).1, [0, 1, 2, 3, 4]);
        let table = table
            .with_judged(vec![true, false, false, false, true])
            .unwrap();
        let (zero, rows) = table.judged(Unjudged::Zero);
        assert_eq!((zero.query_count(), rows), (3, vec![0, 1, 2, 3, 4]));
        assert!(!zero.is_judged(1));
        let (left, rows) = table.judged(Unjudged::LeaveOut);
        assert_eq!((left.grades(), rows), (&[1, 2][..], vec![0, 4]));
        assert_eq!((left.query_count(), left.judged_share().share()), (2, 1.0));
        assert!(table.with_judged(vec![true]).is_err());
        for name in ["zero", "leave-out"] {
            assert_eq!(name.parse::<Unjudged>().unwrap().to_string(), name);
        }
        assert!("no".parse::<Unjudged>().is_err());
    }
}
