//! What calibrant can do, as calls: a plain settings value in, a result that can be written as JSON out. Nothing is printed
//! here; every front end shows the same results in its own way.
//!
//! [`Predictor`] predicts one document, a batch or a source; [`Model::forecast`](crate::pipeline::Model::forecast) is the one
//! loop that reads labelled documents, predicts them and matches labels to classes; [`evaluate_source`], [`compare_systems`]
//! and [`explain`] say how good the probabilities are and where they come from.

#[doc(no_inline)]
pub use crate::decision::{
    AdaptPrior, DecidedPrior, PriorChoice, PriorError, PriorPlan, PriorReport, TrainedShares,
};

mod apply_scores;
mod calibrate;
mod calibrate_report;
mod cascade;
mod cells;
mod check_rules;
mod combine;
mod compare;
mod content;
mod costs;
mod decide;
mod evaluate;
mod expect;
mod explain;
mod fit;
mod fit_report;
mod fit_rows;
mod fit_words;
mod forecast;
mod held_out;
mod inspect;
mod ledger;
mod open_any;
mod plain_table;
mod positive;
mod predict;
mod prediction;
mod predictions;
mod prevalence;
mod promises;
pub mod rankings;
mod recalibrate;
mod reread;
mod score_columns;
#[cfg(feature = "index")]
pub mod search;
mod solve_rows;
mod split;
mod suspects;
mod systems;
mod tables;
mod test_set;
#[cfg(test)]
mod testing;
mod trainer;

pub use apply_scores::{
    AppliedScores, PositivePrediction, ScorePrediction, apply_scores, apply_scores_live,
};
#[doc(hidden)] // Names in a sentence, as the program's messages have them.
pub use calibrate::listed;
pub use calibrate::{
    CalibrateError, CalibrateSettings, CalibratedScores, ChosenClasses, ClassField, LabelGuess,
    MeasuredOn, MeasuredScores, fit_scores, forecast_scores, measure_scores, read_examples,
};
pub use calibrate_report::{
    CalibrateMeasures, CalibrateReport, TriedCalibration, tried_calibrations,
};
pub use cascade::{
    AnswerSource, BuiltCascade, CascadeJobError, PolicyFile, PolicyInUse, PolicySource, Says,
    SourceAnswers, SourceKind, build_cascade,
};
pub use check_rules::{CheckRulesError, check_rules};
pub use combine::{
    Combination, CombineJobError, CombineReport, CombinedModels, Member, combine_source,
};
pub use compare::{CompareReport, compare_systems};
pub use costs::{CostProblem, ReadCostsError, parse_costs, read_costs};
pub use decide::AskReport;
pub use evaluate::{
    EvaluateError, EvaluateReport, EvaluateSettings, Evaluated, Evaluator, evaluate_documents,
    evaluate_source,
};
pub use expect::{ExpectError, Expected, ExpectedClass, ExpectedReport, expect_source};
pub use explain::{ExplainError, explain, read_row};
pub use fit::{FitJobError, FittedModel, SearchOutcome, fit_documents, fit_source, search_source};
pub use fit_report::{ClassFit, FitReport, NextBest, class_fits, rules_without_class};
pub use fit_rows::{explain_row, fit_rows, predict_rows};
pub use fit_words::{ClassWeightWords, FitWords, LabelWords, NeighbourWords, NgramWords};
pub use forecast::{ForecastSettings, LabelledForecasts, WrittenOtherwise};
#[cfg(feature = "index")]
pub use inspect::IndexInspection;
pub use inspect::{
    CalibratorInspection, CombinationInspection, InspectError, Inspection, ModelInspection,
    PolicyInspection, RankingInspection,
};
pub use ledger::{LedgerProblem, Look, record_looks};
pub use open_any::{Saved, open_any, open_any_bytes};
pub use plain_table::PlainTable;
#[doc(hidden)] // Words that usually mean yes or no.
pub use positive::is_usual;
pub use predict::{PredictError, PredictSettings, PredictSummary, Predictor, UnknownDocuments};
pub use prediction::{ClassProbability, Decision, DocumentKey, DocumentKeys, Prediction, RunnerUp};
pub use predictions::{
    PredictionColumns, PredictionFormat, PredictionWriter, RowColumns, WritePredictionsError,
};
pub use prevalence::{
    ClassShare, PlanReport, Pool, PrevalenceJobError, PrevalenceReport, SamplePlanSettings,
    ShareInterval,
};
pub use promises::{
    AnswerSummary, AskF, AskSets, CalibrationExamples, ClassCoverage, FAverage, FSummary,
    PromiseError, PromiseSummary, SeenAnswers, SeenPromises, SeenSets, SetSummary,
};
pub use recalibrate::{
    RecalibrateJobError, RecalibrateReport, RecalibratedClass, RecalibratedModel,
    recalibrate_source,
};
pub use reread::{RereadError, RereadReport};
pub use score_columns::{LabelName, ScoreColumns};
pub use solve_rows::{LinearSolution, SolveSettings, solve_rows};
pub use split::{DateOrder, SplitError, SplitReport, SplitSettings, SplitSide, split_source};
pub use suspects::{SuspectLabel, SuspectList, SuspectSettings, find_suspects};
pub use systems::{
    Answers, System, SystemError, SystemSettings, ask_systems, open_model, system_names,
};
pub use tables::{
    MissingRows, StatedForecasts, TableError, TableNote, TableQuestion, Wanted, read_forecasts,
};
pub use trainer::Trainer;
