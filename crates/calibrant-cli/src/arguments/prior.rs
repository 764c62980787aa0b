//! Classes that are no longer as common as in training: the same options for `predict`, `evaluate` and `calibrate`.

use clap::{Args, ValueEnum};

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
        value_enum,
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

impl From<AdaptPrior> for calibrant::jobs::AdaptPrior {
    fn from(when: AdaptPrior) -> Self {
        match when {
            AdaptPrior::Tested => Self::Tested,
            AdaptPrior::Always => Self::Always,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AdaptPrior {
    /// If the likelihood-ratio test rejects the training priors at the 5 % level
    Tested,
    /// Whatever the test says
    Always,
}
