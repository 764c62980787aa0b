//! Tables for `rank fit` and `rank predict`.

use calibrant::corpus::{ReadError, Source};
use calibrant::ranking::learning::table_of_runs;
use calibrant::ranking::{Qrels, RankingTable, Run, TableError};

use crate::error::CliError;

/// LETOR files, one after the other.
pub(super) fn letor(files: &[String]) -> Result<RankingTable, CliError> {
    if files.iter().filter(|file| *file == "-").count() > 1 {
        return Err(
            CliError::new("standard input can be read once").hint("give `-` once, or files")
        );
    }
    let sources: Vec<Source> = files
        .iter()
        .map(|file| Source::from(file.as_str()))
        .collect();
    RankingTable::read_files(&sources).map_err(|error| {
        bad_file(
            error,
            "`grade qid:Q 1:V 2:V … # document` is a line of a LETOR file",
        )
    })
}

/// Runs, a column each, with grades from judgements.
pub(super) fn runs(files: &[String], qrels: Option<&str>) -> Result<RankingTable, CliError> {
    let mut read = Vec::with_capacity(files.len());
    for file in files {
        let run = Run::read(&Source::from(file.as_str()));
        read.push(run.map_err(|error| {
            bad_file(
                error,
                "a line of a run is `query Q0 document rank score name`",
            )
        })?);
    }
    let qrels = qrels
        .map(|file| Qrels::read(&Source::from(file)))
        .transpose()
        .map_err(|error| bad_file(error, "a line of judgements is `query 0 document grade`"))?;
    let table = table_of_runs(&read, qrels.as_ref()).map_err(|error| match error {
        TableError::DuplicateFunction { name } => {
            CliError::new(format!("two runs have the name `{name}`"))
                .hint("the last column of a run is its name; give every run its own")
        }
        error => CliError::new(error.to_string()),
    })?;
    if table.row_count() == 0 {
        return Err(CliError::new("no query of the runs is judged")
            .hint("check that runs and judgements name queries alike"));
    }
    Ok(table)
}

/// The usual hint on bad rows speaks of options that rankings do not have.
fn bad_file(error: ReadError, hint: &str) -> CliError {
    match error {
        ReadError::BadRow(_) | ReadError::InvalidUtf8 { .. } => {
            CliError::new(error.to_string()).hint(hint)
        }
        error => error.into(),
    }
}
