//! Venn-Abers prediction: isotonic regression with the new example in it, once with each label.

use serde::{Deserialize, Serialize};

use super::distinct_scores::{DistinctScore, distinct_scores};
use super::steps::Steps;
use super::{CalibrationMethod, Calibrator, HeldOutScores, IntervalCalibrator};
use crate::numeric::softplus;
use crate::{CalibrationError, Probability};

/// Fits an interval of probabilities with a guarantee, and a single probability from it.
///
/// # Formula
/// ```text
/// p₀(s), p₁(s) = isotonic regression at s, with (s, 0) or (s, 1) added to the held-out examples
/// p(s) = p₁ / (1 - p₀ + p₁)
/// ```
/// The added example weighs 1, whatever the others weigh. If new examples come from where the
/// held-out ones came from (and all weigh 1), then one of the two probabilities, that with the
/// true label, is calibrated: among examples for which it says 0.3, three in ten are positive,
/// exactly, on the average, for any number of examples and any scores. The interval is narrow where
/// there is much to go by. `p` is the probability with the least worst-case regret in log loss.
///
/// Nothing is refitted for a new score. In the diagram of cumulated negatives and positives,
/// isotonic regression is the greatest convex curve below the points. Adding a positive example
/// before the i-th score moves all later points up by one, and what is asked for is the slope of
/// the common tangent below the points before and the points after. As i grows the tangent only
/// moves on, so one pass over the corners finds its slopes for all i; the negative example is the
/// same from the other end.
///
/// # When it misleads
/// The interval is about the label's probability given the score, not about this one example; and
/// an interval from few examples is wide at the ends however clear the case looks. The guarantee
/// ends where new examples come from elsewhere. Like [`Isotonic`](super::Isotonic) it makes many
/// scores equal.
///
/// # Reference
/// Vovk, Petej & Fedorova, NeurIPS 2015 (inductive Venn-Abers predictors, section 2; merging for
/// log loss, section 4).
///
/// ```
/// use calibrant_calibration::calibration::{
///     CalibrationMethod, Calibrator, HeldOutScores, IntervalCalibrator, VennAbers,
/// };
/// let held_out = HeldOutScores::assume(vec![1.0, 2.0, 3.0], vec![false, false, true])?;
/// let calibrator = VennAbers.fit(&held_out)?;
/// // By hand, at the score 2: with a negative, 0 0 0 1 already rises, so p₀ = 0; with a positive
/// // the score 2 has one of two, so p₁ = 1/2 and p = (1/2) / (1 - 0 + 1/2) = 1/3.
/// let (low, high) = calibrator.interval(2.0);
/// assert!(low.value() < 1e-300 && (high.value() - 0.5).abs() < 1e-12);
/// assert!((calibrator.probability(2.0).value() - 1.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VennAbers;

/// A lower and an upper probability for every score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedVennAbers")]
pub struct VennAbersCalibrator {
    /// `p₀`; at a score that was seen, its example stands after the seen ones.
    lower: Steps,
    /// `p₁`; at a score that was seen, its example stands before the seen ones.
    upper: Steps,
    #[serde(skip)]
    sides: LnSides,
}

/// `ln p₁` and `ln (1 - p₀)`, whose difference is the log-odds of the merged probability; kept so
/// that a forecast needs no logarithm.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LnSides {
    upper: Steps,
    lower: Steps,
}

impl LnSides {
    fn new(lower: &Steps, upper: &Steps) -> Self {
        Self {
            upper: upper.map(|log_odds| -softplus(-log_odds)),
            lower: lower.map(|log_odds| -softplus(log_odds)),
        }
    }

    /// The logs of geometric means over at least one calibrator.
    pub(super) fn mean_of(calibrators: &[VennAbersCalibrator]) -> Self {
        let sides = || calibrators.iter().map(|calibrator| &calibrator.sides);
        let uppers: Vec<&Steps> = sides().map(|sides| &sides.upper).collect();
        let lowers: Vec<&Steps> = sides().map(|sides| &sides.lower).collect();
        Self {
            upper: Steps::mean_of(&uppers),
            lower: Steps::mean_of(&lowers),
        }
    }

    /// `p / (1 - p) = p₁ / (1 - p₀)`.
    #[inline]
    pub(super) fn merged(&self, score: f64) -> Probability {
        let ln_upper = self.upper.left_at_edges(score);
        Probability::from_ln(ln_upper, self.lower.right_at_edges(score))
    }
}

impl VennAbersCalibrator {
    fn new(lower: Steps, upper: Steps) -> Self {
        Self {
            sides: LnSides::new(&lower, &upper),
            lower,
            upper,
        }
    }

