//! One file to two: what is learned from, and what the model is tested on.

mod choose;
mod moments;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use moments::DateOrder;

use super::WritePredictionsError;
use super::predictions::{LineWriter, PredictionFormat, TableWriter};
use crate::corpus::{
    Document, Format, Kept, KeptFile, KeptRow, LabelNeed, ReadError, ReadOptions, ReadSummary,
    Source, read_kept_batches,
};
use crate::saved::{AtomicFile, WriteError, is_same_file};
use crate::{FitError, Progress};
use moments::MomentProblem;
use rows::Rows;

/// How a file is divided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SplitSettings {
    /// The share of rows to test on, above 0 and below 1.
    pub test: f64,
    /// The field that says when a document was: the newest are for testing.
    pub time: Option<String>,
    /// What comes first in dates such as 3/4/2024; `None` means as dates of the column show that can be read in one way only.
    pub date_order: Option<DateOrder>,
    /// Chooses among equally good divisions.
    pub seed: u64,
}

impl Default for SplitSettings {
    fn default() -> Self {
        Self {
            test: 0.2,
            time: None,
            date_order: None,
            seed: 1,
        }
    }
}

/// One of the two files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SplitSide {
    /// Where it is.
    pub file: String,
    /// Rows of it.
    pub rows: u64,
    /// Different documents, as models of words see them: copies count once.
    pub documents: u64,
    /// Groups, where a field says which documents belong together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u64>,
    /// Rows of each label; rows without one are not among them.
    pub labels: BTreeMap<String, u64>,
}

/// How a file was divided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SplitReport {
    /// What to learn from.
    pub train: SplitSide,
    /// What to test on.
    pub test: SplitSide,
    /// Rows that are copies of others; they are on the side of what they are copies of.
    pub copies: u64,
    /// Rows that belong together are not divided: so many units there were to choose from.
    pub units: u64,
    /// The share of rows to test on that was asked for.
    pub asked: f64,
    /// The first moment of the test, as the file writes it, where the newest are for testing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_from: Option<String>,
    /// Rows that a filter left out: they are on neither side.
    pub filtered: u64,
    /// Malformed rows that were skipped: they are on neither side.
    pub skipped: u64,
}

/// Why a file cannot be divided.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A side cannot be written.
    #[error(transparent)]
    Write(#[from] WritePredictionsError),
    /// A side cannot be begun, or given its name.
    #[error(transparent)]
    File(#[from] WriteError),
    /// Documents cannot be told apart.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The share of the test is no share.
    #[error("{found} of the rows cannot be for testing: the share must lie above 0 and below 1")]
    Share {
        /// What was asked for.
        found: f64,
    },
    /// Nothing can be divided.
    #[error(
        "{rows} rows belong together, all of them (copies, groups or moments), and cannot be divided"
    )]
    OneUnit {
        /// Rows there are.
        rows: u64,
    },
    /// It must be read twice.
    #[error("{file}: is read twice, which a pipe cannot be")]
    ReadOnce {
        /// The source.
        file: String,
    },
    /// What is written would overwrite the other side, or what is read.
    #[error(
        "`{file}` would be written over: the file to divide and its two sides must be three files"
    )]
    SameFile {
        /// A side.
        file: String,
    },
    /// The name of a side says something else than its rows are.
    #[error(
        "`{file}`: the ending says another format than that of the rows, which are written as they stand and not compressed"
    )]
    OtherFormat {
        /// The side.
        file: String,
    },
    /// A folder has no rows.
    #[error("{file}: a folder of texts cannot be divided; its files can be moved")]
    Folder {
        /// The source.
        file: String,
    },
    /// A cell says nothing of time.
    #[error("{file}, line {line}, field `{field}`: {reason}")]
    Moment {
        /// The source.
        file: String,
        /// Where the row starts.
        line: u64,
        /// The field.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Day and month cannot be told apart.
    #[error(
        "{file}, line {line}, field `{field}`: `{cell}` may have the day or the month first, and no other date tells"
    )]
    AmbiguousDate {
        /// The source.
        file: String,
        /// Where the row starts.
        line: u64,
        /// The field.
        field: String,
        /// The date.
        cell: String,
    },
    /// Somebody wrote to it.
    #[error("{file}: changed while it was read")]
    Changed {
        /// The source.
        file: String,
    },
}

