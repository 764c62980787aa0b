//! `calibrant calibrate`

use std::path::PathBuf;

use calibrant::calibration::{CalibratorKind, MulticlassKind};
use calibrant::corpus::{Fields, Format, LabelNeed, ReadOptions};
use calibrant::pipeline::ScoreIs;
use clap::Args;

use super::choice::choice;
use super::field_list::FieldList;
use super::{LabelArguments, PriorArguments, ResultArguments, RowArguments};

#[derive(Debug, Args)]
pub(crate) struct CalibrateArguments {
    /// Scores and labels of examples that the classifier did not learn from: CSV, TSV, JSON Lines, Parquet, xlsx or ods, also .gz or .zst; `-` is standard input
    #[arg(required_unless_present = "calibrator", conflicts_with = "calibrator")]
    pub(crate) file: Option<String>,
    /// Use this calibrator instead of fitting one
    #[arg(long, value_name = "CALIBRATOR", conflicts_with_all = ["output", "method", "monotone", "positive", "score_is"])]
    pub(crate) calibrator: Option<PathBuf>,
    /// Where to write the calibrator
    #[arg(short, long, value_name = "CALIBRATOR")]
    pub(crate) output: Option<PathBuf>,
    /// The field with the score of the positive class; or one field per class, FIELD or CLASS=FIELD
    #[arg(long, value_name = "FIELD,…", required_unless_present = "calibrator")]
    pub(crate) score: Vec<FieldList>,
    /// What the scores are: probabilities become log-odds first
    #[arg(long, value_parser = choice::<ScoreIs>(), default_value_t)]
    pub(crate) score_is: ScoreIs,
    /// The label that the score is for (default: 1 of 1/0, yes of yes/no and so on, else the last in alphabetical order)
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true)]
    pub(crate) positive: Option<String>,
    #[arg(long, value_name = "METHOD", default_value = "auto", value_parser = method, help = method_help())]
    pub(crate) method: Method,
    /// Make the curve monotone, so that probabilities rank as scores do
    #[arg(long)]
    pub(crate) monotone: bool,
    /// Measure on these examples (by default, measures are cross-validated on FILE)
    #[arg(long, value_name = "FILE")]
    pub(crate) test: Option<String>,
    /// Compute the probabilities of these examples
    #[arg(long, value_name = "FILE")]
    pub(crate) apply: Option<String>,
    /// Where to write them: .csv, .tsv, .jsonl, .parquet or .xlsx (with --calibrator, CSV on standard output by default)
    #[arg(long, value_name = "FILE", requires = "apply")]
    pub(crate) predictions: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) results: ResultArguments,
    /// Print all measures as JSON on standard output (and predictions, if they go there, as JSON Lines)
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a report with a reliability diagram
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ScoreReadArguments,
    #[command(flatten)]
    pub(crate) prior: PriorArguments,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ScoreReadArguments {
    /// The field with the label (default: `label`)
    #[arg(long, value_name = "FIELD")]
    pub(crate) label: Option<String>,
    /// The field with the weight of an example; only the ratios of weights matter
    #[arg(long, value_name = "FIELD")]
    pub(crate) weight: Option<String>,
    /// The field that says which examples belong together (a thread, a customer, an author): they are held out together, and equal scores among them are copies of one example
    #[arg(long, value_name = "FIELD")]
    pub(crate) group: Option<String>,
    /// The field that identifies an example in the predictions (default: `id` where there is one, else rows are numbered in a column `row`)
    #[arg(long, value_name = "FIELD")]
    pub(crate) id: Option<String>,
    /// csv, tsv, jsonl, parquet, xlsx or ods (detected from the name or the content by default)
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    #[command(flatten)]
    labels: LabelArguments,
    #[command(flatten)]
    rows: RowArguments,
}

impl ScoreReadArguments {
    pub(crate) fn options(&self, scores: Vec<String>, labels_required: LabelNeed) -> ReadOptions {
        ReadOptions {
            fields: Fields {
                label: self.label.clone(),
                weight: self.weight.clone(),
                group: self.group.clone(),
                id: self.id.clone(),
                ..Fields::default()
            },
            format: self.format,
            labels_required,
            scores,
            ..self.labels.with(self.rows.options())
        }
    }
}

/// A method for one score, or for several classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Auto,
    OneScore(CalibratorKind),
    ClassScores(MulticlassKind),
}

fn method(name: &str) -> Result<Method, String> {
    match (name.parse(), name.parse()) {
        (Ok(CalibratorKind::Auto), _) => Ok(Method::Auto),
        (Ok(kind), _) => Ok(Method::OneScore(kind)),
        (_, Ok(way)) => Ok(Method::ClassScores(way)),
        _ => Err(format!(
            "it must be one of {}, or for several classes {}",
            one_score_names(),
            class_score_names()
        )),
    }
}

fn one_score_names() -> String {
    CalibratorKind::ALL.map(CalibratorKind::name).join(", ")
}

fn class_score_names() -> String {
    MulticlassKind::WAYS.map(MulticlassKind::name).join(", ")
}

fn method_help() -> String {
    format!(
        "The method: {}; for one score per class also {}",
        one_score_names(),
        class_score_names()
    )
}
