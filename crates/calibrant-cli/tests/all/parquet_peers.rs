//! Parquet predictions of the program, read by pyarrow.

use crate::python;

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

fn calibrant(folder: &Path, arguments: &[&str]) {
    let mut command = Command::cargo_bin("calibrant").unwrap();
    command
        .current_dir(folder)
        .args(arguments)
        .assert()
        .success();
}

/// Forty short letters of two kinds, no two of them equal.
fn letters() -> String {
    (0..40)
        .map(|number| {
            let (label, text) = match number % 4 {
                0 => ("grain", "wheat harvest corn"),
                1 => ("größe", "ship größer harbour"),
                2 => ("grain", "corn prices wheat rose"),
                _ => ("größe", "harbour crane ship"),
            };
            let text = format!("{text} lot{number}");
            json!({"name": format!("№ {number}"), "label": label, "text": text}).to_string() + "\n"
        })
        .collect()
}

#[test]
fn pyarrow_reads_the_predictions_that_the_csv_file_states() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("letters.jsonl"), letters()).unwrap();
    calibrant(
        folder,
        &["fit", "letters.jsonl", "--id", "name", "-o", "m.calibrant"],
    );
    let predict = |output| {
        calibrant(
            folder,
            &["predict", "m.calibrant", "letters.jsonl", "-o", output],
        )
    };
    predict("out.parquet");
    predict("out.csv");
    let path = folder.join("out.parquet");
    let Some(answer) = python::ask("read_parquet.py", &json!({"path": path})) else {
        return;
    };
    assert_eq!(
        answer["types"],
        json!({
            "id": "string", "rank": "int32", "label": "string",
            "probability": "double", "log_odds": "double",
        })
    );
    let csv = std::fs::read_to_string(folder.join("out.csv")).unwrap();
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("id,rank,label,probability,log_odds"));
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * 40);
    for (row, line) in rows.iter().zip(lines) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |cell: usize| cells[cell].parse::<f64>().unwrap();
        assert_eq!(row["id"], Value::from(cells[0]));
        assert_eq!(row["rank"].as_f64(), Some(number(1)));
        assert_eq!(row["label"], Value::from(cells[2]));
        for (name, cell) in [("probability", 3), ("log_odds", 4)] {
            let theirs = row[name].as_f64().unwrap();
            // The last digit may be lost on the way through JSON.
            assert!(
                (theirs - number(cell)).abs() <= 1e-14 * theirs.abs(),
                "{name} of {line}"
            );
        }
    }
    let first = &rows[0];
    assert_eq!(
        (&first["id"], &first["label"]),
        (&json!("№ 0"), &json!("grain"))
    );
}
