//! How strongly does a row belong to a class? Rows to scores.
//!
//! A score is any real number that grows with membership; it makes no claim to be a probability.
//! [`Learner`] is one binary problem; [`OneVsRest`] puts many classes together.

mod boosting;
mod class_scorer;
mod length_damping;
mod linear;
mod log_count_ratio;
pub(crate) mod naive_bayes;
mod neighbours;
mod one_vs_rest;
mod output_code_scorer;
mod perceptron;
mod postings;
mod rocchio;
mod saved;
mod tensors;

pub use boosting::{AdaBoost, AdaBoostModel, BoostingKind, Stump, StumpDescription, StumpScorer};
pub use class_scorer::{LinearClassScorer, Link, Storage, WeightMatrix};
pub use length_damping::LengthDamping;
pub(crate) use linear::{DualFit, DualLearner, LaneData, PreparedRows};
pub use linear::{LinearModel, LinearSvm, LogisticRegression};
pub(crate) use naive_bayes::NaiveBayesHeldOut;
pub use naive_bayes::{ClassCounts, NaiveBayes, NaiveBayesKind, NaiveBayesModel, Smoothing};
pub use neighbours::{
    Approximate, NearestNeighbours, Neighbour, NeighbourCount, NeighbourDescription,
    NeighbourIndex, NeighbourScorer, SearchRoom, SearchWork, Vote, recall_at_k,
};
pub use one_vs_rest::{OneVsRest, OneVsRestFit};
pub use output_code_scorer::{OutputCodeDescription, OutputCodeScorer};
pub use perceptron::{Perceptron, VotedDescription, VotedScorer};
pub use postings::Postings;
pub use rocchio::{CentroidDescription, CentroidScorer, Nearness, Rocchio};
pub use saved::{SavedScorer, ScorerDescription, ScorerRoom};
pub use tensors::{NamedTensor, Stored, TensorReader};

use crate::FitError;
use crate::features::{RowView, SparseMatrix};
use crate::problem::Folds;

/// Rows whose truth is known, for one binary problem.
#[derive(Debug, Clone, Copy)]
pub struct Dataset<'a> {
    rows: &'a SparseMatrix,
    labels: &'a [bool],
    weights: &'a [f64],
}

impl<'a> Dataset<'a> {
    /// Rows with a label and a positive weight each.
    pub fn new(
        rows: &'a SparseMatrix,
        labels: &'a [bool],
        weights: &'a [f64],
    ) -> Result<Self, FitError> {
        let mismatch = |right_name, right| FitError::LengthMismatch {
            left_name: "rows",
            left: rows.row_count(),
            right_name,
            right,
        };
        if labels.len() != rows.row_count() {
            return Err(mismatch("labels", labels.len()));
        }
        if weights.len() != rows.row_count() {
            return Err(mismatch("weights", weights.len()));
        }
        Ok(Self {
            rows,
            labels,
            weights,
        })
    }

    /// The rows.
    pub fn rows(&self) -> &'a SparseMatrix {
        self.rows
    }

    /// The truth of each row.
    pub fn labels(&self) -> &'a [bool] {
        self.labels
    }

    /// How much each row counts.
    pub fn weights(&self) -> &'a [f64] {
        self.weights
    }
}

/// Learns from rows whose truth is known. The result is a new value; settings stay reusable.
pub trait Learner {
    /// What fitting returns.
    type Model: Scorer;

    /// Learns from the rows numbered in `members` (rising).
    fn fit_members(&self, data: &Dataset<'_>, members: &[u32]) -> Result<Self::Model, FitError>;

    /// Learns from all rows.
    fn fit(&self, data: &Dataset<'_>) -> Result<Self::Model, FitError> {
        let everyone: Vec<u32> = (0..data.rows.row_count() as u32).collect();
        self.fit_members(data, &everyone)
    }

    /// The model of all rows, and for each row the score that a model which did not learn from it
    /// gives it. Provided: refits once a fold; learners that can do with less override it.
    fn cross_fit(
        &self,
        data: &Dataset<'_>,
        folds: &Folds,
    ) -> Result<(Self::Model, Vec<f64>), FitError> {
        let mut scores = vec![0.0; data.rows.row_count()];
        for fold in 0..folds.count() {
            let (held_out, members): (Vec<u32>, Vec<u32>) =
                (0..data.rows.row_count() as u32).partition(|&row| folds.of(row as usize) == fold);
            let model = self.fit_members(data, &members)?;
            for row in held_out {
                scores[row as usize] = model.score(data.rows.row(row as usize));
            }
        }
        Ok((self.fit(data)?, scores))
    }
}

/// Gives a row a real number that grows with membership. Makes no claim to be a probability.
pub trait Scorer {
    /// The score of a row.
    fn score(&self, row: RowView<'_>) -> f64;
}
