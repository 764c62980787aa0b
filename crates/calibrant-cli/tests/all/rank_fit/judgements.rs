//! Rankings learned from runs and judgements, where some are missing.

use std::fmt::Write as _;

use super::refused;
use crate::common::Sandbox;

/// Learns from the run `good.txt` and the judgements `qrels.txt`.
const FIT: [&str; 10] = [
    "rank",
    "fit",
    "--qrels",
    "qrels.txt",
    "--from-run",
    "good.txt",
    "--c",
    "1",
    "-o",
    "model",
];

/// Judgements of twelve queries and a run of fourteen; `d9` is relevant and never listed, `d5` never judged.
fn with_gaps(sandbox: &Sandbox) {
    let (mut qrels, mut run) = (String::new(), String::new());
    for query in 1..=14 {
        for document in 0..6 {
            let relevant = usize::from((query + document) % 3 == 0);
            if query <= 12 && document != 5 {
                writeln!(qrels, "{query} 0 d{document} {relevant}").unwrap();
            }
            let score = relevant * 3 + (query * 5 + document * 3) % 4;
            writeln!(run, "{query} Q0 d{document} 1 {score} good").unwrap();
        }
        if query <= 12 {
            writeln!(qrels, "{query} 0 d9 1").unwrap();
        }
    }
    sandbox.write("qrels.txt", qrels);
    sandbox.write("good.txt", run);
}

#[test]
fn what_nobody_judged_is_told_and_left_out_if_asked() {
    let sandbox = Sandbox::new();
    with_gaps(&sandbox);
    let all = |arguments: &[&str]| {
        let output = sandbox.run(arguments);
        String::from_utf8([output.stderr, output.stdout].concat()).unwrap()
    };
    let said = all(&FIT);
    for part in [
        "2 queries without any judgement are left out",
        "60 of 72 documents were judged (83.3 %); the others count as not relevant",
        "12 relevant documents are in none of the runs",
        "12 queries, 72 documents",
    ] {
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
    let left = [&FIT[..], &["--unjudged", "leave-out"]].concat();
    let said = all(&left);
    assert!(said.contains("12 queries, 60 documents"), "{said}");
    assert!(said.contains("the others are left out"), "{said}");
    refused(
        &sandbox,
        &[&FIT[..], &["--unjudged", "one"]].concat(),
        &["leave-out"],
    );
}

#[test]
fn map_differs_from_evaluate_by_what_is_not_listed_alone() {
    let sandbox = Sandbox::new();
    with_gaps(&sandbox);
    let summary = sandbox.json(&[&FIT[..], &["--json"]].concat());
    sandbox.succeed(&[
        "rank",
        "predict",
        "model",
        "--from-run",
        "good.txt",
        "-o",
        "out.run",
    ]);
    let evaluated = || {
        let found = sandbox.json(&[
            "rank",
            "evaluate",
            "-m",
            "map",
            "--json",
            "qrels.txt",
            "out.run",
        ]);
        found["runs"][0]["measures"]["map"].as_f64().unwrap()
    };
    let map = summary["training_map"].as_f64().unwrap();
    assert!(evaluated() < map - 0.05);
    let listed = String::from_utf8(sandbox.read("qrels.txt")).unwrap();
    let listed = listed.lines().filter(|line| !line.contains(" d9 "));
    sandbox.write(
        "qrels.txt",
        listed.fold(String::new(), |text, line| text + line + "\n"),
    );
    assert!((evaluated() - map).abs() < 1e-12, "{} {map}", evaluated());
}

#[test]
fn a_run_that_the_model_needs_and_does_not_get_is_an_error() {
    let sandbox = Sandbox::new();
    with_gaps(&sandbox);
    let other = String::from_utf8(sandbox.read("good.txt")).unwrap();
    sandbox.write("other.txt", other.replace(" good", " other"));
    sandbox.succeed(&[&FIT[..], &["--from-run", "other.txt"]].concat());
    let predict = ["rank", "predict", "model", "--from-run", "good.txt"];
    refused(
        &sandbox,
        &predict,
        &["1 of the 2 columns", "`other`", "--ignore-missing"],
    );
    let said = sandbox.run(&[&predict[..], &["--ignore-missing"]].concat());
    assert!(said.status.success());
    assert!(String::from_utf8(said.stderr).unwrap().contains("`other`"));
}
