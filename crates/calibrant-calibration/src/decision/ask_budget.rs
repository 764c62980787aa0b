//! How many documents a person has time for, and which they should be.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How many documents a person looks at: a number, or a share of all. Written `20` or `5%`, in JSON as such a text.
///
/// # Formula
/// ```text
/// worth of asking = min over other actions a of Σ_t P(t) cost(t, a)  −  Σ_t P(t) cost(t, ask)
/// ```
/// The documents with the largest worth are chosen, of equals the earlier; none whose worth is below zero, since to ask would
/// cost more than it saves. That is the best use of so many looks, if the probabilities are right.
///
/// ```
/// use calibrant_calibration::decision::AskBudget;
/// let budget: AskBudget = "50%".parse()?;
/// assert_eq!(budget.choose(&[0.1, 0.4, 0.4, 0.3]), [false, true, true, false]);
/// assert_eq!(AskBudget::Count(3).choose(&[0.1, -0.2, 0.4]), [true, false, true]);
/// # Ok::<(), calibrant_calibration::decision::AskBudgetError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum AskBudget {
    /// So many documents.
    Count(usize),
    /// This share of them, between 0 and 1, rounded down.
    Share(f64),
}

/// What is not a number of documents, nor a share of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a number of documents, nor a share such as 5%")]
pub struct AskBudgetError(pub String);

impl AskBudget {
    /// How many of so many documents that are.
    pub fn count(self, documents: usize) -> usize {
        match self {
            Self::Count(count) => count.min(documents),
            // A share of 10 % of 30 is 3, whatever the last bit of 0.1 says.
            Self::Share(share) => ((share * documents as f64 + 1e-9) as usize).min(documents),
        }
    }

    /// Which documents to ask about, by what it is worth for each.
    pub fn choose(self, worth: &[f64]) -> Vec<bool> {
        let mut order: Vec<usize> = (0..worth.len()).filter(|&row| worth[row] >= 0.0).collect();
        order.sort_by(|&a, &b| worth[b].total_cmp(&worth[a]));
        let mut chosen = vec![false; worth.len()];
        for &row in order.iter().take(self.count(worth.len())) {
            chosen[row] = true;
        }
        chosen
    }
}

impl fmt::Display for AskBudget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(formatter, "{count}"),
            Self::Share(share) => write!(formatter, "{}%", 100.0 * share),
        }
    }
}

impl FromStr for AskBudget {
    type Err = AskBudgetError;

    fn from_str(text: &str) -> Result<Self, AskBudgetError> {
        let wrong = || AskBudgetError(text.to_owned());
        let Some(share) = text.trim().strip_suffix('%') else {
            return Ok(Self::Count(text.trim().parse().map_err(|_| wrong())?));
        };
        let share: f64 = share.trim().parse().map_err(|_| wrong())?;
        match (0.0..=100.0).contains(&share) {
            true => Ok(Self::Share(share / 100.0)),
            false => Err(wrong()),
        }
    }
}

impl From<AskBudget> for String {
    fn from(budget: AskBudget) -> Self {
        budget.to_string()
    }
}

impl TryFrom<String> for AskBudget {
    type Error = AskBudgetError;

    fn try_from(text: String) -> Result<Self, AskBudgetError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_numbers_or_shares() {
        assert_eq!("20".parse(), Ok(AskBudget::Count(20)));
        assert_eq!(" 5 %".parse(), Ok(AskBudget::Share(0.05)));
        for wrong in ["", "-1", "0.5", "101%", "-1%", "NaN%", "ten", "%"] {
            assert!(wrong.parse::<AskBudget>().is_err(), "{wrong}");
        }
        let budget = AskBudget::Share(0.25);
        let written = serde_json::to_string(&budget).unwrap();
        assert_eq!(serde_json::from_str::<AskBudget>(&written).unwrap(), budget);
        assert_eq!(AskBudget::Share(0.1).count(30), 3);
        assert_eq!((budget.count(7), AskBudget::Count(9).count(7)), (1, 7));
    }

    #[test]
    fn no_other_choice_of_as_many_saves_more() {
        let mut random = crate::numeric::Random::from_seed(5);
        for _ in 0..20 {
            let worth: Vec<f64> = (0..10)
                .map(|_| (8.0 * random.normal()).round() / 4.0)
                .collect();
            let saved = |chosen: u32| -> f64 {
                (0..10)
                    .filter(|row| chosen >> row & 1 == 1)
                    .map(|row| worth[row as usize])
                    .sum()
            };
            let best = (0..1u32 << 10)
                .filter(|chosen| chosen.count_ones() <= 4)
                .map(saved);
            let best = best.fold(f64::NEG_INFINITY, f64::max);
            let chosen = AskBudget::Count(4).choose(&worth);
            let sum: f64 = worth
                .iter()
                .zip(&chosen)
                .filter(|(_, c)| **c)
                .map(|(w, _)| w)
                .sum();
            assert!((sum - best).abs() < 1e-12);
        }
    }
}
