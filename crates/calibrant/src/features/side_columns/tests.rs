use super::*;
use crate::features::RowCells;

fn names(numeric: &[&str], categorical: &[&str]) -> SideColumns {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    SideColumns {
        numeric: owned(numeric),
        categorical: owned(categorical),
        rules: Vec::new(),
    }
}

fn table(rows: &[(Option<f64>, Option<&str>)]) -> SideTable {
    let mut table = SideTable::default();
    for (number, category) in rows {
        table.push(RowCells {
            numbers: &[*number],
            categories: &[category.map(str::to_owned)],
            strengths: &[],
        });
    }
    table
}

fn entries(fitted: &FittedSideColumns, cells: &impl Cells) -> Vec<(u32, f32)> {
    let mut entries = Vec::new();
    fitted.for_each_entry(cells, |column, value| entries.push((column, value)));
    entries
}

const ROWS: [(Option<f64>, Option<&str>); 5] = [
    (Some(2.0), Some("red")),
    (Some(4.0), Some("blue")),
    (Some(6.0), Some("red")),
    (None, None),
    (Some(8.0), Some("green")),
];

#[test] // By hand: mean (2 + 4 + 6 + 8) / 4 = 5, variance (9 + 1 + 1 + 9) / 4 = 5.
fn columns_are_standardised_as_worked_by_hand() {
    let table = table(&ROWS);
    let fitted = FittedSideColumns::fit(&names(&["size"], &["colour"]), &table, false);
    let expected = [
        "size",
        "size is missing",
        "colour=blue",
        "colour=green",
        "colour=red",
        "colour is missing",
    ];
    assert_eq!(fitted.column_names(), expected);
    assert_eq!(fitted.column_count(), 6);
    let sd = 5f64.sqrt();
    let z = |x: f64| ((x - 5.0) / sd) as f32;
    assert_eq!(entries(&fitted, &table.row(0)), [(0, z(2.0)), (4, 1.0)]);
    assert_eq!(entries(&fitted, &table.row(4)), [(0, z(8.0)), (3, 1.0)]);
    assert_eq!(entries(&fitted, &table.row(3)), [(1, 1.0), (5, 1.0)]);
    assert!(fitted.is_sound());
}

#[test]
fn values_the_training_documents_lack_give_nothing() {
    let fitted = FittedSideColumns::fit(&names(&["size"], &["colour"]), &table(&ROWS[..3]), false);
    assert_eq!(fitted.column_count(), 3);
    let cells = RowCells {
        numbers: &[None],
        categories: &[Some("mauve".to_owned())],
        strengths: &[],
    };
    assert_eq!(entries(&fitted, &cells), []);
    assert_eq!(entries(&fitted, &RowCells::default()), []);
}

#[test]
fn what_never_varies_gets_no_column() {
    let mut table = SideTable::default();
    for number in 0..4 {
        let missing = (number == 3).then_some(0.1);
        table.push(RowCells {
            numbers: &[Some(0.1), missing, None],
            ..RowCells::default()
        });
    }
    let fitted = FittedSideColumns::fit(&names(&["a", "b", "c"], &[]), &table, false);
    assert_eq!(fitted.column_names(), ["b is missing", "c is missing"]);
}

#[test] // Two fields: √2. A rule counts as a word would.
fn beside_unit_length_text_the_side_has_about_unit_length_too() {
    let mut table = table(&ROWS);
    table.push(RowCells {
        strengths: &[2.0],
        ..RowCells::default()
    });
    let names = SideColumns {
        rules: vec!["wheat".into()],
        ..names(&["size"], &["colour"])
    };
    let fitted = FittedSideColumns::fit(&names, &table, true);
    let factor = 1.0 / 2f64.sqrt();
    assert_eq!(
        entries(&fitted, &table.row(5)),
        [(1, factor as f32), (5, factor as f32), (6, 0.2)]
    );
    assert_eq!(fitted.column_names()[6], "rule for wheat");
}

#[test]
fn a_fold_is_seen_as_a_model_without_it_would_see_it() {
    let table = table(&ROWS);
    let whole = FittedSideColumns::fit(&names(&["size"], &["colour"]), &table, false);
    let without = whole.relearned(&table, |row| row < 3);
    assert_eq!(without.column_names(), whole.column_names());
    // By hand: mean 4, variance 8/3.
    let z = |x: f64| ((x - 4.0) / (8.0f64 / 3.0).sqrt()) as f32;
    assert_eq!(entries(&without, &table.row(0)), [(0, z(2.0)), (4, 1.0)]);
    assert_eq!(entries(&without, &table.row(1)), [(2, 1.0)]);
    // Nobody else was green, and nobody else's cells were missing.
    assert_eq!(entries(&without, &table.row(4)), [(0, z(8.0))]);
    assert_eq!(entries(&without, &table.row(3)), []);
    let alone = whole.relearned(&table, |row| row == 0);
    assert_eq!(entries(&alone, &table.row(4)), []);
}

#[test]
fn rows_grow_behind_the_columns_of_the_text() {
    let table = table(&ROWS);
    let fitted = FittedSideColumns::fit(&names(&["size"], &["colour"]), &table, false);
    let text = SparseMatrix::from_rows(3, (0..5).map(|row| vec![(row % 3, 0.5)]));
    let rows = fitted.append_to(&text, &table);
    assert_eq!(rows.column_count(), 9);
    assert_eq!(rows.row(3).columns(), [0, 4, 8]);
    assert_eq!(rows.row(3).values(), [0.5, 1.0, 1.0]);
}

#[test]
fn absurd_numbers_stay_finite() {
    let rows = [(Some(-1e100), None), (Some(1e100), None), (Some(0.0), None)];
    let table = table(&rows);
    let fitted = FittedSideColumns::fit(&names(&["size"], &[]), &table, false);
    assert!(fitted.is_sound());
    for row in 0..3 {
        assert!(
            entries(&fitted, &table.row(row))
                .iter()
                .all(|(_, value)| value.is_finite())
        );
    }
    let narrow = FittedSideColumns::fit(&names(&["size"], &[]), &table_of(&[1.0, 1.1]), false);
    let far = RowCells {
        numbers: &[Some(1e300)],
        ..RowCells::default()
    };
    assert_eq!(entries(&narrow, &far), [(0, 1e6)]);
}

fn table_of(numbers: &[f64]) -> SideTable {
    let rows: Vec<_> = numbers.iter().map(|&number| (Some(number), None)).collect();
    table(&rows)
}

#[test]
fn forged_columns_are_not_sound() {
    let fitted = FittedSideColumns::fit(&names(&["size"], &["colour"]), &table(&ROWS), true);
    let json = serde_json::to_string(&fitted).unwrap();
    let again: FittedSideColumns = serde_json::from_str(&json).unwrap();
    assert_eq!(again, fitted);
    for (from, to) in [
        ("\"blue\",\"green\"", "\"green\",\"blue\""),
        ("\"blue\",\"green\"", "\"green\",\"green\""),
        ("\"factor\":0.7071067811865475", "\"factor\":-1.0"),
        ("\"deviation\":2.23606797749979", "\"deviation\":0.0"),
    ] {
        let forged = json.replace(from, to);
        assert_ne!(forged, json, "{json}");
        let forged: FittedSideColumns = serde_json::from_str(&forged).unwrap();
        assert!(!forged.is_sound(), "{to}");
    }
}
