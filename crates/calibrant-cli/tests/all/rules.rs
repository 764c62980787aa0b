//! Hand-written rules: checked, as features, and alone.

use crate::common;

use std::fmt::Write;

use common::Sandbox;
use serde_json::Value;

const RULES: &str = "\
# Three desks.
billing: invoice OR refund* OR \"credit card\"
    subject:payment AND NOT test
outage: 2 of (down, error, timeout) OR outage
other: NOT (invoice OR refund* OR \"credit card\" OR down OR error OR timeout OR outage)
";

/// Tickets of three desks with a subject and a body.
fn tickets(count: usize) -> String {
    let mut lines = String::new();
    for number in 0..count {
        let (subject, body, desk) = match number % 6 {
            0 => (
                "question",
                format!("my invoice {number} is wrong"),
                "billing",
            ),
            1 => (
                "help",
                format!("refunds for my credit card {number}"),
                "billing",
            ),
            2 => (
                "urgent",
                format!("server {number} is down with error"),
                "outage",
            ),
            3 => ("payment", format!("it never arrived {number}"), "billing"),
            4 => ("hello", format!("a kind word for team {number}"), "other"),
            _ => (
                "timeout",
                format!("error and timeout at {number} again"),
                "outage",
            ),
        };
        writeln!(
            lines,
            "{{\"subject\":\"{subject}\",\"body\":\"{body}\",\"desk\":\"{desk}\"}}"
        )
        .unwrap();
    }
    lines
}

const READING: [&str; 4] = ["--text", "body", "--label", "desk"];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("rules.txt", RULES);
    sandbox.write("tickets.jsonl", tickets(240));
    sandbox
}

#[track_caller]
fn fails(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = sandbox.run(arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    stderr
}

fn fit(sandbox: &Sandbox, options: &[&str]) {
    let first = [
        "fit",
        "tickets.jsonl",
        "-o",
        "model",
        "--rules",
        "rules.txt",
    ];
    sandbox.succeed(&[&first[..], &READING, options].concat());
}

fn accuracy(sandbox: &Sandbox) -> f64 {
    let measures = sandbox.json(&[
        "evaluate",
        "model",
        "tickets.jsonl",
        "--json",
        "--no-ledger",
    ]);
    measures["accuracy"].as_f64().unwrap()
}

#[test]
fn rules_are_checked_clause_by_clause() {
    let sandbox = sandbox();
    let check = [
        &["rules", "check", "rules.txt", "tickets.jsonl"],
        &READING[..],
    ]
    .concat();
    let report = sandbox.json(&[&check[..], &["--json"]].concat());
    assert_eq!(report["documents"], 240);
    let billing = &report["rules"][0];
    // By hand: three of six tickets are for billing; each is found, and by one clause or two.
    assert_eq!(
        (&billing["hits"], &billing["right"]),
        (&120.into(), &120.into())
    );
    assert_eq!(billing["precision"], 1.0);
    assert_eq!(billing["clauses"][0]["alone_right"], 40);
    assert_eq!(billing["clauses"][1]["alone_right"], 0);
    assert_eq!(
        billing["clauses"][3]["clause"],
        "subject:payment AND NOT test"
    );
    assert_eq!(billing["clauses"][3]["parts"][1]["kept_right"], 0);
    // Tickets with the subject `payment` match the rule for the rest: 40 right and 40 wrong.
    assert_eq!(report["rules"][2]["precision"], 0.5);
    assert_eq!(report["rules"][2]["recall"], 1.0);
    let shown = sandbox.succeed(&check);
    assert!(shown.contains("subject:payment AND NOT test"), "{shown}");
    assert!(
        shown.contains("without `subject:payment` come back"),
        "{shown}"
    );

    sandbox.write("other.txt", "billing: invoice\nmoon: cheese\n");
    let check = [
        &["rules", "check", "other.txt", "tickets.jsonl"],
        &READING[..],
    ]
    .concat();
    let shown = sandbox.succeed(&check);
    assert!(shown.contains("no document has the label: moon"), "{shown}");
    assert!(
        shown.contains("labels without a rule: other (40), outage (80)"),
        "{shown}"
    );
}

#[test]
fn rules_alone_are_a_classifier_with_calibrated_probabilities() {
    let sandbox = sandbox();
    fit(&sandbox, &["--classifier", "rules"]);
    assert!(accuracy(&sandbox) > 0.8);
    // The rules are inside the model.
    std::fs::remove_file(sandbox.path("rules.txt")).unwrap();
    sandbox.write(
        "new.jsonl",
        "{\"subject\":\"x\",\"body\":\"the INVOICE and a refund\"}\n{\"subject\":\"payment\",\"body\":\"\"}\n",
    );
    let predicted = sandbox.succeed(&["predict", "model", "new.jsonl", "--json", "--top", "1"]);
    for line in predicted.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        assert_eq!(row["classes"][0]["label"], "billing", "{line}");
    }
    let explained = sandbox.succeed(&[
        "explain",
        "model",
        "--file",
        "new.jsonl",
        "--row",
        "1",
        "--class",
        "billing",
    ]);
    assert!(explained.contains("rule for billing"), "{explained}");
    let again = sandbox.json(&["inspect", "model", "--json", "--terms", "3"]);
    assert_eq!(again["terms"]["billing"][0][0], "rule for billing");
    assert_eq!(again["fields"]["asked"], serde_json::json!(["subject"]));
}

