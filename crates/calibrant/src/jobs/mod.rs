//! What calibrant can do, as calls: a plain settings value in, a result that can be written as JSON out. Nothing is printed
//! here; every front end shows the same results in its own way.

mod open_any;
mod predict;
mod prediction;
mod prior;
#[cfg(test)]
mod testing;

pub use open_any::{Saved, open_any, open_any_bytes};
pub use predict::{PredictError, PredictSettings, PredictSummary, Predictor};
pub use prediction::{ClassProbability, DocumentKey, DocumentKeys, Prediction};
pub use prior::{
    AdaptPrior, DecidedPrior, PriorChoice, PriorError, PriorPlan, PriorReport, TrainedShares,
};
