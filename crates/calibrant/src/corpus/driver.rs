//! Drives the readers: each format by its own reader, pieces of it parsed in parallel, what comes of them handed on in order.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use super::delimited::{Delimited, Dialect};
use super::error::RowProblem;
use super::json_lines::{JsonLines, object_ends};
use super::lines::{Cutter, RowEnds};
#[cfg(feature = "parquet")]
use super::parquet::ParquetRows;
use super::pieces::{MOST_PIECES, Meter, PieceSource, Window};
use super::plan::{Plan, Row, Value};
use super::rows::{Parsed, RowFormat, Tally, parse_piece};
use super::source::Stream;
#[cfg(feature = "spreadsheet")]
use super::spreadsheet::SheetRows;
use super::vectors::VectorLengths;
use super::{
    Document, Format, KeptFile, NoRowsReason, ReadError, ReadOptions, ReadSummary, Unlabelled,
};
use crate::Progress;
use crate::parallel;

/// Reads rows of type `R`: batches go through `map`, on several threads, and what it makes of them to `sink`, in order.
///
/// `read` knows neither of these types, so that the readers are compiled once for each type of row, not once for each caller.
pub(super) fn read_mapped<R: Row, T: Send>(
    map: impl Fn(Vec<R>) -> T + Sync,
    mut sink: impl FnMut(T) -> ControlFlow<()>,
    read: impl FnOnce(Batches<'_, R>) -> Result<ReadSummary, ReadError>,
) -> Result<ReadSummary, ReadError> {
    let mapped: Vec<Mutex<Option<T>>> = (0..MOST_PIECES).map(|_| Mutex::default()).collect();
    let at = |place: usize| {
        let mapped = mapped[place].lock();
        mapped.unwrap_or_else(PoisonError::into_inner)
    };
    read(Batches {
        map: &|place, rows| {
            let made = map(rows);
            *at(place) = Some(made);
        },
        sink: &mut |place| {
            let made = at(place).take();
            made.map_or(ControlFlow::Continue(()), &mut sink)
        },
    })
}

/// Where batches of rows go. What is made of one is known by the place of its piece in the window.
pub(super) struct Batches<'a, R> {
    /// Makes something of a batch and keeps it.
    map: &'a (dyn Fn(usize, Vec<R>) + Sync),
    /// Hands on what was kept at a place, if anything was.
    sink: &'a mut dyn FnMut(usize) -> ControlFlow<()>,
}

/// What the formats have in common once they are opened.
pub(super) struct Driver<'a, 'b, R> {
    file: &'a str,
    options: &'a ReadOptions,
    progress: &'a dyn Progress,
    batches: Batches<'b, R>,
    /// Whether the sink broke off.
    stopped: bool,
}

impl<'a, 'b, R: Row> Driver<'a, 'b, R> {
    pub(super) fn new(
        file: &'a str,
        options: &'a ReadOptions,
        progress: &'a dyn Progress,
        batches: Batches<'b, R>,
    ) -> Self {
        Self {
            file,
            options,
            progress,
            batches,
            stopped: false,
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

    pub(super) fn plain_lines(
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

    pub(super) fn run<P: PieceSource>(
        &mut self,
        mut source: P,
        size: Option<u64>,
        format: Format,
        parse: impl Fn(P::Piece) -> Result<Parsed<R>, ReadError> + Sync,
    ) -> Result<ReadSummary, ReadError> {
        let map = self.batches.map;
        let finish = |place: usize, parsed: Result<Parsed<R>, ReadError>| {
            let Parsed { rows, tally, .. } = parsed?;
            if !rows.is_empty() {
                map(place, rows);
            }
            Ok(tally)
        };
        let (file, options) = (self.file, self.options);
        let mut lengths = VectorLengths::new(options);
        let mut rows_before = 0;
        // A row's number is known once all before it are counted.
        let mut work = |pieces: Vec<P::Piece>| -> Vec<Result<Tally, ReadError>> {
            let mut parsed = parallel::map_owned(pieces, &parse);
            for outcome in &mut parsed {
                let Ok(piece) = outcome else { continue };
                rows_before = piece.place_behind(rows_before);
                if let Err(error) = lengths.check(piece, file, options) {
                    *outcome = Err(error);
                }
            }
            let numbered = parsed.into_iter().enumerate().collect();
            parallel::map_owned(numbered, |(place, parsed)| finish(place, parsed))
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
                parallel::both(|| ahead.then(|| Window::read(&mut source)), || work(pieces));
            for (place, result) in results.into_iter().enumerate() {
                total.add(result?);
                if (self.batches.sink)(place).is_break() {
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
