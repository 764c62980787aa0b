//! `calibrant demo`: stated beside true probabilities, on mail whose truth is known.

mod comparison;
mod inbox;
mod numbers;
mod page;
mod samples;
mod stated;
mod terminal;

use std::io::Write;

use crate::arguments::DemoArguments;
use crate::error::CliError;
use crate::output::{check_target, print_json, stdout, write_whole};
use crate::progress::TerminalProgress;

pub(crate) fn run(arguments: &DemoArguments) -> Result<(), CliError> {
    check_target(&arguments.output, "")?;
    let comparison = comparison::compare(arguments.seed, &TerminalProgress::default())?;
    write_whole(
        "--output",
        page::render(&comparison).as_bytes(),
        &arguments.output,
    )?;
    if arguments.json {
        return print_json(&comparison);
    }
    let mut out = stdout();
    terminal::show(&mut out, &comparison, &arguments.output)?;
    Ok(out.flush()?)
}
