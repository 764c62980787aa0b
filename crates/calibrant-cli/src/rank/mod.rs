//! `calibrant rank`

mod evaluate;
mod fit;
pub(crate) mod inspect;
mod outlook;
mod predict;
mod reading;

use crate::arguments::{RankArguments, RankCommand};
use crate::error::CliError;

pub(crate) fn run(arguments: &RankArguments) -> Result<(), CliError> {
    match &arguments.command {
        RankCommand::Evaluate(arguments) => evaluate::run(arguments),
        RankCommand::Outlook(arguments) => outlook::run(arguments),
        RankCommand::Fit(arguments) => fit::run(arguments),
        RankCommand::Predict(arguments) => predict::run(arguments),
    }
}
