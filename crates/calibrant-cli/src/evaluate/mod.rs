//! `calibrant evaluate`

mod cost_table;
mod expected;
mod open;
mod page;
mod show;

use std::io::Write;
use std::path::Path;

use calibrant::decision::DecisionCosts;
use calibrant::evaluation::{StatedEnds, TestSetHash};
use calibrant::jobs::{
    EvaluateReport, EvaluateSettings, Evaluated, Evaluator, LabelledForecasts, Look, PriorReport,
    System, WrittenOtherwise, ask_systems, open_model,
};
use calibrant::pipeline::Model;

use crate::arguments::EvaluateArguments;
use crate::compare::{copies_sentence, show_copies, system_error, warn_answers};
use crate::costs;
use crate::error::CliError;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::labels::{fold_note, note_unlabelled};
use crate::ledger::{record, show_note};
use crate::output::{WRITE_ALIKE, print_json, stdout, unknown_label_notes, warn};
use crate::prior::{choice, show_prior};
use crate::progress::TerminalProgress;
use crate::promises;
use crate::side_columns::unknown_notes;
use crate::training::warn_known;
use page::{SHOWN_CLASSES, SHOWN_MISTAKES, check_page, write_report};

/// What counts copies once here, and what counts rows.
const COPIES: &str = "intervals and the spread of the number of errors count them once; the measures themselves, the tests of calibration by \
     Spiegelhalter, Kolmogorov-Smirnov and Kuiper, and a perfect forecaster's errors count rows";

/// In which order the command takes its files.
const ORDER: &str =
    "the model or table comes first, then the test set: calibrant evaluate MODEL TEST";

pub(crate) fn run(arguments: &EvaluateArguments) -> Result<(), CliError> {
    let opened = open_model(&arguments.model).map_err(|error| system_error(error, ORDER))?;
    match opened {
        Some(model) if arguments.without_labels => expected::run(arguments, &model),
        Some(model) => of_model(arguments, &model),
        None if arguments.without_labels => Err(CliError::new(
            "--without-labels needs a model, not a file of probabilities",
        )
        .hint("fit one with `calibrant fit`, or measure the table with labels")),
        None => of_table(arguments),
    }
}

fn of_model(arguments: &EvaluateArguments, model: &Model) -> Result<(), CliError> {
    if arguments.test.positive.is_some() || arguments.test.labels.is_some() {
        return Err(CliError::new(
            "--positive and --labels are for files of probabilities; a model knows its classes",
        ));
    }
    let page = arguments.html.as_deref();
    let settings = EvaluateSettings {
        classes: arguments.test.classes.clone(),
        prior: choice(&arguments.prior)?,
        other: arguments.other.other,
        costs: costs::read(arguments.costs.costs.as_deref())?,
        bootstrap: arguments.bootstrap,
        shown_scores: page.map_or(0, |_| SHOWN_CLASSES),
        worst_mistakes: page.map_or(0, |_| SHOWN_MISTAKES),
    };
    let evaluator = Evaluator::new(model, &settings)?;
    costs::note_near_classes(&settings.costs, model);
    check_page(arguments)?;
    let progress = TerminalProgress::default();
    let source = input::source(&arguments.file);
    let found = evaluator.forecast(&source, &arguments.test.options(), &progress)?;
    let test_set = found.test_set;
    let mut notes = warn_found(model, &found)?;
    let seen = promises::seen(model, arguments, &found)?;
    let mut evaluated = evaluator.measure(found)?;
    evaluated.report.promises = seen;
    let report = &evaluated.report;
    if let Some(prior) = &report.prior {
        show_prior(&arguments.file, prior);
    }
    notes.extend(report.prior.as_ref().and_then(PriorReport::sentence));
    let mut notes: Vec<String> = notes.iter().map(|note| format!("{note}.")).collect();
    notes.extend(copies_sentence(report.copies.unwrap_or(0), COPIES));
    if arguments.other.other.is_some() && report.other.is_none() {
        notes.push(open::not_measured());
    }
    finish(arguments, Some(model), evaluated, notes, &test_set)
}

