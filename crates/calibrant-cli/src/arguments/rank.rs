//! Arguments of `calibrant rank`.

use clap::{Args, Subcommand};

use super::rank_learning::{RankFitArguments, RankPredictArguments};

#[derive(Debug, Args)]
pub(crate) struct RankArguments {
    #[command(subcommand)]
    pub(crate) command: RankCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RankCommand {
    /// Learn a ranking from judged documents: SVM-MAP and relatives, on LETOR files or on runs
    Fit(Box<RankFitArguments>),
    /// Score documents with a learned ranking
    Predict(RankPredictArguments),
}
