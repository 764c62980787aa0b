//! Classes that became rarer or commoner: `--prior` and `--adapt-prior` of `predict` and `calibrate`.

use crate::common;

use common::scores::*;
use common::{Dice, Sandbox, csv, fitted, json_lines, messages, multi_label_messages};

#[test]
fn given_priors_shift_the_log_odds() {
    let sandbox = sandbox();
    let report = sandbox.json(&with(&["-o", "c.calibrant", "--json"]));
    let positives = number(&report["class_counts"][1]) / 600.0;
    let apply = [
        "calibrate",
        "--calibrator",
        "c.calibrant",
        "--apply",
        "b.csv",
        "--predictions",
    ];
    sandbox.succeed(&[&apply[..], &["plain.csv"]].concat());
    let expected = (0.1f64 / 0.9).ln() - (positives / (1.0 - positives)).ln();
    for prior in ["yes=0.1", "no=0.9"] {
        sandbox.succeed(&[&apply[..], &["shifted.csv", "--prior", prior]].concat());
        let (plain, shifted) = (rows(&sandbox, "plain.csv"), rows(&sandbox, "shifted.csv"));
        for (plain, shifted) in plain.iter().zip(&shifted) {
            let [a, b] = [plain, shifted].map(|row| row[3].parse::<f64>().unwrap());
            assert!((b - a - expected).abs() < 1e-9, "{prior}: {a} {b}");
        }
    }
    for (prior, piece) in [
        ("maybe=0.1", "no class `maybe`"),
        ("yes", "CLASS=SHARE"),
        ("yes=2", "below 1"),
        ("yes=0", "above 0"),
        ("yes=nan", "above 0"),
    ] {
        refused(
            &sandbox,
            &[&apply[..], &["p.csv", "--prior", prior]].concat(),
            &[piece],
        );
    }
    refused(&sandbox, &with(&["--prior", "yes=0.1"]), &["--apply"]);
}

#[test]
fn estimated_priors_are_used_where_the_test_finds_a_shift() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "a.csv",
        scores_csv(&two_normals(3000, 0.5, 1), ["no", "yes"]),
    );
    sandbox.write(
        "same.csv",
        scores_csv(&two_normals(1000, 0.5, 2), ["no", "yes"]),
    );
    sandbox.write(
        "rare.csv",
        scores_csv(&two_normals(1000, 0.1, 3), ["no", "yes"]),
    );
    sandbox.succeed(&with(&["--method", "platt", "-o", "c.calibrant"]));
    let test = |file: &str, more: &[&str]| {
        let start = [
            "calibrate",
            "--calibrator",
            "c.calibrant",
            "--json",
            "--test",
            file,
        ];
        sandbox.json(&[&start[..], more].concat())
    };
    let plain = test("rare.csv", &[]);
    let adapted = test("rare.csv", &["--adapt-prior"]);
    assert_eq!(adapted["prior"]["applied"], true);
    // Held to one half by 80 pseudo-documents.
    assert!((number(&adapted["prior"]["new"][0]) - 0.1).abs() < 0.06);
    assert!(number(&adapted["prior"]["tests"][0]["p_value"]) < 1e-10);
    assert!(number(&adapted["log_loss"]) < number(&plain["log_loss"]) - 0.05);
    // Where nothing has changed, nothing is shifted, unless that is asked for.
    let plain = test("same.csv", &[]);
    let adapted = test("same.csv", &["--adapt-prior=tested"]);
    assert_eq!(adapted["prior"]["applied"], false);
    assert_eq!(adapted["log_loss"], plain["log_loss"]);
    let adapted = test("same.csv", &["--adapt-prior=always"]);
    assert_eq!(adapted["prior"]["applied"], true);
    // The same for predictions.
    let apply = [
        "calibrate",
        "--calibrator",
        "c.calibrant",
        "--apply",
        "rare.csv",
        "--predictions",
    ];
    sandbox.succeed(&[&apply[..], &["plain.csv"]].concat());
    let stderr = stderr_of(
        &sandbox,
        &[&apply[..], &["adapted.csv", "--adapt-prior"]].concat(),
    );
    for piece in ["p-value", "likelihood-ratio", "in training", "shifted"] {
        assert!(stderr.contains(piece), "no `{piece}` in: {stderr}");
    }
    let mean = |name: &str| {
        let rows = rows(&sandbox, name);
        rows.iter()
            .map(|row| row[2].parse::<f64>().unwrap())
            .sum::<f64>()
            / rows.len() as f64
    };
    assert!(mean("plain.csv") > 0.14 && (mean("adapted.csv") - 0.1).abs() < 0.03);
    refused(
        &sandbox,
        &[
            &apply[..],
            &["p.csv", "--adapt-prior", "--prior", "yes=0.1"],
        ]
        .concat(),
        &["cannot be used with"],
    );
}

