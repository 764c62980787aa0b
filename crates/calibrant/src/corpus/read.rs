//! Drives the readers: the next rows are read while the present ones are parsed in parallel.

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use rayon::prelude::*;

use super::delimited::{Delimited, Dialect};
use super::error::RowProblem;
use super::fast_text::FastText;
use super::folder::{Folder, FolderFormat};
use super::json_lines::{JsonLines, object_ends};
use super::lines::{Cutter, PIECE_BYTES, RowEnds};
#[cfg(feature = "parquet")]
use super::parquet::ParquetRows;
use super::plan::{Plan, Row, Value};
use super::rows::{Parsed, RowFormat, Tally, parse_piece};
use super::source::{Opened, Stream, open};
#[cfg(feature = "spreadsheet")]
use super::spreadsheet::SheetRows;
use super::svmlight::SvmLight;
use super::{
    BadRow, Cell, Document, Format, Kept, KeptColumn, KeptFile, KeptRow, NoRowsReason, ReadError,
    ReadOptions, Source,
};
use crate::Progress;
use crate::progress::{Cancelled, Stage};

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
    read_rows(source, options, progress, map, sink)
}

/// As [`read_batches_until`], with the rows themselves where [`ReadOptions::keep`] asks for them.
pub(crate) fn read_kept_batches<T: Send>(
    source: &Source,
    options: &ReadOptions,
    progress: &dyn Progress,
    map: impl Fn(Vec<Kept<Document>>) -> T + Sync,
    sink: impl FnMut(T) -> ControlFlow<()>,
) -> Result<ReadSummary, ReadError> {
    read_rows(source, options, progress, map, sink)
}

fn read_rows<R: Row + From<Document>, T: Send>(
    source: &Source,
    options: &ReadOptions,
    progress: &dyn Progress,
    map: impl Fn(Vec<R>) -> T + Sync,
    mut sink: impl FnMut(T) -> ControlFlow<()>,
) -> Result<ReadSummary, ReadError> {
    let file = source.name();
    let mut driver = Driver::new(&file, options, progress, &map, &mut sink);
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

/// Lines that become documents, kept as they stand.
struct PlainLines<F> {
    format: F,
    kept: Option<Arc<KeptFile>>,
}

impl<R: Row + From<Document>, F: RowFormat> RowFormat<R> for PlainLines<F> {
    fn row_ends(&self) -> RowEnds {
        self.format.row_ends()
    }

    fn is_blank(&self, row: &str) -> bool {
        self.format.is_blank(row)
    }

    fn kept_file(&self) -> Option<&Arc<KeptFile>> {
        self.kept.as_ref()
    }

    fn row<'a>(
        &self,
        row: &'a str,
        line: u64,
        values: &mut Vec<Value<'a>>,
    ) -> Result<Option<R>, RowProblem> {
        Ok(self.format.row(row, line, values)?.map(R::from))
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

    /// Whether whoever writes the source may wait for answers to what is written so far.
    fn is_live(&self) -> bool {
        false
    }

    /// Whether [`Self::next_piece`] need not wait.
    fn is_ready(&mut self) -> bool {
        true
    }

    /// Bytes taken from the source so far.
    fn bytes_read(&self) -> u64;

    /// Roughly the bytes a piece occupies.
    fn weight(piece: &Self::Piece) -> usize;
}

/// What the formats have in common once they are opened. Rows of type `R` go through `map`, and
/// what it makes of them, `T`, to `sink`.
pub(super) struct Driver<'a, R, T, M, S> {
    file: &'a str,
    options: &'a ReadOptions,
    progress: &'a dyn Progress,
    map: &'a M,
    sink: &'a mut S,
    /// Whether `sink` broke off.
    stopped: bool,
    kinds: PhantomData<fn(R) -> T>,
}

