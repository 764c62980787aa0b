//! A curve that says no more than it has seen.

use serde::{Deserialize, Serialize};

use super::{Calibrator, HeldOutScores, Turning};
use crate::Probability;

/// How far beyond the examples a curve goes on, as a share of their range.
pub(super) const MARGIN: f64 = 0.1;

/// A curve that holds where the examples end: beyond their scores, and a margin of a tenth of their range, it says what it
/// says there. A line goes on without end; what one mistyped number would make it say is not to be trusted.
///
/// ```
/// use calibrant::calibration::{Calibrator, HeldCalibrator, HeldOutScores, PlattCalibrator};
/// let held_out = HeldOutScores::assume(vec![0.0, 10.0], vec![false, true])?;
/// let line = PlattCalibrator { slope: 1.0, intercept: -5.0 };
/// let held = HeldCalibrator::of(line, &held_out);
/// assert_eq!(held.probability(10.5).log_odds(), 5.5); // within the margin
/// assert_eq!(held.probability(1e6).log_odds(), 6.0); // by hand: 10 + 1 - 5
/// # Ok::<(), calibrant::FitError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked<C>")]
#[serde(bound(deserialize = "C: Deserialize<'de>"))]
pub struct HeldCalibrator<C> {
    inner: C,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked<C> {
    inner: C,
    low: f64,
    high: f64,
}

impl<C> TryFrom<Unchecked<C>> for HeldCalibrator<C> {
    type Error = &'static str;

    fn try_from(read: Unchecked<C>) -> Result<Self, Self::Error> {
        let Unchecked { inner, low, high } = read;
        if low <= high && low.is_finite() && high.is_finite() {
            Ok(Self { inner, low, high })
        } else {
            Err("a curve holds below one score and above another")
        }
    }
}

impl<C> HeldCalibrator<C> {
    /// Holds a curve where these examples end.
    pub fn of(inner: C, held_out: &HeldOutScores) -> Self {
        let (low, high) = ends_of(held_out.scores().iter().copied());
        Self { inner, low, high }
    }

    /// The curve, which goes on beyond the examples.
    pub fn inner(&self) -> &C {
        &self.inner
    }

    /// Between which scores it moves.
    pub fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// What a score counts as.
    #[inline]
    fn within(&self, score: f64) -> f64 {
        score.clamp(self.low, self.high)
    }
}

/// Where scores end, with a margin at both sides.
pub(super) fn ends_of(scores: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = scores.fold((f64::MAX, f64::MIN), |(low, high), score| {
        (low.min(score), high.max(score))
    });
    // Halves do not overflow where scores lie at both ends of all numbers.
    let margin = 2.0 * MARGIN * (0.5 * high - 0.5 * low);
    let (low, high) = ((low - margin).max(f64::MIN), (high + margin).min(f64::MAX));
    (low.min(high), high.max(low))
}

impl<C: Calibrator> Calibrator for HeldCalibrator<C> {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        self.inner.probability(self.within(score))
    }

    fn ln_densities(&self, score: f64) -> Option<(f64, f64)> {
        self.inner.ln_densities(self.within(score))
    }
}

impl<C: Turning> Turning for HeldCalibrator<C> {
    fn turns(&self) -> Vec<f64> {
        let mut turns = self.inner.turns();
        turns.extend([self.low, self.high]);
        turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{PlattCalibrator, SavedCalibrator};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_changes_within_the_examples(
            scores in prop::collection::vec(-1e3..1e3f64, 2..30),
            slope in -3.0..3.0f64,
            beyond in 1.0..1e12f64,
        ) {
            let labels = (0..scores.len()).map(|i| i % 2 == 0).collect();
            let held_out = HeldOutScores::assume(scores.clone(), labels).unwrap();
            let line = PlattCalibrator { slope, intercept: 0.5 };
            let held = HeldCalibrator::of(line, &held_out);
            for &score in &scores {
                prop_assert_eq!(held.probability(score), line.probability(score));
            }
            let (low, high) = held.range();
            prop_assert_eq!(held.probability(high + beyond), line.probability(high));
            prop_assert_eq!(held.probability(low - beyond), line.probability(low));
        }
    }

    #[test]
    fn a_file_cannot_turn_the_ends_around() {
        let line = r#"{"method":"platt","slope":1,"intercept":0}"#;
        let of = |low: &str, high: &str| {
            let json = format!(r#"{{"method":"held","inner":{line},"low":{low},"high":{high}}}"#);
            serde_json::from_str::<SavedCalibrator>(&json)
        };
        assert!(of("-1", "2").is_ok());
        assert!(of("2", "-1").is_err());
        assert!(of("-1e999", "2").is_err());
    }

    #[test]
    fn scores_at_the_ends_of_all_numbers_stay_in_order() {
        let held_out = HeldOutScores::assume(vec![f64::MIN, f64::MAX], vec![false, true]).unwrap();
        let line = PlattCalibrator {
            slope: 0.0,
            intercept: 0.0,
        };
        let held = HeldCalibrator::of(line, &held_out);
        assert_eq!(held.range(), (f64::MIN, f64::MAX));
        assert!((held.probability(f64::MAX).value() - 0.5).abs() < 1e-12);
    }
}
