//! What is this document made of? Terms to sparse rows of numbers.
//!
//! [`BatchCounter`] counts terms, [`CorpusCounts`] puts the batches together over one
//! [`Vocabulary`], [`FittedWeighting`] turns counts into feature values, and [`Selection`] keeps
//! the columns that tell the classes apart. [`SideColumns`] makes features of what stands beside
//! the text: numbers, categories and strengths of rules, collected in a [`SideTable`].

mod counter;
mod csr;
mod kernels;
mod prefetch;
mod selection;
mod side_columns;
mod side_table;
mod sparse_matrix;
mod term_counts;
mod term_sum;
mod vocabulary;
mod weighting;

pub use crate::numeric::stable_hash as term_hash;
pub use counter::{
    ArrangedCounts, BatchCounter, BatchCounts, ColumnSpace, CorpusCounts, DocumentFrequencyLimits,
};
pub use csr::{Csr, CsrError, CsrIndex, CsrValue, RowSource};
pub use kernels::LaneWeights;
pub(crate) use prefetch::prefetch;
pub use selection::{Selected, Selection, SelectionMeasure, SelectionScope};
pub use side_columns::{
    Beside, BeyondTraining, FittedSideColumns, MostlyUnknown, SideColumns, UnknownCells,
    one_spelling,
};
pub use side_table::{Cells, RowCells, SideTable, TableRow};
pub use sparse_matrix::{RowView, SparseMatrix};
pub use term_counts::TermCounts;
pub use term_sum::TermSum;
pub use vocabulary::Vocabulary;
pub use weighting::{FittedWeighting, Weighting, WeightingSettings};
