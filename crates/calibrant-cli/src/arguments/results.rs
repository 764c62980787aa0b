//! How results are laid out: the same options for every command that writes them.

use std::num::NonZeroUsize;

use calibrant::jobs::{PredictionColumns, RowColumns};
use clap::Args;

#[derive(Debug, Args)]
#[command(next_help_heading = "Results")]
pub(crate) struct ResultArguments {
    /// One row per document: every column of the input as it is, then label and probability (a name that is taken becomes calibrant_label and so on)
    #[arg(long)]
    pub(crate) keep: bool,
    /// One row per document, with a column for each class, headed by its name, that holds its probability
    #[arg(long)]
    pub(crate) wide: bool,
    /// Write delimiter, byte-order mark, line ends, encoding and decimal sign as the input has them
    #[arg(long, requires = "keep")]
    pub(crate) like_input: bool,
}

impl ResultArguments {
    /// Whether each document has one row.
    pub(crate) fn are_rows(&self) -> bool {
        self.keep || self.wide
    }

    /// The columns, which are `otherwise` where nothing is asked for.
    pub(crate) fn columns(
        &self,
        top: Option<NonZeroUsize>,
        sets: Option<&'static str>,
        otherwise: PredictionColumns,
    ) -> PredictionColumns {
        match self.are_rows() {
            true => PredictionColumns::Rows(RowColumns {
                keep: self.keep,
                wide: self.wide,
                top: top.map_or(1, NonZeroUsize::get),
                like_input: self.like_input,
                sets,
            }),
            false => otherwise,
        }
    }
}
