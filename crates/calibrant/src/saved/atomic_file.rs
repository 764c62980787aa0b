//! Files that are there as a whole or not at all.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::temporary::{TemporaryFile, folder_of};

/// A file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{}`: {source}", path.display())]
pub struct WriteError {
    /// What was tried.
    pub action: &'static str,
    /// The file that was to be written.
    pub path: PathBuf,
    /// The system's answer.
    pub source: io::Error,
}

impl WriteError {
    fn new(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self {
            action,
            path: path.to_owned(),
            source,
        }
    }
}

/// A file that is written beside its place and takes it in one step.
///
/// The name stands for what it stood for before, or for the whole new file. Dropped without [`AtomicFile::finish`],
/// it leaves nothing behind; [`super::remove_temporary_files`] sees to that where a program is stopped.
///
/// ```
/// use std::io::Write;
/// use calibrant::saved::AtomicFile;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("answers.csv");
/// let file = AtomicFile::create(&path)?;
/// file.writer()?.write_all(b"a,b\n")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"a,b\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    file: TemporaryFile,
    target: PathBuf,
}

impl AtomicFile {
    /// Begins a file that will stand at `target`.
    pub fn create(target: &Path) -> Result<Self, WriteError> {
        let file = TemporaryFile::beside(target)
            .map_err(WriteError::new("write a temporary file for", target))?;
        Ok(Self {
            file,
            target: target.to_owned(),
        })
    }

    /// Writes from the beginning of the file. What it says of errors names the file.
    pub fn writer(&self) -> Result<TargetWriter, WriteError> {
        let file = self
            .file
            .reopen()
            .map_err(WriteError::new("write", &self.target))?;
        Ok(TargetWriter {
            file,
            target: self.target.clone(),
        })
    }

    /// Gives the file its name, after all of it is on the disk. What is not an ordinary file is refused: renaming over a
    /// device such as `/dev/null` would put a file in its place, for everyone.
    pub fn finish(self) -> Result<(), WriteError> {
        let Self { file, target } = self;
        let finish = || {
            if target.metadata().is_ok_and(|found| !found.is_file()) {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "it is not an ordinary file",
                ));
            }
            file.file().sync_all()?;
            set_usual_permissions(file.file())?;
            file.persist(&target)
        };
        finish().map_err(WriteError::new("write", &target))
    }
}

/// Writes to an [`AtomicFile`]; its errors name the file.
#[derive(Debug)]
pub struct TargetWriter {
    file: File,
    target: PathBuf,
}

impl TargetWriter {
    fn named(&self, error: io::Error) -> io::Error {
        let kind = error.kind();
        io::Error::new(kind, WriteError::new("write", &self.target)(error))
    }
}

impl Write for TargetWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| self.named(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| self.named(error))
    }
}

/// Writes a file in one step.
pub fn write_file(target: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let file = AtomicFile::create(target)?;
    let mut handle = file.file.file();
    handle
        .write_all(bytes)
        .map_err(WriteError::new("write", target))?;
    file.finish()
}

/// Whether a file can be written here, found out by beginning one. Better before the work than after it.
pub fn check_writable(target: &Path) -> Result<(), WriteError> {
    let begun = TemporaryFile::beside(target);
    begun
        .map(drop)
        .map_err(WriteError::new("write to the folder", folder_of(target)))
}

#[cfg(unix)]
fn set_usual_permissions(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    // A temporary file is private; a model is an ordinary file.
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn set_usual_permissions(_file: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn a_file_is_there_as_a_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write_file(&path, b"first").unwrap();
        let file = AtomicFile::create(&path).unwrap();
        file.writer().unwrap().write_all(b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        drop(file);
        assert_eq!(names(folder.path()), ["a"]);
        let file = AtomicFile::create(&path).unwrap();
        file.writer().unwrap().write_all(b"third").unwrap();
        file.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"third");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn what_is_not_an_ordinary_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let error = write_file(&inner, b"x").unwrap_err().to_string();
        assert!(
            error.contains("inner") && error.contains("ordinary"),
            "{error}"
        );
        assert_eq!(names(folder.path()), ["inner"]);
        let error = check_writable(&folder.path().join("none/a")).unwrap_err();
        assert!(error.to_string().contains("none`"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported_with_the_name_of_the_file() {
        let mut writer = TargetWriter {
            file: File::options().write(true).open("/dev/full").unwrap(),
            target: "answers.csv".into(),
        };
        let error = writer.write_all(b"x").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        let said = error.to_string();
        assert!(said.starts_with("cannot write `answers.csv`: "), "{said}");
    }
}
