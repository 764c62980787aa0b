//! How much less each term says in a long document.

use serde::{Deserialize, Serialize};

/// Weighs what the terms of a document say together by how many there are.
///
/// # Formula
/// ```text
/// output = bias + Σ_t x_t w_t · ((ū + k) / (u + k))^γ,     u = Σ_t x_t over the terms that the model knows
/// ```
/// `ū` is the usual length and `k` says from which length on it counts: of much shorter documents all terms count alike. A `u` below the least length that was learned from counts as that. With `γ = 0` every term counts in full, as naive Bayes has it; with `γ = 1` it is the mean
/// over terms that counts. Words come in bursts: what is said with the hundredth word has mostly been said before, and
/// sums over long documents are too extreme by more than sums over short ones. No curve over such sums can set both right,
/// since the same sum comes from a short document that is clear and from a long one that is not.
///
/// # When it misleads
/// One exponent serves all documents: a long list of unlike things is taken for a long text about one.
///
/// ```
/// use calibrant::scorers::LengthDamping;
/// let damping = LengthDamping { exponent: 0.5, usual: 99.0, offset: 1.0, least: 3.0 };
/// assert_eq!(damping.factor(99.0), 1.0);
/// assert_eq!(damping.factor(399.0), 0.5); // by hand: √(100 / 400)
/// assert_eq!(damping.factor(3.0), 5.0); // by hand: √(100 / 4)
/// assert_eq!(damping.factor(0.0), 5.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LengthDamping {
    /// `γ`, from 0 to 1.
    pub exponent: f64,
    /// `ū`, the mean over rows that were learned from.
    pub usual: f64,
    /// `k`, more than zero.
    pub offset: f64,
    /// Of a hundred rows that were learned from one is shorter: how much more the terms of still shorter ones say has not been seen.
    pub least: f64,
}

impl LengthDamping {
    /// What the terms' sum is multiplied with.
    #[inline]
    pub fn factor(&self, length: f64) -> f64 {
        ((self.usual + self.offset) / (length.max(self.least) + self.offset)).powf(self.exponent)
    }

    /// Whether factors are numbers of ordinary size for all lengths.
    pub(super) fn is_sound(&self) -> bool {
        let is_length = |length: f64| (0.0..1e100).contains(&length);
        (0.0..=1.0).contains(&self.exponent)
            && is_length(self.usual)
            && is_length(self.least)
            && (1e-3..1e100).contains(&self.offset)
    }
}
