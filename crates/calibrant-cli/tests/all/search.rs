//! `calibrant fit --search`: what was tried, what was kept, what stays as it was asked for.

use crate::common;

use common::{Dice, Message, Sandbox, csv, json_lines, messages, multi_label_messages};
use serde_json::Value;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("mail.csv", csv(&messages(90, 3, 1)));
    sandbox
}

/// Fits with a search and as much time as it takes.
fn searched(sandbox: &Sandbox, file: &str, options: &[&str]) -> Value {
    let fit = ["fit", file, "-o", "model", "--json", "--folds", "3"];
    let search = ["--search", "--time-budget", "1e6", "--calibrator", "platt"];
    sandbox.json(&[&fit[..], &search, options].concat())
}

fn trials(report: &Value) -> &Vec<Value> {
    report["search"].as_array().unwrap()
}

/// Hardly a word comes twice: only their beginnings tell the class, and of every tenth message nothing does.
fn inflected(count: usize, seed: u64) -> Vec<Message> {
    let mut dice = Dice::new(seed);
    let one = |number: usize| {
        let class = dice.below(2);
        let stems = [["wander", "harvest"], ["harvest", "wander"]][class];
        let stem = stems[usize::from(dice.below(10) == 0)];
        let mut words: Vec<String> = (0..6).map(|_| format!("any{}", dice.below(30))).collect();
        words.push(format!("{stem}{}", dice.below(100_000)));
        Message {
            id: format!("m{number}"),
            labels: vec![["hikes", "farms"][class]],
            text: words.join(" "),
        }
    };
    (0..count).map(one).collect()
}

