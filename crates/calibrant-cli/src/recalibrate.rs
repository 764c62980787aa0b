//! `calibrant recalibrate`

use std::io::Write;

use calibrant::corpus::Fields;
use calibrant::jobs::{
    RecalibrateJobError, RecalibrateReport, RecalibratedModel, recalibrate_source,
};
use calibrant::pipeline::{
    Model, ModelRecalibration, RecalibrateError, RecalibrateSettings, TrainingSummary,
};

use crate::arguments::{FoldArguments, RecalibrateArguments};
use crate::error::CliError;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::labels::note_unlabelled;
use crate::output::{
    SavedReport, check_target, count_of, loss_unit, print_json, stdout, unknown_label_notes, warn,
    wrote,
};
use crate::progress::TerminalProgress;
use crate::table::table;
use crate::training::warn_known;

/// Classes that are listed, those that moved most.
const MOST_CLASSES: usize = 20;

pub(crate) fn run(arguments: &RecalibrateArguments) -> Result<(), CliError> {
    let held_out = &arguments.held_out;
    let FoldArguments { folds, seed } = held_out.folds;
    if !(2..=255).contains(&folds) {
        return Err(
            CliError::new(format!("--folds must be 2 to 255, not {folds}"))
                .hint("leave it out for 10"),
        );
    }
    check_target(&arguments.output, &arguments.file)?;
    let model = Model::open(&arguments.model)?;
    let options = held_out.options(&Fields::default());
    let settings = RecalibrateSettings { folds, seed };
    let found = recalibrate_source(
        model,
        &input::source(&arguments.file),
        &options,
        &settings,
        held_out.even_if_learned_from,
        &TerminalProgress::default(),
    )?;
    warn_bad_rows(&found.read);
    note_unlabelled(&found.read, found.recalibrated.model.task());
    let fate = ["takes no part", "take no part"];
    for note in unknown_label_notes(&found.unknown_labels, found.left_out, "model", fate) {
        warn(&note);
    }
    warn_known("the model", &found.known);
    found.recalibrated.model.save(&arguments.output)?;
    report(arguments, &found)
}

impl From<RecalibrateJobError> for CliError {
    fn from(error: RecalibrateJobError) -> Self {
        match error {
            RecalibrateJobError::Read(error) => error.into(),
            RecalibrateJobError::Recalibrate(RecalibrateError::Fit(error)) => error.into(),
            RecalibrateJobError::Recalibrate(error) => CliError::new(error.to_string())
                .hint("label more documents, drawn at random from those to come"),
            error => CliError::new(error.to_string()).hint(
                "label documents that came after the fit; --even-if-learned-from continues anyway",
            ),
        }
    }
}

fn report(arguments: &RecalibrateArguments, found: &RecalibratedModel) -> Result<(), CliError> {
    let report = RecalibrateReport::of(found);
    if arguments.json {
        return print_json(&SavedReport::new(&arguments.output, report)?);
    }
    let mut out = stdout();
    let mut of = count_of(report.documents, "new labelled document");
    if report.copies > 0 {
        of.push_str(&format!(
            ", {} of them copies, which count once",
            report.copies
        ));
    }
    if let Some(groups) = report.groups {
        of.push_str(&format!(", {groups} groups, none split between folds"));
    }
    writeln!(out, "{of}")?;
    let unit = loss_unit(report.log_loss_over);
    writeln!(
        out,
        "log loss {:.4} nats per {unit} before, {:.4} after (on labels that took no part, {} folds; standard error of the difference {:.4})",
        report.log_loss_before, report.log_loss_after, report.folds, report.standard_error
    )?;
    if report.changed {
        writeln!(out, "log-odds × {:.3}, then by class", report.slope)?;
        let mut rows = table(&["class", "new documents", "log-odds"], 1);
        let mut classes = report.classes.clone();
        classes.sort_by(|a, b| b.intercept.abs().total_cmp(&a.intercept.abs()));
        for class in classes.iter().take(MOST_CLASSES) {
            rows.add_row(vec![
                class.label.to_owned(),
                class.documents.to_string(),
                format!("{:+.3}", class.intercept),
            ]);
        }
        writeln!(out, "\n{rows}")?;
        if classes.len() > MOST_CLASSES {
            writeln!(
                out,
                "… and {} that moved less",
                classes.len() - MOST_CLASSES
            )?;
        }
    } else {
        writeln!(
            out,
            "the old probabilities are kept: what these labels suggest is not clearly better on labels that took no part"
        )?;
    }
    let unchanged = if report.changed { "" } else { ", unchanged" };
    writeln!(out, "\n{}{unchanged}", wrote(&arguments.output)?)?;
    Ok(out.flush()?)
}

/// What new labels made of a model, for `inspect`.
pub(crate) fn write_recalibration(
    out: &mut impl Write,
    recalibration: Option<&ModelRecalibration>,
    summary: &TrainingSummary,
) -> Result<(), CliError> {
    let Some(own) = recalibration else {
        return Ok(());
    };
    let times = match own.times {
        1 => String::new(),
        times => format!(" {times} times, last"),
    };
    writeln!(
        out,
        "\nrecalibrated{times} on {} (calibrant {}): log loss {:.4} before, {:.4} after; log-odds × {:.3}",
        count_of(own.documents, "document"),
        own.calibrant_version,
        own.log_loss_before,
        own.log_loss_after,
        own.correction.slope()
    )?;
    let mut rows = table(&["class", "log-odds", "share"], 1);
    let moved = own.correction.intercepts().iter().zip(&own.shares);
    for (class, (intercept, share)) in summary.classes.iter().zip(moved) {
        rows.add_row(vec![
            class.label.clone(),
            format!("{intercept:+.3}"),
            format!("{share:.4}"),
        ]);
    }
    writeln!(out, "{rows}")?;
    Ok(())
}
