//! `calibrant recalibrate`: a few new labels for an old model, in every command that takes one.

use crate::common;

use common::{Message, Sandbox, csv, json_lines, messages, multi_label_messages};
use serde_json::Value;

/// Of every class but the first only every fourth message is kept: the first becomes common.
fn shifted(all: &[Message], first: &str) -> Vec<Message> {
    let mut others = 0;
    let kept = all.iter().filter(|message| {
        others += usize::from(!message.labels.contains(&first));
        message.labels.contains(&first) || others.is_multiple_of(4)
    });
    kept.cloned().collect()
}

/// A model of three classes, and `new.csv` and `test.csv` in which the first is common.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let all = messages(1500, 3, 1);
    let new = shifted(&all[200..], "corn");
    sandbox.write("train.csv", csv(&all[..200]));
    sandbox.write("same.csv", csv(&all[200..300]));
    sandbox.write("new.csv", csv(&new[..200]));
    sandbox.write("test.csv", csv(&new[200..]));
    sandbox.succeed(&["fit", "train.csv", "-o", "old", "--word-ngrams", "1"]);
    sandbox
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn log_loss(sandbox: &Sandbox, model: &str, test: &str) -> f64 {
    let report = sandbox.json(&["evaluate", model, test, "--json", "--bootstrap", "0"]);
    number(&report["log_loss"])
}

#[test]
fn a_shift_is_corrected_on_documents_that_took_no_part() {
    let sandbox = sandbox();
    let said = sandbox.json(&["recalibrate", "old", "new.csv", "-o", "new", "--json"]);
    assert_eq!(said["changed"], true, "{said}");
    assert!(number(&said["log_loss_after"]) < number(&said["log_loss_before"]));
    assert_eq!(said["classes"][0]["label"], "corn");
    assert!(number(&said["classes"][0]["intercept"]) > number(&said["classes"][1]["intercept"]));
    assert!(log_loss(&sandbox, "new", "test.csv") < log_loss(&sandbox, "old", "test.csv"));
    let text = sandbox.succeed(&["recalibrate", "old", "new.csv", "-o", "new"]);
    assert!(
        text.contains("before") && text.contains("wrote new"),
        "{text}"
    );
    for command in [
        &["predict", "new", "test.csv", "--adapt-prior"][..],
        &["predict", "new", "test.csv", "--other", "cost"],
        &["evaluate", "new", "test.csv", "--html", "page.html"],
        &["explain", "new", "corn and oil"],
        &["compare", "test.csv", "new", "old"],
    ] {
        let output = sandbox.run(command);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let refused = stderr.contains("--other");
        assert!(output.status.success() || refused, "{command:?}: {stderr}");
    }
    let explained = &sandbox.json(&["explain", "new", "--json", "corn bank corn"])[0];
    let terms = explained["terms"].as_array().unwrap().iter();
    let parts: f64 = terms.map(|term| number(&term["log_odds"])).sum();
    let sum = number(&explained["base_log_odds"]) + parts;
    assert!((sum - number(&explained["calibrated_log_odds"])).abs() < 1e-9);
    let inspected = sandbox.json(&["inspect", "new", "--json"]);
    assert_eq!(inspected["recalibration"]["times"], 1);
    let text = sandbox.succeed(&["inspect", "new"]);
    assert!(text.contains("recalibrated on 200 documents"), "{text}");
    // A second time adds to the first.
    sandbox.succeed(&["recalibrate", "new", "same.csv", "-o", "again"]);
    let inspected = sandbox.json(&["inspect", "again", "--json"]);
    assert!(number(&inspected["recalibration"]["times"]) >= 1.0);
}

