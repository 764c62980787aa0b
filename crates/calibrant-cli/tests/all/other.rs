//! Documents of none of the classes, through the program.

use crate::common;

use common::{Message, Sandbox, csv, messages};

/// A model of three topics, and test messages of five.
fn sandbox(options: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", csv(&messages(300, 3, 1)));
    let strangers: Vec<Message> = messages(400, 5, 2)
        .into_iter()
        .filter(|message| ["ship", "trade"].contains(&message.labels[0]))
        .collect();
    let known = messages(200, 3, 3);
    sandbox.write("test.csv", csv(&[known, strangers].concat()));
    sandbox.succeed(&[&["fit", "train.csv", "-o", "model"][..], options].concat());
    sandbox
}

#[test]
fn strangers_are_noticed_at_the_cost_that_was_asked_for() {
    for classifier in ["svm", "logistic", "rocchio"] {
        let sandbox = sandbox(&["--classifier", classifier]);
        let evaluate = ["evaluate", "model", "test.csv", "--no-ledger", "--json"];
        let report = sandbox.json(&[&evaluate[..], &["--other", "0.1"]].concat());
        let other = &report["other"];
        let number = |name: &str| other[name].as_f64().unwrap();
        assert_eq!(other["known"], 200);
        assert!(number("lost") < 0.25, "{classifier}: {other}");
        assert!(
            number("caught") > number("lost") + 0.3,
            "{classifier}: {other}"
        );
        assert!(number("auc") > 0.75, "{classifier}: {other}");
        // What is not asked for is not in the report.
        let plain = sandbox.json(&evaluate);
        assert!(plain.get("other").is_none());
        // Whatever is answered to a stranger is wrong.
        let strangers = plain["documents_left_out"].as_f64().unwrap();
        assert_eq!(plain["answered"]["of_unknown_labels"], strangers);
        let all = plain["answered"]["shares"].as_array().unwrap().last();
        let right = 200.0 * plain["accuracy"].as_f64().unwrap();
        let accuracy = all.unwrap()["accuracy"].as_f64().unwrap();
        assert!(
            (accuracy - right / (200.0 + strangers)).abs() < 1e-9,
            "{all:?}"
        );
        let shown = sandbox.succeed(&[
            "evaluate",
            "model",
            "test.csv",
            "--no-ledger",
            "--other",
            "balanced",
        ]);
        assert!(shown.contains("others caught"), "{shown}");
    }
}

#[test]
fn other_is_a_class_among_the_others_in_predictions() {
    let sandbox = sandbox(&["--other-cost", "1:3"]);
    for rule in ["0.05", "balanced", "cost"] {
        let rows = sandbox.succeed(&[
            "predict", "model", "test.csv", "--id", "id", "--other", rule,
        ]);
        let rows: Vec<Vec<&str>> = rows
            .lines()
            .skip(1)
            .map(|row| row.split(',').collect())
            .collect();
        assert!(rows.iter().any(|row| row[1] == "1" && row[2] == "other"));
        for document in rows.chunks(4) {
            let sum: f64 = document
                .iter()
                .map(|row| row[3].parse::<f64>().unwrap())
                .sum();
            assert!((sum - 1.0).abs() < 1e-6, "{document:?}");
        }
    }
}

#[test]
fn costs_that_rest_on_other_are_called_what_they_are() {
    let sandbox = sandbox(&[]);
    let costs = ["--other", "0.05", "--costs", "*,*,5;*,other,1;other,*,20"];
    let said = |options: &[&str]| {
        let command = [&["predict", "model", "test.csv"][..], options].concat();
        let output = sandbox.run(&command);
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let told = "not how often documents are of no class";
    assert!(said(&costs).contains(told));
    assert!(!said(&costs[..2]).contains(told));
    assert!(!said(&["--costs", "*,*,5"]).contains(told));
}

#[test]
fn rules_that_a_model_cannot_keep_are_refused_with_the_next_step() {
    let three = sandbox(&[]);
    let two = Sandbox::new();
    two.write("train.csv", csv(&messages(200, 2, 1)));
    two.succeed(&["fit", "train.csv", "-o", "model"]);
    let joint = sandbox(&["--multiclass", "temperature"]);
    for (sandbox, rule, told) in [
        (&three, "cost", "--other-cost"),
        (&three, "1.5", "between 0 and 1"),
        (&three, "often", "balanced"),
        (&two, "0.05", "two classes"),
        (&joint, "0.05", "one_vs_rest"),
    ] {
        let output = sandbox.run(&["predict", "model", "train.csv", "--other", rule]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{rule}: {stderr}");
        assert!(stderr.contains(told), "{rule}: {stderr}");
    }
    let output = three.run(&["fit", "train.csv", "-o", "other", "--other-cost", "1:0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!three.path("other").exists());
}
