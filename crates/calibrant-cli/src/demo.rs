//! `calibrant demo`

use crate::arguments::DemoArguments;
use crate::error::CliError;

pub(crate) fn run(_arguments: &DemoArguments) -> Result<(), CliError> {
    Ok(())
}
