//! Rankings side by side, as in tables of papers.

use std::io::Write;

use calibrant::evaluation::ranking::{RankingComparison, RankingDifference};

use super::queries;
use crate::error::CliError;
use crate::table::{decimal, table};

const COLUMNS: [&str; 7] = [
    "",
    "mean",
    "difference",
    "W/L",
    "Wilcoxon p",
    "t-test p",
    "randomisation p",
];

/// One table for each measure.
pub(super) fn show(
    out: &mut impl Write,
    comparisons: &[RankingComparison],
) -> Result<(), CliError> {
    for comparison in comparisons {
        let base = &comparison.systems[comparison.baseline].name;
        let (measure, queries) = (&comparison.measure, queries(comparison.queries));
        writeln!(out, "{measure} over {queries}, against {base}\n")?;
        let mut rows = table(&COLUMNS, 1);
        for system in &comparison.systems {
            let mean = decimal(system.mean);
            let mut row = vec![system.name.clone()];
            match &system.against_baseline {
                None => {
                    row.push(format!("{mean}  "));
                    row.resize(COLUMNS.len(), "–".to_owned());
                }
                Some(found) => row.extend([
                    format!("{mean}{:<2}", stars(found)),
                    format!("{:+.4}", found.difference),
                    format!("{}/{}", found.wins, found.losses),
                    p_value(found.wilcoxon.p_value),
                    p_value(found.t_test.p_value),
                    p_value(found.randomisation.p_value),
                ]),
            }
            rows.add_row(row);
        }
        writeln!(out, "{rows}\n")?;
    }
    writeln!(
        out,
        "W/L  queries where a ranking is better and worse than the baseline"
    )?;
    writeln!(
        out,
        "* ** p < 0.05, p < 0.01 by Wilcoxon's signed-rank test; all tests are two-sided"
    )?;
    if comparisons
        .iter()
        .any(|comparison| comparison.systems.len() > 3)
    {
        writeln!(
            out,
            "     p-values are not corrected for the number of pairs: some are small by chance"
        )?;
    }
    Ok(())
}

fn stars(found: &RankingDifference) -> &'static str {
    match found.wilcoxon.p_value {
        p if p < 0.01 => "**",
        p if p < 0.05 => "*",
        _ => "",
    }
}

fn p_value(value: f64) -> String {
    match value < 0.0001 {
        true => format!("{value:.0e}"),
        false => decimal(value),
    }
}
