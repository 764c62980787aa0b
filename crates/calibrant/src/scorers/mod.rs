//! How strongly does a row belong to a class? Rows to scores.
//!
//! A score is any real number that grows with membership; it makes no claim to be a probability.
//! A [`ClassLearner`] learns all classes of a [`Problem`](crate::problem::Problem); [`Classifier`] is any of them, and
//! [`SavedScorer`] is what any of them makes.

mod boosting;
mod classifier;
mod held_out_outputs;
mod learner;
mod length_damping;
mod linear;
mod linear_scorer;
mod log_count_ratio;
pub(crate) mod naive_bayes;
mod neighbours;
mod one_vs_rest;
mod output_code_scorer;
mod perceptron;
mod postings;
mod rocchio;
mod rules;
mod saved;

pub use boosting::{AdaBoost, AdaBoostModel, BoostingKind, Stump, StumpDescription, StumpScorer};
pub use classifier::{Classifier, LearnerName};
pub use held_out_outputs::HeldOutOutputs;
pub(crate) use learner::cross_fit_anew;
pub use learner::{ClassLearner, Cost, CrossFit, Fitted, FoldSource, Reads, Variant};
pub use length_damping::LengthDamping;
pub use linear::{LinearSvm, LogisticRegression};
pub use linear_scorer::{LinearClassScorer, LinearDescription, Link, WeightMatrix};
pub use naive_bayes::{ClassCounts, NaiveBayes, NaiveBayesKind, Smoothing};
pub use neighbours::{
    Approximate, NearestNeighbours, Neighbour, NeighbourCount, NeighbourDescription,
    NeighbourIndex, NeighbourScorer, SearchBuffers, SearchWork, Vote, recall_at_k,
};
pub use output_code_scorer::{OutputCodeDescription, OutputCodeScorer};
pub use perceptron::{Perceptron, VotedDescription, VotedScorer};
pub use postings::Postings;
pub use rocchio::{CentroidDescription, CentroidScorer, Nearness, Rocchio};
pub use rules::Rules;
pub use saved::{ClassScorer, OpenScorer, SavedScorer, ScorerBuffers, ScorerDescription};

pub use crate::saved::{NamedTensor, Storage, Stored, TensorReader};
