//! Rankings against judgements.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::corpus::read_score_list;
use crate::corpus::{JudgedShare, Qrels, RankingTable, ReadError, Run, Source, Unjudged};
use crate::evaluation::ranking::{
    Baseline, LETOR_CUTS, LetorCounting, LetorError, LetorEvaluation, LetorQuery, MeasureError,
    MeasureSet, NotAProbability, RankingComparison, RankingComparisonError, RankingValue,
    RelevanceForecasts, RunEvaluation, RunEvaluationError, RunEvaluationOptions,
    comparable_measures, compare_rankings, compare_runs, evaluate_letor, evaluate_run,
    measure_relevance, stated_by_run, stated_by_scores,
};

/// What is measured, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RankEvaluateSettings {
    /// Measures by trec_eval's names, or LETOR's; none stands for the official ones, or `map` where several rankings are compared.
    pub measures: Vec<String>,
    /// Tell of every query.
    pub per_query: bool,
    /// Count judged queries that a run lacks as 0.
    pub complete: bool,
    /// The smallest grade that is relevant.
    pub relevant_from: i32,
    /// So many documents of a list are looked at; all without a number.
    pub most_documents: Option<usize>,
    /// The number of documents in the collection, for `utility` with a fourth cost.
    pub collection_size: Option<u64>,
    /// Count as LETOR does: the truth is a LETOR file, and rankings are scores of its rows.
    pub letor: Option<LetorCounting>,
    /// Scores are probabilities of relevance, and are measured as such.
    pub probabilities: bool,
    /// What becomes of documents that nobody judged, where probabilities are measured.
    pub unjudged: Unjudged,
    /// Which of several rankings the others are held against.
    pub baseline: Baseline,
    /// For the draws of the randomisation test.
    pub seed: u64,
}

impl Default for RankEvaluateSettings {
    fn default() -> Self {
        Self {
            measures: Vec::new(),
            per_query: false,
            complete: false,
            relevant_from: 1,
            most_documents: None,
            collection_size: None,
            letor: None,
            probabilities: false,
            unjudged: Unjudged::default(),
            baseline: Baseline::First,
            seed: 1,
        }
    }
}

/// Rankings, measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MeasuredRankings {
    /// Runs, by trec_eval's measures.
    Runs {
        /// Each run.
        runs: Vec<RunReport>,
        /// All of them side by side, measure by measure, where there are several.
        comparisons: Vec<RankingComparison>,
    },
    /// Scores of the rows of a LETOR file.
    Letor {
        /// Each list of scores.
        rankings: Vec<LetorReport>,
        /// All of them side by side, measure by measure, where there are several.
        comparisons: Vec<RankingComparison>,
    },
    /// Scores that are probabilities.
    Relevance {
        /// Each run, or list of scores.
        rankings: Vec<RelevanceReport>,
    },
}

/// A run, measured.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// The run's name, or its file's where two runs have one name.
    pub name: String,
    /// Its file.
    pub file: String,
    /// The values.
    pub evaluation: RunEvaluation,
    /// Whether every query is reported.
    pub per_query: bool,
}

/// Scores of the rows of a LETOR file, measured.
#[derive(Debug, Clone, PartialEq)]
pub struct LetorReport {
    /// Their file.
    pub file: String,
    /// The values.
    pub evaluation: LetorEvaluation,
    /// The measures that were asked for.
    pub measures: Vec<LetorMeasure>,
    /// Whether every query is reported.
    pub per_query: bool,
}

/// Probabilities of relevance, measured.
#[derive(Debug, Clone, PartialEq)]
pub struct RelevanceReport {
    /// Their file.
    pub file: String,
    /// The values.
    pub forecasts: RelevanceForecasts,
    /// What nobody judged.
    pub judged: JudgedShare,
    /// Whether every query is reported.
    pub per_query: bool,
}

/// A measure of LETOR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LetorMeasure {
    /// NDCG of the first documents.
    Ndcg(usize),
    /// Precision of the first documents.
    Precision(usize),
    /// Mean average precision.
    Map,
}

