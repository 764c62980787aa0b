//! What failed, as a person sees it: with the options that `calibrate` has.

use calibrant::corpus::{ReadError, alike_labels};
use calibrant::jobs::{CalibrateError, listed};
use calibrant::{CalibrationError, FitError};

use crate::error::CliError;

/// An error of the job with its next step.
pub(super) fn failure(error: CalibrateError, file: &str, one_score: bool) -> CliError {
    let message = error.to_string();
    match error {
        CalibrateError::Read(error) => read_error(error),
        CalibrateError::OneLabel { .. } => {
            CliError::new(message).hint("check --label and --where")
        }
        CalibrateError::NoPositive {
            file,
            positive,
            labels,
        } => CliError::new(format!(
            "--positive: no example of {file} has the label `{positive}`"
        ))
        .hint(format!("the labels are {}", listed(&labels))),
        CalibrateError::ManyLabels { labels, .. } if some_alike(&labels) => CliError::new(message)
            .hint("some labels differ in case or space alone; --fold-labels makes one of them"),
        CalibrateError::UnknownLabel { label, classes, .. }
            if some_alike(classes.iter().chain([&label])) =>
        {
            CliError::new(message).hint("--fold-labels takes labels that differ in case or space alone for one")
        }
        CalibrateError::ManyLabels { .. } => CliError::new(message).hint(
            "give one score per class, as --score CLASS=FIELD,CLASS=FIELD,…; or --positive LABEL to set one against the rest",
        ),
        CalibrateError::UnknownLabel { .. } => CliError::new(message).hint(if one_score {
            "check --label; --where keeps only some rows"
        } else {
            "--score CLASS=FIELD says which class a score field is for"
        }),
        CalibrateError::Fit(error) => fit_error(error, file),
        CalibrateError::Evaluation(error) => error.into(),
        _ => CliError::new(message),
    }
}

/// Whether labels differ in case or space alone.
fn some_alike<'l>(labels: impl IntoIterator<Item = &'l String>) -> bool {
    let labels = labels.into_iter().map(|label| (label.as_str(), 1));
    alike_labels(labels).iter().any(|set| set.len() > 1)
}

/// Where examples are given their probabilities, only reading them and estimating shares can fail.
impl From<CalibrateError> for CliError {
    fn from(error: CalibrateError) -> Self {
        match error {
            CalibrateError::Read(error) => read_error(error),
            CalibrateError::Fit(error) => error.into(),
            error => Self::new(error.to_string()),
        }
    }
}

/// As other commands say it, but with the options that this one has.
fn read_error(error: ReadError) -> CliError {
    let unknown = matches!(
        error,
        ReadError::UnknownField { .. } | ReadError::FieldNeverCame { .. }
    );
    let error = CliError::from(error);
    if unknown {
        error.hint("name fields with --score, --label, --weight, --group, --id and --where")
    } else {
        error
    }
}

fn fit_error(error: FitError, file: &str) -> CliError {
    match error {
        FitError::OneClass { class, documents } => CliError::new(format!(
            "all {documents} examples of {file} have the label `{class}`; a calibrator needs examples of two classes"
        ))
        .hint("check --label and --where"),
        FitError::NothingStated { .. } => CliError::new(format!("{file}: {error}"))
            .hint("leave such rows out; --score-is probability --skip-bad-rows does"),
        FitError::Calibration(CalibrationError::TooFewExamples { .. }) => {
            CliError::from(error).hint("add examples of the rarer label")
        }
        error => error.into(),
    }
}
