//! How much is left to find in ranked lists, and where to stop reading.

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize, Serializer};

use crate::calibration::LogOddsSpread;
use crate::corpus::{JudgedQuery, Qrels, RankedQuery, Run};
use crate::evaluation::ranking::NotAProbability;
use crate::jobs::{Saved, open_any};
use crate::parallel;
use crate::ranking::Outlook;
use crate::saved::{SavedFileError, SavedKind, SavedProblem};

/// What is asked about each query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OutlookSettings {
    /// The share of the relevant documents that is wanted.
    pub recall: f64,
    /// How sure that has to be.
    pub certainty: f64,
    /// Ranks below which to count what is expected.
    pub at: Vec<usize>,
    /// The smallest grade that is relevant, where there are judgements.
    pub relevant_from: i32,
}

impl Default for OutlookSettings {
    fn default() -> Self {
        Self {
            recall: 0.95,
            certainty: 0.9,
            at: vec![10, 100],
            relevant_from: 1,
        }
    }
}

/// Where it is known from how far stated probabilities may be off in one query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpreadOrigin {
    /// A ranking model's held-out queries.
    Ranker,
    /// A classifier's held-out documents.
    Classifier,
    /// A default learned on other collections.
    Default,
}

/// How far stated probabilities may be off in one query: by the model that stated them, or as is usual.
#[derive(Debug, Clone)]
pub enum QuerySpreads {
    /// No model is known.
    Usual,
    /// One for all queries; none where the ranking model says nothing.
    Ranker(Option<LogOddsSpread>),
    /// One per class of a classifier, by name: queries are called as classes are.
    Classifier(HashMap<String, Option<LogOddsSpread>>),
}

impl QuerySpreads {
    /// Those of a ranking model, or of a classifier with a class per query.
    pub fn open(path: &Path) -> Result<Self, SavedFileError> {
        match open_any(path)? {
            Saved::Ranking(model) => {
                let relevance = model.relevance();
                Ok(Self::Ranker(relevance.and_then(|r| r.spread()).copied()))
            }
            Saved::Model(model) => {
                let classes = model.summary().classes.iter();
                let named = classes.map(|class| (class.label.clone(), class.spread));
                Ok(Self::Classifier(named.collect()))
            }
            other => Err(SavedFileError {
                kind: Some(SavedKind::Ranking),
                path: Some(path.to_owned()),
                problem: SavedProblem::OtherKind {
                    found: other.kind(),
                },
            }),
        }
    }

    fn of(&self, query: &str) -> (LogOddsSpread, SpreadOrigin) {
        let found = match self {
            Self::Usual => None,
            Self::Ranker(spread) => spread.map(|spread| (spread, SpreadOrigin::Ranker)),
            Self::Classifier(classes) => classes
                .get(query)
                .copied()
                .flatten()
                .map(|spread| (spread, SpreadOrigin::Classifier)),
        };
        found.unwrap_or((LogOddsSpread::usual(), SpreadOrigin::Default))
    }
}

/// What is said of one query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryOutlook {
    /// The query.
    pub query: String,
    /// Documents in its list.
    pub documents: usize,
    /// How many of them are expected to be relevant.
    pub expected_relevant: f64,
    /// How many are expected below each rank that was asked for.
    #[serde(serialize_with = "by_rank")]
    pub expected_below: Vec<(usize, f64)>,
    /// The share of the relevant documents that is wanted.
    pub recall: f64,
    /// The first rank where it is expected to be reached.
    pub stop: usize,
    /// How sure that has to be.
    pub certainty: f64,
    /// The first rank where it is reached with that certainty.
    pub sure_stop: usize,
    /// What the certainty rests on.
    pub certainty_from: SpreadOrigin,
    /// What came true, where somebody judged.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub truth: Option<OutlookTruth>,
}

/// What came true of an outlook.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OutlookTruth {
    /// Relevant documents in the list.
    pub relevant_listed: usize,
    /// The share of them at `stop`; none where there are none.
    pub recall_at_stop: Option<f64>,
    /// The share of them at `sure_stop`; none where there are none.
    pub recall_at_sure_stop: Option<f64>,
    /// Those at `stop`.
    #[serde(skip)]
    pub found_at_stop: usize,
    /// Those at `sure_stop`.
    #[serde(skip)]
    pub found_at_sure_stop: usize,
    /// Relevant documents that the list lacks, which count neither as expected nor as missed.
    #[serde(skip)]
    pub unlisted: usize,
}

