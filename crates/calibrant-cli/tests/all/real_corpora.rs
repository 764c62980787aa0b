//! What the README promises on real corpora: quality at least as good as the best that
//! scikit-learn reaches with the same kind of model (`bench/run` measures both).

use crate::common;
use crate::data_file;

use common::Sandbox;
use data_file::data_file;
use serde_json::Value;

/// The path of a corpus.
fn corpus(name: &str) -> Option<String> {
    let path = data_file(name)?.canonicalize().unwrap();
    Some(path.display().to_string())
}

fn number(report: &Value, name: &str) -> f64 {
    report[name]
        .as_f64()
        .unwrap_or_else(|| panic!("no number `{name}`"))
}

const TEN: &str = "earn,acq,money-fx,grain,crude,trade,interest,ship,wheat,corn";

#[test]
fn twenty_newsgroups_are_told_apart_with_honest_probabilities() {
    let Some(file) = corpus("20newsgroups.jsonl.gz") else {
        return;
    };
    let sandbox = Sandbox::new();
    let fit = ["fit", &file, "--text", "subject,text", "--label", "label"];
    let rest = ["--where", "split=train", "--classifier", "svm", "-o", "m"];
    sandbox.succeed(&[&fit[..], &rest[..]].concat());
    // The model remembers its fields.
    let report = sandbox.json(&["evaluate", "m", &file, "--where", "split=test", "--json"]);
    assert_eq!(report["documents"], 7532);
    assert!(number(&report, "accuracy") >= 0.857, "{report}");
    assert!(number(&report, "log_loss") <= 0.5517, "{report}");
    assert!(sandbox.read("m").len() <= 25_000_000);
}

fn reuters(sandbox: &Sandbox, file: &str, classes: &[&str]) -> Value {
    let fit = ["fit", file, "--text", "title,body", "--label", "topics"];
    let rest = ["--where", "split=train", "-o", "m"];
    sandbox.succeed(&[&fit[..], &rest[..], classes].concat());
    sandbox.json(&["evaluate", "m", file, "--where", "split=test", "--json"])
}

#[test]
fn ten_reuters_topics_are_found_with_honest_probabilities() {
    let Some(file) = corpus("reuters21578.jsonl.gz") else {
        return;
    };
    let report = reuters(&Sandbox::new(), &file, &["--classes", TEN]);
    assert_eq!(report["decisions"], 32_990);
    assert_eq!(report["log_loss_over"], "decisions");
    assert!(number(&report, "micro_f1") >= 0.922, "{report}");
    assert!(number(&report, "log_loss") <= 0.0343, "{report}");
}

#[test]
fn all_reuters_topics_fit_even_those_with_fewer_positives_than_folds() {
    let Some(file) = corpus("reuters21578.jsonl.gz") else {
        return;
    };
    let sandbox = Sandbox::new();
    let report = reuters(&sandbox, &file, &[]);
    assert_eq!(report["classes_present"], 90);
    assert!(number(&report, "micro_f1_present") >= 0.85, "{report}");
    let summary = &sandbox.json(&["inspect", "m", "--json"])["summary"];
    let borrowed = |class: &&Value| class["calibration"] == "pooled";
    let classes = summary["classes"].as_array().unwrap();
    assert_eq!(classes.len(), 115);
    for class in classes.iter().filter(borrowed) {
        assert!(class["positives"].as_u64().unwrap() < 5, "{class}");
    }
    assert!(classes.iter().filter(borrowed).count() > 20);
}
