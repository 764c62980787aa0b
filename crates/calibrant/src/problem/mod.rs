//! What is there to learn? Classes of rows, how much they count, and which rows are held out together.
//!
//! These are the words in which scorers, output codes and the pipeline speak to each other; they know rows and
//! numbers, and no learner.

mod class_factors;
mod class_labels;
mod folds;
mod targets;

pub use class_factors::ClassFactors;
pub use class_labels::ClassLabels;
pub use folds::{FoldError, Folds};
pub use targets::{Problem, Targets};
