//! `calibrant predict --policy`: who answers what.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use calibrant::corpus::ReadOptions;
use calibrant::jobs::{
    CascadeJobError, PlainTable, PolicyFile, PolicyInUse, Prediction, PredictionFormat, Predictor,
    SourceAnswers,
};

use crate::arguments::PredictArguments;
use crate::error::CliError;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::output::{check_target, note, stdout};
use crate::predict::note_whole_input;
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
    let first = predictions.first().and_then(|first| first.key.as_ref());
    let column = first.map_or("row", |key| key.column());
    if column == "row" && !options.filters.is_empty() && !arguments.policy.answers.is_empty() {
        return Err(CascadeJobError::RowsFiltered.into());
    }
    let in_use = in_use(arguments, &policy, column, &progress)?;
    let mut shares: BTreeMap<String, usize> = BTreeMap::new();
    let mut rows = Vec::with_capacity(predictions.len());
    for prediction in &predictions {
        let key = prediction.key.as_ref().map(|key| key.text().into_owned());
        let key = key.unwrap_or_default();
        let Some(best) = prediction.best() else {
            continue;
        };
        let decision = in_use.decide(&key, &best.label, best.probability);
        let group = match decision.starts_with("ask ") {
            true => decision.clone(),
            false => "answered".to_owned(),
        };
        *shares.entry(group).or_default() += 1;
        let label = best.label.as_ref().to_owned();
        rows.push(vec![
            key.into(),
            label.into(),
            best.probability.into(),
            decision.into(),
        ]);
    }
    let header = [column, "label", "probability", "decision"];
    let table = PlainTable {
        header: header.map(str::to_owned).to_vec(),
        rows,
    };
    write(arguments, &table)?;
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

fn write(arguments: &PredictArguments, table: &PlainTable) -> Result<(), CliError> {
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
        let options = ReadOptions::default();
        let answers = SourceAnswers::read(&source, &options, column, !last, progress)?;
        in_use = in_use.answers(name, answers)?;
    }
    Ok(in_use)
}
