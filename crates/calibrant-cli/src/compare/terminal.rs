//! The comparison as tables of text.

use std::io::Write;

use calibrant::evaluation::{
    BootstrapDifference, ComparedPair, Comparison, LossDifference, MarkedLoss,
};
use calibrant::jobs::CompareReport;
use calibrant::report::telling_pairs;

use crate::error::CliError;
use crate::ledger::show_note;
use crate::output::{count_of, loss_unit};
use crate::table::{decimal, table};

/// The count of errors, and where documents have weights what they weigh.
pub(super) fn system_columns(comparison: &Comparison) -> Vec<&'static str> {
    let mut columns = vec!["system", "log loss", "Brier", "errors"];
    columns.extend(comparison.weighted.then_some("by weight"));
    columns.extend(has_costs(comparison).then_some("mean cost"));
    columns.extend(["micro-F1", "macro-F1", "AUC", "ECE", "if perfect"]);
    columns
}

pub(super) const PAIR_COLUMNS: [&str; 11] = [
    "first",
    "second",
    "by",
    "difference",
    "interval",
    "wins",
    "losses",
    "ties",
    "sign p",
    "Wilcoxon p",
    "bootstrap p",
];

pub(super) fn show(out: &mut impl Write, report: &CompareReport) -> Result<(), CliError> {
    let comparison = &report.comparison;
    writeln!(out, "{}", heading(comparison))?;
    let mut rows = table(&system_columns(comparison), 1);
    for row in system_rows(comparison) {
        rows.add_row(row);
    }
    writeln!(out, "\n{rows}\n")?;
    for line in legend(comparison, report.grouped) {
        writeln!(out, "{line}")?;
    }
    let shown = telling_pairs(comparison);
    let mut rows = table(&PAIR_COLUMNS, 3);
    for pair in &shown {
        for row in pair_rows(pair) {
            rows.add_row(row);
        }
    }
    writeln!(out, "\n{rows}\n")?;
    if shown.len() < comparison.pairs.len() {
        writeln!(
            out,
            "{} of {} pairs, those of the system with the lowest log loss; --json has all",
            shown.len(),
            comparison.pairs.len()
        )?;
    }
    for line in pair_legend(comparison, report.grouped) {
        writeln!(out, "{line}")?;
    }
    show_copies(out, report.copies, COPIES)?;
    show_note(out, report.ledger)
}

/// What counts copies once here, and what counts rows.
pub(super) const COPIES: &str =
    "intervals and tests count them once; means and a perfect forecaster's ECE count rows";

/// Says how many documents are no further evidence, and for what.
pub(crate) fn show_copies(
    out: &mut impl Write,
    copies: usize,
    for_what: &str,
) -> Result<(), CliError> {
    if let Some(said) = copies_sentence(copies, for_what) {
        writeln!(out, "\n{said}")?;
    }
    Ok(())
}

/// How many documents are copies, and what counts them once; nothing where none is.
pub(crate) fn copies_sentence(copies: usize, for_what: &str) -> Option<String> {
    let are = match copies {
        0 => return None,
        1 => "1 of the documents is a copy of another".to_owned(),
        more => format!("{more} of the documents are copies of others"),
    };
    Some(format!("{are}: {for_what}."))
}

pub(super) fn heading(comparison: &Comparison) -> String {
    format!(
        "{} systems on {}, {} ({})",
        comparison.systems.len(),
        count_of(comparison.documents, "document"),
        count_of(comparison.decisions, "decision"),
        comparison.task
    )
}

pub(super) fn system_rows(comparison: &Comparison) -> Vec<Vec<String>> {
    let others = comparison.systems.len() - 1;
    let marked = |value: String, loss: &MarkedLoss| {
        let marks = marks(loss, others);
        format!("{value} {marks:<2}")
    };
    comparison
        .systems
        .iter()
        .map(|system| {
            let mut row = vec![
                system.name.clone(),
                marked(decimal(system.log_loss.mean), &system.log_loss),
                marked(decimal(system.brier.mean), &system.brier),
            ];
            let count = system.error_count.to_string();
            if comparison.weighted {
                let weight = format!("{:.1}", system.errors.sum);
                row.extend([count, marked(weight, &system.errors)]);
            } else {
                row.push(marked(count, &system.errors));
            }
            row.extend(
                system
                    .cost
                    .iter()
                    .map(|cost| marked(decimal(cost.mean), cost)),
            );
            row.extend([
                decimal(system.micro_f1),
                decimal(system.macro_f1),
                system.auc.map_or_else(|| "–".to_owned(), decimal),
                decimal(system.ece),
                decimal(system.ece_of_perfect),
            ]);
            row
        })
        .collect()
}

fn marks(loss: &MarkedLoss, others: usize) -> String {
    let mut marks = String::new();
    if loss.best {
        marks.push('+');
    }
    if loss.significantly_best {
        marks.push('*');
    } else if others > 1 && loss.significantly_better_than.len() + 1 == others {
        marks.push('†');
    }
    marks
}

