//! Log-odds that are a smooth curve of the score.

mod band;
mod basis;
mod smooth;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::platt::Standard;
use super::{CalibrationMethod, Calibrator, HeldOutScores, Platt, PlattCalibrator};
use crate::numeric::exp_of_negative;
use crate::{CalibrationError, Probability, parallel};
use basis::{Basis, combine};
use smooth::{Group, Problem};

/// Fits log-odds that are a smooth curve of the score: as bent as the examples ask for, and straight
/// beyond the outermost knots.
///
/// # Formula
/// ```text
/// ln P/(1-P) = f(s),  f a cubic spline over up to 16 knots
/// f minimises  cross-entropy + λ/2 Σ (h³ f''' of a piece)² + 0.01 Σ (h² f'' at a knot)²,  h the width of a piece
/// ```
/// with [`Platt`]'s softened targets. The knots stand where there is something to learn: at even
/// shares of a mass of which a quarter is the positives', a quarter the negatives', and half the
/// information `p (1-p)` of Platt's curve. Bends are measured from knot to knot, in log-odds, so that
/// neither the unit of the score nor heavy tails matter. Parabolas cost next to nothing: the
/// scores of real learners bend about so.
///
/// The strength `λ` is not a setting. Curves for nine strengths from `e⁻⁴` to `e¹²` are averaged
/// by how likely each strength makes the examples (Laplace's approximation of the marginal
/// likelihood). Examples with neighbouring scores are grouped first (at most about 500
/// groups), so that all this takes a millisecond or two whatever the number of examples.
///
/// # When it misleads
/// With fewer than ten positives it is hardly more than Platt's curve and a parabola. With
/// `monotone` off the curve may fall where the scores are few.
///
/// # Reference
/// Penalised B-splines: Eilers & Marx, Statistical Science 11 (1996). The strength by marginal
/// likelihood: Wood, JRSS B 73 (2011). Rising coefficients for a rising curve: Ramsay, Statistical
/// Science 3 (1988).
///
/// ```
/// use calibrant_calibration::calibration::{CalibrationMethod, Calibrator, HeldOutScores, Spline};
/// // Every score with one positive in three: the curve is flat at ln(1/2).
/// let scores = (0..600).map(|i| f64::from(i / 3)).collect();
/// let labels = (0..600).map(|i| i % 3 == 0).collect();
/// let curve = Spline::default().fit(&HeldOutScores::assume(scores, labels)?)?;
/// assert!((curve.probability(77.0).value() - 1.0 / 3.0).abs() < 0.01);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spline {
    /// Whether the curve must not fall. Where the scores say the opposite of the truth, it is flat.
    pub monotone: bool,
}

impl Default for Spline {
    fn default() -> Self {
        Self { monotone: true }
    }
}

/// A piecewise cubic curve of log-odds, straight beyond its ends.
///
/// Kept as value and slope at each knot; between two knots runs the one cubic that has both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct SplineCalibrator {
    knots: Vec<f64>,
    values: Vec<f64>,
    slopes: Vec<f64>,
}

/// What a file may hold.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    knots: Vec<f64>,
    values: Vec<f64>,
    slopes: Vec<f64>,
}

impl TryFrom<Unchecked> for SplineCalibrator {
    type Error = CalibrationError;

    fn try_from(read: Unchecked) -> Result<Self, CalibrationError> {
        Self::new(read.knots, read.values, read.slopes)
    }
}

