//! `calibrant combine`: several models as one, in every command that takes a model.

use crate::common;

use common::{Sandbox, csv, json_lines, messages, multi_label_messages};
use serde_json::Value;

/// Two models of `train.csv`, and `held.csv` and `test.csv` that they have not seen.
fn sandbox(class_count: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    let all = messages(300, class_count, 1);
    sandbox.write("train.csv", csv(&all[..100]));
    sandbox.write("held.csv", csv(&all[100..200]));
    sandbox.write("test.csv", csv(&all[200..]));
    fit(&sandbox, "train.csv");
    sandbox
}

fn fit(sandbox: &Sandbox, file: &str) {
    for (name, classifier) in [("svm", "svm"), ("bayes", "naive-bayes")] {
        sandbox.succeed(&["fit", file, "-o", name, "--classifier", classifier]);
    }
}

const COMBINE: [&str; 7] = [
    "combine", "svm", "bayes", "--data", "held.csv", "-o", "both",
];

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

/// Uses the combination in every way.
#[track_caller]
fn check(sandbox: &Sandbox, test: &str, class_count: usize) {
    for line in sandbox
        .succeed(&["predict", "both", test, "--json"])
        .lines()
    {
        let row: Value = serde_json::from_str(line).unwrap();
        let classes = row["classes"].as_array().unwrap();
        assert_eq!(classes.len(), class_count);
    }
    sandbox.succeed(&["evaluate", "both", test, "--html", "page.html"]);
    let report = sandbox.json(&["evaluate", "both", test, "--json"]);
    assert!(number(&report["log_loss"]) > 0.0);
    let compared = sandbox.succeed(&["compare", test, "both", "svm", "bayes"]);
    assert!(compared.contains("both"), "{compared}");
    let explained = sandbox.json(&["explain", "both", "--json", "corn bank corn"]);
    let explained = &explained[0];
    let terms = explained["terms"].as_array().unwrap().iter();
    let parts: f64 = terms.map(|term| number(&term["log_odds"])).sum();
    let sum = number(&explained["base_log_odds"]) + parts;
    assert!((sum - number(&explained["calibrated_log_odds"])).abs() < 1e-9);
    sandbox.succeed(&["explain", "both", "corn bank corn"]);
    let inspected = sandbox.json(&["inspect", "both", "--json"]);
    assert_eq!(inspected["kind"], "combination");
    assert_eq!(inspected["members"].as_array().unwrap().len(), 2);
    let shown = sandbox.succeed(&["inspect", "both"]);
    assert!(shown.contains("combination of 2 models"), "{shown}");
    assert!(shown.contains("intercept"), "{shown}");
}

#[test]
fn a_combination_works_wherever_a_model_does() {
    for class_count in [2, 4] {
        let sandbox = sandbox(class_count);
        let report = sandbox.json(&[&COMBINE[..], &["--json"]].concat());
        let members = report["members"].as_array().unwrap();
        assert_eq!(members[0]["name"], "svm");
        assert_eq!(
            members[1]["settings"]["classifier"]["learner"],
            "naive_bayes"
        );
        let least = members
            .iter()
            .map(|member| number(&member["log_loss"]))
            .fold(f64::INFINITY, f64::min);
        // Some weights and intercepts from eighty documents cost a little.
        let found = number(&report["held_out"]["log_loss"]);
        assert!(found < least + 0.1, "{found} {least}");
        assert_eq!(report["documents"], 100);
        assert_eq!(report["intercepts"].as_object().unwrap().len(), class_count);
        // What the models say alone is what evaluating them says.
        for member in members {
            let name = member["name"].as_str().unwrap();
            let alone = sandbox.json(&["evaluate", name, "held.csv", "--json", "--no-ledger"]);
            let difference = number(&alone["log_loss"]) - number(&member["log_loss"]);
            assert!(difference.abs() < 1e-9, "{name}: {difference}");
        }
        check(&sandbox, "test.csv", class_count);
    }
}

#[test]
fn several_labels_are_combined_too() {
    let sandbox = Sandbox::new();
    let all = multi_label_messages(300, 1);
    sandbox.write("train.jsonl", json_lines(&all[..150], true));
    sandbox.write("held.jsonl", json_lines(&all[150..], true));
    fit(&sandbox, "train.jsonl");
    let combine = [
        "combine",
        "svm",
        "bayes",
        "--data",
        "held.jsonl",
        "-o",
        "both",
    ];
    let shown = sandbox.succeed(&combine);
    assert!(shown.contains("5-fold cross-validated"), "{shown}");
    check(&sandbox, "held.jsonl", 4);
}

#[test]
fn a_model_and_its_copy_get_equal_weights() {
    let sandbox = sandbox(3);
    sandbox.write("copy", sandbox.read("svm"));
    let combine = [
        "combine", "svm", "copy", "--data", "held.csv", "-o", "both", "--json",
    ];
    let report = sandbox.json(&combine);
    let weight = |member: usize| number(&report["members"][member]["weight"]);
    assert!((weight(0) - weight(1)).abs() < 1e-6);
    assert_ne!(report["members"][0]["name"], report["members"][1]["name"]);
}

#[test]
fn mistakes_are_explained_and_leave_nothing_behind() {
    let sandbox = sandbox(3);
    sandbox.write("five.csv", csv(&messages(100, 5, 2)));
    sandbox.write("other.csv", "id,label,text\n1,elsewhere,corn\n");
    sandbox.write("few.csv", csv(&messages(3, 3, 2)));
    sandbox.succeed(&["fit", "five.csv", "-o", "five"]);
    sandbox.succeed(&[
        "combine", "svm", "bayes", "--data", "held.csv", "-o", "done",
    ]);
    let before = sandbox.contents();
    for (arguments, said) in [
        (
            &["combine", "svm", "--data", "held.csv", "-o", "both"][..],
            "2 values",
        ),
        (
            &["combine", "svm", "five", "--data", "held.csv", "-o", "both"],
            "only `five` has ship, trade",
        ),
        (
            &["combine", "svm", "done", "--data", "held.csv", "-o", "both"],
            "combination already",
        ),
        (
            &["combine", "svm", "bayes", "--data", "held.csv", "-o", "svm"],
            "would be overwritten",
        ),
        (
            &[
                "combine", "svm", "bayes", "--data", "held.csv", "-o", "held.csv",
            ],
            "would be overwritten",
        ),
        (
            &[
                "combine",
                "svm",
                "bayes",
                "--data",
                "nowhere.csv",
                "-o",
                "both",
            ],
            "nowhere.csv",
        ),
        (
            &["combine", "svm", "gone", "--data", "held.csv", "-o", "both"],
            "gone",
        ),
        (
            &[
                "combine",
                "svm",
                "bayes",
                "--data",
                "other.csv",
                "-o",
                "both",
            ],
            "--label",
        ),
        (
            &["combine", "svm", "bayes", "--data", "few.csv", "-o", "both"],
            "folds",
        ),
        (
            &[
                "combine", "svm", "bayes", "--data", "held.csv", "-o", "both", "--folds", "1",
            ],
            "folds",
        ),
        (&["inspect", "done", "--terms", "3"], "--terms"),
        (
            &["predict", "done", "held.csv", "--other", "balanced"],
            "combination",
        ),
    ] {
        let output = sandbox.run(arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
    }
    assert!(sandbox.contents() == before);
}