#[test]
fn rules_are_features_beside_the_words() {
    let sandbox = sandbox();
    for options in [
        &["--classifier", "logistic"][..],
        &["--classifier", "svm", "--stem", "english"],
        &["--classifier", "naive-bayes"],
        &["--classifier", "svm", "--hash-bits", "8"],
    ] {
        fit(&sandbox, options);
        let accuracy = accuracy(&sandbox);
        assert!(accuracy > 0.95, "{options:?}: {accuracy}");
    }
}

#[test]
fn a_phrase_does_not_run_on_from_field_to_field() {
    let sandbox = Sandbox::new();
    let rows = "red fox,big dog,x\nblue cat,small cow,y\n";
    sandbox.write("t.csv", format!("a,b,label\n{rows}"));
    let hits = |rule: &str| {
        sandbox.write("r.txt", format!("x: {rule}\ny: cow\n"));
        let check = ["rules", "check", "r.txt", "t.csv", "--text", "a,b"];
        let report = sandbox.json(&[&check[..], &["--label", "label", "--json"]].concat());
        let rules = report["rules"].as_array().unwrap().iter();
        let of_x = rules.filter(|rule| rule["category"] == "x").count();
        assert_eq!(of_x, 1, "{report}");
        report["rules"][0]["hits"].as_u64()
    };
    assert_eq!(hits("\"fox big\""), Some(0));
    assert_eq!(hits("\"big dog\""), Some(1));
}

#[test]
fn of_two_classes_one_rule_is_enough() {
    let sandbox = sandbox();
    sandbox.write(
        "one.txt",
        "billing: invoice OR \"credit card\" OR subject:payment\n",
    );
    let two = tickets(240).replace("\"outage\"", "\"other\"");
    sandbox.write("two.jsonl", two);
    let mut arguments = vec!["fit", "two.jsonl", "-o", "model", "--rules", "one.txt"];
    arguments.extend(READING);
    arguments.extend(["--classifier", "rules"]);
    sandbox.succeed(&arguments);
    let measures = sandbox.json(&["evaluate", "model", "two.jsonl", "--json", "--no-ledger"]);
    assert_eq!(measures["accuracy"], 1.0);
}

#[test]
fn mistakes_are_named_with_the_next_step() {
    let sandbox = sandbox();
    let fit = |rules: &str, options: &[&str]| {
        sandbox.write("bad.txt", rules);
        let first = ["fit", "tickets.jsonl", "-o", "m", "--rules", "bad.txt"];
        fails(&sandbox, &[&first[..], &READING, options].concat())
    };
    let error = fit("billing: a\n  (b OR\n", &[]);
    assert!(
        error.contains("bad.txt, line 2, column 8: a word"),
        "{error}"
    );
    let error = fit("billing: a OR %%\n", &[]);
    assert!(
        error.contains("bad.txt, line 1, column 15: category `billing`: nothing is left of `%%`"),
        "{error}"
    );
    let error = fit("billing: invoice\n", &["--classifier", "rules"]);
    assert!(
        error.contains("class `other` has no rule; there are rules for billing")
            && error.contains("hint: write a rule"),
        "{error}"
    );
    let error = fit("billing: nowhere:x\n", &[]);
    assert!(error.contains("there is no field `nowhere`"), "{error}");
    let error = fit("billing: desk:billing\n", &[]);
    assert!(
        error.contains("--rules: `desk` is the label field"),
        "{error}"
    );
    let error = fit(
        RULES,
        &["--classifier", "rules", "--categorical", "subject"],
    );
    assert!(
        error.contains("uses rules only, not the field `subject`"),
        "{error}"
    );
    let mut alone = vec!["fit", "tickets.jsonl", "-o", "m", "--classifier", "rules"];
    alone.extend(READING);
    let error = fails(&sandbox, &alone);
    assert!(error.contains("the rules must be given"), "{error}");
    let error = fails(&sandbox, &["rules", "check", "none.txt", "tickets.jsonl"]);
    assert!(
        error.contains("cannot read the rules file `none.txt`"),
        "{error}"
    );
}

#[test]
fn the_order_of_documents_and_the_number_of_threads_leave_no_trace() {
    let sandbox = sandbox();
    let models: Vec<Vec<u8>> = ["1", "2"]
        .iter()
        .map(|threads| {
            let mut arguments = vec![
                "fit",
                "tickets.jsonl",
                "-o",
                "model",
                "--rules",
                "rules.txt",
            ];
            arguments.extend(READING);
            arguments.extend(["--threads", threads]);
            sandbox.succeed(&arguments);
            let turned: Vec<String> = tickets(240).lines().rev().map(str::to_owned).collect();
            sandbox.write("tickets.jsonl", turned.join("\n"));
            sandbox.read("model")
        })
        .collect();
    assert!(models[0] == models[1]);
}
