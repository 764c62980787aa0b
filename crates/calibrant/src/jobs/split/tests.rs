use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::NoProgress;
use crate::corpus::Fields;

/// What the two files hold.
fn divided(
    name: &str,
    bytes: &[u8],
    group: Option<&str>,
    settings: &SplitSettings,
) -> Result<(SplitReport, [String; 2]), SplitError> {
    let folder = tempfile::tempdir().unwrap();
    let ending = name.split_once('.').unwrap().1;
    let places = ["train", "test"].map(|side| folder.path().join(format!("{side}.{ending}")));
    let options = ReadOptions {
        fields: Fields {
            group: group.map(str::to_owned),
            ..Fields::default()
        },
        ..ReadOptions::default()
    };
    let source = Source::bytes(name, bytes.to_vec());
    let report = split_source(&source, &options, settings, &places, &NoProgress)?;
    Ok((
        report,
        places.map(|place| std::fs::read_to_string(place).unwrap()),
    ))
}

#[test]
fn rows_stay_as_they_are_to_the_byte() {
    let rows: Vec<String> = (0..30)
        .map(|n| match n % 3 {
            0 => format!("{},\"said \"\"{n}\"\"\r\nand more\"\r\n", n % 2),
            1 => format!("\"{}\",plain{n}\n", n % 2),
            _ => format!("{}, word{n} \r\n", n % 2),
        })
        .collect();
    let table = format!("\u{FEFF}label,\"text\"\r\n{}", rows.concat());
    let settings = SplitSettings::default();
    let (report, sides) = divided("a.csv", table.as_bytes(), None, &settings).unwrap();
    assert_eq!((report.train.rows, report.test.rows), (24, 6));
    let mut seen = Vec::new();
    for side in &sides {
        let mut rest = side.strip_prefix("\u{FEFF}label,\"text\"\r\n").unwrap();
        // Each side has rows of the file in their order.
        for row in &rows {
            if let Some(after) = rest.strip_prefix(row.as_str()) {
                seen.push(row.clone());
                rest = after;
            }
        }
        assert_eq!(rest, "");
    }
    seen.sort();
    let mut expected = rows.clone();
    expected.sort();
    assert_eq!(seen, expected);
    // Objects, in lines and in a list.
    let lines: String = (0..20)
        .map(|n| format!("{{ \"text\": \"w{n}\",\"label\":{}}}\n", n % 2))
        .collect();
    let (_, sides) = divided("a.jsonl", lines.as_bytes(), None, &settings).unwrap();
    let all: BTreeSet<&str> = sides.iter().flat_map(|side| side.lines()).collect();
    assert_eq!(all, lines.lines().collect());
    let list = format!("[{}]", lines.trim_end().replace('\n', ", "));
    let (_, sides) = divided("a.json", list.as_bytes(), None, &settings).unwrap();
    let counts = sides.map(|side| {
        let rows: Vec<serde_json::Value> = serde_json::from_str(&side).unwrap();
        rows.len()
    });
    assert_eq!(counts, [16, 4]);
}

#[test]
fn the_newest_are_for_testing_and_what_is_as_new() {
    let mut table = String::from("when,text,label\n");
    for day in 1..=20 {
        table += &format!("{day:02}.03.2024,word{day},a\n");
    }
    // A copy of an old row is as new as the newest of them.
    table += "20.03.2024,word2,a\n";
    let settings = SplitSettings {
        time: Some("when".into()),
        ..SplitSettings::default()
    };
    let (report, [train, test]) = divided("a.csv", table.as_bytes(), None, &settings).unwrap();
    assert_eq!(report.test_from.as_deref(), Some("19.03.2024"));
    assert!(
        test.contains("02.03.2024,word2,") && test.contains("20.03.2024,word2,"),
        "{test}"
    );
    assert_eq!((report.test.rows, report.copies), (4, 1));
    assert!(train.contains("18.03.2024") && !train.contains("19.03.2024"));
    let wrong = table.replace("05.03.2024", "soon");
    let error = divided("a.csv", wrong.as_bytes(), None, &settings).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("a.csv, line 6, field `when`: `soon` is no date"),
        "{error}"
    );
    let slashes = "when,text\n1/2/2024,a\n2/3/2024,b\n";
    let error = divided("a.csv", slashes.as_bytes(), None, &settings).unwrap_err();
    assert!(
        matches!(error, SplitError::AmbiguousDate { line: 2, .. }),
        "{error}"
    );
}

#[test]
fn what_cannot_be_divided_is_said() {
    let table = b"text,label,who\na,x,1\nb,y,1\n";
    let with = |test| SplitSettings {
        test,
        ..SplitSettings::default()
    };
    for share in [0.0, 1.0, -0.5, f64::NAN] {
        let error = divided("a.csv", table, None, &with(share)).unwrap_err();
        assert!(matches!(error, SplitError::Share { .. }), "{error}");
    }
    let error = divided("a.csv", table, Some("who"), &with(0.5)).unwrap_err();
    assert!(matches!(error, SplitError::OneUnit { rows: 2 }), "{error}");
    let error = divided("a.csv", table, Some("what"), &with(0.5)).unwrap_err();
    assert!(
        matches!(error, SplitError::Read(ReadError::UnknownField { .. })),
        "{error}"
    );
    let places = ["a", "b"].map(PathBuf::from);
    let pipe = Source::reader("a.csv", &table[..]);
    let options = ReadOptions::default();
    let error = split_source(&pipe, &options, &with(0.5), &places, &NoProgress).unwrap_err();
    assert!(matches!(error, SplitError::ReadOnce { .. }), "{error}");
}

