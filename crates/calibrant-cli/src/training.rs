//! What a model remembers of its training, as text: for `fit`, `combine` and `inspect`.

use std::io::Write;

use calibrant::Task;
use calibrant::calibration::MulticlassKind;
use calibrant::jobs::{ClassFit, class_fits};
use calibrant::multiclass::CodeMatrix;
use calibrant::pipeline::{
    Acquaintance, CalibrationNote, SingleModel, TrainingSummary, TriedSettings, TriedWeighting,
};

use crate::error::CliError;
use crate::output::{count_of, loss_unit, warn};
use crate::table::{decimal, table};

/// Says of how many test documents the measures are too good, if there are any.
pub(crate) fn warn_known(name: &str, known: &Acquaintance) -> Option<String> {
    let count = known.learned_from()?;
    let message = format!(
        "{name} learned from about {count} of these {}: its results on those are too good",
        count_of(known.documents, "document")
    );
    warn(&message);
    Some(message)
}

/// Fewer different texts than this, each coming so often, may be a list to choose from.
const FEW_TEXTS: usize = 50;
const TIMES_EACH: usize = 10;

/// What was one document, and what belonged together.
pub(crate) fn write_copies(
    out: &mut impl Write,
    summary: &TrainingSummary,
) -> Result<(), CliError> {
    if summary.copies > 0 {
        let are = match summary.copies {
            1 => "1 of them is a copy of another".to_owned(),
            more => format!("{more} of them are copies of others"),
        };
        let different = summary.documents - summary.copies.min(summary.documents);
        writeln!(
            out,
            "{are}: {} distinct {}, each weighted by its copies",
            different,
            if different == 1 {
                "document"
            } else {
                "documents"
            },
        )?;
        if different < FEW_TEXTS && summary.documents >= TIMES_EACH * different {
            writeln!(
                out,
                "each was held out whole, with all its labels, so the probabilities are for texts never seen before; if the same texts will recur, use --categorical instead of --text for their field"
            )?;
        }
    }
    if let Some(groups) = summary.groups {
        writeln!(out, "{groups} groups, none split between folds")?;
    }
    Ok(())
}

/// Which weighting of terms was chosen, and against which others.
pub(crate) fn write_weightings(
    out: &mut impl Write,
    summary: &TrainingSummary,
) -> Result<(), CliError> {
    let tried = &summary.weightings;
    let Some(chosen) = tried.iter().find(|tried| tried.chosen) else {
        return Ok(());
    };
    let name = |tried: &TriedWeighting| {
        let name = tried.weighting.short_name();
        match tried.min_documents {
            0 | 1 => name.to_owned(),
            least => format!("{name} of terms in {least} documents"),
        }
    };
    let others = tried.iter().filter(|tried| !tried.chosen);
    let others: Vec<String> = others
        .map(|tried| format!("{} {}", name(tried), decimal(tried.log_loss)))
        .collect();
    writeln!(
        out,
        "term weighting: {} ({}: {}; {}); {} is kept unless another is better by a standard error",
        name(chosen),
        trials_on(chosen.documents, summary),
        decimal(chosen.log_loss),
        others.join(", "),
        tried.first().map(name).unwrap_or_default(),
    )?;
    Ok(())
}

/// What the log losses of trials are of.
fn trials_on(documents: usize, summary: &TrainingSummary) -> String {
    let curves = match summary.task {
        Task::SingleLabel => "one curve for all classes",
        Task::MultiLabel => "a line for each label",
    };
    let documents = count_of(documents, "document");
    format!("held-out log loss of trials on {documents}, with {curves}")
}

/// Which cost of errors was chosen, and against which others.
pub(crate) fn write_costs(out: &mut impl Write, summary: &TrainingSummary) -> Result<(), CliError> {
    let tried = &summary.costs;
    let (Some(chosen), Some(usual)) = (tried.iter().find(|tried| tried.chosen), tried.first())
    else {
        return Ok(());
    };
    let others = tried.iter().filter(|tried| !tried.chosen);
    let others: Vec<String> = others
        .map(|tried| format!("{} {}", tried.c, decimal(tried.log_loss)))
        .collect();
    writeln!(
        out,
        "cost of errors C: {} ({}: {}; {}); {} is kept unless a larger one is better by a standard error",
        chosen.c,
        trials_on(chosen.documents, summary),
        decimal(chosen.log_loss),
        others.join(", "),
        usual.c,
    )?;
    Ok(())
}

/// The code in a line.
pub(crate) fn describe_code(code: &CodeMatrix, model: &SingleModel) -> String {
    let separation = code.separation();
    let settings = model.settings().code.unwrap_or_default();
    format!(
        "output code {}: {} columns, rows {} and columns at least {} places apart; decoded by {}",
        settings.design.name(),
        code.length(),
        separation.rows,
        separation.columns,
        settings.decode.name(),
    )
}

/// What a search ended with and what it expects beside the default, in a line.
pub(crate) fn searched_for(summary: &TrainingSummary) -> String {
    let chosen = summary.search.iter().filter(|tried| tried.chosen).count();
    let found = match chosen {
        1 => "one fit alone".to_owned(),
        _ => format!("a pool of {chosen}"),
    };
    let default = summary.search_default;
    let default = default.and_then(|place| summary.search.get(place));
    if let Some(failure) = default.and_then(|tried| tried.failure.as_ref()) {
        let unit = loss_unit(summary.held_out.log_loss_over);
        return format!(
            "{found} (marked *), since the default could not be fitted ({failure}): expected log loss {:.5} nats per {unit}",
            summary.held_out.log_loss,
        );
    }
    let Some(gain) = summary.search_gain else {
        return "the default (marked *): no trial was better".to_owned();
    };
    let per_cent = |part: f64| 100.0 * part / gain.default_log_loss;
    let lower = per_cent(gain.default_log_loss - gain.log_loss);
    let measured = format!(
        "expected log loss {:.5} nats per {}, {:.1} % {} than the default's {:.5} (standard error {:.1} %)",
        gain.log_loss,
        loss_unit(summary.held_out.log_loss_over),
        lower.abs(),
        if lower < 0.0 { "higher" } else { "lower" },
        gain.default_log_loss,
        per_cent(gain.standard_error),
    );
    if gain.is_clear() {
        format!("{found} (marked *): {measured}")
    } else {
        format!(
            "the default (marked *), since the best alternative is not clearly better: {measured}"
        )
    }
}