impl SplineCalibrator {
    /// A curve through values with slopes at strictly rising knots, of which there is at least one.
    ///
    /// ```
    /// use calibrant_calibration::calibration::{Calibrator, SplineCalibrator};
    /// let curve = SplineCalibrator::new(vec![0.0, 2.0], vec![0.0, 4.0], vec![0.0, 3.0])?;
    /// // By hand, half way: the mean of the values and an eighth of width times difference of slopes,
    /// // (0 + 4)/2 + 2 · (0 - 3)/8.
    /// assert!((curve.probability(1.0).log_odds() - 1.25).abs() < 1e-15);
    /// assert_eq!(curve.probability(4.0).log_odds(), 10.0); // straight on: 4 + 3 · 2
    /// assert_eq!(curve.probability(-9.0).log_odds(), 0.0);
    /// # Ok::<(), calibrant_calibration::CalibrationError>(())
    /// ```
    pub fn new(
        knots: Vec<f64>,
        values: Vec<f64>,
        slopes: Vec<f64>,
    ) -> Result<Self, CalibrationError> {
        for (name, list) in [("values", &values), ("slopes", &slopes)] {
            if list.len() != knots.len() {
                return Err(CalibrationError::LengthMismatch {
                    left_name: "knots",
                    left: knots.len(),
                    right_name: name,
                    right: list.len(),
                });
            }
        }
        let bad = |setting, requirement, value: String| CalibrationError::BadSetting {
            setting,
            requirement,
            value,
        };
        let numbers = knots.iter().chain(&values).chain(&slopes);
        if let Some(number) = numbers.clone().find(|number| !number.is_finite()) {
            let requirement = "a finite number";
            return Err(bad("a number of a spline", requirement, number.to_string()));
        }
        if knots.is_empty() || !knots.is_sorted_by(|a, b| a < b) {
            let requirement = "strictly increasing, and at least one";
            return Err(bad("a spline's knots", requirement, format!("{knots:?}")));
        }
        Ok(Self {
            knots,
            values,
            slopes,
        })
    }

    fn straight(line: PlattCalibrator, through: f64) -> Result<Self, CalibrationError> {
        let value = line.probability(through).log_odds();
        Self::new(vec![through], vec![value], vec![line.slope])
    }

    /// Where the cubic pieces meet.
    pub fn knots(&self) -> &[f64] {
        &self.knots
    }
}

impl Calibrator for SplineCalibrator {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        // Differences of quarters cannot overflow.
        let distance = |to: f64, from: f64| 0.25 * to - 0.25 * from;
        let after = self.knots.partition_point(|&knot| knot <= score);
        if after == 0 || after == self.knots.len() {
            let end = after.saturating_sub(1);
            let rise = self.slopes[end] * distance(score, self.knots[end]) * 4.0;
            return Probability::from_log_odds(self.values[end] + rise);
        }
        let (left, right) = (after - 1, after);
        let width = distance(self.knots[right], self.knots[left]);
        let t = distance(score, self.knots[left]) / width;
        let step = self.values[right] - self.values[left];
        let [first, last] = [left, right].map(|end| self.slopes[end] * width * 4.0);
        let bend = 3.0 * step - 2.0 * first - last;
        let rise = t * (first + t * (bend + t * (first + last - 2.0 * step)));
        Probability::from_log_odds(self.values[left] + rise)
    }
}

/// How many knots there are at most.
const KNOTS: usize = 16;
/// Into how many parts the mass of the examples is divided before fitting.
const GROUPS: f64 = 512.0;
/// Knots are at least this share of their range apart.
const LEAST_GAP: f64 = 1e-5;

impl CalibrationMethod for Spline {
    type Calibrator = SplineCalibrator;

    fn fit(&self, held_out: &HeldOutScores) -> Result<SplineCalibrator, CalibrationError> {
        let held_out = &*held_out.rising();
        let line = Platt.fit(held_out)?;
        self.fit_bending(held_out, line)
    }
}

