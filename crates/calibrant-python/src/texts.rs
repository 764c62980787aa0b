//! Columns of text, read where they lie: strings of a list, or Arrow's arrays.

use arrow_array::{Array, LargeStringArray, StringArray, StringViewArray};
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use pyo3_arrow::input::AnyArray;

use crate::errors;

/// A column of texts that somebody else holds.
pub(crate) enum TextColumn<'py> {
    /// Strings of a list: each is kept alive, and read by its own UTF-8.
    Strings(Vec<Option<Bound<'py, PyString>>>),
    /// Arrow's arrays, one after the other.
    Arrow(Vec<TextArray>),
}

/// One of Arrow's kinds of text.
pub(crate) enum TextArray {
    Small(StringArray),
    Large(LargeStringArray),
    View(StringViewArray),
}

impl TextArray {
    fn len(&self) -> usize {
        match self {
            Self::Small(array) => array.len(),
            Self::Large(array) => array.len(),
            Self::View(array) => array.len(),
        }
    }

    fn get(&self, row: usize) -> Option<&str> {
        match self {
            Self::Small(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Large(array) => array.is_valid(row).then(|| array.value(row)),
            Self::View(array) => array.is_valid(row).then(|| array.value(row)),
        }
    }
}

impl<'py> TextColumn<'py> {
    /// A list of strings, or whatever offers Arrow's interface.
    pub(crate) fn of(column: &Bound<'py, PyAny>) -> PyResult<Self> {
        match column.cast::<PyList>() {
            Ok(list) => Self::of_list(list),
            Err(_) => Self::of_arrow(column),
        }
    }

    fn of_list(list: &Bound<'py, PyList>) -> PyResult<Self> {
        let one = |(row, item): (usize, Bound<'py, PyAny>)| match item.cast_into::<PyString>() {
            Ok(text) => Ok(Some(text)),
            Err(error) => {
                let item = error.into_inner();
                // NaN is how tables spell a missing text.
                if item.is_none() || item.extract::<f64>().is_ok_and(f64::is_nan) {
                    return Ok(None);
                }
                let kind = item.get_type().name()?.to_string();
                Err(PyTypeError::new_err(format!(
                    "row {row} is no text but of type {kind}; texts must be of type str"
                )))
            }
        };
        let strings = list.iter().enumerate().map(one).collect::<PyResult<_>>()?;
        Ok(Self::Strings(strings))
    }

    fn of_arrow(column: &Bound<'py, PyAny>) -> PyResult<Self> {
        let array: AnyArray = column.extract().map_err(|_| {
            let kind = column
                .get_type()
                .name()
                .map_or_else(|_| "?".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!(
                "texts must be a list of str, an array or a column of a table, not {kind}"
            ))
        })?;
        let mut arrays = Vec::new();
        for array in array.into_reader()? {
            let array = array.map_err(errors::general)?;
            let any = array.as_any();
            let known = match array.data_type() {
                DataType::Utf8 => any.downcast_ref().cloned().map(TextArray::Small),
                DataType::LargeUtf8 => any.downcast_ref().cloned().map(TextArray::Large),
                DataType::Utf8View => any.downcast_ref().cloned().map(TextArray::View),
                _ => None,
            };
            let Some(known) = known else {
                return Err(PyTypeError::new_err(format!(
                    "a column of texts must be of strings, not of {}",
                    array.data_type()
                )));
            };
            arrays.push(known);
        }
        Ok(Self::Arrow(arrays))
    }

    /// What can be shared with other threads.
    pub(crate) fn read(&self) -> PyResult<Texts<'_>> {
        Ok(match self {
            Self::Strings(strings) => {
                // The strings are kept alive by `self`, and Python's strings never change.
                let mut read = Vec::with_capacity(strings.len());
                for string in strings {
                    read.push(match string {
                        Some(text) => Some(text.to_str()?),
                        None => None,
                    });
                }
                Texts::Strings(read)
            }
            Self::Arrow(arrays) => {
                let mut ends = Vec::with_capacity(arrays.len());
                let mut end = 0;
                for array in arrays {
                    end += array.len();
                    ends.push(end);
                }
                Texts::Arrow { arrays, ends }
            }
        })
    }
}

/// Texts by row, for any thread.
pub(crate) enum Texts<'a> {
    Strings(Vec<Option<&'a str>>),
    Arrow {
        arrays: &'a [TextArray],
        ends: Vec<usize>,
    },
}

impl Texts<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Strings(strings) => strings.len(),
            Self::Arrow { ends, .. } => ends.last().copied().unwrap_or(0),
        }
    }

    /// The text of a row, if it is not missing.
    pub(crate) fn get(&self, row: usize) -> Option<&str> {
        match self {
            Self::Strings(strings) => strings[row],
            Self::Arrow { arrays, ends } => {
                let array = ends.partition_point(|&end| end <= row);
                let before = array.checked_sub(1).map_or(0, |before| ends[before]);
                arrays[array].get(row - before)
            }
        }
    }

    /// Refuses a column with gaps.
    pub(crate) fn check_all_there(&self) -> PyResult<()> {
        let gap = match self {
            Self::Strings(strings) => strings.iter().position(Option::is_none),
            Self::Arrow { arrays, .. } => {
                let has_gaps = arrays.iter().any(|array| match array {
                    TextArray::Small(array) => array.null_count() > 0,
                    TextArray::Large(array) => array.null_count() > 0,
                    TextArray::View(array) => array.null_count() > 0,
                });
                has_gaps
                    .then(|| (0..self.len()).find(|&row| self.get(row).is_none()))
                    .flatten()
            }
        };
        match gap {
            None => Ok(()),
            Some(row) => Err(errors::general(format!(
                "the text of row {row} is missing (None or NaN); fill it in, or leave the row out"
            ))),
        }
    }
}
