//! Rows whose cells come as values: of Parquet and of spreadsheets.

use std::sync::Arc;

use super::error::RowProblem;
use super::plan::{Plan, Row, Value};
use super::rows::Parsed;
use super::{Cell, KeptFile, KeptRow, ReadError, ReadOptions};

/// The most rows of a piece.
pub(super) const ROWS_PER_PIECE: usize = 8192;

/// Some rows, still as values.
#[derive(Debug, Default)]
pub(super) struct RowValues {
    pub(super) rows: Vec<(u64, Result<Vec<Value<'static>>, RowProblem>)>,
    /// The rows as they stand, where they are kept.
    pub(super) kept: Vec<Vec<Cell<'static>>>,
    /// What kept rows have in common.
    pub(super) file: Option<Arc<KeptFile>>,
    pub(super) bytes: usize,
}

impl RowValues {
    pub(super) fn parse<R: Row>(
        self,
        plan: &Plan<R>,
        file: &str,
        options: &ReadOptions,
    ) -> Result<Parsed<R>, ReadError> {
        let mut parsed = Parsed::default();
        let mut kept = self.kept.into_iter();
        for (row, values) in self.rows {
            let mut outcome = values.and_then(|values| plan.row(&values, row));
            if let (Some(file), Some(cells)) = (&self.file, kept.next())
                && let Ok(Some(document)) = &mut outcome
            {
                document.keep(KeptRow::of_cells(file, row, cells));
            }
            parsed.push(outcome, file, row, b"", options)?;
        }
        Ok(parsed)
    }
}
