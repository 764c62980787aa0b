//! `calibrant split`

use std::io::Write;
use std::path::{Path, PathBuf};

use calibrant::corpus::{Fields, LabelNeed};
use calibrant::jobs::{SplitError, SplitReport, SplitSettings, split_source};
use calibrant::saved::is_same_file;

use crate::arguments::SplitArguments;
use crate::error::CliError;
use crate::input;
use crate::output::{check_target_of, count_of, note, print_json, stdout, warn};
use crate::progress::TerminalProgress;
use crate::table::table;

pub(crate) fn run(arguments: &SplitArguments) -> Result<(), CliError> {
    if arguments.file == "-" {
        return Err(CliError::new("standard input cannot be read twice")
            .hint("save it to a file first, and split that"));
    }
    let place = |given: &Option<PathBuf>, side: &str| match given {
        Some(path) => path.clone(),
        None => beside(Path::new(&arguments.file), side),
    };
    let places = [
        place(&arguments.train_out, "train"),
        place(&arguments.test_out, "test"),
    ];
    check_target_of("--train-out", &places[0], &arguments.file)?;
    check_target_of("--test-out", &places[1], &arguments.file)?;
    if is_same_file(&places[0], &places[1]) {
        return Err(CliError::new("both sides would be one file")
            .hint("give --train-out and --test-out different names"));
    }
    let mut fields = arguments.reading.fields(&Fields::default());
    fields.group.clone_from(&arguments.group);
    let options = arguments.reading.options(fields, LabelNeed::IfPresent);
    let settings = SplitSettings {
        test: arguments.test,
        time: arguments.time.clone(),
        date_order: arguments.date_order,
        seed: arguments.seed,
    };
    let source = input::source(&arguments.file);
    let progress = TerminalProgress::default();
    let report = split_source(&source, &options, &settings, &places, &progress)?;
    tell(&report);
    if arguments.json {
        return print_json(&report);
    }
    let mut out = stdout();
    show(&mut out, &report)?;
    Ok(out.flush()?)
}

/// `tickets.train.csv` beside `tickets.csv`, or beside `tickets.csv.gz`: what is written is not compressed. Sheets are written as xlsx.
/// Endings are read in any case.
fn beside(file: &Path, side: &str) -> PathBuf {
    let name = file
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let plain = match name.rsplit_once('.') {
        Some((plain, "gz" | "GZ" | "zst" | "ZST" | "zstd" | "ZSTD")) => plain,
        _ => &name,
    };
    let (stem, ending) = match plain.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => (stem, Some(ending)),
        _ => (plain, None),
    };
    let ending = match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("ods" | "xlsm") => Some("xlsx"),
        Some("pq") => Some("parquet"),
        _ => ending,
    };
    let ending = ending.map_or_else(String::new, |ending| format!(".{ending}"));
    file.with_file_name(format!("{stem}.{side}{ending}"))
}

/// Rows that are on neither side, and a size that is not the one asked for.
fn tell(report: &SplitReport) {
    if report.skipped > 0 {
        let rows = count_of(report.skipped as usize, "malformed row");
        warn(&format!("{rows} skipped: on neither side"));
    }
    if report.filtered > 0 {
        let rows = count_of(report.filtered as usize, "row");
        note(&format!("{rows} that --where leaves out: on neither side"));
    }
    let rows = report.train.rows + report.test.rows;
    let share = report.test.rows as f64 / rows as f64;
    // A row more or less is no matter.
    if (share - report.asked).abs() * rows as f64 > 1.0 && (share - report.asked).abs() > 0.01 {
        note(&format!(
            "{:.1} % of the rows are for testing, not {:.1} %: what belongs together is not divided, and rare labels are on both sides",
            100.0 * share,
            100.0 * report.asked
        ));
    }
}

fn show(out: &mut impl Write, report: &SplitReport) -> Result<(), CliError> {
    let sides = [&report.train, &report.test];
    let mut table = table(&["", "train", "test"], 1);
    let mut line = |name: &str, of: &dyn Fn(usize) -> String| {
        table.add_row([name.to_owned(), of(0), of(1)]);
    };
    line("rows", &|side| sides[side].rows.to_string());
    line("documents", &|side| sides[side].documents.to_string());
    if report.train.groups.is_some() {
        let groups = |side: usize| sides[side].groups.unwrap_or(0).to_string();
        line("groups", &groups);
    }
    let mut labels: Vec<&String> = sides.iter().flat_map(|side| side.labels.keys()).collect();
    labels.sort_unstable();
    labels.dedup();
    for label in labels {
        let count = |side: usize| {
            sides[side]
                .labels
                .get(label)
                .copied()
                .unwrap_or(0)
                .to_string()
        };
        line(label, &count);
    }
    writeln!(out, "{table}")?;
    if report.copies > 0 {
        let copies = count_of(report.copies as usize, "row");
        writeln!(out, "copies: {copies}, on the side of what they copy")?;
    }
    if let Some(from) = &report.test_from {
        writeln!(out, "the test begins with {from}")?;
    }
    for side in sides {
        writeln!(out, "written: {}", side.file)?;
    }
    Ok(())
}

impl From<SplitError> for CliError {
    fn from(error: SplitError) -> Self {
        let message = error.to_string();
        match error {
            SplitError::Read(error) => error.into(),
            SplitError::Write(error) => error.into(),
            SplitError::File(error) => error.into(),
            SplitError::Fit(error) => error.into(),
            SplitError::Share { .. } => Self::new(message).hint("give --test 0.2, for example"),
            SplitError::OneUnit { .. } => {
                Self::new(message).hint("check --text, --group and --time")
            }
            SplitError::AmbiguousDate { .. } => {
                Self::new(message).hint("give --date-order day or --date-order month")
            }
            SplitError::Moment { .. } => {
                Self::new(message).hint("fix that cell, or leave such rows out with --where")
            }
            SplitError::SameFile { .. } => {
                Self::new(message).hint("choose another --train-out or --test-out")
            }
            SplitError::OtherFormat { .. } => Self::new(message)
                .hint("give --train-out and --test-out the ending of the input, without .gz"),
            _ => Self::new(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_called_as_what_is_written() {
        for (file, side) in [
            ("a.csv", "a.train.csv"),
            ("a.b.JSONL.zstd", "a.b.train.JSONL"),
            ("a.csv.GZ", "a.train.csv"),
            ("a.Ods", "a.train.xlsx"),
            ("a.xlsm", "a.train.xlsx"),
            ("a.pq", "a.train.parquet"),
            ("a", "a.train"),
        ] {
            assert_eq!(beside(Path::new(file), "train"), Path::new(side));
        }
    }
}
