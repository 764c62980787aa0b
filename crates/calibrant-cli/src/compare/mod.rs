//! `calibrant compare`

mod errors;
mod page;
mod terminal;

use std::io::Write;

use calibrant::decision::DecisionCosts;
use calibrant::evaluation::CompareSettings;
use calibrant::jobs::{
    Answers, Look, System, TableNote, WrittenOtherwise, ask_systems, compare_systems,
};
use calibrant::report::SystemReliability;

use crate::arguments::CompareArguments;
use crate::costs;
use crate::error::CliError;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::labels::{fold_note, note_unlabelled};
use crate::ledger::record;
use crate::output::{
    WRITE_ALIKE, check_distinct, check_target_of, note, print_json, stdout, unknown_label_notes,
    warn, write_whole,
};
use crate::progress::TerminalProgress;
use crate::training::warn_known;
pub(crate) use errors::system_error;
pub(crate) use terminal::{copies_sentence, show_copies};

/// In which order the command takes its files.
const ORDER: &str = "the test set comes first, then the systems: calibrant compare TEST A B";

pub(crate) fn run(arguments: &CompareArguments) -> Result<(), CliError> {
    if let Some(path) = &arguments.html {
        check_target_of("--html", path, &arguments.file)?;
        for system in &arguments.systems {
            check_target_of("--html", path, &system.to_string_lossy())?;
        }
    }
    check_distinct(&arguments.systems)?;
    if arguments.systems.iter().any(|path| path.as_os_str() == "-") {
        return Err(CliError::new("a system must be a file")
            .hint("only the test set can come from standard input"));
    }
    let costs = costs::read(arguments.costs.costs.as_deref())?;
    let failed = |error| system_error(error, ORDER);
    let systems = System::open(&arguments.systems).map_err(failed)?;
    let (mut options, settings) = (arguments.test.options(), arguments.test.settings());
    options.fields.amounts = DecisionCosts::fields_of(&costs);
    let source = input::source(&arguments.file);
    let progress = TerminalProgress::default();
    let answers = ask_systems(&systems, &source, &options, &settings, &progress).map_err(failed)?;
    warn_answers(&answers);
    for (system, known) in systems.iter().zip(&answers.known) {
        warn_known(&format!("`{}`", system.name), known);
    }
    let settings = CompareSettings {
        level: arguments.level,
        bootstrap: arguments.bootstrap,
        seed: arguments.seed,
        ..CompareSettings::default()
    };
    let test_set = answers.test_set;
    let reliability = match arguments.html {
        Some(_) => reliability(&systems, &answers)?,
        None => Vec::new(),
    };
    let mut report = compare_systems(&systems, answers, &costs, &settings)?;
    let measured = systems.iter().zip(&report.comparison.systems);
    let looks: Vec<Look<'_>> = measured
        .map(|(system, compared)| Look::at(system, compared.log_loss.mean))
        .collect();
    report.ledger = record(!arguments.no_ledger, &test_set, &looks);
    if let Some(path) = &arguments.html {
        write_whole(
            "--html",
            page::render(&report, &reliability).as_bytes(),
            path,
        )?;
    }
    if arguments.json {
        return print_json(&report);
    }
    let mut out = stdout();
    terminal::show(&mut out, &report)?;
    Ok(out.flush()?)
}

/// Stated against observed of every system, for the page.
fn reliability(systems: &[System], answers: &Answers) -> Result<Vec<SystemReliability>, CliError> {
    let named = systems.iter().zip(&answers.forecasts);
    named
        .map(|(system, forecasts)| Ok(SystemReliability::new(&system.name, forecasts)?))
        .collect()
}

/// Says what is strange about the documents and the tables.
pub(crate) fn warn_answers(answers: &Answers) {
    warn_bad_rows(&answers.read);
    if let Some(found) = answers.forecasts.first() {
        note_unlabelled(&answers.read, found.task);
    }
    for said in &answers.notes {
        let text = match said {
            TableNote::GuessedPositive { .. } => format!("{said}; --positive names another"),
            _ => said.to_string(),
        };
        match said.is_warning() {
            true => warn(&text),
            false => note(&text),
        }
    }
    let unknown = &answers.unknown_labels;
    let fate = ["is not measured", "are not measured"];
    for said in unknown_label_notes(unknown, answers.left_out, "systems", fate) {
        warn(&said);
    }
    let classes = answers.forecasts.first().map(|found| &found.class_names);
    let names = classes.into_iter().flatten().map(String::as_str);
    if let Some(said) = fold_note(unknown, names.clone()) {
        warn(&said);
    }
    if let Some(said) = WrittenOtherwise::of(unknown, names) {
        warn(&format!("{said}; {WRITE_ALIKE}"));
    }
}