/// Divides the rows of a file into one to learn from and one to test on, each in the order of the file. Rows of text are written as they stand,
/// to the byte; Parquet and spreadsheets are written anew with the same columns.
///
/// Copies (documents that a model of words cannot tell apart) are on one side, and so are documents of a group
/// ([`Fields::group`](crate::corpus::Fields::group)), and groups that share a copy. Labels, where the file has them, are as common on
/// both sides as whole units allow, and every label of several units is on both. What the rows say decides, not their order.
///
/// With [`SplitSettings::time`] the newest rows are for testing, those of one moment together; a document with copies is as new as its newest
/// copy, so that nothing is learned from what comes after the test begins.
///
/// # When it misleads
/// Documents that say nearly the same (a message and a reply that quotes it) are no copies: give their group. A test of the same time as what was
/// learned from says nothing of how a model ages.
///
/// ```
/// use calibrant::NoProgress;
/// use calibrant::corpus::{ReadOptions, Source};
/// use calibrant::jobs::{SplitSettings, split_source};
/// # let folder = tempfile::tempdir()?;
/// let rows = (0..20).map(|n| format!("{},word{n}\n", ["ham", "spam"][n % 2]));
/// let table = Source::bytes("mail.csv", format!("label,text\n{}", rows.collect::<String>()).into_bytes());
/// let places = [folder.path().join("train.csv"), folder.path().join("test.csv")];
/// let report = split_source(&table, &ReadOptions::default(), &SplitSettings::default(), &places, &NoProgress)?;
/// assert_eq!((report.train.rows, report.test.rows), (16, 4)); // by hand: a fifth of 20
/// assert_eq!(report.test.labels["spam"], 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn split_source(
    source: &Source,
    options: &ReadOptions,
    settings: &SplitSettings,
    places: &[PathBuf; 2],
    progress: &dyn Progress,
) -> Result<SplitReport, SplitError> {
    if !(settings.test > 0.0 && settings.test < 1.0) {
        return Err(SplitError::Share {
            found: settings.test,
        });
    }
    let file = source.name();
    if !source.can_be_read_again() {
        return Err(SplitError::ReadOnce { file });
    }
    if let Source::Path(path) = source
        && path.is_dir()
    {
        return Err(SplitError::Folder { file });
    }
    check_places(source, places)?;
    let options = rows::options_of(source, options, settings)?;
    let (rows, read) = Rows::read(source, &options, progress)?;
    let units = rows.units(&file, settings)?;
    let chosen = match settings.time {
        Some(_) => choose::by_time(&units.units, settings.test),
        None => choose::by_class(&units.units, settings.test, settings.seed),
    };
    let test: Vec<bool> = units
        .of_row
        .iter()
        .map(|&unit| chosen[unit as usize])
        .collect();
    if test.iter().all(|&side| side) || !test.iter().any(|&side| side) {
        return Err(SplitError::OneUnit {
            rows: test.len() as u64,
        });
    }
    write(source, &options, &test, places, progress)?;
    Ok(report(&rows, &units, &test, &read, settings, places))
}

/// Three files are three files, however they are spelt.
fn check_places(source: &Source, places: &[PathBuf; 2]) -> Result<(), SplitError> {
    let [train, test] = places;
    let is_source = |place: &&PathBuf| match source {
        Source::Path(path) => is_same_file(path, place),
        _ => false,
    };
    let taken = places.iter().find(is_source);
    match taken.or(is_same_file(train, test).then_some(test)) {
        None => Ok(()),
        Some(place) => Err(SplitError::SameFile {
            file: place.display().to_string(),
        }),
    }
}

/// Refuses a name under which rows of text would not be read again as what they are.
fn check_ending(place: &Path, source: Option<Format>, file: &KeptFile) -> Result<(), SplitError> {
    let delimiter = file.style().delimiter.byte();
    let delimited = file.is_divided_by(delimiter);
    let fits = |ending: Format| match ending {
        Format::Csv => delimited,
        Format::Tsv => delimited && delimiter == b'\t',
        Format::JsonLines => file.has_objects(),
        Format::FastText | Format::SvmLight => !delimited && !file.has_objects(),
        _ => false,
    };
    let ending = place.extension().unwrap_or_default().to_ascii_lowercase();
    let packed = ["gz", "zst", "zstd"].iter().any(|packed| ending == *packed);
    let named = Format::of_path(place);
    match !packed && named.is_none_or(|named| source == Some(named) || fits(named)) {
        true => Ok(()),
        false => Err(SplitError::OtherFormat {
            file: place.display().to_string(),
        }),
    }
}

fn report(
    rows: &Rows,
    units: &rows::Units,
    test: &[bool],
    read: &ReadSummary,
    settings: &SplitSettings,
    places: &[PathBuf; 2],
) -> SplitReport {
    let [train, tested] = [false, true].map(|side| {
        let file = &places[usize::from(side)];
        rows.side(test, side, &file.display().to_string())
    });
    SplitReport {
        copies: rows.copies(),
        units: units.units.len() as u64,
        asked: settings.test,
        test_from: units.first_moment(rows, test),
        filtered: read.filtered,
        skipped: read.bad_row_count,
        train,
        test: tested,
    }
}

