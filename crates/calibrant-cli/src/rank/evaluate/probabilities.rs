//! Rankings whose scores are probabilities of relevance.

use std::io::Write;

use calibrant::evaluation::ranking::RelevanceForecasts;
use calibrant::jobs::rankings::RelevanceReport;

use crate::arguments::RankEvaluateArguments;
use crate::error::CliError;
use crate::output::{count_of, warn};
use crate::rank::tell_judged;
use crate::table::{decimal, table};

/// Says what nobody judged, and which probabilities could not be.
pub(super) fn tell(rankings: &[RelevanceReport], arguments: &RankEvaluateArguments) {
    // The rows of one test file were judged for all rankings alike.
    let of_rows = arguments.letor.is_some();
    for (number, report) in rankings.iter().enumerate() {
        let file = if of_rows {
            &arguments.truth
        } else {
            &report.file
        };
        if !of_rows || number == 0 {
            tell_judged(Some(file), &report.judged, arguments.unjudged);
        }
    }
    for report in rankings {
        let (file, found) = (&report.file, &report.forecasts);
        if found.certain_and_wrong > 0 {
            warn(&format!(
                "{file}: {} stated with certainty and wrong: the log loss would be infinite, and depends on what replaces zeros and ones",
                count_of(found.certain_and_wrong, "document")
            ));
        }
        for said in found.stated_ends.sentences() {
            warn(&format!("{file}: {said}"));
        }
    }
}

pub(super) fn show(out: &mut impl Write, rankings: &[RelevanceReport]) -> Result<(), CliError> {
    let mut rows = table(
        &[
            "",
            "documents",
            "relevant",
            "log loss",
            "Brier",
            "ECE",
            "if perfect",
            "AUC",
            "expected by query",
            "observed",
            "off by",
        ],
        1,
    );
    for report in rankings {
        let found = &report.forecasts;
        let calibration = &found.calibration;
        let (expected, observed) = mean_counts(found);
        rows.add_row(vec![
            report.file.clone(),
            calibration.count.to_string(),
            format!("{:.2} %", 100.0 * calibration.positive_share),
            decimal(calibration.losses.log_loss),
            decimal(calibration.losses.brier),
            decimal(calibration.ece_equal_mass.value),
            decimal(calibration.ece_equal_mass.of_perfect),
            calibration.auc.map_or_else(|| "–".to_owned(), decimal),
            format!("{expected:.2}"),
            format!("{observed:.2}"),
            format!("{:.2}", found.count_error),
        ]);
    }
    writeln!(out, "{rows}\n")?;
    writeln!(
        out,
        "ECE          calibration error over bins of equal mass, beside a perfect forecaster's"
    )?;
    writeln!(
        out,
        "expected     the sum of the probabilities of a query's documents, averaged over queries;"
    )?;
    writeln!(
        out,
        "             observed: the relevant ones among them; off by: the mean absolute difference per query"
    )?;
    for report in rankings {
        let found = &report.forecasts;
        if report.per_query {
            let mut rows = table(
                &["query", "documents", "expected", "observed", "log loss"],
                1,
            );
            for query in &found.queries {
                rows.add_row(vec![
                    query.id.clone(),
                    query.documents.to_string(),
                    format!("{:.2}", query.expected),
                    query.observed.to_string(),
                    decimal(query.log_loss),
                ]);
            }
            writeln!(out, "\n{rows}")?;
        }
    }
    Ok(())
}

fn mean_counts(found: &RelevanceForecasts) -> (f64, f64) {
    let queries = found.queries.len().max(1) as f64;
    let observed: usize = found.queries.iter().map(|query| query.observed).sum();
    let observed = observed as f64 / queries;
    (observed + found.count_excess, observed)
}
