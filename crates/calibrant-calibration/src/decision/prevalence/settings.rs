//! What is asked: of which documents the share is wanted, how surely, and by which method.

use serde::{Deserialize, Serialize};

use super::PrevalenceError;

/// How the interval of a share is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrevalenceMethod {
    /// By a rule that looks at the data; the answer says what was taken, and why.
    #[default]
    Auto,
    /// The labels of the sample alone; exact.
    LabelsAlone,
    /// The mean stated probability, corrected by the labels (PPI++); good where there are many disagreements.
    PredictionPowered,
    /// Parts of the pool by stated probability, exact ends in each, put together by the squares of their reaches.
    Stratified,
    /// The same parts, so put together that the interval holds the truth as often as it says, whatever the truth is.
    StratifiedExact,
}

crate::named! {
    PrevalenceMethod, "a way to find a share";
    Auto = "auto", "By a rule that looks at the data, and says what it took";
    LabelsAlone = "labels_alone", "The labels of the sample alone, exact";
    PredictionPowered = "prediction_powered" | "ppi", "The mean stated probability, corrected by the labels (PPI++)";
    Stratified = "stratified", "Parts of the pool by stated probability, with exact ends in each";
    StratifiedExact = "stratified_exact", "The same parts with a guarantee for any truth; wider";
}

/// Whose share is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrevalenceTarget {
    /// That of these documents: the pool, with the sample. What was labelled is known, which makes intervals narrower.
    #[default]
    Documents,
    /// That of the source from which pool and sample were drawn at random, and from which more will come.
    Source,
}

crate::named! {
    PrevalenceTarget, "what a share is of";
    Documents = "documents", "These documents, the labelled ones included";
    Source = "source", "The source from which these documents were drawn at random";
}

/// What is asked of [`estimate_prevalence`](super::estimate_prevalence).
///
/// ```
/// use calibrant_calibration::decision::PrevalenceSettings;
/// let settings = PrevalenceSettings::default();
/// // By hand: five classes that are to hold together at 95 % have 1 % each to miss.
/// let together = PrevalenceSettings { simultaneous: true, ..settings };
/// assert!((together.confidence_per_class(5) - 0.99).abs() < 1e-15);
/// assert_eq!(settings.confidence_per_class(5), 0.95);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PrevalenceSettings {
    /// How often an interval is to hold the truth: 0.95.
    pub confidence: f64,
    /// Whether this is to hold for all classes together, rather than for each class by itself.
    pub simultaneous: bool,
    /// How intervals are found.
    pub method: PrevalenceMethod,
    /// Whose share is wanted.
    pub target: PrevalenceTarget,
}

impl Default for PrevalenceSettings {
    fn default() -> Self {
        Self {
            confidence: 0.95,
            simultaneous: false,
            method: PrevalenceMethod::Auto,
            target: PrevalenceTarget::Documents,
        }
    }
}

impl PrevalenceSettings {
    /// How often the interval of one of so many classes must hold the truth (Bonferroni's division where all are to hold
    /// together).
    pub fn confidence_per_class(&self, classes: usize) -> f64 {
        match self.simultaneous {
            true => 1.0 - (1.0 - self.confidence) / classes.max(1) as f64,
            false => self.confidence,
        }
    }

    pub(crate) fn check(&self) -> Result<(), PrevalenceError> {
        match self.confidence > 0.0 && self.confidence < 1.0 {
            true => Ok(()),
            false => Err(PrevalenceError::BadConfidence {
                confidence: self.confidence,
            }),
        }
    }
}