/// The log-odds of each document and label in a file of predictions.
fn log_odds(sandbox: &Sandbox, name: &str) -> std::collections::BTreeMap<(String, String), f64> {
    let rows = rows(sandbox, name);
    rows.into_iter()
        .map(|row| ((row[0].clone(), row[2].clone()), row[4].parse().unwrap()))
        .collect()
}

#[test]
fn predict_shifts_to_given_and_to_estimated_priors() {
    let sandbox = fitted();
    let predict = ["predict", "mail.calibrant", "mail.csv", "--id", "id", "-o"];
    sandbox.succeed(&[&predict[..], &["plain.csv"]].concat());
    sandbox.succeed(&[&predict[..], &["shifted.csv", "--prior", "corn=0.9"]].concat());
    let (plain, shifted) = (
        log_odds(&sandbox, "plain.csv"),
        log_odds(&sandbox, "shifted.csv"),
    );
    for (key, before) in &plain {
        assert_eq!(key.1 == "corn", shifted[key] > *before, "{key:?}");
    }
    // A model that is all but certain of its training documents finds the shares it was given.
    let stderr = stderr_of(
        &sandbox,
        &[&predict[..], &["same.csv", "--adapt-prior"]].concat(),
    );
    assert!(
        stderr.contains("p-value") && stderr.contains("no shift found"),
        "{stderr}"
    );
    assert_eq!(sandbox.read("same.csv"), sandbox.read("plain.csv"));
    // Only the documents of one class.
    let one = ["--where", "label=corn", "--top", "1"];
    let arguments = [&predict[..], &["corn.csv", "--adapt-prior"], &one].concat();
    let stderr = stderr_of(&sandbox, &arguments);
    assert!(
        stderr.contains("2 degrees of freedom") && stderr.contains(": shifted"),
        "{stderr}"
    );
    assert!(
        rows(&sandbox, "corn.csv")
            .iter()
            .all(|row| row[2] == "corn")
    );
    refused(
        &sandbox,
        &[&predict[..], &["no.csv", "--prior", "wheat=0.9"]].concat(),
        &["no class `wheat`", "corn"],
    );

    sandbox.write("many.csv", csv(&multi_label_messages(200, 1)));
    sandbox.succeed(&[
        "fit",
        "many.csv",
        "--label-separator",
        ";",
        "-o",
        "many.calibrant",
    ]);
    let predict = ["predict", "many.calibrant", "many.csv", "--id", "id", "-o"];
    sandbox.succeed(&[&predict[..], &["plain.csv"]].concat());
    sandbox.succeed(&[&predict[..], &["shifted.csv", "--prior", "oil=0.9"]].concat());
    let (plain, shifted) = (
        log_odds(&sandbox, "plain.csv"),
        log_odds(&sandbox, "shifted.csv"),
    );
    let inspected = sandbox.json(&["inspect", "many.calibrant", "--json"]);
    let classes = inspected["summary"]["classes"].as_array().unwrap();
    let oil = classes
        .iter()
        .find(|class| class["label"] == "oil")
        .unwrap();
    let share = number(&oil["positives"]) / 200.0;
    let expected = (0.9f64 / 0.1).ln() - (share / (1.0 - share)).ln();
    for (key, before) in &plain {
        let by = if key.1 == "oil" { expected } else { 0.0 };
        assert!((shifted[key] - before - by).abs() < 1e-9, "{key:?}");
    }
    let stderr = stderr_of(
        &sandbox,
        &[&predict[..], &["each.csv", "--adapt-prior=always"]].concat(),
    );
    assert!(
        stderr.contains("each class separately") && stderr.contains("oil: "),
        "{stderr}"
    );
}

