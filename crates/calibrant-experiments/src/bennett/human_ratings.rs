//! Texts that many people rated: the share who call a text positive is an observed probability.

use std::error::Error;
use std::io::Write;
use std::path::Path;

use super::Table;

pub(super) fn run(
    _data: &Path,
    _table: &mut Table,
    _out: Option<&mut dyn Write>,
) -> Result<(), Box<dyn Error>> {
    Ok(())
}
