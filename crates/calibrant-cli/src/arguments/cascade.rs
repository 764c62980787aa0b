//! Which of several sources of answers answers what?

use std::path::PathBuf;

use clap::Args;

use super::choice::share;
use super::{CertaintyArguments, ReadArguments};

#[derive(Debug, Args)]
pub(crate) struct CascadeArguments {
    /// Documents whose right label is known, and that no source has learned from; the text is needed where a source is a model
    #[arg(value_name = "TRUTH")]
    pub(crate) file: String,
    /// A source of answers, cheap ones first: a model file, or a table with `id`, `label` and `probability`, `confidence`, `log_probability` or `logprob` (predictions of `calibrant predict`, labels of a language model); may be repeated
    #[arg(long = "source", value_name = "NAME=FILE", required = true, value_parser = named_file)]
    pub(crate) sources: Vec<(String, String)>,
    /// What it costs to ask each source about one document, in any currency
    #[arg(long, value_name = "NAME=COST,…", value_delimiter = ',', value_parser = named_cost, required = true, allow_negative_numbers = true)]
    pub(crate) cost: Vec<(String, f64)>,
    /// A person answers what is left, at this cost a document (without one, the last source does)
    #[arg(long, value_name = "COST", allow_negative_numbers = true)]
    pub(crate) person: Option<f64>,
    /// The share of a person's answers that are right (default: what people say is the truth)
    #[arg(
        long,
        value_name = "SHARE",
        requires = "person",
        allow_negative_numbers = true
    )]
    pub(crate) person_accuracy: Option<f64>,
    /// The share of all answers that may be wrong
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 0.05,
        allow_negative_numbers = true,
        value_parser = share
    )]
    pub(crate) max_error: f64,
    #[command(flatten)]
    pub(crate) certainty: CertaintyArguments,
    /// Choose the policies to be tested by this share of the documents, and test them on the others: the statement then holds exactly
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    pub(crate) set_aside: f64,
    /// The random seed of what is set aside, and of a person's mistakes
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Where to write the policy, which `calibrant predict --policy` follows
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadArguments,
    /// Print everything as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// A name and what belongs to it.
pub(crate) fn named_file(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=');
    let parts = parts.filter(|(name, file)| !name.is_empty() && !file.is_empty());
    parts
        .map(|(name, file)| (name.to_owned(), file.to_owned()))
        .ok_or_else(|| "it must be NAME=FILE, for example llm=answers.csv".to_owned())
}

fn named_cost(text: &str) -> Result<(String, f64), String> {
    let parts = text.rsplit_once('=');
    let parts = parts.and_then(|(name, cost)| Some((name.to_owned(), cost.parse().ok()?)));
    parts
        .filter(|(name, cost): &(String, f64)| !name.is_empty() && cost.is_finite() && *cost >= 0.0)
        .ok_or_else(|| "it must be NAME=COST, a number from 0 on, for example llm=0.02".to_owned())
}
