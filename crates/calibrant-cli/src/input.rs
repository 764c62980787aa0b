//! Files to read as they are named on the command line.

use std::io::Read;

use calibrant::corpus::Source;

use crate::error::CliError;

/// A path, or standard input where the name is `-`: the library never opens that by itself.
pub(crate) fn source(name: &str) -> Source {
    match name {
        "-" => Source::reader("standard input", std::io::stdin()),
        path => Source::Path(path.into()),
    }
}

/// As [`source`], for whoever reads it more than once: standard input is kept in memory.
pub(crate) fn source_to_read_twice(name: &str) -> Result<Source, CliError> {
    if name != "-" {
        return Ok(source(name));
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(Source::bytes("standard input", bytes))
}
