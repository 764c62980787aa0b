//! Calibration slope and intercept.

use super::sorted_forecasts::Point;
use super::units::Units;
use super::{Interval, SortedForecasts};
use crate::numeric::{NORMAL_975, sigmoid};
use crate::solvers::newton_logistic;
use serde::{Deserialize, Serialize};

/// The log-odds of the outcome as a straight line in the stated log-odds: slope 1 and intercept 0 for
/// a calibrated forecaster.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CalibrationLine {
    /// Below 1: forecasts are too extreme. Above 1: too timid. `None` where no finite slope fits
    /// best: the forecasts separate the outcomes perfectly, or are all equal.
    pub slope: Option<Interval>,
    /// The intercept of the same line; `None` with the slope.
    pub intercept: Option<Interval>,
    /// The intercept of a line with slope 1 (calibration in the large): above 0 where more comes true
    /// than was stated. `None` where only one outcome was seen.
    pub intercept_in_the_large: Option<Interval>,
    /// Whether the intervals allow for unequal weights, or for forecasts that belong together (the sandwich formula).
    pub robust: bool,
}

impl CalibrationLine {
    /// The same line with intervals that take what belongs together as one piece of evidence: the jackknife over units,
    /// `(G-1)/G Σ_u d_u d_uᵀ` with `d_u = (H - H_u)⁻¹ g_u` the step that leaving a unit out makes (`H_u` its part of the
    /// Hessian, `g_u` the sum of `w (y-q) x` over its forecasts), where that is the larger variance. Half an interval is
    /// Student's 97.5 % point with one degree of freedom less than units of equal weight. There are `of_row` points per row;
    /// those of different classes are taken as independent, as everywhere.
    pub(super) fn between_units(mut self, points: &[Point], of_row: usize, units: &Units) -> Self {
        let reach = units.reach(|row| points[row * of_row].2);
        let wider = |interval: Interval, variance: f64| {
            let own = (interval.upper - interval.value) / NORMAL_975;
            let error = if variance.is_finite() {
                own.max(variance.sqrt())
            } else {
                own
            };
            Interval::reaching(interval.value, reach * error)
        };
        if let (Some(slope), Some(intercept)) = (self.slope, self.intercept) {
            let pieces = Piece::of(points, of_row, units, slope.value, intercept.value);
            let [of_intercept, of_slope] = jackknife(&pieces, units.count(), Piece::step);
            self.intercept = wider(intercept, of_intercept);
            self.slope = wider(slope, of_slope);
        }
        if let Some(large) = self.intercept_in_the_large {
            let pieces = Piece::of(points, of_row, units, 1.0, large.value);
            let [variance, _] = jackknife(&pieces, units.count(), Piece::step_of_intercept);
            self.intercept_in_the_large = wider(large, variance);
        }
        self.robust = true;
        self
    }
}

/// What a unit, or all, adds to the Hessian (its lower half) and to the gradient.
#[derive(Clone, Copy, Default)]
struct Piece {
    hessian: [f64; 3],
    gradient: [f64; 2],
}

impl Piece {
    /// One a unit and point of a row.
    fn of(points: &[Point], of_row: usize, units: &Units, slope: f64, intercept: f64) -> Vec<Self> {
        let pieces = (0..units.count()).flat_map(|unit| (0..of_row).map(move |at| (unit, at)));
        let piece = |(unit, at): (usize, usize)| {
            let mut sums = Self::default();
            for &row in units.documents(unit) {
                let (probability, happened, weight) = points[row as usize * of_row + at];
                let x = probability.log_odds().clamp(-MOST_LOG_ODDS, MOST_LOG_ODDS);
                let q = sigmoid(intercept + slope * x);
                let gap = weight * (f64::from(u8::from(happened)) - q);
                for (sum, product) in sums.gradient.iter_mut().zip([1.0, x]) {
                    *sum += gap * product;
                }
                for (sum, product) in sums.hessian.iter_mut().zip([1.0, x, x * x]) {
                    *sum += weight * q * (1.0 - q) * product;
                }
            }
            sums
        };
        pieces.map(piece).collect()
    }

