//! Labels as people type them.

use calibrant::corpus::{EmptyLabels, ReadOptions};
use clap::Args;

use super::choice::choice;

#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct LabelArguments {
    /// Labels that differ in case or space alone are one, spelt as most rows spell it; a model remembers it
    #[arg(long)]
    pub(crate) fold_labels: bool,
    #[command(flatten)]
    pub(crate) empty: EmptyLabelArguments,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct EmptyLabelArguments {
    /// What to do with rows whose label is empty, where each document has one label
    #[arg(long, value_parser = choice::<EmptyLabels>(), default_value_t)]
    pub(crate) empty_labels: EmptyLabels,
}

impl LabelArguments {
    /// These options with what was said about labels.
    pub(crate) fn with(&self, options: ReadOptions) -> ReadOptions {
        ReadOptions {
            fold_labels: self.fold_labels,
            ..self.empty.with(options)
        }
    }
}

impl EmptyLabelArguments {
    /// These options with what was said about empty labels.
    pub(crate) fn with(&self, options: ReadOptions) -> ReadOptions {
        ReadOptions {
            empty_labels: self.empty_labels,
            ..options
        }
    }
}