/// One side while it is written.
struct SideFile {
    file: AtomicFile,
    place: PathBuf,
    /// What the name of the file that is divided says of its format.
    source: Option<Format>,
    rows: Option<SideRows>,
}

enum SideRows {
    Table(TableWriter<'static>),
    Lines(LineWriter<'static>),
}

impl SideFile {
    fn create(place: &Path, source: Option<Format>) -> Result<Self, SplitError> {
        Ok(Self {
            file: AtomicFile::create(place)?,
            place: place.to_owned(),
            source,
            rows: None,
        })
    }

    fn row(&mut self, row: &KeptRow) -> Result<(), SplitError> {
        if self.rows.is_none() {
            let out = Box::new(BufWriter::new(self.file.writer()?));
            let file = row.file();
            let format = PredictionFormat::of_path(&self.place);
            let delimited = file.is_divided_by(file.style().delimiter.byte());
            if file.is_text() {
                check_ending(&self.place, self.source, file)?;
            }
            self.rows = Some(match file.is_text() && !delimited {
                true => SideRows::Lines(LineWriter::new(out, file)),
                false => {
                    let format = match (delimited, format) {
                        (true, _) => PredictionFormat::Csv,
                        (false, Some(format)) => format,
                        (false, None) => {
                            let path = self.place.clone();
                            return Err(WritePredictionsError::Ending { path }.into());
                        }
                    };
                    let table = TableWriter::begin(out, format, Some(file), Vec::new(), true)?;
                    SideRows::Table(table)
                }
            });
        }
        match &mut self.rows {
            Some(SideRows::Table(table)) => table.row(Some(row), &[])?,
            Some(SideRows::Lines(lines)) => lines.row(row)?,
            None => {}
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), SplitError> {
        match self.rows.take() {
            Some(SideRows::Table(table)) => table.finish()?,
            Some(SideRows::Lines(lines)) => lines.finish()?,
            None => {}
        }
        Ok(())
    }
}

/// Reads the file once more and writes each row to its side.
fn write(
    source: &Source,
    options: &ReadOptions,
    test: &[bool],
    places: &[PathBuf; 2],
    progress: &dyn Progress,
) -> Result<(), SplitError> {
    let named = Format::of_path(Path::new(&source.name()));
    let [train, test_place] = places;
    let mut files = [
        SideFile::create(train, named)?,
        SideFile::create(test_place, named)?,
    ];
    let options = ReadOptions {
        keep: true,
        ..options.clone()
    };
    let mut next = test.iter();
    let mut failure = None;
    let changed = || SplitError::Changed {
        file: source.name(),
    };
    let kept = |documents: Vec<Kept<Document>>| -> Vec<Option<KeptRow>> {
        documents
            .into_iter()
            .map(|document| document.kept)
            .collect()
    };
    read_kept_batches(source, &options, progress, kept, |batch| {
        let written = batch
            .into_iter()
            .try_for_each(|row| match (row, next.next()) {
                (Some(row), Some(&side)) => files[usize::from(side)].row(&row),
                _ => Err(changed()),
            });
        match written {
            Ok(()) => std::ops::ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                std::ops::ControlFlow::Break(())
            }
        }
    })?;
    if let Some(error) = failure {
        return Err(error);
    }
    if next.next().is_some() {
        return Err(changed());
    }
    for file in &mut files {
        file.close()?;
    }
    // Nothing has a name yet: from here on only the disk can fail.
    for file in files {
        file.file.finish()?;
    }
    Ok(())
}

/// What is wrong with a moment, for people.
fn problem(problem: MomentProblem, cell: &str) -> String {
    let shown: String = cell.chars().take(40).collect();
    match problem {
        MomentProblem::Unreadable if shown.trim().is_empty() => "the moment is missing".to_owned(),
        MomentProblem::OtherKind => {
            format!("`{shown}` is a date among numbers, or a number among dates")
        }
        MomentProblem::Mixed => {
            format!("`{shown}` has day and month in another order than dates above it")
        }
        MomentProblem::Unreadable | MomentProblem::Ambiguous => format!(
            "`{shown}` is no date, such as 2024-03-31, 2024-03-31T10:00:00Z, 31.3.2024, 31 Mar 2024, and no number"
        ),
    }
}

/// Labels are read where the file has them.
const LABELS: LabelNeed = LabelNeed::IfPresent;
