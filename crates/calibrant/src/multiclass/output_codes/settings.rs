//! Which code, and how answers to its columns become scores of classes.

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

/// How the answers to all binary problems become one score a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decode {
    /// How much nearer a class's code word is than the nearest other: see [`super::Decoder`].
    #[default]
    Margin,
    /// The log-odds of class probabilities that explain the probabilities of all columns,
    /// `(1 + f) / 2` with the answer `f` of [`BinaryOutput`], best. Needs a code without zeros.
    LeastSquares,
}

impl Decode {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Margin, Self::LeastSquares];

    /// Its name, as in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Margin => "margin",
            Self::LeastSquares => "least_squares",
        }
    }
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

impl BinaryOutput {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Sign, Self::Clip, Self::Tanh, Self::Probability];

    /// Its name, as in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sign => "sign",
            Self::Clip => "clip",
            Self::Tanh => "tanh",
            Self::Probability => "probability",
        }
    }
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

impl ColumnWeights {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Equal, Self::Accuracy];

    /// Its name, as in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Accuracy => "accuracy",
        }
    }
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
