//! `calibrant rank evaluate`

mod comparison;
mod letor;
mod probabilities;
mod runs;

use calibrant::corpus::{ReadError, Source};
use calibrant::evaluation::ranking::Baseline;

use crate::arguments::{BaselineName, RankEvaluateArguments};
use crate::error::CliError;
use crate::input;

pub(crate) fn run(arguments: &RankEvaluateArguments) -> Result<(), CliError> {
    check_inputs(arguments)?;
    match arguments.letor {
        Some(version) => letor::run(arguments, version),
        None => runs::run(arguments),
    }
}

/// Standard input can be read once.
fn check_inputs(arguments: &RankEvaluateArguments) -> Result<(), CliError> {
    let inputs = std::iter::once(&arguments.truth).chain(&arguments.rankings);
    if inputs.filter(|input| *input == "-").count() > 1 {
        return Err(
            CliError::new("`-` is given twice, and standard input can be read once")
                .hint("name files for all inputs but one"),
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

fn source(name: &str) -> Source {
    input::source(name)
}

/// Reading errors, with hints that fit files of rankings.
fn unreadable(error: ReadError) -> CliError {
    let message = error.to_string();
    match error {
        ReadError::NotFound { .. } => {
            CliError::new(message).hint("check the path; `-` reads from standard input")
        }
        _ => CliError::new(message),
    }
}

fn baseline(name: BaselineName) -> Baseline {
    match name {
        BaselineName::First => Baseline::First,
        BaselineName::Best => Baseline::Best,
    }
}

/// Names for a table: those given, or the files' where two are alike.
fn distinct_names(names: Vec<String>, files: &[String]) -> Vec<String> {
    let mut sorted = names.clone();
    sorted.sort_unstable();
    match sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        true => files.to_vec(),
        false => names,
    }
}

/// "1 query", "2 queries".
fn queries(count: usize) -> String {
    match count {
        1 => "1 query".to_owned(),
        count => format!("{count} queries"),
    }
}

/// "1 document", "2 documents".
fn documents(count: usize) -> String {
    match count {
        1 => "1 document".to_owned(),
        count => format!("{count} documents"),
    }
}
