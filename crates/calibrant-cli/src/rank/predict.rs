//! `calibrant rank predict`

use std::io::Write;

use calibrant::jobs::rankings::{RankPredictError, RankPredictSettings, RankPredictions};

use super::reading;
use crate::arguments::RankPredictArguments;
use crate::error::CliError;
use crate::output::{check_target, note, stdout, warn, write_pieces};

pub(crate) fn run(arguments: &RankPredictArguments) -> Result<(), CliError> {
    let model = reading::open_model(&arguments.model)?;
    if let Some(output) = &arguments.output {
        for file in arguments.test.iter().chain(&arguments.runs) {
            check_target(output, file)?;
        }
        check_target(output, &arguments.model.to_string_lossy())?;
    }
    let rows = reading::rows_of(&arguments.test, &arguments.runs, None)?;
    let settings = RankPredictSettings {
        ignore_unknown: arguments.ignore_unknown,
        ignore_missing: arguments.ignore_missing,
    };
    let found = RankPredictions::read(&model, &rows, settings)?;
    if found.by_number {
        warn(
            "the file does not name its columns: the model's were found by number. `# features: 1=NAME 2=NAME …` in the file's first line names them",
        );
    }
    if !found.unknown.is_empty() {
        note(&format!("{} columns are ignored", found.unknown.len()));
    }
    if let Some(first) = found.missing.first() {
        warn(&format!(
            "{} of the {} columns that the model was fitted on are missing, the first of them `{first}`; they are treated as missing for every document",
            found.missing.len(),
            model.features().columns().len()
        ));
    }
    if arguments.probabilities {
        found.stated()?;
    }
    let write = |out: &mut dyn Write| write_as_asked(&found, arguments, out);
    match &arguments.output {
        Some(path) => write_pieces("--output", path, write),
        None => {
            let mut out = stdout();
            write(&mut out)?;
            Ok(out.flush()?)
        }
    }
}

fn write_as_asked(
    found: &RankPredictions,
    arguments: &RankPredictArguments,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    if arguments.json {
        for document in found.ranked() {
            serde_json::to_writer(&mut *out, &document)?;
            writeln!(out)?;
        }
        return Ok(());
    }
    if arguments.run || !arguments.runs.is_empty() {
        let mut lines = Vec::new();
        let run = found.run(&arguments.name, arguments.probabilities)?;
        run.write(&mut lines)?;
        return Ok(out.write_all(&lines)?);
    }
    let stated = match arguments.probabilities {
        true => Some(found.stated()?),
        false => None,
    };
    for (row, score) in found.scores.iter().enumerate() {
        match stated {
            Some(stated) => writeln!(out, "{score}\t{}", stated[row].value())?,
            None => writeln!(out, "{score}")?,
        }
    }
    Ok(())
}

impl From<RankPredictError> for CliError {
    fn from(error: RankPredictError) -> Self {
        let hint = match error {
            RankPredictError::Rows(error) => return error.into(),
            RankPredictError::Unknown(_) => {
                "--ignore-unknown ignores them; columns are matched by the names in the file's header, by number, or by the run's name"
            }
            RankPredictError::Missing { .. } => {
                "give every run with --from-run; --ignore-missing continues without them. A column is a run's name, the last word of its lines"
            }
            RankPredictError::ColumnCount { found, known } if found < known => {
                "name the columns in the file's first line, `# features: 1=NAME 2=NAME …`; --ignore-missing takes the last ones as missing"
            }
            RankPredictError::ColumnCount { .. } => {
                "name the columns in the file's first line, `# features: 1=NAME 2=NAME …`; --ignore-unknown ignores the last ones"
            }
            RankPredictError::NoProbabilities => {
                "fit it without `--calibrator none`, on enough queries to hold some out"
            }
            RankPredictError::Run(_) => {
                "a run needs names: `# NAME` or `#docid = NAME` at the end of a LETOR line; without --run none are needed"
            }
            _ => return Self::new(error.to_string()),
        };
        Self::new(error.to_string()).hint(hint)
    }
}
