//! Labels as people type them, rows without one, fields that are no labels, texts that say nothing.

use std::collections::BTreeMap;

use crate::common::Sandbox;

/// Forty rows; `label` gives the label of each.
fn rows(label: impl Fn(usize) -> String) -> String {
    let mut table = String::from("id,text,label\n");
    for number in 0..40 {
        let words = match number % 2 {
            0 => "account locked password",
            _ => "invoice wrong refund",
        };
        table += &format!("{number},{words} {},\"{}\"\n", number % 9, label(number));
    }
    table
}

fn messy(number: usize) -> String {
    match number % 8 {
        0 | 2 | 4 => "Access",
        6 => "ACCESS ",
        1 | 3 => "billing desk",
        5 => " Billing  Desk",
        _ => "BillingDesk",
    }
    .to_owned()
}

fn classes(sandbox: &Sandbox, model: &str) -> BTreeMap<String, u64> {
    let said = sandbox.json(&["inspect", model, "--json"]);
    let classes = said["summary"]["classes"].as_array().unwrap();
    classes
        .iter()
        .map(|class| {
            let name = class["label"].as_str().unwrap().to_owned();
            (name, class["positives"].as_u64().unwrap())
        })
        .collect()
}

#[test]
fn labels_that_differ_in_case_or_space_are_named_and_joined_on_request() {
    let sandbox = Sandbox::new();
    let table = rows(messy);
    sandbox.write("t.csv", &table);
    let loose = sandbox.run(&["fit", "t.csv", "-o", "loose"]);
    let stderr = String::from_utf8_lossy(&loose.stderr).into_owned();
    assert!(
        stderr.contains("labels that differ in case or space alone: `Access`, `ACCESS` (and 1 more such set); --fold-labels makes one of them"),
        "{stderr}"
    );
    assert_eq!(classes(&sandbox, "loose").len(), 5);
    let folded = sandbox.run(&["fit", "t.csv", "--fold-labels", "-o", "m"]);
    let stderr = String::from_utf8_lossy(&folded.stderr).into_owned();
    assert!(!stderr.contains("case or space"), "{stderr}");
    let names: Vec<String> = classes(&sandbox, "m").into_keys().collect();
    assert_eq!(names, ["Access", "billing desk"]);
    // Whatever the order of rows.
    let mut lines: Vec<&str> = table.lines().collect();
    lines[1..].reverse();
    sandbox.write("turned.csv", lines.join("\n"));
    sandbox.succeed(&["fit", "turned.csv", "--fold-labels", "-o", "turned"]);
    assert_eq!(sandbox.read("m"), sandbox.read("turned"));
    // The model remembers it.
    let all = sandbox.json(&["evaluate", "m", "t.csv", "--json", "--no-ledger"]);
    assert_eq!(all["documents"], 40, "{all}");
    // One that does not is told.
    sandbox.write(
        "clean.csv",
        rows(|n| ["Access", "billing desk"][n % 2].to_owned()),
    );
    sandbox.succeed(&["fit", "clean.csv", "-o", "clean"]);
    let told = sandbox.run(&["evaluate", "clean", "t.csv", "--no-ledger"]);
    let stderr = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(
        stderr.contains("--fold-labels takes such labels for one"),
        "{stderr}"
    );
    let folding = [
        "evaluate",
        "clean",
        "t.csv",
        "--fold-labels",
        "--json",
        "--no-ledger",
    ];
    assert_eq!(sandbox.json(&folding)["documents"], 40);
    let compared = ["compare", "t.csv", "m", "clean", "--json", "--no-ledger"];
    assert_eq!(sandbox.json(&compared)["documents"], 40);
}

