//! How strongly does a row belong to a class? Rows to scores.
//!
//! A score is any real number that grows with membership; it makes no claim to be a probability.
//! [`Classifier`] is any learner with its settings, as [`FitSettings`](crate::FitSettings) take it; [`LearnerName`] are their
//! names. Inside, a `ClassLearner` learns all classes of a `Problem`, and `SavedScorer` is what any of them makes.

mod boosting;
mod borrowed;
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

pub(crate) use boosting::StumpScorer;
pub use boosting::{AdaBoost, BoostingKind};
pub(crate) use borrowed::{BorrowedLearner, BorrowedOutput, BorrowedProblem};
pub use classifier::{Classifier, LearnerName};
pub(crate) use held_out_outputs::HeldOutOutputs;
pub(crate) use learner::{CrossFit, FoldSource, Reads, cross_fit_anew};
pub use length_damping::LengthDamping;
pub use linear::{LinearSvm, LogisticRegression};
pub(crate) use linear_scorer::{LinearClassScorer, LinearDescription, Link, WeightMatrix};
pub use naive_bayes::{NaiveBayes, NaiveBayesKind, Smoothing};
pub use neighbours::{Approximate, NearestNeighbours, NeighbourCount, Vote};
pub use perceptron::Perceptron;
pub use rocchio::{Nearness, Rocchio};
pub use rules::Rules;
pub(crate) use saved::OpenScorer;

pub(crate) use crate::saved::{NamedTensor, Storage, Stored, TensorReader};
// Settings of the linear learners.
pub use crate::solvers::{HingeLoss, SolverLimits};

// Not part of the documented interface: what learners make of rows, for tests, experiments and what is timed.
#[doc(hidden)]
pub use boosting::AdaBoostModel;
#[doc(hidden)]
pub use learner::{ClassLearner, Fitted};
#[doc(hidden)]
pub use neighbours::{Neighbour, NeighbourIndex, SearchBuffers, recall_at_k};
#[doc(hidden)]
pub use output_code_scorer::OutputCodeScorer;
#[doc(hidden)]
pub use saved::{ClassScorer, SavedScorer, ScorerBuffers, ScorerDescription};
