//! New labels for an old model.

use std::path::PathBuf;

use clap::Args;

use super::ReadArguments;

#[derive(Debug, Args)]
pub(crate) struct RecalibrateArguments {
    /// A model file, or a combination
    pub(crate) model: PathBuf,
    /// Labelled documents that the model has NOT learned from, drawn as those to come; five or more; `-` is standard input
    pub(crate) file: String,
    /// Where to write the model; it is written unchanged where the new labels do not make it clearly better
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) reading: ReadArguments,
    /// The field that says which documents belong together (a thread, a customer, an author, near-copies): they are held out together
    #[arg(long, value_name = "FIELD", help_heading = "Reading")]
    pub(crate) group: Option<String>,
    /// Folds of the cross-validation that decides whether the old curves are given up
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "N",
        default_value_t = 10
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
    /// Continue even where the model has learned from most of the documents; its probabilities then look better than they are
    #[arg(long)]
    pub(crate) even_if_learned_from: bool,
    /// Print what was found as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}
