//! What calibrant can do, as calls: a plain settings value in, a result that can be written as JSON out. Nothing is printed
//! here; every front end shows the same results in its own way.
//!
//! [`Predictor`] predicts one document, a batch or a source; [`Model::forecast`](crate::pipeline::Model::forecast) is the one
//! loop that reads labelled documents, predicts them and matches labels to classes; [`evaluate_source`], [`compare_systems`]
//! and [`explain`] say how good the probabilities are and where they come from.

mod compare;
mod evaluate;
mod explain;
mod forecast;
mod ledger;
mod positive;
mod predict;
mod prediction;
mod prior;
mod systems;
mod tables;
mod test_set;
#[cfg(test)]
mod testing;

pub use compare::{CompareReport, compare_systems};
pub use evaluate::{
    EvaluateError, EvaluateReport, EvaluateSettings, Evaluated, Evaluator, evaluate_source,
};
pub use explain::{ExplainError, explain, read_row};
pub use forecast::{ForecastSettings, LabelledForecasts, WrittenOtherwise};
pub use ledger::{LedgerProblem, Look, record_looks};
pub use positive::is_usual;
pub use predict::{PredictError, PredictSettings, PredictSummary, Predictor};
pub use prediction::{ClassProbability, DocumentKey, DocumentKeys, Prediction};
pub use prior::{
    AdaptPrior, DecidedPrior, PriorChoice, PriorError, PriorPlan, PriorReport, TrainedShares,
};
pub use systems::{
    Answers, System, SystemError, SystemSettings, ask_systems, open_model, system_names,
};
pub use tables::{
    MissingRows, StatedForecasts, TableError, TableNote, TableQuestion, Wanted, read_forecasts,
};
