//! Log-odds that are linear in three pieces, fitted directly.

use serde::{Deserialize, Serialize};

use super::platt::{FOLD_TOLERANCE, Standard, TOLERANCE};
use super::{CalibrationMethod, Calibrator, HeldOutScores, Platt, PlattCalibrator};
use crate::solvers::newton_logistic_of;
use crate::{CalibrationError, Probability};

/// Platt's curve with two bends, among the positives where it matters.
///
/// # Formula
/// ```text
/// ln P/(1-P) = b + a s + a₁ max(0, s - k₁) + a₂ max(0, s - k₂)
/// ```
/// by cross-entropy with [`Platt`]'s softened targets. The bends stand at the tenth and the
/// fiftieth hundredth of the positives' scores: the hard cases lie between them, the clear ones
/// outside. A bend that would make the curve fall is taken out again, so that it always rises
/// (or is Platt's own).
///
/// # When it misleads
/// With few positives a bend rests on a handful of examples; [`CalibratorKind::Auto`](super::CalibratorKind::Auto)
/// takes it only where that forecasts held-out labels better.
///
/// # Reference
/// Bennett, SIGIR 2003, names three linear pieces fitted directly as future work, with bends at the
/// modes of two densities; quantiles of the positives forecast better on real scores.
///
/// ```
/// use calibrant_calibration::calibration::{CalibrationMethod, Calibrator, HeldOutScores, ThreePiece};
/// let scores: Vec<f64> = (0..200).map(|i| f64::from(i) / 100.0 - 1.0).collect();
/// let labels = (0..200).map(|i| i > 100 || i % 7 == 0).collect();
/// let curve = ThreePiece.fit(&HeldOutScores::assume(scores, labels)?)?;
/// assert!(curve.probability(0.9) > curve.probability(-0.9));
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreePiece;

/// A line with up to two bends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreePieceCalibrator {
    /// The line left of the bends.
    pub line: PlattCalibrator,
    /// Where each bend stands and how much the slope changes there.
    pub bends: [(f64, f64); 2],
}

impl ThreePieceCalibrator {
    fn straight(line: PlattCalibrator) -> Self {
        Self {
            line,
            bends: [(0.0, 0.0); 2],
        }
    }

    pub(super) fn rises(&self) -> bool {
        let mut slope = self.line.slope;
        slope >= 0.0
            && self.bends.iter().all(|&(_, change)| {
                slope += change;
                slope >= 0.0
            })
    }
}

impl Calibrator for ThreePieceCalibrator {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        let bent: f64 = self
            .bends
            .iter()
            .map(|&(at, change)| change * (score - at).max(0.0))
            .sum();
        Probability::from_log_odds(self.line.slope * score + self.line.intercept + bent)
    }
}

impl CalibrationMethod for ThreePiece {
    type Calibrator = ThreePieceCalibrator;

    fn fit(&self, held_out: &HeldOutScores) -> Result<ThreePieceCalibrator, CalibrationError> {
        self.fit_bending(held_out, Platt.fit(held_out)?)
    }
}

impl ThreePiece {
    /// Fits by bending Platt's curve of the same examples.
    pub(super) fn fit_bending(
        &self,
        held_out: &HeldOutScores,
        platt: PlattCalibrator,
    ) -> Result<ThreePieceCalibrator, CalibrationError> {
        self.fit_bending_at(held_out, platt, positive_quantiles(held_out, [0.1, 0.5]))
    }

    /// As [`Self::fit_bending`], with the lower bend first.
    pub(super) fn fit_bending_at(
        &self,
        held_out: &HeldOutScores,
        platt: PlattCalibrator,
        knots: [f64; 2],
    ) -> Result<ThreePieceCalibrator, CalibrationError> {
        let mut best = ThreePieceCalibrator::straight(platt);
        if knots[0] < knots[1] {
            let both = bent(held_out, &best, knots.map(Some), TOLERANCE)?;
            if both.rises() {
                return Ok(both);
            }
        }
        let mut least = log_loss(held_out, &best);
        for knot in knots {
            let one = bent(
                held_out,
                &ThreePieceCalibrator::straight(platt),
                [Some(knot), None],
                TOLERANCE,
            )?;
            let loss = log_loss(held_out, &one);
            if one.rises() && loss < least {
                (best, least) = (one, loss);
            }
        }
        Ok(best)
    }

    /// Fits all folds but one from the curve of all: as many bends, in the same places.
    pub(super) fn fit_from(
        &self,
        held_out: &HeldOutScores,
        whole: &ThreePieceCalibrator,
    ) -> Result<ThreePieceCalibrator, CalibrationError> {
        let knots = whole
            .bends
            .map(|(at, change)| (change != 0.0).then_some(at));
        if knots == [None, None] {
            return Ok(ThreePieceCalibrator::straight(
                Platt.fit_from(held_out, Some(&whole.line))?,
            ));
        }
        bent(held_out, whole, knots, FOLD_TOLERANCE)
    }
}

fn log_loss(held_out: &HeldOutScores, calibrator: &impl Calibrator) -> f64 {
    held_out
        .examples()
        .map(|(score, label, weight)| weight * calibrator.probability(score).log_loss(label))
        .sum()
}

