//! Beta calibration: log-odds that bend once, around one half.

use serde::{Deserialize, Serialize};

use super::logistic::{imaginary_weight, require_both_classes};
use super::platt::{Standard, TOLERANCE};
use super::{
    CalibrationMethod, Calibrator, HeldOutScores, LogisticCurve, Platt, PlattCalibrator, Turning,
};
use crate::numeric::softplus;
use crate::solvers::newton_logistic;
use crate::{CalibrationError, Probability};

/// Fits the family of curves that two beta distributions of the scores would give.
///
/// # Formula
/// ```text
/// ln P/(1-P) = a ln p - b ln(1-p) + c,  p = 1/(1+exp(-s))
/// ```
/// by maximum likelihood. `a` is the slope of the log-odds where `p` is near zero, `b` where it is
/// near one, and with `a = b = 1, c = 0` the scores are right as they are. Both logarithms are
/// computed from the score, which must be log-odds, and never saturate. With all three
/// parameters free, a negative `a` (or else `b`) is made zero and the rest fitted again.
///
/// # When it misleads
/// The score must be log-odds that are roughly right already: the bend stands at score zero and
/// is about four units wide, whatever the scores are. For scores on another scale, such as an
/// SVM's, use [`Squash::Platt`], which moves and stretches them first; so are scores beyond a million, which
/// nobody's log-odds are. Separated classes give a
/// steep (though finite) curve, as [`LogisticCurve`] does; where differences that one of the
/// logarithms hardly shows separate them, the straight line of [`BetaKind::Am`] is fitted instead.
///
/// # Reference
/// Kull, Silva Filho & Flach, AISTATS 2017.
///
/// ```
/// use calibrant_calibration::calibration::{Beta, CalibrationMethod, Calibrator, HeldOutScores};
/// // Forecasts of 1/3 and 2/3 that come true as often as they say (and one half at one half).
/// let (low, high) = (-(2f64.ln()), 2f64.ln());
/// let scores = vec![low, low, low, high, high, high, 0.0, 0.0];
/// let labels = vec![true, false, false, true, true, false, true, false];
/// let curve = Beta::default().fit(&HeldOutScores::assume(scores, labels)?)?;
/// assert!((curve.probability(high).value() - 2.0 / 3.0).abs() < 1e-6);
/// assert!((curve.a - 1.0).abs() < 1e-5 && (curve.b - 1.0).abs() < 1e-5);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beta {
    /// Which parameters are free.
    pub kind: BetaKind,
    /// What is done to the scores first.
    pub squash: Squash,
}

/// Which parameters of [`Beta`] are free.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BetaKind {
    /// All three.
    #[default]
    Abm,
    /// `a` and `b`; one half stays one half.
    Ab,
    /// `a = b` and `c`: a straight line, as [`LogisticCurve`]'s.
    Am,
}

/// How [`Beta`] takes scores for log-odds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Squash {
    /// They are log-odds.
    #[default]
    AsGiven,
    /// By [`Platt`]'s curve of the same examples.
    Platt,
}

/// Log-odds `a ln p - b ln(1-p) + c`, after a line if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BetaCalibrator {
    /// The slope over the log-odds of unlikely examples.
    pub a: f64,
    /// The slope over the log-odds of likely ones.
    pub b: f64,
    /// What is added.
    pub c: f64,
    /// What makes log-odds of the score.
    pub line: PlattCalibrator,
}

impl Calibrator for BetaCalibrator {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        let [below, above] = logarithms(self.line.probability(score).log_odds());
        Probability::from_log_odds(self.a * below + self.b * above + self.c)
    }
}

/// `ln p` and `-ln(1-p)` from log-odds.
#[inline]
fn logarithms(log_odds: f64) -> [f64; 2] {
    [-softplus(-log_odds), softplus(log_odds)]
}

