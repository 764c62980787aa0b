//! Why something cannot be promised.

use crate::CalibrationError;

/// Why something cannot be promised, with what it would take.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PromiseError {
    /// An older model, and no examples.
    #[error(
        "the model keeps no held-out forecasts to promise anything from: it was saved by an earlier version, or its curves were replaced"
    )]
    NothingKept,
    /// Too few examples for sets.
    #[error(
        "sets that hold the true class in {} % of {} take at least {needed} calibration examples{}; there are {found}{}",
        (1e11 * coverage).round() / 1e9,
        if *class_by_class { "the documents of each class" } else { "documents" },
        if *class_by_class { " of one" } else { "" },
        if *class_by_class { " of the most frequent class" } else { "" }
    )]
    TooFewForSets {
        /// What was asked for.
        coverage: f64,
        /// Whether it was asked for each class.
        class_by_class: bool,
        /// How many there are: of the most frequent class, where classes are treated one by one.
        found: u64,
        /// How many it takes.
        needed: u64,
    },
    /// The examples do not show that few answers are wrong.
    #[error("{}", not_certified(*max_error, *certainty, *found, *least, *needed))]
    NotCertified {
        /// The share of wrong answers that was to be certified.
        max_error: f64,
        /// How surely.
        certainty: f64,
        /// How many examples there are.
        found: u64,
        /// How many it takes even if all answers are right.
        least: u64,
        /// About how many would show it; nothing where answers are wrong too often however sure they are.
        needed: Option<u64>,
    },
    /// Examples that the model has learned from show nothing.
    #[error(
        "about {learned} of the {documents} calibration documents are among those that the model learned from"
    )]
    Learned {
        /// How many of them.
        learned: usize,
        /// How many documents there are.
        documents: usize,
    },
    /// No set holds a label that the model does not know.
    #[error(
        "{documents} of the calibration documents have a label that the model does not know, which no set can hold"
    )]
    Strangers {
        /// How many.
        documents: usize,
    },
    /// What is measured on the examples themselves is no measure.
    #[error(
        "{common} of the {documents} test documents are among the calibration documents: a promise cannot be measured on what it rests on"
    )]
    Common {
        /// How many.
        common: usize,
        /// Test documents.
        documents: usize,
    },
    /// Nothing that can be used.
    #[error("none of the calibration documents has exactly one label that the model knows")]
    NoExamples,
    /// Sets for several labels need documents with a label.
    #[error("none of the calibration documents has a label that the model knows")]
    NoLabels,
    /// One kind of set is for several labels.
    #[error(
        "where documents may have several labels there is one kind of set, for all labels together"
    )]
    KindOfLabels,
    /// Shares of labels.
    #[error("sets of several labels cannot be combined with other class priors")]
    SharesOfLabels,
    /// An answer is one class.
    #[error("answers with a stated error rate are for models with one label per document")]
    AnswersOfLabels,
    /// F decides about labels.
    #[error("decisions of the best F are for models with several labels per document")]
    OneLabel,
    /// What F weighs by.
    #[error("beta must be a number above 0; it is {beta}")]
    BadBeta {
        /// What was given.
        beta: f64,
    },
    /// What was certified with other shares of classes is not certified now.
    #[error(
        "answers with a stated error rate cannot be combined with other class priors: the examples that certify it have the shares that they have"
    )]
    AnswersWithPrior,
    /// Shares must be known when sets are made.
    #[error("sets cannot be combined with class priors that are estimated from the same documents")]
    SetsWithEstimate,
    /// `other` is no class of the examples.
    #[error(
        "a rule for documents of no class cannot be combined with sets or with answers of a stated error rate"
    )]
    WithOther,
    /// Two rules for one decision.
    #[error(
        "costs (with or without a number of questions), a stated error rate and the best F are different ways to decide: only one can be asked for"
    )]
    TwoDecisions,
    /// A number that cannot be.
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
}

fn not_certified(
    max_error: f64,
    certainty: f64,
    found: u64,
    least: u64,
    needed: Option<u64>,
) -> String {
    let what = format!(
        "{found} examples do not show, with {} % certainty, that at most {} % of the answers are wrong, however sure they are",
        100.0 * certainty,
        100.0 * max_error
    );
    match needed {
        Some(needed) => format!(
            "{what}: that would take about {needed} examples like these, and {least} even if all answers were right"
        ),
        None => format!(
            "{what}: more examples would not help, as too many of the surest answers are wrong"
        ),
    }
}
