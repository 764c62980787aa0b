//! How often each term occurs in the whole collection: the one number that the engine does not keep.
//!
//! A file for each analysis holds one number of eight bytes, least significant first, for every term in the order
//! of the engine's dictionary.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use tantivy::directory::{Directory, MmapDirectory, OwnedBytes};
use tantivy::postings::Postings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, SegmentReader, TERMINATED};

use super::error::IndexError;
use crate::ranking::functions::Analysis;

fn file_name(analysis: Analysis) -> String {
    format!("{analysis}.collection-frequencies")
}

/// Adds up the postings of every term and writes the file. Returns the number of terms.
pub(super) fn write_collection_frequencies(
    segment: &SegmentReader,
    field: Field,
    folder: &Path,
    analysis: Analysis,
) -> Result<u64, IndexError> {
    let count = IndexError::engine("count the terms");
    let path = folder.join(file_name(analysis));
    let file = File::create(&path).map_err(IndexError::io("write", &path))?;
    let mut out = BufWriter::new(file);
    let inverted = segment.inverted_index(field).map_err(&count)?;
    let mut terms = inverted
        .terms()
        .stream()
        .map_err(IndexError::engine("count the terms"))?;
    let mut term_count = 0;
    while terms.advance() {
        let mut postings = inverted
            .read_postings_from_terminfo(terms.value(), IndexRecordOption::WithFreqs)
            .map_err(IndexError::engine("count the terms"))?;
        let mut frequency = 0u64;
        while postings.doc() != TERMINATED {
            frequency += u64::from(postings.term_freq());
            postings.advance();
        }
        out.write_all(&frequency.to_le_bytes())
            .map_err(IndexError::io("write", &path))?;
        term_count += 1;
    }
    let file = out
        .into_inner()
        .map_err(|error| IndexError::io("write", &path)(error.into_error()))?;
    file.sync_all().map_err(IndexError::io("write", &path))?;
    Ok(term_count)
}

/// The file, mapped into memory.
pub(super) struct CollectionFrequencies {
    bytes: OwnedBytes,
}

impl CollectionFrequencies {
    /// Opens the file; `None` if it does not have `term_count` numbers.
    pub(super) fn open(
        directory: &MmapDirectory,
        analysis: Analysis,
        term_count: u64,
    ) -> Result<Option<Self>, IndexError> {
        let name = file_name(analysis);
        let bytes = directory
            .open_read(Path::new(&name))
            .map_err(IndexError::engine("open the counts of terms"))?
            .read_bytes()
            .map_err(IndexError::engine("read the counts of terms"))?;
        let expected = term_count.checked_mul(8);
        Ok((Some(bytes.len() as u64) == expected).then_some(Self { bytes }))
    }

    /// The number of the term with this place in the dictionary; 0 for one that is not there.
    pub(super) fn get(&self, ordinal: u64) -> u64 {
        let start = usize::try_from(ordinal)
            .ok()
            .and_then(|at| at.checked_mul(8));
        start
            .and_then(|start| self.bytes.get(start..)?.first_chunk::<8>())
            .map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }
}
