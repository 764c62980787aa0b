//! New labels for an old model.

use std::path::PathBuf;

use clap::Args;

use super::HeldOutArguments;

#[derive(Debug, Args)]
#[command(mut_arg("folds", |folds| {
    folds.default_value("10").help("Folds of the cross-validation that decides whether the old curves are given up")
}))]
pub(crate) struct RecalibrateArguments {
    /// A model file, or a combination
    pub(crate) model: PathBuf,
    /// Labelled documents that the model has NOT learned from, drawn as those to come; five or more; `-` is standard input
    pub(crate) file: String,
    /// Where to write the model; it is written unchanged where the new labels do not make it clearly better
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) held_out: HeldOutArguments,
    /// Print what was found as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}