#[test]
fn rare_classes_are_on_both_sides() {
    let mut table = String::from("text,label\n");
    for row in 0..200 {
        let label = match row {
            0..2 => "two".to_owned(),
            2..5 => "three".to_owned(),
            5 => "one".to_owned(),
            _ => format!("common{}", row % 2),
        };
        table += &format!("word{row},{label}\n");
    }
    for seed in 0..20 {
        let settings = SplitSettings {
            seed,
            ..SplitSettings::default()
        };
        let (report, _) = divided("a.csv", table.as_bytes(), None, &settings).unwrap();
        assert_eq!(report.test.rows, 40);
        for label in ["two", "three"] {
            assert_eq!(report.test.labels[label], 1, "{report:?}");
            assert!(report.train.labels[label] >= 1);
        }
        for label in ["common0", "common1"] {
            assert!((18..=20).contains(&report.test.labels[label]), "{report:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn every_row_is_on_one_side_with_its_copies_and_its_group(
        rows in prop::collection::vec((0usize..40, 0usize..4, prop::option::of(0usize..25)), 12..120),
        share in 0.05f64..0.95,
        seed in 0u64..5,
        turn in 1usize..50,
        grouped in any::<bool>(),
    ) {
        let line = |(number, (text, label, group)): (usize, &(usize, usize, Option<usize>))| {
            let group = group.map_or_else(String::new, |group| format!("g{group}"));
            format!("{number},word{text} w,l{label},{group}\n")
        };
        let mut lines: Vec<String> = rows.iter().enumerate().map(line).collect();
        let table = |lines: &[String]| format!("n,text,label,who\n{}", lines.concat());
        let settings = SplitSettings { test: share, seed, ..SplitSettings::default() };
        let group = grouped.then_some("who");
        let outcome = divided("a.csv", table(&lines).as_bytes(), group, &settings);
        let Ok((report, sides)) = outcome else {
            let refused = matches!(outcome, Err(SplitError::OneUnit { .. }));
            prop_assert!(refused);
            return Ok(());
        };
        let side: Vec<Vec<&str>> = sides.iter().map(|side| side.lines().skip(1).collect()).collect();
        prop_assert_eq!(side[0].len() + side[1].len(), rows.len());
        let all: BTreeSet<&str> = side.iter().flatten().copied().collect();
        prop_assert_eq!(all.len(), rows.len());
        let cells = |side: usize, column: usize| -> BTreeSet<&str> {
            let cells = sides[side].lines().skip(1).map(|line| line.split(',').nth(column).unwrap());
            cells.filter(|cell| !cell.is_empty()).collect()
        };
        prop_assert!(cells(0, 1).is_disjoint(&cells(1, 1)), "a copy is on both sides");
        if grouped {
            prop_assert!(cells(0, 3).is_disjoint(&cells(1, 3)), "a group is on both sides");
        }
        prop_assert_eq!(report.train.rows as usize, side[0].len());
        // As near as the largest unit allows, or as classes that shall be on both sides do.
        let off = (side[1].len() as f64 - share * rows.len() as f64).abs();
        let mut sizes = std::collections::HashMap::new();
        rows.iter().for_each(|row| *sizes.entry(row.0).or_insert(0) += 1);
        let largest = sizes.values().max().copied().unwrap_or(0);
        prop_assert!(grouped || off <= (largest + 4) as f64, "off by {off}, the largest has {largest}");
        // The order of rows makes no difference.
        let middle = turn % lines.len();
        lines.rotate_left(middle);
        let (_, turned) = divided("a.csv", table(&lines).as_bytes(), group, &settings).unwrap();
        for (before, after) in sides.iter().zip(&turned) {
            let sorted = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
            prop_assert_eq!(sorted(before), sorted(after));
        }
    }
}

#[test]
fn three_files_are_three_files_and_say_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..20).map(|n| format!("{},word{n}\n", n % 2)).collect();
    let table = folder.path().join("mail.csv");
    std::fs::write(&table, format!("label,text\n{rows}")).unwrap();
    let split = |train: &str, test: &str| {
        let places = [train, test].map(|name| folder.path().join(name));
        let settings = SplitSettings::default();
        let source = Source::from(table.clone());
        split_source(
            &source,
            &ReadOptions::default(),
            &settings,
            &places,
            &NoProgress,
        )
    };
    for (train, test) in [
        ("a.csv", "./a.csv"),
        ("./mail.csv", "a.csv"),
        ("a.csv", "mail.csv"),
    ] {
        let refused = split(train, test);
        assert!(
            matches!(refused, Err(SplitError::SameFile { .. })),
            "{train}"
        );
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("b.csv", folder.path().join("link.csv")).unwrap();
        let refused = split("link.csv", "b.csv");
        assert!(matches!(refused, Err(SplitError::SameFile { .. })));
    }
    for ending in ["jsonl", "tsv", "xlsx", "parquet", "csv.gz", "ft"] {
        let refused = split("a.csv", &format!("b.{ending}"));
        assert!(
            matches!(refused, Err(SplitError::OtherFormat { .. })),
            "{ending}"
        );
        assert!(!folder.path().join("a.csv").exists());
    }
    split("a.csv", "b.txt").unwrap();
}
