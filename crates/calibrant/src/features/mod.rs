//! What is this document made of? Terms to sparse rows of numbers.
//!
//! [`DocumentFrequencyLimits`] say which terms are kept, [`WeightingSettings`] how counts become feature values, and
//! [`Selection`] keeps the columns that tell the classes apart. [`Csr`] and [`DenseRows`] are for whoever has rows of numbers already.
//!
//! Inside, `BatchCounter` counts terms, `CorpusCounts` puts the batches together over one `Vocabulary`, and
//! `SideColumns` makes features of what stands beside the text: numbers, categories and strengths of rules.

mod counter;
mod csr;
mod dense;
mod kernels;
mod prefetch;
mod row_source;
mod selection;
mod side_columns;
mod side_table;
mod sparse_matrix;
mod term_counts;
mod term_sum;
mod vocabulary;
mod weighting;

pub(crate) use crate::numeric::stable_hash as term_hash;
pub(crate) use counter::ArrangedCounts;
pub use counter::{ColumnSpace, DocumentFrequencyLimits};
pub use csr::{Csr, CsrError, CsrIndex, CsrValue};
#[doc(hidden)]
pub use csr::{CsrArrays, CsrView};
pub use dense::{DenseError, DenseRows, DenseValue, DenseValues, DenseView};
pub(crate) use prefetch::prefetch;
pub use row_source::RowSource;
pub(crate) use row_source::{OrderedRows, tidy_row_into};
pub(crate) use selection::Selected;
pub use selection::{Selection, SelectionMeasure, SelectionScope};
pub use side_columns::{Beside, BeyondTraining, MostlyUnknown, UnknownCells};
pub use weighting::{Weighting, WeightingSettings};

// Not part of the documented interface: how documents are counted, for tests, examples and what is timed.
#[doc(hidden)]
pub use counter::{BatchCounter, BatchCounts, CorpusCounts};
#[doc(hidden)]
pub use kernels::LaneWeights;
#[doc(hidden)]
pub use row_source::Ahead;
#[doc(hidden)]
pub use side_columns::{FittedSideColumns, SideColumns, one_spelling};
#[doc(hidden)]
pub use side_table::{Cells, RowCells, SideTable};
#[doc(hidden)]
pub use sparse_matrix::{RowView, SparseMatrix};
#[doc(hidden)]
pub use term_counts::TermCounts;
#[doc(hidden)]
pub use term_sum::TermSum;
#[doc(hidden)]
pub use vocabulary::Vocabulary;
#[doc(hidden)]
pub use weighting::FittedWeighting;
