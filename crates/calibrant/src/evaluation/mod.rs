//! How good are the probabilities, and the rankings? Measures what was said against what was true; fits nothing.
//!
//! The measures of forecasts are the calibration crate's; here are what knows documents ([`Ledger`] remembers how
//! often a test set has been looked at) and what knows lists of them ([`ranking`]).

mod ledger;
pub mod ranking;

pub use calibrant_calibration::evaluation::*;
#[doc(hidden)] // How the ledger writes its times.
pub use ledger::utc_time;
pub(crate) use ledger::{LEDGER_FILE_NAME, content_hash};
pub use ledger::{Ledger, LedgerEntry, LedgerNote, TestSetHash};
