//! Files of forecasts that somebody else made, put into the order of a test set.

mod arrange;
mod error;
mod groups;
mod layout;
mod read;

use crate::corpus::ReadOptions;

pub use arrange::StatedForecasts;
pub(super) use error::quoted;
pub use error::{MissingRows, TableError, TableNote};
pub use layout::Wanted;
pub use read::read_forecasts;

/// What is asked of a file of probabilities.
#[derive(Debug, Clone, Copy)]
pub struct TableQuestion<'a> {
    /// The classes that it must speak of.
    pub wanted: &'a Wanted,
    /// The class that a single column `probability` speaks of.
    pub positive: Option<&'a str>,
    /// How the test set is read: the field that joins rows by identifier, and fields that are not classes.
    pub reading: &'a ReadOptions,
    /// The number of each document's row in the file of the test set, which a column `row` speaks of.
    pub rows: &'a [u64],
}
