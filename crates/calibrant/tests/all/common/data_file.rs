//! Where the development data are.

use std::io::Write;
use std::path::PathBuf;

/// A file or folder among the development data, or `None` with a loud word where it is missing.
pub(crate) fn data_file(name: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var_os("CALIBRANT_DATA").unwrap_or_else(|| beside.into());
    let path = PathBuf::from(folder).join(name);
    if path.exists() {
        return Some(path);
    }
    // Written past the test harness, which would swallow it.
    let missing = path.display();
    let _ = writeln!(
        std::io::stderr(),
        "SKIPPED: {missing} is missing (set CALIBRANT_DATA)"
    );
    None
}
