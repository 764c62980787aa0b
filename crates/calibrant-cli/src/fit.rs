//! `calibrant fit`

use std::io::Write;

use calibrant::calibration::MulticlassKind;
use calibrant::corpus::{LabelNeed, ReadSummary, read_batches};
use calibrant::multiclass::CodeMatrix;
use calibrant::pipeline::{
    Acquaintance, CalibrationNote, ClassSummary, DocumentCounter, FitSettings, Found, LeftOut,
    Model, SearchCounter, SearchSettings, SingleModel, TrainingCorpus, TrainingSummary, Trial,
    TriedSettings, TriedWeighting, fit, search,
};
use calibrant::rules::RuleSet;
use calibrant::scorers::SavedScorer;
use calibrant::{FitError, Task};

use crate::arguments::FitArguments;
use crate::combine::write_members;
use crate::error::CliError;
use crate::input;
use crate::output::{check_target, count_of, note, stdout, warn};
use crate::progress::TerminalProgress;
use crate::rules::{self, RulesFile};
use crate::side_columns;
use crate::table::{decimal, table};

pub(crate) fn run(arguments: &FitArguments) -> Result<(), CliError> {
    let rules = arguments.features.rules.as_deref();
    let rules = rules.map(rules::read).transpose()?;
    let settings = settings(arguments, rules.as_ref())?;
    settings.check().map_err(|error| match error {
        FitError::Rules(error) => rules::mistake(arguments.features.rules.as_deref(), &error),
        error => error.into(),
    })?;
    check_target(&arguments.output, &arguments.file)?;
    let fields = side_columns::fields(arguments, rules.as_ref().map(|rules| &rules.set))?;
    let options = arguments
        .reading
        .options(fields.clone(), LabelNeed::Required);
    let progress = TerminalProgress::default();
    let source = input::source(&arguments.file);
    let (model, read, searched) = if arguments.search.search {
        let plan = search_settings(arguments);
        let counter = SearchCounter::new(&settings)?.within(plan.time_budget);
        let mut corpus = counter.corpus(&settings);
        let read = read_batches(
            &source,
            &options,
            &progress,
            |documents| counter.count(documents),
            |batch| corpus.add(batch),
        )?;
        let found = search(corpus, &fields, &settings, &plan, &progress)?;
        note_untried(&found);
        (found.model, read, Some(found.trials))
    } else {
        let counter = DocumentCounter::new(&settings)?;
        let mut corpus = TrainingCorpus::new(settings.column_space());
        let read = read_batches(
            &source,
            &options,
            &progress,
            |documents| counter.count(documents),
            |batch| corpus.add(batch),
        )?;
        (fit(corpus, fields, &settings, &progress)?, read, None)
    };
    if let Some(rules) = &rules {
        warn_idle_rules(&rules.set, &model);
    }
    model.save(&arguments.output)?;
    report(arguments, &model, &read, searched.as_deref())
}

/// What a search had no time or no room for.
fn note_untried(found: &Found) {
    if found.out_of_time {
        note("the time was up before all was tried; --time-budget SECONDS gives more");
    }
    for left_out in &found.left_out {
        let because = match left_out.because {
            LeftOut::NoTime => {
                "counting them took too much of the time; --time-budget SECONDS gives more"
            }
            _ => "there are too many of them in these documents",
        };
        note(&format!("{} were not tried: {because}", left_out.terms));
    }
}

/// What was given is kept, all else may be tried.
fn search_settings(arguments: &FitArguments) -> SearchSettings {
    let usual = SearchSettings::default();
    SearchSettings {
        learners: arguments.learning.contenders(),
        weighting: arguments.features.asked_weighting(),
        l2_norm: arguments.features.l2_norm,
        time_budget: arguments.search.time_budget.unwrap_or(usual.time_budget),
        ..usual
    }
}

/// A rule for what is no class can help other classes, but is more often a misspelling.
fn warn_idle_rules(rules: &RuleSet, model: &Model) {
    let idle: Vec<&str> = rules
        .categories()
        .filter(|category| model.class_names().all(|class| class != *category))
        .collect();
    if !idle.is_empty() {
        warn(&format!(
            "rules for categories that are no class: {}",
            idle.join(", ")
        ));
    }
}

