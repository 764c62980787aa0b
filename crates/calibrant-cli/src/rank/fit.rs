//! `calibrant rank fit`

use std::io::Write;

use calibrant::jobs::rankings::{RankRows, RankTraining};
use calibrant::ranking::learning::{
    CostChoice, RankFitError, RankModel, RankSettings, RankSummary,
};
use calibrant::ranking::{Relevance, ScoreFrame};

use super::{reading, tell_judged};
use crate::arguments::RankFitArguments;
use crate::error::CliError;
use crate::output::{check_target, note, print_json, stdout, warn};
use crate::progress::TerminalProgress;
use crate::table::{decimal, table};

pub(crate) fn run(arguments: &RankFitArguments) -> Result<(), CliError> {
    let settings = arguments.settings();
    let inputs = arguments.train.iter().chain(&arguments.qrels);
    for file in inputs.chain(&arguments.runs).chain(&arguments.validation) {
        check_target(&arguments.output, file)?;
    }
    let qrels = arguments.qrels.as_deref();
    let train = reading::rows_of(&arguments.train, &arguments.runs, qrels)?;
    let validation = arguments.validation.as_deref().map(reading::source);
    let training = RankTraining::read(&train, validation.as_ref(), &settings)?;
    tell_rows(&training.rows, &settings);
    if let Some(queries) = training.idle_validation(&settings) {
        note(&format!(
            "there is only one C, so the {queries} validation queries are measured but choose nothing"
        ));
    }
    let fit = training.fit(&settings, &TerminalProgress::default());
    let model = fit.map_err(failure)?.model;
    model.save(&arguments.output)?;
    tell_summary(model.summary());
    if arguments.json {
        return print_json(model.summary());
    }
    let mut out = stdout();
    show(&mut out, &model, arguments.qrels.is_none())?;
    Ok(out.flush()?)
}

/// What is to be known about the judgements.
fn tell_rows(rows: &RankRows, settings: &RankSettings) {
    tell_judged(None, &rows.judged, settings.unjudged);
    if rows.unlisted_relevant > 0 {
        note(&format!(
            "{} relevant documents are in none of the runs; MAP covers the listed ones only, and is lower in `rank evaluate`, which counts the others as missed",
            rows.unlisted_relevant
        ));
    }
}

/// What the user may want to do otherwise.
fn tell_summary(summary: &RankSummary) {
    if let Some(reason) = &summary.no_probabilities {
        warn(&format!(
            "the model has no probabilities of relevance: {reason}"
        ));
    }
    if summary.skipped_queries > 0 {
        note(&format!(
            "{} of {} queries are uninformative about order (all documents relevant, or none) and were left out",
            summary.skipped_queries, summary.queries
        ));
    }
    if !summary.chosen_trial().converged {
        warn(
            "the solver stopped before the gap was closed; use a smaller --c or a larger --tolerance",
        );
    }
    if summary.cost_at_the_end {
        warn(&format!(
            "the best C, {}, is the largest tried: held-out MAP may still improve; give larger values with --c",
            summary.chosen_trial().c
        ));
    }
}

fn show(out: &mut impl Write, model: &RankModel, of_letor: bool) -> Result<(), CliError> {
    let summary = model.summary();
    write_settings_tried(out, model)?;
    write_trials(out, summary)?;
    writeln!(
        out,
        "{} on {} queries, {} documents ({} relevant), {} columns, {} features",
        model.settings().loss,
        summary.queries,
        summary.documents,
        summary.relevant_documents,
        model.features().columns().len(),
        model.features().dimension(),
    )?;
    writeln!(
        out,
        "C {}; MAP {} on the training queries{}",
        summary.chosen_trial().c,
        decimal(summary.training_map),
        held_out(summary),
    )?;
    if of_letor {
        writeln!(
            out,
            "MAP counts the relevant documents that the files list; `rank evaluate` counts any others among the judgements as missed, and then is lower"
        )?;
    }
    if let Some(relevance) = model.relevance() {
        writeln!(out, "{}", relevance_line(relevance))?;
    }
    Ok(())
}

