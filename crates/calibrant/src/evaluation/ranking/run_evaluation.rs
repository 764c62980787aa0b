//! A run against judgements: values of every query, and of all together.

use std::io::{self, Write};

use super::measure_kind::Summary;
use super::precision::total;
use super::{JudgedList, MeasureKind, MeasureSet};
use crate::corpus::{Qrels, Run};
use crate::parallel;

/// Geometric means take values below this for it.
const LEAST_OF_GEOMETRIC_MEAN: f64 = 0.00001;

/// How a run is held against judgements.
#[derive(Debug, Clone)]
pub struct RunEvaluationOptions {
    /// What is measured.
    pub measures: MeasureSet,
    /// Whether a judged query that the run does not have counts 0 in all means. If not, it is left out.
    ///
    /// # When it misleads
    /// Without it a system does better by not answering hard queries at all.
    pub complete: bool,
    /// The smallest grade that is relevant; below 1 is taken for 1.
    pub relevant_from: i32,
    /// So many documents of a list are looked at.
    pub most_documents: usize,
    /// The number of documents in the collection, for `utility` with a fourth price.
    pub collection_size: Option<u64>,
}

impl Default for RunEvaluationOptions {
    /// trec_eval's: [`MeasureSet::official`], only queries of the run, relevant from grade 1, whole lists.
    fn default() -> Self {
        Self {
            measures: MeasureSet::official(),
            complete: false,
            relevant_from: 1,
            most_documents: usize::MAX,
            collection_size: None,
        }
    }
}

/// Why a run could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunEvaluationError {
    /// Judgements and run have no query in common.
    #[error(
        "no query of the run is judged; its queries ({in_run}) are such as `{run_query}`, those of the judgements ({in_qrels}) such as `{qrels_query}`"
    )]
    NothingInCommon {
        /// Queries of the run.
        in_run: usize,
        /// One of them.
        run_query: String,
        /// Queries of the judgements.
        in_qrels: usize,
        /// One of them.
        qrels_query: String,
    },
    /// A price for documents that are neither listed nor relevant needs their number.
    #[error(
        "measure `{measure}` depends on the number of documents in the collection, which no file contains; give it"
    )]
    NoCollectionSize {
        /// The measure.
        measure: String,
    },
}

/// A value of a query, or of all queries.
#[derive(Debug, Clone, PartialEq)]
pub enum RankingValue {
    /// There is none: means of counts, for one.
    None,
    /// How many.
    Count(u64),
    /// A measure.
    Number(f64),
    /// Text.
    Text(String),
}

/// The values of one query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryEvaluation {
    /// The query's name.
    pub id: String,
    /// Whether the run has a list for it.
    pub answered: bool,
    /// The values, in the order of [`RunEvaluation::names`].
    pub values: Vec<RankingValue>,
}

/// A run against judgements.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEvaluation {
    /// The names of the values.
    pub names: Vec<String>,
    /// The queries that were measured, in the order of their names as text.
    pub queries: Vec<QueryEvaluation>,
    /// The values of all queries together.
    pub summary: Vec<RankingValue>,
    /// Queries of the run without judgements: passed over.
    pub not_judged: usize,
    /// Queries with judgements that the run does not have: counted as 0 with [`RunEvaluationOptions::complete`], passed over without.
    pub not_answered: usize,
    /// Measured queries without any relevant document: 0 in most measures whatever is listed.
    pub without_relevant: usize,
}

