//! What `calibrate` says: one set of results, as text or as JSON.

use std::io::Write;
use std::path::Path;

use calibrant::calibration::{MulticlassKind, ScoreScale};
use calibrant::evaluation::{BesidePerfect, Evaluation};
use calibrant::jobs::{
    CalibrateReport, MeasuredOn, MeasuredScores, PriorReport, TriedCalibration, tried_calibrations,
};
use calibrant::pipeline::ScoreCalibrator;
use comfy_table::CellAlignment;

use crate::error::CliError;
use crate::output::count_of;
use crate::table::{decimal, table};

pub(super) struct Report<'a> {
    pub(super) calibrator: &'a ScoreCalibrator,
    pub(super) measured: Option<&'a MeasuredScores>,
    /// Of the examples that measures are of.
    pub(super) measured_prior: Option<PriorReport>,
    /// What was guessed, and what to beware of.
    pub(super) notes: &'a [String],
    pub(super) rows_predicted: Option<u64>,
    /// Of the examples that predictions were made for.
    pub(super) prior: Option<PriorReport>,
    pub(super) output: Option<&'a Path>,
    pub(super) predictions: Option<&'a Path>,
}

/// The held-out log loss of a method as a person reads it.
pub(super) fn shown_loss(tried: &TriedCalibration<'_>) -> String {
    match tried.log_loss {
        Some(log_loss) => format!("{log_loss:.5}"),
        None => "–".to_owned(),
    }
}

/// The margin with as many digits as it needs, or the weight.
pub(super) fn shown_margin(tried: &TriedCalibration<'_>) -> String {
    match (tried.chosen, tried.weight, tried.margin) {
        (true, ..) => "chosen".to_owned(),
        _ if tried.log_loss.is_none() => {
            "dropped: not significantly ahead even on the examples it was fitted to".to_owned()
        }
        (_, Some(0.0), _) => "left out".to_owned(),
        (_, Some(_), _) if tried.method == MulticlassKind::SecondPass.name() => {
            "over what the others say".to_owned()
        }
        (_, Some(weight), _) => format!("weight {weight:.2}"),
        (_, None, Some(margin)) if margin.abs() < 1e-4 => format!("{margin:+.1e}"),
        (_, None, Some(margin)) => format!("{margin:+.5}"),
        (_, None, None) => String::new(),
    }
}

impl Report<'_> {
    pub(super) fn write_json(&self, out: &mut impl Write) -> Result<(), CliError> {
        let mut report = CalibrateReport::of(self.calibrator, self.measured);
        if let Some(measures) = &mut report.measures {
            measures.prior = self.measured_prior.as_ref();
        }
        report.notes = self.notes;
        report.rows_predicted = self.rows_predicted;
        report.prior_of_predictions = self.prior.as_ref();
        serde_json::to_writer(&mut *out, &report)?;
        Ok(writeln!(out)?)
    }

    pub(super) fn write_text(&self, out: &mut impl Write) -> Result<(), CliError> {
        write_origin(out, self.calibrator)?;
        if let Some(measured) = self.measured {
            writeln!(out, "\n{}", heading(self.calibrator, measured))?;
            if let Some(said) = self.measured_prior.as_ref().and_then(PriorReport::sentence) {
                writeln!(out, "{said}")?;
            }
            let mut rows = table(&["measure", "before", "after", ""], 1);
            for (name, before, after, remark) in measures(self.calibrator, measured) {
                rows.add_row(vec![name, before, after, remark]);
            }
            if let Some(remarks) = rows.column_mut(3) {
                remarks.set_cell_alignment(CellAlignment::Left);
            }
            writeln!(out, "\n{rows}")?;
        }
        if let (Some(path), Some(rows)) = (self.predictions, self.rows_predicted) {
            writeln!(out, "\nwrote {} ({rows} examples)", path.display())?;
        }
        if let Some(path) = self.output {
            writeln!(out, "\nwrote {}", path.display())?;
        }
        Ok(())
    }
}

