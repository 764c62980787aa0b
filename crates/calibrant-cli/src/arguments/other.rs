//! Documents of none of the classes: the same options for `predict` and `evaluate`.

use calibrant::decision::OtherRule;
use clap::Args;

#[derive(Debug, Args)]
#[command(next_help_heading = "None of these")]
pub(crate) struct OtherArguments {
    /// Predict `other` if no class is likely: SHARE is the part of known documents that may be lost to it (for example 0.05); `balanced` and `cost` use a threshold per class (as many false positives as false negatives; least cost, for models fitted with --other-cost)
    #[arg(long, value_name = "SHARE|balanced|cost", value_parser = rule)]
    pub(crate) other: Option<OtherRule>,
}

fn rule(text: &str) -> Result<OtherRule, String> {
    match text {
        "balanced" => Ok(OtherRule::Balanced),
        "cost" => Ok(OtherRule::LeastCost),
        number => match number.parse::<f64>() {
            Ok(share) if (0.0..=1.0).contains(&share) => Ok(OtherRule::Loss(share)),
            _ => Err("it must be a share between 0 and 1, `balanced` or `cost`".into()),
        },
    }
}
