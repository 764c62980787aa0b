//! `calibrant calibrate`: scores of any classifier in, probabilities out.

mod common;

use common::scores::*;
use common::{Dice, Sandbox, gzip, zstandard};
use serde_json::Value;

#[test]
fn scripts_find_the_measures_of_the_test_file_under_fixed_names() {
    let sandbox = sandbox();
    let report = sandbox.json(&with(&["--method", "none", "--test", "b.csv", "--json"]));
    assert_eq!(report["method"], "none");
    assert_eq!(report["measured_on"], "test");
    assert_eq!(report["measured_rows"], 300);
    // By hand: the score itself is the log-odds.
    let test = examples(300, 0.0, 2);
    let loss = |&(score, label): &(f64, bool)| {
        let signed: f64 = if label { -score } else { score };
        signed.exp().ln_1p()
    };
    let log_loss = test.iter().map(loss).sum::<f64>() / 300.0;
    assert!((number(&report["log_loss"]) - log_loss).abs() < 1e-9);
    let miss = |&(score, label): &(f64, bool)| {
        (1.0 / (1.0 + (-score).exp()) - f64::from(u8::from(label))).powi(2)
    };
    let brier = test.iter().map(miss).sum::<f64>() / 300.0;
    assert!((number(&report["brier"]) - brier).abs() < 1e-9);
    assert_eq!(report["log_loss"], report["before"]["log_loss"]);
    assert!(
        number(&report["ece"]) > 0.03,
        "half the true slope is too timid"
    );

    let report = sandbox.json(&with(&["--test", "b.csv", "--json"]));
    assert!(number(&report["log_loss"]) < log_loss);
    assert_eq!(report["tried"][0]["method"], report["method"]);
    assert!(report["tried"].as_array().unwrap().len() > 1);
    assert_eq!(report["class_counts"].as_array().unwrap().len(), 2);
}

