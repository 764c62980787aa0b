//! Why nothing can be predicted.

use super::Predictor;
use crate::corpus::ReadError;
use crate::decision::{ASK, CostError, OtherError, PriorError};
use crate::jobs::content::Unreadable;
use crate::jobs::promises::PromiseError;
use crate::{CalibrationError, FitError};

/// Why nothing can be predicted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// The documents cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Something is wrong with the shares of classes.
    #[error(transparent)]
    Prior(#[from] PriorError),
    /// Shares cannot be estimated from these documents.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The model does not allow such a rule.
    #[error(transparent)]
    Other(#[from] OtherError),
    /// The costs cannot be used with the model.
    #[error(transparent)]
    Costs(#[from] CostError),
    /// Something cannot be promised.
    #[error(transparent)]
    Promise(#[from] PromiseError),
    /// A class is called as documents of none of the classes would be.
    #[error("the model already has a class named `{}`", Predictor::OTHER)]
    OtherIsAClass,
    /// A class is called as asking a person is.
    #[error("the model already has a class named `{ASK}`")]
    AskIsAClass,
    /// The documents most worth a person's time are told from all.
    #[error("the documents most worth a person's time are chosen from many, not from one")]
    AskAboutOne,
    /// Shifted shares say how common the known classes are, not whether there are others.
    #[error("a rule for documents of no class cannot be combined with other class priors")]
    OtherWithPrior,
    /// With `other` there are more classes than scores.
    #[error("scores cannot be combined with a rule for documents of no class")]
    OtherWithScores,
    /// A combination has no learner of its own.
    #[error("a combination of models has no scores of its own")]
    NoScores,
    /// A text for a model that reads none.
    #[error("the model reads no text, only {}", fields.join(", "))]
    NoText {
        /// What it reads.
        fields: Vec<String>,
    },
    /// Numbered features for a model that reads none.
    #[error("the model reads no numbered features: it was fitted on text or named columns")]
    NoFeatures,
    /// A vector has another length than those that the model learned from.
    #[error(
        "the vector `{field}` has {found} numbers, and those that the model learned from have {learned}"
    )]
    VectorLength {
        /// The field.
        field: String,
        /// How many numbers it has.
        found: usize,
        /// How many those have that the model learned from.
        learned: usize,
    },
    /// Shares are estimated from many documents.
    #[error("class priors are estimated from many documents, not from one")]
    OneDocument,
}

impl From<CalibrationError> for PredictError {
    fn from(error: CalibrationError) -> Self {
        Self::Fit(error.into())
    }
}

impl From<Unreadable> for PredictError {
    fn from(content: Unreadable) -> Self {
        match content {
            Unreadable::Text(fields) => Self::NoText { fields },
            Unreadable::Features => Self::NoFeatures,
            Unreadable::Vector {
                field,
                found,
                learned,
            } => Self::VectorLength {
                field,
                found,
                learned,
            },
        }
    }
}
