//! `calibrant calibrate`: scores of any classifier in, probabilities out.

use crate::common;

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
        &["one score per class"],
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
    assert!(
        text.starts_with("id,class,probability,log_odds\nk0,yes,"),
        "{text}"
    );
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
        expected[2].parse::<f64>().unwrap()
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
        lines.starts_with("{\"row\":1,\"class\":\"yes\",\"probability\":"),
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
    assert!(stderr.contains("of 0 is replaced by"), "{stderr}");
    let report = sandbox.json(&with(&["--method", "platt", "--json"]));
    assert_eq!(report["scale"]["score_is"], "probability");
    let slope = number(&report["calibrator"]["one_score"]["inner"]["slope"]);
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

#[test] // Platt's targets count examples, of which there are more when rows are repeated; plain logistic regression has none.
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
    let weighted = sandbox.json(&with(&["--method", "logreg", "--weight", "w", "--json"]));
    let mut arguments = with(&["--method", "logreg", "--json"]);
    arguments[1] = "b.csv";
    let repeated = sandbox.json(&arguments);
    for name in ["slope", "intercept"] {
        let [a, b] =
            [&weighted, &repeated].map(|r| number(&r["calibrator"]["one_score"]["inner"][name]));
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

/// With groups, copies are one example with all their weight, for every method.
#[test]
fn a_weight_of_two_is_the_row_twice_within_its_group_for_every_method() {
    let sandbox = Sandbox::new();
    let mut once = String::from("margin,truth,w,of\n");
    let mut twice = String::from("margin,truth,w,of\n");
    for (number, (score, label)) in examples(240, 0.0, 5).iter().enumerate() {
        let label = u8::from(*label);
        let (weight, group) = (1 + number % 2, number / 2);
        once += &format!("{score},{label},{weight},g{group}\n");
        twice += &format!("{score},{label},1,g{group}\n").repeat(weight);
    }
    sandbox.write("a.csv", once);
    sandbox.write("b.csv", twice);
    for method in calibrant::calibration::CalibratorKind::ALL {
        let options = ["--method", method.name(), "--group", "of", "--json"];
        let weighted = sandbox.json(&[&with(&options)[..], &["--weight", "w"]].concat());
        let mut arguments = with(&options);
        arguments[1] = "b.csv";
        let repeated = sandbox.json(&arguments);
        assert_eq!(weighted["calibrator"], repeated["calibrator"], "{method:?}");
        assert_eq!(weighted["tried"], repeated["tried"], "{method:?}");
        for name in ["log_loss", "brier"] {
            let gap = number(&weighted[name]) - number(&repeated[name]);
            assert!(gap.abs() < 1e-12, "{method:?} {name}: {gap}");
        }
    }
}

#[test]
fn the_page_says_why_the_chosen_method_was_chosen() {
    let page = |sandbox: &Sandbox, options: &[&str]| {
        let report = sandbox.json(&with(&[options, &["--html", "p.html", "--json"]].concat()));
        (report, String::from_utf8(sandbox.read("p.html")).unwrap())
    };
    // Scores whose log-odds are a line: Platt's may be ahead by luck, or the smooth curve.
    let mut ahead = [false; 2];
    for seed in 1..7 {
        let sandbox = Sandbox::new();
        let rows = examples(300, 0.0, seed).into_iter();
        let rows = rows.map(|(score, label)| format!("{score},{}\n", u8::from(label)));
        sandbox.write(
            "a.csv",
            format!("margin,truth\n{}", rows.collect::<String>()),
        );
        let (report, said) = page(&sandbox, &[]);
        let tried = report["tried"].as_array().unwrap();
        let (first, loss) = (
            tried[0]["method"].as_str().unwrap(),
            number(&tried[0]["log_loss"]),
        );
        let better = tried
            .iter()
            .min_by(|a, b| number(&a["log_loss"]).total_cmp(&number(&b["log_loss"])));
        let better = better.filter(|better| number(&better["log_loss"]) < loss);
        if first != "spline" {
            continue;
        }
        ahead[usize::from(better.is_some())] = true;
        let expected = match better {
            Some(better) => format!(
                "Here spline comes first and keeps the lead: {} has a smaller loss, but not significantly.",
                better["method"].as_str().unwrap()
            ),
            None => "Here spline comes first and has the least loss.".to_owned(),
        };
        assert!(said.contains(&expected), "{expected} {tried:?}");
    }
    assert_eq!(ahead, [true; 2]);
    let (_, said) = page(&sandbox(), &["--method", "platt"]);
    assert!(said.contains("No other method was tried."));
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
    let weights: f64 = report["tried"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|tried| tried["method"] != "second_pass")
        .map(|tried| number(&tried["weight"]))
        .sum();
    assert!((weights - 1.0).abs() < 1e-6, "{weights}");
    let shown = sandbox.succeed(&fit);
    assert!(
        shown.contains("weight ") && !shown.contains("NaN"),
        "{shown}"
    );
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
        text.starts_with("row,rank,label,probability,log_odds\n1,1,"),
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
        &["line 4", "`c` is not one of the classes"],
    );
    refused(
        &sandbox,
        &[&fit[..], &["--monotone"]].concat(),
        &["one score per row"],
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
            let p: f64 = row[2].parse().unwrap();
            assert!(p > 0.0 && p < 1.0, "{name}: {row:?}");
        }
    }
}

