//! Classify text with probabilities that can be trusted.

pub mod calibration;
pub mod corpus;
mod error;
pub mod evaluation;
pub mod features;
pub mod multiclass;
pub mod numeric;
pub mod pipeline;
pub mod plot;
mod probability;
mod progress;
pub mod scorers;
pub mod simulate;
pub mod solvers;
mod task;
pub mod text;

pub use error::FitError;
pub use probability::Probability;
pub use progress::{NoProgress, Progress};
pub use task::Task;
