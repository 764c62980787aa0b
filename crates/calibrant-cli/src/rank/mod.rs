//! `calibrant rank`

mod evaluate;

use crate::arguments::{RankArguments, RankCommand};
use crate::error::CliError;

pub(crate) fn run(arguments: &RankArguments) -> Result<(), CliError> {
    match &arguments.command {
        RankCommand::Evaluate(arguments) => evaluate::run(arguments),
    }
}
