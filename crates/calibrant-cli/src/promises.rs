//! Promises on the command line: the examples that they rest on, and what is said about them.

use std::io::Write;

use calibrant::corpus::{Fields, LabelNeed, ReadError, ReadOptions};
use calibrant::decision::CalibrationSource;
use calibrant::jobs::{
    AnswerSummary, CalibrationExamples, FAverage, FSummary, LabelledForecasts, PromiseError,
    PromiseSummary, SeenPromises, SetSummary,
};
use calibrant::pipeline::Model;

use crate::arguments::{EvaluateArguments, PromiseArguments, ReadArguments};
use crate::error::CliError;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::labels::note_unlabelled;
use crate::output::{count_of, note, warn};
use crate::progress::TerminalProgress;

/// How many classes a note lists.
const CLASSES_SHOWN: usize = 10;

/// Reads what promises rest on, if a file is named.
pub(crate) fn examples(
    model: &Model,
    promises: &PromiseArguments,
    reading: &ReadArguments,
    documents: &str,
) -> Result<Option<CalibrationExamples>, CliError> {
    let Some(file) = &promises.calibration else {
        return Ok(None);
    };
    if file == "-" && documents == "-" {
        return Err(
            CliError::new("standard input cannot be both the documents and --calibration")
                .hint("name a file for one of them"),
        );
    }
    if !promises.is_given() {
        return Err(CliError::new(
            "--calibration is for --sets and --max-error, and neither is given",
        )
        .hint("add --sets 0.9 or --max-error 0.02, or leave it out"));
    }
    // Fields are called alike in both files; which rows are meant is each file's own.
    let fields = Fields {
        id: None,
        ..reading.fields(&Fields::default())
    };
    let options = reading.options(fields, LabelNeed::Required);
    let skip_bad_rows = options.skip_bad_rows;
    let source = input::source_to_read_twice(file)?;
    let progress = TerminalProgress::default();
    let found = options.read_beside(ReadError::is_of_layout, |options| {
        let options = ReadOptions {
            skip_bad_rows,
            ..options.clone()
        };
        CalibrationExamples::read(model, &source, &options, &progress)
    })?;
    let found = found.map_err(|error| about(file, error))?;
    if let Some(read) = &found.read {
        warn_bad_rows(read);
        note_unlabelled(read, model.task());
    }
    if found.copies > 0 {
        note(&format!(
            "{file}: {} of others, which count once",
            match found.copies {
                1 => "1 document is a copy".to_owned(),
                more => format!("{more} documents are copies"),
            }
        ));
    }
    if found.left_out > 0 {
        warn(&format!(
            "{file}: {} not exactly one label, and no part in what is promised",
            match found.left_out {
                1 => "1 document has".to_owned(),
                more => format!("{more} documents have"),
            }
        ));
    }
    if found.strangers > 0 {
        warn(&format!(
            "{file}: {} a label that the model does not know; whatever is answered to such counts as wrong",
            match found.strangers {
                1 => "1 distinct document has".to_owned(),
                more => format!("{more} distinct documents have"),
            }
        ));
    }
    if found.learned > 0 {
        warn(&format!(
            "{file}: {} that the model learned from {} left out; {} remain",
            count_of(found.learned, "document"),
            if found.learned == 1 { "is" } else { "are" },
            found.len()
        ));
    }
    Ok(Some(found))
}

fn about(file: &str, error: PromiseError) -> CliError {
    let said = CliError::new(format!("{file}: {error}"));
    match error {
        PromiseError::Learned { .. } => {
            said.hint("take documents that it was not fitted on; `calibrant split` sets some aside")
        }
        PromiseError::NoExamples => said.hint("name the field with the labels: --label FIELD"),
        _ => said,
    }
}

/// Holds what is asked for against the test documents.
pub(crate) fn seen(
    model: &Model,
    arguments: &EvaluateArguments,
    found: &LabelledForecasts,
) -> Result<Option<SeenPromises>, CliError> {
    let promises = &arguments.promises;
    if promises.is_given() && arguments.prior.is_given() {
        return Err(CliError::new(
            "--sets and --max-error cannot be measured with --prior or --adapt-prior",
        )
        .hint("leave one of them out"));
    }
    let examples = examples(model, promises, &arguments.test.reading, &arguments.file)?;
    let asked = (promises.ask_sets(), promises.certify());
    Ok(SeenPromises::of(model, found, asked, examples.as_ref())?)
}

/// What came of it, below the measures.
pub(crate) fn show_seen(out: &mut impl Write, seen: &SeenPromises) -> std::io::Result<()> {
    if let Some(sets) = &seen.sets {
        writeln!(out, "\nsets: {}", sets.guarantee)?;
        let interval = sets.interval.map_or_else(String::new, |(low, high)| {
            format!(" (95 % interval {low:.4} to {high:.4})")
        });
        writeln!(
            out,
            "asked {}, seen {:.4}{interval}; {:.2} classes on average, {:.1} % of the sets empty",
            sets.asked.coverage,
            sets.coverage,
            sets.mean_size,
            100.0 * sets.empty
        )?;
    }
    if let Some(answers) = &seen.answers {
        let source = match answers.source {
            CalibrationSource::Unseen => "certified by",
            CalibrationSource::PartlySeen => "approximately (the model learned from a few), by",
            CalibrationSource::HeldOut => "approximately, by held-out forecasts of",
        };
        writeln!(
            out,
            "\nanswers: at most {} of them wrong with certainty {}, {source} {} documents",
            answers.asked.max_error, answers.asked.certainty, answers.examples
        )?;
        let answered = answers.answered.max(1) as f64;
        writeln!(
            out,
            "answered {:.4} of the documents, wrong {:.4} of the answers (95 % interval {:.4} to {:.4})",
            answers.answered as f64 / answers.documents.max(1) as f64,
            answers.wrong as f64 / answered,
            answers.interval.0,
            answers.interval.1
        )?;
        if answers.of_unknown_labels > 0 {
            writeln!(
                out,
                "{} of the documents have a label that the model does not know: an answer to such a document counts as wrong",
                answers.of_unknown_labels
            )?;
        }
    }
    Ok(())
}

