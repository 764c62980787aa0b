//! `calibrant demo`: stated beside true probabilities, on mail whose truth is known.

mod comparison;
mod inbox;
mod numbers;
mod page;
mod samples;
mod stated;
mod terminal;

use std::io::Write;
use std::path::Path;

use calibrant::pipeline::publish;

use crate::arguments::DemoArguments;
use crate::error::CliError;
use crate::output::check_target;
use crate::output::stdout;
use crate::progress::TerminalProgress;

pub(crate) fn run(arguments: &DemoArguments) -> Result<(), CliError> {
    check_target(&arguments.output, "")?;
    let comparison = comparison::compare(arguments.seed, &TerminalProgress::default())?;
    write_page(&page::render(&comparison), &arguments.output)?;
    let mut out = stdout();
    if arguments.json {
        serde_json::to_writer(&mut out, &comparison)?;
        writeln!(out)?;
    } else {
        terminal::show(&mut out, &comparison, &arguments.output)?;
    }
    Ok(out.flush()?)
}

/// Writes beside the target and renames, so that a page is there as a whole or not at all.
fn write_page(html: &str, path: &Path) -> Result<(), CliError> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let write = || {
        let mut file = tempfile::Builder::new()
            .prefix(".calibrant-")
            .tempfile_in(folder)?;
        file.write_all(html.as_bytes())?;
        publish(file, path)
    };
    write().map_err(|error| {
        CliError::new(format!("cannot write `{}`: {error}", path.display()))
            .hint("choose another --output")
    })
}
