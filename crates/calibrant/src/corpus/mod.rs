//! Files to labelled documents.
//!
//! [`read_batches`] opens a source, tells its format and compression, and hands documents on in
//! file order while the next ones are being read. Nine formats are understood: see [`Format`].
//! The whole file is never held in memory, a row that is not understood is reported with its
//! line and column, and no file, however damaged, ends the program.
//!
//! Files of rankings are read here as well: judgements ([`Qrels`]), lists ([`Run`]), features ([`RankingTable`]),
//! collections ([`TrecDocuments`]) and queries ([`read_queries`]).
//!
//! ```
//! use calibrant::NoProgress;
//! use calibrant::corpus::{ReadOptions, Source, read_all};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("mail.csv");
//! std::fs::write(&path, "label,text\nham,\"See you, then\"\nspam,Win big\n")?;
//! let (documents, summary) =
//!     read_all(&Source::Path(path), &ReadOptions::default(), &NoProgress)?;
//! assert_eq!(summary.rows, 2);
//! assert_eq!(documents[0].content.as_text(), Some("See you, then"));
//! assert_eq!(documents[1].labels, ["spam"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alike_labels;
mod beside;
mod cell;
mod content_ref;
mod decimals;
mod decoded;
mod delimited;
mod document;
mod driver;
mod each_line;
mod error;
mod fast_text;
mod field_names;
mod fields;
mod folder;
mod format;
mod identifiers;
mod json_lines;
mod kept;
mod layout;
mod lines;
mod live;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_footer;
mod pieces;
mod plan;
mod rankings;
mod read;
#[cfg(test)]
mod robustness;
#[cfg(any(feature = "parquet", feature = "spreadsheet"))]
mod row_values;
mod rows;
mod scored;
#[cfg(any(feature = "parquet", feature = "spreadsheet"))]
mod seekable;
mod side_cells;
mod source;
#[cfg(feature = "spreadsheet")]
mod spreadsheet;
mod svmlight;
#[cfg(test)]
mod testing;
mod trec;
mod unique_labels;
mod vectors;

pub use crate::problem::{FoldError, Folds};
pub use alike_labels::{alike_labels, folded_label};
pub use cell::Cell;
pub(crate) use cell::{one_line, push_string};
pub use content_ref::ContentRef;
pub use document::{Content, Document, Record};
pub(crate) use each_line::{Line, each_line};
pub use error::{BadRow, NoRowsReason, ReadError};
pub use field_names::field_names;
#[doc(hidden)] // For tests.
pub use field_names::open_lines;
pub use fields::{EmptyLabels, Fields, Filter, FilterError, LabelNeed, ReadOptions};
pub use format::Format;
pub use identifiers::identifier_fields;
pub(crate) use kept::{FileStyle, Kept, KeptColumn, KeptFile, LineEnd};
pub use kept::{KeptRow, NewFieldError};
pub use layout::{DecimalSign, Delimiter, DelimiterError, Encoding, EncodingError, Layout};
pub(crate) use rankings::{CanonicalTable, read_score_list};
pub use rankings::{
    JudgedQuery, JudgedShare, Judgement, Qrels, QrelsBuilder, QueryRows, RankedQuery, RankingTable,
    Run, RunBuilder, RunProblem, TableError, Unjudged, check_identifier,
};
pub use read::{ReadSummary, Unlabelled, read_all, read_batches};
pub(crate) use read::{read_batches_until, read_kept_batches};
pub(crate) use scored::read_kept_scores;
pub use scored::{ScoredRow, read_scores};
pub use source::{ReadOnce, Source};
pub use trec::{
    Query, QueryFormat, TopicField, TrecDocument, TrecDocuments, read_queries, read_trec_documents,
};
pub use unique_labels::LabelKind;
pub(crate) use unique_labels::unique_labels;
