//! Where answers go.

use std::io::{self, BufWriter, StdoutLock, Write};

use calibrant::evaluation::LossUnit;

pub(crate) fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::new(io::stdout().lock())
}

pub(crate) fn warn(message: &str) {
    let _ = writeln!(io::stderr().lock(), "warning: {message}");
}

/// "document" or "decision".
pub(crate) fn loss_unit(unit: LossUnit) -> &'static str {
    match unit {
        LossUnit::Documents => "document",
        LossUnit::Decisions => "decision",
    }
}