    /// How far line and intercept move without it; by the Hessian of all where the others tell no slope.
    fn step(&self, all: [f64; 3]) -> [f64; 2] {
        let without = [0, 1, 2].map(|i| all[i] - self.hessian[i]);
        let determinant = |[a, b, c]: [f64; 3]| a * c - b * b;
        let used = match determinant(without) > 1e-9 * determinant(all) {
            true => without,
            false => all,
        };
        let ([a, b, c], [u, v]) = (used, self.gradient);
        let d = determinant(used);
        [(c * u - b * v) / d, (a * v - b * u) / d]
    }

    /// How far the intercept of a line of slope 1 moves without it.
    fn step_of_intercept(&self, all: [f64; 3]) -> [f64; 2] {
        let without = all[0] - self.hessian[0];
        let used = if without > 1e-9 * all[0] {
            without
        } else {
            all[0]
        };
        [self.gradient[0] / used, 0.0]
    }
}

/// Variances from the steps that leaving out each of so many units makes.
fn jackknife(
    pieces: &[Piece],
    units: usize,
    step: impl Fn(&Piece, [f64; 3]) -> [f64; 2],
) -> [f64; 2] {
    let mut all = [0.0; 3];
    for piece in pieces {
        (0..3).for_each(|i| all[i] += piece.hessian[i]);
    }
    let count = units as f64;
    let mut variances = [0.0; 2];
    for piece in pieces {
        for (variance, moved) in variances.iter_mut().zip(step(piece, all)) {
            *variance += (count - 1.0) / count * moved * moved;
        }
    }
    variances
}

/// A probability that differs from 0 or 1 by less than rounding tells no slope more.
const MOST_LOG_ODDS: f64 = 36.0;

impl SortedForecasts {
    /// The calibration line, by logistic regression of the outcome on the stated log-odds.
    ///
    /// # Formula
    /// ```text
    /// ln P(y=1)/P(y=0) = intercept + slope · ln p/(1-p)
    /// ```
    /// Log-odds beyond ±36 are taken as ±36: at 1e15 a single forecast would be the whole line.
    /// The 95 % intervals are 1.96 standard errors. With equal weights these come from the inverse
    /// Hessian `H⁻¹`; with unequal ones from the sandwich `H⁻¹ (Σ w² (y-q)² x xᵀ) H⁻¹`, because a
    /// forecast that counts twice is not two forecasts. The intercept of slope 1 always has the sandwich's: where the
    /// slope is another, the inverse Hessian would be too sure of it.
    ///
    /// # When it misleads
    /// A line sees no curvature: slope 1 and intercept 0 do not prove calibration. Decisions on the
    /// same document are taken as independent; where they are not, intervals are too short.
    ///
    /// # Reference
    /// Cox, Biometrika 45 (1958); Van Calster et al., BMC Medicine 17 (2019).
    ///
    /// ```
    /// use calibrant_calibration::{Probability, evaluation::SortedForecasts};
    /// // Stated 0.8 and 0.2; seen 2 of 3 and 1 of 3: log-odds ±ln 2 where ±ln 4 was said.
    /// let (high, low) = (Probability::from_log_odds(4f64.ln()), Probability::from_log_odds(-(4f64.ln())));
    /// let points: Vec<_> = [(high, true), (high, true), (high, false), (low, true), (low, false), (low, false)]
    ///     .map(|(p, y)| (p, y, 1.0)).to_vec();
    /// let line = SortedForecasts::new(&points).calibration_line();
    /// assert!((line.slope.unwrap().value - 0.5).abs() < 1e-6); // by hand: ln 2 / ln 4
    /// assert!(line.intercept.unwrap().value.abs() < 1e-6);
    /// ```
    pub fn calibration_line(&self) -> CalibrationLine {
        let (slope, intercept) = self.slope_and_intercept().unzip();
        CalibrationLine {
            slope,
            intercept,
            intercept_in_the_large: self.intercept_in_the_large(),
            robust: !self.even,
        }
    }

    #[inline]
    fn bounded_log_odds(&self, i: usize) -> f64 {
        self.log_odds[i].clamp(-MOST_LOG_ODDS, MOST_LOG_ODDS)
    }

