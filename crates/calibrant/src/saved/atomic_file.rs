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
/// The name stands for what it stood for before, or for the whole new file. A symbolic link stays and the file that it
/// points to is replaced. A new file has the permissions that the umask leaves, a replaced one those it had. Dropped without [`AtomicFile::finish`],
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
    /// The file that was named, for messages.
    target: PathBuf,
    /// The file that is written: `target`, or what it links to.
    place: PathBuf,
}

impl AtomicFile {
    /// Begins a file that will stand at `target`.
    pub fn create(target: &Path) -> Result<Self, WriteError> {
        let refused = WriteError::new("write a temporary file for", target);
        let place = behind_links(target).map_err(&refused)?;
        let file = TemporaryFile::beside(&place).map_err(&refused)?;
        // What replaces a private file is private from the beginning.
        if let Ok(found) = place.metadata() {
            let permissions = file.file().set_permissions(found.permissions());
            permissions.map_err(&refused)?;
        }
        Ok(Self {
            file,
            target: target.to_owned(),
            place,
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
        let Self {
            file,
            target,
            place,
        } = self;
        let finish = || {
            if let Ok(found) = place.metadata() {
                if !found.is_file() {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidInput,
                        "it is not an ordinary file",
                    ));
                }
                file.file().set_permissions(found.permissions())?;
            }
            file.file().sync_all()?;
            file.persist(&place)?;
            sync_folder(folder_of(&place));
            Ok(())
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
    let place = behind_links(target).map_err(WriteError::new("write", target))?;
    let begun = TemporaryFile::beside(&place);
    begun
        .map(drop)
        .map_err(WriteError::new("write to the folder", folder_of(&place)))
}

/// Whether two names stand for one file, which need not exist yet: `a`, `./a` and a link to it do.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// let path = |name: &str| folder.path().join(name);
/// assert!(calibrant::saved::is_same_file(&path("a"), &path("./a")));
/// assert!(!calibrant::saved::is_same_file(&path("a"), &path("b")));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let path = behind_links(path).unwrap_or_else(|_| path.to_owned());
        let folder = folder_of(&path).canonicalize().ok()?;
        let whole = || path.file_name().map(|name| folder.join(name));
        path.canonicalize().ok().or_else(whole)
    };
    one == other || place(one).is_some_and(|one| Some(one) == place(other))
}

/// More links in a row than this are taken for a circle, as Linux does.
const MOST_LINKS: usize = 40;

/// The file that a path stands for: where links lead, even to a file that does not exist yet.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if !path.is_symlink() {
            return Ok(path);
        }
        // A relative link starts from the folder of the link; an absolute one replaces it.
        path = folder_of(&path).join(path.read_link()?);
    }
    Err(io::Error::other("its symbolic links lead in a circle"))
}

/// Puts the new name on the disk as well. The file is in its place whatever becomes of this, and some file systems cannot
/// sync folders: a failure is not an error.
#[cfg(unix)]
fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) {}

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

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_any_other_new_file_or_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let (usual, path) = (folder.path().join("usual"), folder.path().join("a"));
        File::create(&usual).unwrap();
        write_file(&path, b"first").unwrap();
        assert_eq!(mode(&path), mode(&usual));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        write_file(&path, b"second").unwrap();
        assert_eq!(mode(&path), 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_and_what_they_point_to_is_replaced() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let [first, second, new, circle] =
            ["first", "second", "new", "circle"].map(|name| folder.path().join(name));
        symlink("inner/file", &second).unwrap();
        symlink(&second, &first).unwrap();
        for bytes in [b"one", b"two"] {
            check_writable(&first).unwrap();
            write_file(&first, bytes).unwrap();
            assert!(first.is_symlink() && second.is_symlink());
            assert_eq!(std::fs::read(inner.join("file")).unwrap(), bytes);
        }
        assert_eq!(names(&inner), ["file"]);
        symlink("missing/file", &new).unwrap();
        let error = write_file(&new, b"x").unwrap_err().to_string();
        assert!(error.contains("new`"), "{error}");
        assert!(!error.contains(".calibrant-"), "{error}");
        symlink("circle", &circle).unwrap();
        let error = write_file(&circle, b"x").unwrap_err().to_string();
        assert!(error.contains("circle"), "{error}");
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