fn chosen(report: &Value) -> Vec<&Value> {
    let trials = trials(report).iter();
    trials.filter(|trial| trial["chosen"] == true).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn what_is_clearly_better_becomes_the_model_and_is_as_good_as_it_says() {
    let sandbox = Sandbox::new();
    sandbox.write("training.csv", csv(&inflected(400, 1)));
    sandbox.write("fresh.csv", csv(&inflected(2_000, 2)));
    let report = searched(&sandbox, "training.csv", &["--classifier", "svm"]);
    let gain = &report["search_gain"];
    let [expected, default] = ["log_loss", "default_log_loss"].map(|name| number(&gain[name]));
    assert!(
        default - expected > 2.0 * number(&gain["standard_error"]),
        "{gain}"
    );
    assert!((number(&report["held_out"]["log_loss"]) - expected).abs() < 1e-12);
    assert!((number(&trials(&report)[0]["log_loss"]) - default).abs() < 1e-12);

    // On documents that took no part: losses vary by about 0.6, so that 400 and 2,000 have a mean within 0.1 of each other.
    let evaluated = sandbox.json(&["evaluate", "model", "fresh.csv", "--json"]);
    let measured = number(&evaluated["log_loss"]);
    assert!((measured - expected).abs() < 0.1, "{measured} {expected}");

    let inspected = sandbox.json(&["inspect", "model", "--json"]);
    // A pool, or the best alone where others add nothing to it.
    let only = [inspected.clone()];
    let members = inspected["members"].as_array();
    let members = members.map_or(&only[..], Vec::as_slice);
    assert_eq!(members.len(), chosen(&report).len());
    let characters = |member: &Value| !member["settings"]["analyzer"]["char_ngrams"].is_null();
    assert!(members.iter().any(characters), "{members:?}");
    for weight in members.iter().filter_map(|member| member.get("weight")) {
        assert!(number(weight) >= 0.05, "{members:?}");
    }
    let shown = sandbox.succeed(&["inspect", "model"]);
    assert!(shown.contains("% lower than the default's"), "{shown}");

    let explained = sandbox.json(&["explain", "model", "--json", "wander77 any3"]);
    for explanation in explained.as_array().unwrap() {
        let terms = explanation["terms"].as_array().unwrap();
        let parts: f64 = terms.iter().map(|term| number(&term["log_odds"])).sum();
        let sum = number(&explanation["base_log_odds"]) + parts;
        assert!((sum - number(&explanation["log_odds"])).abs() < 1e-9);
    }
}

/// The beginning of a word that hardly comes twice tells the class, and so does the order of two words whose ends are alike: terms of
/// one kind see one of the two.
fn of_two_clues(count: usize, seed: u64) -> Vec<Message> {
    let mut dice = Dice::new(seed);
    let one = |number: usize| {
        let class = dice.below(2);
        let mut clue = || class ^ usize::from(dice.below(6) == 0);
        let (stem, order) = (["wander", "harvest"][clue()], clue());
        let mut pair = ["mmmmmredmmmmm", "mmmmmbluemmmmm"];
        pair.rotate_left(order);
        Message {
            id: format!("m{number}"),
            labels: vec![["hikes", "farms"][class]],
            text: format!("{stem}{} {} {}", dice.below(100_000), pair[0], pair[1]),
        }
    };
    (0..count).map(one).collect()
}

#[test] // The figure of the pool was called cross-validated, which it is not.
fn the_figure_of_a_pool_is_called_what_it_is() {
    let sandbox = Sandbox::new();
    sandbox.write("training.csv", csv(&of_two_clues(400, 1)));
    let report = searched(&sandbox, "training.csv", &["--classifier", "svm"]);
    assert!(chosen(&report).len() > 1, "{:?}", chosen(&report));
    let shown = sandbox.succeed(&["inspect", "model"]);
    let figure = format!("{:.5}", number(&report["search_gain"]["log_loss"]));
    let line = shown.lines().find(|line| line.starts_with("combination"));
    let line = line.unwrap_or_else(|| panic!("{shown}"));
    assert!(
        line.contains("on documents that took no part in the choice"),
        "{line}"
    );
    assert!(line.trim_end().ends_with(&figure), "{figure}: {line}");
    assert!(!shown.contains("cross-validated"), "{shown}");
}

#[test]
fn where_nothing_is_clearly_better_the_default_is_served() {
    let sandbox = Sandbox::new();
    // Labels at random.
    let mut dice = Dice::new(5);
    let mut all = messages(120, 2, 1);
    for message in &mut all {
        message.labels = vec![["yes", "no"][dice.below(2)]];
    }
    sandbox.write("lot.csv", csv(&all));
    let report = searched(&sandbox, "lot.csv", &[]);
    assert_eq!(chosen(&report).len(), 1);
    assert_eq!(trials(&report)[0]["chosen"], true);
    let found = sandbox.succeed(&["predict", "model", "lot.csv"]);
    let plain = ["fit", "lot.csv", "-o", "plain", "--folds", "3"];
    sandbox.succeed(&[&plain[..], &["--calibrator", "platt"]].concat());
    assert_eq!(found, sandbox.succeed(&["predict", "plain", "lot.csv"]));
    let shown = sandbox.succeed(&["inspect", "model"]);
    assert!(shown.contains("the default (marked *)"), "{shown}");
}

#[test]
fn trials_are_listed_and_kept() {
    let sandbox = sandbox();
    let report = searched(&sandbox, "mail.csv", &[]);
    assert!(trials(&report).iter().all(|t| t["seconds"].is_f64()));
    let mut learners: Vec<&str> = trials(&report)
        .iter()
        .map(|trial| trial["classifier"]["learner"].as_str().unwrap())
        .collect();
    learners.sort_unstable();
    learners.dedup();
    for expected in [
        "linear_svm",
        "logistic_regression",
        "naive_bayes",
        "rocchio",
    ] {
        assert!(learners.contains(&expected), "{learners:?}");
    }
    let inspected = sandbox.json(&["inspect", "model", "--json"]);
    let kept = inspected["summary"]["search"].as_array().unwrap();
    assert_eq!(kept.len(), trials(&report).len());
    assert!(kept.iter().all(|trial| trial.get("seconds").is_none()));
    let shown = sandbox.succeed(&["inspect", "model"]);
    assert!(shown.contains("chosen (*) among"), "{shown}");
    assert!(shown.contains("complement naive Bayes, alpha 1"), "{shown}");
    assert!(shown.contains("words, 1 to 2"), "{shown}");
    sandbox.succeed(&["predict", "model", "mail.csv"]);
}

#[test]
fn options_that_were_given_are_not_turned() {
    let sandbox = sandbox();
    let options = ["--classifier", "svm", "--c", "2"];
    let report = searched(&sandbox, "mail.csv", &options);
    for trial in trials(&report) {
        assert_eq!(trial["classifier"]["learner"], "linear_svm");
        assert_eq!(trial["classifier"]["c"], 2.0);
    }
    let report = searched(&sandbox, "mail.csv", &["--char-ngrams", "3"]);
    assert!(
        trials(&report)
            .iter()
            .all(|trial| trial.get("analyzer").is_none())
    );
    let options = ["--weighting", "bm25", "--bm25-b", "0.5", "--l2-norm", "yes"];
    let report = searched(&sandbox, "mail.csv", &options);
    for trial in trials(&report) {
        assert_eq!(trial["weighting"]["weighting"]["kind"], "bm25");
        assert_eq!(trial["weighting"]["weighting"]["b"], 0.5);
        assert_eq!(trial["weighting"]["l2_norm"], true);
    }
    // A price that only some learners have: theirs stays, the others' does not.
    let report = searched(&sandbox, "mail.csv", &["--alpha", "0.5"]);
    let of = |learner: &str, price: fn(&Value) -> &Value| {
        let own = trials(&report)
            .iter()
            .filter(|trial| trial["classifier"]["learner"] == learner);
        own.map(|trial| price(&trial["classifier"]).as_f64().unwrap())
            .collect::<Vec<f64>>()
    };
    let alphas = of(
        "naive_bayes",
        |classifier| &classifier["smoothing"]["alpha"],
    );
    assert!(alphas.iter().all(|&alpha| alpha == 0.5), "{alphas:?}");
}

#[test]
fn without_time_one_trial_is_made_and_said_to_be_all() {
    let sandbox = sandbox();
    let search = ["--search", "--time-budget", "0"];
    let output = sandbox.run(&[&["fit", "mail.csv", "-o", "model"][..], &search].concat());
    assert_eq!(output.status.code(), Some(0));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("--time-budget"), "{said}");
    assert!(said.contains("words, 1 to 2 were not tried"), "{said}");
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("linear SVM, c 0.5"), "{shown}");
    assert!(shown.contains("seconds"), "{shown}");
    let inspected = sandbox.json(&["inspect", "model", "--json"]);
    let kept = inspected["summary"]["search"].as_array().unwrap();
    assert_eq!(kept.len(), 1);
}

