//! Every classifier, weighting, selection and calibrator through every command.

use crate::common;

use common::{Sandbox, csv, json_lines, messages, multi_label_messages};
use serde_json::Value;

const CLASSIFIERS: [&[&str]; 13] = [
    &["--classifier", "svm"],
    &[
        "--classifier",
        "svm",
        "--loss",
        "hinge",
        "--class-weight",
        "balanced",
    ],
    &["--classifier", "logistic", "--c", "2"],
    &["--classifier", "naive-bayes", "--word-prior", "3"],
    &["--classifier", "bernoulli-naive-bayes", "--alpha", "0.5"],
    &["--classifier", "complement-naive-bayes"],
    &["--classifier", "adaboost", "--rounds", "20"],
    &[
        "--classifier",
        "adaboost",
        "--boosting",
        "discrete",
        "--rounds",
        "7",
        "--class-weight",
        "balanced",
        "--weighting",
        "binary",
        "--multiclass",
        "auto",
    ],
    &["--classifier", "knn"],
    &[
        "--classifier",
        "knn",
        "--neighbours",
        "5",
        "--vote",
        "majority",
        "--approximate",
        "--multiclass",
        "auto",
    ],
    &["--classifier", "perceptron", "--epochs", "3"],
    &["--classifier", "perceptron", "--voted"],
    &[
        "--classifier",
        "perceptron",
        "--voted",
        "--class-weight",
        "balanced",
        "--multiclass",
        "auto",
    ],
];

/// Corpora of two and of five classes, and one of several labels.
fn corpora() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("two.csv", csv(&messages(60, 2, 1)));
    sandbox.write("five.csv", csv(&messages(120, 5, 1)));
    let several = json_lines(&multi_label_messages(100, 1), true);
    sandbox.write("several.jsonl", several);
    sandbox
}

/// Draws of the bootstrap: none of these tests is about its numbers.
const FEW: &str = "50";

const CORPORA: [(&str, usize); 3] = [("two.csv", 2), ("five.csv", 5), ("several.jsonl", 4)];

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

/// Fits with the options and uses the model in every way.
#[track_caller]
fn check(sandbox: &Sandbox, file: &str, class_count: usize, options: &[&str]) {
    let fit = sandbox.json(&[&["fit", file, "-o", "model", "--json"], options].concat());
    assert_eq!(
        fit["classes"].as_array().unwrap().len(),
        class_count,
        "{options:?}"
    );
    assert!(number(&fit["held_out"]["log_loss"]) > 0.0);
    sandbox.succeed(&[&["fit", file, "-o", "model"], options].concat());

    let single = file != "several.jsonl";
    for line in sandbox
        .succeed(&["predict", "model", file, "--json"])
        .lines()
    {
        let row: Value = serde_json::from_str(line).unwrap();
        let classes = row["classes"].as_array().unwrap();
        let values: Vec<f64> = classes
            .iter()
            .map(|class| number(&class["probability"]))
            .collect();
        assert!(values.iter().all(|&p| p > 0.0 && p < 1.0), "{line}");
        if single {
            let sum: f64 = values.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{options:?}: {line}");
        }
    }
    check_evaluation(sandbox, file, class_count, single);
    sandbox.succeed(&["evaluate", "model", file, "--bootstrap", FEW]);
    sandbox.succeed(&["explain", "model", "corn", "bank", "corn"]);
    // Stored documents and stages of weights have no weight per term.
    let has_terms = !["--hash-bits", "knn", "--voted"]
        .iter()
        .any(|option| options.contains(option));
    let terms: &[&str] = if has_terms { &["--terms", "3"] } else { &[] };
    sandbox.succeed(&[&["inspect", "model"], terms].concat());
    let inspected = sandbox.json(&[&["inspect", "model", "--json"], terms].concat());
    assert_eq!(inspected["format_version"], 4);
    if has_terms {
        assert_eq!(inspected["terms"].as_object().unwrap().len(), class_count);
    }
    check_explanations(sandbox, file, options, &inspected);
}

