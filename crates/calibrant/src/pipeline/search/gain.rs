//! What a search gains.

use serde::{Deserialize, Serialize};

/// What a search expects of the best that it found, a pool or one fit alone, beside the default.
///
/// # Method
/// Each trial is made on either half of the documents, too. A half alone then makes the whole choice: which weighting and
/// cost is the best of each kind, which kinds are the best, what they weigh in a pool, and whether the pool or the best of
/// them alone is the answer. What that answer, fitted to all folds but one, says of the documents of the other half is held
/// against what the default says of them. Where there was a sample, it chooses, and all documents outside it judge.
/// What is served is chosen and weighed by all documents.
///
/// It would not do to leave out a fold and choose by the forecasts of the others: these come from scorers that learned from
/// the fold, and where two documents are alike by luck, the one passes it on to the other.
///
/// # When it misleads
/// Half of the documents choose less well than all, so that the gain is rather too small. Which trials
/// were made at all (where to climb on from) all documents decided. The standard error is that of other documents and the
/// same training documents; with few of these, others would move the gain more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchGain {
    /// Held-out log loss of what was found, chosen and weighed by documents of another part.
    pub log_loss: f64,
    /// Held-out log loss of the default on the same documents.
    pub default_log_loss: f64,
    /// Standard error of the difference, over documents, or over groups where there are any.
    pub standard_error: f64,
}

/// So many standard errors: what is served instead of the default should hardly ever be luck.
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
