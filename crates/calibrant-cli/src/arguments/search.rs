//! The choice of learner, terms, weighting and cost by trial.

use std::time::Duration;

use clap::Args;

#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct SearchArguments {
    /// Try learners, n-grams, weightings and costs by held-out log loss and take the best, or a pool of the best, if that is clearly better than the default; settings given by other options stay fixed
    #[arg(long)]
    pub(crate) search: bool,
    /// The time budget in seconds, from the moment the file has been read; no trial starts that would probably exceed it. Counting n-grams while reading is part of it, and is abandoned after a quarter; weighing the best at the end is not (default: 300)
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "search", allow_negative_numbers = true)]
    pub(crate) time_budget: Option<Duration>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "it must be a number of seconds, 0 or more".to_owned())
}
