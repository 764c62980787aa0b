//! Scores of the rows of a LETOR file.

use std::io::Write;

use calibrant::evaluation::ranking::{LETOR_CUTS, LetorCounting};
use calibrant::jobs::rankings::LetorReport;

use crate::error::CliError;
use crate::output::{note, warn};

/// Says what counts nothing, which is the same for all rankings.
pub(super) fn tell(rankings: &[LetorReport]) {
    let Some(found) = rankings.first().map(|report| &report.evaluation) else {
        return;
    };
    if found.without_relevant > 0 {
        note(&format!(
            "{} of {} queries have no relevant document and count as 0, as in LETOR",
            found.without_relevant,
            found.queries.len()
        ));
    }
    if found.counting == LetorCounting::Four && found.short > 0 {
        warn(&format!(
            "{} of {} queries have fewer than {LETOR_CUTS} documents: their NDCG beyond the last is 0 by version 4's rule; --letor 3 measures them at their own length",
            found.short,
            found.queries.len()
        ));
    }
}

/// One line per measure, of every query if that is wanted.
pub(super) fn show(out: &mut impl Write, rankings: &[LetorReport]) -> Result<(), CliError> {
    for report in rankings {
        let found = &report.evaluation;
        let queries = found.queries.iter().filter(|_| report.per_query);
        for query in queries.chain(std::iter::once(&found.mean)) {
            for measure in &report.measures {
                let (name, value) = (measure.name(), measure.of(query));
                writeln!(out, "{name:<22}\t{}\t{value:6.4}", query.id)?;
            }
        }
    }
    Ok(())
}
