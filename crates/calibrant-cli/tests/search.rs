//! `calibrant fit --search`: what was tried, what was kept, what stays as it was asked for.

mod common;

use common::{Sandbox, csv, json_lines, messages, multi_label_messages};
use serde_json::Value;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("mail.csv", csv(&messages(90, 3, 1)));
    sandbox
}

/// Fits with a search and as much time as it takes.
fn searched(sandbox: &Sandbox, file: &str, options: &[&str]) -> Value {
    let fit = ["fit", file, "-o", "model", "--json", "--folds", "3"];
    let search = ["--search", "--time-budget", "1e6", "--calibrator", "platt"];
    sandbox.json(&[&fit[..], &search, options].concat())
}

fn trials(report: &Value) -> &Vec<Value> {
    report["search"].as_array().unwrap()
}

#[test]
fn the_best_trial_becomes_the_model() {
    let sandbox = sandbox();
    let report = searched(&sandbox, "mail.csv", &[]);
    let loss = |trial: &Value| trial["log_loss"].as_f64().unwrap();
    let least = trials(&report).iter().map(loss).fold(1e9, f64::min);
    assert_eq!(report["held_out"]["log_loss"].as_f64(), Some(least));
    let chosen: Vec<&Value> = trials(&report)
        .iter()
        .filter(|trial| trial["chosen"] == true)
        .collect();
    assert_eq!(chosen.len(), 1);
    assert_eq!(loss(chosen[0]), least);
    assert!(trials(&report).iter().all(|t| t["seconds"].is_f64()));
    let mut learners: Vec<&str> = trials(&report)
        .iter()
        .map(|trial| trial["classifier"]["learner"].as_str().unwrap())
        .collect();
    learners.sort_unstable();
    learners.dedup();
    for expected in [
        "linear_svm",
        "logistic_regression",
        "naive_bayes",
        "rocchio",
    ] {
        assert!(learners.contains(&expected), "{learners:?}");
    }

    let inspected = sandbox.json(&["inspect", "model", "--json"]);
    assert_eq!(inspected["settings"]["classifier"], chosen[0]["classifier"]);
    let kept = inspected["summary"]["search"].as_array().unwrap();
    assert_eq!(kept.len(), trials(&report).len());
    assert!(kept.iter().all(|trial| trial.get("seconds").is_none()));
    let shown = sandbox.succeed(&["inspect", "model"]);
    assert!(shown.contains("chosen (*) among"), "{shown}");
    assert!(shown.contains("complement naive Bayes, alpha 1"), "{shown}");
    sandbox.succeed(&["predict", "model", "mail.csv"]);
}

#[test]
fn options_that_were_given_are_not_turned() {
    let sandbox = sandbox();
    let options = ["--classifier", "svm", "--c", "2"];
    let report = searched(&sandbox, "mail.csv", &options);
    assert_eq!(trials(&report).len(), 6);
    for trial in trials(&report) {
        assert_eq!(trial["classifier"]["learner"], "linear_svm");
        assert_eq!(trial["classifier"]["c"], 2.0);
    }
    let options = ["--weighting", "bm25", "--bm25-b", "0.5", "--l2-norm", "yes"];
    let report = searched(&sandbox, "mail.csv", &options);
    for trial in trials(&report) {
        assert_eq!(trial["weighting"]["weighting"]["kind"], "bm25");
        assert_eq!(trial["weighting"]["weighting"]["b"], 0.5);
        assert_eq!(trial["weighting"]["l2_norm"], true);
    }
    // A price that only some learners have: theirs stays, the others' does not.
    let report = searched(&sandbox, "mail.csv", &["--alpha", "0.5"]);
    let of = |learner: &str, price: fn(&Value) -> &Value| {
        let own = trials(&report)
            .iter()
            .filter(|trial| trial["classifier"]["learner"] == learner);
        own.map(|trial| price(&trial["classifier"]).as_f64().unwrap())
            .collect::<Vec<f64>>()
    };
    let alphas = of(
        "naive_bayes",
        |classifier| &classifier["smoothing"]["alpha"],
    );
    assert!(alphas.iter().all(|&alpha| alpha == 0.5), "{alphas:?}");
}

#[test]
fn without_time_one_trial_is_made_and_said_to_be_all() {
    let sandbox = sandbox();
    let search = ["--search", "--time-budget", "0"];
    let output = sandbox.run(&[&["fit", "mail.csv", "-o", "model"][..], &search].concat());
    assert_eq!(output.status.code(), Some(0));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("--time-budget"), "{said}");
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("linear SVM, c 0.5"), "{shown}");
    assert!(shown.contains("seconds"), "{shown}");
    let inspected = sandbox.json(&["inspect", "model", "--json"]);
    let kept = inspected["summary"]["search"].as_array().unwrap();
    assert_eq!(kept.len(), 1);
}

#[test]
fn several_labels_are_searched_too_and_threads_change_nothing() {
    let sandbox = sandbox();
    let several = json_lines(&multi_label_messages(80, 1), true);
    sandbox.write("several.jsonl", several);
    let options = ["--weighting", "tf-idf"];
    for threads in ["1", "3"] {
        let threads = ["--threads", threads];
        searched(
            &sandbox,
            "several.jsonl",
            &[&options[..], &threads].concat(),
        );
        std::fs::rename(sandbox.path("model"), sandbox.path(threads[1])).unwrap();
    }
    assert!(sandbox.read("1") == sandbox.read("3"));
    sandbox.succeed(&["evaluate", "1", "several.jsonl"]);
}

#[test]
fn a_plain_fit_lists_no_trials() {
    let sandbox = sandbox();
    let report = sandbox.json(&["fit", "mail.csv", "-o", "model", "--json"]);
    assert!(report.get("search").is_none());
    let inspected = sandbox.json(&["inspect", "model", "--json"]);
    assert!(inspected["summary"].get("search").is_none());
    assert!(
        !sandbox
            .succeed(&["inspect", "model"])
            .contains("chosen (*)")
    );
}

#[test]
fn wrong_budgets_are_refused() {
    let sandbox = sandbox();
    for wrong in [
        &["--search", "--time-budget", "-1"][..],
        &["--search", "--time-budget", "nan"],
        &["--search", "--time-budget", "soon"],
        &["--time-budget", "60"],
        &["--search", "--c", "0"],
        &["--search", "--folds", "1"],
    ] {
        let output = sandbox.run(&[&["fit", "mail.csv", "-o", "model"][..], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(!sandbox.path("model").exists(), "{wrong:?}");
    }
}
