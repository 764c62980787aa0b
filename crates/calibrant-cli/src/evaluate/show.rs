//! Measures as a person reads them.

use std::io::Write;

use calibrant::Task;
use calibrant::evaluation::{Bootstrap, Evaluation, Further, Interval};
use calibrant::report::{
    AnsweredShares, CLASS_COLUMNS, CalibrationMeasure, CalibrationValue, ClassCell,
    calibration_measures,
};

use super::cost_table;
use crate::error::CliError;
use crate::output::{count_of, loss_unit};
use crate::table::{decimal, table};

/// `grouped` says that documents were put into groups, and not by being copies alone.
pub(super) fn show(
    out: &mut impl Write,
    evaluation: &Evaluation,
    answers: &AnsweredShares,
    grouped: bool,
) -> Result<(), CliError> {
    writeln!(
        out,
        "{}, {} ({})",
        count_of(evaluation.documents, "document"),
        count_of(evaluation.decisions, "decision"),
        evaluation.task
    )?;
    let further = evaluation.further.as_ref();
    let intervals = further.and_then(|further| further.bootstrap.as_ref());
    decisions(out, evaluation, further, intervals)?;
    if let Some(found) = further.and_then(|further| further.costs.as_ref()) {
        cost_table::show(out, found)?;
    }
    answered(out, answers)?;
    probabilities(out, evaluation, further, intervals)?;
    if let Some(further) = further {
        calibration(out, evaluation, further)?;
    }
    classes(out, evaluation)?;
    if let Some(bootstrap) = intervals {
        let drawn = match bootstrap.units {
            units if units < evaluation.documents && grouped => {
                format!(
                    "group ({units} in all, counting copies as one and each ungrouped document as its own)"
                )
            }
            units if units < evaluation.documents => {
                format!("document, copies together ({units} distinct)")
            }
            _ => "document".to_owned(),
        };
        writeln!(
            out,
            "\n95 % intervals in [ ]: {} bootstrap replicates, resampled by {drawn}.",
            bootstrap.replicates
        )?;
        if bootstrap.log_loss.is_none() {
            writeln!(
                out,
                "Log loss and Brier have none: fewer than three decisions are wrong, too few to resample."
            )?;
        }
    }
    Ok(())
}

/// The least share of documents that is worth a row.
const LEAST_SHARE: f64 = 0.5;

/// How often the surest answers are right, or are expected to be where the truth is not known.
pub(super) fn answered(out: &mut impl Write, answers: &AnsweredShares) -> Result<(), CliError> {
    let known = answers.whole().is_some_and(|all| all.accuracy.is_some());
    let header: &[&str] = match known {
        true => &["answered", "right", "", "stated", "from probability"],
        false => &["answered", "expected right", "", "from probability"],
    };
    let mut rows = table(header, 0);
    let per_cent = |share: f64| format!("{:.1} %", 100.0 * share);
    let shares = answers.shares.iter();
    for share in shares.filter(|share| share.answered >= LEAST_SHARE) {
        let band = format!("[{}, {}]", decimal(share.lower), decimal(share.upper));
        let mut row = vec![per_cent(share.answered)];
        row.extend(share.accuracy.map(decimal));
        match known {
            true => row.extend([band, decimal(share.stated)]),
            false => row.extend([decimal(share.stated), band]),
        }
        row.push(decimal(share.threshold));
        rows.add_row(row);
    }
    writeln!(out, "\n{rows}")?;
    let reached = answers
        .advice()
        .and_then(|advice| Some((advice.accuracy, advice.answered?, advice.threshold?)));
    if let Some((accuracy, share, threshold)) = reached {
        let (here, them) = match known {
            true => ("on these documents", "are right"),
            false => ("by the probabilities", "will be right"),
        };
        writeln!(
            out,
            "answer {} by machine, from probability {} on: {} % of the answers {them} {here}",
            per_cent(share),
            decimal(threshold),
            100.0 * accuracy
        )?;
    }
    if let Some(said) = answers.unknown_labels_sentence() {
        writeln!(out, "{said}")?;
    }
    Ok(())
}

/// What else the intervals of a line heed.
const ROBUST: &str = "; these intervals allow for unequal weights and for groups";

/// Rows of a group of measures.
pub(super) struct Group {
    title: &'static str,
    rows: Vec<[String; 3]>,
}

