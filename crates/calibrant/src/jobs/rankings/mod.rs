//! What is done with rankings: learn one ([`RankTraining`]), rank with it ([`RankPredictions`]).

mod fit;
mod predict;
mod rows;

pub use fit::{RankFit, RankTraining};
pub use predict::{RankPredictError, RankPredictSettings, RankPredictions, RankedDocument};
pub use rows::{RankFile, RankRows, RankRowsError, RankSource};
