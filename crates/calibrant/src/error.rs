//! What can go wrong while fitting.

use calibrant_calibration::CalibrationError;

/// Why nothing could be fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// There is nothing to learn from.
    #[error("there are no documents to learn from")]
    NoDocuments,
    /// Every document has the same label.
    #[error(
        "all {documents} documents have the label `{class}`: a classifier needs at least two classes"
    )]
    OneClass {
        /// The only label.
        class: String,
        /// How many documents carry it.
        documents: usize,
    },
    /// No document has a label.
    #[error("none of the {documents} documents has a label")]
    NoLabels {
        /// How many documents were read.
        documents: usize,
    },
    /// A wanted class does not occur.
    #[error("class `{class}` does not occur in the training documents; classes there: {available}")]
    UnknownClass {
        /// The class that was asked for.
        class: String,
        /// The most frequent classes that do occur.
        available: String,
    },
    /// The texts hold no term that could be a feature.
    #[error(
        "no term is within the limits on document frequency (and passes the selection, if there is one), so there are no features"
    )]
    NoFeatures,
    /// Most documents have a label that no other has.
    #[error(
        "{labels} labels for {documents} documents, {singles} of them only once (`{}`, …): the field probably holds {kind}, not classes",
        examples.join("`, `")
    )]
    UniqueLabels {
        /// How many labels there are.
        labels: usize,
        /// How many documents have one.
        documents: usize,
        /// How many labels occur once.
        singles: usize,
        /// The first of these.
        examples: Vec<String>,
        /// What they look like.
        kind: crate::corpus::LabelKind,
    },
    /// A document has several labels where each needs one.
    #[error("a document has the labels {}, but the task is single-label", labels.join(", "))]
    SeveralLabels {
        /// Its labels.
        labels: Vec<String>,
    },
    /// Naive Bayes was given a negative feature value.
    #[error("naive Bayes needs counts; feature {feature} has the value {value}")]
    NegativeFeature {
        /// The column.
        feature: usize,
        /// Its value.
        value: f64,
    },
    /// Naive Bayes was given a numeric field.
    #[error("naive Bayes needs counts, but the field `{field}` holds numbers that may be negative")]
    NumbersForCounts {
        /// The field.
        field: String,
    },
    /// Vectors of one field have several lengths.
    #[error(
        "the vectors of `{field}` must have one length; there are some of {first} numbers and some of {other}"
    )]
    RaggedVectors {
        /// The field.
        field: String,
        /// A length.
        first: usize,
        /// Another.
        other: usize,
    },
    /// The rules cannot be read.
    #[error("the rules, {0}")]
    Rules(crate::rules::RulesError),
    /// The classifier is `rules`, and a class has none.
    #[error("class `{class}` has no rule; there are rules for {}", categories.join(", "))]
    NoRule {
        /// The class.
        class: String,
        /// The first categories that have a rule.
        categories: Vec<String>,
    },
    /// The classifier is `rules`, which looks at nothing else.
    #[error("the classifier `rules` uses rules only, not the field `{field}`")]
    RulesAlone {
        /// A numeric or categorical field.
        field: String,
    },
    /// A setting is outside what makes sense.
    #[error("{setting} must be {requirement}, not {value}")]
    BadSetting {
        /// The name of the setting.
        setting: &'static str,
        /// What it must be.
        requirement: &'static str,
        /// What it is.
        value: String,
    },
    /// A setting of another learner was given.
    #[error("{setting} must be absent with the classifier `{classifier}`; it is {value}")]
    UnusedSetting {
        /// The name of the setting.
        setting: &'static str,
        /// The name of the learner.
        classifier: &'static str,
        /// What the setting is.
        value: String,
    },
    /// Two lists that belong together differ in length.
    #[error("{left_name} has {left} entries and {right_name} has {right}")]
    LengthMismatch {
        /// The first list.
        left_name: &'static str,
        /// Its length.
        left: usize,
        /// The second list.
        right_name: &'static str,
        /// Its length.
        right: usize,
    },
    /// A row of stated probabilities has 0 for every class.
    #[error("example {number} states a probability of 0 for every class")]
    NothingStated {
        /// The example, counted from 1.
        number: usize,
    },
    /// An iteration did not reach its tolerance.
    #[error("{method} stopped after {iterations} iterations with gradient norm {gradient:.1e}")]
    NotConverged {
        /// The method.
        method: &'static str,
        /// Iterations done.
        iterations: usize,
        /// The size of the gradient where it stopped.
        gradient: f64,
    },
    /// Something became infinite, and a model that holds it could not be read again.
    #[error("numbers overflowed; use smaller feature values, document weights or costs")]
    Overflow,
    /// Scores could not be calibrated.
    #[error(transparent)]
    Calibration(CalibrationError),
    /// Whoever watched the progress ended the fit.
    #[error("cancelled")]
    Cancelled,
    /// Folds could not be made.
    #[error(transparent)]
    Folds(#[from] crate::corpus::FoldError),
    /// Forecasts could not be measured.
    #[error(transparent)]
    Evaluation(#[from] crate::evaluation::EvaluationError),
    /// The analyzer's settings do not fit together.
    #[error(transparent)]
    Analyzer(#[from] crate::text::AnalyzerError),
}

impl From<CalibrationError> for FitError {
    fn from(error: CalibrationError) -> Self {
        match error {
            CalibrationError::NoExamples => Self::NoDocuments,
            CalibrationError::Overflow => Self::Overflow,
            CalibrationError::Evaluation(error) => Self::Evaluation(error),
            error => Self::Calibration(error),
        }
    }
}

impl From<crate::progress::Cancelled> for FitError {
    fn from(_: crate::progress::Cancelled) -> Self {
        FitError::Cancelled
    }
}
