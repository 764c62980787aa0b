//! Rankings learned from judged documents: SVM-MAP and its relatives.

mod features;
mod loss;
mod oracles;
mod problem;
mod query_scale;
mod rows;
mod thresholds;

pub use features::{BIN_LIMIT, FeatureMap, FeatureSettings};
pub use loss::{RankLoss, UnknownLoss};
pub use oracles::{
    NdcgOracle, PairOracle, SortedSides, TooManyOrders, most_violated_average_precision,
    most_violated_average_precision_plain, most_violated_reciprocal_rank, most_violated_roc_area,
};
pub use problem::RankProblem;
pub use query_scale::QueryScale;
pub use rows::{FeatureRows, RowSum, WeightedRows};
