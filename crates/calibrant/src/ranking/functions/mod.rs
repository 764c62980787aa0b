//! Retrieval functions: how well does a document answer a query, by their common terms alone?
//!
//! A [`RetrievalFunction`] is a formula with its parameters. It knows no text and no index: it sees
//! [`CollectionStatistics`], the [`QueryTerm`]s and [`DocumentStatistics`]. `RetrievalFunction::prepare`
//! works out what is the same for all documents; the `PreparedFunction` then scores documents.
//! A [`BaseFunction`] is such a formula over one [`Analysis`] of the text, named `bm25.stems` and so on;
//! [`BaseFunction::paper`] lists the fifteen of Yue et al. (SIGIR 2007). `LetorFeature` holds the
//! fifteen numbers that the LETOR 3.0 collections give for each stream of a document.
//!
//! Terms that no document of the collection has say nothing about any document: every function passes
//! over them. Logarithms are natural.

mod base;
mod function;
mod letor;
mod names;
mod prepared;
mod statistics;

pub use base::{Analysis, BaseFunction};
pub use function::{Bm25Idf, ParameterError, RetrievalFunction};
pub use names::FunctionNameError;
pub use statistics::{CollectionStatistics, DocumentStatistics, QueryTerm, TermStatistics};

// Not part of the documented interface: how a formula is worked out for many documents, for the index and for tests.
#[doc(hidden)]
pub use letor::LetorFeature;
#[doc(hidden)]
pub use prepared::PreparedFunction;
