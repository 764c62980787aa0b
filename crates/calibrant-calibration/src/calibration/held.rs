//! A curve that says no more than it has seen.

use serde::{Deserialize, Serialize};

use super::{Calibrator, HeldOutScores, Turning};
use crate::Probability;

/// How far beyond the examples a curve goes on, as a share of their range.
pub(super) const MARGIN: f64 = 0.1;
/// How far log-odds go beyond what was said of examples at least.
const LEAST_MARGIN: f64 = 0.5;

/// Log-odds with a margin of a tenth, or half a nat.
pub(super) fn with_margin(log_odds: f64) -> f64 {
    log_odds + (MARGIN * log_odds).max(LEAST_MARGIN)
}

/// The log-odds that so many examples support at most: without a single error among them, one in as many more may yet be
/// one; and a nat beyond.
pub(super) fn supported(examples: f64) -> f64 {
    (examples + 1.0).ln() + 1.0
}

/// How many examples are enough to go by: one in a hundred, ten of many.
fn few(count: usize) -> usize {
    (count / 100).clamp(1, 10)
}

/// What at least a few of these numbers reach.
pub(super) fn enough(numbers: &mut [f64]) -> f64 {
    let place = numbers.len() - few(numbers.len());
    *numbers.select_nth_unstable_by(place, f64::total_cmp).1
}

/// A curve that holds where the examples end: beyond their scores, and a margin of a tenth of their range, it says what it
/// says there. A line goes on without end; what one mistyped number would make it say is not to be trusted.
///
/// ```
/// use calibrant_calibration::calibration::{Calibrator, HeldCalibrator, HeldOutScores, PlattCalibrator};
/// let held_out = HeldOutScores::assume(vec![0.0, 10.0], vec![false, true])?;
/// let line = PlattCalibrator { slope: 1.0, intercept: -5.0 };
/// let held = HeldCalibrator::of(line, &held_out);
/// assert_eq!(held.probability(10.5).log_odds(), 5.5); // within the margin
/// assert_eq!(held.probability(1e6).log_odds(), 6.0); // by hand: 10 + 1 - 5
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
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

    pub(super) fn into_inner(self) -> C {
        self.inner
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

impl<C: Calibrator> HeldCalibrator<C> {
    /// Holds a curve where these examples no longer support it: a margin of a tenth beyond the score that a few of them reach (one
    /// in a hundred, ten of many; a single score far out is no reason to go on), and before that where its log-odds are larger than `ln(n + 1) + 1` for `n` examples.
    pub(super) fn where_supported(inner: C, held_out: &HeldOutScores) -> Self {
        let rising = held_out.rising();
        let scores = rising.scores();
        let few = few(scores.len());
        let supported_scores = &scores[few - 1..=scores.len() - few];
        let (low, high) = ends_of(supported_scores.iter().copied());
        let (first, last) = (scores[0], scores[scores.len() - 1]);
        let all = ends_of([first, last].into_iter());
        let most = supported(held_out.weights().iter().sum());
        let middle = scores[scores.len() / 2];
        let end = |end: f64| last_within(&inner, middle, end.clamp(all.0, all.1), most);
        let (low, high) = (end(low), end(high));
        Self { inner, low, high }
    }
}

/// The score nearest to an end, from the middle, at which a curve's log-odds are no farther from zero than this.
fn last_within(curve: &impl Calibrator, middle: f64, end: f64, most: f64) -> f64 {
    let within = |score: f64| curve.probability(score).log_odds().abs() <= most;
    if within(end) {
        return end;
    }
    let (mut inside, mut outside) = (middle, end);
    for _ in 0..100 {
        let between = 0.5 * inside + 0.5 * outside;
        if within(between) {
            inside = between;
        } else {
            outside = between;
        }
    }
    inside
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

    #[test] // By hand: a thousand scores from 0 to 1 and one at 50: ten reach 0.99, and a tenth more is 1.089 or so.
    fn a_single_score_far_out_does_not_move_the_end() {
        let mut scores: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
        scores.push(50.0);
        let labels = (0..1001).map(|i| i % 2 == 0).collect();
        let held_out = HeldOutScores::assume(scores, labels).unwrap();
        let line = PlattCalibrator {
            slope: 1.0,
            intercept: 0.0,
        };
        let (low, high) = HeldCalibrator::where_supported(line, &held_out).range();
        // From 0.009 to 0.991: a range of 0.982.
        assert!(
            (low + 0.0892).abs() < 1e-9 && (high - 1.0892).abs() < 1e-9,
            "{low} {high}"
        );
        assert_eq!(HeldCalibrator::of(line, &held_out).range().1, 55.0);
    }

    #[test] // By hand: 999 examples support ln 1000 + 1, which a slope of 100 reaches at 0.079.
    fn log_odds_end_where_the_examples_cannot_support_more() {
        let scores: Vec<f64> = (0..999).map(|i| f64::from(i) / 500.0 - 1.0).collect();
        let labels = scores.iter().map(|score| *score > 0.0).collect();
        let held_out = HeldOutScores::assume(scores, labels).unwrap();
        let line = PlattCalibrator {
            slope: 100.0,
            intercept: 0.0,
        };
        let held = HeldCalibrator::where_supported(line, &held_out);
        let most = 1000f64.ln() + 1.0;
        assert!((held.probability(1e9).log_odds() - most).abs() < 1e-9);
        assert!((held.probability(-1e9).log_odds() + most).abs() < 1e-9);
        assert_eq!(held.probability(0.05).log_odds(), 5.0);
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
