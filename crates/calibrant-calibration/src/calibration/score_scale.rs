//! What a score's number line is: any real number, or a probability that somebody stated.

use serde::{Deserialize, Serialize};

/// How a score as it stands in a file becomes the score that a calibrator sees.
///
/// Stated probabilities (of a language model, of boosted trees) crowd at 0 and 1, where every
/// family of curves would have to be infinitely steep; their log-odds do not. Of several classes,
/// which share a sum of one, the logarithm is taken.
///
/// # Formula
/// ```text
/// number               s
/// probability          ln p/(1-p),  kept within [lowest, highest]
/// class probability    ln p,        at least lowest
/// ```
/// A stated 0 or 1 has no finite log-odds. It was most likely rounded: where the largest other
/// number in the file is `1 - δ`, a 1 stands for `1 - δ/2` or more. So a 0 counts as half the least
/// number above 0, and a 1 falls short of 1 by half of what the largest number below 1 does: the rule by
/// which stated probabilities are measured everywhere ([`StatedTable`](crate::evaluation::StatedTable)). Of several classes that rule
/// looks at the other numbers of the row, too, and the caller brings what a 0 counts as; `lowest` is for files that lack it.
///
/// # When it misleads
/// Numbers between 0 and 1 need not be probabilities. Taking log-odds of a cosine similarity keeps
/// the order, so that calibration still works, but a straight line may fit the plain number better.
///
/// ```
/// use calibrant_calibration::calibration::ScoreScale;
/// let scale = ScoreScale::of_probabilities(&[0.5, 0.99, 1.0, 0.0]);
/// assert_eq!(scale.apply(0.5), 0.0);
/// // By hand: a 1 counts as 0.995, whose log-odds are ln 199, and a 0 as 0.25, with log-odds -ln 3.
/// assert!((scale.apply(1.0) - 199f64.ln()).abs() < 1e-12);
/// assert!((scale.apply(0.0) + 3f64.ln()).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(
    rename_all = "snake_case",
    tag = "score_is",
    try_from = "WrittenScale",
    deny_unknown_fields
)]
pub enum ScoreScale {
    /// Any real number: a margin, a logit, a count.
    Number,
    /// The probability of the positive class.
    Probability {
        /// What a stated 0 counts as, in log-odds.
        lowest: f64,
        /// What a stated 1 counts as, in log-odds.
        highest: f64,
    },
    /// The probability of one class of several.
    ClassProbability {
        /// What a stated 0 counts as, in logarithm.
        lowest: f64,
    },
}

/// As a file has it, before it is believed.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", tag = "score_is", deny_unknown_fields)]
enum WrittenScale {
    Number,
    Probability { lowest: f64, highest: f64 },
    ClassProbability { lowest: f64 },
}

impl TryFrom<WrittenScale> for ScoreScale {
    type Error = &'static str;

    fn try_from(written: WrittenScale) -> Result<Self, Self::Error> {
        match written {
            WrittenScale::Number => Ok(Self::Number),
            WrittenScale::Probability { lowest, highest }
                if lowest.is_finite() && highest.is_finite() && lowest <= highest =>
            {
                Ok(Self::Probability { lowest, highest })
            }
            WrittenScale::ClassProbability { lowest } if lowest.is_finite() => {
                Ok(Self::ClassProbability { lowest })
            }
            _ => Err("the ends of a scale of probabilities must be finite and in order"),
        }
    }
}

/// Where nothing but 0 and 1 was seen, they count as this: the log-odds of the largest number
/// below 1 that can be written.
const END: f64 = 36.7;

impl ScoreScale {
    /// The scale of the probabilities of one class; numbers outside 0 to 1 are passed over.
    pub fn of_probabilities(probabilities: &[f64]) -> Self {
        let seen = probabilities.iter().filter(|&&p| p > 0.0 && p < 1.0);
        let (least, gap) = seen.fold((1.0f64, 1.0f64), |(least, gap), &p| {
            (least.min(p), gap.min(1.0 - p))
        });
        if least == 1.0 {
            return Self::Probability {
                lowest: -END,
                highest: END,
            };
        }
        Self::Probability {
            lowest: log_odds(0.5 * least),
            highest: -log_odds(0.5 * gap),
        }
    }

