//! Classify text with probabilities that can be trusted.

pub mod corpus;
pub mod numeric;
mod probability;
mod progress;

pub use probability::Probability;
pub use progress::{NoProgress, Progress};