/// How good the probabilities of relevance are on queries that were held out.
pub(super) fn relevance_line(relevance: &Relevance) -> String {
    let summary = relevance.summary();
    let of_frame = summary
        .log_loss
        .iter()
        .find(|(frame, _)| *frame == relevance.frame());
    let spread = relevance.spread().map_or(String::new(), |spread| {
        let (moved, stretched) = spread.standard_deviations();
        format!("; per query, log-odds vary by ±{moved:.2} in level and ±{stretched:.2} in scale")
    });
    format!(
        "probabilities of relevance from scores {} ({}): log loss {} nats per held-out document ({} for a constant forecast){spread}",
        match relevance.frame() {
            ScoreFrame::AsIs => "as they are",
            ScoreFrame::Centred => "above the query's mean",
            ScoreFrame::Standardised => "standardised within the query",
        },
        relevance.curve_name(),
        of_frame.map_or_else(|| "-".to_owned(), |(_, loss)| decimal(*loss)),
        decimal(summary.log_loss_of_share),
    )
}

fn failure(error: RankFitError) -> CliError {
    let hint = match &error {
        RankFitError::NothingToLearn { .. } => Some(
            "check the grades in the first column (or the judgements), --relevant-from, and --unjudged leave-out, which leaves nothing to compare where only relevant documents were judged",
        ),
        RankFitError::NothingToChooseBy { .. } => {
            Some("give one --c, other --validation queries, or another --relevant-from")
        }
        RankFitError::TooManyFolds { .. } => Some(
            "use fewer --folds, or give --validation queries, or one --c with --bins and --grades",
        ),
        RankFitError::TooManyOrders(_) => Some("use --loss ndcg@10"),
        RankFitError::SharedQuery { .. } => Some("leave the query out of one of the two files"),
        RankFitError::NoFeatures => Some("a line is `grade qid:Q 1:V 2:V …`"),
        RankFitError::Setting(_) => Some("`calibrant rank fit --help` lists what can be given"),
        _ => None,
    };
    let shown = CliError::new(error.to_string());
    match hint {
        Some(hint) => shown.hint(hint),
        None => shown,
    }
}

fn held_out(summary: &RankSummary) -> String {
    let Some(map) = summary.chosen_trial().held_out_map else {
        return String::new();
    };
    let whose = match summary.choice {
        CostChoice::Validation => "validation queries",
        CostChoice::Given => "queries that were not learned from",
        CostChoice::CrossValidation => "held-out training queries",
        CostChoice::Both => "validation and held-out training queries",
    };
    format!(", {} on {} {whose}", decimal(map), summary.choice_queries)
}

/// The settings that were tried, the chosen ones marked; nothing where none were open.
pub(super) fn write_settings_tried(
    out: &mut impl Write,
    model: &RankModel,
) -> Result<(), CliError> {
    let tried = &model.summary().settings_tried;
    if tried.is_empty() {
        return Ok(());
    }
    let mut rows = table(&["", "grades", "bins", "held-out MAP"], 1);
    let settings = model.settings();
    for one in tried {
        let is_chosen =
            (one.every_grade, one.bins) == (settings.every_grade, settings.features.bins);
        rows.add_row(vec![
            if is_chosen { "*" } else { "" }.to_owned(),
            one.grades().to_string(),
            one.bins.to_string(),
            decimal(one.held_out_map),
        ]);
    }
    writeln!(out, "{rows}")?;
    Ok(())
}

/// Every C that was tried, the chosen one marked.
pub(super) fn write_trials(out: &mut impl Write, summary: &RankSummary) -> Result<(), CliError> {
    let header = [
        "",
        "C",
        "held-out MAP",
        "primal",
        "dual",
        "gap",
        "planes",
        "rounds",
    ];
    let mut rows = table(&header, 1);
    for (place, trial) in summary.trials.iter().enumerate() {
        let chosen = place == summary.chosen;
        rows.add_row(vec![
            if chosen { "*" } else { "" }.to_owned(),
            trial.c.to_string(),
            trial.held_out_map.map_or_else(|| "-".to_owned(), decimal),
            format!("{:.5}", trial.primal),
            format!("{:.5}", trial.dual),
            format!("{:.1e}", trial.primal - trial.dual),
            trial.planes.to_string(),
            trial.rounds.to_string(),
        ]);
    }
    writeln!(out, "{rows}")?;
    Ok(())
}
