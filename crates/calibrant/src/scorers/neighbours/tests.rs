//! Searches beside plain ones.

use proptest::prelude::*;

use super::*;
use crate::features::SparseMatrix;

/// Cosines worked out without the index, largest first, those above 0.
fn by_hand(rows: &SparseMatrix, query: &SparseMatrix) -> Vec<(f64, u32)> {
    let query = query.row(0);
    let dense = |row: crate::features::RowView<'_>| {
        let mut values = vec![0.0; rows.column_count()];
        row.entries().for_each(|(column, value)| values[column] = value);
        values
    };
    let q = dense(query);
    let mut found: Vec<(f64, u32)> = rows
        .rows()
        .enumerate()
        .map(|(number, row)| {
            let d = dense(row);
            let dot: f64 = q.iter().zip(&d).map(|(a, b)| a * b).sum();
            let norms = (query.squared_norm() * row.squared_norm()).sqrt();
            (if norms > 0.0 { dot / norms } else { 0.0 }, number as u32)
        })
        .filter(|&(cosine, _)| cosine > 1e-6)
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found
}

/// Rows with few distinct values, so that ties are common, and columns of very unequal frequency.
fn matrix(rows: std::ops::Range<usize>, values: Vec<f32>) -> impl Strategy<Value = SparseMatrix> {
    let columns = 24usize;
    let entry = (0..columns * columns, proptest::sample::select(values))
        .prop_map(move |(draw, value)| ((draw / columns * (draw % columns) / columns) as u32, value));
    let row = proptest::collection::btree_map(0u32..1, 0f32..1.0, 0..1)
        .prop_flat_map(move |_| proptest::collection::vec(entry.clone(), 0..12))
        .prop_map(|mut entries| {
            entries.sort_by_key(|&(column, _)| column);
            entries.dedup_by_key(|&mut (column, _)| column);
            entries
        });
    proptest::collection::vec(row, rows)
        .prop_map(move |rows| SparseMatrix::from_rows(columns, rows))
}

fn check(rows: &SparseMatrix, query: &SparseMatrix, k: usize) -> Result<(), TestCaseError> {
    let members: Vec<u32> = (0..rows.row_count() as u32).collect();
    let index = NeighbourIndex::build(rows, &members).unwrap();
    let mut room = SearchRoom::default();
    let scanned = index.scan(query.row(0), k, &mut room).to_vec();
    let found = index.search(query.row(0), k, &mut room);
    prop_assert_eq!(found, &scanned[..]);
    let everything = Approximate {
        share: 1.0,
        candidates: rows.row_count().max(1),
    };
    let found = index.search_approximately(query.row(0), k, everything, &mut room);
    prop_assert_eq!(found, &scanned[..]);

    let expected = by_hand(rows, query);
    let sure = expected.len().min(k);
    prop_assert!(scanned.len() >= sure);
    for (ours, theirs) in scanned.iter().zip(&expected) {
        prop_assert!((ours.similarity - theirs.0).abs() < 1e-5);
    }
    for pair in scanned.windows(2) {
        let tie = pair[0].similarity == pair[1].similarity;
        prop_assert!(pair[0].similarity > pair[1].similarity || tie && pair[0].row < pair[1].row);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_search_finds_what_a_scan_finds(
        rows in matrix(0..120, vec![1.0, 2.0]),
        query in matrix(1..2, vec![1.0, 3.0]),
        k in 1usize..20,
    ) {
        check(&rows, &query, k)?;
    }

    #[test]
    fn values_of_any_sign_are_searched_exactly(
        rows in matrix(0..120, vec![-2.0, -1.0, 0.5, 3.0]),
        query in matrix(1..2, vec![-1.0, 1.0, 2.0]),
        k in 1usize..20,
    ) {
        check(&rows, &query, k)?;
    }
}

#[test]
fn equal_rows_come_in_the_order_of_their_numbers() {
    let rows = SparseMatrix::from_rows(3, vec![vec![(0, 1.0), (1, 1.0)]; 40]);
    let members: Vec<u32> = (0..40).collect();
    let index = NeighbourIndex::build(&rows, &members).unwrap();
    let mut room = SearchRoom::default();
    let found = index.search(rows.row(7), 5, &mut room);
    let numbers: Vec<u32> = found.iter().map(|neighbour| neighbour.row).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
}

#[test]
fn a_query_that_shares_nothing_has_no_neighbours() {
    let rows = SparseMatrix::from_rows(3, [vec![(0, 1.0)], vec![(1, 1.0)]]);
    let index = NeighbourIndex::build(&rows, &[0, 1]).unwrap();
    let mut room = SearchRoom::default();
    let queries = SparseMatrix::from_rows(9, [vec![(2, 1.0)], vec![], vec![(8, 1.0)], vec![(0, -1.0)]]);
    for query in queries.rows() {
        assert!(index.search(query, 2, &mut room).is_empty());
    }
    assert_eq!(index.search(rows.row(1), 2, &mut room).len(), 1);
}