impl Group {
    pub(super) fn new(title: &'static str) -> Self {
        Self {
            title,
            rows: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, name: &str, value: f64, note: impl Into<String>) {
        self.rows
            .push([name.to_owned(), decimal(value), note.into()]);
    }

    /// `robust` says that the intervals of the line allow for more than chance in single documents.
    fn add_calibration(&mut self, found: &CalibrationMeasure, robust: bool) {
        let name = &found.short;
        match &found.value {
            CalibrationValue::Error { value, of_perfect } => {
                let beside = decimal(*of_perfect);
                let note = format!("{beside} in a perfect forecaster of this size");
                self.add(name, *value, note);
            }
            CalibrationValue::Debiased(root) => {
                let note = "root of the squared error; below 0: none detectable";
                self.add(name, *root, note);
            }
            CalibrationValue::Line(Some(line), right) => {
                let mut note = format!("{} ", ends(Some(line)));
                if found.name != *name {
                    note.push_str(&format!("{}; ", found.name));
                }
                note.push_str(right);
                // What is said of the slope's interval holds for all three.
                if robust && name == "slope" {
                    note.push_str(ROBUST);
                }
                self.add(name, line.value, note);
            }
            CalibrationValue::Parts(parts) => {
                let note = format!(
                    "= {} miscalibration - {} discrimination + {} uncertainty",
                    decimal(parts.miscalibration),
                    decimal(parts.discrimination),
                    decimal(parts.uncertainty)
                );
                self.add(name, parts.loss, note);
            }
            CalibrationValue::Test(test) => {
                let note = format!("p = {}", p_value(test.p_value));
                self.add(name, test.statistic, note);
            }
            _ => self.rows.push([
                name.clone(),
                "-".to_owned(),
                "nothing finite fits best".to_owned(),
            ]),
        }
    }

    pub(super) fn write(self, out: &mut impl Write) -> Result<(), CliError> {
        let mut shown = table(&[self.title, "", ""], 1);
        if let Some(column) = shown.column_mut(2) {
            column.set_cell_alignment(comfy_table::CellAlignment::Left);
        }
        for row in self.rows {
            shown.add_row(row.to_vec());
        }
        writeln!(out, "\n{shown}")?;
        Ok(())
    }
}

pub(super) fn ends(interval: Option<&Interval>) -> String {
    interval.map_or_else(String::new, |found| {
        format!("[{}, {}]", decimal(found.lower), decimal(found.upper))
    })
}

fn joined(parts: &[String]) -> String {
    let said: Vec<&str> = parts
        .iter()
        .map(String::as_str)
        .filter(|p| !p.is_empty())
        .collect();
    said.join(" ")
}

fn decisions(
    out: &mut impl Write,
    evaluation: &Evaluation,
    further: Option<&Further>,
    intervals: Option<&Bootstrap>,
) -> Result<(), CliError> {
    let mut group = Group::new("decisions");
    if let Some(accuracy) = evaluation.accuracy {
        let interval = intervals.and_then(|all| all.accuracy.as_ref());
        group.add("accuracy", accuracy, ends(interval));
    }
    group.add(
        "micro-F1",
        evaluation.micro_f1,
        ends(intervals.and_then(|all| all.micro_f1.as_ref())),
    );
    group.add(
        "macro-F1",
        evaluation.macro_f1,
        ends(intervals.and_then(|all| all.macro_f1.as_ref())),
    );
    if let Some(further) = further {
        let errors = &further.error_likelihood;
        let z = errors
            .z
            .map_or_else(String::new, |z| format!(", z = {z:.2}"));
        // With weights the count is not what the probabilities speak of.
        let weighted = (errors.observed - evaluation.errors as f64).abs() > 1e-9;
        let counted = if weighted {
            format!("{:.1} by weight (mean weight 1); ", errors.observed)
        } else {
            String::new()
        };
        group.rows.push([
            "errors".to_owned(),
            evaluation.errors.to_string(),
            format!(
                "{counted}{:.1} ± {:.1} expected from the probabilities{z}",
                errors.expected, errors.deviation
            ),
        ]);
        if let Some(confusion) = &further.confusion {
            let name = |class: usize| {
                evaluation
                    .classes
                    .get(class)
                    .map_or("", |c| c.label.as_str())
            };
            for cell in confusion.confusions().iter().take(3) {
                group.rows.push([
                    "confused".to_owned(),
                    cell.documents.to_string(),
                    format!("`{}` taken for `{}`", name(cell.truth), name(cell.decision)),
                ]);
            }
        }
    }
    group.write(out)
}

fn probabilities(
    out: &mut impl Write,
    evaluation: &Evaluation,
    further: Option<&Further>,
    intervals: Option<&Bootstrap>,
) -> Result<(), CliError> {
    let mut group = Group::new("probabilities");
    let note = format!(
        "nats per {}, {} bits",
        loss_unit(evaluation.log_loss_over),
        decimal(evaluation.log_loss_bits)
    );
    let interval = ends(intervals.and_then(|all| all.log_loss.as_ref()));
    group.add("log loss", evaluation.log_loss, joined(&[interval, note]));
    group.add(
        "Brier",
        evaluation.brier,
        ends(intervals.and_then(|all| all.brier.as_ref())),
    );
    if let Some(further) = further {
        let many = evaluation.classes.len() > 1;
        let of = if many {
            "mean of classes against the rest"
        } else {
            ""
        };
        if let Some(auc) = further.macro_auc {
            let interval = ends(intervals.and_then(|all| all.macro_auc.as_ref()));
            // That of either of two classes is the same.
            let of = if further.calibration_of_second.is_some() {
                ""
            } else {
                of
            };
            group.add("AUC", auc, joined(&[interval, of.to_owned()]));
        }
        let second = further.calibration_of_second.as_ref();
        if let Some(precision) = second.and_then(|second| second.average_precision) {
            let name = evaluation
                .classes
                .get(1)
                .map_or("", |class| class.label.as_str());
            let interval = intervals.and_then(|all| all.average_precision_of_second.as_ref());
            group.add(
                &format!("average precision of `{name}`"),
                precision,
                ends(interval),
            );
        } else if let Some(precision) = further.macro_average_precision {
            let interval = ends(intervals.and_then(|all| all.macro_average_precision.as_ref()));
            group.add(
                "average precision",
                precision,
                joined(&[interval, of.to_owned()]),
            );
        }
    }
    group.write(out)
}

fn calibration(
    out: &mut impl Write,
    evaluation: &Evaluation,
    further: &Further,
) -> Result<(), CliError> {
    let whose = match (evaluation.task, &further.calibration_of_second) {
        (_, Some(_)) => {
            let second = evaluation
                .classes
                .get(1)
                .map_or("", |class| class.label.as_str());
            format!(
                "\nBelow: ECE and top label are of the more probable class, class-wise of each class; the rest of the probability of `{second}`."
            )
        }
        (Task::SingleLabel, None) => {
            "\nBelow: the probability of the most probable class.".to_owned()
        }
        (Task::MultiLabel, None) => "\nBelow: the probability of every decision.".to_owned(),
    };
    writeln!(out, "{whose}")?;
    let measures = calibration_measures(evaluation);
    let is_test = |found: &&CalibrationMeasure| matches!(found.value, CalibrationValue::Test(_));
    let (tests, others): (Vec<_>, Vec<_>) = measures.iter().partition(is_test);
    let second = further.calibration_of_second.as_ref();
    let robust = second.unwrap_or(&further.calibration).line.robust;
    for (title, measures) in [("calibration", others), ("tests of calibration", tests)] {
        let mut group = Group::new(title);
        for found in measures {
            group.add_calibration(found, robust);
        }
        if !group.rows.is_empty() {
            group.write(out)?;
        }
    }
    Ok(())
}

fn p_value(value: f64) -> String {
    if value < 1e-4 {
        format!("{value:.1e}")
    } else {
        decimal(value)
    }
}

fn classes(out: &mut impl Write, evaluation: &Evaluation) -> Result<(), CliError> {
    let mut rows = table(&CLASS_COLUMNS.map(|column| column.short), 1);
    let written = |cell: ClassCell<'_>| match cell {
        ClassCell::Name(name) => name.to_owned(),
        ClassCell::Count(count) => count.to_string(),
        ClassCell::Measure(value) => value.map_or_else(|| "–".to_owned(), decimal),
    };
    for class in &evaluation.classes {
        let cells = CLASS_COLUMNS.map(|column| written((column.cell)(class)));
        rows.add_row(cells.to_vec());
    }
    writeln!(out, "\n{rows}")?;
    if evaluation.classes.len() > 1 {
        writeln!(out, "y/n: each class against the rest")?;
    }
    Ok(())
}
