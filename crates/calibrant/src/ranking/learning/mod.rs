//! Rankings learned from judged documents: SVM-MAP and its relatives.
//!
//! [`FeatureMap`] makes features of a table's columns, [`RankLoss`] names what a ranking is to be good at, and
//! [`RankModel::fit`] chooses what was left open by [`RankSettings`] and finds weights by cutting planes, with the most violated ranking of each query as a plane.
//!
//! A ranking `y` of a query's documents is described by the order of its pairs of unequal grade,
//! `ψ(y) = 1/Z Σ y_ij (φ_i - φ_j)` over pairs with `i` of the higher grade, where `y_ij` is 1 if `i` stands before `j` and else -1, and `Z`
//! is the number of pairs. An oracle finds the ranking with the largest `Δ(y) + w·ψ(y)`.

mod calibrate;
mod candidates;
mod choice;
mod cost_path;
mod error;
mod features;
mod fit;
mod from_runs;
mod grade_use;
mod loss;
mod model;
mod model_file;
mod oracles;
mod parameters;
mod problem;
mod query_scale;
mod rows;
mod settings;
mod splits;
mod summary;
mod thresholds;
mod validation;

pub use choice::Choice;
pub use error::{RankFitError, UnknownFeatures};
pub(crate) use features::BIN_LIMIT;
pub use features::{FeatureMap, FeatureSettings};
pub use from_runs::{table_of_runs, unlisted_relevant};
pub use grade_use::GradeUse;
pub use loss::{RankLoss, UnknownLoss};
pub use model::{FeatureCurve, RankModel};
pub use oracles::TooManyOrders;
pub use parameters::RankParameters;
pub use query_scale::QueryScale;
pub use settings::RankSettings;
pub use summary::{CostChoice, RankSummary, RankTrial, SettingsTried};

// Not part of the documented interface: what the solver is given, for tests and experiments.
#[doc(hidden)]
pub use oracles::{
    NdcgOracle, PairOracle, SortedSides, most_violated_average_precision,
    most_violated_average_precision_plain, most_violated_reciprocal_rank, most_violated_roc_area,
};
#[doc(hidden)]
pub use parameters::{FURTHER_COSTS, USUAL_COSTS};
#[doc(hidden)]
pub use problem::RankProblem;
#[doc(hidden)]
pub use rows::FeatureRows;
#[doc(hidden)]
pub use validation::average_precision;
