//! AdaBoost through the program.

use crate::common;

use common::{Dice, Sandbox, csv, messages};

/// Rows of two numbers, one feature of which lies between two bounds where the class is `in`: a
/// question that no weighted sum answers.
fn between(count: usize, seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let row = |_| {
        let (first, second) = (dice.below(900), dice.below(900));
        let label = if (300..600).contains(&first) {
            "in"
        } else {
            "out"
        };
        format!("{label} 1:{}.5 2:{second}.5\n", first)
    };
    (0..count).map(row).collect()
}

fn accuracy(sandbox: &Sandbox, options: &[&str]) -> f64 {
    let plain = ["--weighting", "tf", "--l2-norm", "no"];
    let fit = ["fit", "train.svm", "-o", "model"];
    sandbox.succeed(&[&fit[..], &plain, options].concat());
    let report = sandbox.json(&["evaluate", "model", "test.svm", "--json", "--no-ledger"]);
    report["accuracy"].as_f64().unwrap()
}

#[test]
fn stumps_answer_what_no_weighted_sum_can() {
    let sandbox = Sandbox::new();
    sandbox.write("train.svm", between(400, 1));
    sandbox.write("test.svm", between(300, 2));
    let linear = accuracy(&sandbox, &["--classifier", "svm"]);
    assert!(linear < 0.8, "{linear}");
    for boosting in ["real", "discrete"] {
        let options = ["--classifier", "adaboost", "--boosting", boosting];
        let found = accuracy(&sandbox, &options);
        assert!(found > 0.95, "{boosting}: {found}");
    }
}

#[test]
fn a_model_says_how_it_was_boosted_and_by_which_words() {
    let sandbox = Sandbox::new();
    sandbox.write("mail.csv", csv(&messages(200, 3, 1)));
    let fit = ["fit", "mail.csv", "-o", "model", "--classifier", "adaboost"];
    sandbox.succeed(&[&fit[..], &["--boosting", "discrete", "--rounds", "30"]].concat());
    let shown = sandbox.json(&["inspect", "model", "--json", "--terms", "4"]);
    let classifier = &shown["settings"]["classifier"];
    assert_eq!(classifier["learner"], "adaboost");
    assert_eq!(classifier["kind"], "discrete");
    assert_eq!(classifier["rounds"], 30);
    let words = ["corn", "maize", "bushel", "crop", "acre", "feed"];
    for term in shown["terms"]["corn"].as_array().unwrap() {
        assert!(words.contains(&term[0].as_str().unwrap()), "{term}");
    }
    assert!(sandbox.succeed(&["inspect", "model"]).contains("adaboost"));
}

#[test]
fn what_makes_no_sense_is_refused_with_the_option_to_change() {
    let sandbox = Sandbox::new();
    sandbox.write("mail.csv", csv(&messages(60, 2, 1)));
    let cases: [(&[&str], &str); 4] = [
        (&["--rounds", "0"], "boosting rounds must be 1 to 100000"),
        (
            &["--rounds", "100001"],
            "boosting rounds must be 1 to 100000",
        ),
        (&["--rounds", "-3"], "--rounds"),
        (
            &[
                "--select",
                "chi-square",
                "--select-terms",
                "9",
                "--select-per-class",
            ],
            "one list for all classes unless the classifier is linear",
        ),
    ];
    for (options, words) in cases {
        let fit = ["fit", "mail.csv", "-o", "model", "--classifier", "adaboost"];
        let output = sandbox.run(&[&fit[..], options].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(words), "{options:?}: {said}");
        assert!(!sandbox.path("model").exists());
    }
}