fn settings(arguments: &FitArguments, rules: Option<&RulesFile>) -> Result<FitSettings, CliError> {
    let learning = &arguments.learning;
    learning.check()?;
    arguments.features.check()?;
    let classifier = learning.classifier();
    Ok(FitSettings {
        analyzer: arguments.features.analyzer(),
        limits: arguments.features.limits(),
        hash_bits: arguments.features.hash_bits,
        weighting: arguments.features.weighting(classifier.usual_weighting()),
        selection: arguments.features.selection()?,
        rules: rules.map(|rules| rules.text.clone()),
        side_factor: arguments.features.side_factor,
        classifier,
        code: arguments.code.settings(),
        class_weights: learning.class_weights()?,
        calibrator: learning.calibrator,
        monotone: learning.monotone,
        multiclass: learning.multiclass,
        other_cost: learning.other_cost,
        folds: learning.folds,
        classes: (!learning.classes.is_empty()).then(|| learning.classes.clone()),
        task: learning.task(),
        seed: learning.seed,
        training_keys: !arguments.no_training_keys,
    })
}

#[derive(serde::Serialize)]
struct FitReport<'a> {
    model: String,
    model_bytes: u64,
    rows: u64,
    bad_rows: u64,
    filtered_rows: u64,
    #[serde(flatten)]
    summary: TrainingSummary,
    /// The trials of a search with their times, which the summary does not keep.
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<&'a [Trial]>,
}

