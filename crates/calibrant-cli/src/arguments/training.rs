//! Labelled documents, and how to learn from them: for every command that fits.

use clap::Args;

use super::{CodeArguments, FeatureArguments, LabelArguments, LearningArguments, ReadArguments};

#[derive(Debug, Args)]
pub(crate) struct TrainingArguments {
    /// Labelled documents: CSV, TSV, JSON Lines, Parquet, xlsx, ods, fastText, svmlight or a folder per class, also .gz or .zst; `-` is standard input
    pub(crate) file: String,
    #[command(flatten)]
    pub(crate) reading: ReadArguments,
    #[command(flatten)]
    pub(crate) labels: LabelArguments,
    /// Learn even where most rows have a label of their own, as identifiers are
    #[arg(long, help_heading = "Reading")]
    pub(crate) allow_unique_labels: bool,
    /// The field that says which documents belong together (a thread, a customer, an author, near-copies): they are learned from and held out together
    #[arg(long, value_name = "FIELD", help_heading = "Reading")]
    pub(crate) group: Option<String>,
    #[command(flatten)]
    pub(crate) features: FeatureArguments,
    #[command(flatten)]
    pub(crate) learning: LearningArguments,
    #[command(flatten)]
    pub(crate) code: CodeArguments,
    /// What the model remembers that is to be fitted alike.
    #[arg(skip)]
    pub(crate) remembered: Option<Box<crate::like::Remembered>>,
}
