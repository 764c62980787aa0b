//! Where the rows of a ranking come from.

use std::collections::HashSet;

use crate::corpus::{JudgedShare, Qrels, RankingTable, ReadError, Run, Source, TableError};
use crate::ranking::learning::{table_of_runs, unlisted_relevant};

/// Where the rows of a ranking come from.
#[derive(Debug, Clone)]
pub enum RankSource {
    /// LETOR files, one after the other.
    Letor(Vec<Source>),
    /// Runs, each of which becomes a column named after it, with grades from judgements if there are any.
    Runs {
        /// The runs.
        runs: Vec<Source>,
        /// The judgements.
        qrels: Option<Source>,
    },
}

/// The rows, and what is to be known about their judgements.
#[derive(Debug, Clone)]
pub struct RankRows {
    /// One row per query and document.
    pub table: RankingTable,
    /// What nobody judged.
    pub judged: JudgedShare,
    /// Relevant documents that no run lists, which nothing learned from the rest can find.
    pub unlisted_relevant: usize,
}

/// A kind of file that rankings come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankFile {
    /// Grades and features.
    Letor,
    /// A system's lists.
    Run,
    /// Judgements.
    Qrels,
}

impl RankFile {
    /// What a line of such a file looks like.
    pub const fn line(self) -> &'static str {
        match self {
            Self::Letor => "`grade qid:Q 1:V 2:V … # document` is a line of a LETOR file",
            Self::Run => "a line of a run is `query Q0 document rank score name`",
            Self::Qrels => "a line of judgements is `query 0 document grade`",
        }
    }
}

/// Why there are no rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RankRowsError {
    /// A file cannot be read.
    #[error("{error}")]
    Read {
        /// What it should have been.
        file: RankFile,
        /// Why not.
        error: Box<ReadError>,
    },
    /// Two runs have one name, and so would two columns.
    #[error("two runs have the name `{name}`")]
    SameName {
        /// The name.
        name: String,
    },
    /// Nobody judged any query of the runs.
    #[error("no query of the runs is judged")]
    NothingJudged,
    /// The parts make no table.
    #[error(transparent)]
    Table(TableError),
}

impl RankSource {
    /// Reads them; grades from `relevant_from` on are relevant where what no run lists is counted.
    pub fn read(&self, relevant_from: i32) -> Result<RankRows, RankRowsError> {
        match self {
            Self::Letor(sources) => {
                let table = RankingTable::read_files(sources).map_err(bad(RankFile::Letor))?;
                Ok(RankRows {
                    judged: table.judged_share(),
                    table,
                    unlisted_relevant: 0,
                })
            }
            Self::Runs { runs, qrels } => {
                let runs: Vec<Run> = runs
                    .iter()
                    .map(Run::read)
                    .collect::<Result<_, _>>()
                    .map_err(bad(RankFile::Run))?;
                let qrels = qrels.as_ref().map(Qrels::read).transpose();
                let qrels = qrels.map_err(bad(RankFile::Qrels))?;
                joined(&runs, qrels.as_ref(), relevant_from)
            }
        }
    }
}

fn bad(file: RankFile) -> impl Fn(ReadError) -> RankRowsError {
    move |error| RankRowsError::Read {
        file,
        error: Box::new(error),
    }
}

fn joined(
    runs: &[Run],
    qrels: Option<&Qrels>,
    relevant_from: i32,
) -> Result<RankRows, RankRowsError> {
    let table = table_of_runs(runs, qrels).map_err(|error| match error {
        TableError::DuplicateFeature { name } => RankRowsError::SameName { name },
        error => RankRowsError::Table(error),
    })?;
    if table.row_count() == 0 {
        return Err(RankRowsError::NothingJudged);
    }
    let queries = runs.iter().flat_map(Run::queries);
    let queries: HashSet<&str> = queries.map(|query| query.id()).collect();
    let is_unjudged = |id: &&&str| qrels.is_some_and(|qrels| !qrels.is_judged(id));
    Ok(RankRows {
        judged: JudgedShare {
            unjudged_queries: queries.iter().filter(is_unjudged).count(),
            ..table.judged_share()
        },
        unlisted_relevant: qrels.map_or(0, |qrels| unlisted_relevant(&table, qrels, relevant_from)),
        table,
    })
}
