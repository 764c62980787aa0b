//! What to do where systems cannot be asked.

use calibrant::Task;
use calibrant::jobs::{SystemError, TableError};

use crate::error::CliError;
use crate::output::WRITE_ALIKE;

/// `order` says in which order the command takes its files.
pub(crate) fn system_error(error: SystemError, order: &str) -> CliError {
    let said = CliError::new(error.to_string());
    match error {
        SystemError::Read(error) => error.into(),
        SystemError::Model(error) => error.into(),
        SystemError::Table(error) => table_error(error),
        SystemError::NotASystem(error) => CliError::from(error).hint(
            "systems are model files, or files of probabilities in .csv, .tsv, .jsonl or .parquet",
        ),
        SystemError::IsAModel { .. } => said.hint(order),
        SystemError::LabelFields { .. } => said.hint("name the label field with --label"),
        SystemError::ReadOnce { .. } => {
            said.hint("name the text fields with --text, or give the test set as a file")
        }
        SystemError::DocumentCounts { .. } => {
            said.hint("leave out --skip-bad-rows, or name the text fields with --text")
        }
        SystemError::TaskContradicted { system, task } => {
            CliError::new(format!("`{system}` is {task}, which --labels contradicts"))
                .hint("--labels is for files of probabilities; models know it themselves")
        }
        SystemError::ExclusiveClasses { system } => CliError::new(format!(
            "--classes needs multi-label models: the classes of `{system}` exclude each other"
        ))
        .hint("use --where to choose documents"),
        SystemError::Classes { task, .. } => said.hint(match task {
            Task::MultiLabel => "--classes chooses classes that all systems have",
            Task::SingleLabel => "only systems that choose among the same classes can be compared",
        }),
        SystemError::WrittenOtherwise(_) => said.hint(WRITE_ALIKE),
        _ => said,
    }
}

fn table_error(error: TableError) -> CliError {
    let said = CliError::new(error.to_string());
    let quoted = |names: &[String], most: usize| -> String {
        let shown = names.iter().take(most).map(|name| format!("`{name}`"));
        shown.collect::<Vec<String>>().join(", ")
    };
    let hint = match error {
        TableError::Read(error) => return error.into(),
        TableError::NoColumns { columns, .. } => {
            let names = quoted(&columns, 20);
            return said.hint(format!(
                "name the columns after the classes (or `proba_CLASS`); its columns are {names}"
            ));
        }
        TableError::NoPositive { positive, classes } => {
            let names = quoted(&classes, classes.len());
            let message = format!("there is no class `{positive}` for --positive");
            return CliError::new(message).hint(format!("the classes are {names}"));
        }
        TableError::NoIdColumn { .. } | TableError::NoIdentifier { .. } => {
            "without --id rows are taken in the order of the test set"
        }
        TableError::NotAProbability { .. } => {
            "probabilities are numbers from 0 to 1; --classes names the columns of the classes"
        }
        TableError::MissingClass { .. } => {
            "every document needs every class: predict without --top"
        }
        TableError::Sum { .. } => "--labels several measures each class separately",
        TableError::RowCount { .. } => {
            "rows must be in the order of the test set (after --where); a column `id` in both, or --id FIELD, joins them instead"
        }
        TableError::RowNumbers { .. } => {
            "predict for the same documents (with the same --where), or with --id FIELD, which joins rows whatever their number"
        }
        TableError::TestSetWithoutId { .. } => "--id names the field that has one",
        TableError::IdsOrRows { .. } => {
            "if they are identifiers, give --id (`--id id`); if they number rows, name the column `row`, or predict again"
        }
        TableError::TwiceInTable { .. } | TableError::TwiceInTestSet { .. } => {
            "identifiers must be unique; --id names another field"
        }
        TableError::MissingRows(found) if found.are_numbers => {
            "both are joined by their column `id`; if it numbers rows there, call it `row`"
        }
        TableError::MissingRows(_) => {
            "both are joined by their column `id`; --id names another field of the test set"
        }
        _ => return said,
    };
    said.hint(hint)
}
