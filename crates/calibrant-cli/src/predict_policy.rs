//! `calibrant predict --policy`: who answers what.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use calibrant::corpus::ReadOptions;
use calibrant::jobs::{
    CascadeJobError, Decision, PlainTable, PolicyFile, PolicyInUse, Prediction, PredictionColumns,
    PredictionFormat, Predictor, SourceAnswers,
};

use crate::arguments::PredictArguments;
use crate::error::CliError;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::output::{check_target, note, stdout};
use crate::predict::{note_filtered, note_whole_input, prediction_writer};
use crate::progress::TerminalProgress;
use crate::suspects::check_list;

/// Predicts all documents, and says of each whose answer stands, or who is asked next. Answers of other sources are looked up by the
/// documents' identifiers or rows, so everything is read before anything is written.
pub(crate) fn run(
    arguments: &PredictArguments,
    path: &Path,
    predictor: &Predictor<'_>,
    options: &ReadOptions,
) -> Result<(), CliError> {
    let policy = PolicyFile::open(path)?;
    if let Some(output) = &arguments.output {
        check_list("--output", output, &arguments.file)?;
        for (_, file) in &arguments.policy.answers {
            check_target(output, file)?;
        }
    }
    note_whole_input(
        &arguments.file,
        arguments.output.as_deref(),
        Some("--policy"),
    );
    let part = arguments.policy.part.as_deref();
    policy.with_model(part)?.check_model(predictor.model())?;
    let progress = TerminalProgress::default();
    let mut predictions: Vec<Prediction<'_>> = Vec::new();
    let summary = predictor.predict_source(
        &input::source(&arguments.file),
        options,
        &progress,
        |prediction| {
            predictions.push(prediction);
            Ok::<_, CliError>(())
        },
    )?;
    warn_bad_rows(&summary.read);
    note_filtered(options.keep, &summary.read);
    let first = predictions.first().and_then(|first| first.key.as_ref());
    let column = first.map_or("row", |key| key.column());
    if column == "row" && !options.filters.is_empty() && !arguments.policy.answers.is_empty() {
        return Err(CascadeJobError::RowsFiltered.into());
    }
    let in_use = in_use(arguments, &policy, column, &progress)?;
    let mut shares: BTreeMap<String, usize> = BTreeMap::new();
    for prediction in &mut predictions {
        let Some(best) = prediction.best() else {
            continue;
        };
        let key = prediction.key.as_ref().map(|key| key.text());
        let key = key.unwrap_or_default();
        let decision = in_use.decide(&key, &best.label, best.probability);
        let group = match decision.starts_with("ask ") {
            true => decision.clone(),
            false => "answered".to_owned(),
        };
        *shares.entry(group).or_default() += 1;
        prediction.decision = Some(Decision::new(decision));
    }
    write(arguments, column, &predictions)?;
    let shares: Vec<String> = shares
        .iter()
        .map(|(what, count)| format!("{what}: {count}"))
        .collect();
    note(&format!(
        "{} documents; {}",
        predictions.len(),
        shares.join(", ")
    ));
    Ok(())
}

/// Beside the columns of the input where that is asked for, else as a table with one row per document.
fn write(
    arguments: &PredictArguments,
    column: &str,
    predictions: &[Prediction<'_>],
) -> Result<(), CliError> {
    let plain = PredictionColumns::Classes {
        scores: false,
        decisions: true,
        sets: None,
    };
    let columns = arguments.results.columns(None, None, plain);
    if columns != plain {
        let output = arguments.output.as_deref();
        let mut writer = prediction_writer(output, arguments.json, columns)?;
        for prediction in predictions {
            writer.write(prediction)?;
        }
        return Ok(writer.finish()?);
    }
    let rows = predictions.iter().filter_map(|prediction| {
        let (key, best) = (prediction.key.as_ref()?, prediction.best()?);
        let decision = prediction.decision.as_ref()?;
        Some(vec![
            key.text().into(),
            best.label.as_ref().into(),
            best.probability.into(),
            decision.action.as_ref().into(),
        ])
    });
    let header = [column, "label", "probability", "decision"];
    let table = PlainTable {
        header: header.map(str::to_owned).to_vec(),
        rows: rows.collect(),
    };
    if let Some(output) = &arguments.output {
        return Ok(table.save(output)?);
    }
    let format = match arguments.json {
        true => PredictionFormat::JsonLines,
        false => PredictionFormat::Csv,
    };
    let mut out = stdout();
    out.write_all(&table.to_bytes(format)?)?;
    Ok(out.flush()?)
}

/// The policy with this model in its part, and what other sources said.
#[allow(clippy::result_large_err)] // The library's error, once for a file.
fn in_use<'p>(
    arguments: &PredictArguments,
    policy: &'p PolicyFile,
    column: &str,
    progress: &TerminalProgress,
) -> Result<PolicyInUse<'p>, CliError> {
    let given = &arguments.policy;
    let mut in_use = policy.with_model(given.part.as_deref())?;
    for (name, file) in &given.answers {
        let source = input::source_to_read_twice(file)?;
        let last = policy.sources.last().is_some_and(|last| last.name == *name);
        let options = arguments.reading.rows.options();
        let answers = options.read_beside(CascadeJobError::is_of_layout, |options| {
            SourceAnswers::read(&source, options, column, !last, progress)
        })?;
        in_use = in_use.answers(name, answers)?;
    }
    Ok(in_use)
}
