//! `calibrant predict`

use std::num::NonZeroUsize;
use std::path::Path;

use calibrant::Task;
use calibrant::corpus::{LabelNeed, ReadSummary};
use calibrant::jobs::{
    AskReport, PredictSettings, PredictSummary, PredictionColumns, PredictionFormat,
    PredictionWriter, Predictor, UnknownDocuments,
};
use calibrant::pipeline::Model;

use crate::arguments::PredictArguments;
use crate::costs;
use crate::error::CliError;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::output::{check_target, count_of, note, stdout, warn};
use crate::predict_policy;
use crate::prior::{choice, show_prior};
use crate::progress::TerminalProgress;
use crate::promises;
use crate::side_columns::unknown_notes;

pub(crate) fn run(arguments: &PredictArguments) -> Result<(), CliError> {
    let model = Model::open(&arguments.model)?;
    let results = &arguments.results;
    let costs = costs::read(arguments.costs.costs.as_deref())?;
    let decisions = !costs.is_empty()
        || arguments.ask.is_some()
        || arguments.promises.max_error.is_some()
        || arguments.f_beta.f_beta.is_some();
    let settings = PredictSettings {
        // Beside the columns of a document stands the most probable class; a decision about every label is made of all.
        top: match results.are_rows() {
            true if results.wide || (decisions && model.task() == Task::MultiLabel) => None,
            true => arguments.top.or(NonZeroUsize::new(1)),
            false => arguments.top,
        },
        scores: arguments.scores,
        prior: choice(&arguments.prior)?,
        other: arguments.other.other,
        costs,
        ask: arguments.ask,
        sets: arguments.promises.ask_sets(),
        max_error: arguments.promises.certify(),
        f_beta: arguments.f_beta.ask(),
    };
    if let Some(path) = &arguments.output {
        check_target(path, &arguments.file)?;
        if let Some(calibration) = &arguments.promises.calibration {
            check_target(path, calibration)?;
        }
    }
    let (promised, file) = (&arguments.promises, &arguments.file);
    let examples = promises::examples(&model, promised, &arguments.reading, file)?;
    let predictor = Predictor::with_examples(&model, &settings, examples.as_ref())?;
    costs::note_near_classes(&settings.costs, &model);
    let fields = arguments.reading.fields(&predictor.fields());
    let mut options = arguments.reading.options(fields, LabelNeed::Ignored);
    options.keep = results.keep;
    // Answers in a file are there once it is whole.
    options.as_they_come = arguments.output.is_none() && arguments.policy.policy.is_none();
    if let Some(policy) = &arguments.policy.policy {
        return predict_policy::run(arguments, policy, &predictor, &options);
    }
    let separator = settings.sets.map(|_| predictor.set_separator());
    let shown = results.columns(
        arguments.top,
        separator,
        PredictionColumns::Classes {
            scores: arguments.scores,
            decisions,
            sets: separator,
        },
    );
    let output = arguments.output.as_deref();
    let whole = match (settings.ask, settings.f_beta) {
        (Some(_), _) => Some("--ask"),
        (None, Some(_)) => Some("--f-beta"),
        (None, None) => predictor.must_see_all().then_some("--adapt-prior"),
    };
    note_whole_input(&arguments.file, output, whole);
    let mut writer = prediction_writer(output, arguments.json, shown)?;
    let summary = predictor.predict_live(
        &input::source(&arguments.file),
        &options,
        &TerminalProgress::default(),
        |prediction| match prediction {
            Some(prediction) => Ok::<_, CliError>(writer.write(&prediction)?),
            None => Ok(writer.flush()?),
        },
    )?;
    if let Some(report) = &summary.prior {
        show_prior(&arguments.file, report);
    }
    if let Some(report) = &summary.asked {
        note(&asked(report, summary.documents));
    }
    promises::show(&summary.promises);
    writer.finish()?;
    tell_of_input(arguments, &summary);
    Ok(())
}

/// What decisions that rest on `other` are worth.
const OTHER_IS_NO_PROBABILITY: &str = "the probability of `other` says where it ranks, not how often documents are of no class, which no \
     training document shows: expected costs that rest on it order decisions, and are no amounts to plan with";

/// What was wrong or odd with the documents.
fn tell_of_input(arguments: &PredictArguments, summary: &PredictSummary) {
    if arguments.other.other.is_some()
        && (arguments.costs.costs.is_some() || arguments.ask.is_some())
    {
        note(OTHER_IS_NO_PROBABILITY);
    }
    warn_bad_rows(&summary.read);
    note_filtered(arguments.results.keep, &summary.read);
    warn_without_id(&arguments.file, summary.without_id, summary.documents);
    if let Some(unknown) = summary.unknown_documents {
        note_unknown(&summary.read, unknown);
    }
    for note in unknown_notes(&summary.unknown_cells) {
        warn(&note);
    }
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

/// Says what has to be read to its end before the first answer comes.
pub(crate) fn note_whole_input(file: &str, output: Option<&Path>, option: Option<&str>) {
    let format = output.and_then(PredictionFormat::of_path);
    let needs = match format {
        _ if file != "-" => None,
        _ if option.is_some() => option,
        Some(PredictionFormat::Parquet) => Some("Parquet"),
        Some(PredictionFormat::Xlsx) => Some("xlsx"),
        _ => None,
    };
    if let Some(needs) = needs {
        note(&format!(
            "{needs} needs the whole input: answers come when standard input has ended"
        ));
    }
}

/// Says how many rows of the input have no results beside them.
pub(crate) fn note_filtered(keep: bool, read: &ReadSummary) {
    if keep && read.filtered > 0 {
        let rows = count_of(read.filtered as usize, "row");
        note(&format!(
            "{rows} that --where leaves out: not among the results"
        ));
    }
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
