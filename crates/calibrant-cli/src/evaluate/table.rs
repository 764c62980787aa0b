//! A file of probabilities in place of a model.

use calibrant::evaluation::evaluate_with;

use super::{EvaluateReport, options, write};
use crate::arguments::EvaluateArguments;
use crate::compare::Question;
use crate::error::CliError;
use crate::evaluate_page::EvaluatePage;
use crate::ledger::{Look, record};

pub(super) fn run(arguments: &EvaluateArguments) -> Result<(), CliError> {
    if arguments.other.other.is_some() {
        return Err(CliError::new(
            "--other needs a model: a table does not say how strange a document looks",
        ));
    }
    if arguments.prior.is_given() {
        return Err(CliError::new(
            "--prior and --adapt-prior need a model: a table does not say how common the classes were in training",
        )
        .hint("shift them where they are made, with `calibrant predict` or `calibrant calibrate`"));
    }
    let page = EvaluatePage::wanted(arguments, None)?;
    let mut answers = Question {
        file: &arguments.file,
        systems: std::slice::from_ref(&arguments.model),
        reading: &arguments.reading,
        group: arguments.group.as_deref(),
        classes: &arguments.classes,
        positive: arguments.positive.as_deref(),
        labels: arguments.labels,
        order: "the model or table comes first, then the test set: calibrant evaluate MODEL TEST",
    }
    .ask()?;
    let Some(forecasts) = answers.forecasts.pop() else {
        return Ok(()); // One system gives one set of forecasts.
    };
    let names = forecasts.class_names.iter().map(String::as_str);
    let mut options = options(arguments, forecasts.task, names)?;
    options.groups = answers.measured.together();
    let evaluation = evaluate_with(&forecasts, &options)?;
    let stated_ends = answers.ends.pop().flatten();
    if let Some(page) = &page {
        let notes = stated_ends.iter().flat_map(|ends| ends.sentences());
        let notes = notes.map(|said| format!("{said}.")).collect();
        page.write(arguments, None, &forecasts, &evaluation, notes)?;
    }
    let look = Look {
        path: &arguments.model,
        classifier: "probabilities".to_owned(),
        log_loss: evaluation.log_loss,
    };
    let ledger = record(!arguments.no_ledger, &answers.hash, &[look]);
    let report = EvaluateReport {
        evaluation,
        unknown_labels: answers.unknown_labels,
        documents_left_out: answers.left_out,
        bad_rows: answers.bad_rows,
        stated_ends,
        prior: None,
        copies: None,
        learned_from: None,
        other: None,
        ledger,
    };
    write(arguments, &report)
}
