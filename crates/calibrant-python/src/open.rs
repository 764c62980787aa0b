//! Whatever calibrant saved, opened as what it is.

use std::path::PathBuf;

use calibrant::index::SearchIndex;
use calibrant::jobs::{Inspection, Saved, open_any, open_any_bytes};
use calibrant::saved::SavedKind;
use pyo3::prelude::*;

use crate::cascade::PyPolicy;
use crate::json;
use crate::model::PyModel;
use crate::raise::Raise;
use crate::ranking::PyRankModel;
use crate::scores::PyScoreCalibrator;
use crate::search_index::PySearchIndex;

fn object(py: Python<'_>, saved: Saved) -> PyResult<Py<PyAny>> {
    Ok(match saved {
        Saved::Model(model) => Py::new(py, PyModel::from(model))?.into_any(),
        Saved::Ranking(model) => Py::new(py, PyRankModel::from(model))?.into_any(),
        Saved::Calibrator(own) => Py::new(py, PyScoreCalibrator::from(own))?.into_any(),
        Saved::Policy(policy) => Py::new(py, PyPolicy::from(policy))?.into_any(),
        other => {
            let kind = other.kind().name();
            return Err(crate::errors::general(format!(
                "a {kind} cannot be opened here"
            )));
        }
    })
}

/// A model, a ranking, a calibrator, a policy, or the folder of an index.
#[pyfunction]
pub(crate) fn open_saved(py: Python<'_>, path: PathBuf) -> PyResult<Py<PyAny>> {
    match py.detach(|| open_any(&path)) {
        Err(error) if error.found_kind() == Some(SavedKind::Index) && path.is_dir() => {
            let index = py
                .detach(|| SearchIndex::open(&path))
                .map_err(Raise::raise)?;
            Ok(Py::new(py, PySearchIndex::from(index))?.into_any())
        }
        saved => object(py, saved.map_err(Raise::raise)?),
    }
}

/// As [`open_saved`], of bytes.
#[pyfunction]
pub(crate) fn open_saved_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Py<PyAny>> {
    object(py, open_any_bytes(bytes).map_err(Raise::raise)?)
}

/// What is in a saved file, as the program prints it.
#[pyfunction]
#[pyo3(signature = (path, terms=None))]
pub(crate) fn inspect_saved(
    py: Python<'_>,
    path: PathBuf,
    terms: Option<usize>,
) -> PyResult<String> {
    py.detach(|| match open_any(&path) {
        Err(error) if error.found_kind() == Some(SavedKind::Index) && path.is_dir() => {
            let index = SearchIndex::open(&path).map_err(Raise::raise)?;
            let bytes = index.file_bytes().map_err(Raise::raise)?;
            let inspection = Inspection::of_index(&index, bytes, terms);
            json::write(&inspection.map_err(Raise::raise)?)
        }
        saved => {
            let saved = saved.map_err(Raise::raise)?;
            let bytes = std::fs::metadata(&path).map_or(0, |found| found.len());
            let inspection = Inspection::of(&saved, bytes, terms);
            json::write(&inspection.map_err(Raise::raise)?)
        }
    })
}
