//! What is being written, so that it can be taken away when the program must stop.
//!
//! A value that is dropped removes its own file; a program that is ended by a signal drops nothing. So all that is
//! temporary is listed here from the moment it is there to the moment it is gone or has its final name.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;
#[cfg(feature = "index")]
use tempfile::TempDir;

static LISTED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Engines may still write into a folder that is being removed.
const REMOVAL_TRIES: usize = 50;

fn listed() -> MutexGuard<'static, Vec<PathBuf>> {
    LISTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A path that is listed as long as this lives.
#[derive(Debug)]
struct Listing(PathBuf);

impl Drop for Listing {
    fn drop(&mut self) {
        let mut paths = listed();
        if let Some(place) = paths.iter().position(|path| *path == self.0) {
            paths.swap_remove(place);
        }
    }
}

/// Removes the temporary files and folders of all that this process is writing, then does `last` (which may end
/// the process) before anything else can be begun, renamed or completed. A front end calls it when it is asked
/// to stop.
pub fn remove_temporary_files<T>(last: impl FnOnce() -> T) -> T {
    let paths = listed();
    for path in paths.iter() {
        for _ in 0..REMOVAL_TRIES {
            let removed = match path.is_dir() {
                true => std::fs::remove_dir_all(path),
                false => std::fs::remove_file(path),
            };
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    std::thread::sleep(std::time::Duration::from_millis(2));
                }
                _ => break,
            }
        }
    }
    last()
}

/// Does something that must not be left half done when the program is asked to stop.
pub(crate) fn uninterrupted<T>(action: impl FnOnce() -> T) -> T {
    let _no_removal = listed();
    action()
}

/// A file without its final name, removed when it is dropped.
#[derive(Debug)]
pub(super) struct TemporaryFile {
    // The order matters: first the file goes, then its listing.
    file: NamedTempFile,
    _listing: Listing,
}

impl TemporaryFile {
    pub(super) fn beside(target: &Path) -> io::Result<Self> {
        let mut paths = listed();
        let mut builder = tempfile::Builder::new();
        builder.prefix(".calibrant-");
        // By default a temporary file is private. What is written becomes an ordinary file: as the umask says.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder_of(target));
        let file = file.map_err(without_temporary_path)?;
        paths.push(file.path().to_owned());
        let _listing = Listing(file.path().to_owned());
        Ok(Self { file, _listing })
    }

    pub(super) fn file(&self) -> &std::fs::File {
        self.file.as_file()
    }

    pub(super) fn reopen(&self) -> io::Result<std::fs::File> {
        self.file.reopen()
    }

    /// Gives the file its name.
    pub(super) fn persist(self, target: &Path) -> io::Result<()> {
        let Self { file, _listing } = self;
        uninterrupted(|| file.persist(target)).map_err(|error| error.error)?;
        Ok(())
    }
}

/// A folder without its final name, removed when it is dropped.
#[cfg(feature = "index")]
#[derive(Debug)]
pub(crate) struct TemporaryFolder {
    folder: TempDir,
    listing: Listing,
}

#[cfg(feature = "index")]
impl TemporaryFolder {
    /// A new folder in another one.
    pub(crate) fn new_in(parent: &Path, prefix: &str) -> io::Result<Self> {
        let mut paths = listed();
        let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(parent);
        let folder = folder.map_err(without_temporary_path)?;
        paths.push(folder.path().to_owned());
        let listing = Listing(folder.path().to_owned());
        Ok(Self { folder, listing })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// For a folder that was renamed: there is nothing left to remove under the old name.
    pub(crate) fn keep(self) {
        let Self { folder, listing } = self;
        let _ = folder.keep();
        drop(listing);
    }
}

/// The system's answer alone: a name that was made up for a temporary file means nothing to anybody.
fn without_temporary_path(error: io::Error) -> io::Error {
    let message = error.to_string();
    match message.split_once(" at path \"") {
        Some((reason, _)) => io::Error::new(error.kind(), reason),
        None => error,
    }
}

/// The folder in which a file stands.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}
