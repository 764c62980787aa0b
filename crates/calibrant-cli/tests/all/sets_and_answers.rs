//! Sets, answers with a stated error rate and the best F, through the program.

use crate::common;

use common::{Sandbox, csv, json_lines, messages, multi_label_messages};
use serde_json::Value;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", csv(&messages(300, 3, 1)));
    sandbox.write("calibration.csv", csv(&messages(400, 3, 2)));
    sandbox.write("test.csv", csv(&messages(300, 3, 3)));
    sandbox.succeed(&["fit", "train.csv", "-o", "model"]);
    sandbox
}

#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &[&str], said: &str) {
    let before = sandbox.contents();
    let output = sandbox.run(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains(said), "{error}");
    assert!(output.stdout.is_empty());
    assert_eq!(sandbox.contents(), before);
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn sets_stand_in_every_format_and_are_the_same() {
    let sandbox = sandbox();
    for options in [
        &[][..],
        &["--calibration", "calibration.csv"],
        &["--calibration", "calibration.csv", "--set-kind", "aps"],
        &["--set-kind", "raps", "--per-class", "--keep-top"],
        &["--prior", "corn=0.6"],
    ] {
        let asked = [
            &["predict", "model", "test.csv", "--sets", "0.9"][..],
            options,
        ]
        .concat();
        let output = sandbox.run(&[&asked[..], &["--json"]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        assert!(
            said.contains("90 %") && said.contains("classes on average"),
            "{said}"
        );
        let found = match options.contains(&"--calibration") {
            true => "which the model had not seen",
            false => "approximate (no guarantee in the worst case",
        };
        assert!(said.contains(found), "{said}");
        let predictions = lines(&String::from_utf8(output.stdout).unwrap());
        assert_eq!(predictions.len(), 300);
        let table = sandbox.succeed(&[&asked[..], &["--top", "1"]].concat());
        let mut rows = table.lines();
        let header = rows.next().unwrap();
        assert!(
            header.ends_with("label,probability,log_odds,set"),
            "{header}"
        );
        for (row, prediction) in rows.zip(&predictions) {
            let set: Vec<&str> = prediction["set"]
                .as_array()
                .unwrap()
                .iter()
                .map(|l| l.as_str().unwrap())
                .collect();
            assert_eq!(row.rsplit(',').next().unwrap(), set.join("|"));
        }
        // Answers do not depend on the number of threads.
        let again = sandbox.succeed(&[&asked[..], &["--top", "1", "--threads", "1"]].concat());
        assert_eq!(again, table);
    }
    let parquet = sandbox.run(&[
        "predict",
        "model",
        "test.csv",
        "--sets",
        "0.9",
        "-o",
        "sets.parquet",
    ]);
    assert!(parquet.status.success());
}

#[test]
fn answers_are_decided_or_asked_and_impossible_ones_say_what_they_need() {
    let sandbox = sandbox();
    let asked = [
        "predict",
        "model",
        "test.csv",
        "--max-error",
        "0.2",
        "--top",
        "1",
    ];
    let with_file = [&asked[..], &["--calibration", "calibration.csv"]].concat();
    let output = sandbox.run(&with_file);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("certified with 95 % certainty: at most 20 %"),
        "{said}"
    );
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(
        table.starts_with("id,rank,label,probability,log_odds,decision")
            || table.starts_with("row,rank,label,probability,log_odds,decision"),
        "{table}"
    );
    let output = sandbox.run(&asked);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("approximate: at most 20 %") && said.contains("--calibration FILE"),
        "{said}"
    );
    for (options, error) in [
        (
            &["--max-error", "0.001", "--calibration", "calibration.csv"][..],
            "examples",
        ),
        (
            &["--sets", "0.999", "--calibration", "calibration.csv"],
            "at least 999 calibration examples; there are",
        ),
        (
            &["--sets", "0.9", "--calibration", "train.csv"],
            "among those that the model learned from",
        ),
        (
            &["--max-error", "0.2", "--costs", "corn,oil,10"],
            "different ways to decide",
        ),
        (
            &["--max-error", "0.2", "--prior", "corn=0.5"],
            "other class priors",
        ),
        (
            &["--sets", "0.9", "--adapt-prior"],
            "estimated from the same documents",
        ),
        (
            &["--sets", "0.9", "--other", "0.05"],
            "documents of no class",
        ),
        (
            &["--calibration", "calibration.csv"],
            "--sets and --max-error",
        ),
        (&["--f-beta", "1"], "several labels"),
        (&["--sets", "1.5"], "between 0 and 1"),
    ] {
        refused(
            &sandbox,
            &[&["predict", "model", "test.csv"][..], options].concat(),
            error,
        );
    }
    let overwritten = [
        "predict",
        "model",
        "test.csv",
        "--sets",
        "0.9",
        "--calibration",
        "calibration.csv",
        "-o",
        "calibration.csv",
    ];
    refused(&sandbox, &overwritten, "would be overwritten");
}

#[test]
fn evaluate_shows_what_came_of_promises() {
    let sandbox = sandbox();
    let asked = [
        "evaluate",
        "model",
        "test.csv",
        "--no-ledger",
        "--sets",
        "0.9",
        "--max-error",
        "0.2",
        "--calibration",
        "calibration.csv",
    ];
    let report = sandbox.json(&[&asked[..], &["--json"]].concat());
    let sets = &report["promises"]["sets"];
    assert_eq!(
        (&sets["documents"], &sets["guarantee"]["source"]),
        (&300.into(), &"unseen".into())
    );
    assert!(
        (sets["coverage"].as_f64().unwrap() - 0.9).abs() < 0.08,
        "{sets}"
    );
    let answers = &report["promises"]["answers"];
    assert!(answers["answered"].as_u64().unwrap() > 50, "{answers}");
    let shown = sandbox.succeed(&asked);
    assert!(
        shown.contains("asked 0.9, seen 0.") && shown.contains("wrong 0."),
        "{shown}"
    );
}

#[test]
fn several_labels_are_decided_by_the_best_f() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "train.jsonl",
        json_lines(&multi_label_messages(300, 1), true),
    );
    sandbox.write(
        "test.jsonl",
        json_lines(&multi_label_messages(100, 2), true),
    );
    sandbox.succeed(&["fit", "train.jsonl", "-o", "model"]);
    for average in ["micro", "macro", "samples"] {
        let asked = [
            "predict",
            "model",
            "test.jsonl",
            "--f-beta",
            "2",
            "--f-average",
            average,
            "--json",
        ];
        let output = sandbox.run(&asked);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("expected F2 0."), "{said}");
        for prediction in lines(&String::from_utf8(output.stdout).unwrap()) {
            for class in prediction["classes"].as_array().unwrap() {
                let action = class["decision"]["action"].as_str().unwrap();
                assert!(["yes", "no"].contains(&action));
            }
        }
    }
    let sets = sandbox.run(&["predict", "model", "test.jsonl", "--sets", "0.9", "--json"]);
    let said = String::from_utf8_lossy(&sets.stderr).into_owned();
    assert!(said.contains("true labels"), "{said}");
    refused(
        &sandbox,
        &["predict", "model", "test.jsonl", "--max-error", "0.1"],
        "one label per document",
    );
    refused(
        &sandbox,
        &[
            "predict",
            "model",
            "test.jsonl",
            "--sets",
            "0.9",
            "--per-class",
        ],
        "one kind of set",
    );
}
