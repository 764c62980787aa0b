//! What `calibrant fit` says of a fit.

use std::io::Write;

use calibrant::calibration::MulticlassKind;
use calibrant::corpus::ReadSummary;
use calibrant::jobs::{ClassFit, FitReport, FittedModel, class_fits};
use calibrant::pipeline::{CalibrationNote, TrainingSummary};
use calibrant::scorers::SavedScorer;

use crate::arguments::FitArguments;
use crate::combine::write_members;
use crate::error::CliError;
use crate::labels::{note_unlabelled, warn_alike};
use crate::output::{SavedReport, count_of, loss_unit, print_json, stdout, warn, wrote};
use crate::table::decimal;
use crate::training::{
    describe_code, searched_for, write_classes, write_copies, write_costs, write_multiclass,
    write_trials, write_weightings,
};

/// Says what was fitted, and what to beware of.
pub(crate) fn report(arguments: &FitArguments, fitted: &FittedModel) -> Result<(), CliError> {
    let summary = fitted.model.summary();
    warn_bad_rows(&fitted.read);
    note_unlabelled(&fitted.read, summary.task);
    let classes = summary.classes.iter();
    warn_alike(classes.map(|class| (class.label.as_str(), class.positives)));
    warn_of_training(arguments, summary);
    if arguments.json {
        return print_json(&SavedReport::new(&arguments.output, FitReport::of(fitted))?);
    }
    let mut out = stdout();
    if let Some(search) = &fitted.search {
        let seconds: Vec<f64> = search.trials.iter().map(|trial| trial.seconds).collect();
        write_trials(&mut out, &summary.search, Some(&seconds))?;
        writeln!(out, "\n{}", searched_for(summary))?;
    }
    write_heading(&mut out, fitted)?;
    write_held_out(&mut out, summary)?;
    match fitted.model.as_combined() {
        Some(pool) => write_members(&mut out, pool)?,
        None => {
            write_multiclass(&mut out, summary)?;
            write_classes(&mut out, summary)?;
        }
    }
    write_few_positives(&mut out, summary)?;
    warn_of_one_fold(summary);
    writeln!(out, "\n{}", wrote(&arguments.output)?)?;
    Ok(out.flush()?)
}

fn warn_of_training(arguments: &FitArguments, summary: &TrainingSummary) {
    if let (Some(field), None) = (&arguments.training.group, summary.groups) {
        warn(&format!(
            "no document has a value in `{field}`: documents are not grouped"
        ));
    }
    for class in summary.not_converged() {
        let end = class
            .convergence
            .map_or((0, 0.0), |end| (end.passes, end.relative_gap));
        warn(&format!(
            "class `{}` did not converge: relative gap {:.1e} after {} passes; raise --max-passes or lower --c",
            class.label, end.1, end.0
        ));
    }
}

/// What was learned from what.
fn write_heading(out: &mut impl Write, fitted: &FittedModel) -> Result<(), CliError> {
    let (model, summary) = (&fitted.model, fitted.model.summary());
    writeln!(
        out,
        "{} on {}, {} classes ({}), {} features; {}-fold held-out calibration",
        model.learner_name(),
        count_of(summary.documents, "document"),
        summary.classes.len(),
        summary.task,
        summary.features,
        summary.folds,
    )?;
    if let Some(model) = model.as_single()
        && let SavedScorer::OutputCodes(coded) = model.scorer()
    {
        writeln!(out, "{}", describe_code(coded.decoder().code(), model))?;
    }
    write_copies(out, summary)?;
    if summary.documents_left_out > 0 {
        writeln!(
            out,
            "left out because they have none of the classes: {}",
            count_of(summary.documents_left_out, "document")
        )?;
    }
    write_weightings(out, summary)?;
    write_costs(out, summary)
}

