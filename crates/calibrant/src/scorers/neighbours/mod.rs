//! Nearest neighbours: a row belongs where the training rows most like it belong.
//!
//! [`NeighbourIndex`] finds those rows, [`NeighbourScorer`] counts their votes, and
//! [`NearestNeighbours`] is how many of them vote and how.

mod block;
mod choose;
mod index;
mod lists;
mod nearest;
mod scorer;
mod search;
#[cfg(test)]
mod tests;

pub use index::NeighbourIndex;
pub(crate) use scorer::{NeighbourDescription, NeighbourScorer};
pub use search::{Approximate, Neighbour, SearchBuffers, recall_at_k};

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

use crate::FitError;
use crate::problem::Problem;
use crate::scorers::learner::{ClassLearner, Fitted, Variant};

/// The `k` training rows most like a row, by cosine, vote on its classes.
///
/// # Formula
/// ```text
/// s_c = ln (f₊ V_c + π_c) / (f₋ (V - V_c) + 1 - π_c)
/// V_c = Σ v_i over the neighbours of class c,   V = Σ v_i over all neighbours
/// v_i = w_i (majority)   or   w_i cos(x, x_i) (similarity)
/// ```
/// `w_i` is the weight of a training row over the mean weight, `f₊` and `f₋` are what the class's positives
/// and negatives count in training, and `π_c` is the share of the class among the training rows.
/// One vote that is spread as the classes are keeps the score finite; a row without neighbours has
/// the log-odds of the class among the training rows.
///
/// # When it misleads
/// A majority of `k` knows only `k + 1` degrees of belief; votes by similarity know more. Rare classes are
/// outvoted where `k` is larger than they are. The model holds all training rows.
///
/// # Reference
/// Manning, Raghavan and Schütze, *Introduction to Information Retrieval*, section 14.3.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NearestNeighbours {
    /// How many neighbours vote.
    pub k: NeighbourCount,
    /// What a neighbour's vote counts.
    pub vote: Vote,
    /// How much of the index a search may skip at the risk of missing a neighbour; nothing if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approximate: Option<Approximate>,
    /// For the sample of rows by which `k` is chosen.
    pub seed: u64,
}

impl Default for NearestNeighbours {
    fn default() -> Self {
        Self {
            k: NeighbourCount::Chosen,
            vote: Vote::Similarity,
            approximate: None,
            seed: 0,
        }
    }
}

/// How many neighbours vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NeighbourCount {
    /// As many as give the least log loss when each of (up to 2000) training rows is voted on by the others.
    Chosen,
    /// So many.
    Fixed(usize),
}

/// What a neighbour's vote counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vote {
    /// All alike.
    Majority,
    /// Its cosine.
    Similarity,
}

named! {
    Vote, "a way to vote";
    Majority = "majority", "All votes count alike";
    Similarity = "similarity", "A vote counts as much as the neighbour is like the document";
}

impl ClassLearner for NearestNeighbours {
    fn fit(&self, problem: &Problem<'_>) -> Result<Fitted, FitError> {
        self.check()?;
        let mut scorer = NeighbourScorer::new(self, problem)?;
        if self.k == NeighbourCount::Chosen {
            scorer.choose_k(problem.rows, problem.members, self.seed);
        }
        Ok(scorer.into())
    }

    fn name(&self) -> &'static str {
        "nearest neighbours"
    }

    fn variants() -> Vec<Variant<Self>> {
        let help = "Nearest neighbours among the training documents, which vote";
        let usual = Variant::named("knn", help, Self::default());
        vec![usual.or(&["nearest-neighbours"]).searched(70)]
    }

    fn check(&self) -> Result<(), FitError> {
        let bad = |setting, requirement, value: String| {
            Err(FitError::BadSetting {
                setting,
                requirement,
                value,
            })
        };
        if self.k == NeighbourCount::Fixed(0) {
            return bad("the number of neighbours", "at least 1", "0".into());
        }
        match self.approximate {
            Some(how) if !(how.share > 0.0 && how.share <= 1.0) => bad(
                "the share of entries of an approximate search",
                "above 0 and at most 1",
                how.share.to_string(),
            ),
            Some(how) if how.candidates == 0 => bad(
                "the candidates for each neighbour of an approximate search",
                "at least 1",
                "0".into(),
            ),
            _ => Ok(()),
        }
    }

    /// The logarithm of votes for over votes against.
    fn states_log_odds(&self) -> bool {
        true
    }

    fn by_similarity(&self) -> bool {
        true
    }

    fn keeps_rows(&self) -> bool {
        true
    }

    fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn times_as_long(&self) -> f64 {
        10.0
    }
}
