use super::*;
use crate::features::RowCells;

fn names(numeric: &[&str], categorical: &[&str]) -> SideColumns {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    SideColumns {
        numeric: owned(numeric),
        categorical: owned(categorical),
        ..SideColumns::default()
    }
}

fn table(rows: &[(Option<f64>, Option<&str>)]) -> SideTable {
    let mut table = SideTable::default();
    for (number, category) in rows {
        table.push(RowCells {
            numbers: &[*number],
            categories: &[category.map(str::to_owned)],
            ..RowCells::default()
        });
    }
    table
}

fn entries(fitted: &FittedSideColumns, cells: &impl Cells) -> Vec<(u32, f32)> {
    let mut entries = Vec::new();
    fitted.for_each_entry(cells, |column, value| entries.push((column, value)));
    entries
}

const UNIT_LENGTH: Beside = Beside {
    unit_length: true,
    factor: 1.0,
    vector_factor: 1.0,
    by_similarity: false,
    presence_only: false,
    rules_are_scores: false,
};

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
    let fitted = FittedSideColumns::fit(&names(&["size"], &["colour"]), &table, Beside::default());
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
    let fitted = FittedSideColumns::fit(
        &names(&["size"], &["colour"]),
        &table(&ROWS[..3]),
        Beside::default(),
    );
    assert_eq!(fitted.column_count(), 3);
    let cells = RowCells {
        numbers: &[None],
        categories: &[Some("mauve".to_owned())],
        ..RowCells::default()
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
    let fitted = FittedSideColumns::fit(&names(&["a", "b", "c"], &[]), &table, Beside::default());
    // `c` is missing everywhere: its column would be a second intercept.
    assert_eq!(fitted.column_names(), ["b is missing"]);
}

#[test]
fn what_all_training_documents_share_gets_no_column() {
    let rows = [(None, Some("red")), (None, Some("red"))];
    let shared = FittedSideColumns::fit(&names(&["size"], &["colour"]), &table(&rows), UNIT_LENGTH);
    assert_eq!(shared.column_count(), 0);
    let nowhere = [(None, None), (None, None)];
    let names = names(&["size"], &["colour"]);
    let nowhere = FittedSideColumns::fit(&names, &table(&nowhere), Beside::default());
    assert_eq!(nowhere.column_count(), 0);
    // One value beside missing cells tells something, and so do two values.
    let some = [(Some(1.0), Some("red")), (None, None)];
    let some = FittedSideColumns::fit(&names, &table(&some), Beside::default());
    assert_eq!(
        some.column_names(),
        ["size is missing", "colour=red", "colour is missing"]
    );
    // What all but a fold's documents share is no column to a model without the fold.
    let table = table(&[ROWS[0], ROWS[2], ROWS[3]]);
    let whole = FittedSideColumns::fit(&names, &table, Beside::default());
    let without = whole.relearned(&table, |row| row < 2);
    assert_eq!(whole.column_names()[2], "colour=red");
    assert_eq!(
        entries(
            &without,
            &RowCells {
                categories: &[Some("red".into())],
                ..RowCells::default()
            }
        ),
        []
    );
}

#[test]
fn a_rule_with_one_strength_everywhere_gives_nothing() {
    let names = SideColumns {
        rules: vec!["corn".into(), "wheat".into()],
        ..SideColumns::default()
    };
    let mut table = SideTable::default();
    for strengths in [[1.0, 1.0], [1.0, 3.0], [1.0, 0.0]] {
        let strengths = &strengths;
        table.push(RowCells {
            strengths,
            ..RowCells::default()
        });
    }
    let fitted = FittedSideColumns::fit(&names, &table, Beside::default());
    assert_eq!(entries(&fitted, &table.row(1)), [(1, 3.0)]);
    // To a learner that looks at presence a rule matches or does not.
    let presence = Beside {
        presence_only: true,
        ..Beside::default()
    };
    let fitted = FittedSideColumns::fit(&names, &table, presence);
    assert_eq!(entries(&fitted, &table.row(1)), [(1, 1.0)]);
    // To one without the second document the other rule varies still.
    assert_eq!(
        entries(&fitted.relearned(&table, |row| row != 1), &table.row(1)),
        [(1, 1.0)]
    );
    assert!(fitted.is_sound());
}

#[test]
fn an_integer_is_one_category_however_it_is_written() {
    let rows = [
        (None, Some("1.0")),
        (None, Some("2")),
        (None, Some("1")),
        (None, Some("01")),
    ];
    let table = table(&rows);
    let fitted = FittedSideColumns::fit(&names(&[], &["shop"]), &table, Beside::default());
    assert_eq!(fitted.column_names(), ["shop=01", "shop=1", "shop=2"]);
    let cell = |value: &str| {
        let categories = [Some(value.to_owned())];
        entries(
            &fitted,
            &RowCells {
                categories: &categories,
                ..RowCells::default()
            },
        )
    };
    for written in ["1", "1.0", "1.00", "1e0"] {
        assert_eq!(cell(written), [(1, 1.0)], "{written}");
    }
    assert_eq!(cell("2.0"), [(2, 1.0)]);
    assert_eq!((cell("01"), cell("001")), (vec![(0, 1.0)], vec![]));
    // Without the fold of the first two rows the two spellings are still one value.
    let without = fitted.relearned(&table, |row| row >= 2);
    assert_eq!(entries(&without, &table.row(0)), [(1, 1.0)]);
}

