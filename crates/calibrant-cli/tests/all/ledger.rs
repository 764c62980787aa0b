//! How often a test set has been looked at, kept beside the model.

use crate::common;

use common::{Sandbox, csv, fitted, gzip, json_lines, messages};
use serde_json::Value;

const LEDGER: &str = "calibrant-ledger.jsonl";

fn lines(sandbox: &Sandbox, name: &str) -> Vec<Value> {
    let text = String::from_utf8(sandbox.read(name)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[track_caller]
fn before(report: &Value) -> (u64, u64) {
    let ledger = &report["ledger"];
    (
        ledger["times_before"].as_u64().unwrap(),
        ledger["models_before"].as_u64().unwrap(),
    )
}

#[test]
fn every_look_is_counted_by_contents_whatever_the_file() {
    let sandbox = fitted();
    let mut test = messages(40, 3, 9);
    sandbox.write("test.csv", csv(&test));
    sandbox.write("test.jsonl.gz", gzip(json_lines(&test, false).as_bytes()));
    test.reverse();
    sandbox.write("turned.csv", csv(&test));
    test.pop();
    sandbox.write("other.csv", csv(&test));
    sandbox.succeed(&[
        "fit",
        "mail.csv",
        "-o",
        "b.calibrant",
        "--classifier",
        "naive-bayes",
    ]);
    let look =
        |model: &str, file: &str| before(&sandbox.json(&["evaluate", model, file, "--json"]));
    assert_eq!(look("mail.calibrant", "test.csv"), (0, 0));
    assert_eq!(look("mail.calibrant", "test.jsonl.gz"), (1, 1));
    assert_eq!(look("b.calibrant", "turned.csv"), (2, 1));
    assert_eq!(look("mail.calibrant", "test.csv"), (3, 2));
    assert_eq!(look("mail.calibrant", "other.csv"), (0, 0));
    let shown = sandbox.succeed(&["evaluate", "b.calibrant", "test.csv"]);
    assert!(
        shown.contains("this test set has been evaluated 4 times before, by 2 models of this project; choosing by these numbers makes them optimistic"),
        "{shown}"
    );
    let entries = lines(&sandbox, LEDGER);
    assert_eq!(entries.len(), 6);
    assert_eq!(entries[2]["model"], "b.calibrant");
    assert_eq!(entries[2]["classifier"], "naive_bayes");
    assert_eq!(entries[0]["classifier"], "linear_svm");
    assert_eq!(entries[0]["rows"], 40);
    assert_eq!(entries[0]["test_set"], entries[2]["test_set"]);
    assert_ne!(entries[0]["model_hash"], entries[2]["model_hash"]);
    assert!(entries[0]["log_loss"].as_f64().unwrap() > 0.0);
    let time = entries[0]["time"].as_str().unwrap();
    assert!(
        time.len() == 20 && time.starts_with("20") && time.ends_with('Z'),
        "{time}"
    );
}

#[test]
fn a_first_look_says_nothing_and_no_ledger_leaves_no_file() {
    let sandbox = fitted();
    sandbox.write("test.csv", csv(&messages(40, 3, 9)));
    let quiet = ["evaluate", "mail.calibrant", "test.csv", "--no-ledger"];
    sandbox.succeed(&quiet);
    let report = sandbox.json(&[&quiet[..], &["--json"]].concat());
    assert!(report["ledger"].is_null());
    assert!(!sandbox.path(LEDGER).exists());
    let first = sandbox.succeed(&["evaluate", "mail.calibrant", "test.csv"]);
    assert!(!first.contains("before"), "{first}");
    assert!(sandbox.path(LEDGER).exists());
}

#[test]
fn no_other_command_leaves_a_ledger() {
    let sandbox = fitted();
    sandbox.succeed(&["predict", "mail.calibrant", "mail.csv"]);
    sandbox.succeed(&["inspect", "mail.calibrant"]);
    sandbox.succeed(&["explain", "mail.calibrant", "corn"]);
    assert!(!sandbox.path(LEDGER).exists());
    // Nor does an evaluation that failed.
    assert_eq!(
        sandbox
            .run(&["evaluate", "mail.calibrant", "nowhere.csv"])
            .status
            .code(),
        Some(2)
    );
    assert!(!sandbox.path(LEDGER).exists());
}

#[test]
fn damage_is_passed_over_and_what_comes_after_it_is_kept() {
    let sandbox = fitted();
    sandbox.write("test.csv", csv(&messages(40, 3, 9)));
    let look = ["evaluate", "mail.calibrant", "test.csv", "--json"];
    sandbox.json(&look);
    let mut bytes = sandbox.read(LEDGER);
    bytes.splice(0..0, *b"\xFF\x00 not json\n{\"time\":1}\n\n");
    bytes.extend_from_slice(b"{\"time\":\"2026-01"); // cut short, no line break
    sandbox.write(LEDGER, &bytes);
    assert_eq!(before(&sandbox.json(&look)), (1, 1));
    assert_eq!(before(&sandbox.json(&look)), (2, 1));
}

#[test]
fn a_ledger_that_cannot_be_kept_is_a_warning() {
    let sandbox = fitted();
    sandbox.write("test.csv", csv(&messages(40, 3, 9)));
    std::fs::create_dir(sandbox.path(LEDGER)).unwrap();
    let output = sandbox.run(&["evaluate", "mail.calibrant", "test.csv", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["ledger"].is_null() && report["accuracy"].is_number());
    let warning = String::from_utf8_lossy(&output.stderr);
    assert!(
        warning.contains("warning: no ledger of evaluations"),
        "{warning}"
    );
}

#[test]
fn a_ledger_lies_beside_its_model_and_a_long_one_is_read_from_its_end() {
    let sandbox = fitted();
    sandbox.write("test.csv", csv(&messages(40, 3, 9)));
    let model = sandbox.read("mail.calibrant");
    sandbox.write("models/a/m.calibrant", &model);
    let look = ["evaluate", "models/a/m.calibrant", "test.csv", "--json"];
    assert_eq!(before(&sandbox.json(&look)), (0, 0));
    assert!(!sandbox.path(LEDGER).exists());
    let name = format!("models/a/{LEDGER}");
    let line = sandbox.read(&name);
    // 17 MiB of blank lines before it, and it is still found.
    let mut long = vec![b'\n'; 17 << 20];
    long.extend_from_slice(&line);
    sandbox.write(&name, &long);
    assert_eq!(before(&sandbox.json(&look)), (1, 1));
}