#[test]
fn weights_of_documents_count_in_the_priors_of_a_model() {
    let sandbox = Sandbox::new();
    let mut text = String::from("label,text,w\n");
    for message in messages(60, 2, 1) {
        let weight = if message.labels[0] == "corn" { 3 } else { 1 };
        text += &format!("{},{},{weight}\n", message.labels[0], message.text);
    }
    sandbox.write("mail.csv", text);
    sandbox.succeed(&["fit", "mail.csv", "--weight", "w", "-o", "m.calibrant"]);
    let inspected = sandbox.json(&["inspect", "m.calibrant", "--json"]);
    let corn = &inspected["summary"]["classes"][0];
    let positives = number(&corn["positives"]);
    let share = 3.0 * positives / (3.0 * positives + 60.0 - positives);
    assert!((number(&corn["prior"]) - share).abs() < 1e-12);
    sandbox.succeed(&["fit", "mail.csv", "-o", "m.calibrant"]);
    let inspected = sandbox.json(&["inspect", "m.calibrant", "--json"]);
    assert!(inspected["summary"]["classes"][0].get("prior").is_none());
}

#[test] // A share of 0.34 went to 0.09 with p = 7e-16 where the truth was 0.34, without a word.
fn a_shift_that_shares_do_not_explain_is_not_believed() {
    let sandbox = Sandbox::new();
    let moved = |examples: &[(f64, bool)], by: f64| {
        let moved: Vec<(f64, bool)> = examples.iter().map(|&(s, y)| (s + by, y)).collect();
        scores_csv(&moved, ["no", "yes"])
    };
    sandbox.write("a.csv", moved(&two_normals(3000, 0.34, 1), 0.0));
    sandbox.write("drift.csv", moved(&two_normals(1000, 0.34, 2), -0.8));
    sandbox.write("rare.csv", moved(&two_normals(1000, 0.09, 3), 0.0));
    sandbox.succeed(&with(&["--method", "platt", "-o", "c.calibrant"]));
    let start = [
        "calibrate",
        "--calibrator",
        "c.calibrant",
        "--json",
        "--test",
    ];
    let test = |file: &str, more: &[&str]| sandbox.json(&[&start[..], &[file], more].concat());
    let plain = test("drift.csv", &[]);
    let adapted = test("drift.csv", &["--adapt-prior"]);
    assert!(number(&adapted["prior"]["tests"][0]["p_value"]) < 1e-4);
    assert_eq!(adapted["prior"]["applied"], false, "{}", adapted["prior"]);
    assert_eq!(adapted["log_loss"], plain["log_loss"]);
    let warnings = adapted["prior"]["warnings"].to_string();
    assert!(warnings.contains("does not explain"), "{warnings}");
    // Asked for, it is done, and costs what it costs.
    let insisted = test("drift.csv", &["--adapt-prior=always"]);
    assert_eq!(insisted["prior"]["applied"], true);
    assert!(number(&insisted["log_loss"]) > number(&plain["log_loss"]));
    // Where only the shares have changed the shift is made, and a large one gets a word.
    let arguments = [&start[..], &["rare.csv", "--adapt-prior"]].concat();
    let stderr = stderr_of(&sandbox, &arguments);
    assert!(stderr.contains("the share of `yes` moves from"), "{stderr}");
    let adapted = test("rare.csv", &["--adapt-prior"]);
    assert_eq!(adapted["prior"]["applied"], true, "{}", adapted["prior"]);
}

#[test]
fn several_labels_are_tested_together_and_moves_are_one_warning() {
    let sandbox = Sandbox::new();
    let all = multi_label_messages(600, 1);
    sandbox.write("train.jsonl", json_lines(&all[..400], true));
    // Mostly documents of two labels.
    let test = all[400..].iter().enumerate().filter(|(row, message)| {
        message.labels.contains(&"corn") && message.labels.contains(&"oil") || row % 40 == 0
    });
    let test: Vec<_> = test.map(|(_, message)| message.clone()).collect();
    sandbox.write("test.jsonl", json_lines(&vec![test; 4].concat(), true));
    sandbox.succeed(&["fit", "train.jsonl", "-o", "model"]);
    let said = stderr_of(
        &sandbox,
        &["predict", "model", "test.jsonl", "--adapt-prior"],
    );
    assert!(
        said.contains("tested at 5 % for all of them together"),
        "{said}"
    );
    let warnings: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("warning: the share"))
        .collect();
    assert_eq!(warnings.len(), 1, "{said}");
    assert!(
        warnings[0].contains("could not be checked") && warnings[0].contains(", of `"),
        "{said}"
    );
    assert!(!said.contains("warning: whether"), "{said}");
}

