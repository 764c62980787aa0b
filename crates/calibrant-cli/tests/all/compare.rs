//! Models and files of probabilities against each other.

mod tables;

use crate::common;

use common::{Message, Sandbox, csv, gzip, messages, multi_label_messages};
use serde_json::Value;

/// Three classes: a test set and two models, one of which has learned from little.
fn two_models() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", csv(&messages(300, 3, 1)));
    sandbox.write("little.csv", csv(&messages(21, 3, 2)));
    sandbox.write("test.csv", csv(&messages(120, 3, 3)));
    sandbox.succeed(&["fit", "train.csv", "-o", "much.calibrant"]);
    sandbox.succeed(&["fit", "little.csv", "-o", "little.calibrant"]);
    sandbox
}

/// A table of probabilities as a data frame of `predict_proba` is written.
fn wide(sandbox: &Sandbox, model: &str, file: &str, id: bool, header: &str) -> String {
    let more: &[&str] = if id { &["--id", "id"] } else { &[] };
    let lines = sandbox.succeed(&[&["predict", model, file, "--json"], more].concat());
    let mut out = format!("{}{header}\n", if id { "id," } else { "" });
    for line in lines.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        if id {
            out += &format!("{},", row["id"].as_str().unwrap());
        }
        let mut classes: Vec<(String, f64)> = row["classes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|class| {
                (
                    class["label"].as_str().unwrap().to_owned(),
                    class["probability"].as_f64().unwrap(),
                )
            })
            .collect();
        classes.sort_by(|a, b| a.0.cmp(&b.0));
        let values: Vec<String> = classes.iter().map(|class| class.1.to_string()).collect();
        out += &(values.join(",") + "\n");
    }
    out
}

/// Runs without a ledger, so that equal comparisons give equal answers.
#[track_caller]
fn compared(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    sandbox.json(&[&["compare"], arguments, &["--json", "--no-ledger"]].concat())
}

#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &[&str], pieces: &[&str]) {
    let before = sandbox.contents();
    let output = sandbox.run(&[&["compare"], arguments].concat());
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty());
    for piece in pieces {
        assert!(
            stderr.contains(piece),
            "{arguments:?}: `{piece}` is not in: {stderr}"
        );
    }
    assert!(sandbox.contents() == before, "{arguments:?} left a trace");
}

#[test]
fn two_models_are_measured_as_evaluate_does() {
    let sandbox = two_models();
    let report = compared(
        &sandbox,
        &["test.csv", "much.calibrant", "little.calibrant"],
    );
    assert_eq!(report["task"], "single_label");
    assert_eq!(report["documents"], 120);
    for (number, name) in ["much", "little"].into_iter().enumerate() {
        let system = &report["systems"][number];
        assert_eq!(system["name"], name);
        let model = format!("{name}.calibrant");
        let alone = sandbox.json(&["evaluate", &model, "test.csv", "--json", "--no-ledger"]);
        for measure in ["log_loss", "brier"] {
            let (ours, theirs) = (&system[measure]["mean"], &alone[measure]);
            assert!((ours.as_f64().unwrap() - theirs.as_f64().unwrap()).abs() < 1e-12);
        }
        assert_eq!(system["errors"]["sum"].as_f64(), alone["errors"].as_f64());
        for measure in ["accuracy", "micro_f1", "macro_f1", "ece"] {
            assert_eq!(system[measure], alone[measure], "{measure}");
        }
    }
    let pair = &report["pairs"][0];
    assert_eq!(
        (&pair["first"], &pair["second"]),
        (&"much".into(), &"little".into())
    );
    let sign = &pair["log_loss"]["sign"];
    let total: u64 = ["wins", "losses", "ties"]
        .iter()
        .map(|n| sign[n].as_u64().unwrap())
        .sum();
    assert_eq!(total, 120);
    assert!(sign["wins"].as_u64() > sign["losses"].as_u64());
    assert_eq!(report["systems"][0]["log_loss"]["significantly_best"], true);
    assert_eq!(
        report["systems"][0]["log_loss"]["significantly_better_than"][0],
        "little"
    );
    assert!(pair["log_loss"]["bootstrap"]["upper"].as_f64().unwrap() < 0.0);
    assert!(pair["mcnemar"]["chi_squared"].is_number());
    let same = compared(
        &sandbox,
        &[
            "test.csv",
            "much.calibrant",
            "little.calibrant",
            "--threads",
            "1",
        ],
    );
    assert_eq!(same, report);
    let without = compared(
        &sandbox,
        &[
            "test.csv",
            "much.calibrant",
            "little.calibrant",
            "--bootstrap",
            "0",
        ],
    );
    assert!(without["pairs"][0]["log_loss"].get("bootstrap").is_none());
    let other = compared(
        &sandbox,
        &[
            "test.csv",
            "much.calibrant",
            "little.calibrant",
            "--seed",
            "2",
        ],
    );
    assert_ne!(
        other["pairs"][0]["log_loss"]["bootstrap"],
        pair["log_loss"]["bootstrap"]
    );
    assert_eq!(
        other["pairs"][0]["log_loss"]["sign"],
        pair["log_loss"]["sign"]
    );
}

