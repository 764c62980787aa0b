//! What a search gains.

use serde::{Deserialize, Serialize};

/// What a search expects of the best that it found, a pool or one fit alone, beside the default.
///
/// # Method
/// For every fold the whole choice is made again without its documents: which weighting and price is the best of each kind,
/// which kinds are the best, what they weigh in the pool, and whether the pool or the best of them alone is the answer. What
/// that answer says of the fold's documents is held against what the default says of them. Where a sample decided
/// what was tried on all documents, those outside the sample alone are judges.
///
/// # When it misleads
/// Each trial is fitted once to all folds but one, so that forecasts of other folds, which choose, come from scorers
/// that learned from this one; and which trials were made at all (where to climb on from) all documents decided.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchGain {
    /// Held-out log loss of what was found, chosen and weighed without the document's fold.
    pub log_loss: f64,
    /// Held-out log loss of the default on the same documents.
    pub default_log_loss: f64,
    /// Standard error of the difference, over documents, or over groups where there are any.
    pub standard_error: f64,
}

/// So many standard errors: what is served in place of the default should hardly ever be luck.
const CLEAR: f64 = 2.0;

impl SearchGain {
    /// Whether what was found is better than the default by more than chance would have it.
    ///
    /// ```
    /// use calibrant::pipeline::SearchGain;
    /// let gain = |log_loss| SearchGain { log_loss, default_log_loss: 0.5, standard_error: 0.01 };
    /// assert!(gain(0.475).is_clear()); // by hand: 2.5 standard errors lower
    /// assert!(!gain(0.499).is_clear()); // a tenth of one
    /// ```
    pub fn is_clear(&self) -> bool {
        self.default_log_loss - self.log_loss > CLEAR * self.standard_error
    }
}
