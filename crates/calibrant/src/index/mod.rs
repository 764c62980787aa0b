//! Documents to an index on disk, and queries to ranked documents.
//!
//! [`build_index`] reads files of documents and writes an index with an [`IndexBuilder`]; [`SearchIndex`] opens it. The
//! postings are tantivy's; everything that a score is made of is exact: counts of terms, lengths of documents (which
//! search engines usually round to a byte), document and collection frequencies. Scores are computed by
//! [`crate::ranking::functions`], not by the engine.
//!
//! Each text is indexed three times, as plain words, stems, and stems without stop words: see
//! [`Analysis`](crate::ranking::functions::Analysis). [`SearchIndex::candidates`] makes a table of all base functions'
//! values, from which a ranking can be learned.
//!
//! # When it misleads
//! An index is written once; a changed collection is indexed again. The checksums of an index tell damage,
//! not malice: open only indexes that come from where you trust.

mod build;
mod candidates;
mod detail;
mod document;
mod document_ids;
mod error;
mod explain;
mod manifest;
mod matches;
mod pruning;
mod query_terms;
mod rank;
mod runs;
mod schema;
mod search;
mod snippet;
mod sources;
mod target;
mod term_counts;
mod top;

// Documented in `corpus`, where they are read.
#[doc(hidden)]
pub use crate::corpus::{Query, QueryFormat, TopicField, read_queries};
pub use build::{IndexBuilder, IndexSettings, IndexSummary};
pub use detail::{DetailSettings, SearchHit};
pub use document::IndexDocument;
pub use error::IndexError;
pub use explain::{ScoreExplanation, TermPart};
pub use manifest::{AnalysisCounts, INDEX_VERSION};
pub use rank::ColumnPart;
pub(crate) use rank::retrieval_columns;
pub use search::{Hit, SearchIndex, StoredText};
pub use snippet::Snippet;
pub use sources::{DocumentFormat, DocumentOptions, UnknownDocumentFormat, build_index};