#[test]
fn several_labels_are_searched_too_and_threads_change_nothing() {
    let sandbox = sandbox();
    let several = json_lines(&multi_label_messages(80, 1), true);
    sandbox.write("several.jsonl", several);
    let options = ["--weighting", "tf-idf"];
    for threads in ["1", "3"] {
        let threads = ["--threads", threads];
        searched(
            &sandbox,
            "several.jsonl",
            &[&options[..], &threads].concat(),
        );
        std::fs::rename(sandbox.path("model"), sandbox.path(threads[1])).unwrap();
    }
    assert!(sandbox.read("1") == sandbox.read("3"));
    sandbox.succeed(&["evaluate", "1", "several.jsonl"]);
}

#[test]
fn a_plain_fit_lists_no_trials() {
    let sandbox = sandbox();
    let report = sandbox.json(&["fit", "mail.csv", "-o", "model", "--json"]);
    assert!(report.get("search").is_none());
    let inspected = sandbox.json(&["inspect", "model", "--json"]);
    assert!(inspected["summary"].get("search").is_none());
    assert!(
        !sandbox
            .succeed(&["inspect", "model"])
            .contains("chosen (*)")
    );
}

#[test]
fn wrong_budgets_are_refused() {
    let sandbox = sandbox();
    for wrong in [
        &["--search", "--time-budget", "-1"][..],
        &["--search", "--time-budget", "nan"],
        &["--search", "--time-budget", "soon"],
        &["--time-budget", "60"],
        &["--search", "--c", "0"],
        &["--search", "--log-count-ratio", "0"],
        &["--search", "--other-cost", "1:5"],
        &["--search", "--folds", "1"],
    ] {
        let output = sandbox.run(&[&["fit", "mail.csv", "-o", "model"][..], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(!sandbox.path("model").exists(), "{wrong:?}");
    }
}
