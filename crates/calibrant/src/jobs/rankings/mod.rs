//! What is done with rankings: learn one ([`RankTraining`]), rank with it ([`RankPredictions`]), measure lists
//! ([`evaluate_rankings`]), and say how much they leave to be found ([`outlook`]).

mod evaluate;
mod fit;
mod outlook;
mod predict;
mod rows;

pub use evaluate::{
    LetorMeasure, LetorReport, MeasuredRankings, RankEvaluateError, RankEvaluateSettings,
    RelevanceReport, RunReport, evaluate_rankings,
};
pub use fit::{RankFit, RankTraining};
pub use outlook::{
    OutlookSettings, OutlookTruth, QueryOutlook, QuerySpreads, SpreadOrigin, outlook,
};
pub use predict::{RankPredictError, RankPredictSettings, RankPredictions, RankedDocument};
pub use rows::{RankFile, RankRows, RankRowsError, RankSource};