/// Measures a run as trec_eval 10 does.
///
/// Means are taken over the queries that are both judged and in the run; see [`RunEvaluationOptions::complete`]. Queries
/// without any relevant document are part of the means, with 0.
///
/// ```
/// use calibrant::evaluation::ranking::{RunEvaluationOptions, evaluate_run};
/// use calibrant::ranking::{QrelsBuilder, RunBuilder};
/// let mut qrels = QrelsBuilder::default();
/// qrels.push("q1", "apple", 1)?;
/// qrels.push("q2", "pear", 1)?;
/// let mut run = RunBuilder::new("mine")?;
/// run.push("q1", "plum", 2.0)?;
/// run.push("q1", "apple", 1.0)?;
/// let (qrels, run) = (qrels.finish()?, run.finish()?);
/// let found = evaluate_run(&qrels, &run, &RunEvaluationOptions::default())?;
/// assert_eq!(found.mean("map"), Some(0.5)); // one query, the apple in second place
/// assert_eq!((found.queries.len(), found.not_answered), (1, 1));
/// let complete = RunEvaluationOptions { complete: true, ..Default::default() };
/// assert_eq!(evaluate_run(&qrels, &run, &complete)?.mean("map"), Some(0.25));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evaluate_run(
    qrels: &Qrels,
    run: &Run,
    options: &RunEvaluationOptions,
) -> Result<RunEvaluation, RunEvaluationError> {
    let measures = options.measures.measures();
    let without_size = measures
        .iter()
        .find(|measure| measure.needs_collection_size());
    if let (Some(measure), None) = (without_size, options.collection_size) {
        return Err(RunEvaluationError::NoCollectionSize {
            measure: measure.to_string(),
        });
    }
    let judged: Vec<_> = qrels.queries().collect();
    let relevant_from = options.relevant_from.max(1);
    let measured: Vec<Option<(QueryEvaluation, bool)>> = parallel::map(&judged, |&judged| {
        let ranked = run.query(judged.id());
        let answered = ranked.is_some();
        if !answered && !options.complete {
            return None;
        }
        let most = options.most_documents;
        let list = JudgedList::of_query(judged, ranked, relevant_from, most);
        let query = QueryEvaluation {
            id: judged.id().to_owned(),
            answered,
            values: values_of(&list, options),
        };
        Some((query, list.relevant() == 0))
    });
    let measured: Vec<(QueryEvaluation, bool)> = measured.into_iter().flatten().collect();
    let answered = measured.iter().filter(|(query, _)| query.answered).count();
    if answered == 0 {
        let first_of_run = run.queries().next();
        return Err(RunEvaluationError::NothingInCommon {
            in_run: run.query_count(),
            run_query: first_of_run.map_or(String::new(), |query| query.id().to_owned()),
            in_qrels: judged.len(),
            qrels_query: judged
                .first()
                .map_or(String::new(), |query| query.id().to_owned()),
        });
    }
    let without_relevant = measured.iter().filter(|(_, without)| *without).count();
    let queries: Vec<QueryEvaluation> = measured.into_iter().map(|(query, _)| query).collect();
    let kinds: Vec<MeasureKind> = measures
        .iter()
        .flat_map(|measure| measure.names().into_iter().map(|_| measure.kind()))
        .collect();
    let summary = kinds
        .iter()
        .enumerate()
        .map(|(column, kind)| summarize(*kind, column, &queries, run.name()))
        .collect();
    let mut evaluation = RunEvaluation {
        names: measures.iter().flat_map(super::Measure::names).collect(),
        not_judged: run.query_count() - answered,
        not_answered: qrels.query_count() - answered,
        without_relevant,
        summary,
        queries,
    };
    evaluation.hide_what_queries_do_not_show(&kinds);
    Ok(evaluation)
}

fn values_of(list: &JudgedList, options: &RunEvaluationOptions) -> Vec<RankingValue> {
    let mut values = Vec::new();
    for measure in options.measures.measures() {
        let size = options.collection_size.unwrap_or(0);
        match measure.kind().summary() {
            Summary::PerQueryText => values.push(RankingValue::Text(measure.text(list))),
            Summary::RunText => values.push(RankingValue::None),
            Summary::Sum { .. } => {
                let counts = measure.numbers(list, size).into_iter();
                values.extend(counts.map(|count| RankingValue::Count(count as u64)));
            }
            Summary::Mean | Summary::GeometricMean => {
                let numbers = measure.numbers(list, size).into_iter();
                values.extend(numbers.map(RankingValue::Number));
            }
        }
    }
    values
}