/// Says what is strange about the documents; gives what belongs into a report.
fn warn_found(model: &Model, found: &LabelledForecasts) -> Result<Vec<String>, CliError> {
    if let Some(read) = &found.read {
        warn_bad_rows(read);
        note_unlabelled(read, model.task());
    }
    let unknown = &found.unknown_labels;
    let mut notes = unknown_notes(&found.unknown_cells);
    let fate = ["is not measured", "are not measured"];
    notes.extend(unknown_label_notes(unknown, found.left_out, "model", fate));
    notes.extend(fold_note(unknown, model.class_names()));
    let otherwise = WrittenOtherwise::of(unknown, model.class_names());
    if let Some(said) = &otherwise
        && found.forecasts.labels.is_empty()
    {
        return Err(CliError::new(said.to_string()).hint(WRITE_ALIKE));
    }
    notes.extend(otherwise.map(|said| format!("{said}; {WRITE_ALIKE}")));
    notes.iter().for_each(|note| warn(note));
    notes.extend(warn_known("the model", &found.known));
    Ok(notes)
}

/// A file of probabilities instead of a model.
fn of_table(arguments: &EvaluateArguments) -> Result<(), CliError> {
    if arguments.promises.is_given() || arguments.promises.calibration.is_some() {
        return Err(CliError::new(
            "--sets, --max-error and --calibration need a model: a table does not say what its probabilities rest on",
        ));
    }
    if arguments.other.other.is_some() {
        return Err(CliError::new(
            "--other needs a model: a table does not show how unusual a document is",
        ));
    }
    if arguments.prior.is_given() {
        return Err(CliError::new(
            "--prior and --adapt-prior need a model: a table does not say how common the classes were in training",
        )
        .hint("shift them when they are made, with `calibrant predict` or `calibrant calibrate`"));
    }
    check_page(arguments)?;
    let systems = System::open(std::slice::from_ref(&arguments.model));
    let systems = systems.map_err(|error| system_error(error, ORDER))?;
    let settings = arguments.test.settings();
    let source = input::source(&arguments.file);
    let costs = costs::read(arguments.costs.costs.as_deref())?;
    let (mut options, progress) = (arguments.test.options(), TerminalProgress::default());
    options.fields.amounts = DecisionCosts::fields_of(&costs);
    let answers = ask_systems(&systems, &source, &options, &settings, &progress)
        .map_err(|error| system_error(error, ORDER))?;
    warn_answers(&answers);
    let test_set = answers.test_set;
    let evaluated = Evaluated::of_table(answers, &costs, arguments.bootstrap)?;
    let ends = evaluated.report.stated_ends.iter();
    let notes = ends.flat_map(StatedEnds::sentences);
    let notes = notes.map(|said| format!("{said}.")).collect();
    finish(arguments, None, evaluated, notes, &test_set)
}

/// Writes the page, keeps the ledger and shows the measures.
fn finish(
    arguments: &EvaluateArguments,
    model: Option<&Model>,
    mut evaluated: Evaluated<'_>,
    notes: Vec<String>,
    test_set: &TestSetHash,
) -> Result<(), CliError> {
    if let Some(path) = arguments.html.as_deref() {
        let scores = std::mem::take(&mut evaluated.scores);
        write_report(arguments, model, (&evaluated, scores), notes, path)?;
    }
    let mut report = evaluated.report;
    let look = Look::new(&arguments.model, model, report.evaluation.log_loss);
    report.ledger = record(!arguments.no_ledger, test_set, &[look]);
    write(arguments, &report)
}

fn write(arguments: &EvaluateArguments, report: &EvaluateReport) -> Result<(), CliError> {
    if arguments.json {
        return print_json(report);
    }
    let mut out = stdout();
    let grouped = arguments.test.group.is_some();
    show::show(&mut out, &report.evaluation, &report.answered, grouped)?;
    if let Some(seen) = &report.promises {
        promises::show_seen(&mut out, seen)?;
    }
    if let Some(said) = report.prior.as_ref().and_then(PriorReport::sentence) {
        writeln!(out, "\nMeasured after the shift: {said}.")?;
    }
    let further = report.evaluation.further.as_ref();
    let intervals = further.and_then(|further| further.bootstrap.as_ref());
    if arguments.bootstrap != Some(0) && intervals.is_none() {
        writeln!(
            out,
            "\nNo intervals: there are fewer than three groups, or their sizes differ too much."
        )?;
    }
    if arguments.other.other.is_some() {
        open::show(&mut out, report.other.as_ref())?;
    }
    show_copies(&mut out, report.copies.unwrap_or(0), COPIES)?;
    if let Some(path) = &arguments.html {
        writeln!(out, "\nThe report is in {}.", path.display())?;
    }
    show_note(&mut out, report.ledger)?;
    Ok(out.flush()?)
}

/// The name of a file without its folder.
fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
