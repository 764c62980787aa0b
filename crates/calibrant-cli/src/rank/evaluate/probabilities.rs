//! Rankings whose scores are probabilities of relevance.

use std::io::Write;

use calibrant::evaluation::ranking::{
    NotAProbability, RelevanceForecasts, StatedRelevance, measure_relevance, stated_by_run,
    stated_by_scores,
};
use calibrant::ranking::{Qrels, RankingTable, Run};
use serde_json::{Value, json};

use super::letor::scores_of;
use super::{documents, source, unreadable};
use crate::arguments::RankEvaluateArguments;
use crate::error::CliError;
use crate::output::{stdout, warn};
use crate::rank::tell_judged;
use crate::table::{decimal, table};

pub(super) fn of_runs(arguments: &RankEvaluateArguments, qrels: &Qrels) -> Result<(), CliError> {
    let mut found = Vec::new();
    for file in &arguments.rankings {
        let run = Run::read(&source(file)).map_err(unreadable)?;
        let (from, unjudged) = (arguments.relevant_from, arguments.unjudged);
        let stated = stated_by_run(qrels, &run, from, unjudged)
            .map_err(|error| no_probability(file, &error))?;
        tell_judged(Some(file), &stated.judged, unjudged);
        let stated = stated.queries;
        if stated.is_empty() {
            return Err(
                CliError::new(format!("{file}: no query of the run is judged"))
                    .hint("judgements come first, then runs; are both of the same queries?"),
            );
        }
        found.push(measured(file, &stated));
    }
    show(arguments, &found)
}

pub(super) fn of_scores(
    arguments: &RankEvaluateArguments,
    table: &RankingTable,
) -> Result<(), CliError> {
    let mut found = Vec::new();
    tell_judged(
        Some(&arguments.truth),
        &table.judged_share(),
        arguments.unjudged,
    );
    for file in &arguments.rankings {
        let scores = scores_of(file, &arguments.truth, table)?;
        let (from, unjudged) = (arguments.relevant_from, arguments.unjudged);
        let stated = stated_by_scores(table, &scores, from, unjudged)
            .map_err(|error| no_probability(file, &error))?;
        found.push(measured(file, &stated));
    }
    show(arguments, &found)
}

fn no_probability(file: &str, error: &NotAProbability) -> CliError {
    CliError::new(format!("{file}, {error}"))
        .hint("without --probabilities scores may be any numbers")
}

fn measured(file: &str, stated: &[StatedRelevance]) -> (String, RelevanceForecasts) {
    let found = measure_relevance(stated);
    if found.certain_and_wrong > 0 {
        warn(&format!(
            "{file}: {} said to be certain that turned out otherwise: the log loss would be infinite, and follows from what zeros and ones count as",
            documents(found.certain_and_wrong)
        ));
    }
    for said in found.stated_ends.sentences() {
        warn(&format!("{file}: {said}"));
    }
    (file.to_owned(), found)
}

fn show(
    arguments: &RankEvaluateArguments,
    found: &[(String, RelevanceForecasts)],
) -> Result<(), CliError> {
    let mut out = stdout();
    if arguments.json {
        let described: Vec<Value> = found
            .iter()
            .map(|(file, found)| describe(file, found, arguments.per_query))
            .collect();
        serde_json::to_writer(&mut out, &json!({ "rankings": described }))?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
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
    for (file, found) in found {
        let calibration = &found.calibration;
        let (expected, observed) = mean_counts(found);
        rows.add_row(vec![
            file.clone(),
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
        "expected     the sum of the probabilities of a query's documents, the mean over queries;"
    )?;
    writeln!(
        out,
        "             observed are the relevant among them, off by how far both are apart in a query"
    )?;
    if arguments.per_query {
        for (_, found) in found {
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
    Ok(out.flush()?)
}

fn mean_counts(found: &RelevanceForecasts) -> (f64, f64) {
    let queries = found.queries.len().max(1) as f64;
    let observed: usize = found.queries.iter().map(|query| query.observed).sum();
    let observed = observed as f64 / queries;
    (observed + found.count_excess, observed)
}

fn describe(file: &str, found: &RelevanceForecasts, per_query: bool) -> Value {
    let mut described = json!({
        "file": file,
        "calibration": found.calibration,
        "certain_and_wrong": found.certain_and_wrong,
        "stated_ends": found.stated_ends,
        "count_error": found.count_error,
        "count_excess": found.count_excess,
    });
    if per_query && let Some(fields) = described.as_object_mut() {
        fields.insert("queries".to_owned(), json!(found.queries));
    }
    described
}
