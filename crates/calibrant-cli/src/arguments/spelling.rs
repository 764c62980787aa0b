//! Which spellings of a word are one: for commands that cut text into words.

use calibrant::text::{Analyzer, Language};
use clap::Args;

use super::choice::stem_language;

#[derive(Debug, Args)]
pub(crate) struct SpellingArguments {
    /// Keep upper and lower case distinct
    #[arg(long)]
    pub(crate) keep_case: bool,
    /// Fold accents: é becomes e
    #[arg(long)]
    pub(crate) fold_accents: bool,
    /// Reduce words to Snowball stems of this language
    #[arg(long, value_name = "LANGUAGE", value_parser = stem_language)]
    pub(crate) stem: Option<Language>,
}

impl SpellingArguments {
    pub(crate) fn analyzer(&self) -> Analyzer {
        Analyzer {
            lowercase: !self.keep_case,
            fold_accents: self.fold_accents,
            stemmer: self.stem,
            ..Analyzer::default()
        }
    }
}
