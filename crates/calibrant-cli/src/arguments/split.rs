//! `calibrant split`

use std::path::PathBuf;

use calibrant::jobs::DateOrder;
use clap::Args;

use super::ReadArguments;
use super::choice::choice;

#[derive(Debug, Args)]
pub(crate) struct SplitArguments {
    /// Documents in any readable format but a folder; it is read twice
    pub(crate) file: String,
    /// The share of rows to test on, above 0 and below 1
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 0.2,
        allow_negative_numbers = true
    )]
    pub(crate) test: f64,
    /// The field that says which documents belong together (a thread, a customer, an author): they stay on one side
    #[arg(long, value_name = "FIELD", conflicts_with = "time")]
    pub(crate) group: Option<String>,
    /// The field that says when a document was (a date or a number): the newest are for testing
    #[arg(long, value_name = "FIELD")]
    pub(crate) time: Option<String>,
    /// What comes first in dates such as 3/4/2024 (detected by default)
    #[arg(long, value_name = "ORDER", requires = "time", value_parser = choice::<DateOrder>())]
    pub(crate) date_order: Option<DateOrder>,
    /// The random seed; rows in another order are divided alike
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Where to write what is learned from (default: beside FILE, tickets.train.csv)
    #[arg(long, value_name = "FILE")]
    pub(crate) train_out: Option<PathBuf>,
    /// Where to write what is tested on (default: beside FILE, tickets.test.csv)
    #[arg(long, value_name = "FILE")]
    pub(crate) test_out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadArguments,
    /// Print what is on each side as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}
