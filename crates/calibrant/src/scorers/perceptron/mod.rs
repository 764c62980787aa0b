//! Perceptrons: learn from mistakes, then let every stage of the learning have its say.

mod averaged;
#[cfg(test)]
mod tests;
mod train;
mod voted;

pub(crate) use voted::{VotedDescription, VotedScorer};

use serde::{Deserialize, Serialize};

use crate::FitError;
use crate::problem::Problem;
use crate::scorers::learner::{ClassLearner, Fitted, Variant};
use train::Examples;

/// A perceptron for each class against the rest.
///
/// # Method
/// Rows are visited one after the other, in a new order each epoch. Where the weights put a row on the
/// wrong side, `y (w·x + b) <= 0`, it is added to them: `w += η y x`, `b += η y`, where `η` is the
/// row's weight (over the mean weight) times what its side counts in training. The last weights depend much on the last
/// mistakes; two ways use all that there have been:
///
/// - *averaged*: the mean of the weights over all visits, a linear scorer;
/// - *voted*: every stage of the weights votes with as many votes as visits it stood, and the score is
///   `ln (votes for + ½) / (votes against + ½)`.
///
/// # When it misleads
/// Nothing in training makes the score a probability. The average never stops moving where no plane
/// separates the classes; a few epochs are enough.
///
/// # Reference
/// Freund and Schapire, *Large Margin Classification Using the Perceptron Algorithm*, Machine Learning 37
/// (1999). The log-ratio of votes as a score is proposed by Bennett (SIGIR 2003) as future work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Perceptron {
    /// How often every row is visited.
    pub epochs: usize,
    /// Whether the stages vote; their average decides otherwise.
    pub voted: bool,
    /// For the order in which rows are visited.
    pub seed: u64,
}

impl Default for Perceptron {
    fn default() -> Self {
        Self {
            epochs: 10,
            voted: false,
            seed: 0,
        }
    }
}

impl ClassLearner for Perceptron {
    fn fit(&self, problem: &Problem<'_>) -> Result<Fitted, FitError> {
        self.check()?;
        let examples = Examples::new(problem)?;
        let mistakes = examples.mistakes(self.epochs, self.seed);
        Ok(if self.voted {
            VotedScorer::new(&examples, &mistakes)?.into()
        } else {
            averaged::average(&examples, &mistakes)?.into()
        })
    }

    fn name(&self) -> &'static str {
        if self.voted {
            "voted perceptron"
        } else {
            "averaged perceptron"
        }
    }

    fn variants() -> Vec<Variant<Self>> {
        let help = "Averaged (or voted) perceptron";
        vec![Variant::named("perceptron", help, Self::default()).searched(60)]
    }

    fn check(&self) -> Result<(), FitError> {
        if (1..=10_000).contains(&self.epochs) {
            return Ok(());
        }
        Err(FitError::BadSetting {
            setting: "the number of epochs",
            requirement: "1 to 10000",
            value: self.epochs.to_string(),
        })
    }

    /// The score of votes is the logarithm of those for over those against; that of the average is a margin.
    fn states_log_odds(&self) -> bool {
        self.voted
    }

    fn is_linear(&self) -> bool {
        !self.voted
    }

    fn weighs_columns(&self) -> bool {
        true
    }

    fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn times_as_long(&self) -> f64 {
        1.5
    }
}
