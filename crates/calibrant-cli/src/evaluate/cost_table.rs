//! What decisions cost, beside what other rules would have cost.

use std::io::Write;

use calibrant::evaluation::{CostReport, HindsightThreshold, Interval, ThresholdOf};

use super::show::{Group, ends};
use crate::error::CliError;
use crate::table::{decimal, table};

/// The mean cost, what else could have been done, and how often each action was taken.
pub(super) fn show(out: &mut impl Write, costs: &CostReport) -> Result<(), CliError> {
    let mut group = Group::new("costs");
    let stated = decimal(costs.stated_mean_cost);
    let interval = ends(costs.interval.as_ref());
    let note = match interval.is_empty() {
        true => format!("stated {stated}"),
        false => format!("{interval} stated {stated}"),
    };
    group.add("mean cost", costs.mean_cost, note);
    let note = format!("always answering; {} decisions changed", costs.changed);
    let saved = saved(costs.difference_to_most_probable.as_ref());
    let note = format!("{note}{saved}");
    group.add("most probable", costs.mean_cost_of_most_probable, note);
    let saved = self::saved(costs.difference_to_constant.as_ref());
    let note = format!("the cheapest constant decision{saved}");
    let name = format!("always `{}`", costs.constant);
    group.add(&name, costs.mean_cost_of_constant, note);
    if let Some(asking) = costs.mean_cost_of_asking {
        group.add("never answering", asking, "always `ask`");
    }
    if let Some(best) = &costs.best_threshold {
        group.add("best threshold", best.mean_cost, hindsight(best));
    }
    group.add("the truth", costs.mean_cost_of_perfect, "");
    group.write(out)?;
    let mut rows = table(
        &[
            "action",
            "decisions",
            "share",
            "cost",
            "stated",
            "if always",
        ],
        1,
    );
    let shown = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), decimal);
    for action in &costs.actions {
        rows.add_row(vec![
            action.action.clone(),
            action.decisions.to_string(),
            decimal(action.share),
            shown(action.mean_cost),
            shown(action.stated_mean_cost),
            decimal(action.mean_cost_if_always),
        ]);
    }
    writeln!(out, "\n{rows}")?;
    Ok(())
}

/// What is saved against another rule.
fn saved(difference: Option<&Interval>) -> String {
    difference.map_or_else(String::new, |found| {
        format!(
            "; difference {} {}",
            decimal(found.value),
            ends(Some(found))
        )
    })
}

/// A threshold that nobody could have known.
fn hindsight(best: &HindsightThreshold) -> String {
    let threshold = decimal(best.threshold);
    let share = 100.0 * best.share;
    match best.of {
        _ if best.share == 0.0 => "in hindsight: one that nothing reaches".to_owned(),
        ThresholdOf::MostProbable => format!(
            "in hindsight: the most probable from {threshold} on ({share:.1} %), else `ask`"
        ),
        ThresholdOf::Second => {
            format!("in hindsight: the second class (or yes) from {threshold} on ({share:.1} %)")
        }
    }
}
