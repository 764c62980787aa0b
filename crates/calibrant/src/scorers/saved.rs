//! Any fitted scorer of all classes.

use std::borrow::Borrow;

use serde::{Deserialize, Serialize};

use super::Link;
use super::boosting::{StumpDescription, StumpScorer};
use super::linear_scorer::{LinearClassScorer, LinearDescription};
use super::neighbours::{NeighbourDescription, NeighbourScorer, SearchBuffers};
use super::output_code_scorer::{CodeBuffers, OutputCodeDescription, OutputCodeScorer};
use super::perceptron::{VotedDescription, VotedScorer};
use super::rocchio::{CentroidDescription, CentroidScorer};
use crate::features::RowView;
use crate::numeric::log_odds_against_rest;
use crate::saved::{NamedTensor, TensorReader};

/// What every fitted scorer offers: outputs, their link to classes, their parts for explanations, and the numbers that a
/// model file keeps.
pub trait ClassScorer {
    /// How many outputs there are: as many as classes, or one for two exclusive classes.
    fn output_count(&self) -> usize;

    /// How outputs become scores of classes.
    fn link(&self) -> Link;

    /// How many features there are.
    fn feature_count(&self) -> usize;

    /// Fills `outputs` (one each) before the link is applied. Columns beyond the features that the
    /// scorer knows add nothing.
    fn outputs_into(&self, row: RowView<'_>, buffer: &mut ScorerBuffers, outputs: &mut [f64]);

    /// What each entry of the row added to an output (before the link): the output is a base, which
    /// is whatever the parts leave, plus the sum of `parts`.
    fn parts_into(
        &self,
        row: RowView<'_>,
        output: usize,
        buffer: &mut ScorerBuffers,
        parts: &mut [f64],
    );

    /// The numbers that a file keeps.
    fn tensors(&self) -> Vec<NamedTensor<'_>>;
}

/// A [`ClassScorer`] that can be opened again.
pub(crate) trait OpenScorer: ClassScorer + Sized {
    /// What a file keeps beside the tensors.
    type Description;

    /// What a file keeps beside the tensors.
    fn description(&self) -> Self::Description;

    /// What [`Self::description`] and [`ClassScorer::tensors`] came from; `None` if they do not fit together.
    fn from_tensors(description: Self::Description, reader: &TensorReader<'_>) -> Option<Self>;
}

/// Buffers for scoring, reused from row to row.
#[derive(Debug, Default)]
pub struct ScorerBuffers {
    /// Numbers of any use to a scorer; their contents mean nothing between rows.
    pub(crate) numbers: Vec<f64>,
    /// The answers to a code's binary problems.
    pub(crate) code: CodeBuffers,
    /// For searches among training rows.
    pub(crate) search: SearchBuffers,
}

/// Makes the enums of all scorers and of what files keep of them: one line per kind.
macro_rules! scorers {
    ($($(#[$meta:meta])* $variant:ident: $scorer:ty, held as $held:ty, described by $description:ty;)*) => {
        /// A fitted scorer: rows to one number per output.
        #[derive(Debug, Clone)]
        pub enum SavedScorer {
            $($(#[$meta])* $variant($held),)*
        }

        /// What a scorer keeps beside its tensors.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case", tag = "scorer", deny_unknown_fields)]
        pub enum ScorerDescription {
            $($(#[$meta])* $variant($description),)*
        }

        $(impl From<$scorer> for SavedScorer {
            fn from(scorer: $scorer) -> Self {
                Self::$variant(scorer.into())
            }
        })*

        impl SavedScorer {
            fn inside(&self) -> &dyn ClassScorer {
                match self {
                    $(Self::$variant(scorer) => Borrow::<$scorer>::borrow(scorer),)*
                }
            }

            /// What a file keeps beside the tensors.
            pub fn description(&self) -> ScorerDescription {
                match self {
                    $(Self::$variant(scorer) => ScorerDescription::$variant(scorer.description()),)*
                }
            }

            /// What [`Self::description`] and [`Self::tensors`] came from; `None` if they do not fit together.
            pub fn from_tensors(
                description: ScorerDescription,
                reader: &TensorReader<'_>,
            ) -> Option<Self> {
                match description {
                    $(ScorerDescription::$variant(description) => {
                        <$scorer>::from_tensors(description, reader).map(Self::from)
                    })*
                }
            }
        }
    };
}

scorers! {
    /// Weights: SVM, logistic regression, naive Bayes, averaged perceptron, rules.
    Linear: LinearClassScorer, held as LinearClassScorer, described by LinearDescription;
    /// One centre per class.
    Centroids: CentroidScorer, held as CentroidScorer, described by CentroidDescription;
    /// A committee of stumps per output.
    Stumps: StumpScorer, held as StumpScorer, described by StumpDescription;
    /// Binary scorers under an output code.
    OutputCodes: OutputCodeScorer, held as Box<OutputCodeScorer>, described by OutputCodeDescription;
    /// Training rows that vote.
    Neighbours: NeighbourScorer, held as Box<NeighbourScorer>, described by NeighbourDescription;
    /// Stages of perceptrons that vote.
    Voted: VotedScorer, held as VotedScorer, described by VotedDescription;
}

impl SavedScorer {
    /// How many outputs there are: as many as classes, or one for two exclusive classes.
    pub fn output_count(&self) -> usize {
        self.inside().output_count()
    }

    /// How outputs become scores of classes.
    pub fn link(&self) -> Link {
        self.inside().link()
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
        self.inside().feature_count()
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
    pub fn outputs_into(&self, row: RowView<'_>, buffer: &mut ScorerBuffers, outputs: &mut [f64]) {
        self.inside().outputs_into(row, buffer, outputs);
    }

    /// Fills `scores` with what calibrators see, one per output.
    pub fn scores_into(&self, row: RowView<'_>, buffer: &mut ScorerBuffers, scores: &mut [f64]) {
        let inside = self.inside();
        inside.outputs_into(row, buffer, scores);
        if inside.link() == Link::AgainstRest {
            buffer.numbers.clear();
            buffer.numbers.extend_from_slice(scores);
            log_odds_against_rest(&buffer.numbers, scores);
        }
    }

    /// The scores that calibrators see, one per output.
    pub fn output_scores(&self, row: RowView<'_>) -> Vec<f64> {
        let mut scores = vec![0.0; self.output_count()];
        self.scores_into(row, &mut ScorerBuffers::default(), &mut scores);
        scores
    }

    /// What each entry of the row added to an output (before the link): the output is a base, which
    /// is whatever the parts leave, plus the sum of `parts`.
    pub fn parts_into(
        &self,
        row: RowView<'_>,
        output: usize,
        buffer: &mut ScorerBuffers,
        parts: &mut [f64],
    ) {
        self.inside().parts_into(row, output, buffer, parts);
    }

    /// The numbers that a file keeps.
    pub fn tensors(&self) -> Vec<NamedTensor<'_>> {
        self.inside().tensors()
    }
}