pub(super) fn legend(comparison: &Comparison, grouped: bool) -> Vec<String> {
    let by_draws = match drawn_for(comparison) {
        Some(found) => format!(
            "and by a {} % bootstrap interval of the difference over {} that excludes zero",
            100.0 * found.confidence,
            drawn(comparison, grouped)
        ),
        None => "and in total (without --bootstrap, the totals are not tested)".to_owned(),
    };
    let mut lines = vec![
        "+ the best of the column".to_owned(),
        format!(
            "* significantly better than every other: by the micro sign test (p < {}) {by_draws}",
            comparison.level
        ),
    ];
    if comparison.systems.len() > 2 {
        lines.push("† significantly better than every other but one".to_owned());
    }
    if comparison.weighted {
        lines.push(
            "errors: a count; by weight: their total weight, with a mean document weight of 1"
                .to_owned(),
        );
    }
    lines
}

/// Whether costs were given.
fn has_costs(comparison: &Comparison) -> bool {
    comparison
        .systems
        .iter()
        .any(|system| system.cost.is_some())
}

fn drawn_for(comparison: &Comparison) -> Option<BootstrapDifference> {
    comparison.pairs.first()?.log_loss.bootstrap
}

/// What is drawn again for intervals.
fn drawn(comparison: &Comparison, grouped: bool) -> &'static str {
    match (comparison.units < comparison.documents, grouped) {
        (false, _) => "the documents",
        (true, true) => "the groups",
        (true, false) => "the documents (copies together)",
    }
}

pub(super) fn pair_rows(pair: &ComparedPair) -> Vec<Vec<String>> {
    let losses: [(&str, &LossDifference); 3] = [
        ("log loss", &pair.log_loss),
        ("Brier", &pair.brier),
        ("errors", &pair.errors),
    ];
    let cost = pair.cost.iter().map(|cost| ("mean cost", cost));
    losses
        .into_iter()
        .chain(cost)
        .map(|(name, loss)| {
            let absent = || "–".to_owned();
            vec![
                pair.first.clone(),
                pair.second.clone(),
                name.to_owned(),
                format!("{:+.5}", loss.difference),
                loss.bootstrap.map_or_else(absent, |found| {
                    format!("{:+.5} to {:+.5}", found.lower, found.upper)
                }),
                loss.sign.wins.to_string(),
                loss.sign.losses.to_string(),
                loss.sign.ties.to_string(),
                p_value(loss.sign.p_value),
                p_value(loss.wilcoxon.p_value),
                loss.bootstrap
                    .map_or_else(absent, |found| p_value(found.p_value)),
            ]
        })
        .collect()
}

pub(super) fn pair_legend(comparison: &Comparison, grouped: bool) -> Vec<String> {
    let mut lines = vec![format!(
        "difference: mean of the first minus that of the second, per {}; below zero the first is better",
        loss_unit(comparison.losses_over)
    )];
    if let Some(found) = drawn_for(comparison) {
        lines.push(format!(
            "interval: {} % of {} bootstrap replicates of {}; bootstrap p cannot be below 2/({} + 1) = {}",
            100.0 * found.confidence,
            found.resamples,
            drawn(comparison, grouped),
            found.resamples,
            p_value(2.0 / (found.resamples as f64 + 1.0))
        ));
    }
    let units = comparison.units;
    let over = match (units < comparison.documents, grouped) {
        (false, _) => "all decisions".to_owned(),
        (true, true) => {
            format!("{units} groups and ungrouped documents, with one vote each (copies share one)")
        }
        (true, false) => format!("{units} distinct documents (copies share one vote)"),
    };
    lines.push(format!(
        "wins, losses, ties: of the first, over {over}; by errors the sign test is McNemar's exact test"
    ));
    if has_costs(comparison) {
        lines.push(
            "mean cost: of the decisions of least expected cost; its wins and losses are of documents, whose were cheaper"
                .to_owned(),
        );
    }
    lines.extend(comparison.pairs.iter().flat_map(at_odds));
    if comparison.weighted {
        lines.push(
            "documents have weights: means and intervals use them, the sign and Wilcoxon tests do not"
                .to_owned(),
        );
    }
    if comparison.pairs.len() > 1 {
        lines.push(format!(
            "p-values are not corrected for the number of pairs: of {}, about {:.1} fall below {} by chance alone",
            comparison.pairs.len(),
            comparison.pairs.len() as f64 * comparison.level,
            comparison.level
        ));
    }
    lines
}

/// Where a sign test speaks for one system and the mean for the other.
fn at_odds(pair: &ComparedPair) -> Vec<String> {
    let losses = [("log loss", &pair.log_loss), ("Brier", &pair.brier)];
    losses
        .into_iter()
        .filter_map(|(name, loss)| {
            let often = loss.often_but_not_on_average()?;
            let (closer, better) = match often {
                std::cmp::Ordering::Less => (&pair.first, &pair.second),
                _ => (&pair.second, &pair.first),
            };
            Some(format!(
                "by {name} `{closer}` is closer to the truth more often (sign p {}), but `{better}` has the better mean: a \
                 few large losses of `{closer}` outweigh many small wins",
                p_value(loss.sign.p_value)
            ))
        })
        .collect()
}

fn p_value(p: f64) -> String {
    if p < 1e-300 {
        "<1e-300".to_owned()
    } else if p < 1e-4 {
        format!("{p:.1e}")
    } else {
        format!("{p:.4}")
    }
}
