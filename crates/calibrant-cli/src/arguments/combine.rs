//! Several models into one.

use std::path::PathBuf;

use clap::Args;

use super::{EmptyLabelArguments, HeldOutArguments};

#[derive(Debug, Args)]
#[command(mut_arg("folds", |folds| folds.help("Folds of the cross-validation behind the expected measures")))]
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
    pub(crate) held_out: HeldOutArguments,
    #[command(flatten)]
    pub(crate) empty: EmptyLabelArguments,
    /// Print weights and measures as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}