#[test]
fn what_does_not_fit_is_said_with_its_names() {
    let sandbox = two_models();
    let test = "test.csv";
    sandbox.write("two.csv", "corn,money\n0.5,0.5\n");
    refused(
        &sandbox,
        &[test, "much.calibrant", "two.csv"],
        &["no column for the class `oil`", "`corn`, `money`"],
    );
    sandbox.write("word.csv", "corn,money,oil\n0.5,0.25,0.25\n0.5,x,0.5\n");
    refused(
        &sandbox,
        &[test, "much.calibrant", "word.csv"],
        &["line 3", "`x`", "`money`"],
    );
    sandbox.write("large.csv", "corn,money,oil\n0.5,0.25,1.25\n");
    refused(
        &sandbox,
        &[test, "much.calibrant", "large.csv"],
        &["`1.25`", "`oil`"],
    );
    sandbox.write("short.csv", "corn,money,oil\n0.5,0.25,0.25\n");
    refused(
        &sandbox,
        &[test, "much.calibrant", "short.csv"],
        &["covers 1 document,", "120"],
    );
    let many = "0.9,0.9,0.9\n".repeat(120);
    sandbox.write("sums.csv", format!("corn,money,oil\n{many}"));
    refused(
        &sandbox,
        &[test, "much.calibrant", "sums.csv"],
        &["sum to 2.7"],
    );
    sandbox.write(
        "four.csv",
        format!("corn,money,oil,ship\n{}", "0.4,0.3,0.2,0.1\n".repeat(120)),
    );
    sandbox.write(
        "three.csv",
        format!("corn,money,oil\n{}", "0.4,0.3,0.3\n".repeat(120)),
    );
    refused(
        &sandbox,
        &[test, "four.csv", "three.csv"],
        &["`three` has no class `ship`, which `four` has"],
    );
    refused(
        &sandbox,
        &[test, "three.csv", "four.csv"],
        &["`four` has the class `ship`, which `three` has not"],
    );
    sandbox.succeed(&[
        "predict",
        "much.calibrant",
        test,
        "-o",
        "top.csv",
        "--top",
        "2",
    ]);
    refused(
        &sandbox,
        &[test, "much.calibrant", "top.csv"],
        &["document 1", "--top"],
    );
    refused(
        &sandbox,
        &[test, "much.calibrant", "top.csv", "--id", "nope"],
        &["nope"],
    );
    sandbox.write("more.csv", csv(&messages(60, 4, 1)));
    sandbox.succeed(&["fit", "more.csv", "-o", "more.calibrant"]);
    refused(
        &sandbox,
        &[test, "much.calibrant", "more.calibrant"],
        &["`more` has the class `ship`"],
    );
    refused(
        &sandbox,
        &["much.calibrant", test, "little.calibrant"],
        &["is a model, not a test set", "comes first"],
    );
    refused(
        &sandbox,
        &[test, "much.calibrant", "-"],
        &["must be a file"],
    );
    refused(
        &sandbox,
        &[test, "much.calibrant", "nowhere.csv"],
        &["nowhere.csv"],
    );
    refused(
        &sandbox,
        &[test, "much.calibrant", "nowhere.calibrant"],
        &["nowhere.calibrant"],
    );
    refused(&sandbox, &[test, "much.calibrant"], &["SYSTEM"]);
    refused(
        &sandbox,
        &[test, "much.calibrant", "little.calibrant", "--level", "2"],
        &["level"],
    );
    refused(
        &sandbox,
        &[
            test,
            "much.calibrant",
            "little.calibrant",
            "--labels",
            "several",
        ],
        &["single-label"],
    );
    refused(
        &sandbox,
        &[
            test,
            "much.calibrant",
            "little.calibrant",
            "--classes",
            "corn",
        ],
        &["--classes"],
    );
    refused(
        &sandbox,
        &[
            test,
            "much.calibrant",
            "little.calibrant",
            "--html",
            "no/x.html",
        ],
        &["the folder `no` does not exist"],
    );
    sandbox.write("noise.bin", b"\x00\x01\x02 not a model");
    refused(
        &sandbox,
        &[test, "much.calibrant", "noise.bin"],
        &["noise.bin", "files of probabilities"],
    );
    sandbox.write(
        "twice.csv",
        format!("id,corn,money,oil\n{}", "m1,0.4,0.3,0.3\n".repeat(120)),
    );
    refused(
        &sandbox,
        &[test, "much.calibrant", "twice.csv", "--id", "id"],
        &["two rows", "`m1`"],
    );
    sandbox.write(
        "lists.jsonl",
        "{\"id\":\"m0\",\"classes\":[{\"label\":\"corn\"}]}\n",
    );
    refused(
        &sandbox,
        &[test, "much.calibrant", "lists.jsonl"],
        &["line 1", "`corn`"],
    );
}

