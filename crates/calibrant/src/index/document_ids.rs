//! The identifiers of all documents, in the order of their bytes.
//!
//! The engine has them in a dictionary that is packed block by block: to unpack a block for every document of a long list
//! would cost more than the search. So they stand in two files, one after the other, with the place where each ends in
//! eight bytes, least significant first.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use tantivy::columnar::StrColumn;
use tantivy::directory::{Directory, MmapDirectory, OwnedBytes};

use super::error::IndexError;

const TEXT: &str = "ids.text";
const ENDS: &str = "ids.ends";

/// Writes both files.
pub(super) fn write_document_ids(ids: &StrColumn, folder: &Path) -> Result<(), IndexError> {
    let list = IndexError::engine("list the ids");
    let create = |name: &str| {
        let path = folder.join(name);
        let file = File::create(&path).map_err(IndexError::io("write", &path))?;
        Ok::<_, IndexError>(BufWriter::new(file))
    };
    let (mut text, mut ends) = (create(TEXT)?, create(ENDS)?);
    let write = |out: &mut BufWriter<File>, bytes: &[u8]| {
        out.write_all(bytes)
            .map_err(IndexError::io("write", folder))
    };
    let mut terms = ids.dictionary().stream().map_err(&list)?;
    let mut end = 0u64;
    while terms.advance() {
        write(&mut text, terms.key())?;
        end += terms.key().len() as u64;
        write(&mut ends, &end.to_le_bytes())?;
    }
    for out in [text, ends] {
        let file = out
            .into_inner()
            .map_err(|error| IndexError::io("write", folder)(error.into_error()))?;
        file.sync_all().map_err(IndexError::io("write", folder))?;
    }
    Ok(())
}

/// Both files, mapped into memory.
pub(super) struct DocumentIds {
    text: OwnedBytes,
    ends: OwnedBytes,
}

impl DocumentIds {
    /// Opens the files; `None` if there are not `count` identifiers.
    pub(super) fn open(directory: &MmapDirectory, count: u64) -> Result<Option<Self>, IndexError> {
        let read = |name: &str| {
            directory
                .open_read(Path::new(name))
                .map_err(IndexError::engine("open the ids"))?
                .read_bytes()
                .map_err(IndexError::engine("read the ids"))
        };
        let ids = Self {
            text: read(TEXT)?,
            ends: read(ENDS)?,
        };
        let complete = Some(ids.ends.len() as u64) == count.checked_mul(8);
        Ok(complete.then_some(ids))
    }

    /// The identifier with this place in their order; empty for one that is not there.
    pub(super) fn get(&self, rank: u64) -> &str {
        let end = |rank: u64| {
            let at = usize::try_from(rank).ok()?.checked_mul(8)?;
            let bytes = self.ends.get(at..)?.first_chunk::<8>()?;
            usize::try_from(u64::from_le_bytes(*bytes)).ok()
        };
        let start = match rank {
            0 => Some(0),
            _ => end(rank - 1),
        };
        let bytes = start
            .zip(end(rank))
            .and_then(|(start, end)| self.text.get(start..end));
        std::str::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
    }
}