impl LetorMeasure {
    /// All of them, in LETOR's order.
    pub fn all() -> impl Iterator<Item = Self> {
        let cuts = 1..=LETOR_CUTS;
        let ndcg = cuts.clone().map(Self::Ndcg);
        ndcg.chain(cuts.map(Self::Precision)).chain([Self::Map])
    }

    /// Its name: `NDCG@10`, `P@5`, `MAP`.
    pub fn name(self) -> String {
        match self {
            Self::Ndcg(cut) => format!("NDCG@{cut}"),
            Self::Precision(cut) => format!("P@{cut}"),
            Self::Map => "MAP".to_owned(),
        }
    }

    /// Its value for a query.
    pub fn of(self, query: &LetorQuery) -> f64 {
        match self {
            Self::Ndcg(cut) => query.ndcg[cut - 1],
            Self::Precision(cut) => query.precision[cut - 1],
            Self::Map => query.average_precision,
        }
    }
}

/// Why rankings could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RankEvaluateError {
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// There is no such measure.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// There is no such measure of LETOR.
    #[error("LETOR has no measure `{name}`")]
    LetorMeasure {
        /// Its name.
        name: String,
    },
    /// A run cannot be measured.
    #[error("{file}: {error}")]
    Run {
        /// Its file.
        file: String,
        /// Why not.
        error: RunEvaluationError,
    },
    /// Scores cannot be measured.
    #[error("{file}: {error}")]
    Letor {
        /// Their file.
        file: String,
        /// Why not.
        error: LetorError,
    },
    /// Scores belong to other rows.
    #[error("{file} has {found} scores, and {test} {rows} rows")]
    ScoreCount {
        /// The file of scores.
        file: String,
        /// How many it has.
        found: usize,
        /// The test file.
        test: String,
        /// Its rows.
        rows: usize,
    },
    /// No measure has a value for each query.
    #[error("none of the measures can be compared query by query")]
    NothingToCompare,
    /// Rankings cannot be compared.
    #[error(transparent)]
    Comparison(#[from] RankingComparisonError),
    /// A score is not a probability.
    #[error("{file}, {error}")]
    NotAProbability {
        /// Its file.
        file: String,
        /// The score.
        error: NotAProbability,
    },
    /// Nobody judged any query of a run.
    #[error("{file}: no query of the run is judged")]
    NothingJudged {
        /// The run's file.
        file: String,
    },
}

/// Measures rankings: runs against judgements, or scores of the rows of a LETOR file.
pub fn evaluate_rankings(
    truth: &Source,
    rankings: &[Source],
    settings: &RankEvaluateSettings,
) -> Result<MeasuredRankings, RankEvaluateError> {
    match (settings.letor, settings.probabilities) {
        (Some(counting), false) => letor(truth, rankings, counting, settings),
        (None, false) => runs(truth, rankings, settings),
        (letor, true) => {
            let rankings = match letor {
                Some(_) => relevance_of_scores(truth, rankings, settings)?,
                None => relevance_of_runs(truth, rankings, settings)?,
            };
            Ok(MeasuredRankings::Relevance { rankings })
        }
    }
}

fn runs(
    truth: &Source,
    rankings: &[Source],
    settings: &RankEvaluateSettings,
) -> Result<MeasuredRankings, RankEvaluateError> {
    let several = rankings.len() > 1;
    let measures = match (settings.measures.is_empty(), several) {
        (false, _) => MeasureSet::parse(&settings.measures)?,
        (true, false) => MeasureSet::official(),
        (true, true) => MeasureSet::parse(&["map"])?,
    };
    let options = RunEvaluationOptions {
        measures,
        complete: settings.complete,
        relevant_from: settings.relevant_from,
        most_documents: settings.most_documents.unwrap_or(usize::MAX),
        collection_size: settings.collection_size,
    };
    let qrels = Qrels::read(truth)?;
    let mut named: Vec<(String, RunEvaluation)> = Vec::with_capacity(rankings.len());
    for source in rankings {
        let run = Run::read(source)?;
        let evaluation = evaluate_run(&qrels, &run, &options).map_err(|error| {
            let file = source.name();
            RankEvaluateError::Run { file, error }
        })?;
        named.push((run.name().to_owned(), evaluation));
    }
    let mut names: Vec<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        for ((name, _), source) in named.iter_mut().zip(rankings) {
            *name = source.name();
        }
    }
    let comparisons = match several {
        true => compared_runs(&named, settings)?,
        false => Vec::new(),
    };
    let reports = named.into_iter().zip(rankings);
    let reports = reports.map(|((name, evaluation), source)| RunReport {
        name,
        file: source.name(),
        evaluation,
        per_query: settings.per_query,
    });
    Ok(MeasuredRankings::Runs {
        runs: reports.collect(),
        comparisons,
    })
}

