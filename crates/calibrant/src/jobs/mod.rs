//! What calibrant can do, as calls: a plain settings value in, a result that can be written as JSON out. Nothing is printed
//! here; every front end shows the same results in its own way.

mod fit_rows;
mod predict;
mod prediction;
mod prior;
#[cfg(test)]
mod testing;

pub use fit_rows::{explain_row, fit_rows, predict_rows};
pub use predict::{PredictError, PredictSettings, PredictSummary, Predictor};
pub use prediction::{ClassProbability, DocumentKey, DocumentKeys, Prediction};
pub use prior::{
    AdaptPrior, DecidedPrior, PriorChoice, PriorError, PriorPlan, PriorReport, TrainedShares,
};
