//! Tables for `rank fit` and `rank predict`.

use std::collections::HashSet;

use calibrant::corpus::{ReadError, Source};
use calibrant::ranking::learning::{table_of_runs, unlisted_relevant};
use calibrant::ranking::{Qrels, RankingTable, Run, TableError};

use crate::error::CliError;
use crate::input;

/// LETOR files, one after the other.
pub(super) fn letor(files: &[String]) -> Result<RankingTable, CliError> {
    if files.iter().filter(|file| *file == "-").count() > 1 {
        return Err(
            CliError::new("standard input can be read once").hint("give `-` once, or files")
        );
    }
    let sources: Vec<Source> = files.iter().map(|file| input::source(file)).collect();
    RankingTable::read_files(&sources).map_err(|error| {
        bad_file(
            error,
            "`grade qid:Q 1:V 2:V … # document` is a line of a LETOR file",
        )
    })
}

/// Runs, a column each, with grades from judgements; how many of their queries nobody judged, which are left out; and how many relevant
/// documents no run lists.
pub(super) struct JoinedRuns {
    pub(super) table: RankingTable,
    pub(super) unjudged_queries: usize,
    pub(super) unlisted_relevant: usize,
}

/// Reads runs, and judgements where there are any.
pub(super) fn runs(
    files: &[String],
    qrels: Option<&str>,
    relevant_from: i32,
) -> Result<JoinedRuns, CliError> {
    let mut read = Vec::with_capacity(files.len());
    for file in files {
        let run = Run::read(&input::source(file));
        read.push(run.map_err(|error| {
            bad_file(
                error,
                "a line of a run is `query Q0 document rank score name`",
            )
        })?);
    }
    let qrels = qrels
        .map(|file| Qrels::read(&input::source(file)))
        .transpose()
        .map_err(|error| bad_file(error, "a line of judgements is `query 0 document grade`"))?;
    let table = table_of_runs(&read, qrels.as_ref()).map_err(|error| match error {
        TableError::DuplicateFeature { name } => {
            CliError::new(format!("two runs have the name `{name}`"))
                .hint("the last column of a run is its name; give every run its own")
        }
        error => CliError::new(error.to_string()),
    })?;
    if table.row_count() == 0 {
        return Err(CliError::new("no query of the runs is judged")
            .hint("check that runs and judgements name queries alike"));
    }
    let queries = read.iter().flat_map(Run::queries);
    let queries: HashSet<&str> = queries.map(|query| query.id()).collect();
    let is_unjudged = |id: &&&str| qrels.as_ref().is_some_and(|qrels| !qrels.is_judged(id));
    Ok(JoinedRuns {
        unjudged_queries: queries.iter().filter(is_unjudged).count(),
        unlisted_relevant: qrels
            .as_ref()
            .map_or(0, |qrels| unlisted_relevant(&table, qrels, relevant_from)),
        table,
    })
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