fn summarize(
    kind: MeasureKind,
    column: usize,
    queries: &[QueryEvaluation],
    run_name: &str,
) -> RankingValue {
    let count = queries.len().max(1) as f64;
    let numbers = queries.iter().map(|query| match &query.values[column] {
        RankingValue::Number(number) => *number,
        RankingValue::Count(count) => *count as f64,
        RankingValue::None | RankingValue::Text(_) => 0.0,
    });
    match kind.summary() {
        Summary::PerQueryText => RankingValue::None,
        Summary::RunText => RankingValue::Text(run_name.to_owned()),
        Summary::Sum { .. } => RankingValue::Count(numbers.map(|number| number as u64).sum()),
        Summary::Mean => RankingValue::Number(total(numbers) / count),
        Summary::GeometricMean => {
            let logs = numbers.map(|number| number.max(LEAST_OF_GEOMETRIC_MEAN).ln());
            RankingValue::Number((total(logs) / count).exp())
        }
    }
}

impl RunEvaluation {
    /// Some values were only needed for the summary.
    fn hide_what_queries_do_not_show(&mut self, kinds: &[MeasureKind]) {
        for query in &mut self.queries {
            for (value, kind) in query.values.iter_mut().zip(kinds) {
                if matches!(
                    kind.summary(),
                    Summary::GeometricMean | Summary::Sum { shown: false }
                ) {
                    *value = RankingValue::None;
                }
            }
        }
    }

    /// A number over all queries, by name: `map`, `P_10`.
    pub fn mean(&self, name: &str) -> Option<f64> {
        let column = self.names.iter().position(|other| other == name)?;
        number(&self.summary[column])
    }

    /// The numbers of single queries, by name, in the order of [`RunEvaluation::queries`].
    pub fn per_query(&self, name: &str) -> Option<Vec<f64>> {
        let column = self.names.iter().position(|other| other == name)?;
        let values = self
            .queries
            .iter()
            .map(|query| number(&query.values[column]));
        values.collect()
    }

    /// Writes the values in trec_eval's layout, to the byte: name, query (or `all`) and value, with tabs between.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{MeasureSet, RunEvaluationOptions, evaluate_run};
    /// # use calibrant::ranking::{QrelsBuilder, RunBuilder};
    /// # let mut qrels = QrelsBuilder::default();
    /// # qrels.push("q1", "apple", 1)?;
    /// # let mut run = RunBuilder::new("mine")?;
    /// # run.push("q1", "plum", 2.0)?;
    /// # run.push("q1", "apple", 1.0)?;
    /// # let options = RunEvaluationOptions { measures: MeasureSet::parse(&["map"])?, ..Default::default() };
    /// # let found = evaluate_run(&qrels.finish()?, &run.finish()?, &options)?;
    /// let mut text = Vec::new();
    /// found.write_trec(&mut text, true)?;
    /// assert_eq!(text, b"map                   \tq1\t0.5000\nmap                   \tall\t0.5000\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_trec(&self, out: &mut impl Write, per_query: bool) -> io::Result<()> {
        if per_query {
            for query in &self.queries {
                for (name, value) in self.names.iter().zip(&query.values) {
                    match value {
                        RankingValue::Text(text) => {
                            writeln!(out, "{name:<22}\t{}\t'{text}'", query.id)?;
                        }
                        value => write_value(out, name, &query.id, value)?,
                    }
                }
            }
        }
        for (name, value) in self.names.iter().zip(&self.summary) {
            write_value(out, name, "all", value)?;
        }
        Ok(())
    }
}

fn number(value: &RankingValue) -> Option<f64> {
    match value {
        RankingValue::Number(number) => Some(*number),
        RankingValue::Count(count) => Some(*count as f64),
        RankingValue::None | RankingValue::Text(_) => None,
    }
}

fn write_value(
    out: &mut impl Write,
    name: &str,
    query: &str,
    value: &RankingValue,
) -> io::Result<()> {
    match value {
        RankingValue::None => Ok(()),
        RankingValue::Count(count) => writeln!(out, "{name:<22}\t{query}\t{count}"),
        RankingValue::Number(number) => writeln!(out, "{name:<22}\t{query}\t{number:6.4}"),
        RankingValue::Text(text) => writeln!(out, "{name:<22}\t{query}\t{text}"),
    }
}
