//! Classify text with probabilities that can be trusted.

pub mod numeric;
mod probability;
mod progress;
pub mod text;

pub use probability::Probability;
pub use progress::{NoProgress, Progress};
