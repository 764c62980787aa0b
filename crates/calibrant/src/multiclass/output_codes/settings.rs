//! Which code, and how answers to its columns become scores of classes.

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

use crate::FitError;
use crate::multiclass::CodeDesign;

/// An output code around a binary learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CodeSettings {
    /// The code matrix.
    pub design: CodeDesign,
    /// How many columns; the design's usual number if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<usize>,
    /// How answers become scores of classes.
    pub decode: Decode,
    /// What of a binary score counts.
    pub output: BinaryOutput,
    /// How much the columns count.
    pub weights: ColumnWeights,
}

/// How the answers to all binary problems become one score per class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decode {
    /// How much nearer a class's code word is than the nearest other.
    #[default]
    Margin,
    /// The log-odds of class probabilities that explain the probabilities of all columns,
    /// `(1 + f) / 2` with the answer `f` of [`BinaryOutput`], best. Needs a code without zeros.
    LeastSquares,
}

named! {
    Decode, "a way to decode";
    Margin = "margin", "How much nearer a class's code word is than the nearest other";
    LeastSquares = "least_squares", "Class probabilities that best explain those of all columns";
}

/// The number `f` from -1 to 1 that a binary score `s` stands for in distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BinaryOutput {
    /// The sign of the score: distances are counts of wrong answers.
    Sign,
    /// The score itself, cut at -1 and 1: what a support vector machine calls its margin.
    Clip,
    /// `tanh s`, which for boosting is the expected answer `P(+) - P(-)`, as its score is half a
    /// log-odds.
    Tanh,
    /// The expected answer `P(+) - P(-)` after Platt's curve on held-out binary scores, in one scale
    /// for every learner and every column.
    #[default]
    Probability,
}

named! {
    BinaryOutput, "an output of a binary problem";
    Sign = "sign", "The sign of the score";
    Clip = "clip", "The score, clipped to [-1, 1]";
    Tanh = "tanh", "The hyperbolic tangent of the score";
    Probability = "probability", "The expected answer, by Platt's curve on held-out scores";
}

/// The weights `α` of the columns in distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnWeights {
    /// All alike.
    Equal,
    /// `½ ln((1-e)/e)` with the held-out error rate `e` of the column, as a committee of independent
    /// voters would be weighted. On every table of our experiments this is better than all alike.
    #[default]
    Accuracy,
}

named! {
    ColumnWeights, "a weighting of columns";
    Equal = "equal", "All alike";
    Accuracy = "accuracy", "By their held-out error";
}

impl CodeSettings {
    /// Finds settings that make no sense whatever the classes are.
    pub fn check(&self) -> Result<(), FitError> {
        if let Some(length) = self.length {
            self.design.check_length(length)?;
        }
        if self.decode == Decode::LeastSquares && self.design.is_sparse() {
            return Err(FitError::BadSetting {
                setting: "the code",
                requirement: "one without zeros for least squares (one_vs_all, exhaustive, random_dense or bch)",
                value: self.design.name().into(),
            });
        }
        Ok(())
    }

    /// Whether binary scores have to become probabilities.
    pub(crate) fn needs_curves(&self) -> bool {
        self.output == BinaryOutput::Probability
    }
}