/// What a search tried, in order; `seconds` where they are known.
pub(crate) fn write_trials(
    out: &mut impl Write,
    trials: &[TriedSettings],
    seconds: Option<&[f64]>,
) -> Result<(), CliError> {
    let mut header = vec![
        "",
        "learner",
        "terms",
        "weighting",
        "documents",
        "trial's log loss",
    ];
    header.extend(seconds.map(|_| "seconds"));
    let mut rows = table(&header, 4);
    for (place, tried) in trials.iter().enumerate() {
        let mark = if tried.chosen { "*" } else { "" };
        let mut row = vec![
            mark.to_owned(),
            tried.learner_name(),
            tried.terms_name(),
            tried.weighting_name(),
            tried.documents.to_string(),
            match (tried.log_loss, &tried.failure) {
                (Some(loss), _) => format!("{loss:.5}"),
                (None, Some(failure)) => failure.clone(),
                (None, None) => "not finite".to_owned(),
            },
        ];
        row.extend(seconds.and_then(|seconds| Some(format!("{:.2}", seconds.get(place)?))));
        rows.add_row(row);
    }
    writeln!(out, "{rows}")?;
    Ok(())
}

/// How all classes came to probabilities together, and how much each way counts.
pub(crate) fn write_multiclass(
    out: &mut impl Write,
    summary: &TrainingSummary,
) -> Result<(), CliError> {
    let Some(multiclass) = &summary.multiclass else {
        return Ok(());
    };
    let tried: Vec<String> = multiclass
        .tried
        .iter()
        .map(|tried| {
            let name = match tried.curves {
                Some(curves) => format!("{} by {}", tried.kind.name(), curves.name()),
                None => tried.kind.name().to_owned(),
            };
            match tried.weight {
                _ if tried.kind == MulticlassKind::SecondPass => {
                    format!("then {name} {:.5}", tried.log_loss)
                }
                0.0 => format!("{name} {:.5}", tried.log_loss),
                weight => format!("{name} {:.5} × {weight:.2}", tried.log_loss),
            }
        })
        .collect();
    writeln!(
        out,
        "classes together: {} (held-out log loss of each method alone × its weight: {})",
        multiclass.chosen.name(),
        tried.join(", ")
    )?;
    Ok(())
}

/// How the curve of each class came about.
pub(crate) fn write_classes(
    out: &mut impl Write,
    summary: &TrainingSummary,
) -> Result<(), CliError> {
    let fits = class_fits(summary);
    let with_losses = fits.iter().any(|fit| fit.own_log_loss.is_some());
    let mut header = vec!["class", "calibrator", "documents"];
    if with_losses {
        let weighed = |fit: &ClassFit<'_>| fit.class.calibration == CalibrationNote::Weighed;
        let loss = match fits.iter().any(weighed) {
            true => "its own curve's yes/no held-out log loss",
            false => "yes/no held-out log loss",
        };
        header.extend([loss, "next best"]);
    }
    let mut rows = table(&header, 2);
    for fit in &fits {
        let mut row = vec![
            fit.class.label.clone(),
            shown_curve(fit, summary),
            fit.class.positives.to_string(),
        ];
        if with_losses {
            let loss = fit.own_log_loss.map(|loss| format!("{loss:.5}"));
            let next = fit.next_best.map(|next| {
                let remark = if next.margin < 0.0 {
                    ", not significant"
                } else {
                    ""
                };
                format!("{} {:+.5}{remark}", next.method.name(), next.margin)
            });
            row.extend([loss.unwrap_or_default(), next.unwrap_or_default()]);
        }
        rows.add_row(row);
    }
    writeln!(out, "\n{rows}")?;
    Ok(())
}

/// The method of a class, and where its curve comes from.
fn shown_curve(fit: &ClassFit<'_>, summary: &TrainingSummary) -> String {
    let class = fit.class;
    let note = match class.calibration {
        CalibrationNote::Own => String::new(),
        CalibrationNote::Weighed => match class.own_weight {
            Some(own) => format!(" × {own:.2}, common curve × {:.2}", 1.0 - own),
            None => String::new(),
        },
        CalibrationNote::Common => "common curve".to_owned(),
        CalibrationNote::Pooled => "borrowed".to_owned(),
        CalibrationNote::Drawn if fit.lacks_folds => " (held out together)".to_owned(),
        CalibrationNote::Drawn => " (few positives)".to_owned(),
        CalibrationNote::Guess => " (a guess)".to_owned(),
        CalibrationNote::MadeToRise => " (made to increase)".to_owned(),
        CalibrationNote::PriorOnly => " (prior only)".to_owned(),
        CalibrationNote::Joint => " (all classes together)".to_owned(),
    };
    // A class has no calibrator of its own where there is one for all.
    let method = match (class.calibration, &summary.multiclass) {
        (CalibrationNote::Joint, Some(joint)) => joint.chosen.name(),
        (CalibrationNote::Common | CalibrationNote::Pooled, _) => "",
        _ => class.calibrator.name(),
    };
    format!("{method}{note}")
}
