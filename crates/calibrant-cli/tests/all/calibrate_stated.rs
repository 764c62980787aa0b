//! Probabilities that others state: what they count as, left as they are or calibrated, and what is said of them.

use crate::common;

use common::Sandbox;
use common::scores::*;

/// Five classes, zeros among them, and the labels in the same file.
fn stated() -> String {
    let mut text = String::from("id,label,a,b,c,d,e\n");
    for row in 0..40 {
        let stated = match row % 4 {
            0 => "0.63,0.2,0.1,0.05,0.02",
            1 => "0,0.5,0.3,0.1,0.1",
            2 => "0.1,0.1,0.6,0.2,0",
            _ => "0.05,0.15,0,0.3,0.5",
        };
        // A stated zero comes true now and then.
        let label = if row == 1 {
            "a"
        } else {
            ["a", "b", "c", "e"][row % 4]
        };
        text += &format!("r{row},{label},{stated}\n");
    }
    text
}

#[test] // A stated 0.63 of five classes came out as 0.566, and one table had two log losses.
fn none_is_the_identity_and_every_command_has_the_same_log_loss() {
    let sandbox = Sandbox::new();
    sandbox.write("a.csv", stated());
    let fit = [
        "calibrate",
        "a.csv",
        "--score",
        "a,b,c,d,e",
        "--method",
        "none",
    ];
    let apply = [
        "--apply",
        "a.csv",
        "--predictions",
        "p.csv",
        "--id",
        "id",
        "--json",
    ];
    let report = sandbox.json(&[&fit[..], &apply].concat());
    let said = String::from_utf8(sandbox.read("p.csv")).unwrap();
    let first: Vec<&str> = said.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(first[..3], ["r0", "1", "a"]);
    assert!(
        (first[3].parse::<f64>().unwrap() - 0.63).abs() < 1e-12,
        "{first:?}"
    );
    let before = number(&report["before"]["log_loss"]);
    assert_eq!(before, number(&report["log_loss"]));
    // By hand: a's least other number is 0.05, and 40 rows give 0.63, 0.5, 0.6 and 0.5 but for one stated zero.
    assert!((number(&report["stated_ends"]["zero_counts_as"][0]) - 0.025).abs() < 1e-12);
    assert_eq!(report["stated_ends"]["zeros"], 30);
    // c's is 0.1, but its zero stands beside a 0.05 and counts as half of that.
    let scale: f64 = 1.0 - 0.025; // what is left to the others where a is 0
    let losses = -10.0 * 0.63f64.ln()
        - (9.0 * (0.5 * scale).ln() + 0.025f64.ln())
        - 10.0 * (0.6f64 * (1.0 - 0.01)).ln()
        - 10.0 * (0.5f64 * (1.0 - 0.025)).ln();
    assert!(
        (before - losses / 40.0).abs() < 1e-12,
        "{before} {}",
        losses / 40.0
    );
    let fitted = sandbox.json(&[
        "calibrate",
        "a.csv",
        "--score",
        "a,b,c,d,e",
        "--method",
        "temperature",
        "--json",
    ]);
    assert_eq!(number(&fitted["before"]["log_loss"]), before);
    let classes = ["--classes", "a,b,c,d,e", "--no-ledger", "--json"];
    let evaluated = sandbox.json(&[&["evaluate", "a.csv", "a.csv"], &classes[..]].concat());
    assert!((number(&evaluated["log_loss"]) - before).abs() < 1e-12);
    assert_eq!(evaluated["stated_ends"], report["stated_ends"]);
    sandbox.write("b.csv", stated());
    let compared = sandbox.json(&[&["compare", "a.csv", "a.csv", "b.csv"], &classes[..]].concat());
    assert!((number(&compared["systems"][0]["log_loss"]["mean"]) - before).abs() < 1e-12);
    assert_eq!(compared["systems"][0]["ece"], report["before"]["ece"]);
    let stderr = stderr_of(&sandbox, &fit);
    assert!(
        stderr.contains("30 stated probabilities of 0 are replaced by"),
        "{stderr}"
    );
}

