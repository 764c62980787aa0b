//! Where an index may be written, and how it gets there as a whole.

use std::path::{Path, PathBuf};

use super::error::IndexError;
use super::manifest::{MANIFEST, Manifest, part_names};
use crate::saved::{SavedProblem, TemporaryFolder, uninterrupted};

/// Whether an index may stand at `target`; the folder in which to build it beside.
pub(super) fn check_target(target: &Path) -> Result<PathBuf, IndexError> {
    let occupied = |reason: &str| {
        Err(IndexError::Occupied {
            path: target.to_owned(),
            reason: reason.to_owned(),
        })
    };
    match std::fs::symlink_metadata(target) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(IndexError::io("write", target)(error)),
        Ok(found) if found.is_symlink() => return occupied("is a link"),
        Ok(found) if !found.is_dir() => return occupied("is not a folder"),
        Ok(_) => check_replaceable(target)?,
    }
    let parent = target
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    if target.file_name().is_none() {
        return occupied("has no name of its own");
    }
    Ok(parent.to_owned())
}

/// An empty folder may be taken, and an index with nothing else beside it may be replaced.
fn check_replaceable(target: &Path) -> Result<(), IndexError> {
    let occupied = |reason: String| IndexError::Occupied {
        path: target.to_owned(),
        reason,
    };
    let parts = part_names(target)?;
    if parts.is_empty() && !target.join(MANIFEST).exists() {
        return Ok(());
    }
    let manifest = Manifest::read(target).map_err(|error| {
        let problem = match &error {
            IndexError::Saved(error) => Some(&error.problem),
            _ => None,
        };
        occupied(match problem {
            Some(SavedProblem::UnknownVersion { .. }) => {
                "is an index of a newer calibrant".to_owned()
            }
            Some(SavedProblem::Damaged { .. }) => "is a damaged index".to_owned(),
            _ => "is not an index".to_owned(),
        })
    })?;
    let stranger = parts
        .iter()
        .find(|name| !manifest.files.iter().any(|file| file.name == **name));
    match stranger {
        Some(name) => Err(occupied(format!(
            "holds `{name}`, which is not part of an index"
        ))),
        None => Ok(()),
    }
}

/// Moves a finished folder to its place. What was there is removed once the new one stands.
pub(super) fn move_into_place(folder: TemporaryFolder, target: &Path) -> Result<(), IndexError> {
    // Somebody may have written there in the meantime.
    let parent = check_target(target)?;
    set_usual_permissions(folder.path()).map_err(IndexError::io("write", folder.path()))?;
    let aside = match target.exists() {
        true => Some(
            TemporaryFolder::new_in(&parent, ".calibrant-old-")
                .map_err(IndexError::io("write to", &parent))?,
        ),
        false => None,
    };
    // A program that is stopped between the two steps would leave no index at all.
    uninterrupted(|| {
        let old = aside.as_ref().map(|aside| aside.path().join("index"));
        if let Some(old) = &old {
            std::fs::rename(target, old).map_err(IndexError::io("replace", target))?;
        }
        std::fs::rename(folder.path(), target).map_err(|error| {
            if let Some(old) = &old {
                // Better the old index than none.
                let _ = std::fs::rename(old, target);
            }
            IndexError::io("write", target)(error)
        })
    })?;
    folder.keep();
    Ok(())
}

#[cfg(unix)]
fn set_usual_permissions(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    // The folder has what the umask leaves of all permissions; some files that the engine writes are private. All are given what
    // the umask leaves of an ordinary file's.
    let mode = folder.metadata()?.permissions().mode() & 0o666;
    for entry in std::fs::read_dir(folder)? {
        std::fs::set_permissions(entry?.path(), std::fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn set_usual_permissions(_folder: &Path) -> std::io::Result<()> {
    Ok(())
}
