//! Which sets, and what is done with the class at their edge.

use super::Penalty;
use crate::named;
use serde::{Deserialize, Serialize};

/// By what a class is judged to fit badly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetKind {
    /// One minus its probability: the smallest sets on average.
    #[default]
    Lac,
    /// The probability of all that is at least as probable: hard documents get large sets, easy ones small.
    Aps,
    /// As `Aps`, with a penalty for each class beyond the first few, which cuts off the long tail of large sets.
    Raps,
}

named! {
    SetKind, "a kind of set";
    Lac = "lac", "Classes whose probability reaches one threshold: the smallest sets on average";
    Aps = "aps", "The most probable classes until their sum reaches a threshold: sets grow with doubt";
    Raps = "raps", "As aps, with a penalty for every class beyond the first few";
}

/// What is done with the class that carries the sum of probabilities over the threshold (of [`SetKind::Aps`] and
/// [`SetKind::Raps`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastClass {
    /// It is in or out by a draw that follows from the document, so that coverage is as asked for and answers can be repeated.
    #[default]
    Drawn,
    /// Nothing is drawn: the class counts whole, in calibration as in prediction. Coverage is as asked for, sets are a little larger.
    Whole,
    /// It is always in: coverage is above what was asked for, and sets are never empty.
    Added,
}

named! {
    LastClass, "a rule for the last class";
    Drawn = "drawn", "In or out by a draw that follows from the document: coverage as asked for, answers repeatable";
    Whole = "whole", "Counted whole, with nothing drawn: coverage as asked for, sets a little larger";
    Added = "added", "Always in: more coverage than asked for, never an empty set";
}

/// How sets are made.
///
/// ```
/// use calibrant_calibration::decision::{SetKind, SetSettings};
/// let settings = SetSettings { kind: "aps".parse()?, ..SetSettings::default() };
/// assert_eq!(settings.kind, SetKind::Aps);
/// assert!(settings.keep_top && !settings.class_by_class);
/// # Ok::<(), calibrant_calibration::UnknownName>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SetSettings {
    /// By what a class is judged to fit badly.
    pub kind: SetKind,
    /// Whether coverage is to hold for documents of each class, not only over all.
    pub class_by_class: bool,
    /// What is done with the class at the edge.
    pub last_class: LastClass,
    /// Whether a set that would be empty gets the most probable class. Coverage can only rise by that, so what is promised
    /// holds either way; an empty set says that no class fits.
    pub keep_top: bool,
    /// The penalty of [`SetKind::Raps`] (other kinds have none); chosen on a fifth of the calibration examples if absent.
    pub penalty: Option<Penalty>,
    /// The coverage for which a penalty is chosen.
    pub penalty_coverage: f64,
    /// Names the model in draws, so that two models draw apart for one document.
    pub model_key: u64,
}

impl Default for SetSettings {
    fn default() -> Self {
        Self {
            kind: SetKind::default(),
            class_by_class: false,
            last_class: LastClass::default(),
            keep_top: true,
            penalty: None,
            penalty_coverage: 0.9,
            model_key: 0,
        }
    }
}
