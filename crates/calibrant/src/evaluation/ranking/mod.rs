//! How good is a ranking? Measures of lists of documents.
//!
//! [`evaluate_run`] holds a [`Run`](crate::corpus::Run) against [`Qrels`](crate::corpus::Qrels) and gives the figures
//! of trec_eval 10, by its names and to its digits. Underneath is [`JudgedList`], the list of one query with what is
//! known of its documents; every measure is a method of it. [`LetorCounting`] counts as the tools of the LETOR collections do, which
//! differs in gains, discounts and short lists. [`compare_rankings`] holds systems against each other query by query, and
//! [`measure_relevance`] asks whether scores that are probabilities of relevance are right.

mod compare_rankings;
mod gain;
mod judged_list;
mod letor;
mod measure;
mod measure_kind;
mod measure_set;
mod precision;
mod preference;
mod probabilities;
mod run_evaluation;
mod set;

pub use compare_rankings::{
    Baseline, ComparedRanking, RankingComparison, RankingComparisonError, RankingDifference,
    compare_rankings,
};
pub(crate) use compare_rankings::{comparable_measures, compare_runs};
pub use gain::Gains;
pub use judged_list::{JudgedList, Mark};
pub use letor::{
    LETOR_CUTS, LetorCounting, LetorError, LetorEvaluation, LetorQuery, evaluate_letor,
};
pub use measure::{Measure, MeasureError};
pub use measure_kind::MeasureKind;
pub use measure_set::MeasureSet;
pub(crate) use precision::average_precision_at;
pub use probabilities::{
    NotAProbability, QueryReliability, RelevanceForecasts, StatedRelevance, measure_relevance,
};
pub(crate) use probabilities::{stated_by_run, stated_by_scores};
pub use run_evaluation::{
    QueryEvaluation, RankingValue, RunEvaluation, RunEvaluationError, RunEvaluationOptions,
    evaluate_run,
};