#[test]
fn scores_have_messy_labels_too() {
    let sandbox = Sandbox::new();
    let mut table = String::from("s,label\n");
    for number in 0..40 {
        let label = ["Yes", "no", "yes ", "NO", ""][number % 5];
        let score = f64::from(label.to_lowercase().starts_with('y')) * 2.0 - 1.0;
        table += &format!("{},{label}\n", score + (number % 7) as f64 / 3.0 - 1.0);
    }
    sandbox.write("s.csv", table);
    let many = sandbox.run(&["calibrate", "s.csv", "--score", "s"]);
    let stderr = String::from_utf8_lossy(&many.stderr).into_owned();
    assert_eq!(many.status.code(), Some(2));
    assert!(
        stderr.contains("--fold-labels makes one of them"),
        "{stderr}"
    );
    let folded = sandbox.run(&[
        "calibrate",
        "s.csv",
        "--score",
        "s",
        "--fold-labels",
        "-o",
        "c",
    ]);
    let stderr = String::from_utf8_lossy(&folded.stderr).into_owned();
    assert!(folded.status.success(), "{stderr}");
    assert!(
        stderr.contains("8 rows without a label were left out, the first at line 6"),
        "{stderr}"
    );
    // The calibrator remembers it.
    sandbox.succeed(&["calibrate", "--calibrator", "c", "--test", "s.csv"]);
}

#[test]
fn rows_without_a_label_are_left_out_and_counted() {
    let sandbox = Sandbox::new();
    let label = |n: usize| match n % 10 {
        9 => String::new(),
        _ => ["access", "billing"][n % 2].to_owned(),
    };
    sandbox.write("t.csv", rows(label));
    sandbox.write("half.csv", rows(label));
    let said = "4 rows without a label were left out, the first at line 11";
    for arguments in [
        &["fit", "t.csv", "-o", "m"][..],
        &["fit", "half.csv", "--classifier", "naive-bayes", "-o", "n"],
        &["evaluate", "m", "t.csv", "--no-ledger"],
        &["compare", "t.csv", "m", "n", "--no-ledger"],
        &[
            "combine",
            "m",
            "n",
            "--data",
            "t.csv",
            "-o",
            "both",
            "--even-if-learned-from",
        ],
    ] {
        let done = sandbox.run(arguments);
        let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(
            done.status.success() && stderr.contains(said),
            "{arguments:?}: {stderr}"
        );
        let strict = sandbox.run(&[arguments, &["--empty-labels", "error"]].concat());
        let stderr = String::from_utf8_lossy(&strict.stderr).into_owned();
        assert_eq!(strict.status.code(), Some(2), "{stderr}");
        assert!(
            stderr.contains("line 11, field `label`: the label is empty"),
            "{stderr}"
        );
        assert!(!stderr.contains("--labels several"), "{stderr}");
    }
    // The same model as of the labelled rows alone.
    let table = rows(label);
    let labelled: Vec<&str> = table
        .lines()
        .filter(|line| !line.ends_with("\"\""))
        .collect();
    sandbox.write("labelled.csv", labelled.join("\n"));
    sandbox.succeed(&["fit", "labelled.csv", "-o", "l"]);
    let said = |model| sandbox.succeed(&["predict", model, "labelled.csv"]);
    assert_eq!(said("l"), said("m"));
}

#[test]
fn a_field_of_identifiers_is_no_label() {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", rows(|n| format!("T-{n}")));
    let stopped = sandbox.run(&["fit", "t.csv", "-o", "m"]);
    let stderr = String::from_utf8_lossy(&stopped.stderr).into_owned();
    assert_eq!(stopped.status.code(), Some(2));
    assert!(
        stderr.contains("40 labels for 40 documents, 40 of them only once (`T-0`, `T-1`, `T-10`, …): the field probably holds identifiers, not classes"),
        "{stderr}"
    );
    assert!(
        stderr.contains(
            "hint: name the field that holds the classes with --label; --allow-unique-labels"
        ),
        "{stderr}"
    );
    assert!(!sandbox.path("m").exists());
    // Two documents of each class are few, but classes.
    sandbox.write("pairs.csv", rows(|n| format!("class {}", n / 2)));
    sandbox.succeed(&["fit", "pairs.csv", "--folds", "2", "-o", "m"]);
    sandbox.succeed(&[
        "fit",
        "t.csv",
        "--allow-unique-labels",
        "--folds",
        "2",
        "-o",
        "m",
    ]);
}

