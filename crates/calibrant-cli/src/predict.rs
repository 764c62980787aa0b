//! `calibrant predict`

use std::path::Path;

use calibrant::corpus::{LabelNeed, ReadSummary};
use calibrant::jobs::{
    AskReport, PredictSettings, PredictionColumns, PredictionFormat, PredictionWriter, Predictor,
    UnknownDocuments,
};
use calibrant::pipeline::Model;

use crate::arguments::PredictArguments;
use crate::costs;
use crate::error::CliError;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::output::{check_target, count_of, note, stdout, warn};
use crate::prior::{choice, show_prior};
use crate::progress::TerminalProgress;
use crate::side_columns::unknown_notes;

pub(crate) fn run(arguments: &PredictArguments) -> Result<(), CliError> {
    let model = Model::open(&arguments.model)?;
    let settings = PredictSettings {
        top: arguments.top,
        scores: arguments.scores,
        prior: choice(&arguments.prior)?,
        other: arguments.other.other,
        costs: costs::read(arguments.costs.costs.as_deref())?,
        ask: arguments.ask,
    };
    let predictor = Predictor::with_settings(&model, &settings)?;
    if let Some(path) = &arguments.output {
        check_target(path, &arguments.file)?;
    }
    let fields = arguments.reading.fields(&predictor.fields());
    let options = arguments.reading.options(fields, LabelNeed::Ignored);
    let columns = PredictionColumns::Classes {
        scores: arguments.scores,
        decisions: !settings.costs.is_empty() || settings.ask.is_some(),
    };
    let mut writer = prediction_writer(arguments.output.as_deref(), arguments.json, columns)?;
    let summary = predictor.predict_source(
        &input::source(&arguments.file),
        &options,
        &TerminalProgress::default(),
        |prediction| Ok::<_, CliError>(writer.write(&prediction)?),
    )?;
    if let Some(report) = &summary.prior {
        show_prior(&arguments.file, report);
    }
    if let Some(report) = &summary.asked {
        note(&asked(report, summary.documents));
    }
    writer.finish()?;
    warn_bad_rows(&summary.read);
    warn_without_id(&arguments.file, summary.without_id, summary.documents);
    if let Some(unknown) = summary.unknown_documents {
        note_unknown(&summary.read, unknown);
    }
    for note in unknown_notes(&summary.unknown_cells) {
        warn(&note);
    }
    Ok(())
}

/// How many documents a person is asked about, and what that saves.
fn asked(report: &AskReport, documents: u64) -> String {
    let AskReport {
        expected_cost: with,
        expected_cost_without: without,
        ..
    } = report;
    let saves = match report.by_costs {
        true => format!("expected cost {with:.4} instead of {without:.4} without asking"),
        false => format!("{with:.1} mistakes expected instead of {without:.1} without asking"),
    };
    format!(
        "`ask` for {} of {}; {saves}",
        report.asked,
        count_of(documents as usize, "document")
    )
}

/// Says how many documents the model knows nothing of.
fn note_unknown(read: &ReadSummary, unknown: UnknownDocuments) {
    let place = format!("{} {}", read.format.unit(), unknown.first_line);
    let documents = match unknown.documents {
        1 => format!("1 document holds nothing that the model knows ({place})"),
        more => format!("{more} documents hold nothing that the model knows, the first at {place}"),
    };
    note(&format!(
        "{documents}: the answer is that for an empty text"
    ));
}

/// Writes to a file, or to standard output as CSV or JSON Lines.
pub(crate) fn prediction_writer(
    path: Option<&Path>,
    json: bool,
    columns: PredictionColumns,
) -> Result<PredictionWriter<'static>, CliError> {
    let format = match json {
        true => PredictionFormat::JsonLines,
        false => PredictionFormat::Csv,
    };
    Ok(match path {
        Some(path) => PredictionWriter::create(path, columns)?,
        None => PredictionWriter::new(stdout(), format, columns),
    })
}

/// Says how many documents have an empty identifier.
pub(crate) fn warn_without_id(file: &str, without: u64, documents: u64) {
    if without > 0 {
        warn(&format!(
            "{file}: {without} of {} have no identifier, and an empty `id` in the predictions",
            count_of(documents as usize, "document")
        ));
    }
}