    /// How many steps the lower and the upper probability have.
    pub fn step_counts(&self) -> (usize, usize) {
        (self.lower.len(), self.upper.len())
    }

    /// Log-odds of both ends, which rounding cannot exchange.
    #[inline]
    pub(super) fn log_odds_interval(&self, score: f64) -> (f64, f64) {
        let lower = self.lower.right_at_edges(score);
        let upper = self.upper.left_at_edges(score);
        (lower.min(upper), upper.max(lower))
    }

    /// Fits distinct scores, which may all have one label.
    pub(super) fn of(distinct: &[DistinctScore]) -> Result<Self, CalibrationError> {
        let forth = distinct
            .iter()
            .map(|point| (point.negative, point.positive));
        let back = distinct
            .iter()
            .rev()
            .map(|point| (point.positive, point.negative));
        let count = distinct.len();

        let mut upper = (Vec::new(), Vec::new());
        for (place, log_odds) in with_one_positive(forth) {
            if let Some(before) = place.checked_sub(1) {
                upper.0.push(distinct[before].score);
            }
            upper.1.push(log_odds);
        }
        // Seen from the other end, with the labels exchanged.
        let mut lower = (Vec::new(), Vec::new());
        for (place, log_odds) in with_one_positive(back).into_iter().rev() {
            if place > 0 {
                lower.0.push(distinct[count - place].score);
            }
            lower.1.push(-log_odds);
        }
        let steps =
            |(edges, log_odds)| Steps::new(edges, log_odds).ok_or(CalibrationError::Overflow);
        Ok(Self::new(steps(lower)?, steps(upper)?))
    }
}

impl Calibrator for VennAbersCalibrator {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        self.sides.merged(score)
    }
}

impl IntervalCalibrator for VennAbersCalibrator {
    #[inline]
    fn interval(&self, score: f64) -> (Probability, Probability) {
        let (lower, upper) = self.log_odds_interval(score);
        (
            Probability::from_log_odds(lower),
            Probability::from_log_odds(upper),
        )
    }
}

impl CalibrationMethod for VennAbers {
    type Calibrator = VennAbersCalibrator;

    fn fit(&self, held_out: &HeldOutScores) -> Result<VennAbersCalibrator, CalibrationError> {
        VennAbersCalibrator::of(&distinct_scores(held_out, "Venn-Abers prediction")?)
    }
}

/// The log-odds that isotonic regression gives to one positive example of weight 1, for every place
/// where it can stand: before the first point, before the second, ..., after the last. Points come
/// as weights of negatives and positives. Answers `(place, log-odds)` wherever the log-odds change,
/// places and log-odds rising.
fn with_one_positive(points: impl ExactSizeIterator<Item = (f64, f64)>) -> Vec<(usize, f64)> {
    // The corners of the diagram: cumulated negatives to the right, positives up.
    let mut corners = Vec::with_capacity(points.len() + 1);
    let mut corner = (0.0, 0.0);
    corners.push(corner);
    corners.extend(points.map(|(negative, positive)| {
        corner = (corner.0 + negative, corner.1 + positive);
        corner
    }));

    // The corners after the example are moved up by one. Those on their greatest convex minorant,
    // the leftmost last.
    let mut hull: Vec<usize> = Vec::new();
    for place in (0..corners.len()).rev() {
        while let [.., after, next] = hull[..] {
            if turn(corners[place], corners[next], corners[after]) > 0.0 {
                break;
            }
            hull.pop();
        }
        hull.push(place);
    }

    let raised = |place: usize| (corners[place].0, corners[place].1 + 1.0);
    let mut changes = Vec::new();
    // The tangent runs from a corner before the example to the leftmost one in `hull`.
    let mut from = corners[0];
    for (place, &corner) in corners.iter().enumerate() {
        let Some(&to) = hull.last().filter(|&&to| to >= place) else {
            // Its right end was the end of the example itself: as steep as can be, from here on.
            push_rising(&mut changes, place, f64::INFINITY);
            break;
        };
        if place > 0 && turn(from, raised(to), corner) >= 0.0 {
            // The corner that has joined the left side is not below the tangent.
            continue;
        }
        from = corner;
        while let [.., after, next] = hull[..] {
            if turn(from, raised(next), raised(after)) > 0.0 {
                break;
            }
            hull.pop();
        }
        let to = hull.last().map_or(from, |&to| raised(to));
        push_rising(
            &mut changes,
            place,
            ((to.1 - from.1) / (to.0 - from.0)).ln(),
        );
    }
    changes
}