#[track_caller]
fn check_evaluation(sandbox: &Sandbox, file: &str, class_count: usize, single: bool) {
    let report = sandbox.json(&["evaluate", "model", file, "--bootstrap", FEW, "--json"]);
    for name in [
        "documents",
        "decisions",
        "micro_f1",
        "macro_f1",
        "log_loss",
        "brier",
        "ece",
    ] {
        assert!(number(&report[name]) >= 0.0, "{name}");
    }
    let interval = &report["bootstrap"]["error_rate"];
    assert!(number(&interval["lower"]) <= number(&interval["upper"]));
    assert!(interval["value"].is_number());
    let calibration = &report["calibration"];
    for name in ["log_loss", "brier"] {
        assert!(number(&calibration["yes_no"][name]) >= 0.0, "{name}");
    }
    assert!(number(&calibration["positive_share"]) >= 0.0);
    assert_eq!(calibration["ece_equal_mass"]["value"], report["ece"]);
    assert_eq!(report["confusion"].is_array(), single);
    let unit = if single { "documents" } else { "decisions" };
    assert_eq!(report["log_loss_over"], unit);
    assert_eq!(report["accuracy"].is_number(), single);
    let classes = report["classes"].as_array().unwrap();
    assert_eq!(classes.len(), class_count);
    for class in classes {
        assert!(class["label"].is_string());
        for name in ["positives", "predicted", "log_loss", "brier"] {
            assert!(number(&class[name]) >= 0.0, "{name}");
        }
        // What has nothing to be measured on is no zero.
        for (name, of) in [("precision", "predicted"), ("recall", "positives")] {
            assert_eq!(class[name].is_null(), number(&class[of]) == 0.0, "{name}");
        }
        assert!(class["f1"].is_null() || number(&class["f1"]) >= 0.0);
    }
}

/// Base and terms add up to the calibrated log-odds, for every class.
#[track_caller]
fn check_explanations(sandbox: &Sandbox, file: &str, options: &[&str], inspected: &Value) {
    let labels = inspected["summary"]["classes"].as_array().unwrap().iter();
    let mut base = vec!["explain", "model", "--json", "--file", file];
    for class in labels {
        base.extend(["--class", class["label"].as_str().unwrap()]);
    }
    for row in ["1", "7", "20"] {
        let mut arguments = base.clone();
        arguments.extend(["--row", row]);
        let explanations = sandbox.json(&arguments);
        for explanation in explanations.as_array().unwrap() {
            let terms = explanation["terms"].as_array().unwrap();
            let total = number(&explanation["calibrated_log_odds"]);
            let sum = number(&explanation["base_log_odds"])
                + terms
                    .iter()
                    .map(|term| number(&term["log_odds"]))
                    .sum::<f64>();
            assert!((sum - total).abs() < 1e-9, "{options:?}: {sum} {total}");
            assert!(terms.iter().all(|term| term["term"] != ""), "{explanation}");
        }
    }
}

#[track_caller]
fn check_everywhere(options: &[&str]) {
    let sandbox = corpora();
    for (file, class_count) in CORPORA {
        check(&sandbox, file, class_count, options);
    }
}

#[test]
fn every_classifier_goes_all_the_way() {
    for options in CLASSIFIERS {
        check_everywhere(options);
    }
}

#[test]
fn every_weighting_goes_all_the_way() {
    for weighting in ["binary", "tf", "log-tf", "tf-idf", "log-tf-idf", "bm25"] {
        for l2_norm in ["yes", "no"] {
            check_everywhere(&["--weighting", weighting, "--l2-norm", l2_norm]);
        }
        check_everywhere(&["--weighting", weighting, "--classifier", "naive-bayes"]);
    }
}

