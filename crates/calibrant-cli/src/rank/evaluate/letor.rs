//! Scores of the rows of a LETOR file.

use std::io::Write;

use calibrant::evaluation::ranking::{
    LETOR_CUTS, LetorCounting, LetorEvaluation, LetorQuery, RankingComparison, compare_rankings,
    evaluate_letor,
};
use calibrant::ranking::{RankingTable, read_score_list};
use serde_json::{Map, Value, json};

use super::{baseline, comparison, probabilities, source, unreadable};
use crate::arguments::{LetorVersion, RankEvaluateArguments};
use crate::error::CliError;
use crate::output::{note, stdout, warn};

pub(super) fn run(
    arguments: &RankEvaluateArguments,
    version: LetorVersion,
) -> Result<(), CliError> {
    let measures = measures(arguments)?;
    let table = RankingTable::read(&source(&arguments.truth)).map_err(unreadable)?;
    if arguments.probabilities {
        return probabilities::of_scores(arguments, &table);
    }
    let counting = match version {
        LetorVersion::Three => LetorCounting::Three,
        LetorVersion::Four => LetorCounting::Four,
    };
    let mut systems: Vec<(String, LetorEvaluation)> = Vec::new();
    for file in &arguments.rankings {
        let scores = scores_of(file, &arguments.truth, &table)?;
        let evaluation = evaluate_letor(&table, &scores, counting, arguments.relevant_from)
            .map_err(|error| CliError::new(format!("{file}: {error}")))?;
        systems.push((file.clone(), evaluation));
    }
    if let Some((_, first)) = systems.first() {
        say_what_counts_nothing(first);
    }
    let comparisons = match systems.len() > 1 {
        true => compared(arguments, &systems, &measures)?,
        false => Vec::new(),
    };
    let mut out = stdout();
    if arguments.json {
        let described: Vec<Value> = systems
            .iter()
            .map(|(file, found)| describe(file, found, &measures, arguments.per_query))
            .collect();
        let report = json!({ "rankings": described, "comparisons": comparisons });
        serde_json::to_writer(&mut out, &report)?;
        writeln!(out)?;
    } else if systems.len() > 1 {
        comparison::show(&mut out, &comparisons)?;
    } else {
        for (_, found) in &systems {
            let queries = found.queries.iter().filter(|_| arguments.per_query);
            for query in queries.chain(std::iter::once(&found.mean)) {
                for measure in &measures {
                    let (name, value) = (measure.name(), measure.of(query));
                    writeln!(out, "{name:<22}\t{}\t{value:6.4}", query.id)?;
                }
            }
        }
    }
    Ok(out.flush()?)
}

/// Scores of the rows; their number must be right.
pub(super) fn scores_of(
    file: &str,
    test: &str,
    table: &RankingTable,
) -> Result<Vec<f64>, CliError> {
    let scores = read_score_list(&source(file)).map_err(unreadable)?;
    if scores.len() != table.row_count() {
        let (found, rows) = (scores.len(), table.row_count());
        return Err(
            CliError::new(format!("{file} has {found} scores, and {test} {rows} rows"))
                .hint("a file of scores has a line for each row, in the order of the test file"),
        );
    }
    Ok(scores)
}

fn say_what_counts_nothing(found: &LetorEvaluation) {
    if found.without_relevant > 0 {
        note(&format!(
            "{} of {} queries have no relevant document and count 0, as LETOR has it",
            found.without_relevant,
            found.queries.len()
        ));
    }
    if found.counting == LetorCounting::Four && found.short > 0 {
        warn(&format!(
            "{} of {} queries have fewer than {LETOR_CUTS} documents: their NDCG beyond the last is 0 by version 4's counting; --letor 3 measures them as they are",
            found.short,
            found.queries.len()
        ));
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum LetorMeasure {
    Ndcg(usize),
    Precision(usize),
    Map,
}

impl LetorMeasure {
    fn all() -> impl Iterator<Item = Self> {
        let cuts = 1..=LETOR_CUTS;
        cuts.clone()
            .map(Self::Ndcg)
            .chain(cuts.map(Self::Precision))
            .chain([Self::Map])
    }

    fn name(self) -> String {
        match self {
            Self::Ndcg(cut) => format!("NDCG@{cut}"),
            Self::Precision(cut) => format!("P@{cut}"),
            Self::Map => "MAP".to_owned(),
        }
    }

    fn of(self, query: &LetorQuery) -> f64 {
        match self {
            Self::Ndcg(cut) => query.ndcg[cut - 1],
            Self::Precision(cut) => query.precision[cut - 1],
            Self::Map => query.average_precision,
        }
    }
}

fn measures(arguments: &RankEvaluateArguments) -> Result<Vec<LetorMeasure>, CliError> {
    if arguments.measures.is_empty() {
        return Ok(match arguments.rankings.len() > 1 {
            true => vec![LetorMeasure::Map],
            false => LetorMeasure::all().collect(),
        });
    }
    let named = arguments.measures.iter().map(|name| {
        let found = LetorMeasure::all().find(|measure| measure.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            CliError::new(format!("there is no measure `{name}` with --letor")).hint(format!(
                "the measures are MAP, NDCG@1 to NDCG@{LETOR_CUTS} and P@1 to P@{LETOR_CUTS}"
            ))
        })
    });
    named.collect()
}

fn compared(
    arguments: &RankEvaluateArguments,
    systems: &[(String, LetorEvaluation)],
    measures: &[LetorMeasure],
) -> Result<Vec<RankingComparison>, CliError> {
    let compare = |measure: &LetorMeasure| {
        let values: Vec<(String, Vec<f64>)> = systems
            .iter()
            .map(|(name, found)| {
                let values = found.queries.iter().map(|query| measure.of(query));
                (name.clone(), values.collect())
            })
            .collect();
        let baseline = baseline(arguments.baseline);
        compare_rankings(&measure.name(), &values, baseline, arguments.seed)
            .map_err(|error| CliError::new(error.to_string()))
    };
    measures.iter().map(compare).collect()
}

fn describe(
    file: &str,
    found: &LetorEvaluation,
    measures: &[LetorMeasure],
    per_query: bool,
) -> Value {
    let values = |query: &LetorQuery| -> Value {
        let named = measures
            .iter()
            .map(|measure| (measure.name(), json!(measure.of(query))));
        Value::Object(named.collect::<Map<String, Value>>())
    };
    let mut described = json!({
        "file": file,
        "counting": found.counting,
        "queries_measured": found.queries.len(),
        "queries_without_relevant_documents": found.without_relevant,
        "queries_with_few_documents": found.short,
        "measures": values(&found.mean),
    });
    if per_query && let Some(fields) = described.as_object_mut() {
        let queries = found
            .queries
            .iter()
            .map(|query| json!({ "query": query.id, "measures": values(query) }));
        fields.insert("queries".to_owned(), queries.collect());
    }
    described
}
