//! Who is asked, and whose answer is taken.

use serde::{Deserialize, Serialize};

/// What is done at a tier.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TierRule {
    /// It is not asked.
    Skip,
    /// It is asked, and its answer taken if it is at least so sure; else the document is handed on.
    From(f64),
    /// It is asked, and its answer taken.
    All,
}

/// Which tier is asked next, or whose answer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CascadeStep {
    /// This tier is to be asked.
    Ask(usize),
    /// The answer of this tier stands.
    Answer(usize),
}

/// What is done at each tier, in their order.
///
/// ```
/// use calibrant_calibration::decision::{CascadePolicy, CascadeStep, TierRule};
/// let policy = CascadePolicy {
///     tiers: vec!["model".to_owned(), "language model".to_owned(), "person".to_owned()],
///     rules: vec![TierRule::From(0.9), TierRule::Skip, TierRule::All],
/// };
/// assert_eq!(policy.first(), CascadeStep::Ask(0));
/// assert_eq!(policy.after(0, 0.95), CascadeStep::Answer(0));
/// assert_eq!(policy.after(0, 0.85), CascadeStep::Ask(2)); // the second is not asked
/// assert_eq!(policy.after(2, 0.0), CascadeStep::Answer(2));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CascadePolicy {
    /// The names of the tiers.
    pub tiers: Vec<String>,
    /// What is done at each.
    pub rules: Vec<TierRule>,
}

impl CascadePolicy {
    /// Whom to ask first.
    pub fn first(&self) -> CascadeStep {
        CascadeStep::Ask(self.next(0))
    }

    /// What follows when this tier has answered with this confidence. One that is not a number is no confidence: the
    /// document is handed on.
    pub fn after(&self, tier: usize, confidence: f64) -> CascadeStep {
        match self.rules.get(tier) {
            Some(TierRule::From(from)) if confidence >= *from => CascadeStep::Answer(tier),
            Some(TierRule::From(_) | TierRule::Skip) if tier + 1 < self.rules.len() => {
                CascadeStep::Ask(self.next(tier + 1))
            }
            _ => CascadeStep::Answer(tier),
        }
    }

    /// The first tier from here on that is asked; the last, if no other.
    fn next(&self, from: usize) -> usize {
        let asked = |tier: &usize| self.rules[*tier] != TierRule::Skip;
        let last = self.rules.len().saturating_sub(1);
        (from..self.rules.len()).find(asked).unwrap_or(last)
    }
}