fn compared_runs(
    runs: &[(String, RunEvaluation)],
    settings: &RankEvaluateSettings,
) -> Result<Vec<RankingComparison>, RankEvaluateError> {
    let first = runs.first().map(|(_, run)| run);
    let measures = first.map(comparable_measures).unwrap_or_default();
    if measures.is_empty() {
        return Err(RankEvaluateError::NothingToCompare);
    }
    let compare = |measure: &&str| compare_runs(measure, runs, settings.baseline, settings.seed);
    let compared: Result<Vec<_>, RankingComparisonError> = measures.iter().map(compare).collect();
    Ok(compared?)
}

fn letor(
    truth: &Source,
    rankings: &[Source],
    counting: LetorCounting,
    settings: &RankEvaluateSettings,
) -> Result<MeasuredRankings, RankEvaluateError> {
    let measures = letor_measures(&settings.measures, rankings.len() > 1)?;
    let table = RankingTable::read(truth)?;
    let mut reports = Vec::with_capacity(rankings.len());
    for source in rankings {
        let scores = scores_of(source, truth, &table)?;
        let from = settings.relevant_from;
        let evaluation = evaluate_letor(&table, &scores, counting, from).map_err(|error| {
            let file = source.name();
            RankEvaluateError::Letor { file, error }
        })?;
        reports.push(LetorReport {
            file: source.name(),
            evaluation,
            measures: measures.clone(),
            per_query: settings.per_query,
        });
    }
    let compare = |measure: &LetorMeasure| {
        let values: Vec<(String, Vec<f64>)> = reports
            .iter()
            .map(|report| {
                let queries = report.evaluation.queries.iter();
                let values = queries.map(|query| measure.of(query)).collect();
                (report.file.clone(), values)
            })
            .collect();
        compare_rankings(&measure.name(), &values, settings.baseline, settings.seed)
    };
    let comparisons = match reports.len() > 1 {
        true => measures.iter().map(compare).collect::<Result<_, _>>()?,
        false => Vec::new(),
    };
    Ok(MeasuredRankings::Letor {
        rankings: reports,
        comparisons,
    })
}

fn letor_measures(names: &[String], several: bool) -> Result<Vec<LetorMeasure>, RankEvaluateError> {
    match (names.is_empty(), several) {
        (true, true) => Ok(vec![LetorMeasure::Map]),
        (true, false) => Ok(LetorMeasure::all().collect()),
        (false, _) => {
            let named = names.iter().map(|name| {
                let mut all = LetorMeasure::all();
                let found = all.find(|measure| measure.name().eq_ignore_ascii_case(name));
                found.ok_or_else(|| RankEvaluateError::LetorMeasure { name: name.clone() })
            });
            named.collect()
        }
    }
}

/// Scores of the rows; their number must be right.
fn scores_of(
    source: &Source,
    truth: &Source,
    table: &RankingTable,
) -> Result<Vec<f64>, RankEvaluateError> {
    let scores = read_score_list(source)?;
    match scores.len() == table.row_count() {
        true => Ok(scores),
        false => Err(RankEvaluateError::ScoreCount {
            file: source.name(),
            found: scores.len(),
            test: truth.name(),
            rows: table.row_count(),
        }),
    }
}

