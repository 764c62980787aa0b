//! Following a policy of several sources.

use std::path::PathBuf;

use clap::Args;

use super::cascade::named_file;

#[derive(Debug, Args)]
#[command(next_help_heading = "Policy")]
pub(crate) struct PolicyArguments {
    /// Follow the policy that `calibrant cascade` wrote: adds a decision, the label of the first source that is sure enough, or `ask NAME` for the source to ask next
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "top", "scores", "other", "costs", "ask", "sets", "max_error", "f_beta", "calibration", "prior", "adapt_prior",
    ])]
    pub(crate) policy: Option<PathBuf>,
    /// What another source of the policy said of these documents, as `calibrant cascade --source` takes it; may be repeated
    #[arg(long, value_name = "NAME=FILE", value_parser = named_file, requires = "policy")]
    pub(crate) answers: Vec<(String, String)>,
    /// The source of the policy that this model is (default: the one that was a model, else the first)
    #[arg(long = "as", value_name = "NAME", requires = "policy")]
    pub(crate) part: Option<String>,
}
