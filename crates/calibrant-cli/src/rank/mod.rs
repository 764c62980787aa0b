//! `calibrant rank`

mod evaluate;
mod fit;
pub(crate) mod inspect;
mod outlook;
mod predict;
mod reading;

use calibrant::ranking::{JudgedShare, Unjudged};
pub(crate) use reading::open_model;

use crate::arguments::{RankArguments, RankCommand};
use crate::error::CliError;
use crate::output::note;

/// Says what nobody judged, and what becomes of it.
pub(crate) fn tell_judged(file: Option<&str>, judged: &JudgedShare, unjudged: Unjudged) {
    let of = file.map_or(String::new(), |file| format!("{file}: "));
    if judged.unjudged_queries > 0 {
        note(&format!(
            "{of}{} queries without any judgement are left out",
            judged.unjudged_queries
        ));
    }
    if judged.unjudged_documents > 0 {
        note(&format!(
            "{of}{} of {} documents were judged ({:.1} %); the others {}",
            judged.documents - judged.unjudged_documents,
            judged.documents,
            100.0 * judged.share(),
            match unjudged {
                Unjudged::Zero => "count as not relevant (--unjudged leave-out ignores them)",
                Unjudged::LeaveOut => "are left out (--unjudged zero counts them as not relevant)",
            }
        ));
    }
}

pub(crate) fn run(arguments: &RankArguments) -> Result<(), CliError> {
    let done = match &arguments.command {
        RankCommand::Evaluate(arguments) => evaluate::run(arguments),
        RankCommand::Outlook(arguments) => outlook::run(arguments),
        RankCommand::Fit(arguments) => fit::run(arguments),
        RankCommand::Predict(arguments) => predict::run(arguments),
    };
    done.map_err(CliError::without_skipping)
}
