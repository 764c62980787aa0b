//! How sure a statement is to be.

use clap::Args;

use super::choice::share;

/// For statements of which a share may be false; a command says which.
#[derive(Debug, Args)]
pub(crate) struct CertaintyArguments {
    /// How sure that must be
    #[arg(long, value_name = "P", default_value_t = 0.95, allow_negative_numbers = true, value_parser = share)]
    pub(crate) certainty: f64,
}
