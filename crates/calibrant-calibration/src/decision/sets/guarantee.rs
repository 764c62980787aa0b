//! What is promised of sets, on which data.

use crate::named;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where the calibration examples come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalibrationSource {
    /// Examples that neither the model nor its curves have seen: what is promised is exact.
    #[default]
    Unseen,
    /// Examples of which the model has seen a few: what is promised holds nearly.
    PartlySeen,
    /// Held-out forecasts of the training examples (out of folds): what is promised holds nearly.
    HeldOut,
}

named! {
    CalibrationSource, "a source of calibration examples";
    Unseen = "unseen", "Examples that neither the model nor its curves have seen: what is promised is exact";
    PartlySeen = "partly_seen", "Examples of which the model has seen a few: what is promised holds nearly";
    HeldOut = "held_out", "Held-out forecasts of the training examples: what is promised holds nearly";
}

/// What a rule promises.
///
/// # When it misleads
/// It speaks of documents drawn as the calibration examples were. Where the traffic has changed it promises nothing (other
/// shares of classes can be told to [`SetTable::at_shares`](super::SetTable::at_shares)). It is a promise over many
/// calibration sets: with one set of `n` examples in hand, coverage varies around it by about `√(c (1 - c) / n)`. And it is an average:
/// hard documents may have less, unless classes are treated one by one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Guarantee {
    /// The share of documents whose true class is in the set (for several labels: the share of true labels that are, over documents that have any), at least.
    pub coverage: f64,
    /// The most that coverage can be on average, where that is known: the examples had no ties and nothing is added to sets.
    pub at_most: Option<f64>,
    /// How many examples it rests on.
    pub examples: u64,
    /// Where they come from.
    pub source: CalibrationSource,
    /// Whether it holds for each class by itself.
    pub class_by_class: bool,
    /// Whether it is for shares of classes other than those of the calibration examples.
    pub shifted: bool,
    /// Whether it is about the share of true labels in the set (documents with several labels).
    pub several_labels: bool,
}

impl fmt::Display for Guarantee {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = 100.0 * self.coverage;
        let what = match (self.several_labels, self.class_by_class) {
            (true, _) => "on average the sets hold",
            (false, true) => "for each class, the set holds the true class in",
            (false, false) => "the set holds the true class in",
        };
        let of = if self.several_labels {
            "of the true labels of a document that has any"
        } else {
            "of documents"
        };
        let least = match self.source {
            CalibrationSource::Unseen => "at least ",
            CalibrationSource::PartlySeen | CalibrationSource::HeldOut => "about ",
        };
        // 0.55 is a little more than 55 % in binary.
        let percent = (1e9 * percent).round() / 1e9;
        write!(formatter, "{what} {least}{percent} % {of}")?;
        if let Some(most) = self.at_most {
            write!(formatter, " and at most {:.2} %", 100.0 * most)?;
        }
        let examples = self.examples;
        match self.source {
            CalibrationSource::Unseen => write!(
                formatter,
                ", for documents like the {examples} calibration examples, which the model had not seen"
            )?,
            CalibrationSource::HeldOut => write!(
                formatter,
                ", for documents like the {examples} training examples; held-out forecasts of these were used, so this is approximate (no guarantee in the worst case; labelled documents that the model has not seen give one)"
            )?,
            CalibrationSource::PartlySeen => write!(
                formatter,
                ", for documents like the {examples} calibration examples; the model has learned from a few of these, so this is approximate"
            )?,
        }
        match self.shifted {
            true => write!(formatter, ", with the stated shares of classes"),
            false => Ok(()),
        }
    }
}
