//! Every measure of calibration in one table, each beside what chance alone would give.

use super::html::{measure, paragraph, section};
use super::{CalibrationMeasure, CalibrationValue, Report, calibration_measures};
use crate::Task;
use crate::plot::{Block, Section, Table};

/// The section; nothing where only the cheaper measures were taken.
pub(super) fn calibration(report: &Report) -> Option<Section> {
    let further = report.evaluation.further.as_ref()?;
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
    let measures = calibration_measures(&report.evaluation);
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
                rows: measures.iter().filter_map(error).collect(),
            }),
            Block::Table(Table {
                caption: "Log-odds of what came true against log-odds stated, as a straight line, with 95 % \
                          intervals; the losses taken apart by a rising curve (CORP); tests of whether \
                          the forecasts could be perfect."
                    .to_owned(),
                header: header(["", "value", ""]),
                rows: measures.iter().filter_map(line_or_test).collect(),
            }),
        ],
    ))
}

fn error(found: &CalibrationMeasure) -> Option<Vec<String>> {
    let (value, of_perfect) = match found.value {
        CalibrationValue::Error { value, of_perfect } => (value, measure(of_perfect)),
        CalibrationValue::Debiased(root) => (root, "0".to_owned()),
        _ => return None,
    };
    Some(vec![found.name.clone(), measure(value), of_perfect])
}

fn line_or_test(found: &CalibrationMeasure) -> Option<Vec<String>> {
    let (value, note) = match &found.value {
        CalibrationValue::Line(None, right) => ("–".to_owned(), format!("({right})")),
        CalibrationValue::Line(Some(line), right) => (
            measure(line.value),
            format!(
                "{} to {} ({right})",
                measure(line.lower),
                measure(line.upper)
            ),
        ),
        CalibrationValue::Parts(parts) => (
            measure(parts.loss),
            format!(
                "= {} miscalibration − {} discrimination + {} uncertainty",
                measure(parts.miscalibration),
                measure(parts.discrimination),
                measure(parts.uncertainty)
            ),
        ),
        CalibrationValue::Test(test) => (
            measure(test.statistic),
            match test.p_value {
                small if small < 1e-4 => format!("p = {small:.1e}"),
                other => format!("p = {other:.4}"),
            },
        ),
        _ => return None,
    };
    Some(vec![found.name.clone(), value, note])
}
