//! Classes that are no longer as common as in training: the same options for `predict`, `evaluate` and `calibrate`.

use calibrant::jobs::AdaptPrior;
use clap::Args;

use super::choice::choice;

#[derive(Debug, Args)]
#[command(next_help_heading = "Prior shift")]
pub(crate) struct PriorArguments {
    /// Class priors, if they are known to differ from training: probabilities are adjusted to them; classes not named share the rest in their old proportions
    #[arg(
        long,
        value_name = "CLASS=SHARE,…",
        value_delimiter = ',',
        conflicts_with = "adapt_prior"
    )]
    pub(crate) prior: Vec<String>,
    /// Estimate the class priors from the documents themselves (EM, Saerens et al. 2002) and adjust to them; by default only if a test finds that they differ from training
    #[arg(
        long,
        value_parser = choice::<AdaptPrior>(),
        value_name = "WHEN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "tested"
    )]
    pub(crate) adapt_prior: Option<AdaptPrior>,
}

impl PriorArguments {
    /// Whether anything was asked for.
    pub(crate) fn is_given(&self) -> bool {
        !self.prior.is_empty() || self.adapt_prior.is_some()
    }
}
