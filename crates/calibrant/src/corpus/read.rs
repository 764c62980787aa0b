//! Documents of any source, in batches: the next rows are read while the present ones are parsed in parallel.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::driver::{Batches, Driver, read_mapped};
use super::fast_text::FastText;
use super::folder::{Folder, FolderFormat};
use super::plan::Row;
use super::source::{Opened, open};
use super::svmlight::SvmLight;
use super::{
    BadRow, Cell, Document, Format, Kept, KeptColumn, KeptFile, KeptRow, ReadError, ReadOptions,
    Source,
};
use crate::Progress;

/// What was read, and what was not.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadSummary {
    /// Rows that became documents.
    pub rows: u64,
    /// Rows that a filter rejected.
    pub filtered: u64,
    /// Rows without a label where labels are needed; of scores they are not among `rows`.
    pub unlabelled: Option<Unlabelled>,
    /// The first twenty malformed rows that were skipped.
    pub bad_rows: Vec<BadRow>,
    /// All malformed rows that were skipped.
    pub bad_row_count: u64,
    /// Bytes taken from the source, as stored (compressed); of a folder, the bytes of its texts.
    pub bytes: u64,
    /// The format that was given, or told by the name or the first bytes.
    pub format: Format,
}

/// Rows without a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unlabelled {
    /// How many.
    pub rows: u64,
    /// Where the first of them starts: the line from 1, the row of Parquet or a sheet.
    pub first_line: u64,
}

/// Reads the source and hands batches of documents, in file order, to `map` on several threads;
/// its results reach `sink` in order, on the calling thread.
///
/// Where a batch ends depends on the file alone, so that results do not depend on the number of
/// threads. Batches hold about a mebibyte of the file and are never empty; a few per thread
/// are in memory at a time. An error comes after all batches before it have reached `sink`, and
/// names the first malformed row in file order, whichever thread met it.
///
/// ```
/// use calibrant::NoProgress;
/// use calibrant::corpus::{ReadOptions, Source, read_batches};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("mail.txt");
/// std::fs::write(&path, "__label__ham see you\n__label__spam win big money\n")?;
/// let mut word_count = 0;
/// let summary = read_batches(
///     &Source::Path(path),
///     &ReadOptions::default(),
///     &NoProgress,
///     |batch| -> usize {
///         let texts = batch.iter().filter_map(|document| document.content.as_text());
///         texts.map(|text| text.split_whitespace().count()).sum()
///     },
///     |words| word_count += words,
/// )?;
/// assert_eq!((summary.rows, word_count), (2, 5)); // by hand: 2 + 3 words
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_batches<T: Send>(
    source: &Source,
    options: &ReadOptions,
    progress: &dyn Progress,
    map: impl Fn(Vec<Document>) -> T + Sync,
    mut sink: impl FnMut(T),
) -> Result<ReadSummary, ReadError> {
    read_batches_until(source, options, progress, map, |mapped| {
        sink(mapped);
        ControlFlow::Continue(())
    })
}

/// As [`read_batches`], until `sink` breaks off: a source without an end can be read like that.
/// The summary is then of what was read up to there.
pub(crate) fn read_batches_until<T: Send>(
    source: &Source,
    options: &ReadOptions,
    progress: &dyn Progress,
    map: impl Fn(Vec<Document>) -> T + Sync,
    sink: impl FnMut(T) -> ControlFlow<()>,
) -> Result<ReadSummary, ReadError> {
    read_mapped(map, sink, |batches| {
        read_rows(source, options, progress, batches)
    })
}

/// As [`read_batches_until`], with the rows themselves where [`ReadOptions::keep`] asks for them.
pub(crate) fn read_kept_batches<T: Send>(
    source: &Source,
    options: &ReadOptions,
    progress: &dyn Progress,
    map: impl Fn(Vec<Kept<Document>>) -> T + Sync,
    sink: impl FnMut(T) -> ControlFlow<()>,
) -> Result<ReadSummary, ReadError> {
    read_mapped(map, sink, |batches| {
        read_rows(source, options, progress, batches)
    })
}

fn read_rows<R: Row + From<Document>>(
    source: &Source,
    options: &ReadOptions,
    progress: &dyn Progress,
    batches: Batches<'_, R>,
) -> Result<ReadSummary, ReadError> {
    let file = source.name();
    let mut driver = Driver::new(&file, options, progress, batches);
    match open(source, options)? {
        Opened::Folder(root) => {
            let bytes = Arc::new(AtomicU64::new(0));
            let format = FolderFormat::new(&file, options, Arc::clone(&bytes))?;
            let folder = Folder::new(&root, bytes)?;
            let kept = Arc::new(KeptFile::of_cells(vec![KeptColumn::new("id", true)]));
            driver.run(folder, None, Format::Folder, |entries| {
                let parsed = format.parse(entries, options)?;
                Ok(parsed.map(|document| named_file(document, &kept)))
            })
        }
        Opened::Stream(stream, format) => match format {
            Format::Csv | Format::Tsv => driver.delimited(stream, format),
            Format::JsonLines => driver.json_lines(stream),
            Format::Parquet => driver.parquet(stream),
            Format::Xlsx | Format::Ods => driver.spreadsheet(stream, format),
            Format::FastText => {
                let rows = FastText::new(&file, options)?;
                driver.plain_lines(stream, format, "text", rows)
            }
            Format::SvmLight => {
                let rows = SvmLight::new(&file, options)?;
                driver.plain_lines(stream, format, "features", rows)
            }
            // `open` answers a path that is not a folder with an error; bytes and readers are left.
            Format::Folder => Err(ReadError::NotADirectory {
                path: file.clone().into(),
            }),
        },
    }
}

/// A document of a folder; what is kept of it is where it lies.
fn named_file<R: Row + From<Document>>(document: Document, kept: &Arc<KeptFile>) -> R {
    let id = document.id.clone().unwrap_or_default();
    let mut row = R::from(document);
    row.keep(KeptRow::of_cells(kept, 1, vec![Cell::Text(id.into())]));
    row
}

/// Reads the whole source into memory.
pub fn read_all(
    source: &Source,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<(Vec<Document>, ReadSummary), ReadError> {
    let mut documents = Vec::new();
    let summary = read_batches(
        source,
        options,
        progress,
        |batch| batch,
        |batch| documents.extend(batch),
    )?;
    Ok((documents, summary))
}

#[cfg(test)]
#[path = "read/tests.rs"]
mod tests;
