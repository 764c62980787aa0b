//! Which labels are probably wrong?

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::choice::positive;
use super::{CertaintyArguments, TrainingArguments};

#[derive(Debug, Args)]
#[command(mut_arg("certainty", |certainty| certainty.help("How often the interval of --reread holds the truth, at least")))]
pub(crate) struct SuspectsArguments {
    #[command(flatten)]
    pub(crate) training: TrainingArguments,
    /// Where to write the list: .csv, .tsv, .jsonl, .parquet or .xlsx (the first 20 on standard output by default)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Also write the list as a page for a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// List at most N labels, the most suspect first (default: all that are less probable than another label)
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) most: Option<NonZeroUsize>,
    /// Also draw labels of the list at random, for a person to read again: a table with an empty column `correct`
    #[arg(long, value_name = "FILE")]
    pub(crate) sample: Option<PathBuf>,
    /// How many labels --sample draws
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..), requires = "sample")]
    pub(crate) sample_size: u32,
    /// The sample with its column `correct` filled in: says how many labels of the list are really wrong
    #[arg(long, value_name = "FILE", conflicts_with = "sample")]
    pub(crate) reread: Option<String>,
    #[command(flatten)]
    pub(crate) certainty: CertaintyArguments,
    /// Print the list as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}
