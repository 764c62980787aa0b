//! How good are the probabilities? Measures what was said against what was true;
//! fits nothing.
//!
//! [`evaluate`] turns [`Forecasts`] into one [`Evaluation`]: decisions (accuracy,
//! F1), probabilities (log loss, Brier score) and calibration (the expected
//! calibration error beside the value that a perfect forecaster would show).
//! [`reliability`] gives the bins of a reliability diagram.

mod calibration_error;
mod confusion;
mod cost_curve;
mod equal_mass;
mod forecasts;
mod measures;
mod per_class;
mod precision_recall;
mod reliability;

pub use calibration_error::{calibration_error, calibration_error_of_perfect};
pub use confusion::{ConfusionMatrix, confusion_matrix};
pub use cost_curve::{CostPoint, cost_curve};
pub use forecasts::{EvaluationError, Forecasts};
pub(crate) use measures::evaluate_without_chance;
pub use measures::{ECE_BINS, Evaluation, LossUnit, evaluate};
pub use per_class::ClassEvaluation;
pub use precision_recall::{PrecisionRecall, PrecisionRecallPoint, precision_recall};
pub use reliability::{ReliabilityBin, reliability};
