//! `calibrant calibrate`: scores of any classifier in, probabilities out; and prior shift, which
//! `predict` knows too.

mod common;

use common::{Dice, Sandbox, csv, fitted, gzip, messages, multi_label_messages, zstandard};
use serde_json::Value;

/// A uniform number strictly between 0 and 1.
fn uniform(dice: &mut Dice) -> f64 {
    (dice.below(1_000_000) as f64 + 0.5) / 1e6
}

/// Examples whose true log-odds are `2 s + shift`.
fn examples(count: usize, shift: f64, seed: u64) -> Vec<(f64, bool)> {
    let mut dice = Dice::new(seed);
    (0..count)
        .map(|_| {
            let score = 6.0 * uniform(&mut dice) - 3.0;
            let p = 1.0 / (1.0 + (-2.0 * score - shift).exp());
            (score, uniform(&mut dice) < p)
        })
        .collect()
}

/// Normal scores around -1 and 1, of which this share is positive: priors may differ, classes do not.
fn two_normals(count: usize, positives: f64, seed: u64) -> Vec<(f64, bool)> {
    let mut dice = Dice::new(seed);
    (0..count)
        .map(|_| {
            let label = uniform(&mut dice) < positives;
            let (u, v) = (uniform(&mut dice), uniform(&mut dice));
            let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
            (normal + if label { 1.0 } else { -1.0 }, label)
        })
        .collect()
}

fn scores_csv(examples: &[(f64, bool)], names: [&str; 2]) -> String {
    let mut text = String::from("key,margin,truth\n");
    for (number, (score, label)) in examples.iter().enumerate() {
        text += &format!("k{number},{score},{}\n", names[usize::from(*label)]);
    }
    text
}

const FIT: [&str; 6] = [
    "calibrate",
    "a.csv",
    "--score",
    "margin",
    "--label",
    "truth",
];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a.csv", scores_csv(&examples(600, 0.0, 1), ["no", "yes"]));
    sandbox.write("b.csv", scores_csv(&examples(300, 0.0, 2), ["no", "yes"]));
    sandbox
}

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&FIT[..], more].concat()
}

#[track_caller]
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// Code 2, pieces of the message, nothing on standard output, every file as it was.
#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &[&str], pieces: &[&str]) {
    let before = sandbox.contents();
    let found = sandbox.run(arguments);
    let stderr = String::from_utf8_lossy(&found.stderr).into_owned();
    assert_eq!(found.status.code(), Some(2), "{arguments:?}: {stderr}");
    for piece in pieces {
        assert!(stderr.contains(piece), "no `{piece}` in: {stderr}");
    }
    assert!(found.stdout.is_empty(), "{arguments:?}");
    assert!(sandbox.contents() == before, "{arguments:?} left a trace");
}

#[track_caller]
fn stderr_of(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let found = sandbox.run(arguments);
    let stderr = String::from_utf8(found.stderr).unwrap();
    assert_eq!(found.status.code(), Some(0), "{arguments:?}: {stderr}");
    stderr
}

/// The rows of a written CSV file below its header.
fn rows(sandbox: &Sandbox, name: &str) -> Vec<Vec<String>> {
    let text = String::from_utf8(sandbox.read(name)).unwrap();
    let rows = text.lines().skip(1);
    rows.map(|line| line.split(',').map(str::to_owned).collect())
        .collect()
}

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
fn labels_must_be_two_unless_one_is_set_against_the_rest() {
    let sandbox = Sandbox::new();
    sandbox.write("a.csv", "margin,truth\n1,yes\n2,yes\n");
    let pieces = ["all 2 examples", "`yes`", "two classes"];
    refused(&sandbox, &with(&["-o", "c.calibrant"]), &pieces);
    let text: String = (0..60)
        .map(|i| format!("{},{}\n", (i % 7) + (i % 3), ["a", "b", "c"][i % 3]))
        .collect();
    sandbox.write("a.csv", format!("margin,truth\n{text}"));
    refused(
        &sandbox,
        &FIT,
        &["3 labels", "`a`, `b`, `c`", "one score a class"],
    );
    let report = sandbox.json(&with(&["--positive", "c", "--json"]));
    assert_eq!(report["classes"], serde_json::json!(["not c", "c"]));
    assert_eq!(report["class_counts"], serde_json::json!([40, 20]));
    // Other labels in the test file are the rest, too; with two labels an unknown one is an error.
    sandbox.write("b.csv", "margin,truth\n1,c\n2,d\n");
    sandbox.succeed(&with(&["--positive", "c", "--test", "b.csv"]));
    let two = with(&["--where", "truth=a", "--test", "b.csv"]);
    refused(&sandbox, &two, &["all 20 examples"]);
}

