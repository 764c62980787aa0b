//! The files of ranking: judgements, runs and tables of features.
//!
//! Judgements and runs have the format of the Text REtrieval Conference (TREC), tables that of LETOR, which is
//! svmlight with a query. All may be compressed with gzip or Zstandard. What these formats leave open is
//! settled at each reader, and what other readers pass over in silence is an error with file, line and column.

mod canonical;
mod columns;
mod grouping;
mod judged;
mod letor;
mod letor_header;
mod qrels;
mod run;
mod run_builder;
mod score_list;
mod table;
mod text_list;

pub(crate) use canonical::CanonicalTable;
pub use judged::{JudgedShare, Unjudged};
pub(crate) use letor::LARGEST_FEATURE;
pub use qrels::{JudgedQuery, Judgement, Qrels, QrelsBuilder};
pub use run::{RankedQuery, Run};
pub use run_builder::{RunBuilder, RunProblem, check_identifier};
pub(crate) use score_list::read_score_list;
pub use table::{QueryRows, RankingTable, TableError};
