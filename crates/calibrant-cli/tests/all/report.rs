//! `calibrant evaluate --html` from the outside.

use crate::common;

use common::{Sandbox, csv, json_lines, messages, multi_label_messages};

fn page(sandbox: &Sandbox) -> String {
    String::from_utf8(sandbox.read("report.html")).unwrap()
}

/// Figures of the page, after checking that it needs nothing but itself.
#[track_caller]
fn figures(html: &str) -> usize {
    for outside in ["<script", "src=", "href=", "url(", "@import"] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
    assert!(!html.contains("NaN"));
    html.matches("<svg ").count()
}

#[test]
fn one_label_a_document() {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", csv(&messages(200, 4, 1)));
    sandbox.write("test.csv", csv(&messages(150, 4, 2)));
    sandbox.succeed(&["fit", "train.csv", "-o", "model"]);
    let without = sandbox.succeed(&["evaluate", "model", "test.csv"]);
    let with = sandbox.succeed(&["evaluate", "model", "test.csv", "--html", "report.html"]);
    assert!(with.starts_with(&without));
    let html = page(&sandbox);
    // Answered, reliability twice, a decision curve, a panel and two more for each class, precision, costs, confusion.
    assert_eq!(figures(&html), 1 + 2 + 4 + 4 + 2 * 4 + 3);
    assert!(
        html.contains("<h1>Evaluation of model</h1>") && html.contains("corn: log-odds by score")
    );
    // Neither the threads nor what else is asked for changes the page.
    let again = [
        "evaluate",
        "model",
        "test.csv",
        "--html",
        "report.html",
        "--json",
        "--threads",
        "1",
    ];
    sandbox.json(&again);
    assert_eq!(page(&sandbox), html);
}

#[test]
fn two_classes_and_naive_bayes() {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", csv(&messages(120, 2, 1)));
    sandbox.succeed(&[
        "fit",
        "train.csv",
        "-o",
        "model",
        "--classifier",
        "naive-bayes",
    ]);
    sandbox.succeed(&["evaluate", "model", "train.csv", "--html", "report.html"]);
    let html = page(&sandbox);
    assert!(html.contains("without calibration"));
    figures(&html);
}

#[test]
fn several_labels_a_document() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", json_lines(&multi_label_messages(250, 3), true));
    sandbox.succeed(&["fit", "a.jsonl", "-o", "model"]);
    let all = ["evaluate", "model", "a.jsonl", "--html", "report.html"];
    sandbox.succeed(&all);
    let html = page(&sandbox);
    assert_eq!(figures(&html), 1 + 2 + 4 + 4 + 2 * 4 + 3);
    assert!(html.contains("(nothing)"));
    sandbox.succeed(&[&all[..], &["--classes", "oil"]].concat());
    let html = page(&sandbox);
    // One class has no panels beside it.
    assert_eq!(figures(&html), 1 + 2 + 1 + 2 + 3);
    assert!(html.contains("oil: scores") && !html.contains("corn: scores"));
}

#[test]
fn a_wrong_place_is_refused_and_nothing_is_touched() {
    let sandbox = Sandbox::new();
    sandbox.write("a.csv", csv(&messages(60, 2, 1)));
    sandbox.write("folder/b.txt", "x");
    sandbox.succeed(&["fit", "a.csv", "-o", "model"]);
    let before = sandbox.contents();
    for (place, reason) in [
        ("nowhere/report.html", "does not exist"),
        ("folder", "is a folder"),
        ("a.csv", "is the input file"),
        ("model", "holds the model"),
    ] {
        let output = sandbox.run(&["evaluate", "model", "a.csv", "--html", place]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{place}: {stderr}");
        assert!(
            stderr.contains(reason) && stderr.contains("--html"),
            "{stderr}"
        );
        assert!(output.stdout.is_empty());
        assert_eq!(sandbox.contents(), before);
    }
}

#[test] // It held the truth in none of 120 test sets, so that there is none.
fn the_calibration_error_has_no_interval_but_a_perfect_forecasters_beside_it() {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", csv(&messages(200, 3, 1)));
    sandbox.write("test.csv", csv(&messages(150, 3, 2)));
    sandbox.succeed(&["fit", "train.csv", "-o", "model"]);
    let text = sandbox.succeed(&["evaluate", "model", "test.csv"]);
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("ECE")).collect();
    let beside: Vec<&&str> = rows
        .iter()
        .filter(|row| row.contains("in a perfect forecaster of this size"))
        .collect();
    assert!(beside.len() >= 5, "{text}");
    assert!(rows.iter().all(|row| !row.contains('[')), "{text}");
    let report = sandbox.json(&["evaluate", "model", "test.csv", "--json"]);
    let intervals = report["bootstrap"].as_object().unwrap();
    assert!(intervals.contains_key("error_rate"));
    assert!(
        intervals.keys().all(|name| !name.contains("ece")),
        "{intervals:?}"
    );
}

