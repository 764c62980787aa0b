//! placeholder until readers are merged
mod folds;
pub use folds::*;