    fn slope_and_intercept(&self) -> Option<(Interval, Interval)> {
        let range = |outcome: bool| {
            let first = self.happened.iter().position(|&y| y == outcome)?;
            let last = self.happened.iter().rposition(|&y| y == outcome)?;
            Some((self.bounded_log_odds(first), self.bounded_log_odds(last)))
        };
        let ((yes_low, yes_high), (no_low, no_high)) = (range(true)?, range(false)?);
        if yes_low >= no_high || no_low >= yes_high {
            return None; // separated: the steeper the better, for ever
        }
        let examples = || {
            (0..self.len()).map(|i| {
                let outcome = f64::from(u8::from(self.happened[i]));
                ([1.0, self.bounded_log_odds(i)], outcome, self.weights[i])
            })
        };
        let [intercept, slope] =
            newton_logistic("calibration line", [0.0, 1.0], 1e-9, examples).ok()?;
        // Lower halves of the Hessian and of the sum of squared gradients.
        let (mut hessian, mut squares) = ([0.0; 3], [0.0; 3]);
        for i in 0..self.len() {
            let (x, weight) = (self.bounded_log_odds(i), self.weights[i]);
            let q = sigmoid(intercept + slope * x);
            let curve = weight * q * (1.0 - q);
            let pull = weight * (f64::from(u8::from(self.happened[i])) - q);
            for (k, product) in [1.0, x, x * x].into_iter().enumerate() {
                hessian[k] += curve * product;
                squares[k] += pull * pull * product;
            }
        }
        let [a, b, c] = hessian;
        let determinant = a * c - b * b;
        // Rows of the inverse: (c, -b) / d and (-b, a) / d.
        let variance = |row: (f64, f64)| {
            if self.even {
                return None;
            }
            let (u, v) = (row.0 / determinant, row.1 / determinant);
            Some(u * u * squares[0] + 2.0 * u * v * squares[1] + v * v * squares[2])
        };
        let of_intercept = variance((c, -b)).unwrap_or(c / determinant);
        let of_slope = variance((-b, a)).unwrap_or(a / determinant);
        Some((
            Interval::normal(slope, of_slope.sqrt())?,
            Interval::normal(intercept, of_intercept.sqrt())?,
        ))
    }