#[test]
fn multi_label_models_are_compared_decision_by_decision() {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", csv(&multi_label_messages(300, 1)));
    sandbox.write("test.csv", csv(&multi_label_messages(100, 2)));
    let fit = [
        "fit",
        "train.csv",
        "--label-separator",
        ";",
        "--labels",
        "several",
    ];
    sandbox.succeed(&[&fit[..], &["-o", "a.calibrant"]].concat());
    sandbox.succeed(
        &[
            &fit[..],
            &["-o", "b.calibrant", "--classifier", "naive-bayes"],
        ]
        .concat(),
    );
    let report = compared(&sandbox, &["test.csv", "a.calibrant", "b.calibrant"]);
    assert_eq!(
        (&report["task"], &report["decisions"]),
        (&"multi_label".into(), &400.into())
    );
    let wide = wide(
        &sandbox,
        "a.calibrant",
        "test.csv",
        false,
        "corn,money,oil,ship",
    );
    sandbox.write("a.csv", &wide);
    let chosen = ["--classes", "oil,corn", "--label-separator", ";"];
    let some = compared(
        &sandbox,
        &[&["test.csv", "b.calibrant", "a.csv"], &chosen[..]].concat(),
    );
    assert_eq!(some["decisions"], 200);
    assert_eq!(some["unknown_labels"], serde_json::json!({}));
    // Files alone: several labels are inferred from the separator.
    sandbox.write("b.csv", &wide);
    let files = compared(
        &sandbox,
        &["test.csv", "a.csv", "b.csv", "--label-separator", ";"],
    );
    assert_eq!(
        (&files["task"], &files["decisions"]),
        (&"multi_label".into(), &400.into())
    );
    let (whole, from_file) = (
        &report["systems"][0]["log_loss"]["mean"],
        &files["systems"][0]["log_loss"]["mean"],
    );
    assert!((whole.as_f64().unwrap() - from_file.as_f64().unwrap()).abs() < 1e-12);
}

