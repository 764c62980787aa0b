//! Runs against judgements.

use std::io::Write;

use calibrant::evaluation::ranking::{
    MeasureError, MeasureSet, RankingComparison, RankingComparisonError, RankingValue,
    RunEvaluation, RunEvaluationError, RunEvaluationOptions, comparable_measures, compare_runs,
    evaluate_run,
};
use calibrant::ranking::{Qrels, Run};
use serde_json::{Map, Value, json};

use super::{baseline, comparison, distinct_names, probabilities, queries, source, unreadable};
use crate::arguments::RankEvaluateArguments;
use crate::error::CliError;
use crate::output::{note, stdout, warn};

pub(super) fn run(arguments: &RankEvaluateArguments) -> Result<(), CliError> {
    let several = arguments.rankings.len() > 1;
    let options = options(arguments, several)?;
    let qrels = Qrels::read(&source(&arguments.truth)).map_err(unreadable)?;
    if arguments.probabilities {
        return probabilities::of_runs(arguments, &qrels);
    }
    let mut evaluations = Vec::with_capacity(arguments.rankings.len());
    let mut names = Vec::new();
    for file in &arguments.rankings {
        let run = Run::read(&source(file)).map_err(unreadable)?;
        let evaluation =
            evaluate_run(&qrels, &run, &options).map_err(|error| refused(file, error))?;
        say_what_was_left_out(file, &evaluation, arguments.complete);
        names.push(run.name().to_owned());
        evaluations.push(evaluation);
    }
    let names = distinct_names(names, &arguments.rankings);
    let runs: Vec<(String, RunEvaluation)> = names.into_iter().zip(evaluations).collect();
    let comparisons = match several {
        true => compared(arguments, &runs)?,
        false => Vec::new(),
    };
    let mut out = stdout();
    if arguments.json {
        let described: Vec<Value> = runs
            .iter()
            .zip(&arguments.rankings)
            .map(|((name, run), file)| describe(name, file, run, arguments.per_query))
            .collect();
        let report = json!({ "runs": described, "comparisons": comparisons });
        serde_json::to_writer(&mut out, &report)?;
        writeln!(out)?;
    } else if several {
        comparison::show(&mut out, &comparisons)?;
    } else {
        for (_, run) in &runs {
            run.write_trec(&mut out, arguments.per_query)?;
        }
    }
    Ok(out.flush()?)
}

fn options(
    arguments: &RankEvaluateArguments,
    several: bool,
) -> Result<RunEvaluationOptions, CliError> {
    let measures = match (arguments.measures.is_empty(), several) {
        (false, _) => MeasureSet::parse(&arguments.measures),
        (true, false) => Ok(MeasureSet::official()),
        (true, true) => MeasureSet::parse(&["map"]),
    };
    Ok(RunEvaluationOptions {
        measures: measures.map_err(unknown_measure)?,
        complete: arguments.complete,
        relevant_from: arguments.relevant_from,
        most_documents: arguments.most_documents.map_or(usize::MAX, usize::from),
        collection_size: arguments.collection_size,
    })
}

fn unknown_measure(error: MeasureError) -> CliError {
    CliError::new(error.to_string())
        .hint("--measure takes a name with parameters after a point, such as P.5,10")
}

fn refused(file: &str, error: RunEvaluationError) -> CliError {
    let hint = match &error {
        RunEvaluationError::NothingInCommon { .. } => {
            "judgements come first, then runs; are both of the same queries?"
        }
        RunEvaluationError::NoCollectionSize { .. } => "-N gives the number of documents",
        _ => return CliError::new(format!("{file}: {error}")),
    };
    CliError::new(format!("{file}: {error}")).hint(hint)
}

fn say_what_was_left_out(file: &str, evaluation: &RunEvaluation, complete: bool) {
    if evaluation.not_judged > 0 {
        let count = queries(evaluation.not_judged);
        note(&format!("{file}: {count} without judgements passed over"));
    }
    if evaluation.not_answered > 0 && !complete {
        let count = queries(evaluation.not_answered);
        warn(&format!(
            "{file}: {count} with judgements not in the run, and left out of all means; -c counts them as 0"
        ));
    }
}

fn compared(
    arguments: &RankEvaluateArguments,
    runs: &[(String, RunEvaluation)],
) -> Result<Vec<RankingComparison>, CliError> {
    let first = runs.first().map(|(_, run)| run);
    let measures = first.map(comparable_measures).unwrap_or_default();
    if measures.is_empty() {
        return Err(
            CliError::new("none of the measures can be compared query by query")
                .hint("--measure map, for one"),
        );
    }
    let compare =
        |measure: &&str| compare_runs(measure, runs, baseline(arguments.baseline), arguments.seed);
    let compared: Result<Vec<RankingComparison>, RankingComparisonError> =
        measures.iter().map(compare).collect();
    let compared = compared.map_err(|error| {
        CliError::new(error.to_string())
            .hint("-c compares on all judged queries, those that a run lacks counting 0")
    })?;
    let common = compared.first().map_or(0, |comparison| comparison.queries);
    if runs.iter().any(|(_, run)| run.queries.len() != common) {
        warn(&format!(
            "only {} in all runs: the comparison is of those alone; -c compares on all that are judged",
            queries(common)
        ));
    }
    Ok(compared)
}

fn describe(name: &str, file: &str, run: &RunEvaluation, per_query: bool) -> Value {
    let mut described = json!({
        "name": name,
        "file": file,
        "queries_measured": run.queries.len(),
        "queries_not_judged": run.not_judged,
        "queries_not_answered": run.not_answered,
        "queries_without_relevant_documents": run.without_relevant,
        "measures": values(&run.names, &run.summary),
    });
    if per_query && let Some(fields) = described.as_object_mut() {
        let queries = run.queries.iter().map(|query| {
            json!({
                "query": query.id,
                "answered": query.answered,
                "measures": values(&run.names, &query.values),
            })
        });
        fields.insert("queries".to_owned(), queries.collect());
    }
    described
}

fn values(names: &[String], values: &[RankingValue]) -> Value {
    let mut fields = Map::new();
    for (name, value) in names.iter().zip(values) {
        let value = match value {
            RankingValue::None => continue,
            RankingValue::Count(count) => json!(count),
            RankingValue::Number(number) => json!(number),
            RankingValue::Text(text) => json!(text),
        };
        fields.insert(name.clone(), value);
    }
    Value::Object(fields)
}
