//! Where the rows of `rank fit` and `rank predict` come from, and what to do where they do not come.

use std::path::Path;

use calibrant::corpus::{ReadError, Source};
use calibrant::jobs::rankings::{RankRowsError, RankSource};
use calibrant::ranking::learning::RankModel;

use crate::error::CliError;

/// LETOR files, or runs where there are any.
pub(super) fn rows_of(
    letor: &[String],
    runs: &[String],
    qrels: Option<&str>,
) -> Result<RankSource, CliError> {
    let inputs = letor.iter().chain(runs).map(String::as_str).chain(qrels);
    if inputs.filter(|file| *file == "-").count() > 1 {
        return Err(
            CliError::new("standard input can be read once").hint("give `-` once, or files")
        );
    }
    let sources = |files: &[String]| files.iter().map(|file| source(file)).collect();
    Ok(match runs.is_empty() {
        true => RankSource::Letor(sources(letor)),
        false => RankSource::Runs {
            runs: sources(runs),
            qrels: qrels.map(source),
        },
    })
}

pub(super) fn source(name: &str) -> Source {
    crate::input::source(name)
}

impl From<RankRowsError> for CliError {
    fn from(error: RankRowsError) -> Self {
        let hint = match error {
            // The usual hint on bad rows speaks of options that rankings do not have.
            RankRowsError::Read { file, ref error }
                if matches!(
                    **error,
                    ReadError::BadRow(_) | ReadError::InvalidUtf8 { .. }
                ) =>
            {
                file.line()
            }
            RankRowsError::Read { error, .. } => return (*error).into(),
            RankRowsError::SameName { .. } => {
                "the last column of a run is its name; `search --run-name` names a run"
            }
            RankRowsError::NothingJudged => {
                "check that runs and judgements use the same query names"
            }
            _ => return Self::new(error.to_string()),
        };
        Self::new(error.to_string()).hint(hint)
    }
}

/// Opens a ranking model.
pub(crate) fn open_model(path: &Path) -> Result<RankModel, CliError> {
    Ok(RankModel::open(path)?)
}