#[test]
fn the_page_shows_the_curve_and_one_level() {
    let sandbox = sandbox();
    sandbox.succeed(&with(&["--html", "page.html"]));
    let page = String::from_utf8(sandbox.read("page.html")).unwrap();
    assert!(page.contains("The curve"), "no curve");
    assert!(page.contains("95 % of perfect forecasters"));
    assert!(!page.contains("90 %") && !page.contains("90 of 100"));
    assert!(!page.contains("only where it is better"));
}

#[test] // The caption spoke of `yes`, and the points were those of the likelier class, all above one half.
fn the_diagram_of_two_classes_shows_the_class_that_it_names() {
    let sandbox = Sandbox::new();
    let rare = scores_csv(&two_normals(600, 0.1, 3), ["no", "yes"]);
    sandbox.write("a.csv", rare);
    sandbox.succeed(&with(&["--html", "r.html"]));
    let page = String::from_utf8(sandbox.read("r.html")).unwrap();
    assert!(page.contains("Across: the probability of `yes`"));
    let stated: Vec<f64> = page
        .split("<title>after: stated ")
        .skip(1)
        .map(|rest| rest.split(',').next().unwrap().parse().unwrap())
        .collect();
    // Groups of equal size: nine tenths of the examples are most likely `no`.
    let below = stated.iter().filter(|&&stated| stated < 0.5).count();
    assert!(stated.len() > 5 && below > stated.len() / 2, "{stated:?}");
}

#[test]
fn without_a_method_nothing_is_said_to_be_fitted() {
    let sandbox = sandbox();
    let said = sandbox.succeed(&with(&["--method", "none", "--html", "r.html"]));
    let page = String::from_utf8(sandbox.read("r.html")).unwrap();
    assert!(said.contains("nothing was fitted (600 examples"), "{said}");
    for said in [&said, &page] {
        let piece = "easured on the 600 examples of a.csv: nothing was fitted to them";
        assert!(said.contains(piece), "{said}");
        for piece in ["itted to 600", "other folds", "cross-validated on"] {
            assert!(!said.contains(piece), "`{piece}` in {said}");
        }
    }
}

#[test]
fn what_cannot_win_is_dropped_where_there_are_many_examples_and_has_no_loss() {
    let sandbox = Sandbox::new();
    let mut dice = Dice::new(6);
    // Log-odds that bend: a straight line is behind.
    let uniform = |dice: &mut Dice| dice.below(1_000_000) as f64 / 1e6;
    let row = |dice: &mut Dice| {
        let score = 8.0 * uniform(dice) - 4.0;
        let positive = uniform(dice) < 1.0 / (1.0 + (1.0 - 3.0 * score.min(0.5)).exp());
        format!("{score},{}\n", u8::from(positive))
    };
    let rows: String = (0..12_000).map(|_| row(&mut dice)).collect();
    sandbox.write("many.csv", format!("margin,truth\n{rows}"));
    let fit = [
        "calibrate",
        "many.csv",
        "--score",
        "margin",
        "--label",
        "truth",
    ];
    let report = sandbox.json(&[&fit[..], &["--json"]].concat());
    let tried = report["tried"].as_array().unwrap();
    let platt = tried.iter().find(|tried| tried["method"] == "platt");
    let platt = platt.unwrap();
    assert_eq!(platt["log_loss"], Value::Null);
    assert!(
        tried[0]["chosen"] == true && tried[0]["log_loss"].is_f64(),
        "{report}"
    );
    let text = sandbox.succeed(&fit);
    assert!(
        text.contains("dropped: not significantly ahead even on the examples it was fitted to"),
        "{text}"
    );
}
