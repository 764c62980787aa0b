//! The `calibrant` program: arguments to a checked job, the library's answer to text, JSON or files.

mod arguments;
mod calibrate;
mod cascade;
mod combine;
mod compare;
mod costs;
mod demo;
mod error;
mod evaluate;
mod explain;
mod fit;
mod fit_report;
mod index;
mod input;
mod inspect;
mod labels;
mod ledger;
mod like;
mod output;
mod predict;
mod predict_policy;
mod prevalence;
mod prior;
mod progress;
mod promises;
mod rank;
mod recalibrate;
mod rules;
mod search;
mod side_columns;
mod split;
mod stop;
mod suspects;
mod table;
mod training;

use std::io::Write;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches};

use arguments::{Arguments, Command, check_learner_options};
use error::CliError;

/// More threads than any machine has cores would only fight over them, or never all start.
const MOST_THREADS: usize = 1024;

fn main() -> ExitCode {
    let given = Arguments::command().get_matches();
    let mut arguments = Arguments::from_arg_matches(&given).unwrap_or_else(|error| error.exit());
    stop::leave_nothing_behind();
    match check(&given, &mut arguments).and_then(|()| run(arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            error.show();
            ExitCode::from(2)
        }
    }
}

/// Refuses what only the command line shows: whether an option was given, or has its default.
fn check(given: &ArgMatches, arguments: &mut Arguments) -> Result<(), CliError> {
    match (&mut arguments.command, given.subcommand()) {
        (Command::Fit(arguments), Some((_, given))) => {
            like::remember(given, arguments)?;
            let search = arguments.search.search;
            check_learner_options(given, &arguments.training.learning, search)
        }
        (Command::Suspects(arguments), Some((_, given))) => {
            check_learner_options(given, &arguments.training.learning, false)
        }
        _ => Ok(()),
    }
}

fn run(arguments: Arguments) -> Result<(), CliError> {
    if let Some(threads) = arguments.threads {
        // Fails only if a pool exists already, and nothing has made one yet.
        let _ = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.get().min(MOST_THREADS))
            .build_global();
    }
    match arguments.command {
        Command::Fit(arguments) => fit::run(&arguments),
        Command::Split(arguments) => split::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Combine(arguments) => combine::run(&arguments),
        Command::Recalibrate(arguments) => recalibrate::run(&arguments),
        Command::Calibrate(arguments) => calibrate::run(&arguments),
        Command::Rules(arguments) => rules::run(&arguments),
        Command::Rank(arguments) => rank::run(&arguments),
        Command::Index(arguments) => index::run(&arguments),
        Command::Search(arguments) => search::run(&arguments).map_err(CliError::without_skipping),
        Command::Cascade(arguments) => cascade::run(&arguments),
        Command::Prevalence(arguments) => prevalence::run(&arguments),
        Command::Suspects(arguments) => suspects::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Completions { shell } => {
            // Into memory first: written straight out, a closed pipe would be a panic.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "calibrant", &mut script);
            Ok(std::io::stdout().write_all(&script)?)
        }
    }
}
