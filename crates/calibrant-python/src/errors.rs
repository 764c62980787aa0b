//! Errors as Python has them: kin of `ValueError`, with the texts of the library.

use std::fmt::Display;

use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};

create_exception!(
    calibrant,
    CalibrantError,
    PyValueError,
    "What calibrant cannot do with what it was given."
);
create_exception!(
    calibrant,
    FitError,
    CalibrantError,
    "Nothing could be fitted to the data."
);
create_exception!(
    calibrant,
    ReadError,
    CalibrantError,
    "A file or a table could not be read."
);
create_exception!(
    calibrant,
    SavedFileError,
    CalibrantError,
    "Bytes or a file that hold nothing saved by calibrant, or something damaged."
);

/// Any error of the library.
pub(crate) fn general(error: impl Display) -> PyErr {
    CalibrantError::new_err(error.to_string())
}

/// Why nothing was fitted; work that was cancelled by Ctrl-C is a `KeyboardInterrupt`.
pub(crate) fn fit(error: impl Display) -> PyErr {
    let text = error.to_string();
    match text == "cancelled" {
        true => PyKeyboardInterrupt::new_err(()),
        false => FitError::new_err(text),
    }
}

/// Why a file or table could not be read.
pub(crate) fn read(error: impl Display) -> PyErr {
    let text = error.to_string();
    match text == "cancelled" {
        true => PyKeyboardInterrupt::new_err(()),
        false => ReadError::new_err(text),
    }
}

/// Why nothing saved could be opened or written.
pub(crate) fn saved(error: impl Display) -> PyErr {
    SavedFileError::new_err(error.to_string())
}