#[test]
fn every_method_has_its_name_with_hyphens_or_underscores() {
    let sandbox = sandbox();
    for (name, expected) in [
        ("platt", "platt"),
        ("asymmetric-laplace", "asymmetric_laplace"),
        ("asymmetric_laplace", "asymmetric_laplace"),
        ("three-piece", "three_piece"),
        ("none", "none"),
    ] {
        let report = sandbox.json(&with(&["--method", name, "--json"]));
        assert_eq!(report["method"], expected);
        assert_eq!(report["measured_on"], "cross_validation");
        assert!(number(&report["log_loss"]) < 0.6);
    }
    refused(
        &sandbox,
        &with(&["--method", "guess"]),
        &["platt", "temperature"],
    );
    refused(
        &sandbox,
        &with(&["--method", "temperature"]),
        &["one score a class"],
    );
    // Every curve rises where that is asked for.
    let scores: String = (-60..=60)
        .map(|i| format!("{}\n", f64::from(i) / 4.0))
        .collect();
    sandbox.write("many.csv", format!("margin\n{scores}"));
    let fit = [
        "--monotone",
        "--method",
        "gauss",
        "--apply",
        "many.csv",
        "--predictions",
        "said.csv",
    ];
    sandbox.succeed(&with(&fit));
    let said = String::from_utf8(sandbox.read("said.csv")).unwrap();
    let log_odds: Vec<f64> = said
        .lines()
        .skip(1)
        .map(|line| line.rsplit(',').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(log_odds.len(), 121);
    assert!(log_odds.is_sorted(), "{log_odds:?}");
}

#[test]
fn the_tables_say_what_was_chosen_and_what_it_changed() {
    let sandbox = sandbox();
    let text = sandbox.succeed(&with(&["--test", "b.csv"]));
    for piece in [
        "fitted to 600 examples",
        "chosen",
        "margin",
        "before",
        "after",
        "log loss",
        "measured on the 300",
    ] {
        assert!(text.contains(piece), "no `{piece}` in: {text}");
    }
    let text = sandbox.succeed(&FIT);
    assert!(text.contains("cross-validated on the 600"), "{text}");
}

#[test]
fn a_saved_calibrator_says_what_the_fitted_one_said() {
    let sandbox = sandbox();
    sandbox.succeed(&with(&[
        "-o",
        "c.calibrant",
        "--apply",
        "b.csv",
        "--predictions",
        "p.csv",
        "--id",
        "key",
    ]));
    let text = String::from_utf8(sandbox.read("p.csv")).unwrap();
    assert!(text.starts_with("id,probability,log_odds\nk0,"), "{text}");
    assert_eq!(text.lines().count(), 301);
    let saved = ["calibrate", "--calibrator", "c.calibrant"];
    let again = sandbox.succeed(&[&saved[..], &["--apply", "b.csv", "--id", "key"]].concat());
    assert_eq!(again, text);
    // Every format says the same.
    for name in ["q.tsv", "q.jsonl", "q.parquet"] {
        let more = ["--apply", "b.csv", "--id", "key", "--predictions", name];
        sandbox.succeed(&[&saved[..], &more].concat());
    }
    assert_eq!(
        String::from_utf8(sandbox.read("q.tsv"))
            .unwrap()
            .replace('\t', ","),
        text
    );
    let lines = String::from_utf8(sandbox.read("q.jsonl")).unwrap();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let expected: Vec<&str> = text.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(first["id"], expected[0]);
    assert_eq!(
        number(&first["probability"]),
        expected[1].parse::<f64>().unwrap()
    );
    // The Parquet file is read back by using its log-odds as scores of the identity.
    sandbox.succeed(&with(&["--method", "none", "-o", "none.calibrant"]));
    let back = sandbox.succeed(&[
        "calibrate",
        "--calibrator",
        "none.calibrant",
        "--score",
        "log_odds",
        "--id",
        "id",
        "--apply",
        "q.parquet",
    ]);
    assert_eq!(back, text);
    // Row numbers stand in for identifiers, and predictions may come as JSON Lines.
    let lines = sandbox.succeed(&[&saved[..], &["--apply", "b.csv", "--json"]].concat());
    assert!(
        lines.starts_with("{\"id\":\"1\",\"probability\":"),
        "{lines}"
    );
    // A saved one can be measured, too.
    let report = sandbox.json(&[&saved[..], &["--test", "b.csv", "--json"]].concat());
    let fresh = sandbox.json(&with(&["--test", "b.csv", "--json"]));
    assert_eq!(report["log_loss"], fresh["log_loss"]);
}

#[test]
fn every_readable_format_gives_the_same_calibrator() {
    let sandbox = sandbox();
    sandbox.succeed(&with(&["-o", "c.calibrant"]));
    let expected = sandbox.read("c.calibrant");
    let text = String::from_utf8(sandbox.read("a.csv")).unwrap();
    sandbox.write("a.tsv", text.replace(',', "\t"));
    sandbox.write("a.csv.gz", gzip(text.as_bytes()));
    sandbox.write("a.csv.zst", zstandard(text.as_bytes()));
    let json: String = text
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!(
                "{{\"truth\": \"{}\", \"margin\": {}}}\n",
                cells[2], cells[1]
            )
        })
        .collect();
    sandbox.write("a.jsonl", &json);
    for file in ["a.tsv", "a.csv.gz", "a.csv.zst", "a.jsonl"] {
        let mut arguments = with(&["-o", "d.calibrant"]);
        arguments[1] = file;
        sandbox.succeed(&arguments);
        assert!(sandbox.read("d.calibrant") == expected, "{file}");
    }
    let mut arguments = with(&["-o", "d.calibrant", "--format", "csv", "--threads", "3"]);
    arguments[1] = "-";
    sandbox.succeed_with_input(&arguments, text.as_bytes());
    assert!(sandbox.read("d.calibrant") == expected);
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    lines.reverse();
    sandbox.write("a.csv", format!("key,margin,truth\n{}\n", lines.join("\n")));
    sandbox.succeed(&with(&["-o", "d.calibrant"]));
    assert!(sandbox.read("d.calibrant") == expected, "order of rows");
}

#[test]
fn the_positive_label_is_the_usual_one_the_last_or_the_one_that_was_named() {
    let sandbox = Sandbox::new();
    let examples = examples(200, 0.0, 3);
    for (names, positive, said) in [
        (["0", "1"], "1", false),
        (["-1", "+1"], "+1", false),
        (["False", "True"], "True", false),
        (["no", "yes"], "yes", false),
        (["neg", "pos"], "pos", false),
        (["ham", "spam"], "spam", true),
        // The last by alphabet is not always the one meant.
        (["spam", "ham"], "spam", true),
    ] {
        sandbox.write("a.csv", scores_csv(&examples, names));
        let report = sandbox.json(&with(&["--json"]));
        assert_eq!(report["positive"], positive);
        let stderr = stderr_of(&sandbox, &FIT);
        assert_eq!(stderr.contains("--positive"), said, "{stderr}");
        let report = sandbox.json(&with(&["--positive", names[0], "--json"]));
        assert_eq!(report["positive"], names[0]);
    }
    refused(
        &sandbox,
        &with(&["--positive", "eggs"]),
        &["`eggs`", "`ham`, `spam`"],
    );
}

