//! One curve for the scores of all classes, with a line for each.

mod bounds;
mod cells;
mod curvature;
mod expansion;
mod newton;
mod parameters;
mod standard;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::{ClassBuffers, tame};
use crate::CalibrationError;
use crate::calibration::PiecesCalibrator;
use cells::{Cells, MANY_SCORES, place};
pub(crate) use cells::{Labels, Link, ScoreRows};
use newton::Solution;
use standard::{knots_of, standard_of};

/// Fits one rising curve for the scores of all classes, with a line for each class.
///
/// # Formula
/// ```text
/// L_c = g(s_c) + a_c (s_c - m) + b_c
/// P(class c) = e^{L_c} / Σ_k e^{L_k}       where exactly one class is right
/// P(class c) = 1 / (1 + e^{-L_c})          where any number of them may be
/// ```
/// `g` is piecewise linear between knots that stand at even shares of a mass, half of it the right
/// classes' scores, half the information `p (1-p)` of the best straight line; the slopes `a_c` of classes sum to zero. `g` with
/// the slope of any class rises, if only by next to nothing, which is part of the fit, and holds where
/// the examples end, with a margin of a tenth of their range. Changes of its slope, the classes' slopes
/// `a_c` and their intercepts `b_c` are each held to zero as firmly as the examples ask for (empirical Bayes): a
/// few hundred examples of many classes give hardly more than one line for all, many give each class its own.
///
/// With many classes, scores that make a class next to impossible are thinned: some stand for the others, in
/// proportion to how much they matter. What that changes is less than what another draw of examples would.
///
/// # When it misleads
/// Each class is looked at by its own score: a class that is mistaken for one certain other needs
/// [`super::Dirichlet`] or [`super::PairwiseCoupling`].
///
/// # Reference
/// Guo, Pleiss, Sun & Weinberger, ICML 2017, section 4.2 for the lines; the strengths after MacKay, Neural
/// Computation 4 (1992), section 4.
///
/// ```
/// use calibrant_calibration::calibration::{HeldOutClassScores, SharedCurve};
/// // Scores tell nothing; class 1 is right three times of four.
/// let held_out = HeldOutClassScores::assume(vec![0.0; 8000], 2, [1, 1, 0, 1].repeat(1000))?;
/// let calibrator = SharedCurve::default().fit(&held_out)?;
/// let odds = calibrator.intercepts()[1] - calibrator.intercepts()[0];
/// assert!((odds - 3f64.ln()).abs() < 0.02); // by hand: ln 3, drawn a little to zero
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedCurve {
    /// Whether the curve may bend; else it is a straight line.
    pub bends: bool,
    /// Whether classes have slopes of their own.
    pub slopes: bool,
}

impl Default for SharedCurve {
    fn default() -> Self {
        Self {
            bends: true,
            slopes: true,
        }
    }
}

/// One curve for the scores of all classes, with a line for each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct SharedCurveCalibrator {
    knots: Vec<f64>,
    values: Vec<f64>,
    centre: f64,
    slopes: Vec<f64>,
    intercepts: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    knots: Vec<f64>,
    values: Vec<f64>,
    centre: f64,
    slopes: Vec<f64>,
    intercepts: Vec<f64>,
}

impl TryFrom<Unchecked> for SharedCurveCalibrator {
    type Error = &'static str;

    fn try_from(read: Unchecked) -> Result<Self, Self::Error> {
        let Unchecked {
            knots,
            values,
            centre,
            slopes,
            intercepts,
        } = read;
        let lists = [&knots, &values, &slopes, &intercepts];
        let sound = |number: &f64| number.abs() <= 1e300;
        if !centre.is_finite() || !lists.into_iter().flatten().all(sound) {
            return Err("a curve is made of numbers of ordinary size");
        }
        if knots.len() < 2 || knots.len() != values.len() || !knots.is_sorted_by(|a, b| a < b) {
            return Err("a curve needs a value at each of two or more rising knots");
        }
        if slopes.is_empty() || slopes.len() != intercepts.len() {
            return Err("every class needs a slope and an intercept");
        }
        Ok(Self {
            knots,
            values,
            centre,
            slopes,
            intercepts,
        })
    }
}

impl SharedCurveCalibrator {
    /// Where the pieces of the curve meet; it holds beyond the first and the last.
    pub fn knots(&self) -> &[f64] {
        &self.knots
    }

    /// The curve at its knots.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// By how much each class's slope differs from the curve's.
    pub fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// The intercept of each class.
    pub fn intercepts(&self) -> &[f64] {
        &self.intercepts
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.slopes.len()
    }

    /// `L_c` of a class.
    #[inline]
    pub(crate) fn log_weight(&self, class: usize, score: f64) -> f64 {
        let score = tame(score).clamp(self.knots[0], self.knots[self.knots.len() - 1]);
        let (piece, along) = place(score, &self.knots);
        let curve = self.values[piece] + along * (self.values[piece + 1] - self.values[piece]);
        curve + self.slopes[class] * (score - self.centre) + self.intercepts[class]
    }

    /// `L_c` of a class as a curve of its own.
    pub(super) fn pieces(&self, class: usize) -> PiecesCalibrator {
        let values = self.knots.iter().map(|&knot| self.log_weight(class, knot));
        let values = values.map(|value| value.clamp(-1e300, 1e300));
        PiecesCalibrator::of_curve(self.knots.clone(), values.collect())
    }

