//! The bytes of a file: mapped into memory where that is possible, copied into it where not.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use memmap2::{Mmap, MmapMut};

use super::{INDEX_MANIFEST, SavedKind, SavedProblem, array_file, text_file};

/// So much decides whether the rest is read.
const BEGINNING: u64 = 64;

/// More is not read of what cannot be mapped.
const MOST_BYTES: u64 = 4 << 30;

/// Maps an ordinary file; a pipe or device is read to its end, if it begins like one of ours.
pub(crate) fn map_file(path: &Path) -> Result<Arc<Mmap>, SavedProblem> {
    if path.is_dir() {
        return Err(match path.join(INDEX_MANIFEST).is_file() {
            true => SavedProblem::OtherKind {
                found: SavedKind::Index,
            },
            false => SavedProblem::foreign("it is a folder"),
        });
    }
    let file = File::open(path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => SavedProblem::NotFound,
        _ => SavedProblem::io("open")(source),
    })?;
    let found = file.metadata().map_err(SavedProblem::io("open"))?;
    if !found.is_file() {
        return in_memory(&read_stream(file)?);
    }
    if found.len() == 0 {
        return Err(SavedProblem::foreign("it is empty"));
    }
    // SAFETY: the map is only read. Another process that cuts the file short while it is mapped
    // could end this one by a signal, which no check of ours could prevent; files are replaced
    // by renaming, never written in place.
    let map = unsafe { Mmap::map(&file) }.map_err(SavedProblem::io("map"))?;
    Ok(Arc::new(map))
}

/// A copy, at the start of a page: numbers in it are aligned as in a mapped file.
pub(crate) fn in_memory(bytes: &[u8]) -> Result<Arc<Mmap>, SavedProblem> {
    if bytes.is_empty() {
        return Err(SavedProblem::foreign("it is empty"));
    }
    let mut map = MmapMut::map_anon(bytes.len()).map_err(SavedProblem::io("copy"))?;
    map.copy_from_slice(bytes);
    let map = map.make_read_only().map_err(SavedProblem::io("copy"))?;
    Ok(Arc::new(map))
}

/// An endless stream of something else must not fill the memory.
fn read_stream(file: File) -> Result<Vec<u8>, SavedProblem> {
    let mut bytes = Vec::new();
    let mut start = file.take(BEGINNING);
    start
        .read_to_end(&mut bytes)
        .map_err(SavedProblem::io("read"))?;
    if text_file::kind_of(&bytes).is_none() && !array_file::looks_like_arrays(&bytes) {
        return Err(SavedProblem::foreign("it does not begin like one"));
    }
    let mut rest = start.into_inner().take(MOST_BYTES);
    rest.read_to_end(&mut bytes)
        .map_err(SavedProblem::io("read"))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(SavedProblem::foreign("it is far too large"));
    }
    Ok(bytes)
}