#[test]
fn several_labels_and_combinations_are_recalibrated() {
    let sandbox = sandbox();
    let all = multi_label_messages(900, 1);
    let new = shifted(&all[200..], "corn");
    sandbox.write("train.jsonl", json_lines(&all[..200], true));
    sandbox.write("new.jsonl", json_lines(&new[..150], true));
    sandbox.write("test.jsonl", json_lines(&new[150..], true));
    sandbox.succeed(&["fit", "train.jsonl", "-o", "several"]);
    let said = sandbox.json(&[
        "recalibrate",
        "several",
        "new.jsonl",
        "-o",
        "several2",
        "--json",
    ]);
    assert_eq!(said["log_loss_over"], "decisions");
    assert!(
        log_loss(&sandbox, "several2", "test.jsonl")
            <= 1.02 * log_loss(&sandbox, "several", "test.jsonl")
    );
    // The page draws the curve in force.
    let page = ["evaluate", "several2", "test.jsonl", "--html", "page.html"];
    sandbox.succeed(&page);
    let html = String::from_utf8(sandbox.read("page.html")).unwrap();
    assert_eq!(said["changed"], true);
    assert!(html.contains("corrected by new labels"));
    sandbox.succeed(&[
        "fit",
        "train.csv",
        "-o",
        "bayes",
        "--classifier",
        "naive-bayes",
    ]);
    sandbox.succeed(&[
        "combine", "old", "bayes", "--data", "same.csv", "-o", "both",
    ]);
    let said = sandbox.json(&["recalibrate", "both", "new.csv", "-o", "both2", "--json"]);
    assert_eq!(said["changed"], true);
    assert!(log_loss(&sandbox, "both2", "test.csv") < log_loss(&sandbox, "both", "test.csv"));
    let text = sandbox.succeed(&["inspect", "both2"]);
    assert!(text.contains("recalibrated on"), "{text}");
}

#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &[&str], parts: &[&str]) {
    let output = sandbox.run(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    for part in parts {
        assert!(stderr.contains(part), "{arguments:?}: {part} in {stderr}");
    }
}

#[test]
fn what_the_model_knows_is_refused_and_so_are_too_few() {
    let sandbox = sandbox();
    let known = ["recalibrate", "old", "train.csv", "-o", "out"];
    refused(
        &sandbox,
        &known,
        &["learned from about 200", "hint: ", "--even-if-learned-from"],
    );
    assert!(!sandbox.path("out").exists());
    sandbox.succeed(&[&known[..], &["--even-if-learned-from"]].concat());
    std::fs::remove_file(sandbox.path("out")).unwrap();
    sandbox.write("few.csv", csv(&messages(4, 3, 9)));
    refused(
        &sandbox,
        &["recalibrate", "old", "few.csv", "-o", "out"],
        &["at least 5", "hint: "],
    );
    sandbox.write("bare.csv", "id,text\n1,corn\n");
    refused(
        &sandbox,
        &["recalibrate", "old", "bare.csv", "-o", "out"],
        &["label"],
    );
    refused(
        &sandbox,
        &["recalibrate", "old", "new.csv", "-o", "out", "--folds", "1"],
        &["--folds"],
    );
    refused(
        &sandbox,
        &["recalibrate", "train.csv", "new.csv", "-o", "out"],
        &["train.csv"],
    );
    assert!(!sandbox.path("out").exists());
}

#[test]
fn where_nothing_is_gained_the_model_stays_what_it_is() {
    let sandbox = sandbox();
    let mut unchanged = 0;
    for seed in 20..24 {
        sandbox.write("same.csv", csv(&messages(60, 3, seed)));
        let said = sandbox.json(&["recalibrate", "old", "same.csv", "-o", "new", "--json"]);
        if said["changed"] == false {
            unchanged += 1;
            assert_eq!(sandbox.read("new"), sandbox.read("old"));
        }
    }
    assert!(unchanged > 0);
    // Copies are one piece of evidence.
    let text = sandbox.succeed(&["recalibrate", "old", "new.csv", "-o", "new"]);
    let twice = messages(40, 3, 30);
    sandbox.write("twice.csv", csv(&[twice.clone(), twice].concat()));
    let said = sandbox.json(&["recalibrate", "old", "twice.csv", "-o", "new", "--json"]);
    assert!(said["copies"].as_u64().unwrap() >= 40, "{said} {text}");
}
