//! Drives the readers: the next rows are read while the present ones are parsed in parallel.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use rayon::prelude::*;

use super::delimited::{Delimited, Dialect};
use super::fast_text::FastText;
use super::folder::{Folder, FolderFormat};
use super::json_lines::JsonLines;
use super::lines::{Cutter, PIECE_BYTES, RowEnds};
use super::parquet::ParquetRows;
use super::rows::{Parsed, RowFormat, Tally, parse_piece};
use super::source::{Opened, Stream, open};
use super::svmlight::SvmLight;
use super::{BadRow, Document, Format, NoRowsReason, ReadError, ReadOptions, Source};
use crate::Progress;

/// What was read, and what was not.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadSummary {
    /// Rows that became documents.
    pub rows: u64,
    /// Rows that a filter rejected.
    pub filtered: u64,
    /// The first twenty malformed rows that were skipped.
    pub bad_rows: Vec<BadRow>,
    /// All malformed rows that were skipped.
    pub bad_row_count: u64,
    /// Bytes taken from the source, as stored (compressed); of a folder, the bytes of its texts.
    pub bytes: u64,
    /// The format that was given, or told by the name or the first bytes.
    pub format: Format,
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
    let file = source.name();
    let mut driver = Driver {
        file: &file,
        options,
        progress,
        map: &map,
        sink: &mut sink,
    };
    match open(source, options.format)? {
        Opened::Folder(root) => {
            let bytes = Arc::new(AtomicU64::new(0));
            let format = FolderFormat::new(&file, options, Arc::clone(&bytes))?;
            let folder = Folder::new(&root, bytes)?;
            driver.run(folder, None, Format::Folder, |entries| {
                format.parse(entries, options)
            })
        }
        Opened::Stream(stream, format) => match format {
            Format::Csv => driver.delimited(stream, Dialect::Csv),
            Format::Tsv => driver.delimited(stream, Dialect::Tsv),
            Format::JsonLines => {
                let size = stream.size;
                let mut cutter = Cutter::new(stream, RowEnds::Lines, options.max_row_bytes);
                let rows = JsonLines::new(&mut cutter, &file, options)?;
                driver.lines(cutter, size, format, &rows)
            }
            Format::FastText => {
                let size = stream.size;
                let rows = FastText::new(&file, options)?;
                let cutter = Cutter::new(stream, rows.row_ends(), options.max_row_bytes);
                driver.lines(cutter, size, format, &rows)
            }
            Format::SvmLight => {
                let size = stream.size;
                let rows = SvmLight::new(&file, options)?;
                let cutter = Cutter::new(stream, rows.row_ends(), options.max_row_bytes);
                driver.lines(cutter, size, format, &rows)
            }
            Format::Parquet => {
                let (rows, plan) = ParquetRows::open(stream, options)?;
                let size = Some(rows.size());
                driver.run(rows, size, format, |piece| {
                    piece.parse(&plan, &file, options)
                })
            }
            // `open` answers a path that is no folder with an error; standard input is left.
            Format::Folder => Err(ReadError::NotADirectory {
                path: file.clone().into(),
            }),
        },
    }
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

/// The sequential half of a reader: hands out pieces of the source that can be parsed alone.
pub(super) trait PieceSource: Send {
    type Piece: Send;

    fn next_piece(&mut self) -> Result<Option<Self::Piece>, ReadError>;

    /// Bytes taken from the source so far.
    fn bytes_read(&self) -> u64;

    /// Roughly the bytes a piece occupies.
    fn weight(piece: &Self::Piece) -> usize;
}

/// What the formats have in common once they are opened.
struct Driver<'a, M, S> {
    file: &'a str,
    options: &'a ReadOptions,
    progress: &'a dyn Progress,
    map: &'a M,
    sink: &'a mut S,
}