impl<'a, R, T, M, S> Driver<'a, R, T, M, S>
where
    R: Row,
    T: Send,
    M: Fn(Vec<R>) -> T + Sync,
    S: FnMut(T) -> ControlFlow<()>,
{
    pub(super) fn new(
        file: &'a str,
        options: &'a ReadOptions,
        progress: &'a dyn Progress,
        map: &'a M,
        sink: &'a mut S,
    ) -> Self {
        Self {
            file,
            options,
            progress,
            map,
            sink,
            stopped: false,
            kinds: PhantomData,
        }
    }

    pub(super) fn delimited(
        &mut self,
        stream: Stream,
        format: Format,
    ) -> Result<ReadSummary, ReadError> {
        let size = stream.size;
        let options = self.options;
        let fits = |header: &[String]| Plan::<R>::missing(options, header).is_none();
        let dialect = Dialect::of(format, &options.layout, &stream.head, fits);
        let style = dialect.style(&stream.head, &options.layout, &stream.style);
        let mut cutter = Cutter::new(stream, dialect.row_ends(), self.options.max_row_bytes);
        let rows = Delimited::<R>::new(&mut cutter, dialect, style, self.file, self.options)?;
        self.lines(cutter, size, dialect.format(), &rows)
    }

    pub(super) fn json_lines(&mut self, mut stream: Stream) -> Result<ReadSummary, ReadError> {
        let size = stream.size;
        let ends = object_ends(&mut stream);
        let style = stream.style.clone();
        let mut cutter = Cutter::new(stream, ends, self.options.max_row_bytes);
        let rows = JsonLines::<R>::new(&mut cutter, ends, style, self.file, self.options)?;
        self.lines(cutter, size, Format::JsonLines, &rows)
    }

    #[cfg(feature = "parquet")]
    pub(super) fn parquet(&mut self, stream: Stream) -> Result<ReadSummary, ReadError> {
        let (file, options) = (self.file, self.options);
        let (rows, plan) = ParquetRows::open::<R>(stream, options)?;
        let size = Some(rows.size());
        self.run(rows, size, Format::Parquet, |piece| {
            piece.parse(&plan, file, options)
        })
    }

    #[cfg(not(feature = "parquet"))]
    pub(super) fn parquet(&mut self, stream: Stream) -> Result<ReadSummary, ReadError> {
        Err(ReadError::FormatLeftOut {
            file: stream.name,
            format: Format::Parquet,
        })
    }

    #[cfg(feature = "spreadsheet")]
    pub(super) fn spreadsheet(
        &mut self,
        stream: Stream,
        format: Format,
    ) -> Result<ReadSummary, ReadError> {
        let (file, options) = (self.file, self.options);
        let (rows, plan) = SheetRows::open::<R>(stream, format, options)?;
        let size = Some(rows.size());
        let sheet = rows.sheet.clone();
        let summary = self.run(rows, size, format, |piece| {
            piece
                .parse(&plan, file, options)
                .map(|parsed| parsed.on_sheet(&sheet))
                .map_err(|error| error.on_sheet(&sheet))
        })?;
        plan.decimals.check(file, &plan.columns)?;
        Ok(summary)
    }

    #[cfg(not(feature = "spreadsheet"))]
    pub(super) fn spreadsheet(
        &mut self,
        stream: Stream,
        format: Format,
    ) -> Result<ReadSummary, ReadError> {
        Err(ReadError::FormatLeftOut {
            file: stream.name,
            format,
        })
    }

    fn plain_lines(
        &mut self,
        stream: Stream,
        format: Format,
        column: &str,
        rows: impl RowFormat,
    ) -> Result<ReadSummary, ReadError>
    where
        R: From<Document>,
    {
        let size = stream.size;
        let kept = R::keeps(self.options)
            .then(|| Arc::new(KeptFile::of_lines(column, stream.style.clone())));
        let cutter = Cutter::new(stream, rows.row_ends(), self.options.max_row_bytes);
        let rows = PlainLines { format: rows, kept };
        self.lines(cutter, size, format, &rows)
    }

    fn lines(
        &mut self,
        cutter: Cutter,
        size: Option<u64>,
        format: Format,
        rows: &impl RowFormat<R>,
    ) -> Result<ReadSummary, ReadError> {
        let (file, options) = (self.file, self.options);
        let summary = self.run(cutter, size, format, |piece| {
            parse_piece(rows, &piece, file, options)
        });
        // A filter on a field that is in no row leaves none.
        let reason = match &summary {
            Err(ReadError::NoRows { reason, .. }) => Some(reason),
            _ => None,
        };
        if summary.is_ok() || matches!(reason, Some(NoRowsReason::AllFiltered { .. })) {
            rows.check(file, options, !self.stopped)?;
        }
        summary
    }

    fn run<P: PieceSource>(
        &mut self,
        mut source: P,
        size: Option<u64>,
        format: Format,
        parse: impl Fn(P::Piece) -> Result<Parsed<R>, ReadError> + Sync,
    ) -> Result<ReadSummary, ReadError> {
        let map = self.map;
        let finish =
            |parsed: Result<Parsed<R>, ReadError>| -> Result<(Option<T>, Tally), ReadError> {
                let Parsed { rows, tally, .. } = parsed?;
                Ok(((!rows.is_empty()).then(|| map(rows)), tally))
            };
        let mut rows_before = 0;
        // A row's number is known once all before it are counted.
        let mut work = |pieces: Vec<P::Piece>| -> Vec<Result<(Option<T>, Tally), ReadError>> {
            let pieces = pieces.into_par_iter().with_max_len(1);
            let mut parsed: Vec<_> = pieces.map(&parse).collect();
            for piece in parsed.iter_mut().flatten() {
                rows_before = piece.place_behind(rows_before);
            }
            let parsed = parsed.into_par_iter().with_max_len(1);
            parsed.map(finish).collect()
        };
        let mut meter = Meter::begin(self.progress, size);
        let mut total = Tally::default();
        let mut window = Window::read(&mut source);
        loop {
            let Window { pieces, end } = window;
            let more = end.is_none();
            // Whoever waits for answers writes nothing more before they come.
            let ahead = more && !source.is_live();
            let (mut next, results) =
                rayon::join(|| ahead.then(|| Window::read(&mut source)), || work(pieces));
            for result in results {
                let (mapped, tally) = result?;
                total.add(tally);
                if mapped.into_iter().try_for_each(&mut *self.sink).is_break() {
                    self.stopped = true;
                    return self.summary(total, source.bytes_read(), format);
                }
            }
            meter.advance_to(source.bytes_read())?;
            if more && next.is_none() {
                next = Some(Window::read(&mut source));
            }
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
                    first: Box::new(first.clone()),
                },
                (0, None) if total.unlabelled > 0 => NoRowsReason::NoLabels {
                    rows: total.unlabelled,
                },
                (0, None) => match format {
                    Format::Csv | Format::Tsv | Format::Xlsx | Format::Ods => {
                        NoRowsReason::HeaderOnly
                    }
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
            unlabelled: total.first_unlabelled.map(|first_line| Unlabelled {
                rows: total.unlabelled,
                first_line,
            }),
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
        let most = (2 * rayon::current_num_threads()).clamp(4, 128);
        let mut pieces = Vec::with_capacity(most);
        let mut weight = 0;
        while pieces.len() < most && weight < most * PIECE_BYTES {
            if !pieces.is_empty() && !source.is_ready() {
                break;
            }
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

/// Reports how far the source has been read.
struct Meter<'a> {
    stage: Stage<'a>,
    reported: u64,
}

impl<'a> Meter<'a> {
    fn begin(progress: &'a dyn Progress, size: Option<u64>) -> Self {
        Self {
            stage: Stage::begin(progress, "reading", size),
            reported: 0,
        }
    }

    fn advance_to(&mut self, bytes: u64) -> Result<(), Cancelled> {
        let more = bytes.saturating_sub(self.reported);
        self.reported += more;
        self.stage.step(more)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::super::testing::{gzip, read, text_of};
    use super::super::{Fields, Filter};
    use super::*;
    use crate::NoProgress;

    /// JSON Lines of about three mebibytes, so that there are several pieces and windows.
    fn long_file() -> Vec<u8> {
        let mut text = String::new();
        for number in 0..30_000 {
            let filler = "word ".repeat(number % 37);
            let label = number % 3;
            text.push_str(&format!(
                "{{\"text\":\"{number} {filler}\",\"label\":{label}}}\n"
            ));
        }
        text.into_bytes()
    }

    fn temporary(bytes: &[u8]) -> (tempfile::NamedTempFile, Source) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let source = Source::Path(file.path().to_owned());
        (file, source)
    }

    fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
            .install(work)
    }

    #[test]
    fn batches_come_in_order_and_do_not_depend_on_the_number_of_threads() {
        let (_file, source) = temporary(&gzip(&long_file()));
        let batches = |threads| {
            with_threads(threads, || {
                let mut batches: Vec<Vec<Document>> = Vec::new();
                let options = ReadOptions::default();
                let push = |batch| batches.push(batch);
                let summary = read_batches(&source, &options, &NoProgress, |batch| batch, push);
                (batches, summary.unwrap())
            })
        };
        let (one, summary) = batches(1);
        assert!(
            one.len() > 2,
            "the test needs several batches, there are {}",
            one.len()
        );
        assert_eq!((&one, &summary), (&batches(4).0, &batches(4).1));
        assert_eq!(summary.rows, 30_000);
        let lines: Vec<u64> = one.iter().flatten().map(|document| document.line).collect();
        assert_eq!(lines, (1..=30_000).collect::<Vec<u64>>());
    }

    #[test]
    fn reading_ends_where_the_sink_breaks_off() {
        let (_file, source) = temporary(&long_file());
        let mut batches = 0;
        let outcome = read_batches_until(
            &source,
            &ReadOptions::default(),
            &NoProgress,
            |batch| batch.len() as u64,
            |_| {
                batches += 1;
                ControlFlow::Break(())
            },
        );
        assert_eq!(batches, 1);
        assert!(outcome.unwrap().rows < 30_000);
    }

    #[test]
    fn the_first_bad_row_in_file_order_is_reported() {
        let mut bytes = long_file();
        let breaks: Vec<usize> = memchr::memchr_iter(b'\n', &bytes).collect();
        bytes[breaks[19_998] + 1] = b'?';
        bytes[breaks[29_988] + 1] = b'!';
        let (_file, source) = temporary(&bytes);
        for threads in [1, 4] {
            let mut seen = 0;
            let outcome = with_threads(threads, || {
                let count = |batch: Vec<Document>| batch.len();
                let options = ReadOptions::default();
                read_batches(&source, &options, &NoProgress, count, |rows| seen += rows)
            });
            assert!(matches!(outcome, Err(ReadError::BadRow(row)) if row.line == 20_000));
            assert!(
                seen > 5000 && seen < 20_000,
                "{seen} rows came before the bad one"
            );
        }
        let skipping = ReadOptions {
            skip_bad_rows: true,
            ..ReadOptions::default()
        };
        let (_, summary) = read_all(&source, &skipping, &NoProgress).unwrap();
        assert_eq!((summary.rows, summary.bad_row_count), (29_998, 2));
        assert_eq!(summary.bad_rows[0].line, 20_000);
    }

    #[test]
    fn rows_have_their_numbers_in_the_file_whatever_is_left_out() {
        let mut bytes = long_file();
        let breaks: Vec<usize> = memchr::memchr_iter(b'\n', &bytes).collect();
        bytes[breaks[7] + 1] = b'?';
        bytes[breaks[9] + 1] = b'\n';
        let (_file, source) = temporary(&bytes);
        let options = ReadOptions {
            skip_bad_rows: true,
            filters: vec!["label!=1".parse().unwrap()],
            ..ReadOptions::default()
        };
        for threads in [1, 4] {
            let read = || read_all(&source, &options, &NoProgress).unwrap();
            let (documents, summary) = with_threads(threads, read);
            assert_eq!((documents.len(), summary.bad_row_count), (19_999, 2));
            for (document, text) in documents.iter().zip(text_of(&documents)) {
                let number: u64 = text.split(' ').next().unwrap().parse().unwrap();
                assert_eq!(document.row, number + 1);
            }
        }
    }

    #[test]
    fn rows_before_a_cut_in_the_compressed_data_are_still_handed_on() {
        let packed = gzip(&long_file());
        let (_file, source) = temporary(&packed[..packed.len() * 9 / 10]);
        let mut rows = 0;
        let count = |batch: Vec<Document>| batch.len();
        let options = ReadOptions::default();
        let outcome = read_batches(&source, &options, &NoProgress, count, |more| rows += more);
        assert!(
            matches!(outcome, Err(ReadError::Compressed { .. })),
            "{outcome:?}"
        );
        assert!(rows > 10_000);
    }

    #[derive(Default)]
    struct Recorder(Mutex<Vec<String>>, AtomicU64);

    impl Progress for Recorder {
        fn begin(&self, stage: &str, total: Option<u64>) {
            self.0
                .lock()
                .unwrap()
                .push(format!("{stage} {}", total.unwrap_or(0)));
        }
        fn advance(&self, amount: u64) -> ControlFlow<()> {
            self.1
                .fetch_add(amount, std::sync::atomic::Ordering::Relaxed);
            ControlFlow::Continue(())
        }
        fn end(&self) {
            self.0.lock().unwrap().push("end".into());
        }
    }

    #[test]
    fn progress_counts_the_stored_bytes_and_always_ends() {
        let packed = gzip(&long_file());
        let (_file, source) = temporary(&packed);
        let recorder = Recorder::default();
        let (_, summary) = read_all(&source, &ReadOptions::default(), &recorder).unwrap();
        let size = packed.len() as u64;
        assert_eq!(
            *recorder.0.lock().unwrap(),
            [format!("reading {size}"), "end".into()]
        );
        assert_eq!((recorder.1.into_inner(), summary.bytes), (size, size));

        let (_file, source) = temporary(b"{\"text\":\"x\",\"label\":1}\n!\n");
        let recorder = Recorder::default();
        read_all(&source, &ReadOptions::default(), &recorder).unwrap_err();
        assert_eq!(recorder.0.lock().unwrap().last().unwrap(), "end");
    }

    #[test]
    fn reading_ends_when_nobody_wants_it_any_more() {
        let source = Source::bytes("long.jsonl", long_file().repeat(20));
        let mut rows = 0;
        let outcome = read_batches(
            &source,
            &ReadOptions::default(),
            &crate::progress::EndsAfter::questions(1),
            |batch| batch.len(),
            |batch| rows += batch,
        );
        assert!(matches!(outcome, Err(ReadError::Cancelled)));
        assert!((1..600_000).contains(&rows), "{rows} of 600000 rows");
    }

    #[test]
    fn a_huge_line_is_refused_and_a_long_one_is_read() {
        let row = |length: usize| {
            let text = "x".repeat(length);
            format!("{{\"text\":\"a\",\"label\":1}}\n{{\"text\":\"{text}\",\"label\":1}}\n")
        };
        let options = ReadOptions {
            max_row_bytes: 4 << 20,
            ..ReadOptions::default()
        };
        let (documents, _) = read(row(3 << 20).as_bytes(), &options).unwrap();
        assert_eq!(text_of(&documents)[1].len(), 3 << 20);
        for (length, limit) in [(6 << 20, 4 << 20), (5000, 1000)] {
            let options = ReadOptions {
                max_row_bytes: limit,
                ..ReadOptions::default()
            };
            let error = read(row(length).as_bytes(), &options).unwrap_err();
            assert!(
                matches!(error, ReadError::RowTooLong { line: 2, .. }),
                "{error}"
            );
        }
    }

    #[test]
    fn a_quote_that_is_never_closed_cannot_fill_the_memory() {
        let mut text = b"text,label\n\"".to_vec();
        text.extend(b"a line\n".repeat(1 << 20));
        let options = ReadOptions {
            format: Some(Format::Csv),
            max_row_bytes: 2 << 20,
            ..ReadOptions::default()
        };
        let error = read(&text, &options).unwrap_err();
        assert!(
            matches!(error, ReadError::RowTooLong { line: 2, .. }),
            "{error}"
        );
    }

    #[test]
    fn missing_empty_and_misplaced_sources_are_explained() {
        let options = ReadOptions::default();
        let read = |source: &Source, options: &ReadOptions| {
            read_all(source, options, &NoProgress).unwrap_err()
        };
        let error = read(&Source::Path("/no/such/file.csv".into()), &options);
        assert_eq!(
            error.to_string(),
            "/no/such/file.csv: no such file or folder"
        );
        let folder = tempfile::tempdir().unwrap();
        let source = Source::Path(folder.path().to_owned());
        let csv = ReadOptions {
            format: Some(Format::Csv),
            ..ReadOptions::default()
        };
        assert!(matches!(read(&source, &csv), ReadError::IsDirectory { .. }));
        assert!(matches!(
            read(&source, &options),
            ReadError::IsDirectory { .. }
        ));
        let (_file, source) = temporary(b"");
        assert!(matches!(read(&source, &options), ReadError::Empty { .. }));
        let (_file, source) = temporary(b"what is this?");
        assert!(matches!(
            read(&source, &options),
            ReadError::UnknownFormat { .. }
        ));
        let as_folder = ReadOptions {
            format: Some(Format::Folder),
            ..ReadOptions::default()
        };
        assert!(matches!(
            read(&source, &as_folder),
            ReadError::NotADirectory { .. }
        ));
        let (_file, source) = temporary(b" \n\n{");
        let skipping = ReadOptions {
            skip_bad_rows: true,
            ..ReadOptions::default()
        };
        let error = read(&source, &skipping).to_string();
        assert!(
            error.contains("all 1 rows are malformed; the first:"),
            "{error}"
        );
    }

    #[test]
    fn filters_that_leave_nothing_are_named() {
        let filters: Vec<Filter> = vec!["label=7".parse().unwrap(), "text=a".parse().unwrap()];
        let options = ReadOptions {
            filters,
            ..ReadOptions::default()
        };
        let error = read(b"{\"text\":\"a\",\"label\":1}\n", &options)
            .unwrap_err()
            .to_string();
        assert!(
            error.ends_with("none of the 1 rows passes the filter label=7 and text=a"),
            "{error}"
        );
    }

    #[test]
    fn every_format_gives_the_same_documents() {
        let expected = ["a quick note", "buy now"];
        let options = |format| ReadOptions {
            format,
            ..ReadOptions::default()
        };
        let csv = "text,label\na quick note,ham\nbuy now,spam\n";
        let tsv = csv.replace(',', "\t");
        let json = "{\"text\":\"a quick note\",\"label\":\"ham\"}\n{\"label\":\"spam\",\"text\":\"buy now\"}";
        let fast_text = "__label__ham a quick note\n__label__spam buy now";
        for (text, format) in [
            (csv, Some(Format::Csv)),
            (&tsv, Some(Format::Tsv)),
            (json, None),
            (fast_text, None),
        ] {
            let crlf = text.replace('\n', "\r\n");
            for text in [text, &crlf, &format!("\u{FEFF}{text}")] {
                let (documents, _) = read(text.as_bytes(), &options(format)).unwrap();
                assert_eq!(text_of(&documents), expected);
                assert_eq!(documents[1].labels, ["spam"]);
            }
        }
        let fields = Fields {
            text: vec!["text".into(), "label".into()],
            ..Fields::default()
        };
        let joined = ReadOptions {
            fields,
            ..options(Some(Format::Csv))
        };
        let (documents, _) = read(csv.as_bytes(), &joined).unwrap();
        assert_eq!(text_of(&documents)[1], "buy now\n\u{1F}spam");
    }
}
