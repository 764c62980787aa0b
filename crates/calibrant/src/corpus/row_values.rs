//! Rows whose cells come as values: of Parquet and of spreadsheets.

use super::error::RowProblem;
use super::plan::{Plan, Row, Value};
use super::rows::Parsed;
use super::{ReadError, ReadOptions};

/// The most rows of a piece.
pub(super) const ROWS_PER_PIECE: usize = 8192;

/// Some rows, still as values.
#[derive(Debug, Default)]
pub(super) struct RowValues {
    pub(super) rows: Vec<(u64, Result<Vec<Value<'static>>, RowProblem>)>,
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
        for (row, values) in self.rows {
            let outcome = values.and_then(|values| plan.row(&values, row));
            parsed.push(outcome, file, row, b"", options)?;
        }
        Ok(parsed)
    }
}
