//! How many of each class are there really?

use std::path::PathBuf;

use calibrant::decision::{PrevalenceMethod, PrevalenceTarget};
use clap::Args;

use super::ReadArguments;
use super::choice::choice;

#[derive(Debug, Args)]
pub(crate) struct PrevalenceArguments {
    /// A model file
    pub(crate) model: PathBuf,
    /// All documents whose classes are to be counted
    #[arg(value_name = "POOL")]
    pub(crate) file: String,
    /// Documents of the pool, drawn at random, with their labels: rows are found again by identifier, by the column `row`, or by their text
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    pub(crate) labelled: Option<String>,
    /// How many documents to label for an interval of this width (0.1 is 10 percentage points from end to end), and which: with -o
    #[arg(long, value_name = "WIDTH", allow_negative_numbers = true)]
    pub(crate) plan: Option<f64>,
    /// Where --plan writes the documents to label, with an empty label: .csv, .tsv, .jsonl, .parquet or .xlsx
    #[arg(short, long, value_name = "FILE", requires = "plan")]
    pub(crate) output: Option<PathBuf>,
    /// Plan for the share of this class, with more labels where its probability is unsure (by default a simple random sample for all classes)
    #[arg(long, value_name = "CLASS", requires = "plan")]
    pub(crate) class: Option<String>,
    /// Divide the pool into at most N strata by the probability of the class; 1 plans a simple random sample
    #[arg(long, value_name = "N", default_value_t = 12, requires = "plan")]
    pub(crate) strata: usize,
    /// The random seed of the sample
    #[arg(long, value_name = "N", default_value_t = 0, requires = "plan")]
    pub(crate) seed: u64,
    /// How often an interval holds the truth
    #[arg(
        long,
        value_name = "P",
        default_value_t = 0.95,
        allow_negative_numbers = true
    )]
    pub(crate) confidence: f64,
    /// All intervals hold together with this confidence, instead of each by itself
    #[arg(long)]
    pub(crate) together: bool,
    /// How intervals are found
    #[arg(long, value_parser = choice::<PrevalenceMethod>(), default_value_t = PrevalenceMethod::Auto)]
    pub(crate) method: PrevalenceMethod,
    /// Whose share is wanted
    #[arg(long, value_name = "WHOSE", value_parser = choice::<PrevalenceTarget>(), default_value_t = PrevalenceTarget::Documents)]
    pub(crate) share_of: PrevalenceTarget,
    #[command(flatten)]
    pub(crate) reading: ReadArguments,
    /// Print everything as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}
