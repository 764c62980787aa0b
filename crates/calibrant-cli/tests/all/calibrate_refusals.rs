//! What `calibrant calibrate` refuses: code 2, a message that says what to mend, nothing half-written.

use crate::common;

use common::scores::*;
use common::{Sandbox, fitted};

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
        &["3 labels", "`a`, `b`, `c`", "one score per class"],
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
fn malformed_rows_are_named_or_skipped_and_leave_nothing_half_written() {
    let good = "margin,truth\n1,yes\n2,yes\n-1,no\n0,no\n3,yes\n-2,no\n";
    for (row, piece) in [
        (",yes", "the score is missing"),
        ("NaN,yes", "finite number"),
        ("inf,no", "finite number"),
        ("one,no", "found `one`"),
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
        refused(&sandbox, &arguments, &["bad.csv, line 8", piece]);
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
fn a_row_of_zeros_states_nothing_whatever_the_command() {
    let sandbox = Sandbox::new();
    let rows: String = (0..60)
        .map(|row| {
            let p = [0.7, 0.2, 0.1];
            let at = |class: usize| p[(row + class) % 3];
            let label = ["a", "b", "c"][(row * 7 / 3 + 2 * row) % 3];
            format!("{},{},{},{label}\n", at(0), at(1), at(2))
        })
        .collect();
    let good = format!("a,b,c,label\n{rows}");
    sandbox.write("good.csv", &good);
    sandbox.write("zeros.csv", format!("{good}0,0,0.0,a\n"));
    let calibrate = |file| ["calibrate", file, "--score", "a,b,c", "--method", "none"];
    let pieces = [
        "zeros.csv",
        "example 61 states a probability of 0 for every class",
    ];
    refused(&sandbox, &calibrate("zeros.csv"), &pieces);
    let stated = [&calibrate("zeros.csv")[..], &["--score-is", "probability"]].concat();
    refused(
        &sandbox,
        &stated,
        &["line 62", "the probability of every class is 0"],
    );
    sandbox.succeed(&[&stated[..], &["--skip-bad-rows"]].concat());
    sandbox.succeed(&[&calibrate("good.csv")[..], &["-o", "c"]].concat());
    let apply = ["calibrate", "--calibrator", "c", "--apply"];
    refused(
        &sandbox,
        &[&apply[..], &["zeros.csv"]].concat(),
        &["line 62"],
    );
    sandbox.write("half.csv", "a,b,c\n0.2,0.2,0.1\n0.3,0.3,0.4\n");
    let said = stderr_of(&sandbox, &[&apply[..], &["half.csv"]].concat());
    assert!(
        said.contains(
            "half.csv: stated probabilities that do not sum to one are normalised: 1 row"
        ),
        "{said}"
    );
    refused(
        &sandbox,
        &["evaluate", "zeros.csv", "zeros.csv", "--no-ledger"],
        &["sum to 0.0000"],
    );
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
    refused(&sandbox, &with(&["-o", "nowhere/x"]), &["does not exist"]);
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
fn a_single_example_of_a_label_is_too_few_for_a_named_method() {
    let sandbox = Sandbox::new();
    let text: String = (0..20).map(|i| format!("{i},{}\n", i / 19)).collect();
    sandbox.write("a.csv", format!("margin,truth\n{text}"));
    let arguments = with(&["--method", "platt", "-o", "c.calibrant"]);
    refused(
        &sandbox,
        &arguments,
        &["at least 2 positive", "1 and 19", "rarer label"],
    );
    // Without a name it is a guess, and called one.
    let output = sandbox.run(&with(&["-o", "c.calibrant"]));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("only 1 example") && said.contains("a guess"),
        "{said}"
    );
}
