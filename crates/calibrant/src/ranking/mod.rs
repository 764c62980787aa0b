//! Query + documents -> rankings.
//!
//! [`functions`] holds the classic retrieval functions, which score a document by the terms that it
//! shares with a query.

pub mod functions;