fn relevance_of_runs(
    truth: &Source,
    rankings: &[Source],
    settings: &RankEvaluateSettings,
) -> Result<Vec<RelevanceReport>, RankEvaluateError> {
    let qrels = Qrels::read(truth)?;
    let measured = rankings.iter().map(|source| {
        let file = source.name();
        let run = Run::read(source)?;
        let (from, unjudged) = (settings.relevant_from, settings.unjudged);
        let stated = match stated_by_run(&qrels, &run, from, unjudged) {
            Ok(stated) => stated,
            Err(error) => return Err(RankEvaluateError::NotAProbability { file, error }),
        };
        if stated.queries.is_empty() {
            return Err(RankEvaluateError::NothingJudged { file });
        }
        Ok(RelevanceReport {
            file,
            forecasts: measure_relevance(&stated.queries),
            judged: stated.judged,
            per_query: settings.per_query,
        })
    });
    measured.collect()
}

fn relevance_of_scores(
    truth: &Source,
    rankings: &[Source],
    settings: &RankEvaluateSettings,
) -> Result<Vec<RelevanceReport>, RankEvaluateError> {
    let table = RankingTable::read(truth)?;
    let measured = rankings.iter().map(|source| {
        let scores = scores_of(source, truth, &table)?;
        let (from, unjudged) = (settings.relevant_from, settings.unjudged);
        let stated = stated_by_scores(&table, &scores, from, unjudged).map_err(|error| {
            let file = source.name();
            RankEvaluateError::NotAProbability { file, error }
        })?;
        Ok(RelevanceReport {
            file: source.name(),
            forecasts: measure_relevance(&stated),
            judged: table.judged_share(),
            per_query: settings.per_query,
        })
    });
    measured.collect()
}

impl Serialize for RunReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let run = &self.evaluation;
        let mut described = json!({
            "name": self.name,
            "file": self.file,
            "queries_measured": run.queries.len(),
            "queries_not_judged": run.not_judged,
            "queries_not_answered": run.not_answered,
            "queries_without_relevant_documents": run.without_relevant,
            "measures": values(&run.names, &run.summary),
        });
        if self.per_query {
            let queries = run.queries.iter().map(|query| {
                json!({
                    "query": query.id,
                    "answered": query.answered,
                    "measures": values(&run.names, &query.values),
                })
            });
            described["queries"] = queries.collect();
        }
        described.serialize(serializer)
    }
}

fn values(names: &[String], values: &[RankingValue]) -> Value {
    let named = names.iter().zip(values).filter_map(|(name, value)| {
        let value = match value {
            RankingValue::None => return None,
            RankingValue::Count(count) => json!(count),
            RankingValue::Number(number) => json!(number),
            RankingValue::Text(text) => json!(text),
        };
        Some((name.clone(), value))
    });
    Value::Object(named.collect())
}

impl Serialize for LetorReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let found = &self.evaluation;
        let values = |query: &LetorQuery| -> Value {
            let measures = self.measures.iter();
            let named = measures.map(|measure| (measure.name(), json!(measure.of(query))));
            Value::Object(named.collect::<Map<String, Value>>())
        };
        let mut described = json!({
            "file": self.file,
            "counting": found.counting,
            "queries_measured": found.queries.len(),
            "queries_without_relevant_documents": found.without_relevant,
            "queries_with_few_documents": found.short,
            "measures": values(&found.mean),
        });
        if self.per_query {
            let queries = found.queries.iter();
            described["queries"] = queries
                .map(|query| json!({ "query": query.id, "measures": values(query) }))
                .collect();
        }
        described.serialize(serializer)
    }
}

impl Serialize for RelevanceReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let found = &self.forecasts;
        let mut described = json!({
            "file": self.file,
            "calibration": found.calibration,
            "certain_and_wrong": found.certain_and_wrong,
            "stated_ends": found.stated_ends,
            "count_error": found.count_error,
            "count_excess": found.count_excess,
        });
        if self.per_query {
            described["queries"] = json!(found.queries);
        }
        described.serialize(serializer)
    }
}
