//! `calibrant evaluate --without-labels`

use std::io::Write;

use calibrant::Task;
use calibrant::jobs::{ExpectError, ExpectedReport, PriorReport, expect_source};
use calibrant::pipeline::Model;
use calibrant::report::ExpectedPage;

use super::page::{OPTION, check_page, made};
use super::{file_name, show};
use crate::arguments::EvaluateArguments;
use crate::error::CliError;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::output::{count_of, print_json, stdout, warn, write_whole};
use crate::prior::{choice, show_prior};
use crate::progress::TerminalProgress;
use crate::side_columns::unknown_notes;
use crate::table::{decimal, table};

/// Classes that are listed.
const MOST_CLASSES: usize = 30;

impl From<ExpectError> for CliError {
    fn from(error: ExpectError) -> Self {
        match error {
            ExpectError::Read(error) => error.into(),
            ExpectError::Predict(error) => error.into(),
            error => CliError::new(error.to_string()),
        }
    }
}

/// What is about labels, and means nothing without them.
fn refuse(arguments: &EvaluateArguments) -> Result<(), CliError> {
    let test = &arguments.test;
    let given = [
        ("--costs", arguments.costs.costs.is_some()),
        ("--other", arguments.other.other.is_some()),
        ("--group", test.group.is_some()),
        ("--classes", !test.classes.is_empty()),
        ("--positive", test.positive.is_some()),
        ("--labels", test.labels.is_some()),
        ("--bootstrap", arguments.bootstrap.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(CliError::new(format!(
            "{option} cannot be used with --without-labels"
        ))
        .hint(format!("leave out {option}, or give a file with labels"))),
        None => Ok(()),
    }
}

pub(super) fn run(arguments: &EvaluateArguments, model: &Model) -> Result<(), CliError> {
    refuse(arguments)?;
    check_page(arguments)?;
    let source = input::source(&arguments.file);
    let (options, prior) = (arguments.test.options(), choice(&arguments.prior)?);
    let progress = TerminalProgress::default();
    let found = expect_source(model, &source, &options, &prior, &progress)?;
    warn_bad_rows(&found.read);
    let report = &found.report;
    if let Some(prior) = &report.prior {
        show_prior(&arguments.file, prior);
    }
    let mut notes = unknown_notes(&found.unknown_cells);
    notes.iter().for_each(|note| warn(note));
    notes.extend(report.prior.as_ref().and_then(PriorReport::sentence));
    notes.extend((report.task == Task::MultiLabel).then(|| {
        "With several labels an answer is right where all of them are; what is expected of that, and its interval, are what they would be if labels were independent".to_owned()
    }));
    let notes: Vec<String> = notes.iter().map(|note| format!("{note}.")).collect();
    if let Some(path) = arguments.html.as_deref() {
        let classes: Vec<(String, usize, f64)> = report
            .classes
            .iter()
            .map(|class| (class.label.clone(), class.decided, class.expected))
            .collect();
        let title = format!("What {} expects", file_name(&arguments.model));
        let page = ExpectedPage {
            title: &title,
            made: &made(arguments),
            notes: &notes,
            documents: report.documents,
            errors: (report.expected_errors, report.deviation),
            held_out_accuracy: report.held_out_accuracy,
            answers: &report.answered,
            decision_curves: &report.decision_curves,
            classes: &classes,
        };
        write_whole(OPTION, page.to_html().as_bytes(), path)?;
    }
    write(arguments, report)
}

fn write(arguments: &EvaluateArguments, report: &ExpectedReport) -> Result<(), CliError> {
    if arguments.json {
        return print_json(report);
    }
    let mut out = stdout();
    writeln!(
        out,
        "{} ({}), labels not read: all of this is what the probabilities promise",
        count_of(report.documents, "document"),
        report.task
    )?;
    let right = match report.task {
        Task::SingleLabel => "answers right",
        Task::MultiLabel => "documents with all labels right, if labels were independent",
    };
    let before = report.held_out_accuracy;
    let before = before.map_or_else(String::new, |before| {
        format!("; {} on the held-out documents of the fit", decimal(before))
    });
    writeln!(
        out,
        "expected {right}: {} [{}, {}]{before}",
        decimal(report.expected_accuracy),
        decimal(report.lower),
        decimal(report.upper)
    )?;
    writeln!(
        out,
        "expected mistakes: {:.1} ± {:.1}",
        report.expected_errors, report.deviation
    )?;
    show::answered(&mut out, &report.answered)?;
    let mut rows = table(&["class", "given", "expected"], 1);
    let mut classes: Vec<_> = report.classes.iter().collect();
    classes.sort_by(|a, b| b.expected.total_cmp(&a.expected));
    for class in classes.iter().take(MOST_CLASSES) {
        rows.add_row(vec![
            class.label.clone(),
            class.decided.to_string(),
            format!("{:.1}", class.expected),
        ]);
    }
    writeln!(out, "\n{rows}")?;
    writeln!(
        out,
        "\nThis holds while the model is calibrated for these documents. Label some of them, drawn at random, and run `calibrant evaluate`; where the promise is not kept, `calibrant recalibrate`."
    )?;
    if let Some(path) = &arguments.html {
        writeln!(out, "\nThe report is in {}.", path.display())?;
    }
    Ok(out.flush()?)
}