/// What to expect.
fn write_held_out(out: &mut impl Write, summary: &TrainingSummary) -> Result<(), CliError> {
    let held_out = &summary.held_out;
    let weighed = summary.multiclass.as_ref();
    let weighed = weighed.is_some_and(|joint| joint.chosen == MulticlassKind::Auto);
    // Where the search is not clearly better, the default is served, with figures of its own.
    let found = summary.search_gain.is_some_and(|gain| gain.is_clear());
    let of_what = match (found, weighed) {
        (true, _) => "on documents that took no part in the choice",
        (false, true) => "with pool weights fitted without the document's fold",
        (false, false) => "the final model",
    };
    let accuracy = held_out
        .accuracy
        .map(|accuracy| format!("accuracy {}, ", decimal(accuracy)))
        .unwrap_or_default();
    writeln!(
        out,
        "held-out performance ({of_what}): {accuracy}micro-F1 {}, macro-F1 {}, log loss {} nats per {}, Brier {}, ECE {}",
        decimal(held_out.micro_f1),
        decimal(held_out.macro_f1),
        decimal(held_out.log_loss),
        loss_unit(held_out.log_loss_over),
        decimal(held_out.brier),
        decimal(held_out.ece),
    )?;
    Ok(())
}

/// Classes of which nothing could be held out fairly.
fn warn_of_one_fold(summary: &TrainingSummary) {
    let classes = summary.classes.iter().filter(|class| class.in_one_fold);
    let names: Vec<&str> = classes.map(|class| class.label.as_str()).collect();
    if !names.is_empty() {
        warn(&format!(
            "all documents of these classes were held out together, as copies or as one group, so their calibration is untested: {}",
            names.join(", ")
        ));
    }
}

/// What is said of classes without a curve of their own, by why they have none; and whether it is so since all were held out
/// together, where there are two reasons.
const CURVE_NOTES: [(CalibrationNote, Option<bool>, &str); 7] = [
    (
        CalibrationNote::Pooled,
        Some(true),
        "all held out together, so no curve of its own could be tested: calibrated with the help of other classes",
    ),
    (
        CalibrationNote::Drawn,
        Some(true),
        "all held out together, so no curve could be tested: the slope is shrunk towards a typical value",
    ),
    (
        CalibrationNote::Pooled,
        Some(false),
        "too few positives for a curve of its own, calibrated with the help of other classes",
    ),
    (
        CalibrationNote::Drawn,
        Some(false),
        "few positives: the slope is shrunk towards a typical value",
    ),
    (
        CalibrationNote::Guess,
        None,
        "one or two positives: how fast the probability rises with the score is a guess",
    ),
    (
        CalibrationNote::MadeToRise,
        None,
        "held-out documents of the class score lower than others, so the slope of its curve is unknown; it is set to increase slightly",
    ),
    (
        CalibrationNote::PriorOnly,
        None,
        "the scores carry no information: every document gets the class prior",
    ),
];

/// Which classes have no curve of their own, why, and what their probabilities rest on.
fn write_few_positives(out: &mut impl Write, summary: &TrainingSummary) -> Result<(), CliError> {
    let folds = summary.folds;
    let fits: Vec<ClassFit<'_>> = class_fits(summary);
    for (note, together, meaning) in CURVE_NOTES {
        let classes: Vec<&str> = fits
            .iter()
            .filter(|fit| fit.class.calibration == note && !fit.is_other_side)
            .filter(|fit| together.is_none_or(|wanted| fit.lacks_folds == wanted))
            .map(|fit| fit.class.label.as_str())
            .collect();
        if !classes.is_empty() {
            writeln!(out, "\n{meaning} ({folds} folds): {}", classes.join(", "))?;
        }
    }
    let rare: Vec<String> = summary
        .noted(CalibrationNote::Joint)
        .filter(|class| class.positives < folds)
        .map(|class| format!("{} ({})", class.label, class.positives))
        .collect();
    if !rare.is_empty() {
        let more = match rare.len().saturating_sub(RARE_SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        writeln!(
            out,
            "\nfewer documents than folds: these classes use the curve for all classes, hardly tested on their own documents ({folds} folds): {}{more}",
            rare[..rare.len().min(RARE_SHOWN)].join(", ")
        )?;
    }
    Ok(())
}

/// How many classes with hardly any documents are named.
const RARE_SHOWN: usize = 20;

/// Says which rows were skipped.
pub(crate) fn warn_bad_rows(read: &ReadSummary) {
    if read.bad_row_count > 0 {
        warn(&match read.bad_row_count {
            1 => "1 malformed row was skipped:".to_owned(),
            more => format!("{more} malformed rows were skipped; the first:"),
        });
        for row in read.bad_rows.iter().take(3) {
            warn(&format!("  {row}"));
        }
    }
}
