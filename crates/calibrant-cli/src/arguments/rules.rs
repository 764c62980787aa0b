//! Options of `calibrant rules`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{ReadArguments, SpellingArguments};

#[derive(Debug, Args)]
pub(crate) struct RulesArguments {
    #[command(subcommand)]
    pub(crate) command: RulesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Show precision and recall of each rule, and what each of its clauses adds and costs
    Check(RulesCheckArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RulesCheckArguments {
    /// A rules file: lines `category: query` with AND, OR, NOT, "phrases", begin*, field:word and 2 of (a, b, c)
    pub(crate) rules: PathBuf,
    /// Labelled documents in any readable format; `-` is standard input
    pub(crate) file: String,
    #[command(flatten)]
    pub(crate) reading: ReadArguments,
    #[command(flatten)]
    pub(crate) spelling: SpellingArguments,
    /// Print everything as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}
