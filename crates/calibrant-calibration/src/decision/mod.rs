//! What to do, given the probabilities: costs of decisions, thresholds, and "none of these".
//!
//! [`CostMatrix`] says what each decision costs for each truth, and which is cheapest by the stated probabilities;
//! [`Threshold`]s are chosen by the mistakes they make; [`OtherRule`] says when a document belongs to none of the classes;
//! [`PriorPlan`] decides whether classes are as common as in training no longer.

mod cost_matrix;
mod other;
mod prior;
mod threshold;

pub use cost_matrix::{CostEntry, CostError, CostMatrix};
pub use other::{KnownDocuments, OtherError, OtherRule, ThresholdCosts, share_with_other};
pub use prior::{
    AdaptPrior, DecidedPrior, PriorChoice, PriorError, PriorPlan, PriorReport, TrainedShares,
};
pub use threshold::{Threshold, balanced_threshold, least_cost_threshold};
