//! What holds for every page that the program writes, and the figures of `compare --html`.

use crate::common;

use common::{Sandbox, csv, json_lines, messages, multi_label_messages};

fn page(sandbox: &Sandbox, name: &str) -> String {
    String::from_utf8(sandbox.read(name)).unwrap()
}

/// Checks what a small screen and a reader who sees nothing need.
#[track_caller]
pub(crate) fn check(html: &str) {
    for outside in ["<script", "src=", "href=", "url(", "@import"] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(!html.contains("NaN"));
    // Figures may stand one below the other: a text that knows sides is wrong then.
    let text = without_styles(html);
    for side in [
        "Left,",
        "Left:",
        "Right,",
        "Right:",
        "to the left",
        "to the right",
        "on the left",
        "on the right",
        "To the left",
        "To the right",
        "On the left",
        "On the right",
        "left to right",
        "left figure",
        "right figure",
        "Left figure",
        "Right figure",
    ] {
        assert!(!text.contains(side), "{side}");
    }
    // A table moves within itself.
    let tables = html.matches("<table").count();
    let inside = html
        .match_indices("<table")
        .filter(|(at, _)| {
            let before = &html[..*at];
            let opened = before.rfind('<').unwrap();
            before[opened..]
                .starts_with("<div class=\"table\" role=\"region\" tabindex=\"0\" aria-label=\"")
        })
        .count();
    assert!(tables > 0);
    assert_eq!(inside, tables);
    // Every figure has a name and says what is to be seen.
    let figures = html.matches("<svg ").count();
    assert!(figures > 0);
    assert_eq!(html.matches("role=\"img\" aria-label=\"").count(), figures);
    assert!(!html.contains("aria-label=\"\"") && !html.contains("<desc></desc>"));
    assert!(html.contains("<meta name=\"viewport\" content=\"width=device-width"));
}

/// The page without what stands in `<style>`.
fn without_styles(html: &str) -> String {
    let mut text = String::new();
    for part in html.split("<style>") {
        text.push_str(part.split_once("</style>").map_or(part, |(_, rest)| rest));
    }
    text
}

/// Two models of the same training documents, and as many copies of their probabilities as are wanted.
fn systems(sandbox: &Sandbox, classes: usize, tables: usize) -> Vec<String> {
    sandbox.write("train.csv", csv(&messages(200, classes, 1)));
    sandbox.write("test.csv", csv(&messages(120, classes, 2)));
    let mut names = Vec::new();
    for learner in ["svm", "naive-bayes"] {
        let file = format!("{learner}.calibrant");
        sandbox.succeed(&["fit", "train.csv", "--classifier", learner, "-o", &file]);
        names.push(file);
    }
    for number in 0..tables {
        let file = format!("table-{number}.csv");
        sandbox.succeed(&["predict", &names[number % 2], "test.csv", "-o", &file]);
        names.push(file);
    }
    names
}

#[track_caller]
fn compared(sandbox: &Sandbox, names: &[String], options: &[&str]) -> String {
    let mut arguments = vec!["compare", "test.csv", "--html", "compare.html"];
    arguments.extend(names.iter().map(String::as_str));
    arguments.extend(options);
    sandbox.succeed(&arguments);
    let html = page(sandbox, "compare.html");
    check(&html);
    html
}

#[test]
fn two_systems_share_their_diagrams() {
    for classes in [2, 4] {
        let sandbox = Sandbox::new();
        let names = systems(&sandbox, classes, 0);
        let html = compared(&sandbox, &names, &[]);
        // Reliability twice, a figure of differences for each of three losses.
        assert_eq!(html.matches("<svg ").count(), 2 + 3);
        for title in [
            "Stated and observed",
            "Stated and observed, by log-odds",
            "Differences in log loss",
            "Differences in Brier score",
            "Differences in errors",
        ] {
            assert!(html.contains(&format!("aria-label=\"{title}\"")), "{title}");
        }
        assert_eq!(html.matches("<title>svm − naive-bayes: ").count(), 3);
        let without = compared(&sandbox, &names, &["--bootstrap", "0"]);
        assert!(without.contains("There are no intervals"));
    }
}

#[test]
fn eight_systems_have_a_diagram_each() {
    let sandbox = Sandbox::new();
    let names = systems(&sandbox, 3, 6);
    let html = compared(&sandbox, &names, &["--bootstrap", "50"]);
    assert_eq!(html.matches("<svg ").count(), 8 + 3);
    for name in ["svm", "naive-bayes", "table-5"] {
        assert!(html.contains(&format!("aria-label=\"{name}\"")), "{name}");
    }
    // 28 pairs in each of three figures.
    assert_eq!(html.matches("<title>svm − ").count(), 7 * 3);
    assert_eq!(html.matches("<title>table-4 − table-5: ").count(), 3);
}

#[test]
fn systems_of_several_labels_have_figures_too() {
    let sandbox = Sandbox::new();
    sandbox.write("test.csv", json_lines(&multi_label_messages(250, 3), true));
    let mut names = Vec::new();
    for learner in ["svm", "naive-bayes"] {
        let file = format!("{learner}.calibrant");
        let format = ["--format", "jsonl"];
        let fit = ["fit", "test.csv", "--classifier", learner, "-o", &file];
        sandbox.succeed(&[&fit[..], &format].concat());
        names.push(file);
    }
    let html = compared(&sandbox, &names, &["--format", "jsonl"]);
    assert_eq!(html.matches("<svg ").count(), 2 + 3);
    assert!(html.contains("difference in log loss, nats per decision"));
}

#[test]
fn every_page_fits_a_small_screen() {
    let sandbox = Sandbox::new();
    let names = systems(&sandbox, 3, 0);
    let evaluate = ["evaluate", &names[0], "test.csv", "--html", "evaluate.html"];
    let text = sandbox.succeed(&evaluate);
    let html = page(&sandbox, "evaluate.html");
    check(&html);
    // The table of classes has the same columns, and the measures of calibration the same rows.
    assert!(text.contains("AP") && html.contains(">average precision</th>"));
    let two = Sandbox::new();
    let names = systems(&two, 2, 0);
    let evaluate = ["evaluate", &names[0], "test.csv", "--html", "evaluate.html"];
    let text = two.succeed(&evaluate);
    let html = page(&two, "evaluate.html");
    check(&html);
    assert!(text.contains("ECE of `money`") && html.contains("ECE of “money”"));
    let scores: String = (0..200)
        .map(|row| {
            format!(
                "{},{}\n",
                f64::from(row) / 50.0 - 2.0,
                u8::from(row * 7 % 200 < row)
            )
        })
        .collect();
    sandbox.write("scores.csv", format!("score,label\n{scores}"));
    let calibrate = ["calibrate", "scores.csv", "--score", "score"];
    sandbox.succeed(&[&calibrate[..], &["--html", "calibrate.html"]].concat());
    check(&page(&sandbox, "calibrate.html"));
}