#[test]
fn probabilities_are_calibrated_by_their_log_odds_and_that_is_said() {
    let sandbox = Sandbox::new();
    let stated: String = examples(4000, 0.0, 4)
        .iter()
        .map(|(score, label)| format!("{:.2},{}\n", 1.0 / (1.0 + (-score).exp()), u8::from(*label)))
        .collect();
    let text = format!("margin,truth\n{stated}1.0,1\n0,0\n");
    sandbox.write("a.csv", &text);
    let stderr = stderr_of(&sandbox, &with(&["--method", "platt", "-o", "c.calibrant"]));
    assert!(stderr.contains("taken as probabilities"), "{stderr}");
    assert!(stderr.contains("exactly 0 or 1"), "{stderr}");
    let report = sandbox.json(&with(&["--method", "platt", "--json"]));
    assert_eq!(report["scale"]["score_is"], "probability");
    let slope = number(&report["calibrator"]["one_score"]["slope"]);
    assert!((slope - 2.0).abs() < 0.3, "{slope}");
    let report = sandbox.json(&with(&["--score-is", "number", "--json"]));
    assert_eq!(report["scale"]["score_is"], "number");
    let asked = stderr_of(&sandbox, &with(&["--score-is", "probability"]));
    assert!(!asked.contains("taken as"), "{asked}");
    // What is applied must be probabilities as well.
    sandbox.write("b.csv", "margin\n0.5\n1.5\n");
    let apply = [
        "calibrate",
        "--calibrator",
        "c.calibrant",
        "--apply",
        "b.csv",
        "--predictions",
        "p.csv",
    ];
    refused(
        &sandbox,
        &apply,
        &["b.csv, line 3, field `margin`", "between 0 and 1"],
    );
    sandbox.succeed(&[&apply[..], &["--skip-bad-rows"]].concat());
    assert_eq!(rows(&sandbox, "p.csv").len(), 1);
    // A file that is no file of probabilities cannot be called one.
    sandbox.write("a.csv", "margin,truth\n0.5,1\n-1,0\n");
    refused(
        &sandbox,
        &with(&["--score-is", "probability"]),
        &["line 3", "margin"],
    );
}

#[test]
fn a_weight_of_two_is_the_row_twice() {
    let sandbox = Sandbox::new();
    let mut once = String::from("margin,truth,w\n");
    let mut twice = String::from("margin,truth,w\n");
    for (number, (score, label)) in examples(100, 0.0, 5).iter().enumerate() {
        let label = u8::from(*label);
        let weight = 1 + number % 2;
        once += &format!("{score},{label},{weight}\n");
        twice += &format!("{score},{label},1\n").repeat(weight);
    }
    sandbox.write("a.csv", once);
    sandbox.write("b.csv", twice);
    let weighted = sandbox.json(&with(&["--method", "platt", "--weight", "w", "--json"]));
    let mut arguments = with(&["--method", "platt", "--json"]);
    arguments[1] = "b.csv";
    let repeated = sandbox.json(&arguments);
    for name in ["slope", "intercept"] {
        let [a, b] = [&weighted, &repeated].map(|r| number(&r["calibrator"]["one_score"][name]));
        assert!((a - b).abs() < 1e-6, "{name}: {a} {b}");
    }
    let weighted = with(&[
        "--method", "none", "--weight", "w", "--test", "a.csv", "--json",
    ]);
    let weighted = sandbox.json(&weighted);
    let mut arguments = with(&["--method", "none", "--test", "b.csv", "--json"]);
    arguments[1] = "b.csv";
    let repeated = sandbox.json(&arguments);
    let gap = number(&weighted["log_loss"]) - number(&repeated["log_loss"]);
    assert!(gap.abs() < 1e-12);
}

