//! The ledger of evaluations on the command line.

use std::io::Write;

use calibrant::evaluation::{LedgerNote, TestSetHash};
use calibrant::jobs::{Look, record_looks};

use crate::error::CliError;
use crate::output::warn;

/// Says how often the test set was evaluated before, and writes down that it was now. Whatever goes
/// wrong is a warning. `None` where there is no ledger.
pub(crate) fn record(
    wanted: bool,
    test_set: &TestSetHash,
    looks: &[Look<'_>],
) -> Option<LedgerNote> {
    if !wanted {
        return None;
    }
    let mut problems = Vec::new();
    let note = record_looks(test_set, looks, &mut problems);
    for problem in problems {
        warn(&format!("{problem} (--no-ledger turns the ledger off)"));
    }
    note
}

/// What the ledger has to say, if anything, below the numbers.
pub(crate) fn show_note(out: &mut impl Write, note: Option<LedgerNote>) -> Result<(), CliError> {
    if let Some(sentence) = note.and_then(|note| note.sentence()) {
        writeln!(out, "\nnote: {sentence}")?;
    }
    Ok(())
}
