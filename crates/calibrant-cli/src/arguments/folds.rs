//! How documents are held out: the same options for every command that cross-validates.

use clap::Args;

/// Folds and their seed; a command that means something else by them says so.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FoldArguments {
    /// Folds of the cross-validation
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
}