/// Fits a line with the given bends.
fn bent(
    held_out: &HeldOutScores,
    start: &ThreePieceCalibrator,
    knots: [Option<f64>; 2],
    tolerance: f64,
) -> Result<ThreePieceCalibrator, CalibrationError> {
    let (positive, negative) = held_out.class_weights();
    let targets = (1.0 / (negative + 2.0), (positive + 1.0) / (positive + 2.0));
    let scale = Standard::of(held_out);
    let knots = knots.map(|knot| knot.map(|knot| scale.apply(knot)));
    let line = scale.redo(&start.line);
    let changes = start.bends.map(|(_, change)| scale.redo_slope(change));
    let hinge = |z: f64, knot: Option<f64>| knot.map_or(0.0, |knot| (z - knot).max(0.0));
    let start = [line.intercept, line.slope, changes[0], changes[1]];
    let examples = |part| {
        held_out.examples_of(part).map(|(score, label, weight)| {
            let z = scale.apply(score);
            let target = if label { targets.1 } else { targets.0 };
            (
                [1.0, z, hinge(z, knots[0]), hinge(z, knots[1])],
                target,
                weight,
            )
        })
    };
    let (method, count) = ("the three-piece curve", held_out.len());
    let [intercept, slope, first, second] =
        newton_logistic_of(method, start, tolerance, count, examples)?;
    let bend = |knot: Option<f64>, change: f64| {
        knot.map_or((0.0, 0.0), |knot| {
            (scale.undo_score(knot), scale.undo_slope(change))
        })
    };
    Ok(ThreePieceCalibrator {
        line: scale.undo(slope, intercept),
        bends: [bend(knots[0], first), bend(knots[1], second)],
    })
}

/// Weighted quantiles of the positives' scores.
fn positive_quantiles<const N: usize>(held_out: &HeldOutScores, shares: [f64; N]) -> [f64; N] {
    let mut positives: Vec<(f64, f64)> = held_out
        .examples()
        .filter(|&(_, label, _)| label)
        .map(|(score, _, weight)| (score, weight))
        .collect();
    positives.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = positives.iter().map(|&(_, weight)| weight).sum();
    shares.map(|share| {
        let mut sum = 0.0;
        let reached = positives.iter().find(|&&(_, weight)| {
            sum += weight;
            sum >= share * total
        });
        reached
            .or(positives.last())
            .map_or(0.0, |&(score, _)| score)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::{Random, sigmoid};

    fn bent_truth(s: f64) -> f64 {
        -4.0 + 0.2 * s + 3.0 * (s + 0.5).max(0.0) - 2.5 * (s - 0.8).max(0.0)
    }

    fn drawn(count: usize, truth: impl Fn(f64) -> f64) -> HeldOutScores {
        let mut random = Random::from_seed(9);
        let scores: Vec<f64> = (0..count).map(|_| 6.0 * random.uniform() - 3.0).collect();
        let labels = scores
            .iter()
            .map(|&s| random.uniform() < sigmoid(truth(s)))
            .collect();
        HeldOutScores::assume(scores, labels).unwrap()
    }

    #[test]
    fn bent_log_odds_are_followed_closer_than_by_a_line() {
        let held_out = drawn(20_000, bent_truth);
        let (three, platt) = (
            ThreePiece.fit(&held_out).unwrap(),
            Platt.fit(&held_out).unwrap(),
        );
        let excess = |calibrator: &dyn Calibrator| {
            (-30..30)
                .map(|i| f64::from(i) / 10.0)
                .map(|s| (calibrator.probability(s).value() - sigmoid(bent_truth(s))).powi(2))
                .sum::<f64>()
        };
        assert!(
            excess(&three) < 0.6 * excess(&platt),
            "{} {}",
            excess(&three),
            excess(&platt)
        );
    }

    #[test]
    fn the_curve_never_falls() {
        // The truth falls on the right: the best rising curve is asked for.
        for truth in [|s: f64| 1.0 - (s - 0.5).abs(), |s: f64| -s, |s: f64| s] {
            let curve = ThreePiece.fit(&drawn(3000, truth)).unwrap();
            let straight = curve.bends.iter().all(|&(_, change)| change == 0.0);
            assert!(curve.rises() || straight, "{curve:?}");
        }
    }

    #[test]
    fn rescaled_scores_give_the_same_probabilities() {
        let held_out = drawn(2000, bent_truth);
        let scaled = HeldOutScores::assume(
            held_out.scores().iter().map(|s| 50.0 * s + 7.0).collect(),
            held_out.labels().to_vec(),
        )
        .unwrap();
        let (plain, scaled) = (
            ThreePiece.fit(&held_out).unwrap(),
            ThreePiece.fit(&scaled).unwrap(),
        );
        for s in [-5.0, -0.5, 0.1, 0.9, 4.0] {
            let (a, b) = (
                plain.probability(s).log_odds(),
                scaled.probability(50.0 * s + 7.0).log_odds(),
            );
            assert!((a - b).abs() < 1e-5 * (1.0 + a.abs()), "{a} {b}");
        }
    }
}
