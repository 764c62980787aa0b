//! Classify text with probabilities that can be trusted.
//!
//! ```text
//! text --text--> terms --features--> sparse rows --scorers--> scores --calibration--> probabilities
//! ```
//! [`corpus`] reads labelled documents, [`pipeline::fit`] learns a [`pipeline::Model`] from them, which predicts,
//! explains, is saved and opened; [`evaluation`] measures forecasts. The other modules are the steps
//! between, usable on their own.

pub mod corpus;
mod error;
pub mod evaluation;
pub mod features;
pub mod inbox;
#[cfg(feature = "index")]
pub mod index;
pub mod jobs;
pub mod multiclass;
pub mod pipeline;
pub mod plot;
pub mod problem;
mod progress;
pub mod ranking;
pub mod report;
pub mod rules;
pub mod saved;
pub mod scorers;
pub mod solvers;
pub mod text;

pub use calibrant_calibration::{
    CalibrationError, Named, Probability, RowLabels, Task, UnknownName, calibration, decision,
    numeric,
};
pub use error::FitError;
pub use progress::{Cancelled, NoProgress, Progress};

/// The README's example is compiled and run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
