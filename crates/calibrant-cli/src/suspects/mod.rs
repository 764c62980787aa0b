//! `calibrant suspects`

mod page;

use std::io::Write;
use std::path::{Path, PathBuf};

use calibrant::Task;
use calibrant::jobs::{PlainTable, RereadError, RereadReport, SuspectList, SuspectSettings};
use calibrant::saved::is_same_file;
use serde::Serialize;

use crate::arguments::SuspectsArguments;
use crate::error::CliError;
use crate::fit::FitJob;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::labels::{note_unlabelled, warn_alike};
use crate::output::{check_target_of, count_of, note, print_json, stdout, write_whole};
use crate::progress::TerminalProgress;
use crate::table::{probability, table};

/// How many labels are shown where no file was asked for.
const SHOWN: usize = 20;

/// Texts are cut after so many characters on the terminal.
const SHOWN_TEXT: usize = 60;

#[derive(Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    list: &'a SuspectList,
    #[serde(skip_serializing_if = "Option::is_none")]
    reread: Option<RereadReport>,
}

pub(crate) fn run(arguments: &SuspectsArguments) -> Result<(), CliError> {
    let training = &arguments.training;
    check(arguments)?;
    let (job, _) = FitJob::new(training, false)?;
    let settings = SuspectSettings {
        most: arguments.most.map(Into::into),
        ..SuspectSettings::default()
    };
    let progress = TerminalProgress::default();
    let (fitted, list) = job.find_suspects(&settings, &progress)?;
    warn_bad_rows(&fitted.read);
    let summary = fitted.model.summary();
    note_unlabelled(&fitted.read, summary.task);
    let classes = summary.classes.iter();
    warn_alike(classes.map(|class| (class.label.as_str(), class.positives)));
    let reread = match &arguments.reread {
        Some(file) => {
            let classes: Vec<&str> = fitted.model.class_names().collect();
            let options = training.reading.rows.options();
            let source = input::source_to_read_twice(file)?;
            let certainty = arguments.certainty.certainty;
            Some(options.read_beside(RereadError::is_of_layout, |options| {
                list.reread(&source, options, certainty, &classes, &progress)
            })?)
        }
        None => None,
    };
    if let Some(path) = &arguments.output {
        list.table().save(path)?;
    }
    if let Some(path) = &arguments.sample {
        let size = arguments.sample_size as usize;
        let sample = list.sample(size, training.learning.folds.seed);
        sample.save(path)?;
        note(&format!(
            "{}: {} of the list, drawn at random; fill in `correct` in every row, then --reread {}",
            path.display(),
            count_of(sample.rows.len(), "label"),
            path.display(),
        ));
    }
    if let Some(path) = &arguments.html {
        let page = page::render(&training.file, &list, reread.as_ref());
        write_whole("--html", page.as_bytes(), path)?;
    }
    show(arguments, &list, reread)
}

/// Refuses what could only fail after the work.
fn check(arguments: &SuspectsArguments) -> Result<(), CliError> {
    let file = &arguments.training.file;
    let lists = [
        ("--output", &arguments.output),
        ("--sample", &arguments.sample),
    ];
    for (option, path) in lists {
        if let Some(path) = path {
            check_list(option, path, file)?;
        }
    }
    if let Some(path) = &arguments.html {
        check_target_of("--html", path, file)?;
    }
    let targets = [&arguments.output, &arguments.sample, &arguments.html];
    let targets: Vec<&PathBuf> = targets.into_iter().flatten().collect();
    for (place, path) in targets.iter().enumerate() {
        if targets[..place]
            .iter()
            .any(|before| is_same_file(before, path))
        {
            return Err(CliError::new("two outputs have the same name")
                .hint("give --output, --sample and --html a file each"));
        }
    }
    if let Some(sample) = &arguments.reread {
        for path in targets {
            check_target_of("output", path, sample)?;
        }
    }
    Ok(())
}

/// A list is written as its ending says, and never over the documents.
pub(crate) fn check_list(option: &str, path: &Path, file: &str) -> Result<(), CliError> {
    if PlainTable::format_of(path).is_err() {
        let message = format!(
            "{option}: cannot recognise the format of `{}` from its extension",
            path.display()
        );
        return Err(CliError::new(message).hint("use .csv, .tsv, .jsonl, .parquet or .xlsx"));
    }
    check_target_of(option, path, file)
}

/// The list in a sentence.
pub(crate) fn summary(list: &SuspectList) -> String {
    let listed = list.suspects.len();
    let what = match list.task {
        Task::SingleLabel => count_of(list.documents, "distinct document"),
        Task::MultiLabel => format!(
            "{} (labels given and labels lacking)",
            count_of(list.documents, "distinct document")
        ),
    };
    let shown = if listed < list.doubted {
        format!("the {listed} most suspect of {}", list.doubted)
    } else {
        listed.to_string()
    };
    format!(
        "{shown} suspect labels in {what}; at most about {:.0} of these are wrong by the model's own count (re-read a sample to know)",
        list.at_most
    )
}

/// What reading a sample again says, in sentences.
pub(super) fn yield_sentence(found: &RereadReport) -> String {
    let share = |count: u64| 100.0 * count as f64 / found.listed.max(1) as f64;
    format!(
        "{} of {} labels read again are wrong: of the {} on the list between {} and {} ({:.0} to {:.0} %) are, with {:.0} % certainty, \
         if the sample was drawn at random and read whole",
        found.wrong,
        found.read,
        found.listed,
        found.lower,
        found.upper,
        share(found.lower),
        share(found.upper),
        100.0 * found.certainty,
    )
}

fn show(
    arguments: &SuspectsArguments,
    list: &SuspectList,
    reread: Option<RereadReport>,
) -> Result<(), CliError> {
    if arguments.json {
        return print_json(&Printed { list, reread });
    }
    let mut out = stdout();
    writeln!(out, "{}", summary(list))?;
    if let Some(found) = &reread {
        writeln!(out, "{}", yield_sentence(found))?;
    }
    if arguments.output.is_none() && reread.is_none() && !list.suspects.is_empty() {
        let key = list.suspects[0].key.column();
        let header = [key, "given", "", "likely", "", "words for it", "text"];
        let mut rows = table(&header, 7);
        for suspect in list.suspects.iter().take(SHOWN) {
            let text: String = suspect.text.chars().take(SHOWN_TEXT).collect();
            rows.add_row(vec![
                suspect.key.text().into_owned(),
                suspect.given.clone(),
                probability(suspect.given_probability),
                suspect.likely.clone(),
                probability(suspect.likely_probability),
                suspect.words.join(" "),
                text,
            ]);
        }
        writeln!(out, "\n{rows}")?;
        if list.suspects.len() > SHOWN {
            writeln!(
                out,
                "… and {} more: -o FILE writes all",
                list.suspects.len() - SHOWN
            )?;
        }
    }
    Ok(out.flush()?)
}

impl From<RereadError> for CliError {
    fn from(error: RereadError) -> Self {
        if let RereadError::Read(error) = error {
            return error.into();
        }
        let hint = match &error {
            RereadError::NoColumn { .. } => {
                "give the file that --sample wrote, with its column `correct` filled in"
            }
            RereadError::NotRead { .. } => {
                "fill in every row: leaving out the hard ones would make the sample no random one"
            }
            RereadError::NotListed { .. } | RereadError::OtherList { .. } => {
                "use the same file and options, --most among them, as when the sample was drawn"
            }
            RereadError::UnknownAnswer { .. } => {
                "write the label that is right: the given one, or another class"
            }
            _ => "give the file that --sample wrote",
        };
        Self::new(error.to_string()).hint(hint)
    }
}
