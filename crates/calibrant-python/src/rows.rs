//! Matrices of NumPy and SciPy, read where they lie.

use calibrant::features::{Csr, DenseRows, RowSource};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors;

/// Any of two kinds of numbers in a borrowed array.
enum Either<'py, A: numpy::Element, B: numpy::Element> {
    One(PyReadonlyArray1<'py, A>),
    Other(PyReadonlyArray1<'py, B>),
}

fn either<'py, A: numpy::Element, B: numpy::Element>(
    array: &Bound<'py, PyAny>,
    what: &str,
) -> PyResult<Either<'py, A, B>> {
    if let Ok(array) = array.extract() {
        return Ok(Either::One(array));
    }
    match array.extract() {
        Ok(array) => Ok(Either::Other(array)),
        Err(_) => Err(PyTypeError::new_err(format!(
            "{what} has a type of numbers that is not supported"
        ))),
    }
}

/// A borrowed matrix: rows of SciPy's CSR (three arrays), or one dense array.
pub(crate) enum Matrix<'py> {
    Sparse {
        starts: Box<Integers<'py>>,
        columns: Box<Integers<'py>>,
        values: Box<Floats<'py>>,
    },
    Dense(Box<DenseFloats<'py>>),
}

pub(crate) struct Integers<'py>(Either<'py, i32, i64>);
pub(crate) struct Floats<'py>(Either<'py, f32, f64>);

pub(crate) enum DenseFloats<'py> {
    Small(PyReadonlyArray2<'py, f32>),
    Large(PyReadonlyArray2<'py, f64>),
}

impl<'py> Matrix<'py> {
    /// `(indptr, indices, data)` of a CSR matrix, or a two-dimensional array in C order.
    pub(crate) fn of(matrix: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok((starts, columns, values)) =
            matrix.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)>()
        {
            return Ok(Self::Sparse {
                starts: Box::new(Integers(either(&starts, "indptr")?)),
                columns: Box::new(Integers(either(&columns, "indices")?)),
                values: Box::new(Floats(either(&values, "data")?)),
            });
        }
        if let Ok(array) = matrix.extract() {
            return Ok(Self::Dense(Box::new(DenseFloats::Small(array))));
        }
        match matrix.extract() {
            Ok(array) => Ok(Self::Dense(Box::new(DenseFloats::Large(array)))),
            Err(_) => Err(PyTypeError::new_err(
                "a matrix must be of float32 or float64, dense or CSR",
            )),
        }
    }

    /// Does something with the rows, whatever they are made of.
    pub(crate) fn with_rows<T>(
        &self,
        work: impl FnOnce(&dyn RowSource) -> PyResult<T>,
    ) -> PyResult<T> {
        match self {
            Self::Sparse {
                starts,
                columns,
                values,
            } => match &starts.0 {
                Either::One(starts) => with_columns(starts.as_slice()?, columns, values, work),
                Either::Other(starts) => with_columns(starts.as_slice()?, columns, values, work),
            },
            Self::Dense(array) => match &**array {
                DenseFloats::Small(array) => {
                    let width = array.as_array().ncols();
                    work(&DenseRows::new(array.as_slice()?, width).map_err(errors::general)?)
                }
                DenseFloats::Large(array) => {
                    let width = array.as_array().ncols();
                    work(&DenseRows::new(array.as_slice()?, width).map_err(errors::general)?)
                }
            },
        }
    }
}

fn with_columns<P: calibrant::features::CsrIndex, T>(
    starts: &[P],
    columns: &Integers<'_>,
    values: &Floats<'_>,
    work: impl FnOnce(&dyn RowSource) -> PyResult<T>,
) -> PyResult<T> {
    macro_rules! rows {
        ($columns:expr, $values:expr) => {
            work(
                &Csr::new(starts, $columns.as_slice()?, $values.as_slice()?)
                    .map_err(errors::general)?,
            )
        };
    }
    match (&columns.0, &values.0) {
        (Either::One(columns), Either::One(values)) => rows!(columns, values),
        (Either::One(columns), Either::Other(values)) => rows!(columns, values),
        (Either::Other(columns), Either::One(values)) => rows!(columns, values),
        (Either::Other(columns), Either::Other(values)) => rows!(columns, values),
    }
}