    /// Solves `Σ w (y - σ(x + a)) = 0` for `a` by Newton's method inside a shrinking bracket.
    fn intercept_in_the_large(&self) -> Option<Interval> {
        let (yes, no) = self.outcomes(0..self.len());
        if yes <= 0.0 || no <= 0.0 {
            return None;
        }
        let slope_at = |a: f64| {
            let (mut pull, mut curve) = (0.0, 0.0);
            for i in 0..self.len() {
                let q = sigmoid(self.bounded_log_odds(i) + a);
                pull += self.weights[i] * (f64::from(u8::from(self.happened[i])) - q);
                curve += self.weights[i] * q * (1.0 - q);
            }
            (pull, curve)
        };
        // At the ends every forecast is beyond certainty, one way or the other.
        let reach = MOST_LOG_ODDS + (yes / no).ln().abs() + 40.0;
        let (mut low, mut high, mut a) = (-reach, reach, 0.0);
        for _ in 0..200 {
            let (pull, curve) = slope_at(a);
            if pull > 0.0 {
                low = a;
            } else {
                high = a;
            }
            let newton = a + pull / curve;
            let next = if newton > low && newton < high {
                newton
            } else {
                0.5 * (low + high)
            };
            let moved = (next - a).abs();
            a = next;
            if moved <= 1e-12 * (1.0 + a.abs()) {
                break;
            }
        }
        let (mut curve, mut squares) = (0.0, 0.0);
        for i in 0..self.len() {
            let q = sigmoid(self.bounded_log_odds(i) + a);
            curve += self.weights[i] * q * (1.0 - q);
            let pull = self.weights[i] * (f64::from(u8::from(self.happened[i])) - q);
            squares += pull * pull;
        }
        let variance = squares / (curve * curve);
        Interval::normal(a, variance.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sorted_forecasts::testing::*;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exaggerated_forecasts_have_a_slope_below_one_and_the_interval_covers_it() {
        for weighted in [false, true] {
            let (mut slopes, mut intercepts) = (0, 0);
            for seed in 0..60 {
                let points = drawn(seed, 800, (0.5, 2.0), 2.0, weighted);
                let line = SortedForecasts::new(&points).calibration_line();
                let (slope, intercept) = (line.slope.unwrap(), line.intercept.unwrap());
                slopes += i32::from(slope.lower < 0.5 && 0.5 < slope.upper);
                intercepts += i32::from(intercept.lower < 0.0 && 0.0 < intercept.upper);
                assert_eq!(line.robust, weighted);
            }
            // 95 % of 60 are 57; below 51 is rarer than one in ten thousand.
            assert!(slopes >= 51 && intercepts >= 51, "{slopes} {intercepts}");
        }
    }

    #[test]
    fn copies_make_no_interval_of_the_line_shorter() {
        let once = drawn(3, 300, (0.5, 2.0), 2.0, false);
        let often = once.repeat(4);
        let of_once = SortedForecasts::new(&once).calibration_line();
        let of_often = SortedForecasts::new(&often).calibration_line();
        let units = Units::of((0..1200).map(|row| Some(row % 300)));
        let together = of_often.between_units(&often, 1, &units);
        let width = |interval: Option<Interval>| {
            let interval = interval.unwrap();
            interval.upper - interval.lower
        };
        for (once, apart, together) in [
            (of_once.slope, of_often.slope, together.slope),
            (of_once.intercept, of_often.intercept, together.intercept),
            (
                of_once.intercept_in_the_large,
                of_often.intercept_in_the_large,
                together.intercept_in_the_large,
            ),
        ] {
            assert!((width(together) / width(once) - 1.0).abs() < 0.12);
            assert!((width(apart) / width(once) - 0.5).abs() < 0.01); // By hand: 1/√4.
        }
    }

    #[test] // By hand: stated 1/2, seen 3 of 4: ln 3, with standard error 1/√(4 · 3/16).
    fn calibration_in_the_large_agrees_with_the_hand() {
        let points: Vec<_> = (0..4).map(|i| (at(0.5), i > 0, 1.0)).collect();
        let line = SortedForecasts::new(&points).calibration_line();
        let found = line.intercept_in_the_large.unwrap();
        assert!((found.value - 3f64.ln()).abs() < 1e-9);
        assert!((found.upper - found.value - 1.959_964 / 0.75f64.sqrt()).abs() < 1e-5);
        assert_eq!((line.slope, line.intercept), (None, None)); // all forecasts are equal
    }

    #[test]
    fn what_has_no_line_is_said_to_have_none() {
        let perfect = [
            (at(0.2), false, 1.0),
            (at(0.7), true, 1.0),
            (at(0.9), true, 2.0),
        ];
        let line = SortedForecasts::new(&perfect).calibration_line();
        assert!(line.slope.is_none() && line.intercept_in_the_large.is_some());
        let line = SortedForecasts::new(&[(at(0.2), true, 1.0)]).calibration_line();
        assert!(line.slope.is_none() && line.intercept_in_the_large.is_none());
    }

    #[test]
    fn huge_log_odds_do_not_break_it() {
        let mut points = drawn(5, 500, (0.0, 1.5), 1.0, false);
        points.push((crate::Probability::from_log_odds(1e308), true, 1.0));
        points.push((crate::Probability::from_log_odds(-1e308), false, 1.0));
        let line = SortedForecasts::new(&points).calibration_line();
        assert!((line.slope.unwrap().value - 1.0).abs() < 0.4);
        points.push((crate::Probability::from_log_odds(1e308), false, 1.0));
        assert!(
            SortedForecasts::new(&points)
                .calibration_line()
                .slope
                .unwrap()
                .value
                < 1.0
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn it_is_finite_or_absent_whatever_comes(points in any_points()) {
            let line = SortedForecasts::new(&points).calibration_line();
            for found in [line.slope, line.intercept, line.intercept_in_the_large].into_iter().flatten() {
                prop_assert!(found.value.is_finite() && found.lower.is_finite() && found.upper.is_finite());
            }
        }

        #[test]
        fn the_line_of_a_whole_weight_is_that_of_repetition((whole, repeated) in whole_and_repeated()) {
            let (a, b) = (SortedForecasts::new(&whole).calibration_line(), SortedForecasts::new(&repeated).calibration_line());
            for (a, b) in [(a.slope, b.slope), (a.intercept_in_the_large, b.intercept_in_the_large)] {
                if let (Some(a), Some(b)) = (a, b) {
                    prop_assert!((a.value - b.value).abs() < 1e-4 * (1.0 + a.value.abs()), "{} {}", a.value, b.value);
                }
            }
        }
    }
}
