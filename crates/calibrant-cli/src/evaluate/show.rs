//! Measures as a person reads them.

use std::io::Write;

use calibrant::Task;
use calibrant::evaluation::{
    BesidePerfect, Bootstrap, Calibration, Decomposition, Evaluation, Further, Interval, TestResult,
};

use crate::error::CliError;
use crate::output::{count_of, loss_unit};
use crate::table::{decimal, table};

/// `grouped` says that documents were put into groups, and not by being copies alone.
pub(super) fn show(
    out: &mut impl Write,
    evaluation: &Evaluation,
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

/// Rows of a group of measures.
struct Group {
    title: &'static str,
    rows: Vec<[String; 3]>,
}

impl Group {
    fn new(title: &'static str) -> Self {
        Self {
            title,
            rows: Vec::new(),
        }
    }

    fn add(&mut self, name: &str, value: f64, note: impl Into<String>) {
        self.rows
            .push([name.to_owned(), decimal(value), note.into()]);
    }

    fn add_beside(&mut self, name: &str, value: f64, of_perfect: f64) {
        self.add(
            name,
            value,
            format!(
                "{} in a perfect forecaster of this size",
                decimal(of_perfect)
            ),
        );
    }

    fn write(self, out: &mut impl Write) -> Result<(), CliError> {
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

fn ends(interval: Option<&Interval>) -> String {
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
        if let Some(costs) = &further.costs {
            group.add(
                "mean cost",
                costs.mean_cost,
                format!(
                    "stated {}; most probable {}, always `{}` {}, the truth {}; {} decisions changed",
                    decimal(costs.stated_mean_cost),
                    decimal(costs.mean_cost_of_most_probable),
                    costs.constant,
                    decimal(costs.mean_cost_of_constant),
                    decimal(costs.mean_cost_of_perfect),
                    costs.changed
                ),
            );
        }
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
    let found = further
        .calibration_of_second
        .as_ref()
        .unwrap_or(&further.calibration);
    let mut group = Group::new("calibration");
    group.add(
        "ECE",
        evaluation.ece,
        format!(
            "{} in a perfect forecaster of this size",
            decimal(evaluation.ece_of_perfect)
        ),
    );
    if further.calibration_of_second.is_some() {
        let second = evaluation
            .classes
            .get(1)
            .map_or("", |class| class.label.as_str());
        let error = &found.ece_equal_mass;
        group.add_beside(&format!("ECE of `{second}`"), error.value, error.of_perfect);
    }
    let mut beside = |name: &str, measure: &BesidePerfect| {
        group.add_beside(name, measure.value, measure.of_perfect);
    };
    beside("ECE, equal width", &found.ece_equal_width);
    beside("ECE, class-wise", &further.classwise_ece);
    if let Some(error) = &further.top_label_ece {
        beside("ECE, top label", error);
    }
    beside("largest error", &found.max_calibration_error);
    group.add_beside(
        "smooth ECE",
        found.smooth_error.value,
        found.smooth_error.of_perfect,
    );
    group.add(
        "debiased error",
        found.debiased_error.signed_root,
        "root of the squared error; below 0: none detectable",
    );
    line(&mut group, found);
    // With several classes these are losses of the first choice alone, not the ones above.
    let of = match (evaluation.task, &further.calibration_of_second) {
        (Task::SingleLabel, None) => " of the first choice",
        _ => "",
    };
    parts(&mut group, &format!("log loss{of}"), &found.log_loss_parts);
    parts(&mut group, &format!("Brier{of}"), &found.brier_parts);
    group.write(out)?;
    tests(out, found)
}

fn line(group: &mut Group, found: &Calibration) {
    // What is said of the slope's interval holds for all three.
    let robust = if found.line.robust {
        "; these intervals allow for unequal weights and for groups"
    } else {
        ""
    };
    let of_slope = format!("1 is ideal; below 1: overconfident{robust}");
    for (name, interval, note) in [
        ("slope", found.line.slope, of_slope.as_str()),
        ("intercept", found.line.intercept, "0 is ideal"),
        (
            "in the large",
            found.line.intercept_in_the_large,
            "intercept at slope 1; above 0: probabilities are too low",
        ),
    ] {
        if let Some(interval) = interval {
            let note = format!("{} {note}", ends(Some(&interval)));
            group.add(name, interval.value, note);
        } else {
            let none = [
                name.to_owned(),
                "-".to_owned(),
                "nothing finite fits best".to_owned(),
            ];
            group.rows.push(none);
        }
    }
}

fn parts(group: &mut Group, name: &str, parts: &Decomposition) {
    group.add(
        &format!("{name}, in parts"),
        parts.loss,
        format!(
            "= {} miscalibration - {} discrimination + {} uncertainty",
            decimal(parts.miscalibration),
            decimal(parts.discrimination),
            decimal(parts.uncertainty)
        ),
    );
}

fn tests(out: &mut impl Write, found: &Calibration) -> Result<(), CliError> {
    let mut group = Group::new("tests of calibration");
    let mut add = |name: &str, test: Option<TestResult>| {
        if let Some(test) = test {
            let note = format!("p = {}", p_value(test.p_value));
            group.add(name, test.statistic, note);
        }
    };
    add("Spiegelhalter z", found.spiegelhalter);
    add("Kolmogorov-Smirnov", found.kolmogorov_smirnov);
    add("Kuiper", found.kuiper);
    if group.rows.is_empty() {
        return Ok(());
    }
    group.write(out)
}

fn p_value(value: f64) -> String {
    if value < 1e-4 {
        format!("{value:.1e}")
    } else {
        decimal(value)
    }
}

fn classes(out: &mut impl Write, evaluation: &Evaluation) -> Result<(), CliError> {
    let header = [
        "class",
        "documents",
        "predicted",
        "precision",
        "recall",
        "F1",
        "y/n log loss",
        "y/n Brier",
        "AUC",
        "AP",
        "y/n ECE",
    ];
    let mut rows = table(&header, 1);
    let or_dash = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), decimal);
    for class in &evaluation.classes {
        rows.add_row(vec![
            class.label.clone(),
            class.positives.to_string(),
            class.predicted.to_string(),
            or_dash(class.precision),
            or_dash(class.recall),
            or_dash(class.f1),
            decimal(class.log_loss),
            decimal(class.brier),
            or_dash(class.auc),
            or_dash(class.average_precision),
            or_dash(class.ece),
        ]);
    }
    writeln!(out, "\n{rows}")?;
    if evaluation.classes.len() > 1 {
        writeln!(out, "y/n: each class against the rest")?;
    }
    Ok(())
}