#[test] // As they are in files of before, which took every cell as it was written.
fn columns_saved_before_there_was_one_spelling_look_cells_up_as_written() {
    let saved = r#"{"numeric":[],"categorical":[{"field":"shop","values":["1","1.0"],"missing":false}],
                    "rules":[],"factor":1.0,"rule_factor":1.0}"#;
    let fitted: FittedSideColumns = serde_json::from_str(saved).unwrap();
    let cell = |value: &str| {
        let categories = [Some(value.to_owned())];
        entries(
            &fitted,
            &RowCells {
                categories: &categories,
                ..RowCells::default()
            },
        )
    };
    assert_eq!(
        (cell("1"), cell("1.0"), cell("1.00")),
        (vec![(0, 1.0)], vec![(1, 1.0)], vec![])
    );
}

#[test]
fn a_far_number_is_near_enough_to_learners_by_similarity() {
    let by_similarity = Beside {
        by_similarity: true,
        factor: 0.25,
        ..UNIT_LENGTH
    };
    // By hand: mean 1, deviation 3; the margin ends at 11, and so 10/3 deviations away.
    let mut sizes = [0.0; 10];
    sizes[9] = 10.0;
    let table = table_of(&sizes);
    let fitted = FittedSideColumns::fit(&names(&["size"], &[]), &table, by_similarity);
    let far = RowCells {
        numbers: &[Some(1e9)],
        ..RowCells::default()
    };
    assert_eq!(entries(&fitted, &far), [(0, 0.75)]); // by hand: 3 · 1/4
    assert_eq!(entries(&fitted, &table.row(0)), [(0, -0.25 / 3.0)]);
}

#[test]
fn cells_that_mean_nothing_to_the_model_are_counted() {
    let fitted = FittedSideColumns::fit(
        &names(&["size"], &["colour"]),
        &table(&ROWS[..3]),
        Beside::default(),
    );
    let mut unknown = UnknownCells::default();
    for (number, colour) in [
        (Some(1.0), "mauve"),
        (None, "red"),
        (None, "pink"),
        (Some(2.0), "teal"),
    ] {
        unknown.begin_document();
        let cells = RowCells {
            numbers: &[number],
            categories: &[Some(colour.into())],
            ..RowCells::default()
        };
        fitted.add_unknown(&cells, &mut unknown);
    }
    let expected = MostlyUnknown {
        field: "colour".into(),
        share: 0.75,
        example: Some("mauve".into()),
    };
    assert_eq!(unknown.mostly(), [expected]); // half of the sizes is not most of them
    let mut all = UnknownCells::default();
    all.merge(unknown.clone());
    all.merge(unknown.clone());
    assert_eq!(all.mostly(), unknown.mostly());
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
    let fitted = FittedSideColumns::fit(&names, &table, UNIT_LENGTH);
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
    let whole = FittedSideColumns::fit(&names(&["size"], &["colour"]), &table, Beside::default());
    let without = whole.relearned(&table, |row| row < 3);
    assert_eq!(without.column_names(), whole.column_names());
    // By hand: mean 4, variance 8/3.
    let z = |x: f64| ((x - 4.0) / (8.0f64 / 3.0).sqrt()) as f32;
    assert_eq!(entries(&without, &table.row(0)), [(0, z(2.0)), (4, 1.0)]);
    assert_eq!(entries(&without, &table.row(1)), [(2, 1.0)]);
    // Nobody else was green, and nobody else's cells were missing.
    // Nor as large: 8 counts as 6 and a tenth of 6 - 2.
    assert_eq!(entries(&without, &table.row(4)), [(0, z(6.4))]);
    assert_eq!(entries(&without, &table.row(3)), []);
    let alone = whole.relearned(&table, |row| row == 0);
    assert_eq!(entries(&alone, &table.row(4)), []);
}

#[test]
fn rows_grow_behind_the_columns_of_the_text() {
    let table = table(&ROWS);
    let fitted = FittedSideColumns::fit(&names(&["size"], &["colour"]), &table, Beside::default());
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
    let fitted = FittedSideColumns::fit(&names(&["size"], &[]), &table, Beside::default());
    assert!(fitted.is_sound());
    for row in 0..3 {
        assert!(
            entries(&fitted, &table.row(row))
                .iter()
                .all(|(_, value)| value.is_finite())
        );
    }
    let narrow = FittedSideColumns::fit(
        &names(&["size"], &[]),
        &table_of(&[1.0, 1.1]),
        Beside::default(),
    );
    let far = RowCells {
        numbers: &[Some(1e300)],
        ..RowCells::default()
    };
    // By hand: 1e300 counts as 1.11, which is 0.06 above the mean, and 0.05 is the deviation.
    let [(0, value)] = entries(&narrow, &far)[..] else {
        panic!("one column");
    };
    assert!((value - 1.2).abs() < 1e-5, "{value}");
}

