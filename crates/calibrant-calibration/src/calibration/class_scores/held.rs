//! A calibrator of all classes that says no more than it has seen.

use serde::{Deserialize, Serialize};

use super::{ClassBuffers, HeldOutClassScores, SavedMulticlassCalibrator as Saved, tame};
use crate::calibration::held::{MARGIN, ends_of};

/// A calibrator of all classes that holds where the examples end, with a margin of a tenth of their range: lines go on without
/// end, and what one mistyped number would make them say is not to be trusted.
///
/// # Formula
/// ```text
/// s_c -> max(s_c, max_k s_k - gap)           where only differences of scores count
/// s_c -> s_c between low_c and high_c        where scores count as they are (vector scaling)
/// ```
/// `gap` is the farthest that any score of the examples lies below the highest of its row. It is one for all classes, so that
/// their order stays; and what is added to all scores of a row still changes nothing.
///
/// ```
/// use calibrant_calibration::calibration::{CalibratorKind, ClassBuffers, HeldOutClassScores, MulticlassKind};
/// use calibrant_calibration::Probability;
/// // The higher score is right three times of four, by a difference of 1: e^β = 3.
/// let held_out = HeldOutClassScores::assume([1.0, 0.0].repeat(4), 2, vec![0, 0, 0, 1])?;
/// let calibrator = MulticlassKind::Temperature.choose(&held_out, CalibratorKind::Auto)?.calibrator;
/// let mut said = [Probability::from_log_odds(0.0); 2];
/// calibrator.probabilities_into(&[1e6, 0.0], &mut ClassBuffers::default(), &mut said);
/// assert!((said[0].log_odds() - 1.1 * 3f64.ln()).abs() < 1e-9); // by hand: β times a difference of 1.1
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct HeldClasses {
    inner: Saved,
    ends: ScoreEnds,
}

/// Where the scores of examples end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ScoreEnds {
    /// How far a score lies below the highest of its row, at most.
    Gap(f64),
    /// Class by class.
    Each {
        /// The least score.
        low: Vec<f64>,
        /// The largest.
        high: Vec<f64>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    inner: Saved,
    ends: ScoreEnds,
}

impl TryFrom<Unchecked> for HeldClasses {
    type Error = &'static str;

    fn try_from(read: Unchecked) -> Result<Self, Self::Error> {
        let Unchecked { inner, ends } = read;
        let classes = inner.class_count();
        let sound = match &ends {
            ScoreEnds::Gap(gap) => gap.is_finite() && *gap >= 0.0,
            ScoreEnds::Each { low, high } => {
                let in_order =
                    |(low, high): (&f64, &f64)| low <= high && low.is_finite() && high.is_finite();
                low.len() == classes && high.len() == classes && low.iter().zip(high).all(in_order)
            }
        };
        if !sound
            || matches!(
                inner,
                Saved::Held(_) | Saved::Pool(_) | Saved::TwoPasses(_) | Saved::Bounded(_)
            )
        {
            return Err("one way holds below one score of each class and above another");
        }
        Ok(Self { inner, ends })
    }
}

impl HeldClasses {
    /// The calibrator, which goes on beyond the examples.
    pub fn inner(&self) -> &Saved {
        &self.inner
    }

    /// Where it holds.
    pub fn ends(&self) -> &ScoreEnds {
        &self.ends
    }

    pub(super) fn ln_weights_into(&self, scores: &[f64], buffer: &mut ClassBuffers) {
        let mut held = std::mem::take(&mut buffer.held);
        held.clear();
        match &self.ends {
            ScoreEnds::Gap(gap) => {
                let top = highest(scores);
                if scores.iter().all(|&score| top - tame(score) <= *gap) {
                    self.inner.ln_weights_into(scores, buffer);
                    buffer.held = held;
                    return;
                }
                // Counted from the highest, so that one far out leaves the others their digits.
                held.extend(scores.iter().map(|&score| (tame(score) - top).max(-gap)));
            }
            ScoreEnds::Each { low, high } => {
                let ends = low.iter().zip(high);
                let each = scores.iter().zip(ends);
                held.extend(each.map(|(&score, (&low, &high))| tame(score).clamp(low, high)));
            }
        }
        self.inner.ln_weights_into(&held, buffer);
        buffer.held = held;
    }
}

fn highest(scores: &[f64]) -> f64 {
    let tamed = scores.iter().map(|&score| tame(score));
    tamed.fold(f64::NEG_INFINITY, f64::max)
}

