//! Which document a row of predictions is of, and how tables find the documents of a test set.

use crate::common;

use common::{Message, Sandbox, csv, messages};
use serde_json::Value;

/// A model, and a test set whose identifiers are the numbers 1 to 60 in another order.
fn shuffled() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", csv(&messages(200, 3, 1)));
    sandbox.succeed(&["fit", "train.csv", "-o", "model"]);
    sandbox.write("test.csv", csv(&renumbered(60)));
    sandbox
}

fn renumbered(count: usize) -> Vec<Message> {
    let mut documents = messages(count, 3, 3);
    for (number, document) in documents.iter_mut().enumerate() {
        document.id = (number * 7 % count + 1).to_string();
    }
    documents
}

/// The numbers of the first column, one per document.
fn first_column(table: &str) -> Vec<String> {
    let cells = table.lines().skip(1);
    let mut cells: Vec<String> = cells
        .map(|line| line.split([',', '\t']).next().unwrap().to_owned())
        .collect();
    cells.dedup();
    cells
}

/// The log loss of a table, and of the model itself.
#[track_caller]
fn losses(sandbox: &Sandbox, table: &str, more: &[&str]) -> [f64; 2] {
    ["model", table].map(|system| {
        let evaluate = ["evaluate", system, "test.csv", "--json", "--no-ledger"];
        let report = sandbox.json(&[&evaluate[..], more].concat());
        report["log_loss"].as_f64().unwrap()
    })
}

#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &[&str], pieces: &[&str]) {
    let output = sandbox.run(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    for piece in pieces {
        assert!(stderr.contains(piece), "no `{piece}` in: {stderr}");
    }
}

#[test] // Rows were numbered under `id`, and joined to the documents that have these numbers as identifiers.
fn a_field_called_id_identifies_predictions_without_being_asked_for() {
    let sandbox = shuffled();
    let wanted: Vec<String> = renumbered(60).into_iter().map(|d| d.id).collect();
    for name in ["p.csv", "p.tsv", "p.jsonl", "p.parquet"] {
        sandbox.succeed(&["predict", "model", "test.csv", "-o", name]);
        let [model, table] = losses(&sandbox, name, &[]);
        assert!((model - table).abs() < 1e-12, "{name}: {model} {table}");
    }
    let text = String::from_utf8(sandbox.read("p.csv")).unwrap();
    assert!(text.starts_with("id,rank,label,probability,log_odds\n"));
    assert_eq!(first_column(&text), wanted);
    let piped = sandbox.succeed_with_input(
        &["predict", "model", "-", "--format", "csv"],
        &sandbox.read("test.csv"),
    );
    assert_eq!(piped, text);
    let compare = ["compare", "test.csv", "model", "p.csv", "--json"];
    let report = sandbox.json(&compare);
    assert_eq!(report["pairs"][0]["log_loss"]["sign"]["ties"], 60);
}

#[test]
fn rows_without_identifiers_are_numbered_under_another_name() {
    let sandbox = shuffled();
    let documents = renumbered(60);
    let nameless: String = documents
        .iter()
        .map(|d| format!("{},{}\n", d.labels[0], d.text))
        .collect();
    sandbox.write("nameless.csv", format!("label,text\n{nameless}"));
    for name in ["p.csv", "p.tsv", "p.jsonl", "p.parquet"] {
        sandbox.succeed(&["predict", "model", "nameless.csv", "-o", name]);
        // The test set has identifiers that are numbers too: they are not what is meant.
        let [model, table] = losses(&sandbox, name, &[]);
        assert!((model - table).abs() < 1e-12, "{name}: {model} {table}");
    }
    let text = String::from_utf8(sandbox.read("p.csv")).unwrap();
    assert!(
        text.starts_with("row,rank,label,probability,log_odds\n1,1,"),
        "{text}"
    );
    let json = String::from_utf8(sandbox.read("p.jsonl")).unwrap();
    let first: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!((&first["row"], &first["id"]), (&1.into(), &Value::Null));
    // In any order, but for the same documents.
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    lines.sort_by_key(|line| line.len());
    let header = text.lines().next().unwrap();
    sandbox.write("sorted.csv", format!("{header}\n{}\n", lines.join("\n")));
    let [model, table] = losses(&sandbox, "sorted.csv", &[]);
    assert!((model - table).abs() < 1e-12);
    refused(
        &sandbox,
        &["evaluate", "p.csv", "test.csv", "--where", "label=corn"],
        &[
            "column `row` of `p.csv`",
            "it has 60 rows",
            "the same --where",
        ],
    );
}

#[test]
fn rows_are_those_of_the_file_whatever_is_left_out() {
    let sandbox = shuffled();
    let documents = renumbered(60);
    let left_out = documents[0].labels[0];
    let nameless: String = documents
        .iter()
        .map(|d| format!("{},{}\n", d.labels[0], d.text))
        .collect();
    sandbox.write("nameless.csv", format!("label,text\n{nameless}"));
    let filter = format!("label!={left_out}");
    let predict = ["predict", "model", "nameless.csv", "--where", &filter];
    let text = sandbox.succeed(&predict);
    let wanted: Vec<String> = (1..)
        .zip(&documents)
        .filter(|(_, document)| document.labels[0] != left_out)
        .map(|(row, _)| row.to_string())
        .collect();
    assert!(wanted.len() < 60);
    assert_eq!(first_column(&text), wanted);
    sandbox.write("p.csv", &text);
    let [model, table] = losses(&sandbox, "p.csv", &["--where", &filter]);
    assert!((model - table).abs() < 1e-12, "{model} {table}");
    // The same number means the same row everywhere.
    let explain = ["explain", "model", "--file", "nameless.csv", "--row"];
    let plain = [&explain[..], &[&wanted[0]]].concat();
    let filtered = [&plain[..], &["--where", &filter]].concat();
    assert_eq!(sandbox.succeed(&plain), sandbox.succeed(&filtered));
    let gone = [&explain[..], &["1", "--where", &filter]].concat();
    refused(
        &sandbox,
        &gone,
        &["there is no row 1 among those that are asked for"],
    );
}

