//! What decisions cost.

use clap::Args;

#[derive(Debug, Args)]
#[command(next_help_heading = "Decisions")]
pub(crate) struct CostArguments {
    /// What decisions cost: a CSV, TOML or JSON file, or `truth,decision,cost;…`. A decision is a class or anything else that can be done (`ask`, `refund`); `*` stands for all truths, or for all wrong classes; a cost is a number or a field of the document (`@amount`, `0.5*@amount`). What is not listed costs 1 if wrong and 0 if right. For a multi-label model, truth and decision are `yes` or `no`
    #[arg(long, value_name = "FILE|COSTS")]
    pub(crate) costs: Option<String>,
}