    /// The scale of the probabilities of several classes.
    pub fn of_class_probabilities(probabilities: &[f64]) -> Self {
        let seen = probabilities.iter().filter(|&&p| p > 0.0 && p <= 1.0);
        let least = seen.fold(f64::INFINITY, |least, &p| least.min(p));
        let lowest = if least < 1.0 {
            least.ln() - std::f64::consts::LN_2
        } else {
            -END
        };
        Self::ClassProbability { lowest }
    }

    /// Whether scores must lie between 0 and 1.
    pub fn is_probability(self) -> bool {
        self != Self::Number
    }

    /// The score that a calibrator sees; finite for every finite score, and rising with it.
    #[inline]
    pub fn apply(self, score: f64) -> f64 {
        match self {
            Self::Number => score,
            Self::Probability { lowest, highest } => {
                log_odds(score.clamp(0.0, 1.0)).clamp(lowest, highest)
            }
            Self::ClassProbability { lowest } => score.clamp(0.0, 1.0).ln().max(lowest),
        }
    }

    /// The log-odds of a stated probability as they are, but for 0 and 1, which count as the ends; a plain
    /// number stays what it is.
    pub fn log_odds_as_stated(self, score: f64) -> f64 {
        match self {
            Self::Probability { lowest, .. } if score <= 0.0 => lowest,
            Self::Probability { highest, .. } if score >= 1.0 => highest,
            Self::Probability { .. } => log_odds(score),
            Self::Number | Self::ClassProbability { .. } => score,
        }
    }

    /// Of probabilities, those that are exactly 0 or 1 and so have no finite log-odds (of several
    /// classes: exactly 0).
    pub fn count_at_ends(self, scores: &[f64]) -> usize {
        let at_end = |score: &&f64| match self {
            Self::Number => false,
            Self::Probability { .. } => **score <= 0.0 || **score >= 1.0,
            Self::ClassProbability { .. } => **score <= 0.0,
        };
        scores.iter().filter(at_end).count()
    }
}

#[inline]
fn log_odds(p: f64) -> f64 {
    p.ln() - (-p).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_but_zeros_and_ones_stays_finite() {
        for scores in [&[][..], &[0.0], &[1.0, 0.0], &[f64::NAN, 2.0]] {
            let scale = ScoreScale::of_probabilities(scores);
            assert_eq!((scale.apply(0.0), scale.apply(1.0)), (-END, END));
            assert!(scale.apply(1e-300) >= -END);
            let scale = ScoreScale::of_class_probabilities(scores);
            assert_eq!((scale.apply(0.0), scale.apply(1.0)), (-END, 0.0));
        }
        assert_eq!(ScoreScale::Number.apply(-1e308), -1e308);
    }

    #[test]
    fn single_precision_ends_where_it_is_rounded() {
        // The largest f32 below one is 1 - 2^-24; a one stands for 1 - 2^-25: by hand ln(2^25 - 1).
        let below_one = 1.0 - 2f64.powi(-24);
        let scale = ScoreScale::of_probabilities(&[1.0, below_one, 0.3]);
        let expected = (2f64.powi(24) - 1.0).ln() + 2f64.ln();
        assert!((scale.apply(1.0) - expected).abs() < 1e-6);
        assert_eq!(scale.count_at_ends(&[1.0, below_one, 0.0]), 2);
    }

    #[test]
    fn what_is_written_is_read_back_and_nonsense_is_refused() {
        for scale in [
            ScoreScale::Number,
            ScoreScale::of_probabilities(&[0.2, 0.7]),
            ScoreScale::of_class_probabilities(&[0.2, 0.7]),
        ] {
            let json = serde_json::to_string(&scale).unwrap();
            assert_eq!(serde_json::from_str::<ScoreScale>(&json).unwrap(), scale);
        }
        for json in [
            r#"{"score_is":"probability","lowest":1.0,"highest":-1.0}"#,
            r#"{"score_is":"probability","lowest":null,"highest":1.0}"#,
            r#"{"score_is":"percent"}"#,
        ] {
            assert!(serde_json::from_str::<ScoreScale>(json).is_err(), "{json}");
        }
    }

    proptest! {
        #[test]
        fn order_is_kept(seen in prop::collection::vec(0.0f64..=1.0, 0..20), a in 0.0f64..=1.0, b in 0.0f64..=1.0) {
            for scale in [ScoreScale::of_probabilities(&seen), ScoreScale::of_class_probabilities(&seen)] {
                let (low, high) = (scale.apply(a.min(b)), scale.apply(a.max(b)));
                prop_assert!(low.is_finite() && high.is_finite() && low <= high);
            }
        }
    }
}