#[test] // Binary ECE was of the positive class here and of the likelier class there.
fn one_column_has_the_log_loss_and_ece_that_evaluate_and_compare_find() {
    let sandbox = Sandbox::new();
    let mut text = String::from("id,label,probability\n");
    for row in 0..60 {
        let p = [0.0, 0.05, 0.3, 0.45, 0.7, 1.0][row % 6];
        let label = if row % 7 < 3 { "spam" } else { "ham" };
        text += &format!("r{row},{label},{p}\n");
    }
    sandbox.write("a.csv", &text);
    sandbox.write("b.csv", &text);
    let fit = [
        "calibrate",
        "a.csv",
        "--score",
        "probability",
        "--method",
        "none",
        "--json",
    ];
    let report = sandbox.json(&fit);
    let options = ["--positive", "spam", "--no-ledger", "--json"];
    let evaluated = sandbox.json(&[&["evaluate", "a.csv", "a.csv"], &options[..]].concat());
    let compared = sandbox.json(&[&["compare", "a.csv", "a.csv", "b.csv"], &options[..]].concat());
    for name in ["log_loss", "brier", "ece"] {
        let ours = number(&report[name]);
        assert!((ours - number(&evaluated[name])).abs() < 1e-12, "{name}");
    }
    assert!(
        (number(&compared["systems"][0]["log_loss"]["mean"]) - number(&report["log_loss"])).abs()
            < 1e-12
    );
    assert!((number(&compared["systems"][0]["ece"]) - number(&report["ece"])).abs() < 1e-12);
    let text = sandbox.succeed(&fit[..6]);
    assert!(
        text.contains("ECE of `spam`") && text.contains("the probability of `spam`"),
        "{text}"
    );
}

#[test]
fn what_looks_wrong_with_scores_gets_a_note() {
    let sandbox = Sandbox::new();
    let told = |rows: &[(f64, &str)], more: &[&str], piece: &str| {
        let rows: String = rows.iter().map(|(s, y)| format!("{s},{y}\n")).collect();
        sandbox.write("n.csv", format!("margin,truth\n{rows}"));
        let fit = [
            "calibrate",
            "n.csv",
            "--score",
            "margin",
            "--label",
            "truth",
        ];
        let stderr = stderr_of(&sandbox, &[&fit[..], more].concat());
        assert!(stderr.contains(piece), "`{piece}` is not in: {stderr}");
        let report = sandbox.json(&[&fit[..], more, &["--json"]].concat());
        let notes = report["notes"].to_string();
        assert!(notes.contains(piece), "`{piece}` is not in: {notes}");
    };
    let name = |positive: bool| if positive { "1" } else { "0" };
    let falling: Vec<(f64, &str)> = (0..60).map(|i| (f64::from(-i), name(i >= 30))).collect();
    told(&falling, &[], "run backwards");
    told(&falling, &["--method", "isotonic"], "run backwards");
    // Sure in the middle, and wrong at both ends.
    let hump = |i: i32| {
        (
            f64::from(i - 1000) / 300.0,
            name((700..1300).contains(&i) || i % 31 == 0),
        )
    };
    let hump: Vec<(f64, &str)> = (0..2000).map(hump).collect();
    told(&hump, &["--method", "spline"], "may be non-monotone");
    let constant: Vec<(f64, &str)> = (0..40).map(|i| (1.5, name(i % 2 == 0))).collect();
    told(&constant, &[], "the same score 1.5");
    let few = [(1.0, "0"), (2.0, "0"), (3.0, "1"), (4.0, "1")];
    for method in ["hybrid", "beta_ab", "auto"] {
        told(&few, &["--method", method], "only 2 examples of `1`");
    }
    let rising: Vec<(f64, &str)> = (0..60)
        .map(|i| (f64::from(i), if i % 40 > 20 { "spam" } else { "ham" }))
        .collect();
    told(&rising, &[], "a guess");
}

#[test] // Test files settled zeros by themselves, and what was written was another number without a word.
fn what_is_measured_after_a_saved_calibrator_is_what_it_writes() {
    let sandbox = Sandbox::new();
    let table = |zero_beside: f64, count: usize| {
        let mut text = String::from("id,truth,p\n");
        for row in 0..count {
            let p = [0.0, zero_beside, 0.6, 0.9][row % 4];
            text += &format!("r{row},{},{p}\n", u8::from(row % 4 > 1 || row == 0));
        }
        text
    };
    sandbox.write("fitted.csv", table(0.01, 40));
    sandbox.write("later.csv", table(0.2, 24));
    let common = ["--score", "p", "--label", "truth"];
    let fit = ["calibrate", "fitted.csv", "--method", "none", "-o", "n.cal"];
    sandbox.succeed(&[&fit[..], &common].concat());
    let test = [
        "calibrate",
        "--calibrator",
        "n.cal",
        "--test",
        "later.csv",
        "--json",
    ];
    let tested = sandbox.json(&test);
    let apply = [
        "calibrate",
        "--calibrator",
        "n.cal",
        "--apply",
        "later.csv",
        "--predictions",
        "p.csv",
    ];
    let stderr = stderr_of(&sandbox, &apply);
    assert!(
        stderr.contains("later.csv: 6 stated probabilities of 0 or 1 are replaced as they were when the calibrator was fitted"),
        "{stderr}"
    );
    let evaluate = [
        "evaluate",
        "p.csv",
        "later.csv",
        "--label",
        "truth",
        "--no-ledger",
        "--json",
    ];
    let written = sandbox.json(&evaluate);
    // By hand: a 0 counts as 0.005, half of 0.01, where the calibrator was fitted, and as 0.1 in the later file alone.
    let others = -6.0 * (0.8f64.ln() + 0.6f64.ln() + 0.9f64.ln());
    let of_zero = |zero: f64| (others - zero.ln() - 5.0 * (1.0 - zero).ln()) / 24.0;
    let near =
        |found: f64, zero: f64| assert!((found - of_zero(zero)).abs() < 1e-9, "{found} {zero}");
    near(number(&tested["log_loss"]), 0.005);
    near(number(&written["log_loss"]), 0.005);
    near(number(&tested["before"]["log_loss"]), 0.1);
}

