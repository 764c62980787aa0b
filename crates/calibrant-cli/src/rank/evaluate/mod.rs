//! `calibrant rank evaluate`

mod comparison;
mod letor;
mod probabilities;
mod runs;

use std::io::Write;

use calibrant::corpus::{ReadError, Source};
use calibrant::evaluation::ranking::{LETOR_CUTS, RankingComparison, RunEvaluationError};
use calibrant::jobs::rankings::{
    MeasuredRankings, RankEvaluateError, RankEvaluateSettings, evaluate_rankings,
};

use super::reading::source;
use crate::arguments::RankEvaluateArguments;
use crate::error::CliError;
use crate::output::{print_json, stdout};

pub(crate) fn run(arguments: &RankEvaluateArguments) -> Result<(), CliError> {
    check_inputs(arguments)?;
    let rankings: Vec<Source> = arguments.rankings.iter().map(|file| source(file)).collect();
    let settings = settings(arguments);
    let measured = evaluate_rankings(&source(&arguments.truth), &rankings, &settings)?;
    match &measured {
        MeasuredRankings::Runs { runs, comparisons } => {
            runs::tell(runs, comparisons, arguments.complete);
        }
        MeasuredRankings::Letor { rankings, .. } => letor::tell(rankings),
        MeasuredRankings::Relevance { rankings } => {
            probabilities::tell(rankings, arguments);
        }
    }
    if arguments.json {
        return print_json(&measured);
    }
    let mut out = stdout();
    match &measured {
        MeasuredRankings::Runs { runs, comparisons } => match several(comparisons) {
            Some(comparisons) => comparison::show(&mut out, comparisons)?,
            None => runs::show(&mut out, runs)?,
        },
        MeasuredRankings::Letor {
            rankings,
            comparisons,
        } => match several(comparisons) {
            Some(comparisons) => comparison::show(&mut out, comparisons)?,
            None => letor::show(&mut out, rankings)?,
        },
        MeasuredRankings::Relevance { rankings } => probabilities::show(&mut out, rankings)?,
    }
    Ok(out.flush()?)
}

fn several(comparisons: &[RankingComparison]) -> Option<&[RankingComparison]> {
    Some(comparisons).filter(|all| !all.is_empty())
}

fn settings(arguments: &RankEvaluateArguments) -> RankEvaluateSettings {
    RankEvaluateSettings {
        measures: arguments.measures.clone(),
        per_query: arguments.per_query,
        complete: arguments.complete,
        relevant_from: arguments.relevant_from,
        most_documents: arguments.most_documents.map(usize::from),
        collection_size: arguments.collection_size,
        letor: arguments.letor,
        probabilities: arguments.probabilities,
        unjudged: arguments.unjudged,
        baseline: arguments.baseline,
        seed: arguments.seed,
    }
}

/// Standard input can be read once.
fn check_inputs(arguments: &RankEvaluateArguments) -> Result<(), CliError> {
    let inputs = std::iter::once(&arguments.truth).chain(&arguments.rankings);
    if inputs.filter(|input| *input == "-").count() > 1 {
        return Err(
            CliError::new("`-` is given twice, and standard input can be read once")
                .hint("give files for all inputs but one"),
        );
    }
    if arguments.per_query && arguments.rankings.len() > 1 && !arguments.json {
        return Err(
            CliError::new("-q shows the queries of one ranking, and several are given")
                .hint("add --json for the queries of all, or measure them one at a time"),
        );
    }
    Ok(())
}

impl From<RankEvaluateError> for CliError {
    fn from(error: RankEvaluateError) -> Self {
        let hint = match &error {
            RankEvaluateError::Read(ReadError::NotFound { .. }) => {
                "check the path; `-` reads from standard input"
            }
            RankEvaluateError::Measure(_) => {
                "--measure takes a name with parameters after a point, such as P.5,10"
            }
            RankEvaluateError::LetorMeasure { .. } => {
                let all = format!(
                    "the measures are MAP, NDCG@1 to NDCG@{LETOR_CUTS} and P@1 to P@{LETOR_CUTS}"
                );
                return Self::new(error.to_string()).hint(all);
            }
            RankEvaluateError::Run {
                error: RunEvaluationError::NothingInCommon { .. },
                ..
            }
            | RankEvaluateError::NothingJudged { .. } => {
                "judgements come first, then runs; are both of the same queries?"
            }
            RankEvaluateError::Run {
                error: RunEvaluationError::NoCollectionSize { .. },
                ..
            } => "-N gives the number of documents",
            RankEvaluateError::ScoreCount { .. } => {
                "a file of scores has a line for each row, in the order of the test file"
            }
            RankEvaluateError::NothingToCompare => "--measure map, for one",
            RankEvaluateError::Comparison(_) => {
                "-c compares on all judged queries and counts those that a run lacks as 0"
            }
            RankEvaluateError::NotAProbability { .. } => {
                "without --probabilities scores may be any numbers"
            }
            _ => return Self::new(error.to_string()),
        };
        Self::new(error.to_string()).hint(hint)
    }
}

/// "1 query", "2 queries".
fn queries(count: usize) -> String {
    match count {
        1 => "1 query".to_owned(),
        count => format!("{count} queries"),
    }
}
