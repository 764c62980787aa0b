//! How good are the probabilities? Measures what was said against what was true;
//! fits nothing.
//!
//! [`evaluate`] turns [`Forecasts`] into one [`Evaluation`]: decisions (accuracy, F1, a confusion
//! matrix, costs), probabilities (log loss, Brier score, ranking) and calibration. Underneath are
//! [`SortedForecasts`], yes-or-no forecasts that are sorted once; every measure of such forecasts
//! is a method of theirs, and [`Calibration`] holds all of them. What a perfect forecaster would
//! show by chance stands beside every calibration error. [`bootstrap`] says how much measures would
//! vary with other documents. [`compare`] holds several systems against
//! each other, with tests of whether a difference could be luck.

mod answered_curve;
mod bootstrap;
mod calibration;
mod calibration_error;
mod calibration_line;
mod calibration_tests;
mod class_wise;
mod compare;
mod confusion;
mod confusion_table;
mod cost_curve;
mod costs;
mod debiased_error;
mod decision_curve;
mod decomposition;
mod equal_mass;
mod error_likelihood;
mod forecasts;
mod hindsight;
mod interval;
mod known_truth;
mod losses;
mod measures;
mod open_world;
mod per_class;
mod perfect;
mod precision_recall;
mod reliability;
mod reliability_curve;
mod roc;
mod significance;
mod smooth_error;
mod sorted_forecasts;
mod stated;
mod units;

pub use answered_curve::{AnsweredCurve, AnsweredPoint, answered_curve};
pub use bootstrap::{Bootstrap, BootstrapSettings, bootstrap};
pub use calibration::Calibration;
pub use calibration_error::{
    BesidePerfect, Binning, calibration_error, calibration_error_of_perfect,
};
pub use calibration_line::CalibrationLine;
pub use calibration_tests::TestResult;
pub use compare::{
    CompareSettings, ComparedPair, ComparedSystem, Comparison, CostsOfDocuments, LossDifference,
    MarkedLoss, compare, compare_groups, compare_with_costs,
};
pub use confusion::{ConfusionCell, ConfusionMatrix};
pub use confusion_table::{ConfusionTable, confusion_table};
pub use cost_curve::{CostPoint, cost_curve};
pub use costs::{ActionCost, CostReport, cost_report};
pub use debiased_error::DebiasedError;
pub use decision_curve::{NetBenefit, decision_curve, expected_decision_curve};
pub use decomposition::Decomposition;
pub use error_likelihood::ErrorLikelihood;
pub use forecasts::{EvaluationError, Forecasts};
pub use hindsight::{HindsightThreshold, ThresholdOf};
pub use interval::Interval;
pub use known_truth::TruthBin;
pub use losses::Losses;
pub use measures::{
    ECE_BINS, Evaluation, EvaluationOptions, Further, LossUnit, evaluate, evaluate_with,
};
#[doc(hidden)]
pub use measures::{evaluate_beside_perfect, evaluate_without_chance};
pub use open_world::{OpenForecast, OpenWorldReport};
pub use per_class::ClassEvaluation;
pub use precision_recall::{PrecisionRecall, PrecisionRecallPoint, precision_recall};
pub use reliability::{ReliabilityBin, reliability};
pub use reliability_curve::CurvePoint;
pub use roc::RankingPoint;
pub use significance::{
    BootstrapDifference, McNemarTest, PairedTTest, RandomisationTest, SignTest, WilcoxonTest,
    bootstrap_difference, paired_t_test, randomisation_test, wilcoxon_signed_rank,
};
pub use smooth_error::SmoothError;
pub use sorted_forecasts::SortedForecasts;
#[doc(hidden)]
pub use stated::{RowZeros, exclusive_into};
pub use stated::{StatedCell, StatedEnds, StatedTable};