/// Says what was promised, on which data.
pub(crate) fn show(summary: &PromiseSummary) {
    if let Some(sets) = &summary.sets {
        show_sets(sets);
    }
    if let Some(answers) = &summary.answers {
        show_answers(answers);
    }
    if let Some(f_beta) = &summary.f_beta {
        show_f(f_beta);
    }
}

fn show_sets(sets: &SetSummary) {
    let kind = match sets.guarantee.several_labels {
        true => "labels".to_owned(),
        false => sets.asked.kind.to_string(),
    };
    note(&format!("sets ({kind}): {}", sets.guarantee));
    note(&format!(
        "sets of {}: {:.2} classes on average, {:.1} % of the sets empty",
        count_of(sets.documents as usize, "document"),
        sets.mean_size,
        100.0 * sets.empty
    ));
    if !sets.always.is_empty() {
        let shown: Vec<&str> = sets
            .always
            .iter()
            .take(CLASSES_SHOWN)
            .map(String::as_str)
            .collect();
        let more = if sets.always.len() > CLASSES_SHOWN {
            ", …"
        } else {
            ""
        };
        warn(&format!(
            "too few examples to leave a class out of any set: {}{more}; it takes {} of each",
            shown.join(", "),
            calibrant::decision::SetTable::least_examples(sets.guarantee.coverage)
        ));
    }
}

fn show_answers(answers: &AnswerSummary) {
    let share = 100.0 * answers.answered as f64 / answers.documents.max(1) as f64;
    let from = match answers.least_probability > 0.0 {
        true => format!(
            ", those of probability {:.4} and above",
            answers.least_probability
        ),
        false => String::new(),
    };
    note(&format!(
        "answered {} of {} ({share:.1} %){from}; the others are decided as `ask`",
        answers.answered,
        count_of(answers.documents as usize, "document")
    ));
    let (most, sure) = (
        100.0 * answers.asked.max_error,
        100.0 * answers.asked.certainty,
    );
    let found = &answers.found;
    let seen = format!("{} of {} answers wrong", found.errors, found.answered);
    match answers.source {
        CalibrationSource::Unseen => note(&format!(
            "certified with {sure} % certainty: at most {most} % of such answers to distinct documents are wrong, for documents like the {} calibration examples, which the model had not seen ({seen} among them), if less sure answers are no less often wrong",
            answers.examples
        )),
        CalibrationSource::PartlySeen => note(&format!(
            "approximate: at most {most} % of such answers to distinct documents are wrong with {sure} % certainty, for documents like the {} calibration examples, a few of which the model has learned from ({seen} among them)",
            answers.examples
        )),
        CalibrationSource::HeldOut => note(&format!(
            "approximate: at most {most} % of such answers to distinct documents are wrong with {sure} % certainty, by held-out forecasts of the {} training documents ({seen} among them); --calibration FILE, with documents that the model has not seen, certifies it",
            answers.examples
        )),
    }
}

fn show_f(found: &FSummary) {
    let over = match found.asked.average {
        FAverage::Micro => "over all decisions",
        FAverage::Macro => "as the mean over labels",
        FAverage::Samples => "as the mean over documents",
    };
    let above = match found.thresholds.as_slice() {
        [one] if found.asked.average == FAverage::Micro => {
            format!("; `yes` where the probability is above {one:.4}")
        }
        _ => String::new(),
    };
    note(&format!(
        "expected F{} {:.4} {over}, by the stated probabilities{above}",
        found.asked.beta, found.expected
    ));
}

impl From<PromiseError> for CliError {
    fn from(error: PromiseError) -> Self {
        let said = Self::new(error.to_string());
        match error {
            PromiseError::NothingKept => said.hint(
                "name labelled documents that it has not seen: --calibration FILE; or fit it again",
            ),
            PromiseError::TooFewForSets { .. } => said
                .hint("ask for less: --sets 0.8; or label more documents for --calibration FILE"),
            PromiseError::NotCertified {
                needed: Some(_), ..
            } => said.hint("label more documents for --calibration FILE, or allow more errors"),
            PromiseError::NotCertified { .. } => {
                said.hint("allow more errors: a larger --max-error")
            }
            PromiseError::Strangers { .. } => said.hint(
                "leave such rows out of the file; sets then speak of documents of known classes",
            ),
            PromiseError::Common { .. } => {
                said.hint("name other documents: `calibrant split` divides a file")
            }
            PromiseError::KindOfLabels => said.hint("leave out --set-kind and --per-class"),
            PromiseError::SharesOfLabels | PromiseError::AnswersWithPrior => {
                said.hint("leave out --prior and --adapt-prior")
            }
            PromiseError::SetsWithEstimate => {
                said.hint("give the shares: --prior CLASS=SHARE; or leave out --adapt-prior")
            }
            PromiseError::WithOther => said.hint("leave out --other"),
            PromiseError::TwoDecisions => said.hint(
                "leave out --costs and --ask, or --max-error, or --f-beta; a rate and a number of questions cannot both be kept: with --max-error, `ask` is as often as the rate needs",
            ),
            PromiseError::OneLabel => said.hint("leave out --f-beta"),
            PromiseError::AnswersOfLabels => {
                said.hint("--sets and --f-beta are for models with several labels")
            }
            _ => said,
        }
    }
}