#[test]
fn one_score_a_class_gives_probabilities_that_sum_to_one() {
    let sandbox = Sandbox::new();
    let mut dice = Dice::new(6);
    let mut text = String::from("p_a,b,p_c,label\n");
    for number in 0..300 {
        let label = number % 3;
        let mut scores = [0; 3].map(|_| 3.0 * uniform(&mut dice));
        scores[label] += 2.0 * uniform(&mut dice);
        let [a, b, c] = scores;
        text += &format!("{a},{b},{c},{}\n", ["a", "b", "c"][label]);
    }
    sandbox.write("a.csv", &text);
    let fit = ["calibrate", "a.csv", "--score", "a=p_a,b,c=p_c"];
    let report = sandbox.json(&[&fit[..], &["--json"]].concat());
    assert_eq!(report["classes"], serde_json::json!(["a", "b", "c"]));
    assert!(number(&report["log_loss"]) < 3f64.ln());
    for (method, chosen) in [
        ("temperature", "temperature"),
        ("one-vs-rest", "one_vs_rest"),
        ("platt", "one_vs_rest"),
    ] {
        let report = sandbox.json(&[&fit[..], &["--method", method, "--json"]].concat());
        assert_eq!(report["method"], chosen);
    }
    sandbox.succeed(&[&fit[..], &["-o", "c.calibrant", "--html", "r.html"]].concat());
    sandbox.succeed(&[
        "calibrate",
        "--calibrator",
        "c.calibrant",
        "--apply",
        "a.csv",
        "--predictions",
        "p.csv",
    ]);
    let text = String::from_utf8(sandbox.read("p.csv")).unwrap();
    assert!(
        text.starts_with("id,rank,label,probability,log_odds\n1,1,"),
        "{text}"
    );
    let rows = rows(&sandbox, "p.csv");
    assert_eq!(rows.len(), 900);
    for of_row in rows.chunks(3) {
        let sum: f64 = of_row
            .iter()
            .map(|row| row[3].parse::<f64>().unwrap())
            .sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
    // Fields by other names, given by class and in any order.
    let renamed = String::from_utf8(sandbox.read("a.csv")).unwrap();
    sandbox.write("b.csv", renamed.replacen("p_a,b,p_c", "x,y,z", 1));
    let again = sandbox.succeed(&[
        "calibrate",
        "--calibrator",
        "c.calibrant",
        "--score",
        "c=z,a=x,b=y",
        "--apply",
        "b.csv",
    ]);
    assert_eq!(again, text);
    refused(
        &sandbox,
        &[
            "calibrate",
            "--calibrator",
            "c.calibrant",
            "--score",
            "x,y,z",
            "--apply",
            "b.csv",
        ],
        &["no field for the class `a`"],
    );
    refused(
        &sandbox,
        &["calibrate", "a.csv", "--score", "a=p_a,b"],
        &["line 4", "`c` is none of the classes"],
    );
    refused(
        &sandbox,
        &[&fit[..], &["--monotone"]].concat(),
        &["one score a row"],
    );
}

#[test]
fn the_page_holds_measures_and_a_diagram() {
    let sandbox = sandbox();
    sandbox.succeed(&with(&["--html", "r.html", "--test", "b.csv"]));
    let page = String::from_utf8(sandbox.read("r.html")).unwrap();
    for piece in [
        "<svg",
        "log loss",
        "before",
        "after",
        "yes",
        "300 examples of b.csv",
    ] {
        assert!(page.contains(piece), "no `{piece}`");
    }
}

#[test]
fn extreme_scores_give_probabilities() {
    let sandbox = Sandbox::new();
    for (name, text) in [
        ("all equal", "1,0\n1,1\n1,0\n1,1\n".repeat(5)),
        (
            "separated",
            (0..20).map(|i| format!("{i},{}\n", i / 10)).collect(),
        ),
        (
            "two positives",
            (0..20).map(|i| format!("{i},{}\n", i / 18)).collect(),
        ),
        (
            "far apart",
            (0..20)
                .map(|i| format!("{}e300,{}\n", i - 10, i % 2))
                .collect(),
        ),
    ] {
        sandbox.write("a.csv", format!("margin,truth\n{text}"));
        sandbox.write("b.csv", "margin\n-1e308\n0\n1e308\n");
        sandbox.succeed(&with(&["--apply", "b.csv", "--predictions", "p.csv"]));
        let rows = rows(&sandbox, "p.csv");
        assert_eq!(rows.len(), 3, "{name}");
        for row in rows {
            let p: f64 = row[1].parse().unwrap();
            assert!(p > 0.0 && p < 1.0, "{name}: {row:?}");
        }
    }
}
