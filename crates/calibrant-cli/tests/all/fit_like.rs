//! `calibrant fit --like MODEL`: the settings of a model, and options over them.

use crate::common;

use common::{Sandbox, csv, json_lines, messages, multi_label_messages};

/// Two corpora: one large enough that a fit chooses weighting and cost, one of several labels.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("mail.csv", csv(&messages(150, 3, 1)));
    sandbox.write(
        "several.jsonl",
        json_lines(&multi_label_messages(120, 1), true),
    );
    sandbox
}

/// A model fitted with options, and one like it, are the same to the byte.
#[track_caller]
fn alike(sandbox: &Sandbox, file: &str, options: &[&str]) {
    sandbox.succeed(&[&["fit", file, "-o", "first"], options].concat());
    sandbox.succeed(&["fit", file, "--like", "first", "-o", "second"]);
    assert!(
        sandbox.read("first") == sandbox.read("second"),
        "{options:?}"
    );
    // And so is one like a plain model with the same options over it.
    sandbox.succeed(&["fit", file, "-o", "plain"]);
    sandbox.succeed(&[&["fit", file, "--like", "plain", "-o", "third"], options].concat());
    assert!(
        sandbox.read("first") == sandbox.read("third"),
        "{options:?} over a plain model"
    );
}

#[test]
fn a_model_like_another_of_the_same_file_has_the_same_bytes() {
    let sandbox = sandbox();
    for options in [
        &[][..],
        &["--classifier", "naive-bayes", "--word-prior", "3"],
        &["--classifier", "complement-naive-bayes"],
        &[
            "--classifier",
            "logistic",
            "--c",
            "2",
            "--tolerance",
            "0.01",
        ],
        &[
            "--loss",
            "hinge",
            "--class-weight",
            "balanced",
            "--seed",
            "7",
            "--folds",
            "3",
        ],
        &[
            "--classifier",
            "knn",
            "--neighbours",
            "5",
            "--vote",
            "majority",
        ],
        &[
            "--classifier",
            "adaboost",
            "--boosting",
            "discrete",
            "--rounds",
            "5",
        ],
        &["--classifier", "perceptron", "--voted", "--epochs", "2"],
        &["--weighting", "bm25", "--bm25-k1", "1.5", "--l2-norm", "no"],
        &["--l2-norm", "no"],
        &[
            "--keep-case",
            "--stem",
            "english",
            "--word-ngrams",
            "2",
            "--min-df",
            "2",
        ],
        &[
            "--char-ngrams",
            "2-3",
            "--hash-bits",
            "10",
            "--no-training-keys",
        ],
        &["--select", "chi_square", "--select-terms", "12"],
        &[
            "--calibrator",
            "platt",
            "--multiclass",
            "one-vs-rest",
            "--monotone",
        ],
        &["--code", "exhaustive"],
        &["--other-cost", "1:5", "--max-df", "0.9", "--labels", "one"],
    ] {
        alike(&sandbox, "mail.csv", options);
    }
    alike(&sandbox, "several.jsonl", &["--classes", "corn,oil"]);
}

#[test] // Above the number of documents from which weighting and cost are chosen.
fn what_was_chosen_is_chosen_again() {
    let sandbox = Sandbox::new();
    sandbox.write("mail.csv", csv(&messages(600, 2, 3)));
    alike(&sandbox, "mail.csv", &[]);
    let fitted = sandbox.json(&["fit", "mail.csv", "-o", "model", "--json"]);
    assert!(
        fitted["weightings"]
            .as_array()
            .is_some_and(|tried| !tried.is_empty()),
        "{fitted}"
    );
}

#[test]
fn fields_and_rules_are_remembered() {
    let sandbox = sandbox();
    let rows = csv(&messages(80, 2, 5)).replace("id,label,text", "nr,topic,body");
    let rows: Vec<String> = rows
        .lines()
        .enumerate()
        .map(|(place, row)| match place {
            0 => format!("{row},length,plan,customer"),
            _ => format!(
                "{row},{},{},c{}",
                place % 9,
                ["a", "b"][place % 2],
                place / 3
            ),
        })
        .collect();
    sandbox.write("rows.csv", rows.join("\n"));
    sandbox.write("rules.txt", "corn: corn OR maize\nmoney: bank OR loan\n");
    let options = [
        "--text",
        "body",
        "--label",
        "topic",
        "--id",
        "nr",
        "--numeric",
        "length",
        "--categorical",
        "plan",
        "--group",
        "customer",
        "--rules",
        "rules.txt",
    ];
    sandbox.succeed(&[&["fit", "rows.csv", "-o", "first"], &options[..]].concat());
    std::fs::remove_file(sandbox.path("rules.txt")).unwrap();
    // A model does not keep the field of groups: that is a question of the file.
    let like = ["fit", "rows.csv", "--like", "first", "-o", "second"];
    let output = sandbox.run(&like);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr.contains("add --group FIELD"), "{stderr}");
    sandbox.succeed(&[&like[..], &["--group", "customer"]].concat());
    assert!(sandbox.read("first") == sandbox.read("second"));
    // New rows, one field named otherwise.
    sandbox.write("more.csv", rows.join("\n").replace("topic", "queue"));
    let said = sandbox.json(&[
        "fit", "more.csv", "--like", "first", "--label", "queue", "--group", "customer", "-o",
        "third", "--json",
    ]);
    assert_eq!(said["rows"], 80);
}

#[test]
fn what_cannot_be_known_is_refused() {
    let sandbox = sandbox();
    sandbox.succeed(&["fit", "mail.csv", "-o", "one"]);
    sandbox.succeed(&[
        "fit",
        "mail.csv",
        "-o",
        "two",
        "--classifier",
        "naive-bayes",
    ]);
    sandbox.write("held.csv", csv(&messages(60, 3, 8)));
    sandbox.succeed(&["combine", "one", "two", "--data", "held.csv", "-o", "both"]);
    for (arguments, part) in [
        (
            &["fit", "mail.csv", "--like", "both", "-o", "out"][..],
            "combination",
        ),
        (
            &["fit", "mail.csv", "--like", "missing", "-o", "out"],
            "missing",
        ),
        (
            &["fit", "mail.csv", "--like", "mail.csv", "-o", "out"],
            "mail.csv",
        ),
        (
            &["fit", "mail.csv", "--like", "one", "--search", "-o", "out"],
            "--search",
        ),
        (
            &["fit", "mail.csv", "--like", "two", "--c", "2", "-o", "out"],
            "--c is for",
        ),
    ] {
        let output = sandbox.run(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(part), "{arguments:?}: {stderr}");
        assert!(!sandbox.path("out").exists());
    }
}
