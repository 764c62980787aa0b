//! How good are the probabilities? Measures what was said against what was true;
//! fits nothing.
//!
//! [`evaluate`] turns [`Forecasts`] into one [`Evaluation`]: decisions (accuracy,
//! F1), probabilities (log loss, Brier score) and calibration (the expected
//! calibration error beside the value that a perfect forecaster would show).
//! [`reliability`] gives the bins of a reliability diagram. [`compare`] holds several
//! systems against each other, with tests of whether a difference could be luck, and
//! a [`Ledger`] remembers how often a test set has been looked at.

mod calibration_error;
mod compare;
mod equal_mass;
mod forecasts;
mod ledger;
mod measures;
mod per_class;
mod reliability;
mod significance;

pub use calibration_error::{calibration_error, calibration_error_of_perfect};
pub use compare::{
    CompareSettings, ComparedPair, ComparedSystem, Comparison, LossDifference, MarkedLoss, compare,
};
pub use forecasts::{EvaluationError, Forecasts};
pub use ledger::{
    LEDGER_FILE_NAME, Ledger, LedgerEntry, LedgerNote, TestSetHash, content_hash, utc_time,
};
pub(crate) use measures::evaluate_without_chance;
pub use measures::{ECE_BINS, Evaluation, LossUnit, evaluate};
pub use per_class::ClassEvaluation;
pub use reliability::{ReliabilityBin, reliability};
pub use significance::{
    BootstrapDifference, McNemarTest, SignTest, WilcoxonTest, bootstrap_difference,
    wilcoxon_signed_rank,
};