impl Saved {
    /// The same, held where these examples end. Curves that say no more beyond them anyway stay as they are.
    pub(super) fn held(self, held_out: &HeldOutClassScores) -> Self {
        let classes = held_out.class_count();
        let ends = match self {
            Self::Temperature(_) | Self::Coupling(_) | Self::Dirichlet(_) => {
                let rows = held_out.scores().chunks_exact(classes);
                let gaps = rows
                    .map(|row| highest(row) - row.iter().copied().fold(f64::INFINITY, f64::min));
                ScoreEnds::Gap((1.0 + MARGIN) * gaps.fold(0.0, f64::max))
            }
            Self::Vector(_) => {
                let of_class = |class: usize| {
                    let column = held_out.scores()[class..].iter().step_by(classes);
                    ends_of(column.copied())
                };
                let (low, high) = (0..classes).map(of_class).unzip();
                ScoreEnds::Each { low, high }
            }
            _ => return self,
        };
        Self::Held(Box::new(HeldClasses { inner: self, ends }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probability;
    use crate::calibration::{
        CalibratorKind, Dirichlet, MulticlassKind, PairwiseCoupling, Temperature, VectorScaling,
    };
    use crate::numeric::Random;

    /// Three classes whose scores say which is likeliest.
    fn draw(seed: u64, count: usize) -> HeldOutClassScores {
        let mut random = Random::from_seed(seed);
        let (mut scores, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let row: [f64; 3] = std::array::from_fn(|_| 1.5 * random.normal());
            let weights = row.map(f64::exp);
            let mut left = random.uniform() * weights.iter().sum::<f64>();
            let label = weights.iter().position(|weight| {
                left -= weight;
                left <= 0.0
            });
            scores.extend(row);
            labels.push(label.unwrap_or(2) as u32);
        }
        HeldOutClassScores::assume(scores, 3, labels).unwrap()
    }

    fn said(calibrator: &Saved, scores: &[f64]) -> Vec<f64> {
        let mut out = vec![Probability::from_log_odds(0.0); scores.len()];
        calibrator.probabilities_into(scores, &mut ClassBuffers::default(), &mut out);
        out.iter().map(|p| p.log_odds()).collect()
    }

    #[test]
    fn every_way_holds_beyond_the_examples() {
        let held_out = draw(1, 400);
        for kind in MulticlassKind::WAYS
            .into_iter()
            .chain([MulticlassKind::Auto])
        {
            let choice = kind.choose(&held_out, CalibratorKind::Auto).unwrap();
            for class in 0..3 {
                for sign in [-1.0, 1.0] {
                    let at = |size: f64| {
                        let mut row = [0.1, -0.2, 0.3];
                        row[class] = sign * size;
                        said(&choice.calibrator, &row)
                    };
                    let (far, farther) = (at(1e3), at(1e9));
                    assert_eq!(far, farther, "{} {class}", kind.name());
                    // Scores within 6 nats of each other were seen: twice that is out of all question.
                    assert!(
                        far.iter().all(|l| l.abs() < 20.0),
                        "{} {far:?}",
                        kind.name()
                    );
                }
            }
        }
    }

    #[test]
    fn nothing_changes_within_the_examples() {
        let held_out = draw(2, 300);
        let plain: [Saved; 4] = [
            Temperature.fit(&held_out).unwrap().into(),
            VectorScaling.fit(&held_out).unwrap().into(),
            Dirichlet.fit(&held_out).unwrap().into(),
            PairwiseCoupling.fit(&held_out).unwrap().into(),
        ];
        for calibrator in plain {
            let held = calibrator.clone().held(&held_out);
            assert!(matches!(held, Saved::Held(_)));
            assert_eq!(held.kind(), calibrator.kind());
            for example in 0..held_out.len() {
                let row = held_out.row(example);
                assert_eq!(said(&held, row), said(&calibrator, row));
            }
        }
    }

    /// Scores of long documents all lie far below those of short ones: only their differences count.
    #[test]
    fn what_is_added_to_all_scores_of_a_row_changes_nothing() {
        let held_out = draw(3, 300);
        for kind in [
            MulticlassKind::Temperature,
            MulticlassKind::Dirichlet,
            MulticlassKind::Coupling,
        ] {
            let choice = kind.choose(&held_out, CalibratorKind::Auto).unwrap();
            let (near, far) = ([1.0, 0.0, -0.5], [-999.0, -1000.0, -1000.5]);
            let both = said(&choice.calibrator, &near).into_iter();
            for (near, far) in both.zip(said(&choice.calibrator, &far)) {
                assert!((near - far).abs() < 1e-9, "{} {near} {far}", kind.name());
            }
        }
    }

    #[test]
    fn a_file_cannot_turn_the_ends_around() {
        let inner = r#"{"method":"temperature","inverse_temperature":1,"class_count":2}"#;
        let of = |inner: &str, ends: &str| {
            let json = format!(r#"{{"method":"held","inner":{inner},"ends":{ends}}}"#);
            serde_json::from_str::<Saved>(&json)
        };
        assert!(of(inner, r#"{"gap":2}"#).is_ok());
        assert!(of(inner, r#"{"each":{"low":[0,0],"high":[1,1]}}"#).is_ok());
        for wrong in [
            r#"{"gap":-1}"#,
            r#"{"gap":1e999}"#,
            r#"{"each":{"low":[0],"high":[1]}}"#,
            r#"{"each":{"low":[0,2],"high":[1,1]}}"#,
        ] {
            assert!(of(inner, wrong).is_err(), "{wrong}");
        }
        let twice = format!(r#"{{"method":"held","inner":{inner},"ends":{{"gap":2}}}}"#);
        assert!(of(&twice, r#"{"gap":2}"#).is_err());
    }
}
