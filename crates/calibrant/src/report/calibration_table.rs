//! Every measure of calibration in one table, each beside what chance alone would give.

use super::Report;
use super::html::{measure, paragraph, section};
use crate::Task;
use crate::evaluation::{Calibration, Decomposition, Further, Interval, TestResult};
use crate::plot::{Block, Section, Table};

/// The section; nothing where only the cheaper measures were taken.
pub(super) fn calibration(report: &Report) -> Option<Section> {
    let further = report.evaluation.further.as_ref()?;
    let found = further
        .calibration_of_second
        .as_ref()
        .unwrap_or(&further.calibration);
    let whose = match (report.evaluation.task, &further.calibration_of_second) {
        (_, Some(_)) => {
            let second = report.evaluation.classes.get(1);
            let name = second.map_or("", |class| class.label.as_str());
            format!("of the probability of “{name}”")
        }
        (Task::SingleLabel, None) => "of the probability of the most probable class".to_owned(),
        (Task::MultiLabel, None) => "of the probability of every decision".to_owned(),
    };
    let header = |names: [&str; 3]| names.map(str::to_owned).to_vec();
    Some(section(
        "How far from honest",
        vec![
            paragraph(format!(
                "Errors of calibration {whose}. None of them is zero on real data, not even in a perfect \
                 forecaster; its own errors, by chance, stand beside them."
            )),
            Block::Table(Table {
                caption: String::new(),
                header: header(["error", "here", "perfect forecaster"]),
                rows: errors(report, further, found),
            }),
            Block::Table(Table {
                caption: "Log-odds of what came true against log-odds stated, as a straight line, with 95 % \
                          intervals; the losses taken apart by a rising curve (CORP); tests of whether \
                          the forecasts could be perfect."
                    .to_owned(),
                header: header(["", "value", ""]),
                rows: lines_and_tests(found),
            }),
        ],
    ))
}

fn errors(report: &Report, further: &Further, found: &Calibration) -> Vec<Vec<String>> {
    let row = |name: &str, value: f64, of_perfect: f64| {
        vec![name.to_owned(), measure(value), measure(of_perfect)]
    };
    let evaluation = &report.evaluation;
    let width = &found.ece_equal_width;
    let classwise = &further.classwise_ece;
    let largest = &found.max_calibration_error;
    let smooth = &found.smooth_error;
    let mut rows = vec![
        row(
            "ECE, bins of equal weight",
            evaluation.ece,
            evaluation.ece_of_perfect,
        ),
        row("ECE, bins of equal width", width.value, width.of_perfect),
        row("ECE, class by class", classwise.value, classwise.of_perfect),
    ];
    if let Some(top) = &further.top_label_ece {
        rows.push(row("ECE, by predicted class", top.value, top.of_perfect));
    }
    rows.push(row(
        "largest error of a bin",
        largest.value,
        largest.of_perfect,
    ));
    rows.push(row("smooth ECE", smooth.value, smooth.of_perfect));
    rows.push(vec![
        "debiased error (root; below 0: none to be seen)".to_owned(),
        measure(found.debiased_error.signed_root),
        "0".to_owned(),
    ]);
    rows
}

fn lines_and_tests(found: &Calibration) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut line = |name: &str, interval: Option<Interval>, note: &str| {
        let (value, ends) = interval.map_or(("–".to_owned(), String::new()), |found| {
            let ends = format!("{} to {}", measure(found.lower), measure(found.upper));
            (measure(found.value), ends)
        });
        rows.push(vec![name.to_owned(), value, format!("{ends} {note}")]);
    };
    line("slope", found.line.slope, "(1 is right; below: too sure)");
    line("intercept", found.line.intercept, "(0 is right)");
    line(
        "intercept at slope 1",
        found.line.intercept_in_the_large,
        "(above 0: more comes true than stated)",
    );
    let mut parts = |name: &str, parts: &Decomposition| {
        let told = format!(
            "= {} miscalibration − {} discrimination + {} uncertainty",
            measure(parts.miscalibration),
            measure(parts.discrimination),
            measure(parts.uncertainty)
        );
        rows.push(vec![name.to_owned(), measure(parts.loss), told]);
    };
    parts("log loss", &found.log_loss_parts);
    parts("Brier score", &found.brier_parts);
    let mut test = |name: &str, test: Option<TestResult>| {
        if let Some(test) = test {
            let p = match test.p_value {
                small if small < 1e-4 => format!("p = {small:.1e}"),
                other => format!("p = {other:.4}"),
            };
            rows.push(vec![name.to_owned(), measure(test.statistic), p]);
        }
    };
    test("Spiegelhalter’s z", found.spiegelhalter);
    test("Kolmogorov-Smirnov", found.kolmogorov_smirnov);
    test("Kuiper", found.kuiper);
    rows
}
