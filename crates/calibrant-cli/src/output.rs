//! Where answers go.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use calibrant::evaluation::LossUnit;
use calibrant::saved::{AtomicFile, check_writable, write_file};
use serde::Serialize;

use crate::error::CliError;

/// Standard output, whose errors say where they come from.
pub(crate) struct Stdout(io::Stdout);

impl Stdout {
    fn named(error: io::Error) -> io::Error {
        io::Error::new(
            error.kind(),
            format!("cannot write to standard output: {error}"),
        )
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(Self::named)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(Self::named)
    }
}

pub(crate) fn stdout() -> BufWriter<Stdout> {
    BufWriter::new(Stdout(io::stdout()))
}

/// One value as a line of JSON on standard output.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let mut out = stdout();
    serde_json::to_writer(&mut out, value)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// What a command has to tell of a model that it wrote, as its `--json` prints it.
#[derive(Serialize)]
pub(crate) struct SavedReport<R> {
    model: String,
    model_bytes: u64,
    #[serde(flatten)]
    report: R,
}

impl<R: Serialize> SavedReport<R> {
    /// Of a model that was just written.
    pub(crate) fn new(path: &Path, report: R) -> Result<Self, CliError> {
        Ok(Self {
            model: path.display().to_string(),
            model_bytes: std::fs::metadata(path)?.len(),
            report,
        })
    }
}

/// The place and the size of a file that was just written.
pub(crate) fn wrote(path: &Path) -> Result<String, CliError> {
    let size = file_size(std::fs::metadata(path)?.len());
    Ok(format!("wrote {} ({size})", path.display()))
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
        return Err(
            CliError::new(format!("the folder `{}` does not exist", folder.display()))
                .hint(format!("create it first, or choose another {option}")),
        );
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
            "`{}` is the input file and would be overwritten",
            path.display()
        ))
        .hint(format!("choose another {option}")));
    }
    check_writable(path).map_err(|error| {
        CliError::from(error).hint(format!("choose another {option}, or fix its permissions"))
    })
}

/// Refuses a file that is given twice: a system compared or combined with itself says nothing.
pub(crate) fn check_distinct(paths: &[PathBuf]) -> Result<(), CliError> {
    let mut seen = Vec::new();
    for path in paths {
        // A file that is not there is reported where it is opened.
        let Ok(real) = path.canonicalize() else {
            continue;
        };
        if seen.contains(&real) {
            return Err(
                CliError::new(format!("`{}` is given twice", path.display()))
                    .hint("give each file once"),
            );
        }
        seen.push(real);
    }
    Ok(())
}

/// "1.2 MB", "34.5 kB" or "678 bytes".
pub(crate) fn file_size(bytes: u64) -> String {
    match bytes {
        0..1_000 => count_of(bytes as usize, "byte"),
        1_000..100_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        100_000..1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// Writes beside the target and renames, so that a file is there as a whole or not at all.
pub(crate) fn write_whole(option: &str, bytes: &[u8], path: &Path) -> Result<(), CliError> {
    write_file(path, bytes)
        .map_err(|error| CliError::from(error).hint(format!("choose another {option}")))
}

/// As [`write_whole`], piece by piece.
pub(crate) fn write_pieces(
    option: &str,
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let refused = |error| CliError::from(error).hint(format!("choose another {option}"));
    let file = AtomicFile::create(path).map_err(refused)?;
    let mut out = BufWriter::new(file.writer().map_err(refused)?);
    write(&mut out)?;
    out.flush()?;
    file.finish().map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_files_are_shown_in_small_units() {
        assert_eq!(file_size(1), "1 byte");
        assert_eq!(file_size(999), "999 bytes");
        assert_eq!(file_size(1_049), "1.0 kB");
        assert_eq!(file_size(48_260), "48.3 kB");
        assert_eq!(file_size(512_300), "512 kB");
        assert_eq!(file_size(1_500_000), "1.5 MB");
    }
}
