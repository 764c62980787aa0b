//! Any fitted scorer of all classes.

use serde::{Deserialize, Serialize};

use super::boosting::{StumpDescription, StumpScorer};
use super::class_scorer::{LinearClassScorer, Link};
use super::length_damping::LengthDamping;
use super::neighbours::{NeighbourDescription, NeighbourScorer, SearchRoom};
use super::output_code_scorer::{CodeRoom, OutputCodeDescription, OutputCodeScorer};
use super::perceptron::{VotedDescription, VotedScorer};
use super::rocchio::{CentroidDescription, CentroidScorer};
use super::tensors::{NamedTensor, TensorReader};
use crate::features::RowView;
use crate::numeric::log_odds_against_rest;

/// A fitted scorer: rows to one number an output.
///
/// Every kind offers the same: outputs, their link to classes, their parts for explanations, and
/// the way into a model file and back.
#[derive(Debug, Clone)]
pub enum SavedScorer {
    /// Weights: SVM, logistic regression, naive Bayes, perceptron.
    Linear(LinearClassScorer),
    /// One centre a class.
    Centroids(CentroidScorer),
    /// A committee of stumps an output.
    Stumps(StumpScorer),
    /// Binary scorers under an output code.
    OutputCodes(Box<OutputCodeScorer>),
    /// Training rows that vote.
    Neighbours(Box<NeighbourScorer>),
    /// Stages of perceptrons that vote.
    Voted(VotedScorer),
}

/// Room for scoring, reused from one row to the next.
#[derive(Debug, Default)]
pub struct ScorerRoom {
    /// Numbers of any use to a scorer; their contents mean nothing between rows.
    pub(crate) numbers: Vec<f64>,
    /// The answers to a code's binary problems.
    pub(crate) code: CodeRoom,
    /// For searches among training rows.
    pub(crate) search: SearchRoom,
}

/// What a scorer keeps beside its tensors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "scorer", deny_unknown_fields)]
pub enum ScorerDescription {
    /// Weights.
    Linear {
        /// How outputs become scores.
        link: Link,
        /// How much less terms say where there are many of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        damping: Option<LengthDamping>,
    },
    /// Centres.
    Centroids(CentroidDescription),
    /// Stumps.
    Stumps(StumpDescription),
    /// Binary scorers under an output code.
    OutputCodes(OutputCodeDescription),
    /// Training rows.
    Neighbours(NeighbourDescription),
    /// Stages of perceptrons.
    Voted(VotedDescription),
}

impl From<LinearClassScorer> for SavedScorer {
    fn from(scorer: LinearClassScorer) -> Self {
        Self::Linear(scorer)
    }
}

impl SavedScorer {
    /// How many outputs there are: as many as classes, or one for two exclusive classes.
    pub fn output_count(&self) -> usize {
        match self {
            Self::Linear(scorer) => scorer.output_count(),
            Self::Centroids(scorer) => scorer.output_count(),
            Self::Stumps(scorer) => scorer.output_count(),
            Self::OutputCodes(scorer) => scorer.output_count(),
            Self::Neighbours(scorer) => scorer.output_count(),
            Self::Voted(scorer) => scorer.output_count(),
        }
    }

    /// How outputs become scores of classes.
    pub fn link(&self) -> Link {
        match self {
            Self::Linear(scorer) => scorer.link(),
            Self::Centroids(scorer) => scorer.link(),
            Self::Stumps(scorer) => scorer.link(),
            Self::OutputCodes(scorer) => scorer.link(),
            Self::Neighbours(scorer) => scorer.link(),
            Self::Voted(scorer) => scorer.link(),
        }
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        match self.link() {
            Link::Mirror => 2,
            Link::Independent | Link::AgainstRest => self.output_count(),
        }
    }

    /// How many features there are.
    pub fn feature_count(&self) -> usize {
        match self {
            Self::Linear(scorer) => scorer.feature_count(),
            Self::Centroids(scorer) => scorer.feature_count(),
            Self::Stumps(scorer) => scorer.feature_count(),
            Self::OutputCodes(scorer) => scorer.feature_count(),
            Self::Neighbours(scorer) => scorer.feature_count(),
            Self::Voted(scorer) => scorer.feature_count(),
        }
    }

    /// The weights, where scores are weighted sums.
    pub fn as_linear(&self) -> Option<&LinearClassScorer> {
        match self {
            Self::Linear(scorer) => Some(scorer),
            _ => None,
        }
    }