#[test]
fn evaluate_shifts_as_predict_does() {
    let sandbox = fitted();
    let predict = [
        "predict",
        "mail.calibrant",
        "mail.csv",
        "--id",
        "id",
        "-o",
        "p.csv",
    ];
    for shift in [&["--prior", "corn=0.9"][..], &["--adapt-prior=always"]] {
        sandbox.succeed(&[&predict[..], shift].concat());
        let table = sandbox.json(&["evaluate", "p.csv", "mail.csv", "--json", "--no-ledger"]);
        let evaluate = [
            "evaluate",
            "mail.calibrant",
            "mail.csv",
            "--json",
            "--no-ledger",
        ];
        let shifted = sandbox.json(&[&evaluate[..], shift].concat());
        let gap = number(&shifted["log_loss"]) - number(&table["log_loss"]);
        assert!(gap.abs() < 1e-9, "{shift:?}: {gap}");
        let plain = sandbox.json(&evaluate);
        assert_ne!(plain["log_loss"], shifted["log_loss"]);
    }
    refused(
        &sandbox,
        &["evaluate", "p.csv", "mail.csv", "--adapt-prior"],
        &["need a model"],
    );
    // What was shifted is said wherever its measures are.
    let start = ["evaluate", "mail.calibrant", "mail.csv", "--no-ledger"];
    let given = ["--prior", "corn=0.9", "--html", "r.html"];
    let said = sandbox.succeed(&[&start[..], &given].concat());
    let page = String::from_utf8(sandbox.read("r.html")).unwrap();
    for text in [&said, &page] {
        assert!(text.contains("shifted to other class priors"), "{text}");
        assert!(text.contains("to 0.9000"), "{text}");
    }
    let report = sandbox.json(&[&start[..], &given[..2], &["--json"]].concat());
    assert_eq!(report["prior"]["applied"], true);
}

/// Texts of which this share in a hundred is spam; what spam and ham look like never changes.
fn mail(count: usize, spam_in_100: usize, seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut text = String::from("text,label\n");
    for _ in 0..count {
        let label = ["ham", "spam"][usize::from(dice.below(100) < spam_in_100)];
        let words: Vec<String> = (0..8)
            .map(|_| match dice.below(4) {
                0 => format!("{label}{}", dice.below(20)),
                _ => format!("any{}", dice.below(150)),
            })
            .collect();
        text += &format!("{},{label}\n", words.join(" "));
    }
    text
}

/// A model of all documents is surer than the models of folds: that alone is no other look of the classes.
#[test]
fn a_change_of_shares_alone_is_believed_of_texts_too() {
    let sandbox = Sandbox::new();
    sandbox.write("a.csv", mail(1200, 34, 1));
    sandbox.write("same.csv", mail(600, 34, 2));
    sandbox.write("rare.csv", mail(600, 9, 3));
    // Spam that has learned to use fewer of its words.
    let other = mail(600, 34, 4);
    let mut dice = Dice::new(5);
    let words = other.lines().map(|line| {
        let keep = |word: &&str| word.contains(',') || !word.contains("spam") || dice.below(3) == 0;
        line.split(' ')
            .filter(keep)
            .collect::<Vec<&str>>()
            .join(" ")
    });
    sandbox.write("other.csv", words.collect::<Vec<String>>().join("\n"));
    for learner in ["svm", "naive-bayes"] {
        sandbox.succeed(&["fit", "a.csv", "-o", "m", "--classifier", learner]);
        let evaluate = |file: &str, more: &[&str]| {
            let start = ["evaluate", "m", file, "--json", "--no-ledger"];
            sandbox.json(&[&start[..], &["--bootstrap", "0"], more].concat())
        };
        let plain = evaluate("rare.csv", &[]);
        let adapted = evaluate("rare.csv", &["--adapt-prior"]);
        let prior = &adapted["prior"];
        assert_eq!(prior["applied"], true, "{learner}: {prior}");
        let [before, after] = [&plain, &adapted].map(|report| number(&report["log_loss"]));
        assert!(after < 0.9 * before, "{learner}: {before} {after}");
        let same = evaluate("same.csv", &["--adapt-prior"]);
        assert_eq!(
            same["prior"]["applied"], false,
            "{learner}: {}",
            same["prior"]
        );
        let other = evaluate("other.csv", &["--adapt-prior"]);
        assert_eq!(
            other["prior"]["applied"], false,
            "{learner}: {}",
            other["prior"]
        );
    }
}