#[test]
fn an_unknown_label_in_the_test_file_is_named_with_its_line() {
    let sandbox = sandbox();
    sandbox.write("b.csv", "margin,truth\n1,yes\n2,perhaps\n");
    let arguments = with(&["--test", "b.csv", "-o", "c.calibrant"]);
    refused(
        &sandbox,
        &arguments,
        &["b.csv, line 3", "`perhaps`", "`no`, `yes`"],
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
fn malformed_rows_are_named_or_skipped_and_leave_nothing_half_written() {
    let good = "margin,truth\n1,yes\n2,yes\n-1,no\n0,no\n3,yes\n-2,no\n";
    for (row, piece) in [
        (",yes", "the score is missing"),
        ("NaN,yes", "finite number"),
        ("inf,no", "finite number"),
        ("one,no", "found `one`"),
        ("1,", "the label is missing"),
        ("1,yes,2", "expected 2 fields"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("a.csv", format!("{good}{row}\n"));
        let arguments = with(&["-o", "c.calibrant", "--html", "r.html"]);
        refused(
            &sandbox,
            &arguments,
            &["a.csv, line 8", piece, "--skip-bad-rows"],
        );
        sandbox.write("bad.csv", format!("{good}{row}\n"));
        sandbox.write("a.csv", good);
        // A bad row in the last file leaves nothing of the ones before it.
        let arguments = with(&["-o", "c.calibrant", "--test", "bad.csv"]);
        refused(&sandbox, &arguments, &["bad.csv, line 8", piece]);
        let mut arguments = with(&[
            "-o",
            "c.calibrant",
            "--apply",
            "bad.csv",
            "--predictions",
            "p.csv",
        ]);
        if row != "1," {
            refused(&sandbox, &arguments, &["bad.csv, line 8", piece]);
        }
        arguments.push("--skip-bad-rows");
        sandbox.succeed(&arguments);
        assert!(sandbox.path("c.calibrant").exists() && sandbox.path("p.csv").exists());
    }
    let sandbox = sandbox();
    refused(
        &sandbox,
        &["calibrate", "a.csv", "--score", "logit", "--label", "truth"],
        &["no field `logit`", "`margin`", "--score"],
    );
    refused(
        &sandbox,
        &["calibrate", "a.csv", "--score", "margin"],
        &["no field `label`"],
    );
    refused(
        &sandbox,
        &["calibrate", "none.csv", "--score", "s"],
        &["none.csv"],
    );
    sandbox.write("a.csv", "margin,truth\n");
    refused(&sandbox, &FIT, &["no rows"]);
    sandbox.write("a.txt", "__label__a b c\n");
    refused(
        &sandbox,
        &["calibrate", "a.txt", "--score", "s"],
        &["no named fields"],
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
            let [a, b] = [plain, shifted].map(|row| row[2].parse::<f64>().unwrap());
            assert!((b - a - expected).abs() < 1e-9, "{prior}: {a} {b}");
        }
    }
    for (prior, piece) in [
        ("maybe=0.1", "no class `maybe`"),
        ("yes", "CLASS=SHARE"),
        ("yes=2", "below 1"),
        ("yes=0", "above 0"),
        ("yes=nan", "class prior"),
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
    assert!((number(&adapted["prior"]["new"][0]) - 0.1).abs() < 0.04);
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
            .map(|row| row[1].parse::<f64>().unwrap())
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
        stderr.contains("each class on its own") && stderr.contains("oil: "),
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

#[test]
fn calibrators_and_models_are_told_apart() {
    let sandbox = fitted();
    sandbox.write("a.csv", scores_csv(&examples(100, 0.0, 1), ["no", "yes"]));
    sandbox.succeed(&with(&["-o", "c.calibrant"]));
    let pieces = [
        "c.calibrant",
        "calibrator of scores",
        "calibrate --calibrator",
    ];
    for arguments in [
        &["predict", "c.calibrant", "mail.csv"][..],
        &["evaluate", "c.calibrant", "mail.csv"],
        &["explain", "c.calibrant", "corn"],
    ] {
        refused(&sandbox, arguments, &pieces);
    }
    let arguments = [
        "calibrate",
        "--calibrator",
        "mail.calibrant",
        "--apply",
        "a.csv",
    ];
    refused(&sandbox, &arguments, &["mail.calibrant", "model of texts"]);
    let arguments = ["calibrate", "--calibrator", "a.csv", "--apply", "a.csv"];
    refused(&sandbox, &arguments, &["a.csv", "not a calibrator"]);
    let arguments = ["calibrate", "--calibrator", "none", "--apply", "a.csv"];
    refused(
        &sandbox,
        &arguments,
        &["no calibrator file", "`calibrant calibrate"],
    );
    let bytes = sandbox.read("c.calibrant");
    sandbox.write("cut.calibrant", &bytes[..bytes.len() - 20]);
    let arguments = [
        "calibrate",
        "--calibrator",
        "cut.calibrant",
        "--apply",
        "a.csv",
    ];
    refused(&sandbox, &arguments, &["cut.calibrant", "damaged"]);
    refused(&sandbox, &["inspect", "cut.calibrant"], &["damaged"]);

    let text = sandbox.succeed(&["inspect", "c.calibrant"]);
    for piece in [
        "calibrator of scores",
        "no, yes",
        "margin",
        "platt",
        "log loss",
    ] {
        assert!(text.contains(piece), "no `{piece}` in: {text}");
    }
    let json = sandbox.json(&["inspect", "c.calibrant", "--json"]);
    assert_eq!(json["kind"], "calibrator");
    assert_eq!(json["summary"]["examples"], 100);
    refused(
        &sandbox,
        &["inspect", "c.calibrant", "--terms", "3"],
        &["no terms"],
    );
}

#[test]
fn options_that_do_not_go_together_are_refused_before_any_work() {
    let sandbox = sandbox();
    sandbox.succeed(&with(&["-o", "c.calibrant"]));
    let saved = ["calibrate", "--calibrator", "c.calibrant"];
    refused(&sandbox, &saved, &["--apply", "--test"]);
    refused(&sandbox, &with(&["--apply", "b.csv"]), &["--predictions"]);
    refused(
        &sandbox,
        &[&saved[..], &["--apply", "b.csv", "--test", "b.csv"]].concat(),
        &["--predictions"],
    );
    refused(
        &sandbox,
        &[&saved[..], &["--apply", "b.csv", "--html", "r.html"]].concat(),
        &["--test"],
    );
    refused(
        &sandbox,
        &[&saved[..], &["--method", "platt", "--apply", "b.csv"]].concat(),
        &["--method"],
    );
    refused(&sandbox, &["calibrate"], &["--score"]);
    refused(&sandbox, &with(&["-o", "a.csv"]), &["would be overwritten"]);
    refused(
        &sandbox,
        &with(&["--test", "b.csv", "--html", "b.csv"]),
        &["would be overwritten"],
    );
    refused(
        &sandbox,
        &with(&["-o", "x", "--html", "x"]),
        &["two different things"],
    );
    refused(&sandbox, &with(&["-o", "nowhere/x"]), &["no folder"]);
    refused(
        &sandbox,
        &[&saved[..], &["--apply", "b.csv", "--predictions", "p.xls"]].concat(),
        &["p.xls", ".parquet"],
    );
    refused(
        &sandbox,
        &[
            &saved[..],
            &["--apply", "b.csv", "--predictions", "c.calibrant"],
        ]
        .concat(),
        &["would be overwritten"],
    );
    let mut arguments = with(&["--test", "-"]);
    arguments[1] = "-";
    refused(&sandbox, &arguments, &["only once"]);
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
fn a_single_example_of_a_label_is_too_few() {
    let sandbox = Sandbox::new();
    let text: String = (0..20).map(|i| format!("{i},{}\n", i / 19)).collect();
    sandbox.write("a.csv", format!("margin,truth\n{text}"));
    let arguments = with(&["-o", "c.calibrant"]);
    refused(
        &sandbox,
        &arguments,
        &["at least 2 positive", "1 and 19", "rarer label"],
    );
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