#[test]
fn every_selection_goes_all_the_way() {
    for measure in [
        "mutual-information",
        "chi-square",
        "document-frequency",
        "conditional-mutual-information",
    ] {
        for classifier in ["svm", "logistic", "naive-bayes"] {
            let select = [
                "--select",
                measure,
                "--select-terms",
                "9",
                "--classifier",
                classifier,
            ];
            check_everywhere(&select);
            check_everywhere(&[&select[..], &["--select-per-class"]].concat());
        }
    }
}

#[test]
fn every_calibrator_goes_all_the_way() {
    for calibrator in ["auto", "platt", "asymmetric-laplace", "none"] {
        for classifier in ["svm", "naive-bayes"] {
            check_everywhere(&["--calibrator", calibrator, "--classifier", classifier]);
        }
    }
}

#[test]
fn every_way_for_many_classes_goes_all_the_way() {
    for way in [
        "one_vs_rest",
        "temperature",
        "vector",
        "dirichlet",
        "coupling",
        "auto",
    ] {
        for classifier in ["svm", "naive-bayes"] {
            let options = ["--multiclass", way, "--classifier", classifier];
            if way == "one_vs_rest" || way == "auto" {
                check_everywhere(&options);
                continue;
            }
            // Documents with several labels have no classes that exclude each other.
            let sandbox = corpora();
            for (file, class_count) in CORPORA {
                if file == "several.jsonl" {
                    continue;
                }
                check(&sandbox, file, class_count, &options);
            }
        }
    }
}

#[test]
fn every_way_to_cut_text_goes_all_the_way() {
    for options in [
        &["--hash-bits", "10"][..],
        &["--hash-bits", "5", "--classifier", "bernoulli-naive-bayes"],
        &[
            "--word-ngrams",
            "2",
            "--stem",
            "english",
            "--stop-words",
            "english",
        ],
        &["--char-ngrams", "2-4", "--keep-case", "--fold-accents"],
        &[
            "--min-df",
            "1",
            "--max-df",
            "0.5",
            "--max-features",
            "12",
            "--min-word-length",
            "4",
        ],
        &["--segmentation", "characters", "--no-emoji", "--no-signs"],
        &["--segmentation", "dictionary"],
        &["--segmentation", "dictionary-pairs"],
        &["--segmentation", "pairs", "--word-ngrams", "2"],
        &["--folds", "2", "--seed", "9"],
        &["--classes", "corn,money"],
    ] {
        let sandbox = corpora();
        let restricted = options.contains(&"--classes");
        for (file, class_count) in CORPORA {
            if restricted && file == "five.csv" {
                // Documents of other classes are left out, and evaluating says so.
                sandbox.succeed(&[&["fit", file, "-o", "model"], options].concat());
                let report = sandbox.json(&["evaluate", "model", file, "--json"]);
                assert!(number(&report["documents_left_out"]) > 0.0);
            } else {
                check(
                    &sandbox,
                    file,
                    if restricted { 2 } else { class_count },
                    options,
                );
            }
        }
    }
}

#[test]
fn help_and_version_are_there_for_every_command() {
    let sandbox = Sandbox::new();
    let commands = [
        "fit",
        "predict",
        "evaluate",
        "explain",
        "inspect",
        "demo",
        "completions",
    ];
    let overview = sandbox.succeed(&["--help"]);
    for command in commands {
        assert!(overview.contains(command));
        for help in [&[command, "--help"][..], &["help", command]] {
            let shown = sandbox.succeed(help);
            assert!(shown.contains("Usage: calibrant"), "{shown}");
        }
    }
    assert!(sandbox.succeed(&["--version"]).starts_with("calibrant "));
    assert_eq!(sandbox.run(&[]).status.code(), Some(2));
    assert_eq!(sandbox.run(&["learn"]).status.code(), Some(2));
}

#[test]
fn completions_are_there_for_every_shell() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = sandbox.succeed(&["completions", shell]);
        assert!(
            script.contains("calibrant") && script.contains("evaluate"),
            "{shell}"
        );
    }
}
