//! Labelled documents that fitted models have not learned from: for `combine` and `recalibrate`.

use calibrant::corpus::{Fields, LabelNeed, ReadOptions};
use clap::Args;

use super::{FoldArguments, ReadArguments};

#[derive(Debug, Args)]
pub(crate) struct HeldOutArguments {
    #[command(flatten)]
    pub(crate) reading: ReadArguments,
    /// The field that says which documents belong together (a thread, a customer, an author, near-copies): they are held out together
    #[arg(long, value_name = "FIELD", help_heading = "Reading")]
    pub(crate) group: Option<String>,
    #[command(flatten)]
    pub(crate) folds: FoldArguments,
    /// Continue even where a model has learned from most of the documents; what they say of it then looks better than it is
    #[arg(long)]
    pub(crate) even_if_learned_from: bool,
}

impl HeldOutArguments {
    /// How the documents are read; fields that are not named are those of `remembered`.
    pub(crate) fn options(&self, remembered: &Fields) -> ReadOptions {
        let fields = Fields {
            group: self.group.clone(),
            ..self.reading.fields(remembered)
        };
        self.reading.options(fields, LabelNeed::Required)
    }
}
