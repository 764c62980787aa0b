//! Plain logistic regression on the score.

use super::platt::{Standard, TOLERANCE};
use super::{CalibrationMethod, HeldOutScores, PlattCalibrator};
use crate::CalibrationError;
use crate::solvers::newton_logistic;

/// Fits log-odds that are linear in the score by maximum likelihood ("LogReg" in Bennett's tables).
///
/// # Formula
/// ```text
/// ln P/(1-P) = a s + b,  by cross-entropy with the labels themselves as targets
/// ```
/// Where every positive scores above every negative (or below), the likelihood rises for ever
/// with the slope. One imaginary example that weighs a thousand-millionth of a real one, whose
/// log-odds are the slope over standardised scores and whose label is open, ends that: the slope
/// stays finite, and where the classes overlap nothing changes that could be seen.
///
/// # When it misleads
/// With few examples it is too sure, and where the classes are separated far too sure: it calls
/// certain what it has merely never seen. [`Platt`](super::Platt) is the same line without that fault. Like it,
/// this one assumes that the log-odds are straight in the score.
///
/// # Reference
/// Lewis & Gale, SIGIR 1994.
///
/// ```
/// use calibrant_calibration::calibration::{CalibrationMethod, Calibrator, HeldOutScores, LogisticCurve};
/// // One positive in three at score 0, two in three at score 1: the line goes through both.
/// let scores = vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
/// let labels = vec![true, false, false, true, true, false];
/// let curve = LogisticCurve.fit(&HeldOutScores::assume(scores, labels)?)?;
/// assert!((curve.probability(1.0).value() - 2.0 / 3.0).abs() < 1e-6);
/// assert!((curve.slope - 4f64.ln()).abs() < 1e-6); // by hand: ln 2 - ln(1/2)
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogisticCurve;

impl CalibrationMethod for LogisticCurve {
    type Calibrator = PlattCalibrator;

    fn fit(&self, held_out: &HeldOutScores) -> Result<PlattCalibrator, CalibrationError> {
        require_both_classes("the logistic curve", held_out)?;
        let scale = Standard::of(held_out);
        let imaginary = ([0.0, 1.0], 0.5, imaginary_weight(held_out));
        let start = scale.guess(held_out);
        let [intercept, slope] = newton_logistic("the logistic curve", start, TOLERANCE, || {
            held_out
                .examples()
                .map(|(score, label, weight)| {
                    (
                        [1.0, scale.apply(score)],
                        f64::from(u8::from(label)),
                        weight,
                    )
                })
                .chain([imaginary])
        })?;
        Ok(scale.undo(slope, intercept))
    }
}

/// The weight of an imaginary example that keeps a parameter finite.
pub(super) fn imaginary_weight(held_out: &HeldOutScores) -> f64 {
    let total: f64 = held_out.weights().iter().sum();
    1e-9 * total / held_out.len() as f64
}

/// An error unless there is a positive and a negative example.
pub(super) fn require_both_classes(
    method: &'static str,
    held_out: &HeldOutScores,
) -> Result<(), CalibrationError> {
    let positives = held_out.positives();
    let negatives = held_out.len() - positives;
    if positives == 0 || negatives == 0 {
        return Err(CalibrationError::TooFewExamples {
            method,
            needed: 1,
            positives,
            negatives,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::Calibrator;
    use crate::numeric::Random;
    use proptest::prelude::*;

    #[test]
    fn the_probabilities_add_up_to_the_positives() {
        // The two equations of maximum likelihood, with weights.
        let mut random = Random::from_seed(2);
        let scores: Vec<f64> = (0..500).map(|_| 40.0 * random.normal() - 90.0).collect();
        let labels: Vec<bool> = scores
            .iter()
            .map(|s| s + 60.0 * random.normal() > -40.0)
            .collect();
        let weights: Vec<f64> = scores.iter().map(|_| 0.1 + random.uniform()).collect();
        let held_out = HeldOutScores::assume_weighted(scores, labels, weights).unwrap();
        let curve = LogisticCurve.fit(&held_out).unwrap();
        let (mut level, mut moment) = (0.0, 0.0);
        for (score, label, weight) in held_out.examples() {
            let pull = weight * (curve.probability(score).value() - f64::from(u8::from(label)));
            level += pull;
            moment += pull * (score + 90.0) / 40.0;
        }
        assert!(
            level.abs() < 1e-6 && moment.abs() < 1e-6,
            "{level} {moment}"
        );
    }

    #[test]
    fn separated_classes_give_a_finite_curve_between_them() {
        for unit in [1e-300, 1e-6, 1.0, 1e9, 1e307] {
            let scores = [-2.0, -1.0, 1.0, 2.0].map(|s| s * unit).to_vec();
            let held_out = HeldOutScores::assume(scores, vec![false, false, true, true]).unwrap();
            let curve = LogisticCurve.fit(&held_out).unwrap();
            assert!(curve.slope.is_finite() && curve.slope > 0.0, "{curve:?}");
            assert!((curve.probability(0.0).value() - 0.5).abs() < 1e-6);
            assert!(curve.probability(unit).value() > 0.999);
        }
    }

    #[test]
    fn equal_scores_give_the_share_of_positives() {
        let labels = vec![true, false, false, false];
        let held_out = HeldOutScores::assume(vec![7.5; 4], labels).unwrap();
        let curve = LogisticCurve.fit(&held_out).unwrap();
        assert!((curve.probability(7.5).value() - 0.25).abs() < 1e-8);
        let one = HeldOutScores::assume(vec![1.0, 2.0], vec![true, true]).unwrap();
        assert!(matches!(
            LogisticCurve.fit(&one),
            Err(CalibrationError::TooFewExamples { .. })
        ));
    }

    #[test]
    fn weights_without_measure_give_a_curve_or_an_error() {
        use crate::calibration::{Beta, Platt, Spline};
        fn check<M: CalibrationMethod>(method: M, held_out: &HeldOutScores) {
            if let Ok(curve) = method.fit(held_out) {
                assert!(curve.probability(0.3).log_odds().is_finite());
            }
        }
        for (heavy, light) in [
            (1e308, 1e308),
            (1e308, 1e-308),
            (1e-308, 1e-308),
            (1e200, 1.0),
        ] {
            let scores = (0..12).map(|i| f64::from((5 * i) % 12)).collect();
            let labels = (0..12).map(|i| i % 3 == 0).collect();
            let weights = (0..12)
                .map(|i| if i % 2 == 0 { heavy } else { light })
                .collect();
            let held_out = HeldOutScores::assume_weighted(scores, labels, weights).unwrap();
            check(LogisticCurve, &held_out);
            check(Platt, &held_out);
            check(Beta::default(), &held_out);
            check(Spline::default(), &held_out);
        }
    }

    proptest! {
        #[test]
        fn any_scores_give_a_finite_line(
            examples in prop::collection::vec((prop_oneof![-1e308f64..1e308, -1.0f64..1.0, Just(0.0), -1e-300f64..1e-300], any::<bool>(), 0.001f64..1000.0), 2..30),
        ) {
            let labels: Vec<bool> = examples.iter().map(|example| example.1).collect();
            prop_assume!(labels.contains(&true) && labels.contains(&false));
            let held_out = HeldOutScores::assume_weighted(
                examples.iter().map(|example| example.0).collect(),
                labels,
                examples.iter().map(|example| example.2).collect(),
            ).unwrap();
            let curve = LogisticCurve.fit(&held_out).unwrap();
            prop_assert!(curve.slope.is_finite() && curve.intercept.is_finite(), "{:?}", curve);
        }
    }
}
