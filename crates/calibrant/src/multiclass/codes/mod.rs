//! Code matrices: which classes each binary problem sets against which.
//!
//! A [`CodeMatrix`] has a row (a code word) for each class and a column for each binary problem. An
//! entry says on which side of the problem the class stands: `+1`, `-1`, or `0` where it is left out.
//! Rows that lie far apart let a document be decoded although some problems were answered wrongly;
//! columns that lie far apart keep those errors from happening together.

mod bch;
mod columns;
mod design;
mod field;
mod matrix;
mod random;
mod search;

pub use bch::BchCode;
pub use design::CodeDesign;
pub use matrix::{CodeFault, CodeMatrix, Separation};
