//! Sets of classes that hold the true one with a stated probability (conformal prediction).
//!
//! [`SetTable`] is fitted to calibration forecasts and keeps a compact table of how badly the true classes fared;
//! the coverage is chosen later, by [`SetTable::at`], which gives a [`SetRule`]. [`LabelSetTable`] does the same where a
//! document may have several labels. A [`Guarantee`] says in words what is promised.

mod guarantee;
mod labels;
mod penalty;
mod report;
mod rule;
mod score;
mod settings;
mod table;
#[cfg(test)]
mod tests;
mod thinned;

pub use guarantee::{CalibrationSource, Guarantee};
pub use labels::{LabelSetRule, LabelSetTable};
pub use penalty::Penalty;
pub use report::SetReport;
pub use rule::{SetBuffers, SetRule};
pub use score::set_draw;
pub use settings::{LastClass, SetKind, SetSettings};
pub use table::{CalibrationRows, SetTable};

use crate::CalibrationError;

/// A coverage must leave something to miss and something to hold.
fn check_coverage(coverage: f64) -> Result<(), CalibrationError> {
    check_share("coverage", coverage)
}

/// A share that is neither nothing nor all.
pub(super) fn check_share(setting: &'static str, value: f64) -> Result<(), CalibrationError> {
    match value > 0.0 && value < 1.0 {
        true => Ok(()),
        false => Err(CalibrationError::BadSetting {
            setting,
            requirement: "between 0 and 1, both excluded",
            value: value.to_string(),
        }),
    }
}