#[test]
fn a_field_that_a_pipe_never_had_is_an_error() {
    let sandbox = shuffled();
    let rows = "{\"body\":\"money\"}\n{\"body\":\"corn\"}\n";
    for more in [
        &["--text", "txt"][..],
        &["--text", "body", "--where", "splt!=a"],
    ] {
        let arguments = [&["predict", "model", "-", "--format", "jsonl"][..], more].concat();
        let output = sandbox.run_with_input(&arguments, rows.as_bytes());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{more:?}: {told}");
        assert!(
            told.contains("field `txt`") || told.contains("field `splt`"),
            "{told}"
        );
    }
}

#[test]
fn numbers_that_may_be_rows_or_identifiers_are_not_guessed_at() {
    let sandbox = shuffled();
    sandbox.succeed(&["predict", "model", "test.csv", "-o", "p.csv"]);
    let text = String::from_utf8(sandbox.read("p.csv")).unwrap();
    // As earlier versions wrote it: numbers of rows under `id`.
    let mut old = String::from("id,rank,label,probability,log_odds\n");
    for (number, line) in text.lines().skip(1).enumerate() {
        let (_, rest) = line.split_once(',').unwrap();
        old += &format!("{},{rest}\n", number / 3 + 1);
    }
    sandbox.write("old.csv", &old);
    let evaluate = ["evaluate", "old.csv", "test.csv"];
    let pieces = ["`id` of `old.csv`", "row numbers", "`--id id`", "`row`"];
    refused(&sandbox, &evaluate, &pieces);
    refused(
        &sandbox,
        &["compare", "test.csv", "model", "old.csv"],
        &pieces,
    );
    // Of a part of the documents no less.
    let part = [&evaluate[..], &["--where", "label=corn"]].concat();
    refused(&sandbox, &part, &pieces);
    // What the message proposes works.
    sandbox.write("row.csv", old.replacen("id,", "row,", 1));
    let [model, table] = losses(&sandbox, "row.csv", &[]);
    assert!((model - table).abs() < 1e-12);
    // The table's own identifiers, sorted, need the word of whoever knows.
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    lines.sort_by_key(|line| line.split(',').next().unwrap().parse::<u32>().unwrap());
    let header = text.lines().next().unwrap();
    sandbox.write("by_id.csv", format!("{header}\n{}\n", lines.join("\n")));
    refused(
        &sandbox,
        &["evaluate", "by_id.csv", "test.csv"],
        &["`--id id`"],
    );
    let [model, table] = losses(&sandbox, "by_id.csv", &["--id", "id"]);
    assert!((model - table).abs() < 1e-12);
    // Where identifiers count the rows, both mean the same.
    let mut in_order = renumbered(60);
    for (number, document) in in_order.iter_mut().enumerate() {
        document.id = (number + 1).to_string();
    }
    sandbox.write("test.csv", csv(&in_order));
    let [model, table] = losses(&sandbox, "old.csv", &[]);
    assert!((model - table).abs() < 1e-12);
    // Where some of them are numbers of rows and others not, it is none of the two.
    for (number, document) in in_order.iter_mut().enumerate() {
        document.id = (number + 41).to_string();
    }
    sandbox.write("test.csv", csv(&in_order));
    refused(
        &sandbox,
        &evaluate,
        &["no row for 40 of 60", "call it `row`"],
    );
}

#[test]
fn an_empty_identifier_is_left_empty_and_told() {
    let sandbox = shuffled();
    let mut documents = renumbered(60);
    documents[4].id = String::new();
    sandbox.write("holes.csv", csv(&documents));
    for more in [&[][..], &["--id", "id"]] {
        let predict = ["predict", "model", "holes.csv"];
        let output = sandbox.run(&[&predict[..], more].concat());
        let ids = first_column(&String::from_utf8(output.stdout).unwrap());
        assert_eq!((ids[4].as_str(), ids[5].as_str()), ("", "36"), "{more:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            said.contains("1 of 60 documents have no identifier"),
            "{said}"
        );
    }
}

#[test]
fn calibrated_scores_are_named_as_predictions_are() {
    let sandbox = Sandbox::new();
    let rows = |from: usize| -> String {
        let row = |n: usize| format!("{},{},{}\n", n * 7 % 60 + 1, (n * 13) % 50, n % 3 / 2);
        (from..from + 60).map(row).collect()
    };
    sandbox.write("a.csv", format!("id,score,label\n{}", rows(0)));
    sandbox.write("b.csv", format!("key,score,label\n{}", rows(3)));
    let fit = ["calibrate", "a.csv", "--score", "score", "-o", "c"];
    sandbox.succeed(&fit);
    let apply = ["calibrate", "--calibrator", "c", "--apply"];
    let with_id = sandbox.succeed(&[&apply[..], &["a.csv"]].concat());
    assert!(
        with_id.starts_with("id,class,probability,log_odds\n1,1,"),
        "{with_id}"
    );
    assert_eq!(first_column(&with_id)[1], "8");
    let without = sandbox.succeed(&[&apply[..], &["b.csv"]].concat());
    assert!(
        without.starts_with("row,class,probability,log_odds\n1,1,"),
        "{without}"
    );
    assert_eq!(first_column(&without)[1], "2");
}
