//! Classify text with probabilities that can be trusted.
//!
//! ```text
//! text --text--> terms --features--> sparse rows --scorers--> scores --calibration--> probabilities
//! ```
//! [`corpus`] reads labelled documents, [`pipeline::fit`] learns a [`pipeline::Model`] from them, which predicts,
//! explains, is saved and opened; [`evaluation`] measures forecasts. The other modules are the steps
//! between, usable on their own.

pub mod calibration;
pub mod corpus;
mod error;
pub mod evaluation;
pub mod features;
pub mod index;
pub mod multiclass;
pub mod numeric;
pub mod pipeline;
pub mod plot;
mod probability;
pub mod problem;
mod progress;
pub mod ranking;
pub mod report;
mod row_labels;
pub mod rules;
pub mod scorers;
pub mod simulate;
pub mod solvers;
mod task;
pub mod text;

pub use error::FitError;
pub use probability::Probability;
pub use progress::{NoProgress, Progress};
pub use row_labels::RowLabels;
pub use task::Task;

/// The README's example is compiled and run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
