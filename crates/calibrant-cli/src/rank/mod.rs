//! `calibrant rank`

mod evaluate;
mod fit;
pub(crate) mod inspect;
mod predict;
mod reading;

use crate::arguments::{RankArguments, RankCommand};
use crate::error::CliError;

pub(crate) fn run(arguments: &RankArguments) -> Result<(), CliError> {
    match &arguments.command {
        RankCommand::Fit(arguments) => fit::run(arguments),
        RankCommand::Predict(arguments) => predict::run(arguments),
        RankCommand::Evaluate(arguments) => evaluate::run(arguments),
    }
}
