//! Probabilities of relevance, and how much of a list is left to read.

use std::fmt::Write as _;

use super::{refused, sandbox};
use crate::common::Sandbox;

#[test]
fn probabilities_of_relevance_stand_beside_scores() {
    let sandbox = sandbox();
    let fit = [
        "rank",
        "fit",
        "train.txt",
        "--validation",
        "vali.txt",
        "-o",
        "model",
    ];
    sandbox.succeed(&fit);
    let shown = sandbox.json(&["inspect", "model", "--json"]);
    assert_eq!(shown["relevance"]["summary"]["queries"], 28);
    let scores = sandbox.succeed(&["rank", "predict", "model", "test.txt"]);
    let both = sandbox.succeed(&["rank", "predict", "model", "test.txt", "--probabilities"]);
    assert_eq!(both.lines().count(), 80);
    let mut pairs = Vec::new();
    for (alone, line) in scores.lines().zip(both.lines()) {
        let (score, probability) = line.split_once('\t').unwrap();
        assert_eq!(score, alone);
        let probability: f64 = probability.parse().unwrap();
        assert!(probability > 0.0 && probability < 1.0);
        pairs.push((score.parse::<f64>().unwrap(), probability));
    }
    // Within a query probabilities rank as scores do.
    for query in pairs.chunks(10) {
        for (a, b) in query.iter().flat_map(|a| query.iter().map(move |b| (a, b))) {
            assert!(a.0 <= b.0 || a.1 >= b.1, "{a:?} {b:?}");
        }
    }
    let lines = sandbox.succeed(&["rank", "predict", "model", "test.txt", "--json"]);
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["query"], &first["rank"]),
        (&"200".into(), &1.into())
    );
    assert!(first["probability"].as_f64().unwrap() > 0.5);

    let bare = [
        "rank",
        "fit",
        "train.txt",
        "--c",
        "1",
        "--calibrator",
        "none",
        "-o",
        "bare",
    ];
    sandbox.succeed(&bare);
    let asked = ["rank", "predict", "bare", "test.txt", "--probabilities"];
    refused(
        &sandbox,
        &asked,
        &["no probabilities of relevance", "--calibrator none"],
    );
}

#[test]
fn the_outlook_says_how_much_is_left_and_where_to_stop() {
    let sandbox = sandbox();
    // By hand: of 0.9, 0.8, 0.2, 0.1 two relevant documents are expected, 1.7 of them in the first two ranks.
    sandbox.write(
        "run.txt",
        "q Q0 a 1 0.9 r\nq Q0 b 2 0.8 r\nq Q0 c 3 0.2 r\nq Q0 d 4 0.1 r\n",
    );
    let outlook = [
        "rank", "outlook", "run.txt", "--recall", "0.85", "--at", "1,2", "--json",
    ];
    let found = &sandbox.json(&outlook)[0];
    let near = |name: &str, value: f64| (found[name].as_f64().unwrap() - value).abs() < 1e-12;
    assert!(near("expected_relevant", 2.0));
    assert!((found["expected_below"]["2"].as_f64().unwrap() - 0.3).abs() < 1e-12);
    assert_eq!(
        (&found["stop"], &found["documents"]),
        (&2.into(), &4.into())
    );
    assert!(found["sure_stop"].as_u64().unwrap() > 2);

    sandbox.write("qrels.txt", "q 0 a 1\nq 0 b 0\nq 0 d 1\n");
    let judged = [
        "rank",
        "outlook",
        "run.txt",
        "--recall",
        "0.85",
        "--qrels",
        "qrels.txt",
        "--json",
    ];
    let judged = &sandbox.json(&judged)[0];
    assert_eq!(
        (&judged["relevant_listed"], &judged["recall_at_stop"]),
        (&2.into(), &0.5.into())
    );
    let shown = sandbox.succeed(&["rank", "outlook", "run.txt", "--qrels", "qrels.txt"]);
    assert!(
        shown.contains("expected") && shown.contains("of 1 judged queries"),
        "{shown}"
    );

    sandbox.succeed(&["rank", "fit", "train.txt", "--c", "1", "-o", "model"]);
    let predict = [
        "rank",
        "predict",
        "model",
        "test.txt",
        "--run",
        "--probabilities",
        "-o",
        "p.run",
    ];
    sandbox.succeed(&predict);
    assert_eq!(
        sandbox
            .json(&["rank", "outlook", "p.run", "--json"])
            .as_array()
            .unwrap()
            .len(),
        8
    );
    sandbox.write("scores.run", "q Q0 a 1 0.9 r\nq Q0 b 2 -3 r\n");
    refused(
        &sandbox,
        &["rank", "outlook", "scores.run"],
        &["line 2", "-3", "--probabilities"],
    );
    refused(
        &sandbox,
        &["rank", "outlook", "run.txt", "--recall", "0"],
        &["--recall"],
    );
}

