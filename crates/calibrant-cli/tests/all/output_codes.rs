//! Every code, decoding and learner under a code through every command.

use crate::common;

use common::{Sandbox, csv, json_lines, messages, multi_label_messages};
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn corpora() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("two.csv", csv(&messages(60, 2, 1)));
    sandbox.write("five.csv", csv(&messages(120, 5, 1)));
    let several = json_lines(&multi_label_messages(100, 1), true);
    sandbox.write("several.jsonl", several);
    sandbox
}

/// Fits five classes with the options and uses the model in every way.
#[track_caller]
fn check(sandbox: &Sandbox, options: &[&str]) {
    let fit = sandbox.json(&[&["fit", "five.csv", "-o", "model", "--json"], options].concat());
    assert_eq!(fit["classes"].as_array().unwrap().len(), 5, "{options:?}");
    let accuracy = number(&fit["held_out"]["accuracy"]);
    assert!(accuracy > 0.5, "{options:?}: {accuracy}");
    let told = sandbox.succeed(&[&["fit", "five.csv", "-o", "again"], options].concat());
    assert!(told.contains("output code "), "{told}");
    assert_eq!(sandbox.read("model"), sandbox.read("again"));
    for line in sandbox
        .succeed(&["predict", "model", "five.csv", "--json"])
        .lines()
    {
        let row: Value = serde_json::from_str(line).unwrap();
        let classes = row["classes"].as_array().unwrap().iter();
        let values: Vec<f64> = classes.map(|class| number(&class["probability"])).collect();
        assert!(values.iter().all(|&p| p > 0.0 && p < 1.0), "{line}");
        assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{line}");
    }
    sandbox.json(&["evaluate", "model", "five.csv", "--json"]);
    assert!(
        sandbox
            .succeed(&["inspect", "model"])
            .contains("places apart")
    );
    check_explanations(sandbox, options);
}

/// Base and terms add up to the calibrated log-odds, for every class.
#[track_caller]
fn check_explanations(sandbox: &Sandbox, options: &[&str]) {
    let summary = sandbox.json(&["inspect", "model", "--json"]);
    let labels = summary["summary"]["classes"].as_array().unwrap().iter();
    let mut base = vec!["explain", "model", "--json", "--file", "five.csv"];
    for class in labels {
        base.extend(["--class", class["label"].as_str().unwrap()]);
    }
    let mut moved = 0.0;
    for row in ["1", "7", "20"] {
        let mut arguments = base.clone();
        arguments.extend(["--row", row]);
        for explanation in sandbox.json(&arguments).as_array().unwrap() {
            let terms = explanation["terms"].as_array().unwrap().iter();
            let parts: Vec<f64> = terms.map(|term| number(&term["log_odds"])).collect();
            let total = number(&explanation["calibrated_log_odds"]);
            let sum = number(&explanation["base_log_odds"]) + parts.iter().sum::<f64>();
            assert!((sum - total).abs() < 1e-9, "{options:?}: {sum} {total}");
            moved += parts.iter().map(|part| part.abs()).sum::<f64>();
        }
    }
    assert!(moved > 0.0, "{options:?}: no term moves anything");
}

#[test]
fn every_design_and_decoding_goes_all_the_way() {
    let sandbox = corpora();
    for design in [
        "one_vs_all",
        "all_pairs",
        "exhaustive",
        "random_dense",
        "random_sparse",
        "bch",
    ] {
        check(&sandbox, &["--code", design, "--calibrator", "platt"]);
        if !["all_pairs", "random_sparse"].contains(&design) {
            let options = ["--code", design, "--decode", "least_squares"];
            check(&sandbox, &options);
        }
    }
}

#[test]
fn every_learner_goes_all_the_way_under_a_code() {
    let sandbox = corpora();
    for classifier in [
        "svm",
        "logistic",
        "naive-bayes",
        "bernoulli-naive-bayes",
        "complement-naive-bayes",
        "rocchio",
        "adaboost",
    ] {
        for design in ["random_dense", "random_sparse"] {
            let rounds = if classifier == "adaboost" {
                &["--rounds", "10"][..]
            } else {
                &[]
            };
            let options = [
                "--classifier",
                classifier,
                "--code",
                design,
                "--calibrator",
                "platt",
            ];
            check(&sandbox, &[&options[..], rounds].concat());
        }
    }
}

#[test]
fn every_output_and_weight_goes_all_the_way() {
    let sandbox = corpora();
    for output in ["sign", "clip", "tanh", "probability"] {
        for weights in ["equal", "accuracy"] {
            let options = [
                "--code",
                "random_dense",
                "--code-length",
                "12",
                "--code-output",
                output,
                "--code-weights",
                weights,
            ];
            // A sign has no slope: no term moves it by itself.
            if output == "sign" {
                sandbox
                    .json(&[&["fit", "five.csv", "-o", "model", "--json"], &options[..]].concat());
                continue;
            }
            check(&sandbox, &options);
        }
    }
    check(
        &sandbox,
        &["--code", "bch", "--multiclass", "auto", "--hash-bits", "8"],
    );
    let balanced = ["--code", "exhaustive", "--class-weight", "balanced"];
    check(&sandbox, &balanced);
    let selected = ["--code", "exhaustive", "--select", "mutual-information"];
    let selected = [&selected[..], &["--select-terms", "20"]].concat();
    check(&sandbox, &selected);
    check(&sandbox, &[&selected[..], &["--select-per-class"]].concat());
}

#[test]
fn the_number_of_threads_does_not_change_the_model() {
    let sandbox = corpora();
    for design in ["random_dense", "all_pairs"] {
        let fit = |threads, model| {
            let options = ["fit", "five.csv", "--code", design, "--threads", threads];
            sandbox.succeed(&[&options[..], &["-o", model]].concat());
        };
        fit("1", "one");
        fit("3", "three");
        assert_eq!(sandbox.read("one"), sandbox.read("three"), "{design}");
    }
}

#[test]
fn codes_that_cannot_be_are_refused() {
    let sandbox = corpora();
    let refused = |file: &str, options: &[&str], piece: &str| {
        let found = sandbox.run(&[&["fit", file, "-o", "model"], options].concat());
        let said = String::from_utf8_lossy(&found.stderr).into_owned();
        assert_eq!(found.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(piece), "{options:?}: {said}");
        assert!(!sandbox.path("model").exists());
    };
    refused(
        "two.csv",
        &["--code", "bch"],
        "3 or more for an output code",
    );
    refused(
        "several.jsonl",
        &["--code", "bch"],
        "one per document with an output code",
    );
    refused(
        "five.csv",
        &["--code", "bch", "--labels", "several"],
        "one per document with an output code",
    );
    refused("five.csv", &["--code-length", "5"], "--code");
    refused("five.csv", &["--decode", "least_squares"], "--code");
    refused(
        "five.csv",
        &["--code", "random_dense", "--code-length", "16"],
        "at most 15",
    );
    refused(
        "five.csv",
        &["--code", "exhaustive", "--code-length", "15"],
        "absent",
    );
    refused(
        "five.csv",
        &["--code", "all_pairs", "--decode", "least_squares"],
        "without zeros",
    );
    refused(
        "five.csv",
        &["--code", "bch", "--class-weight", "a=2"],
        "equal or balanced",
    );
    refused("five.csv", &["--code", "hamming"], "random_dense");
}