    /// Fills `outputs` (one each) before the link is applied. Columns beyond the features that the
    /// scorer knows add nothing.
    pub fn outputs_into(&self, row: RowView<'_>, room: &mut ScorerRoom, outputs: &mut [f64]) {
        match self {
            Self::Linear(scorer) => scorer.outputs_into(row, outputs),
            Self::Centroids(scorer) => scorer.outputs_into(row, room, outputs),
            Self::Stumps(scorer) => scorer.outputs_into(row, outputs),
            Self::OutputCodes(scorer) => scorer.outputs_into(row, room, outputs),
            Self::Neighbours(scorer) => scorer.outputs_into(row, room, outputs),
            Self::Voted(scorer) => scorer.outputs_into(row, room, outputs),
        }
    }

    /// Fills `scores` with what calibrators see, one an output.
    pub fn scores_into(&self, row: RowView<'_>, room: &mut ScorerRoom, scores: &mut [f64]) {
        self.outputs_into(row, room, scores);
        if self.link() == Link::AgainstRest {
            room.numbers.clear();
            room.numbers.extend_from_slice(scores);
            log_odds_against_rest(&room.numbers, scores);
        }
    }

    /// The scores that calibrators see, one an output.
    pub fn output_scores(&self, row: RowView<'_>) -> Vec<f64> {
        let mut scores = vec![0.0; self.output_count()];
        self.scores_into(row, &mut ScorerRoom::default(), &mut scores);
        scores
    }

    /// What each entry of the row added to an output (before the link): the output is a base, which
    /// is whatever the parts leave, plus the sum of `parts`.
    pub fn parts_into(
        &self,
        row: RowView<'_>,
        output: usize,
        room: &mut ScorerRoom,
        parts: &mut [f64],
    ) {
        match self {
            Self::Linear(scorer) => {
                let factor = scorer.factor_of(row);
                for ((column, value), part) in row.entries().zip(parts) {
                    let known = column < scorer.feature_count();
                    let weight = if known {
                        scorer.weight(column, output)
                    } else {
                        0.0
                    };
                    *part = factor * value * weight;
                }
            }
            Self::Centroids(scorer) => scorer.parts_into(row, output, room, parts),
            Self::Stumps(scorer) => scorer.parts_into(row, output, parts),
            Self::OutputCodes(scorer) => scorer.parts_into(row, output, room, parts),
            Self::Neighbours(scorer) => scorer.parts_into(row, output, room, parts),
            Self::Voted(scorer) => scorer.parts_into(row, output, room, parts),
        }
    }

    /// What a file keeps beside the tensors.
    pub fn description(&self) -> ScorerDescription {
        match self {
            Self::Linear(scorer) => ScorerDescription::Linear {
                link: scorer.link(),
                damping: scorer.damping(),
            },
            Self::Centroids(scorer) => ScorerDescription::Centroids(scorer.description()),
            Self::Stumps(scorer) => ScorerDescription::Stumps(scorer.description()),
            Self::OutputCodes(scorer) => ScorerDescription::OutputCodes(scorer.description()),
            Self::Neighbours(scorer) => ScorerDescription::Neighbours(scorer.description()),
            Self::Voted(scorer) => ScorerDescription::Voted(scorer.description()),
        }
    }

    /// The numbers that a file keeps.
    pub fn tensors(&self) -> Vec<NamedTensor<'_>> {
        match self {
            Self::Linear(scorer) => scorer.tensors(),
            Self::Centroids(scorer) => scorer.tensors(),
            Self::Stumps(scorer) => scorer.tensors(),
            Self::OutputCodes(scorer) => scorer.tensors(),
            Self::Neighbours(scorer) => scorer.tensors(),
            Self::Voted(scorer) => scorer.tensors(),
        }
    }

    /// What [`Self::description`] and [`Self::tensors`] came from; `None` if they do not fit together.
    pub fn from_tensors(description: ScorerDescription, reader: &TensorReader<'_>) -> Option<Self> {
        Some(match description {
            ScorerDescription::Linear { link, damping } => {
                damping
                    .is_none_or(|damping| damping.is_sound())
                    .then_some(())?;
                let scorer = LinearClassScorer::from_tensors(link, reader)?;
                Self::Linear(scorer.with_damping(damping))
            }
            ScorerDescription::Centroids(description) => {
                Self::Centroids(CentroidScorer::from_tensors(description, reader)?)
            }
            ScorerDescription::Stumps(description) => {
                Self::Stumps(StumpScorer::from_tensors(description, reader)?)
            }
            ScorerDescription::OutputCodes(description) => {
                let scorer = OutputCodeScorer::from_tensors(description, reader)?;
                Self::OutputCodes(Box::new(scorer))
            }
            ScorerDescription::Neighbours(description) => Self::Neighbours(Box::new(
                NeighbourScorer::from_tensors(description, reader)?,
            )),
            ScorerDescription::Voted(description) => {
                Self::Voted(VotedScorer::from_tensors(description, reader)?)
            }
        })
    }
}