impl Turning for BetaCalibrator {
    /// The slope over log-odds `t` is `a (1-p) + b p`, which is zero where `e^t = -a/b`.
    fn turns(&self) -> Vec<f64> {
        let turn = ((-self.a / self.b).ln() - self.line.intercept) / self.line.slope;
        if turn.is_finite() {
            vec![turn]
        } else {
            Vec::new()
        }
    }
}

impl CalibrationMethod for Beta {
    type Calibrator = BetaCalibrator;

    fn fit(&self, held_out: &HeldOutScores) -> Result<BetaCalibrator, CalibrationError> {
        require_both_classes(METHOD, held_out)?;
        let far = held_out.scores().iter().any(|s| s.abs() > MOST_LOG_ODDS);
        let line = match self.squash {
            Squash::AsGiven if !far => PlattCalibrator {
                slope: 1.0,
                intercept: 0.0,
            },
            _ => Platt.fit(held_out)?,
        };
        let problem = Problem::new(held_out, &line);
        let fitted = match self.kind {
            BetaKind::Abm => problem.free(),
            BetaKind::Ab => problem.through_one_half(),
            BetaKind::Am => problem.straight(),
        };
        let [a, b, c] = match fitted {
            Err(CalibrationError::NotConverged { .. }) => problem.straight()?,
            fitted => fitted?,
        };
        Ok(BetaCalibrator { a, b, c, line })
    }
}

const METHOD: &str = "beta calibration";
/// What is larger is not a log-odds, whoever says so.
const MOST_LOG_ODDS: f64 = 1e6;

struct Problem<'a> {
    held_out: &'a HeldOutScores,
    log_odds: Vec<f64>,
    logarithms: Vec<[f64; 2]>,
}

impl<'a> Problem<'a> {
    fn new(held_out: &'a HeldOutScores, line: &PlattCalibrator) -> Self {
        let scores = held_out.scores().iter();
        let log_odds: Vec<f64> = scores
            .map(|&score| line.probability(score).log_odds())
            .collect();
        Self {
            held_out,
            logarithms: log_odds.iter().map(|&s| logarithms(s)).collect(),
            log_odds,
        }
    }

    fn standard(&self, which: usize) -> Standard {
        let values = self.logarithms.iter().zip(self.held_out.weights());
        Standard::of_values(values.map(move |(logarithms, &weight)| (logarithms[which], weight)))
    }