impl<M, S> Driver<'_, M, S> {
    fn delimited<T: Send>(
        &mut self,
        stream: Stream,
        dialect: Dialect,
    ) -> Result<ReadSummary, ReadError>
    where
        M: Fn(Vec<Document>) -> T + Sync,
        S: FnMut(T),
    {
        let size = stream.size;
        let mut cutter = Cutter::new(stream, dialect.row_ends(), self.options.max_row_bytes);
        let rows = Delimited::new(&mut cutter, dialect, self.file, self.options)?;
        let format = match dialect {
            Dialect::Csv => Format::Csv,
            Dialect::Tsv => Format::Tsv,
        };
        self.lines(cutter, size, format, &rows)
    }

    fn lines<T: Send>(
        &mut self,
        cutter: Cutter,
        size: Option<u64>,
        format: Format,
        rows: &impl RowFormat,
    ) -> Result<ReadSummary, ReadError>
    where
        M: Fn(Vec<Document>) -> T + Sync,
        S: FnMut(T),
    {
        let (file, options) = (self.file, self.options);
        self.run(cutter, size, format, |piece| {
            parse_piece(rows, &piece, file, options)
        })
    }

    fn run<T: Send, P: PieceSource>(
        &mut self,
        mut source: P,
        size: Option<u64>,
        format: Format,
        parse: impl Fn(P::Piece) -> Result<Parsed, ReadError> + Sync,
    ) -> Result<ReadSummary, ReadError>
    where
        M: Fn(Vec<Document>) -> T + Sync,
        S: FnMut(T),
    {
        let map = self.map;
        let work = |piece: P::Piece| -> Result<(Option<T>, Tally), ReadError> {
            let Parsed { documents, tally } = parse(piece)?;
            Ok(((!documents.is_empty()).then(|| map(documents)), tally))
        };
        let mut meter = Meter::begin(self.progress, size);
        let mut total = Tally::default();
        let mut window = Window::read(&mut source);
        loop {
            let Window { pieces, end } = window;
            let more = end.is_none();
            let (next, results) = rayon::join(
                || more.then(|| Window::read(&mut source)),
                || -> Vec<_> { pieces.into_par_iter().with_max_len(1).map(&work).collect() },
            );
            for result in results {
                let (mapped, tally) = result?;
                total.add(tally);
                mapped.into_iter().for_each(&mut *self.sink);
            }
            meter.advance_to(source.bytes_read());
            match (end, next) {
                (Some(Err(error)), _) => return Err(error),
                (None, Some(next)) => window = next,
                _ => break,
            }
        }
        self.summary(total, source.bytes_read(), format)
    }

    fn summary(&self, total: Tally, bytes: u64, format: Format) -> Result<ReadSummary, ReadError> {
        if total.kept == 0 {
            let reason = match (total.filtered, total.bad_rows.first()) {
                (0, Some(first)) => NoRowsReason::AllBad {
                    bad_rows: total.bad_row_count,
                    first: first.clone(),
                },
                (0, None) => match format {
                    Format::Csv | Format::Tsv => NoRowsReason::HeaderOnly,
                    Format::Folder => NoRowsReason::NoFiles,
                    _ => NoRowsReason::Blank,
                },
                (filtered, _) => NoRowsReason::AllFiltered {
                    rows_read: filtered + total.bad_row_count,
                    filters: self.options.filters.clone(),
                },
            };
            return Err(ReadError::NoRows {
                file: self.file.to_owned(),
                reason,
            });
        }
        Ok(ReadSummary {
            rows: total.kept,
            filtered: total.filtered,
            bad_rows: total.bad_rows,
            bad_row_count: total.bad_row_count,
            bytes,
            format,
        })
    }
}

/// As many pieces as shall be parsed at once.
struct Window<P> {
    pieces: Vec<P>,
    /// Whether and how the source ended behind these pieces.
    end: Option<Result<(), ReadError>>,
}

impl<P> Window<P> {
    /// Two pieces per thread keep all threads busy while one of them reads on. How many there are
    /// has no influence on results, only on memory, so long rows count for several.
    fn read<S: PieceSource<Piece = P>>(source: &mut S) -> Self {
        let room = (2 * rayon::current_num_threads()).clamp(4, 128);
        let mut pieces = Vec::with_capacity(room);
        let mut weight = 0;
        while pieces.len() < room && weight < room * PIECE_BYTES {
            match source.next_piece() {
                Ok(Some(piece)) => {
                    weight += S::weight(&piece);
                    pieces.push(piece);
                }
                Ok(None) => {
                    return Self {
                        pieces,
                        end: Some(Ok(())),
                    };
                }
                Err(error) => {
                    return Self {
                        pieces,
                        end: Some(Err(error)),
                    };
                }
            }
        }
        Self { pieces, end: None }
    }
}

/// Reports how far the source has been read, and the end of it whatever happens.
struct Meter<'a> {
    progress: &'a dyn Progress,
    reported: u64,
}

impl<'a> Meter<'a> {
    fn begin(progress: &'a dyn Progress, size: Option<u64>) -> Self {
        progress.begin("reading", size);
        Self {
            progress,
            reported: 0,
        }
    }

    fn advance_to(&mut self, bytes: u64) {
        if let Some(more) = bytes.checked_sub(self.reported).filter(|&more| more > 0) {
            self.progress.advance(more);
            self.reported = bytes;
        }
    }
}

impl Drop for Meter<'_> {
    fn drop(&mut self) {
        self.progress.end();
    }
}
