//! `calibrant rank fit`

use std::io::{self, Write};

use calibrant::calibration::CalibratorKind;
use calibrant::ranking::learning::{
    CostChoice, FeatureSettings, OpenSettings, RankFitError, RankModel, RankSettings, RankStage,
    RankSummary,
};
use calibrant::ranking::{JudgedShare, RankingTable, Relevance, RelevanceSettings, ScoreFrame};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{reading, tell_judged};
use crate::arguments::{Bins, GradeChoice, RankFitArguments};
use crate::error::CliError;
use crate::output::{check_target, note, stdout, warn};
use crate::table::{decimal, table};

pub(crate) fn run(arguments: &RankFitArguments) -> Result<(), CliError> {
    let settings = settings(arguments);
    let inputs = arguments.train.iter().chain(&arguments.qrels);
    for file in inputs.chain(&arguments.runs).chain(&arguments.validation) {
        check_target(&arguments.output, file)?;
    }
    let train = training(arguments)?;
    let validation = arguments
        .validation
        .as_ref()
        .map(|file| reading::letor(std::slice::from_ref(file)))
        .transpose()?
        .map(|table| table.matched_by_number(train.features()));
    let open = open_settings(arguments);
    if let Some(table) = &validation
        && open == OpenSettings::NONE
        && arguments.folds.is_none()
        && settings.c.len() == 1
    {
        note(&format!(
            "there is one C, so the {} validation queries are only measured, not chosen by",
            table.query_count()
        ));
    }
    let line = ProgressLine::new();
    let fitted = RankModel::fit_choosing(&train, validation.as_ref(), &settings, open, &|stage| {
        line.show(stage);
    })
    .and_then(|model| calibrated(model, arguments, &train, validation.as_ref(), &line));
    line.end();
    let model = fitted.map_err(failure)?;
    model.save(&arguments.output)?;
    let summary = model.summary();
    if summary.skipped_queries > 0 {
        note(&format!(
            "{} of {} queries say nothing about the order of documents (all relevant, or none) and were left out",
            summary.skipped_queries, summary.queries
        ));
    }
    if !summary.chosen_trial().converged {
        warn(
            "the solver stopped before the gap was closed; a smaller --c or a larger --tolerance closes it",
        );
    }
    if summary.price_at_the_end {
        warn(&format!(
            "the best C, {}, is the end of what is tried: held-out MAP may rise further; give larger ones with --c",
            summary.chosen_trial().c
        ));
    }
    if arguments.json {
        let mut out = stdout();
        serde_json::to_writer(&mut out, summary)?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    let mut out = io::stderr().lock();
    write_settings_tried(&mut out, &model)?;
    write_trials(&mut out, summary)?;
    writeln!(
        out,
        "{} on {} queries, {} documents ({} relevant), {} columns, {} features",
        arguments.loss,
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
    if arguments.qrels.is_none() {
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

/// The table to learn from, with what is to be known about its judgements said.
fn training(arguments: &RankFitArguments) -> Result<RankingTable, CliError> {
    let Some(qrels) = &arguments.qrels else {
        let table = reading::letor(&arguments.train)?;
        tell_judged(None, &table.judged_share(), arguments.unjudged);
        return Ok(table);
    };
    let joined = reading::runs(&arguments.runs, Some(qrels), arguments.relevant_from)?;
    let share = JudgedShare {
        unjudged_queries: joined.unjudged_queries,
        ..joined.table.judged_share()
    };
    tell_judged(None, &share, arguments.unjudged);
    if joined.unlisted_relevant > 0 {
        note(&format!(
            "{} relevant documents are in none of the runs; MAP is here that of the listed ones, and lower in `rank evaluate`, which counts the others as missed",
            joined.unlisted_relevant
        ));
    }
    Ok(joined.table)
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
        format!("; in one query log-odds are moved by ±{moved:.2} and stretched by ±{stretched:.2}")
    });
    format!(
        "probabilities of relevance from scores {} ({}): log loss {} nats a held-out document, {} for the share of relevant ones{spread}",
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

/// With a curve from scores to probabilities, unless none is wanted or there is too little to fit it to.
fn calibrated(
    model: RankModel,
    arguments: &RankFitArguments,
    train: &RankingTable,
    validation: Option<&RankingTable>,
    line: &ProgressLine,
) -> Result<RankModel, RankFitError> {
    if arguments.calibrator == CalibratorKind::None {
        return Ok(model);
    }
    let how = RelevanceSettings {
        calibrator: arguments.calibrator,
        ..RelevanceSettings::default()
    };
    let folds = usize::from(arguments.calibration_folds).min(train.query_count());
    let found = model
        .clone()
        .calibrated(train, validation, &how, folds, &|stage| {
            line.show(stage);
        });
    match found {
        Ok(model) => Ok(model),
        // A ranking from a handful of queries is still a ranking.
        Err(error) if arguments.calibrator == CalibratorKind::Auto => {
            warn(&format!(
                "the model says no probabilities of relevance: {error}"
            ));
            Ok(model)
        }
        Err(error) => Err(error),
    }
}

fn settings(arguments: &RankFitArguments) -> RankSettings {
    RankSettings {
        loss: arguments.loss,
        c: arguments.c.clone(),
        features: FeatureSettings {
            scale: arguments.scale.into(),
            bins: match arguments.bins {
                Bins::Auto => 0,
                Bins::Given(bins) => bins,
            },
        },
        relevant_from: arguments.relevant_from,
        every_grade: arguments.grades == GradeChoice::Every,
        tolerance: arguments.tolerance,
        folds: arguments.folds,
        seed: arguments.seed,
        unjudged: arguments.unjudged,
    }
}

fn open_settings(arguments: &RankFitArguments) -> OpenSettings {
    OpenSettings {
        bins: arguments.bins == Bins::Auto,
        every_grade: arguments.grades == GradeChoice::Auto,
    }
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
            grades(one.every_grade).to_owned(),
            one.bins.to_string(),
            decimal(one.held_out_map),
        ]);
    }
    writeln!(out, "{rows}")?;
    Ok(())
}

/// As `--grades` calls it.
pub(super) fn grades(every: bool) -> &'static str {
    if every { "every" } else { "one" }
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

/// One line on the terminal; nothing where there is none.
struct ProgressLine {
    bar: ProgressBar,
}

impl ProgressLine {
    fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        Self { bar }
    }

    fn show(&self, stage: &RankStage) {
        if self.bar.is_hidden() {
            return;
        }
        let round = &stage.round;
        let fold = stage
            .fold
            .map(|(fold, folds)| format!("part {fold} of {folds}, "))
            .unwrap_or_default();
        self.bar.set_message(format!(
            "{fold}C {}: round {}, primal {:.5}, dual {:.5}, gap {:.1e}, {} planes",
            stage.c,
            round.round,
            round.primal,
            round.dual,
            round.gap(),
            round.planes
        ));
        self.bar.tick();
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}
