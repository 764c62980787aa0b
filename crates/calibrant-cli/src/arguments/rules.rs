//! Options of `calibrant rules`.

use std::path::PathBuf;

use calibrant::text::{Analyzer, Language};
use clap::{Args, Subcommand};

use super::ReadArguments;
use super::choice::stem_language;

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
    /// Keep upper and lower case distinct
    #[arg(long)]
    pub(crate) keep_case: bool,
    /// Fold accents: é becomes e
    #[arg(long)]
    pub(crate) fold_accents: bool,
    /// Reduce words to Snowball stems of this language
    #[arg(long, value_name = "LANGUAGE", value_parser = stem_language)]
    pub(crate) stem: Option<Language>,
    /// Print everything as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

impl RulesCheckArguments {
    pub(crate) fn analyzer(&self) -> Analyzer {
        Analyzer {
            lowercase: !self.keep_case,
            fold_accents: self.fold_accents,
            stemmer: self.stem,
            ..Analyzer::default()
        }
    }
}