#[test] // Five constant columns were said to be a guess, while all stayed as stated.
fn notes_on_scores_that_are_left_as_they_are_are_true() {
    let sandbox = Sandbox::new();
    let rows: String = (0..12)
        .map(|row| format!("{},0.63,0.37\n", ["a", "b"][row % 2]))
        .collect();
    sandbox.write("c.csv", format!("label,a,b\n{rows}"));
    let fit = ["calibrate", "c.csv", "--score", "a,b", "--method"];
    let none = stderr_of(&sandbox, &[&fit[..], &["none"]].concat());
    assert!(
        !none.contains("only the class prior is left") && !none.contains("guess"),
        "{none}"
    );
    let fitted = stderr_of(&sandbox, &[&fit[..], &["temperature"]].concat());
    assert!(fitted.contains("only the class prior is left"), "{fitted}");
    let rows: String = (0..60)
        .map(|row| format!("{},{}\n", u8::from(row >= 30), f64::from(59 - row) / 60.0))
        .collect();
    sandbox.write("f.csv", format!("label,p\n{rows}"));
    let falls = ["calibrate", "f.csv", "--score", "p", "--method", "none"];
    let falls = stderr_of(&sandbox, &falls);
    assert!(
        falls.contains("run backwards") && falls.contains("are kept as stated"),
        "{falls}"
    );
}

#[test] // `+` comes before `-`: the second by name was taken for the positive one.
fn labels_of_which_everybody_knows_which_is_meant_mean_the_same_everywhere() {
    let sandbox = Sandbox::new();
    let rows = |labels: [&str; 2]| -> String {
        let row = |row: usize| {
            format!(
                "{},{}\n",
                labels[usize::from(row % 4 > 1)],
                [0.1, 0.3, 0.6, 0.9][row % 4]
            )
        };
        (0..20).map(row).collect()
    };
    for labels in [["-", "+"], ["no", "yes"], ["0", "1"], ["-1", "1"]] {
        sandbox.write("t.csv", format!("label,probability\n{}", rows(labels)));
        let fit = [
            "calibrate",
            "t.csv",
            "--score",
            "probability",
            "--method",
            "none",
            "--json",
        ];
        let fitted = sandbox.json(&fit);
        let evaluate = ["evaluate", "t.csv", "t.csv", "--no-ledger", "--json"];
        let evaluated = sandbox.json(&evaluate);
        // By hand.
        let expected = -(0.9f64.ln() + 0.7f64.ln() + 0.6f64.ln() + 0.9f64.ln()) / 4.0;
        for found in [&fitted["log_loss"], &evaluated["log_loss"]] {
            assert!(
                (number(found) - expected).abs() < 1e-12,
                "{labels:?} {found}"
            );
        }
        assert!(!stderr_of(&sandbox, &evaluate).contains("is taken as that of the class"));
    }
}

#[test] // With two to four of either the curve fell without a word.
fn few_examples_of_both_classes_give_a_curve_that_rises_or_a_note() {
    let sandbox = Sandbox::new();
    sandbox.write("new.csv", "s\n-3\n3\n");
    for count in 2..=5 {
        let rows: String = (0..count)
            .map(|i| {
                format!(
                    "{},1\n{},0\n",
                    -1.0 - 0.3 * f64::from(i),
                    1.0 + 0.25 * f64::from(i)
                )
            })
            .collect();
        sandbox.write("few.csv", format!("s,label\n{rows}"));
        let fit = [
            "calibrate",
            "few.csv",
            "--score",
            "s",
            "--apply",
            "new.csv",
            "--predictions",
            "p.csv",
        ];
        let said = stderr_of(&sandbox, &fit);
        let written = rows_of(&sandbox, "p.csv");
        let rises = written[0] < written[1];
        match count {
            5 => assert!(said.contains("run backwards"), "{said}"),
            _ => assert!(
                rises && said.contains("how fast its probability rises"),
                "{count}: {written:?} {said}"
            ),
        }
    }
}

/// The probabilities of a file, row by row.
fn rows_of(sandbox: &Sandbox, file: &str) -> Vec<f64> {
    let rows = rows(sandbox, file).into_iter();
    rows.map(|row| row[2].parse().unwrap()).collect()
}
