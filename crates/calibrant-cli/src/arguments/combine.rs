//! Several models into one.

use std::path::PathBuf;

use clap::Args;

use super::{EmptyLabelArguments, ReadArguments};

#[derive(Debug, Args)]
pub(crate) struct CombineArguments {
    /// Model files of the same classes
    #[arg(value_name = "MODEL", required = true, num_args = 2..)]
    pub(crate) models: Vec<PathBuf>,
    /// Labelled documents that NO model has learned from: they decide the weights, and a model that has seen them would get too much; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) data: String,
    /// Where to write the combination
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) reading: ReadArguments,
    #[command(flatten)]
    pub(crate) empty: EmptyLabelArguments,
    /// The field that says which documents belong together (a thread, a customer, an author, near-copies): they are held out together
    #[arg(long, value_name = "FIELD", help_heading = "Reading")]
    pub(crate) group: Option<String>,
    /// Folds of the cross-validation behind the expected measures
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "N",
        default_value_t = 5
    )]
    pub(crate) folds: usize,
    /// The random seed of the folds
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "N",
        default_value_t = 0
    )]
    pub(crate) seed: u64,
    /// Continue even where a model has learned from most of the documents; its weight then means little
    #[arg(long)]
    pub(crate) even_if_learned_from: bool,
    /// Print weights and measures as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}
