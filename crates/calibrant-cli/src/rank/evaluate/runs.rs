//! Runs against judgements.

use std::io::Write;

use calibrant::evaluation::ranking::RankingComparison;
use calibrant::jobs::rankings::RunReport;

use super::queries;
use crate::error::CliError;
use crate::output::{note, warn};

/// Says what was left out.
pub(super) fn tell(runs: &[RunReport], comparisons: &[RankingComparison], complete: bool) {
    for RunReport {
        file, evaluation, ..
    } in runs
    {
        if evaluation.not_judged > 0 {
            let count = queries(evaluation.not_judged);
            note(&format!("{file}: {count} without judgements ignored"));
        }
        if evaluation.not_answered > 0 && !complete {
            let count = queries(evaluation.not_answered);
            warn(&format!(
                "{file}: {count} with judgements not in the run, and left out of all means; -c counts them as 0"
            ));
        }
    }
    let Some(common) = comparisons.first().map(|comparison| comparison.queries) else {
        return;
    };
    let is_larger = |run: &RunReport| run.evaluation.queries.len() != common;
    if runs.iter().any(is_larger) {
        warn(&format!(
            "only {} in all runs: the comparison covers those; -c compares on all judged queries",
            queries(common)
        ));
    }
}

/// As trec_eval prints it.
pub(super) fn show(out: &mut impl Write, runs: &[RunReport]) -> Result<(), CliError> {
    for run in runs {
        run.evaluation.write_trec(out, run.per_query)?;
    }
    Ok(())
}
