//! Files of the Text REtrieval Conference, and others that hold queries.
//!
//! [`TrecDocuments`] reads collections (`<DOC><DOCNO>…`), [`read_queries`] what is asked of them: topics
//! (`<top><num>…`), or JSON Lines and tab-separated files with an identifier and a text.

mod documents;
mod markup;
mod queries;
mod topics;

pub use documents::{TrecDocument, TrecDocuments, read_trec_documents};
pub use queries::{Query, QueryFormat, read_queries};
pub use topics::TopicField;
