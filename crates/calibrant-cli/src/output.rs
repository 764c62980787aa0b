//! Where answers go.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::Path;

use calibrant::evaluation::LossUnit;
use calibrant::pipeline::publish;

use crate::error::CliError;

pub(crate) fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::new(io::stdout().lock())
}

pub(crate) fn warn(message: &str) {
    let _ = writeln!(io::stderr().lock(), "warning: {message}");
}

/// Something that was decided for the user, who may want to decide otherwise.
pub(crate) fn note(message: &str) {
    let _ = writeln!(io::stderr().lock(), "note: {message}");
}

/// "1 row", "2 rows".
pub(crate) fn count_of(count: usize, one: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        more => format!("{more} {one}s"),
    }
}

/// How many labels a message names.
const SHOWN_LABELS: usize = 10;

/// What to do about labels that differ only in how a number is written.
pub(crate) const WRITE_ALIKE: &str =
    "write labels alike in both files; data frames turn 1 into 1.0 where a value is missing";

/// What has labels that nobody knows, and documents that take no part for that: a sentence each. `who` knows labels,
/// and `fate` is what becomes of such documents, one or several.
pub(crate) fn unknown_label_notes(
    unknown: &BTreeMap<String, usize>,
    left_out: usize,
    who: &str,
    [is, are]: [&str; 2],
) -> Vec<String> {
    let names: Vec<&str> = unknown
        .keys()
        .take(SHOWN_LABELS)
        .map(String::as_str)
        .collect();
    let more = if unknown.len() > SHOWN_LABELS {
        ", …"
    } else {
        ""
    };
    let labels = match unknown.len() {
        1 => "1 label is".to_owned(),
        more => format!("{more} labels are"),
    };
    let knows = if who.ends_with('s') { "know" } else { "knows" };
    let documents = count_of(left_out, "document");
    let fate = if left_out == 1 { is } else { are };
    [
        (!unknown.is_empty())
            .then(|| format!("{labels} unknown to the {who}: {}{more}", names.join(", "))),
        (left_out > 0).then(|| {
            format!("{documents} without exactly one label that the {who} {knows} {fate}")
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// "document" or "decision".
pub(crate) fn loss_unit(unit: LossUnit) -> &'static str {
    match unit {
        LossUnit::Documents => "document",
        LossUnit::Decisions => "decision",
    }
}

/// A wrong place is better said before the work than after it. The documents themselves are no
/// place to write to: a slip of the hand would cost the reader's data.
pub(crate) fn check_target(path: &Path, documents: &str) -> Result<(), CliError> {
    check_target_of("--output", path, documents)
}

/// As [`check_target`], of the file that some other option names.
pub(crate) fn check_target_of(option: &str, path: &Path, documents: &str) -> Result<(), CliError> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(CliError::new(format!(
            "there is no folder `{}` to write to",
            folder.display()
        ))
        .hint(format!("make it first, or choose another {option}")));
    }
    if path.is_dir() {
        return Err(CliError::new(format!("`{}` is a folder", path.display()))
            .hint(format!("give {option} a file name")));
    }
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(
            CliError::new(format!("`{}` is not an ordinary file", path.display()))
                .hint(format!("give {option} a file name")),
        );
    }
    if let (Ok(target), Ok(source)) = (path.canonicalize(), Path::new(documents).canonicalize())
        && target == source
    {
        return Err(CliError::new(format!(
            "`{}` holds the documents and would be overwritten",
            path.display()
        ))
        .hint(format!("choose another {option}")));
    }
    Ok(())
}

/// Writes beside the target and renames, so that a page is there as a whole or not at all.
pub(crate) fn write_page(option: &str, html: &str, path: &Path) -> Result<(), CliError> {
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
            .hint(format!("choose another {option}"))
    })
}