fn report(
    arguments: &FitArguments,
    model: &Model,
    read: &ReadSummary,
    searched: Option<&[Trial]>,
) -> Result<(), CliError> {
    let summary = model.summary();
    let model_bytes = std::fs::metadata(&arguments.output)?.len();
    warn_bad_rows(read);
    if let (Some(field), None) = (&arguments.group, summary.groups) {
        warn(&format!(
            "no document has a value in `{field}`: nothing belongs together"
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
    let mut out = stdout();
    if arguments.json {
        let report = FitReport {
            model: arguments.output.display().to_string(),
            model_bytes,
            rows: read.rows,
            bad_rows: read.bad_row_count,
            filtered_rows: read.filtered,
            summary: TrainingSummary {
                search: Vec::new(),
                ..summary.clone()
            },
            search: searched,
        };
        serde_json::to_writer(&mut out, &report)?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    if let Some(trials) = searched {
        let seconds: Vec<f64> = trials.iter().map(|trial| trial.seconds).collect();
        write_trials(&mut out, &summary.search, Some(&seconds))?;
        writeln!(out, "\n{}", searched_for(summary))?;
    }
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
    write_copies(&mut out, summary)?;
    if summary.documents_left_out > 0 {
        writeln!(
            out,
            "left out because they have none of the classes: {}",
            count_of(summary.documents_left_out, "document")
        )?;
    }
    write_weightings(&mut out, summary)?;
    write_prices(&mut out, summary)?;
    let held_out = &summary.held_out;
    let weighed = summary.multiclass.as_ref();
    let weighed = weighed.is_some_and(|joint| joint.chosen == MulticlassKind::Auto);
    // Where the search is not clearly better, the default is served, with figures of its own.
    let found = summary.search_gain.is_some_and(|gain| gain.is_clear());
    let of_what = match (found, weighed) {
        (true, _) => "the model as served, by documents without a say in the choice",
        (false, true) => "the model as served, its weights found without a document's fold",
        (false, false) => "the model as served",
    };
    let accuracy = held_out
        .accuracy
        .map(|accuracy| format!("accuracy {}, ", decimal(accuracy)))
        .unwrap_or_default();
    writeln!(
        out,
        "held out, {of_what}: {accuracy}micro-F1 {}, macro-F1 {}, log loss {} nats a {}, Brier {}, ECE {}",
        decimal(held_out.micro_f1),
        decimal(held_out.macro_f1),
        decimal(held_out.log_loss),
        crate::output::loss_unit(held_out.log_loss_over),
        decimal(held_out.brier),
        decimal(held_out.ece),
    )?;
    match model.as_combined() {
        Some(pool) => write_members(&mut out, pool)?,
        None => {
            write_multiclass(&mut out, summary)?;
            write_classes(&mut out, summary)?;
        }
    }
    write_few_positives(&mut out, summary)?;
    warn_of_one_fold(summary);
    writeln!(
        out,
        "\nwrote {} ({:.1} MB)",
        arguments.output.display(),
        model_bytes as f64 / 1e6
    )?;
    Ok(out.flush()?)
}

/// Two exclusive classes share a curve: whether this is the one with more documents.
fn is_other_side(class: &ClassSummary, summary: &TrainingSummary) -> bool {
    let two = summary.classes.len() == 2 && summary.task == Task::SingleLabel;
    two && 2 * class.positives > summary.documents
}

/// Classes of which nothing could be held out fairly.
fn warn_of_one_fold(summary: &TrainingSummary) {
    let classes = summary.classes.iter().filter(|class| class.in_one_fold);
    let names: Vec<&str> = classes.map(|class| class.label.as_str()).collect();
    if !names.is_empty() {
        warn(&format!(
            "all documents of these classes were held out together, as copies or as one group, so that what is said of them was never tried on others: {}",
            names.join(", ")
        ));
    }
}

/// Whether a class has no curve of its own since all its documents, or all others, were held out together, and not since there
/// were few.
fn lacks_folds(class: &ClassSummary, summary: &TrainingSummary) -> bool {
    let two = summary.classes.len() == 2 && summary.task == Task::SingleLabel;
    class.in_one_fold || two && summary.classes.iter().any(|class| class.in_one_fold)
}

/// Which classes have no curve of their own, why, and what their probabilities rest on.
fn write_few_positives(out: &mut impl Write, summary: &TrainingSummary) -> Result<(), CliError> {
    let folds = summary.folds;
    // Whether it is so since all were held out together, where there are two reasons.
    let notes = [
        (
            CalibrationNote::Pooled,
            Some(true),
            "held out all together, so that no curve of its own could be tried: calibrated with the help of other classes",
        ),
        (
            CalibrationNote::Drawn,
            Some(true),
            "held out all together, so that no curve could be tried: the slope is drawn to what is usual",
        ),
        (
            CalibrationNote::Pooled,
            Some(false),
            "too few positives for a curve of its own, calibrated with the help of other classes",
        ),
        (
            CalibrationNote::Drawn,
            Some(false),
            "few positives: the slope is drawn to what is usual",
        ),
        (
            CalibrationNote::Guess,
            None,
            "one or two positives: how fast the probability rises with the score is a guess",
        ),
        (
            CalibrationNote::MadeToRise,
            None,
            "held-out documents of the class score lower than others, so that nothing tells how fast its probability rises; made to rise a little",
        ),
        (
            CalibrationNote::PriorOnly,
            None,
            "the scores tell nothing: every document gets the class's share",
        ),
    ];
    for (note, together, meaning) in notes {
        let classes: Vec<&str> = summary
            .noted(note)
            .filter(|class| !is_other_side(class, summary))
            .filter(|class| together.is_none_or(|wanted| lacks_folds(class, summary) == wanted))
            .map(|class| class.label.as_str())
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
            "\nfewer documents than folds: what is said of these classes rests on the curve for all, and was hardly tried \
             on documents of their own ({folds} folds): {}{more}",
            rare[..rare.len().min(RARE_SHOWN)].join(", ")
        )?;
    }
    Ok(())
}

/// How many classes with hardly any documents are named.
const RARE_SHOWN: usize = 20;

/// Says of how many test documents the measures are too good, if there are any.
pub(crate) fn warn_known(name: &str, known: &Acquaintance) -> Option<String> {
    let count = known.learned_from()?;
    let message = format!(
        "{name} learned from about {count} of these {}: what it says of those is too good",
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
            "{are}: {} different {}, each with the weight of its copies",
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
                "each of so few was held out whole, with all its labels, so that the probabilities are those of texts that never came before; \
                 if the same ones will come again, give their field as --categorical in place of --text"
            )?;
        }
    }
    if let Some(groups) = summary.groups {
        writeln!(
            out,
            "{groups} groups, none of which is divided between folds"
        )?;
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
        "weighting of terms: {} ({}: {}; {}). {} stays unless another is better by a standard error",
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

/// Which price of errors was chosen, and against which others.
pub(crate) fn write_prices(
    out: &mut impl Write,
    summary: &TrainingSummary,
) -> Result<(), CliError> {
    let tried = &summary.prices;
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
        "price of errors: {} ({}: {}; {}). {} stays unless more is better by a standard error",
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
        "output code {}: {} columns, rows {} and columns {} places apart at least; decoded by {}",
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
        let unit = crate::output::loss_unit(summary.held_out.log_loss_over);
        return format!(
            "{found} (marked *), since the default could not be fitted ({failure}): expected log loss {:.5} nats a {unit}",
            summary.held_out.log_loss,
        );
    }
    let Some(gain) = summary.search_gain else {
        return "the default (marked *): nothing that was found is better".to_owned();
    };
    let per_cent = |part: f64| 100.0 * part / gain.default_log_loss;
    let lower = per_cent(gain.default_log_loss - gain.log_loss);
    let measured = format!(
        "expected log loss {:.5} nats a {}, {:.1} % {} than the default's {:.5} (standard error {:.1} %)",
        gain.log_loss,
        crate::output::loss_unit(summary.held_out.log_loss_over),
        lower.abs(),
        if lower < 0.0 { "higher" } else { "lower" },
        gain.default_log_loss,
        per_cent(gain.standard_error),
    );
    if gain.is_clear() {
        format!("{found} (marked *): {measured}")
    } else {
        format!(
            "the default (marked *), since the best that was found is not clearly better: {measured}"
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
        "classes together: {} (held-out log loss of each way alone × its weight: {})",
        multiclass.chosen.name(),
        tried.join(", ")
    )?;
    Ok(())
}

/// The log loss of a class's own curve, of which one for all classes and the common one are none.
fn own_loss(class: &ClassSummary) -> Option<f64> {
    let own = !matches!(
        class.calibration,
        CalibrationNote::Common | CalibrationNote::Joint
    );
    let mut tried = class.tried.iter().filter(|_| own);
    tried
        .find(|tried| tried.method == class.calibrator)?
        .log_loss
}

pub(crate) fn write_classes(
    out: &mut impl Write,
    summary: &TrainingSummary,
) -> Result<(), CliError> {
    let with_losses = summary
        .classes
        .iter()
        .any(|class| own_loss(class).is_some());
    let mut header = vec!["class", "calibrator", "documents"];
    if with_losses {
        let weighed = |class: &ClassSummary| class.calibration == CalibrationNote::Weighed;
        let loss = match summary.classes.iter().any(weighed) {
            true => "its own curve's yes/no held-out log loss",
            false => "yes/no held-out log loss",
        };
        header.extend([loss, "next best"]);
    }
    let mut rows = table(&header, 2);
    for class in &summary.classes {
        let chosen = own_loss(class);
        let others = class
            .tried
            .iter()
            .filter(|tried| tried.method != class.calibrator)
            .filter_map(|tried| Some((tried.method, tried.log_loss?)));
        let next = others.min_by(|a, b| a.1.total_cmp(&b.1));
        let note = match class.calibration {
            CalibrationNote::Own => String::new(),
            CalibrationNote::Weighed => match class.own_weight {
                Some(own) => format!(" × {own:.2}, common curve × {:.2}", 1.0 - own),
                None => String::new(),
            },
            CalibrationNote::Common => "common curve".to_owned(),
            CalibrationNote::Pooled => "borrowed".to_owned(),
            CalibrationNote::Drawn if lacks_folds(class, summary) => {
                " (held out together)".to_owned()
            }
            CalibrationNote::Drawn => " (few positives)".to_owned(),
            CalibrationNote::Guess => " (a guess)".to_owned(),
            CalibrationNote::MadeToRise => " (made to rise)".to_owned(),
            CalibrationNote::PriorOnly => " (prior only)".to_owned(),
            CalibrationNote::Joint => " (all classes together)".to_owned(),
        };
        // A class has no calibrator of its own where there is one for all.
        let method = match (class.calibration, &summary.multiclass) {
            (CalibrationNote::Joint, Some(joint)) => joint.chosen.name(),
            (CalibrationNote::Common | CalibrationNote::Pooled, _) => "",
            _ => class.calibrator.name(),
        };
        let mut row = vec![
            class.label.clone(),
            format!("{method}{note}"),
            class.positives.to_string(),
        ];
        if with_losses {
            let loss = chosen.map(|loss| format!("{loss:.5}"));
            let next = chosen.zip(next).map(|(loss, (method, other))| {
                let remark = if other < loss { ", not surely" } else { "" };
                format!("{} {:+.5}{remark}", method.name(), other - loss)
            });
            row.extend([loss.unwrap_or_default(), next.unwrap_or_default()]);
        }
        rows.add_row(row);
    }
    writeln!(out, "\n{rows}")?;
    Ok(())
}

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