fn by_rank<S: Serializer>(below: &[(usize, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(below.iter().map(|(rank, left)| (rank.to_string(), left)))
}

/// How much is left to find for each query of a run whose scores are probabilities of relevance, and where to stop reading.
///
/// ```
/// use calibrant::jobs::rankings::{OutlookSettings, QuerySpreads, SpreadOrigin, outlook};
/// use calibrant::ranking::RunBuilder;
/// let mut run = RunBuilder::new("stated")?;
/// for (document, probability) in [("a", 0.9), ("b", 0.5), ("c", 0.1)] {
///     run.push("q", document, probability)?;
/// }
/// let found = outlook(&run.finish()?, None, &QuerySpreads::Usual, &OutlookSettings::default())?;
/// assert!((found[0].expected_relevant - 1.5).abs() < 1e-12); // by hand: 0.9 + 0.5 + 0.1
/// assert_eq!(found[0].certainty_from, SpreadOrigin::Default);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn outlook(
    run: &Run,
    qrels: Option<&Qrels>,
    spreads: &QuerySpreads,
    settings: &OutlookSettings,
) -> Result<Vec<QueryOutlook>, NotAProbability> {
    let queries: Vec<RankedQuery<'_>> = run.queries().collect();
    parallel::try_map(&queries, |&query| of_query(query, qrels, spreads, settings))
}

fn of_query(
    query: RankedQuery<'_>,
    qrels: Option<&Qrels>,
    spreads: &QuerySpreads,
    settings: &OutlookSettings,
) -> Result<QueryOutlook, NotAProbability> {
    let wrong = |score: &f64| !(0.0..=1.0).contains(score);
    if let Some(place) = query.scores().iter().position(wrong) {
        return Err(NotAProbability {
            line: query.lines()[place],
            score: query.scores()[place],
        });
    }
    let (spread, origin) = spreads.of(query.id());
    let outlook = Outlook::with_spread(query.scores().iter().copied(), &spread);
    let stop = outlook.stop_for_recall(settings.recall);
    let sure_stop = outlook.sure_stop_for_recall(settings.recall, settings.certainty);
    let judged = qrels.and_then(|qrels| qrels.query(query.id()));
    let judged = judged.filter(JudgedQuery::has_judgement);
    let below = settings.at.iter();
    Ok(QueryOutlook {
        query: query.id().to_owned(),
        documents: outlook.document_count(),
        expected_relevant: outlook.expected(),
        expected_below: below
            .map(|&rank| (rank, outlook.expected_below(rank)))
            .collect(),
        recall: settings.recall,
        stop,
        certainty: settings.certainty,
        sure_stop,
        certainty_from: origin,
        truth: judged.map(|judged| truth(&query, &judged, [stop, sure_stop], settings)),
    })
}

fn truth(
    query: &RankedQuery<'_>,
    judged: &JudgedQuery<'_>,
    [stop, sure_stop]: [usize; 2],
    settings: &OutlookSettings,
) -> OutlookTruth {
    let is_relevant = |grade: i32| grade >= settings.relevant_from;
    let found = |count: usize| {
        let first = query.documents().take(count);
        first
            .filter(|document| judged.grade(document).is_some_and(is_relevant))
            .count()
    };
    let listed = found(usize::MAX);
    let share = |found: usize| (listed > 0).then(|| found as f64 / listed as f64);
    let (found_at_stop, found_at_sure_stop) = (found(stop), found(sure_stop));
    let all = judged.grades().iter().filter(|&&grade| is_relevant(grade));
    OutlookTruth {
        relevant_listed: listed,
        recall_at_stop: share(found_at_stop),
        recall_at_sure_stop: share(found_at_sure_stop),
        found_at_stop,
        found_at_sure_stop,
        unlisted: all.count().saturating_sub(listed),
    }
}