#[test] // "log loss" stood for the loss of all classes and for that of the first choice, one below the other.
fn no_two_numbers_have_one_name() {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", csv(&messages(300, 3, 1)));
    sandbox.succeed(&["fit", "train.csv", "-o", "model"]);
    // No test document of the last class.
    let all = messages(200, 3, 2);
    let (last, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|m| m.labels == ["oil"]);
    assert!(!last.is_empty());
    sandbox.write("test.csv", csv(&others));
    let text = sandbox.succeed(&["evaluate", "model", "test.csv", "--html", "report.html"]);
    let names: Vec<&str> = text
        .lines()
        .take_while(|line| !line.starts_with("class "))
        .filter_map(|line| Some(line.split_once("  ")?.0))
        .filter(|name| !name.is_empty() && *name != "confused")
        .collect();
    let mut distinct = names.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), names.len(), "{names:?}");
    assert!(
        names.contains(&"log loss of the first choice, in parts"),
        "{names:?}"
    );
    let html = page(&sandbox);
    for name in ["log loss", "Brier score", "ECE"] {
        assert!(
            !html.contains(&format!("<td>{name}</td>")),
            "{name} alone says too little"
        );
    }
    assert!(html.contains("95 of 100 such forecasters") && !html.contains("90 of 100"));
    // What cannot be said of a class without documents is not said to be zero.
    let row = text.lines().find(|line| line.starts_with("oil")).unwrap();
    assert!(row.contains('–'), "{row}");
    let two = Sandbox::new();
    two.write("train.csv", csv(&messages(200, 2, 1)));
    two.write("test.csv", csv(&messages(150, 2, 2)));
    two.succeed(&["fit", "train.csv", "-o", "model"]);
    let text = two.succeed(&["evaluate", "model", "test.csv"]);
    assert!(
        text.contains("average precision of `money`") && text.contains("ECE of `money`"),
        "{text}"
    );
}

#[test]
fn the_page_tells_what_to_do_what_it_costs_and_the_surest_mistakes() {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", csv(&messages(200, 3, 1)));
    let odd = "m900,oil,corn maize bushel <script>alert(1)</script> crop corn maize crop acre feed bushel crop corn maize acre feed\n";
    sandbox.write("test.csv", csv(&messages(150, 3, 2)) + odd);
    sandbox.succeed(&["fit", "train.csv", "-o", "model"]);
    let command = [
        "evaluate",
        "model",
        "test.csv",
        "--html",
        "report.html",
        "--no-ledger",
    ];
    let text = sandbox.succeed(&[&command[..], &["--costs", "corn,oil,7"]].concat());
    assert!(text.contains("by machine, from probability"), "{text}");
    let html = page(&sandbox);
    figures(&html);
    crate::pages::check(&html);
    for part in [
        "model on test.csv. ",
        concat!("calibrant ", env!("CARGO_PKG_VERSION")),
        "What do decisions cost, with the costs that were given?",
        "m900: stated “corn”",
        "corn maize bushel &lt;script&gt;alert(1)&lt;/script&gt; crop",
        "For it spoke: ",
        "corn: net benefit",
    ] {
        assert!(html.contains(part), "{part}");
    }
    // Without identifiers, by their rows as predictions number them.
    let bare = String::from_utf8(sandbox.read("test.csv")).unwrap();
    sandbox.write("bare.csv", bare.replacen("id,", "number,", 1));
    let bare = [&["evaluate", "model", "bare.csv"][..], &command[3..]].concat();
    sandbox.succeed(&bare);
    assert!(page(&sandbox).contains("row 151 (line 152): stated “corn”"));
    // Confidential texts stay where they are.
    sandbox.succeed(&[&command[..], &["--no-texts"]].concat());
    let html = page(&sandbox);
    assert!(html.contains("m900: stated “corn”") && !html.contains("bushel"));
    let report = sandbox.json(&["evaluate", "model", "test.csv", "--json", "--no-ledger"]);
    let shares = report["answered"]["shares"].as_array().unwrap();
    let whole = shares.last().unwrap();
    assert_eq!(whole["answered"], 1.0);
    assert_eq!(whole["accuracy"], report["accuracy"]);
    assert_eq!(report["decision_curves"].as_array().unwrap().len(), 3);
    assert_eq!(
        report["decision_curves"][0]["points"]
            .as_array()
            .unwrap()
            .len(),
        19
    );
}

#[test]
fn traffic_without_labels_has_expectations_and_a_page() {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", csv(&messages(300, 3, 1)));
    let test = csv(&messages(400, 3, 2));
    sandbox.write("test.csv", &test);
    let bare: Vec<String> = test
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{}", cells[0], cells[2])
        })
        .collect();
    sandbox.write("new.csv", bare.join("\n"));
    sandbox.succeed(&["fit", "train.csv", "-o", "model"]);
    let command = ["evaluate", "model", "new.csv", "--without-labels"];
    let promised = sandbox.json(&[&command[..], &["--json"]].concat());
    let seen = sandbox.json(&["evaluate", "model", "test.csv", "--json", "--no-ledger"]);
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let expected = number(&seen["error_likelihood"]["expected"]);
    assert!(
        (number(&promised["expected_errors"]) - expected).abs() < 1e-6,
        "{promised}"
    );
    let accuracy = number(&seen["accuracy"]);
    assert!((number(&promised["expected_accuracy"]) - accuracy).abs() < 0.06);
    assert!(promised["answered"]["shares"][0]["accuracy"].is_null());
    let text = sandbox.succeed(&[&command[..], &["--html", "report.html"]].concat());
    assert!(
        text.contains("labels not read") && text.contains("This holds while"),
        "{text}"
    );
    let html = page(&sandbox);
    crate::pages::check(&html);
    assert!(html.contains("no label was read"));
    for (option, value) in [
        ("--costs", "corn,oil,2"),
        ("--group", "id"),
        ("--other", "cost"),
    ] {
        let output = sandbox.run(&[&command[..], &[option, value]].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{option}: {stderr}");
        assert!(stderr.contains(option), "{stderr}");
    }
}
