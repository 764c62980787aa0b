//! A curve over what other calibrators have said.

use serde::{Deserialize, Serialize};

use super::{ClassBuffers, SavedMulticlassCalibrator as Saved, SharedCurveCalibrator};
use crate::Probability;

/// What a calibrator says, set right by one curve over its log-odds.
///
/// # Formula
/// ```text
/// Q(c) ∝ e^{g(l_c) + a_c (l_c - m) + b_c},     l_c = ln P(c)/(1 - P(c))
/// ```
/// `P` is what the first pass says; the second is a [`super::SharedCurve`] that was fitted to what first passes without the
/// example's fold say of it. Naive Bayes counts every word as if it stood alone, so that long documents look far surer than
/// short ones: no curve of single scores sets both right, and the second pass can, since it sees how sure the first was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct TwoPasses {
    pub(super) first: Saved,
    pub(super) second: SharedCurveCalibrator,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    first: Saved,
    second: SharedCurveCalibrator,
}

impl TryFrom<Unchecked> for TwoPasses {
    type Error = &'static str;

    fn try_from(read: Unchecked) -> Result<Self, Self::Error> {
        let Unchecked { first, second } = read;
        if matches!(first, Saved::TwoPasses(_) | Saved::Bounded(_))
            || first.class_count() != second.class_count()
        {
            return Err(
                "two passes must have the same classes, and the first must not be a second pass itself",
            );
        }
        Ok(Self { first, second })
    }
}

impl TwoPasses {
    /// What speaks first.
    pub fn first(&self) -> &Saved {
        &self.first
    }

    /// The curve over what that says.
    pub fn second(&self) -> &SharedCurveCalibrator {
        &self.second
    }

    pub(super) fn ln_weights_into(&self, scores: &[f64], buffer: &mut ClassBuffers) {
        self.first.ln_weights_into(scores, buffer);
        buffer.fill_log_odds();
        let said = std::mem::take(&mut buffer.log_odds);
        buffer.fill(said.iter().enumerate().map(|(class, &log_odds)| {
            let score = said_again(Probability::from_log_odds(log_odds));
            self.second.log_weight(class, score)
        }));
        buffer.log_odds = said;
    }
}

/// Beyond these log-odds nothing more is learned from how sure the first pass was.
const MOST_LOG_ODDS: f64 = 30.0;

/// What the second pass takes for the score of a class.
pub(super) fn said_again(probability: Probability) -> f64 {
    probability.log_odds().clamp(-MOST_LOG_ODDS, MOST_LOG_ODDS)
}
