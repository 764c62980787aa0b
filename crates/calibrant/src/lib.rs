//! Classify text with probabilities that can be trusted.

pub mod evaluation;
pub mod numeric;
pub mod plot;
mod probability;
mod progress;
pub mod simulate;
mod task;

pub use probability::Probability;
pub use progress::{NoProgress, Progress};
pub use task::Task;