#[test]
fn tables_and_page_show_who_is_best() {
    let sandbox = two_models();
    sandbox.write(
        "odd <name>.csv",
        wide(
            &sandbox,
            "little.calibrant",
            "test.csv",
            false,
            "corn,money,oil",
        ),
    );
    let arguments = [
        "compare",
        "test.csv",
        "much.calibrant",
        "little.calibrant",
        "odd <name>.csv",
    ];
    let shown = sandbox.succeed(&[&arguments[..], &["--html", "page.html"]].concat());
    assert!(
        shown.starts_with("3 systems on 120 documents, 120 decisions (single-label)"),
        "{shown}"
    );
    let row = shown
        .lines()
        .find(|line| line.starts_with("much "))
        .unwrap();
    assert!(row.contains(" +*"), "{row}");
    assert!(
        shown.contains("Wilcoxon p") && shown.contains("McNemar"),
        "{shown}"
    );
    let page = String::from_utf8(sandbox.read("page.html")).unwrap();
    assert!(page.contains("odd &lt;name&gt;") && !page.contains("<name>"));
    assert!(page.contains("+*") && page.contains("little"));
}

#[test]
fn every_system_is_a_look_at_the_test_set() {
    let sandbox = two_models();
    let arguments = [
        "compare",
        "test.csv",
        "much.calibrant",
        "little.calibrant",
        "--json",
    ];
    let first = sandbox.json(&arguments);
    assert_eq!(
        first["ledger"],
        serde_json::json!({"times_before": 0, "models_before": 0})
    );
    let second = sandbox.json(&arguments);
    assert_eq!(
        second["ledger"],
        serde_json::json!({"times_before": 2, "models_before": 2})
    );
    let alone = sandbox.json(&["evaluate", "much.calibrant", "test.csv", "--json"]);
    assert_eq!(
        alone["ledger"],
        serde_json::json!({"times_before": 4, "models_before": 2})
    );
    let shown = sandbox.succeed(&arguments[..4]);
    assert!(
        shown.contains("evaluated 5 times before, by 2 models"),
        "{shown}"
    );
}

/// Two systems on 60 documents, by what each says of the true label of every document.
fn of_truths(a: impl Fn(usize) -> f64, b: impl Fn(usize) -> f64) -> Sandbox {
    let sandbox = Sandbox::new();
    let truth = |row: usize| if row.is_multiple_of(2) { "ham" } else { "spam" };
    let table = |said: &dyn Fn(usize) -> f64| {
        let row = |row: usize| {
            let of_spam = if row.is_multiple_of(2) {
                1.0 - said(row)
            } else {
                said(row)
            };
            format!("r{row},{},{of_spam}\n", truth(row))
        };
        let rows: String = (0..60).map(row).collect();
        format!("id,label,probability\n{rows}")
    };
    sandbox.write("a.csv", table(&a));
    sandbox.write("b.csv", table(&b));
    sandbox
}

const OF_SPAM: [&str; 7] = [
    "compare",
    "a.csv",
    "a.csv",
    "b.csv",
    "--positive",
    "spam",
    "--no-ledger",
];

