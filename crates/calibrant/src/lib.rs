//! Classify text with probabilities that can be trusted.
//!
//! ```text
//! text --text--> terms --features--> sparse rows --scorers--> scores --calibration--> probabilities
//! ```
//! The names that most programs need stand here: [`fit`] learns a [`Model`] from [`Document`]s by [`FitSettings`],
//! [`Predictor`] gives each document its [`Prediction`]. [`jobs`] has all that the program `calibrant` does as calls
//! (fit, predict, evaluate, compare, calibrate, combine, explain, inspect, search, rank), for files, readers and arrays.
//! The other modules are the steps between, usable on their own; [`calibration`], [`decision`] and the measures of
//! [`evaluation`] are the crate `calibrant-calibration`, which needs none of the rest.
//!
//! ```
//! use calibrant::{Document, FitSettings, Predictor, fit};
//!
//! let documents = (0..40).map(|i| match i % 2 {
//!     0 => Document::new(format!("invoice {i} and its payment")).label("billing"),
//!     _ => Document::new(format!("match {i} and its only goal")).label("sport"),
//! });
//! let model = fit(documents, &FitSettings::default())?;
//! let prediction = Predictor::new(&model).predict_text("a late goal decided the match")?;
//! assert_eq!(prediction.classes[0].label, "sport");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod corpus;
mod error;
pub mod evaluation;
pub mod features;
#[doc(hidden)] // For the demo.
pub mod inbox;
#[cfg(feature = "index")]
pub mod index;
pub mod jobs;
pub mod multiclass;
pub mod pipeline;
pub mod plot;
#[doc(hidden)] // Rows and classes as learners are given them, for tests and what is timed.
pub mod problem;
mod progress;
pub mod ranking;
pub mod report;
pub mod rules;
pub mod saved;
pub mod scorers;
#[doc(hidden)] // For tests.
pub mod solvers;
pub mod text;

#[doc(hidden)] // For the closed sets of the other crates of the workspace.
pub use calibrant_calibration::named;
#[doc(hidden)] // Arithmetic, for the other crates of the workspace and for tests.
pub use calibrant_calibration::numeric;
#[doc(hidden)] // Work on all threads, for the other crates of the workspace.
pub use calibrant_calibration::parallel;
pub use calibrant_calibration::{
    CalibrationError, Named, Probability, RowLabels, Task, UnknownName, calibration, decision,
};
pub use error::FitError;
pub use progress::{Cancelled, NoProgress, Progress};

#[doc(inline)]
pub use calibration::{Calibrator, CalibratorKind};
#[doc(inline)]
pub use corpus::{Document, Fields, ReadOptions, Source};
#[doc(inline)]
pub use evaluation::Evaluation;
#[cfg(feature = "index")]
#[doc(inline)]
pub use index::SearchIndex;
#[doc(inline)]
pub use jobs::{Prediction, Predictor, Saved, evaluate_source, fit_rows, fit_source, open_any};
#[doc(inline)]
pub use pipeline::{FitSettings, Model, ScoreCalibrator};
#[doc(inline)]
pub use ranking::learning::{RankModel, RankSettings};
#[doc(inline)]
pub use scorers::Classifier;

/// Learns a calibrated classifier from documents: `jobs::fit_documents` with the usual fields and no progress.
pub fn fit(
    documents: impl IntoIterator<Item = Document>,
    settings: &FitSettings,
) -> Result<Model, FitError> {
    jobs::fit_documents(documents, &Fields::default(), settings, &NoProgress)
}

/// The README's example is compiled and run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
