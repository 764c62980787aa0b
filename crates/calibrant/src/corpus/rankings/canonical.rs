//! One order for tables with the same rows.

use std::cmp::Ordering;

use super::judged::Unjudged;
use super::table::RankingTable;

/// A table in an order that depends on its content alone: whatever is learned from it, and how sums are rounded, does not depend on the
/// order of the file.
///
/// Queries stand in the order of their names. Documents of a query stand as trec_eval puts equal scores, the larger name first; those of one name (or
/// none) by their values, and of equal values the lower grade first, so that no order within the file makes a ranking look better than it is.
#[derive(Debug, Clone)]
pub(crate) struct CanonicalTable {
    pub(crate) table: RankingTable,
    /// The row of the source that each row was.
    pub(crate) rows: Vec<usize>,
    /// The query of the source that each query was.
    pub(crate) queries: Vec<usize>,
}

impl CanonicalTable {
    /// With or without unjudged documents.
    pub(crate) fn new(source: &RankingTable, unjudged: Unjudged) -> Self {
        let mut kept = source.judged_rows(unjudged);
        kept.sort_by(|a, b| {
            let id = |query: usize| source.queries()[query].id.as_str();
            id(a.0).cmp(id(b.0))
        });
        for (_, rows) in &mut kept {
            rows.sort_by(|&a, &b| order(source, a, b));
        }
        let queries = kept.iter().map(|(query, _)| *query).collect();
        let rows = kept.iter().flat_map(|(_, rows)| rows).copied().collect();
        let kept = kept.into_iter();
        Self {
            table: source.with_rows(kept.map(|(query, rows)| (query, rows.into_iter()))),
            rows,
            queries,
        }
    }
}

fn order(table: &RankingTable, a: usize, b: usize) -> Ordering {
    let values = || {
        let pairs = table.row(a).iter().zip(table.row(b));
        pairs
            .map(|(a, b)| a.total_cmp(b))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    };
    let grades = table.grades();
    table
        .document(b)
        .cmp(table.document(a))
        .then_with(values)
        .then_with(|| grades[a].cmp(&grades[b]))
        .then_with(|| table.is_judged(a).cmp(&table.is_judged(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;
    use proptest::prelude::*;

    /// The same rows, queries and the documents within them in another order.
    fn shuffled(table: &RankingTable, seed: u64) -> RankingTable {
        let mut random = Random::from_seed(seed);
        let mut queries: Vec<usize> = (0..table.query_count()).collect();
        random.shuffle(&mut queries);
        let rows: Vec<(usize, Vec<usize>)> = queries
            .into_iter()
            .map(|query| {
                let mut rows: Vec<usize> = table.queries()[query].rows.clone().collect();
                random.shuffle(&mut rows);
                (query, rows)
            })
            .collect();
        table.with_rows(
            rows.into_iter()
                .map(|(query, rows)| (query, rows.into_iter())),
        )
    }

    proptest! {
        #[test]
        fn the_order_of_the_source_does_not_matter(
            rows in prop::collection::vec((0usize..3, prop::sample::select(vec!["", "a", "b"]), 0i32..3, -1i8..2, any::<bool>()), 1..30),
            seed in any::<u64>(),
        ) {
            let mut rows = rows;
            rows.sort_by_key(|row| row.0);
            let queries: Vec<(String, usize)> = rows
                .chunk_by(|a, b| a.0 == b.0)
                .map(|own| (format!("q{}", own[0].0), own.len()))
                .collect();
            let names: Vec<&str> = rows.iter().map(|row| row.1).collect();
            let grades = rows.iter().map(|row| row.2).collect();
            let values = rows.iter().map(|row| f32::from(row.3)).collect();
            let table = RankingTable::new(vec!["f".into()], &queries, &names, grades, values).unwrap();
            let table = table.with_judged(rows.iter().map(|row| row.4).collect()).unwrap();
            for unjudged in [Unjudged::Zero, Unjudged::LeaveOut] {
                let other = shuffled(&table, seed);
                let (found, again) = (CanonicalTable::new(&table, unjudged), CanonicalTable::new(&other, unjudged));
                let text = |table: &RankingTable| {
                    let mut text = Vec::new();
                    table.write_letor(&mut text).unwrap();
                    text
                };
                prop_assert_eq!(text(&found.table), text(&again.table));
                for (row, &from) in again.rows.iter().enumerate() {
                    prop_assert_eq!(again.table.row(row), other.row(from));
                    prop_assert_eq!(again.table.document(row), other.document(from));
                }
            }
        }
    }
}
