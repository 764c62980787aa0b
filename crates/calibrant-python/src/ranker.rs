//! Rankings learned from arrays.

use std::path::PathBuf;
use std::sync::Arc;

use calibrant::RankModel;
use calibrant::RankSettings;
use calibrant::ranking::RankingTable;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::model::plain;
use crate::watch::watch;
use crate::{errors, json, pool};

/// A learned ranking.
#[pyclass(frozen, name = "Ranking", module = "calibrant._calibrant")]
pub(crate) struct PyRanking {
    pub(crate) model: Arc<RankModel>,
}

impl From<RankModel> for PyRanking {
    fn from(model: RankModel) -> Self {
        Self {
            model: Arc::new(model),
        }
    }
}

/// Rows of queries, one query after the other: `sizes` says how many rows each has.
fn table(
    values: &PyReadonlyArray2<'_, f32>,
    names: Vec<String>,
    sizes: &[i64],
    first_query: usize,
    grades: Vec<i32>,
) -> PyResult<RankingTable> {
    let sizes = (first_query..).zip(sizes);
    let queries: Vec<(String, usize)> = sizes
        .map(|(number, &size)| (number.to_string(), size.max(0) as usize))
        .collect();
    let documents = vec![""; grades.len()];
    let values = values.as_slice()?.to_vec();
    RankingTable::new(names, &queries, &documents, grades, values).map_err(errors::general)
}

#[pymethods]
impl PyRanking {
    #[staticmethod]
    fn open(path: PathBuf) -> PyResult<Self> {
        Ok(RankModel::open(&path).map_err(errors::saved)?.into())
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Ok(RankModel::from_bytes(bytes).map_err(errors::saved)?.into())
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.model.to_bytes().map_err(errors::saved)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.model.save(&path).map_err(errors::saved)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((make, (self.to_bytes(py)?,)))
    }

    fn summary(&self) -> PyResult<String> {
        json::write(self.model.summary())
    }

    #[getter]
    fn has_probabilities(&self) -> bool {
        self.model.relevance().is_some()
    }

    #[getter]
    fn columns(&self) -> Vec<String> {
        self.model.features().columns().to_vec()
    }

    /// The score of each row: larger ones are to be listed first.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray2<'py, f32>,
        names: Vec<String>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let rows = values.as_array().nrows();
        let table = table(&values, names, &[rows as i64], 0, vec![0; rows])?;
        let scores = pool::run(py, || self.model.scores(&table))?;
        Ok(scores.map_err(errors::general)?.into_pyarray(py))
    }

    /// The probability that each row is relevant to its query.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray2<'py, f32>,
        names: Vec<String>,
        sizes: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let rows = values.as_array().nrows();
        let table = table(&values, names, sizes.as_slice()?, 0, vec![0; rows])?;
        let said = pool::run(py, || {
            let scores = self
                .model
                .scores(&table)
                .map_err(|error| error.to_string())?;
            let said = self.model.probabilities(&table, &scores);
            said.ok_or_else(|| "the model has no probabilities of relevance".to_owned())
        })?;
        let said = said.map_err(errors::general)?;
        Ok(plain(said, false).into_pyarray(py))
    }
}

/// Learns a ranking from judged rows of queries.
#[pyfunction]
#[pyo3(signature = (values, names, sizes, grades, validation, settings, progress=None))]
#[allow(clippy::type_complexity, clippy::too_many_arguments)] // Arrays of two tables, in one call of the package.
pub(crate) fn fit_ranking_rows<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f32>,
    names: Vec<String>,
    sizes: PyReadonlyArray1<'py, i64>,
    grades: Vec<i32>,
    validation: Option<(
        PyReadonlyArray2<'py, f32>,
        PyReadonlyArray1<'py, i64>,
        Vec<i32>,
    )>,
    settings: &str,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<PyRanking> {
    let settings: RankSettings = json::read(settings)?;
    let train_sizes = sizes.as_slice()?;
    let train = table(&values, names.clone(), train_sizes, 0, grades)?;
    let validation = match &validation {
        None => None,
        Some((values, sizes, grades)) => {
            // Queries of the two have numbers of their own.
            let first = train_sizes.len();
            Some(table(
                values,
                names,
                sizes.as_slice()?,
                first,
                grades.clone(),
            )?)
        }
    };
    let model = watch(py, progress, |progress| {
        RankModel::fit(&train, validation.as_ref(), &settings, progress)
    })?;
    Ok(model.map_err(errors::fit)?.into())
}