    /// [`Self::log_weight`] of every class, with one division per piece instead of one per class.
    pub(super) fn ln_weights_into(&self, scores: &[f64], buffer: &mut ClassBuffers) {
        let mut rises = std::mem::take(&mut buffer.more);
        rises.clear();
        let pieces = self.knots.windows(2).zip(self.values.windows(2));
        rises.extend(pieces.map(|(x, y)| (y[1] - y[0]) / (x[1] - x[0])));
        let (low, high) = (self.knots[0], self.knots[rises.len()]);
        let inner = &self.knots[1..rises.len()];
        let lines = self.slopes.iter().zip(&self.intercepts);
        buffer.fill(
            scores
                .iter()
                .zip(lines)
                .map(|(&score, (slope, intercept))| {
                    let score = tame(score).clamp(low, high);
                    let piece = inner.iter().filter(|&&knot| knot <= score).count();
                    let curve = self.values[piece] + rises[piece] * (score - self.knots[piece]);
                    curve + slope * (score - self.centre) + intercept
                }),
        );
        buffer.more = rises;
    }
}

/// The most scores that a curve is fitted to; more would cost time and tell nothing.
const MOST_CELLS: usize = 1 << 21;
/// Scores that a first guess is found with, where there are very many.
const FIRST_CELLS: usize = 1 << 16;
/// What the last step may gain, for the whole and for a fold, in nats per example. Newton's method leaves the square of
/// what is left, in units of one nat: less than a ten-millionth for a fold.
const TOLERANCE: f64 = 1e-10;
const FOLD_TOLERANCE: f64 = 1e-5;
/// How far beyond the examples the curve goes on, as a share of their range.
const MARGIN: f64 = 0.1;

/// A curve with what the same curve says when a fold is left out.
pub(crate) struct CrossFitted {
    pub(crate) whole: SharedCurveCalibrator,
    /// One per fold, fitted to all rows but that fold's (the knots and how firmly each kind of
    /// parameter is held are the whole's).
    pub(crate) without: Vec<SharedCurveCalibrator>,
}

impl SharedCurve {
    /// Fits the curve.
    pub fn fit(
        &self,
        held_out: &super::HeldOutClassScores,
    ) -> Result<SharedCurveCalibrator, CalibrationError> {
        let (arranged, _) = held_out.arranged();
        Ok(self.cross_fit(&arranged.score_rows(), false)?.whole)
    }

    /// Fits the curve to all rows and, if asked, to all but each fold.
    pub(crate) fn cross_fit(
        &self,
        rows: &ScoreRows<'_>,
        with_folds: bool,
    ) -> Result<CrossFitted, CalibrationError> {
        if rows.row_count() == 0 {
            return Err(CalibrationError::NoExamples);
        }
        let standard = standard_of(rows)?;
        let knots = knots_of(rows, standard, self.bends);
        let chosen = rows.sample(Cells::rows_for(MOST_CELLS, rows.class_count));
        let cells = Cells::of(rows, chosen, standard, &knots);
        let mut start = Solution::line(&knots, rows.class_count, self.slopes);
        let few = Cells::rows_for(FIRST_CELLS, rows.class_count);
        if rows.scores.len() > MANY_SCORES && cells.row_count() > 2 * few {
            // Where parameters and spreads about lie, some of the rows tell as well.
            let first = Cells::of(rows, rows.sample(few), standard, &knots);
            start = start.roughly(&first, &knots);
        }
        let solution = start.settle(&cells, &knots, TOLERANCE)?;
        let finished = |solution: &Solution| self.finished(solution, standard, &knots);
        let without = if with_folds {
            let folds = rows.fold_count();
            let without = solution.without_folds(&cells, &knots, folds, FOLD_TOLERANCE)?;
            without.iter().map(finished).collect()
        } else {
            Vec::new()
        };
        Ok(CrossFitted {
            whole: finished(&solution),
            without,
        })
    }

    /// In scores as they came, with a margin at both ends.
    fn finished(
        &self,
        solution: &Solution,
        standard: cells::Standard,
        knots: &[f64],
    ) -> SharedCurveCalibrator {
        let parameters = solution.centred(knots);
        let (values, lines) = parameters.split_at(knots.len());
        let last = knots.len() - 1;
        let margin = MARGIN * (knots[last] - knots[0]);
        let end = |from: usize, to: usize| {
            let slope = (values[to] - values[from]) / (knots[to] - knots[from]);
            let slope = slope.max(0.0);
            let beyond = if to > from { margin } else { -margin };
            (knots[to] + beyond, values[to] + slope * beyond)
        };
        let (low, high) = (end(1, 0), end(last - 1, last));
        let inner = knots.iter().copied().zip(values.iter().copied());
        let all: Vec<(f64, f64)> = std::iter::once(low).chain(inner).chain([high]).collect();
        let mut scores: Vec<(f64, f64)> = all
            .iter()
            .map(|&(x, v)| (tame(standard.undo(x)), v))
            .collect();
        scores.dedup_by(|next, kept| next.0 <= kept.0);
        if let [(only, value)] = *scores {
            // Scores that differ by less than rounding: a piece without length would have no slope.
            let step = 1e-9 * only.abs().max(1.0);
            let place = if only > 0.0 { (0, -step) } else { (1, step) };
            scores.insert(place.0, (only + place.1, value));
        }
        let line = |place: usize| lines.iter().skip(place).step_by(2);
        SharedCurveCalibrator {
            knots: scores.iter().map(|&(score, _)| score).collect(),
            values: scores.iter().map(|&(_, value)| value).collect(),
            centre: standard.centre,
            slopes: line(0).map(|slope| slope * standard.factor).collect(),
            intercepts: line(1).copied().collect(),
        }
    }
}
