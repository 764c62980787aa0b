//! `calibrant evaluate --html`

use std::path::Path;

use calibrant::evaluation::{Evaluation, Forecasts};
use calibrant::pipeline::Model;
use calibrant::report::{ClassScores, Report, ReportInput};

use super::file_name;
use crate::arguments::EvaluateArguments;
use crate::error::CliError;
use crate::output::{check_target_of, write_whole};

const OPTION: &str = "--html";
/// Classes whose scores are shown: the most frequent ones of the training documents.
pub(super) const SHOWN_CLASSES: usize = 6;

/// A wrong place is refused before any work.
pub(super) fn check_page(arguments: &EvaluateArguments) -> Result<(), CliError> {
    let Some(path) = arguments.html.as_deref() else {
        return Ok(());
    };
    check_target_of(OPTION, path, &arguments.file)?;
    if let (Ok(target), Ok(model)) = (path.canonicalize(), arguments.model.canonicalize())
        && target == model
    {
        return Err(CliError::new(format!(
            "`{}` holds the model and would be overwritten",
            path.display()
        ))
        .hint(format!("choose another {OPTION}")));
    }
    Ok(())
}

/// Writes the report. There is no model where probabilities came as a table.
pub(super) fn write_report(
    arguments: &EvaluateArguments,
    model: Option<&Model>,
    (forecasts, evaluation): (&Forecasts, &Evaluation),
    scores: Vec<ClassScores<'_>>,
    notes: Vec<String>,
    path: &Path,
) -> Result<(), CliError> {
    let report = Report::new(ReportInput {
        title: format!("Evaluation of {}", file_name(&arguments.model)),
        facts: facts(arguments, model),
        notes,
        forecasts,
        evaluation,
        scores,
    })?;
    write_whole(OPTION, report.to_html().as_bytes(), path)
}

fn facts(arguments: &EvaluateArguments, model: Option<&Model>) -> Vec<(String, String)> {
    let test = match arguments.file.as_str() {
        "-" => "standard input".to_owned(),
        file => file_name(Path::new(file)),
    };
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let Some(model) = model else {
        return vec![
            fact("probabilities", file_name(&arguments.model)),
            fact("tested on", test),
        ];
    };
    let summary = model.summary();
    vec![
        fact("model", file_name(&arguments.model)),
        fact(
            "learned from",
            format!(
                "{} documents, {} features, {}",
                summary.documents,
                summary.features,
                model.learner_name()
            ),
        ),
        fact("tested on", test),
    ]
}