    /// The logarithms, label and weight of each example.
    fn examples(&self) -> impl Iterator<Item = ([f64; 2], f64, f64)> + '_ {
        self.logarithms
            .iter()
            .zip(self.held_out.labels())
            .zip(self.held_out.weights())
            .map(|((&logarithms, &label), &weight)| {
                (logarithms, f64::from(u8::from(label)), weight)
            })
    }

    /// All three parameters, or two where one of the first would be negative.
    fn free(&self) -> Result<[f64; 3], CalibrationError> {
        let scales = [self.standard(0), self.standard(1)];
        let weight = imaginary_weight(self.held_out);
        let imaginary = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|features| (features, 0.5, weight));
        let start = [self.held_out.ln_prior_odds(), 0.0, 0.0];
        let [level, a, b] = newton_logistic(METHOD, start, TOLERANCE, || {
            self.examples()
                .map(|([below, above], target, weight)| {
                    let features = [1.0, scales[0].apply(below), scales[1].apply(above)];
                    (features, target, weight)
                })
                .chain(imaginary)
        })?;
        if a < 0.0 {
            let curve = self.one(1)?;
            Ok([0.0, curve.slope, curve.intercept])
        } else if b < 0.0 {
            let curve = self.one(0)?;
            Ok([curve.slope, 0.0, curve.intercept])
        } else {
            let first = scales[0].undo(a, level);
            let second = scales[1].undo(b, first.intercept);
            Ok([first.slope, second.slope, second.intercept])
        }
    }

    /// A line over one of the logarithms.
    fn one(&self, which: usize) -> Result<PlattCalibrator, CalibrationError> {
        self.line(self.logarithms.iter().map(|pair| pair[which]).collect())
    }

    /// `a = b` and `c`: a line over the log-odds.
    fn straight(&self) -> Result<[f64; 3], CalibrationError> {
        let curve = self.line(self.log_odds.clone())?;
        Ok([curve.slope, curve.slope, curve.intercept])
    }

    fn line(&self, scores: Vec<f64>) -> Result<PlattCalibrator, CalibrationError> {
        let (labels, weights) = (self.held_out.labels(), self.held_out.weights());
        let held_out = HeldOutScores::assume_weighted(scores, labels.to_vec(), weights.to_vec())?;
        LogisticCurve.fit(&held_out)
    }

    /// `a` and `b`, with log-odds zero at score zero.
    fn through_one_half(&self) -> Result<[f64; 3], CalibrationError> {
        let ln_2 = std::f64::consts::LN_2;
        let centred = |[below, above]: [f64; 2]| [below + ln_2, above - ln_2];
        // Only stretched, not moved: there is no constant that could make up for it.
        let total: f64 = self.held_out.weights().iter().sum();
        let mut sizes = [0.0; 2];
        for (pair, _, weight) in self.examples() {
            for (size, value) in sizes.iter_mut().zip(centred(pair)) {
                *size += weight / total * value.abs();
            }
        }
        let stretch = sizes.map(|size: f64| 1.0 / size.clamp(1e-300, 1e300));
        let weight = imaginary_weight(self.held_out);
        let imaginary = [[1.0, 0.0], [0.0, 1.0]].map(|features| (features, 0.5, weight));
        let [a, b] = newton_logistic(METHOD, [0.0; 2], TOLERANCE, || {
            self.examples()
                .map(|(pair, target, weight)| {
                    let [below, above] = centred(pair);
                    ([below * stretch[0], above * stretch[1]], target, weight)
                })
                .chain(imaginary)
        })?;
        let (a, b) = (a * stretch[0], b * stretch[1]);
        Ok([a, b, (a - b) * ln_2])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::{Random, sigmoid};
    use proptest::prelude::*;

    /// Log-odds whose truth is a curve of the family.
    fn drawn(count: usize, truth: BetaCalibrator, seed: u64) -> HeldOutScores {
        let mut random = Random::from_seed(seed);
        let scores: Vec<f64> = (0..count).map(|_| 3.0 * random.normal()).collect();
        let labels = scores
            .iter()
            .map(|&s| random.uniform() < sigmoid(truth.probability(s).log_odds()))
            .collect();
        HeldOutScores::assume(scores, labels).unwrap()
    }

    const AS_GIVEN: PlattCalibrator = PlattCalibrator {
        slope: 1.0,
        intercept: 0.0,
    };

    #[test]
    fn the_truth_is_found_again() {
        let truth = |a, b, c| BetaCalibrator {
            a,
            b,
            c,
            line: AS_GIVEN,
        };
        let ln_2 = std::f64::consts::LN_2;
        for (kind, truth) in [
            (BetaKind::Abm, truth(0.5, 1.5, -0.7)),
            (BetaKind::Ab, truth(0.5, 1.5, -ln_2)),
            (BetaKind::Am, truth(0.7, 0.7, 0.4)),
        ] {
            let squash = Squash::AsGiven;
            let found = Beta { kind, squash }
                .fit(&drawn(100_000, truth, 5))
                .unwrap();
            for (found, truth) in [(found.a, truth.a), (found.b, truth.b), (found.c, truth.c)] {
                assert!((found - truth).abs() < 0.05, "{found} {truth}");
            }
        }
    }

    #[test]
    fn a_negative_parameter_becomes_zero() {
        for (a, b) in [(-0.5, 1.0), (1.0, -0.5)] {
            let truth = BetaCalibrator {
                a,
                b,
                c: 0.0,
                line: AS_GIVEN,
            };
            let found = Beta::default().fit(&drawn(20_000, truth, 6)).unwrap();
            assert!(found.a >= 0.0 && found.b >= 0.0, "{found:?}");
            assert!(found.a == 0.0 || found.b == 0.0, "{found:?}");
        }
    }

    #[test]
    fn squashed_scores_may_have_any_unit() {
        let held_out = drawn(
            3000,
            BetaCalibrator {
                a: 0.5,
                b: 2.0,
                c: -1.0,
                line: AS_GIVEN,
            },
            7,
        );
        let moved = held_out.scores().iter().map(|s| 1e-4 * s + 3.0).collect();
        let moved = HeldOutScores::assume(moved, held_out.labels().to_vec()).unwrap();
        let method = Beta {
            squash: Squash::Platt,
            ..Beta::default()
        };
        let (plain, moved) = (method.fit(&held_out).unwrap(), method.fit(&moved).unwrap());
        for s in [-8.0, -1.0, 0.0, 0.3, 5.0] {
            let difference =
                plain.probability(s).log_odds() - moved.probability(1e-4 * s + 3.0).log_odds();
            assert!(difference.abs() < 1e-5, "{difference}");
        }
    }

    #[test] // Log-odds end long before; all scores were the same forecast.
    fn scores_of_any_size_are_told_apart() {
        let scores: Vec<f64> = (0..40).map(|i| 1e150 * f64::from(i - 20)).collect();
        let labels = (0..40).map(|i| i >= 20 + i % 3 - 1).collect();
        let held_out = HeldOutScores::assume(scores, labels).unwrap();
        for kind in [BetaKind::Abm, BetaKind::Ab, BetaKind::Am] {
            let squash = Squash::AsGiven;
            let curve = Beta { kind, squash }.fit(&held_out).unwrap();
            assert!(
                curve.probability(1.9e151).value() > 0.9,
                "{kind:?} {curve:?}"
            );
            assert!(
                curve.probability(-2e151).value() < 0.1,
                "{kind:?} {curve:?}"
            );
        }
    }

    #[test]
    fn far_scores_are_still_told_apart() {
        // As plain numbers these forecasts are all exactly 0 or 1.
        let scores = vec![-900.0, -800.0, -700.0, 700.0, 800.0, 900.0];
        let labels = vec![false, true, false, true, false, true];
        let curve = Beta::default()
            .fit(&HeldOutScores::assume(scores, labels).unwrap())
            .unwrap();
        assert!(curve.probability(900.0) > curve.probability(700.0));
        assert!(curve.probability(-700.0) > curve.probability(-900.0));
    }

    proptest! {
        #[test]
        fn any_scores_give_a_finite_curve(
            examples in prop::collection::vec((prop_oneof![-1e308f64..1e308, -30.0f64..30.0, Just(0.0)], any::<bool>(), 0.01f64..100.0), 2..30),
            kind in prop_oneof![Just(BetaKind::Abm), Just(BetaKind::Ab), Just(BetaKind::Am)],
            squash in prop_oneof![Just(Squash::AsGiven), Just(Squash::Platt)],
        ) {
            let labels: Vec<bool> = examples.iter().map(|example| example.1).collect();
            prop_assume!(labels.contains(&true) && labels.contains(&false));
            let held_out = HeldOutScores::assume_weighted(
                examples.iter().map(|example| example.0).collect(),
                labels,
                examples.iter().map(|example| example.2).collect(),
            ).unwrap();
            let curve = Beta { kind, squash }.fit(&held_out).unwrap();
            prop_assert!([curve.a, curve.b, curve.c].iter().all(|number| number.is_finite()), "{:?}", curve);
            let json = serde_json::to_string(&curve).unwrap();
            prop_assert_eq!(serde_json::from_str::<BetaCalibrator>(&json).unwrap(), curve);
        }
    }
}