impl Spline {
    /// Fits by bending Platt's curve of the same examples.
    pub(super) fn fit_bending(
        &self,
        held_out: &HeldOutScores,
        line: PlattCalibrator,
    ) -> Result<SplineCalibrator, CalibrationError> {
        let held_out = &*held_out.rising();
        let scale = Standard::of(held_out);
        let line = scale.redo(&line);
        let (groups, knots) = summarise(held_out, &scale, &line);
        if knots.len() < 2 {
            let slope = if self.monotone {
                line.slope.max(0.0)
            } else {
                line.slope
            };
            let intercept = if slope == line.slope {
                line.intercept
            } else {
                held_out.ln_prior_odds()
            };
            let through = knots.first().map_or(0.0, |&(score, _)| score);
            return SplineCalibrator::straight(scale.undo(slope, intercept), through);
        }
        let standardised: Vec<f64> = knots.iter().map(|&(_, z)| z).collect();
        let basis = Basis::new(&standardised);
        let start: Vec<f64> = basis
            .centres()
            .iter()
            .map(|z| line.intercept + line.slope * z)
            .collect();
        let coefficients = Problem::new(&basis, &groups).solve(&start, self.monotone);
        let at_knots = |row: fn(&Basis, f64) -> basis::Row| -> Vec<f64> {
            let rows = standardised.iter().map(|&z| row(&basis, z));
            rows.map(|row| combine(&row, &coefficients)).collect()
        };
        let mut slopes = at_knots(Basis::slopes);
        if self.monotone {
            // What rounding left of zero would count far beyond the ends.
            slopes.iter_mut().for_each(|slope| *slope = slope.max(0.0));
        }
        SplineCalibrator::new(
            knots.iter().map(|&(score, _)| score).collect(),
            at_knots(Basis::at),
            slopes
                .iter()
                .map(|&slope| scale.undo_slope(slope))
                .collect(),
        )
    }
}

/// Groups of neighbouring examples, and the knots (as scores and standardised), from examples by
/// rising score and Platt's curve over standardised scores.
fn summarise(
    held_out: &HeldOutScores,
    scale: &Standard,
    line: &PlattCalibrator,
) -> (Vec<Group>, Vec<(f64, f64)>) {
    let (positive, negative) = held_out.class_weights();
    let targets = (1.0 / (negative + 2.0), (positive + 1.0) / (positive + 2.0));
    let information = |score: f64, weight: f64| {
        let e = exp_of_negative(-(line.slope * scale.apply(score) + line.intercept).abs());
        weight * e / ((1.0 + e) * (1.0 + e))
    };
    let (scores, weights) = (held_out.scores(), held_out.weights());
    let informations = parallel::map_indices(scores.len(), |i| information(scores[i], weights[i]));
    let sum = |part: Range<usize>| informations[part].iter().sum::<f64>();
    let informed: f64 = parallel::map_parts(scores.len(), sum).into_iter().sum();

    let mut groups = Vec::new();
    let mut knots: Vec<(f64, f64)> = Vec::new();
    let (mut mass, mut group_mass, mut wanted) = (0.0, 0.0, 0);
    let mut group = Group {
        score: 0.0,
        target: 0.0,
        weight: 0.0,
    };
    for (i, (score, label, weight)) in held_out.examples().enumerate() {
        let z = scale.apply(score);
        group.score += weight * z;
        group.target += weight * if label { targets.1 } else { targets.0 };
        group.weight += weight;
        let share = weight / if label { positive } else { negative };
        let added = 0.25 * share + 0.5 * informations[i] / informed;
        mass += added;
        group_mass += added;
        let next = scores.get(i + 1);
        let apart = next.is_none_or(|&next| next > score);
        if apart && (group_mass * GROUPS >= 1.0 || next.is_none()) {
            groups.push(Group {
                score: group.score / group.weight,
                target: group.target / group.weight,
                weight: group.weight,
            });
            group = Group {
                score: 0.0,
                target: 0.0,
                weight: 0.0,
            };
            group_mass = 0.0;
        }
        // The knots stand in the middle of equal shares of the mass.
        if wanted < KNOTS && mass * KNOTS as f64 >= wanted as f64 + 0.5 {
            knots.push((score, z));
            while wanted < KNOTS && mass * KNOTS as f64 >= wanted as f64 + 0.5 {
                wanted += 1;
            }
        }
    }
    let range = knots.last().map_or(0.0, |&(_, last)| last - knots[0].1);
    knots.dedup_by(|next, kept| next.0 <= kept.0 || next.1 - kept.1 <= LEAST_GAP * range);
    (groups, knots)
}

#[cfg(test)]
mod tests;