#[test]
fn what_a_model_remembers_and_does_not_need_is_not_demanded() {
    let sandbox = Sandbox::new();
    let mut table = String::from("ticket,text,label,w,thread\n");
    for (number, line) in rows(|n| ["access", "billing"][n % 2].to_owned())
        .lines()
        .skip(1)
        .enumerate()
    {
        let (_, rest) = line.split_once(',').unwrap();
        table += &format!("T{number},{rest},1.5,{}\n", number / 2);
    }
    sandbox.write("t.csv", table);
    sandbox.succeed(&[
        "fit", "t.csv", "--id", "ticket", "--weight", "w", "--group", "thread", "-o", "m",
    ]);
    sandbox.write(
        "new.csv",
        "text,label\ninvoice refund,billing\naccount locked,access\n,access\nzzz,billing\n",
    );
    let predicted = sandbox.run(&["predict", "m", "new.csv", "--top", "1"]);
    let stderr = String::from_utf8_lossy(&predicted.stderr).into_owned();
    let stdout = String::from_utf8_lossy(&predicted.stdout).into_owned();
    assert!(predicted.status.success(), "{stderr}");
    assert!(stdout.starts_with("row,rank,label"), "{stdout}");
    assert!(
        stderr.contains("2 documents hold nothing that the model knows, the first at line 4"),
        "{stderr}"
    );
    sandbox.succeed(&["evaluate", "m", "new.csv", "--no-ledger"]);
    // Where the file has them they are used, and what is asked for is demanded.
    let predicted = sandbox.succeed(&["predict", "m", "t.csv", "--top", "1"]);
    assert!(
        predicted.starts_with("id,rank,label") && predicted.contains("\nT0,1,"),
        "{predicted}"
    );
    let refused = sandbox.run(&["predict", "m", "new.csv", "--id", "ticket"]);
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr.contains("no field `ticket`") && !stderr.contains("--numeric"),
        "{stderr}"
    );
}

#[test]
fn fields_with_commas_and_keys_that_are_left_out() {
    let sandbox = Sandbox::new();
    let mut lines = String::new();
    for number in 0..40 {
        let (text, label) =
            [("account locked", "access"), ("invoice refund", "billing")][number % 2];
        lines += &match number {
            0 => format!("{{\"label\":\"{label}\"}}\n"),
            _ => format!(
                "{{\"Subject, line\":\"{text} {number}\",\"Body\":\"x\",\"label\":\"{label}\"}}\n"
            ),
        };
    }
    sandbox.write("t.jsonl", lines);
    let fields = ["--text", "\"Subject, line\",Body"];
    sandbox.succeed(&[&["fit", "t.jsonl", "-o", "m"], &fields[..]].concat());
    let predicted = sandbox.succeed(&["predict", "m", "t.jsonl", "--top", "1"]);
    assert_eq!(predicted.lines().count(), 41);
    let refused = sandbox.run(&["fit", "t.jsonl", "--text", "Subject, line", "-o", "n"]);
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        stderr.contains("there is no field `Subject`; the fields are"),
        "{stderr}"
    );
    let refused = sandbox.run(&["fit", "t.jsonl", "--text", "\"Subject", "-o", "n"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_text_file_whose_quoted_cells_hold_line_breaks_is_a_table() {
    let sandbox = Sandbox::new();
    let mut quoted = String::from("id;text;label\n");
    for number in 0..40 {
        let (text, label) = [
            ("account\nlocked, so", "access"),
            ("invoice; refund", "billing"),
        ][number % 2];
        quoted += &format!("{number};\"{text} {number}\";{label}\n");
    }
    sandbox.write("t.txt", quoted);
    sandbox.succeed(&["fit", "t.txt", "-o", "m"]);
}