#[test]
fn a_number_beyond_those_of_training_counts_as_little_beyond_them() {
    let table = table_of(&[2.0, 4.0, 6.0]);
    let fitted = FittedSideColumns::fit(&names(&["size"], &[]), &table, Beside::default());
    let value_of = |fitted: &FittedSideColumns, x: f64| {
        let row = RowCells {
            numbers: &[Some(x)],
            ..RowCells::default()
        };
        entries(fitted, &row)[0].1
    };
    let value = |x: f64| value_of(&fitted, x);
    let look = |x: f64, seen: &mut UnknownCells| {
        seen.begin_document();
        let row = RowCells {
            numbers: &[Some(x)],
            ..RowCells::default()
        };
        fitted.add_unknown(&row, seen);
    };
    // By hand: a tenth of 6 - 2 is the margin.
    for (x, counts_as) in [(1e9, 6.4), (-1e9, 1.6)] {
        assert_eq!(value(x), value(counts_as));
    }
    assert!(value(6.3) < value(6.4) && value(6.0) < value(6.3));
    let mut seen = UnknownCells::default();
    for x in [3.0, 6.3, 7.0, 1e9, -8.0] {
        look(x, &mut seen);
    }
    let mut turned = UnknownCells::default();
    for x in [-8.0, 1e9, 7.0, 6.3, 3.0] {
        let mut one = UnknownCells::default();
        look(x, &mut one);
        turned.merge(one);
    }
    assert_eq!(seen, turned);
    let beyond: Vec<_> = seen.beyond().collect();
    assert_eq!((beyond[0].cells, beyond[0].farthest), (3, 1e9));
    assert_eq!(beyond[0].field, "size");
    // A model of before knows no range.
    let json = serde_json::to_string(&fitted).unwrap();
    let before = json.replace("\"range\":[2.0,6.0],", "");
    assert_ne!(before, json);
    let before: FittedSideColumns = serde_json::from_str(&before).unwrap();
    assert!(value_of(&before, 1e9) > 1e5);
}

fn table_of(numbers: &[f64]) -> SideTable {
    let rows: Vec<_> = numbers.iter().map(|&number| (Some(number), None)).collect();
    table(&rows)
}

#[test]
fn forged_columns_are_not_sound() {
    let fitted = FittedSideColumns::fit(&names(&["size"], &["colour"]), &table(&ROWS), UNIT_LENGTH);
    let json = serde_json::to_string(&fitted).unwrap();
    let again: FittedSideColumns = serde_json::from_str(&json).unwrap();
    assert_eq!(again, fitted);
    for (from, to) in [
        ("\"blue\",\"green\"", "\"green\",\"blue\""),
        ("\"blue\",\"green\"", "\"green\",\"green\""),
        ("\"factor\":0.7071067811865475", "\"factor\":-1.0"),
        ("\"deviation\":2.23606797749979", "\"deviation\":0.0"),
        ("\"range\":[2.0,8.0]", "\"range\":[8.0,2.0]"),
    ] {
        let forged = json.replace(from, to);
        assert_ne!(forged, json, "{json}");
        let forged: FittedSideColumns = serde_json::from_str(&forged).unwrap();
        assert!(!forged.is_sound(), "{to}");
    }
}

#[test]
fn vectors_come_last_and_have_one_length() {
    let mut table = SideTable::default();
    for vector in [Some(vec![3.0, 4.0]), None] {
        table.push(RowCells {
            numbers: &[Some(1.0), None],
            vectors: &[vector],
            ..RowCells::default()
        });
    }
    let names = SideColumns {
        categorical: vec!["colour".into()],
        vector: vec!["v".into()],
        ..SideColumns::default()
    };
    let beside = Beside {
        vector_factor: 0.5,
        ..UNIT_LENGTH
    };
    let fitted = FittedSideColumns::fit(&names, &table, beside);
    assert_eq!(fitted.column_names(), ["v[0]", "v[1]"]);
    assert!(fitted.is_sound());
    // By hand: the length is 5, so that 0.5 / 5 remains of each number.
    assert_eq!(entries(&fitted, &table.row(0)), [(0, 0.3), (1, 0.4)]);
    assert_eq!(entries(&fitted, &table.row(1)), []);
    let other = [Some(vec![1.0; 3])];
    let cells = RowCells {
        vectors: &other,
        ..RowCells::default()
    };
    assert_eq!(entries(&fitted, &cells), []);
    let mut unknown = UnknownCells::default();
    unknown.begin_document();
    fitted.add_unknown(&RowCells::default(), &mut unknown);
    assert_eq!(unknown.mostly()[0].field, "v");
    let without = FittedSideColumns::fit(&SideColumns::default(), &table, beside);
    let saved = serde_json::to_string(&without).unwrap();
    assert!(!saved.contains("vector"), "{saved}");
}
