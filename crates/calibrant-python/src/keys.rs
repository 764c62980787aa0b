//! Numbers that are equal where rows are, to find copies.

use std::hash::{BuildHasher, Hasher};

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::pool;
use crate::rows::Matrix;
use crate::texts::TextColumn;

/// The same numbers in every process.
const STATE: foldhash::quality::FixedState =
    foldhash::quality::FixedState::with_seed(0x000C_A11B_7A47);

/// Of rows of a matrix, by their entries.
#[pyfunction]
pub(crate) fn row_keys<'py>(
    py: Python<'py>,
    matrix: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let matrix = Matrix::of(matrix)?;
    let keys = matrix.with_rows(|rows| {
        pool::run(py, || {
            let key = |entries: &mut Vec<(u32, f32)>, row: usize| {
                rows.row_into(row, entries);
                entries.retain(|&(_, value)| value != 0.0);
                entries.sort_unstable_by_key(|&(column, _)| column);
                let mut hasher = STATE.build_hasher();
                for &(column, value) in entries.iter() {
                    hasher.write_u64(u64::from(column) << 32 | u64::from(value.to_bits()));
                }
                hasher.finish()
            };
            let all = (0..rows.row_count()).into_par_iter();
            all.map_init(Vec::new, key).collect::<Vec<u64>>()
        })
    })?;
    Ok(keys.into_pyarray(py))
}

/// Of texts; what is missing is empty.
#[pyfunction]
pub(crate) fn text_keys<'py>(
    py: Python<'py>,
    column: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let column = TextColumn::of(column)?;
    let texts = column.read()?;
    let keys = pool::run(py, || {
        let key = |row| STATE.hash_one(texts.get(row).unwrap_or_default());
        (0..texts.len())
            .into_par_iter()
            .map(key)
            .collect::<Vec<u64>>()
    })?;
    Ok(keys.into_pyarray(py))
}