/// By hand: 57 documents of 60 speak for the first, with -ln 0.9 against -ln 0.8 and 0.01 against 0.04; the other three cost it
/// -ln 0.0001 each, and nearly 1.
#[test]
fn a_sign_test_against_the_better_mean_is_told() {
    let sandbox = of_truths(|row| if row < 3 { 0.0001 } else { 0.9 }, |_| 0.8);
    let report = sandbox.json(&[&OF_SPAM[..], &["--json"]].concat());
    let name = |at: usize| report["systems"][at]["name"].as_str().unwrap();
    let (first, second) = (name(0), name(1));
    let pair = &report["pairs"][0];
    assert_eq!(
        (&pair["log_loss"]["sign"]["wins"], &pair["first"]),
        (&57.into(), &first.into())
    );
    assert!(pair["log_loss"]["difference"].as_f64().unwrap() > 0.0);
    let said = sandbox.succeed(&OF_SPAM);
    for loss in ["log loss", "Brier"] {
        let word = format!("by {loss} `{first}` is closer to the truth more often (sign p ");
        let line = said.lines().find(|line| line.contains(&word));
        let line = line.unwrap_or_else(|| panic!("{said}"));
        assert!(
            line.contains(&format!("but `{second}` has the better mean")),
            "{line}"
        );
        assert!(
            line.contains(&format!("large losses of `{first}`")),
            "{line}"
        );
    }
    // Where both agree there is nothing to tell.
    let agreed = of_truths(|_| 0.9, |_| 0.8).succeed(&OF_SPAM);
    assert!(!agreed.contains("more often"), "{agreed}");
}

/// By hand: every document speaks for the first by as much, so that no draw of a thousand says otherwise; 2/1001.
#[test]
fn the_least_p_value_of_a_bootstrap_is_told() {
    let sandbox = of_truths(|_| 0.9, |_| 0.6);
    let report = sandbox.json(&[&OF_SPAM[..], &["--json"]].concat());
    let found = &report["pairs"][0]["log_loss"]["bootstrap"];
    assert_eq!(found["resamples"], 1000);
    assert!((found["p_value"].as_f64().unwrap() - 2.0 / 1001.0).abs() < 1e-12);
    let said = sandbox.succeed(&OF_SPAM);
    let note = "bootstrap p cannot be below 2/(1000 + 1) = 0.0020";
    assert!(said.contains(note), "{said}");
}

/// By hand: 57 of 60 documents speak for the first by ln(0.802/0.8), three speak against it by about as much as all together.
#[test]
fn a_star_needs_a_mean_that_does_not_differ_by_luck() {
    let legend = "by the micro sign test (p < 0.01) and by a 95 % bootstrap interval of the difference over the documents";
    let sandbox = of_truths(|row| if row < 3 { 0.77 } else { 0.802 }, |_| 0.8);
    let report = sandbox.json(&[&OF_SPAM[..], &["--json"]].concat());
    let (pair, first) = (&report["pairs"][0]["log_loss"], &report["systems"][0]);
    assert!(pair["difference"].as_f64().unwrap() < 0.0, "{pair}");
    assert!(pair["sign"]["p_value"].as_f64().unwrap() < 1e-9, "{pair}");
    assert_eq!(first["log_loss"]["significantly_best"], false);
    let said = sandbox.succeed(&OF_SPAM);
    assert!(said.contains(legend) && !said.contains("+*"), "{said}");
    let said = of_truths(|_| 0.802, |_| 0.8).succeed(&OF_SPAM);
    assert!(said.contains("+*"), "{said}");
}

#[test]
fn more_unknown_labels_than_are_named_end_in_dots() {
    let sandbox = two_models();
    let mut strange = messages(24, 3, 3);
    let names: Vec<String> = (10..28).map(|number| format!("strange{number}")).collect();
    let mut text = csv(&strange.split_off(18));
    for (message, name) in strange.iter().zip(&names) {
        text += &format!("{},{name},{}\n", message.id, message.text);
    }
    sandbox.write("strange.csv", text);
    let output = sandbox.run(&["evaluate", "much.calibrant", "strange.csv", "--no-ledger"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("18 labels are unknown to the model: strange10, "),
        "{said}"
    );
    assert!(said.contains("strange19, …\n"), "{said}");
    // One document is one.
    sandbox.write("one.csv", csv(&messages(1, 3, 3)));
    let said = sandbox.succeed(&["evaluate", "much.calibrant", "one.csv", "--no-ledger"]);
    assert!(said.starts_with("1 document, 1 decision ("), "{said}");
}
