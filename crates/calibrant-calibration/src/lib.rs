//! Scores to probabilities that can be trusted: calibrators, decisions and measures of forecasts.
//!
//! Numbers only: this crate knows scores, labels and weights; no text, no files, no models. It is the heart of
//! the crate `calibrant`, which re-exports it, and serves any classifier.
//!
//! ```
//! use calibrant_calibration::calibration::{Calibrator, CalibratorKind, HeldOutScores};
//!
//! // Scores of examples that the classifier did not learn from, and whether each was positive.
//! let scores: Vec<f64> = (0..200).map(|i| f64::from(i) / 10.0 - 10.0).collect();
//! let labels: Vec<bool> = (0..200).map(|i| i >= 100 || i % 10 == 0).collect();
//! let held_out = HeldOutScores::assume(scores, labels)?;
//! let curve = CalibratorKind::Platt.fit(&held_out)?;
//! assert!(curve.probability(5.0).value() > 0.9);
//! assert!(curve.probability(-9.0).value() < 0.2);
//! # Ok::<(), calibrant_calibration::CalibrationError>(())
//! ```

pub mod calibration;
pub mod decision;
mod error;
pub mod evaluation;
mod named;
#[doc(hidden)] // Arithmetic, for the crate `calibrant`.
pub mod numeric;
#[doc(hidden)] // For the crate `calibrant`.
pub mod parallel;
mod probability;
mod row_labels;
#[doc(hidden)] // For the crate `calibrant` and its tests.
pub mod solvers;
mod task;

pub use error::CalibrationError;
pub use named::{Named, UnknownName};
pub use probability::Probability;
pub use row_labels::RowLabels;
pub use task::Task;