/// Positive where the way from `a` over `b` to `c` turns to the left.
#[inline]
fn turn(a: (f64, f64), b: (f64, f64), c: (f64, f64)) -> f64 {
    (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
}

/// Adds a change unless it is none; rounding must not make the log-odds fall.
fn push_rising(changes: &mut Vec<(usize, f64)>, place: usize, log_odds: f64) {
    let log_odds = Probability::from_log_odds(log_odds).log_odds();
    if changes.last().is_none_or(|&(_, last)| log_odds > last) {
        changes.push((place, log_odds));
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedVennAbers {
    lower: Steps,
    upper: Steps,
}

impl TryFrom<SavedVennAbers> for VennAbersCalibrator {
    type Error = &'static str;

    fn try_from(saved: SavedVennAbers) -> Result<Self, Self::Error> {
        let SavedVennAbers { lower, upper } = saved;
        if lower.rises() && upper.rises() {
            Ok(Self::new(lower, upper))
        } else {
            Err("the lower and the upper probability must not fall as the score rises")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;
    use crate::solvers::pool_weighted_sums;
    use proptest::prelude::*;

    /// Isotonic regression of the examples and one more, at the one more.
    fn refitted(examples: &[(f64, bool, f64)], score: f64, label: bool) -> f64 {
        let mut all = examples.to_vec();
        all.push((score, label, 1.0));
        let mut scores: Vec<f64> = all.iter().map(|example| example.0).collect();
        scores.sort_by(f64::total_cmp);
        scores.dedup();
        let points = scores.iter().map(|&at| {
            let tied = all.iter().filter(|example| example.0 == at);
            tied.fold((0.0, 0.0), |(sum, weight), example| {
                let positive = if example.1 { example.2 } else { 0.0 };
                (sum + positive, weight + example.2)
            })
        });
        let place = scores.iter().position(|&at| at == score).unwrap();
        let pools = pool_weighted_sums(points);
        pools.iter().find(|pool| place < pool.end).unwrap().mean()
    }

    fn check(examples: &[(f64, bool, f64)]) -> Result<(), TestCaseError> {
        let held_out = HeldOutScores::assume_weighted(
            examples.iter().map(|example| example.0).collect(),
            examples.iter().map(|example| example.1).collect(),
            examples.iter().map(|example| example.2).collect(),
        );
        let Ok(calibrator) = VennAbers.fit(&held_out.unwrap()) else {
            return Ok(());
        };
        for half_steps in -14..=14 {
            let score = f64::from(half_steps) / 2.0;
            let (low, high) = calibrator.interval(score);
            let p0 = refitted(examples, score, false);
            let p1 = refitted(examples, score, true);
            prop_assert!(
                (low.value() - p0).abs() < 1e-12,
                "{} {} {}",
                score,
                low.value(),
                p0
            );
            prop_assert!(
                (high.value() - p1).abs() < 1e-12,
                "{} {} {}",
                score,
                high.value(),
                p1
            );
            let merged = p1 / (1.0 - p0 + p1);
            let found = calibrator.probability(score);
            prop_assert!((found.value() - merged).abs() < 1e-12);
            prop_assert!(low <= found && found <= high);
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        #[test]
        fn the_interval_is_that_of_refitting_for_every_score(
            examples in prop::collection::vec((-6i8..7, any::<bool>()), 2..40)
        ) {
            check(&examples.iter().map(|&(s, y)| (f64::from(s), y, 1.0)).collect::<Vec<_>>())?;
        }

        #[test]
        fn weighted_intervals_are_those_of_refitting_too(
            examples in prop::collection::vec((-6i8..7, any::<bool>(), 0.01f64..5.0), 2..40)
        ) {
            check(&examples.iter().map(|&(s, y, w)| (f64::from(s), y, w)).collect::<Vec<_>>())?;
        }
    }

    #[test]
    fn the_interval_narrows_where_there_is_much_to_go_by() {
        let mut random = Random::from_seed(17);
        let mut width = |count: usize| {
            let scores: Vec<f64> = (0..count).map(|_| random.uniform()).collect();
            let labels = scores.iter().map(|s| random.uniform() < *s).collect();
            let calibrator = VennAbers.fit(&HeldOutScores::assume(scores, labels).unwrap());
            let (low, high) = calibrator.unwrap().interval(0.5);
            high.value() - low.value()
        };
        let few: f64 = (0..20).map(|_| width(50)).sum();
        let many: f64 = (0..20).map(|_| width(5000)).sum();
        assert!(many < 0.2 * few, "{many} {few}");
    }
}
