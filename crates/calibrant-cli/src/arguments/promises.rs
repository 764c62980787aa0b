//! What is promised of predictions: the same options for `predict` and `evaluate`.

use calibrant::decision::{Certify, SetKind};
use calibrant::jobs::{AskF, AskSets, FAverage};
use clap::Args;

use super::CertaintyArguments;
use super::choice::{choice, share};

#[derive(Debug, Args)]
#[command(next_help_heading = "Promises")]
#[command(mut_arg("certainty", |certainty| certainty.help("How sure --max-error is to be, over calibration files")))]
pub(crate) struct PromiseArguments {
    /// Give every document a set of classes that holds the true one with this probability, for example 0.9; where documents have several labels, a set that holds this share of the true ones on average
    #[arg(long, value_name = "COVERAGE", value_parser = share)]
    pub(crate) sets: Option<f64>,
    /// By what a class is judged to fit badly
    #[arg(long, value_parser = choice::<SetKind>(), value_name = "KIND", requires = "sets")]
    pub(crate) set_kind: Option<SetKind>,
    /// Sets that hold the true class this often for documents of each class
    #[arg(long, requires = "sets")]
    pub(crate) per_class: bool,
    /// Put the most probable class into sets that would be empty; they then hold the true class more often than asked for
    #[arg(long, requires = "sets")]
    pub(crate) keep_top: bool,
    /// Answer only where at most this share of the answers is wrong, for example 0.02; the decision about other documents is `ask`
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) max_error: Option<f64>,
    #[command(flatten)]
    pub(crate) certainty: CertaintyArguments,
    /// Labelled documents that the model has not seen, for --sets and --max-error to rest on (by default its held-out forecasts of the training documents, with which promises are approximate)
    #[arg(long, value_name = "FILE")]
    pub(crate) calibration: Option<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Promises")]
pub(crate) struct FArguments {
    /// Decide yes or no about every label so that the expected F is as large as can be; recall counts BETA times as much as precision (multi-label; needs all documents before the first is written)
    #[arg(long, value_name = "BETA", conflicts_with_all = ["sets", "max_error"])]
    pub(crate) f_beta: Option<f64>,
    /// Over what F is taken
    #[arg(long, value_parser = choice::<FAverage>(), value_name = "AVERAGE", requires = "f_beta")]
    pub(crate) f_average: Option<FAverage>,
}

impl PromiseArguments {
    pub(crate) fn ask_sets(&self) -> Option<AskSets> {
        self.sets.map(|coverage| AskSets {
            coverage,
            kind: self.set_kind.unwrap_or_default(),
            class_by_class: self.per_class,
            keep_top: self.keep_top,
        })
    }

    pub(crate) fn certify(&self) -> Option<Certify> {
        self.max_error.map(|max_error| Certify {
            max_error,
            certainty: self.certainty.certainty,
        })
    }

    /// Whether anything is to be promised.
    pub(crate) fn is_given(&self) -> bool {
        self.sets.is_some() || self.max_error.is_some()
    }
}

impl FArguments {
    pub(crate) fn ask(&self) -> Option<AskF> {
        self.f_beta.map(|beta| AskF {
            beta,
            average: self.f_average.unwrap_or_default(),
        })
    }
}