/// What was fitted, to what, and chosen among what.
pub(crate) fn write_origin(
    out: &mut impl Write,
    calibrator: &ScoreCalibrator,
) -> Result<(), CliError> {
    let summary = calibrator.summary();
    let classes = calibrator.classes();
    let of_classes = if calibrator.is_binary() {
        format!(
            "{} of them `{}`, the others `{}`",
            summary.class_counts[1], classes[1], classes[0]
        )
    } else {
        format!("{} classes", classes.len())
    };
    let whose = match calibrator.outputs() {
        [positive] => format!("the probability of `{positive}`"),
        _ => "the probability of each class".to_owned(),
    };
    let examples = count_of(summary.examples, "example");
    if calibrator.is_identity() {
        writeln!(
            out,
            "{whose} as the scores state it; nothing was fitted ({examples}, {of_classes})"
        )?;
    } else {
        writeln!(
            out,
            "{whose} by {}, fitted to {examples} ({of_classes})",
            summary.method
        )?;
    }
    let loss = match calibrator.is_identity() {
        true => "log loss",
        false => "cross-validated log loss",
    };
    let mut rows = table(&["method", loss, "margin"], 1);
    for tried in tried_calibrations(calibrator) {
        rows.add_row(vec![
            tried.method.to_owned(),
            shown_loss(&tried),
            shown_margin(&tried),
        ]);
    }
    writeln!(out, "\n{rows}")?;
    Ok(())
}

pub(super) fn heading(calibrator: &ScoreCalibrator, measured: &MeasuredScores) -> String {
    let examples = count_of(measured.after.documents, "example");
    let file = &measured.file;
    let weighed = calibrator
        .summary()
        .tried
        .iter()
        .any(|way| way.weight.is_some());
    match measured.on {
        MeasuredOn::CrossValidation if calibrator.is_identity() => {
            format!("measured on the {examples} of {file}: nothing was fitted to them")
        }
        MeasuredOn::CrossValidation if weighed => format!(
            "cross-validated on the {examples} of {file}: each is forecast by curves and weights fitted to the other folds"
        ),
        MeasuredOn::CrossValidation => format!(
            "cross-validated on the {examples} of {file}: each is forecast by a curve fitted to the other folds"
        ),
        MeasuredOn::Test => format!("measured on the {examples} of {file}"),
    }
}

/// Name, before, after, and a remark.
pub(super) type MeasureRow = (String, String, String, String);

/// The measures of both, each under the name that every command has for it.
pub(super) fn measures(calibrator: &ScoreCalibrator, measured: &MeasuredScores) -> Vec<MeasureRow> {
    let (before, after) = (&measured.before, &measured.after);
    let row = |name: &str, of: &dyn Fn(&Evaluation) -> String, remark: String| {
        (name.to_owned(), of(before), of(after), remark)
    };
    let mut rows = vec![
        row(
            "log loss",
            &|e| decimal(e.log_loss),
            raw(calibrator, measured),
        ),
        row("Brier", &|e| decimal(e.brier), String::new()),
        row(
            "ECE",
            &|e| decimal(e.ece),
            format!(
                "of the most probable class; {} in a perfect forecaster of this size",
                decimal(after.ece_of_perfect)
            ),
        ),
    ];
    if let Some(positive) = positive_ece(after) {
        let name = format!("ECE of `{}`", calibrator.classes()[1]);
        let of = |e: &Evaluation| positive_ece(e).map_or("–".into(), |ece| decimal(ece.value));
        let remark = format!(
            "{} in a perfect forecaster of this size",
            decimal(positive.of_perfect)
        );
        rows.push(row(&name, &of, remark));
    }
    rows.push(row(
        "errors",
        &|e| e.errors.to_string(),
        if calibrator.is_binary() {
            "deciding at one half".to_owned()
        } else {
            "choosing the most probable class".to_owned()
        },
    ));
    rows
}

/// The calibration error of the positive class's probability, where there are two classes.
fn positive_ece(evaluation: &Evaluation) -> Option<BesidePerfect> {
    let further = evaluation.further.as_ref()?;
    Some(further.calibration_of_second.as_ref()?.ece_equal_mass)
}

fn raw(calibrator: &ScoreCalibrator, measured: &MeasuredScores) -> String {
    let what = match (calibrator.scale(), calibrator.is_binary()) {
        (ScoreScale::Number, true) => "the score read as log-odds".to_owned(),
        (ScoreScale::Number, false) => "the softmax of the scores".to_owned(),
        _ => {
            let ends = measured.stated.as_ref();
            let count = ends.map_or(0, |ends| ends.zeros + ends.ones);
            match count {
                0 => "the probabilities as given".to_owned(),
                some => format!("the probabilities as given, except {some} of 0 or 1"),
            }
        }
    };
    format!("nats per example; before: {what}")
}