#[test]
fn the_outlook_says_what_its_certainty_rests_on() {
    let sandbox = sandbox();
    sandbox.succeed(&["rank", "fit", "train.txt", "--c", "1", "-o", "ranking"]);
    let predict = [
        "rank",
        "predict",
        "ranking",
        "test.txt",
        "--run",
        "--probabilities",
        "-o",
        "test.run",
    ];
    sandbox.succeed(&predict);
    let outlook = |model: &[&str]| {
        let output = sandbox.run(&[&["rank", "outlook", "test.run", "--json"], model].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        let values: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (values, said)
    };
    let (bare, said) = outlook(&[]);
    assert!(
        said.contains("a default learned on") && said.contains("--model"),
        "{said}"
    );
    assert_eq!(bare[0]["certainty_from"], "default");
    let (ranker, said) = outlook(&["--model", "ranking"]);
    assert!(said.contains("the ranker's held-out queries"), "{said}");
    assert_eq!(ranker[0]["certainty_from"], "ranker");
    assert_eq!(bare[0]["stop"], ranker[0]["stop"]);
    // A classifier of the class `yes`: a run of that name rests on its held-out documents, another on the default.
    let mut texts = String::from("text,label\n");
    for i in 0..40 {
        writeln!(
            texts,
            "good word{i},yes\nbad word{i},no\nbad good{},no",
            i % 7
        )
        .unwrap();
    }
    sandbox.write("texts.csv", texts);
    sandbox.succeed(&["fit", "texts.csv", "-o", "texts"]);
    sandbox.write(
        "test.run",
        "other Q0 a 1 0.5 x\nyes Q0 a 1 0.9 x\nyes Q0 b 2 0.2 x\n",
    );
    let (found, said) = outlook(&["--model", "texts"]);
    let from = |place: usize| found[place]["certainty_from"].clone();
    assert_eq!(
        (from(0), from(1)),
        ("default".into(), "classifier".into()),
        "{said}"
    );
    assert!(
        said.contains("for 1 queries the classifier has no class"),
        "{said}"
    );
    refused(
        &sandbox,
        &["rank", "outlook", "test.run", "--model", "nowhere"],
        &["nowhere"],
    );
}

#[test]
fn what_came_true_is_told_of_listed_documents_and_judged_queries() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "p.run",
        "1 Q0 a 1 0.9 x\n1 Q0 b 2 0.5 x\n2 Q0 a 1 0.4 x\n3 Q0 a 1 0.4 x\n",
    );
    sandbox.write("qrels.txt", "1 0 a 1\n1 0 z 1\n3 0 a -1\n");
    let output = sandbox.run(&["rank", "outlook", "p.run", "--qrels", "qrels.txt", "--json"]);
    let said = String::from_utf8(output.stderr).unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found[0]["relevant_listed"], 1);
    assert!(found[1].get("relevant_listed").is_none() && found[2].get("relevant_listed").is_none());
    assert!(said.contains("2 queries without any judgement"), "{said}");
    assert!(
        said.contains("1 relevant documents are not in the run"),
        "{said}"
    );
}

#[test] // Were documents independent, 35 would do (20,000 draws); 47 are said.
fn a_sure_stop_allows_for_probabilities_that_are_off_together() {
    let sandbox = Sandbox::new();
    let mut run = String::new();
    for rank in 0..80 {
        let p = 0.95 * 0.93f64.powi(rank) + 0.01;
        writeln!(run, "q Q0 d{rank} {} {p:.4} r", rank + 1).unwrap();
    }
    sandbox.write("p.run", run);
    let found = sandbox.json(&["rank", "outlook", "p.run", "--recall", "0.8", "--json"]);
    assert!(found[0]["sure_stop"].as_u64().unwrap() >= 42, "{found}");
}
