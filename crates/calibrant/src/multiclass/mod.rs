//! Many classes, or many labels a document, from binary scorers.

mod labels;
mod one_vs_rest;

pub use labels::ClassLabels;
pub use one_vs_rest::{ClassFactors, OneVsRest, OneVsRestFit};
