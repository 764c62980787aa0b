//! Settings and reports travel as JSON: the same keys as the program's.

use pyo3::PyResult;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::errors;

/// Settings, with unknown keys and words refused by their own types.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| {
        // Where in the JSON it was found tells a user of Python nothing.
        let text = error.to_string();
        let text = text.split(" at line ").next().unwrap_or_default();
        errors::general(text)
    })
}

pub(crate) fn write(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(errors::general)
}
