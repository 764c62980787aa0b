//! The curve and lines of least penalised loss, and how firmly they are held.

use super::cells::Cells;
use super::expansion::{Curvature, Expansion, expand, value_at};
use super::parameters::{Penalty, Shape, Spreads, Tilt};
use crate::FitError;
use crate::solvers::Factor;

const METHOD: &str = "one curve for all classes";
/// Rounds in which spreads may move.
const ROUNDS: usize = 25;
const MOST_STEPS: usize = 60;
/// What the last of so many steps may still gain, in nats per example.
const ENOUGH: f64 = 1e-6;

/// Fitted parameters with what held them.
#[derive(Debug, Clone)]
pub(super) struct Solution {
    pub(super) parameters: Vec<f64>,
    pub(super) spreads: Spreads,
    tilt: Tilt,
    flat: Vec<bool>,
}

/// What may move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Freedom {
    pub(super) slopes: bool,
}

/// The smallest and largest standard deviations that are believed.
const LEAST_SPREAD: f64 = 1e-3;
const MOST_SLOPES: f64 = 1.0;
const MOST_OTHERS: f64 = 3.0;

impl Solution {
    /// A straight line of slope one through standardised scores, the same for all classes.
    pub(super) fn line(knots: &[f64], classes: usize, freedom: Freedom) -> Self {
        let mut parameters = knots.to_vec();
        parameters.resize(knots.len() + 2 * classes, 0.0);
        Self {
            parameters,
            spreads: Spreads {
                bends: 0.5,
                slopes: if freedom.slopes { 0.2 } else { LEAST_SPREAD },
                intercepts: 0.5,
            },
            tilt: Tilt {
                slope: 1.0,
                spread: 1.0,
            },
            flat: vec![false; knots.len() - 1],
        }
    }

    /// As [`Self::line`], where classes may not differ and nothing is known of the slope.
    pub(super) fn rough_line(knots: &[f64], classes: usize) -> Self {
        let mut line = Self::line(knots, classes, Freedom { slopes: false });
        line.spreads.intercepts = LEAST_SPREAD;
        line.tilt = Tilt {
            slope: 0.0,
            spread: 30.0,
        };
        line
    }

    /// Finds the spreads, then the parameters, until a step promises less than the tolerance in nats per example.
    pub(super) fn settle(
        mut self,
        cells: &Cells,
        knots: &[f64],
        freedom: Freedom,
        tolerance: f64,
    ) -> Result<Self, FitError> {
        for _ in 0..ROUNDS {
            let penalty = self.penalty(cells, knots);
            let here = expand(cells, &penalty, None, &self.parameters);
            let gain = self.step(cells, &penalty, None, &here);
            let steps = spread_steps(&here.curvature, &penalty, &self.parameters, freedom);
            self.spreads.bends *= steps[0].exp();
            self.spreads.slopes *= steps[1].exp();
            self.spreads.intercepts *= steps[2].exp();
            self.flatten();
            if gain <= 0.0 || steps.iter().all(|step| step.abs() < 0.05) {
                break;
            }
        }
        self.solve(cells, knots, None, tolerance)
    }

    /// Newton's method with the spreads as they are, on all rows but those of a fold.
    pub(super) fn solve(
        mut self,
        cells: &Cells,
        knots: &[f64],
        left_out: Option<u8>,
        tolerance: f64,
    ) -> Result<Self, FitError> {
        let weights = cells.weights.iter().zip(&cells.folds);
        let taking_part = weights.filter(|(_, fold)| Some(**fold) != left_out);
        let total: f64 = taking_part.map(|(weight, _)| weight).sum();
        let (mut gradient, mut gain) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..MOST_STEPS {
            let penalty = self.penalty(cells, knots);
            let here = expand(cells, &penalty, left_out, &self.parameters);
            gradient = dot(&here.gradient, &here.gradient).sqrt();
            if !gradient.is_finite() {
                break;
            }
            gain = self.step(cells, &penalty, left_out, &here);
            if !self.flatten() && gain <= tolerance * total {
                return Ok(self);
            }
        }
        // Scores that tell classes apart without a mistake make the loss so flat that steps gain hardly anything.
        if gradient.is_finite() && gain <= ENOUGH * total {
            return Ok(self);
        }
        Err(FitError::NotConverged {
            method: METHOD,
            iterations: MOST_STEPS,
            gradient,
        })
    }

    fn penalty(&self, cells: &Cells, knots: &[f64]) -> Penalty {
        Penalty::new(
            knots,
            cells.class_count,
            self.spreads,
            self.tilt,
            &self.flat,
        )
    }

    /// One step of Newton's method, halved until the loss falls; what it promised.
    fn step(
        &mut self,
        cells: &Cells,
        penalty: &Penalty,
        left_out: Option<u8>,
        here: &Expansion,
    ) -> f64 {
        let step = direction(cells, penalty, here);
        let slope = -dot(&here.gradient, &step);
        let rounding = 1e-13 * (1.0 + here.value.abs());
        if slope >= -rounding {
            return 0.0;
        }
        let mut length = 1.0;
        while length > 1e-8 {
            let moved = self.parameters.iter().zip(&step);
            let tried: Vec<f64> = moved.map(|(p, step)| p - length * step).collect();
            let value = value_at(cells, penalty, left_out, &tried);
            if value <= here.value + 1e-4 * length * slope + rounding {
                self.parameters = tried;
                return -0.5 * slope;
            }
            length *= 0.5;
        }
        0.0
    }

    /// Pieces that fall are made flat, for good; whether there was one.
    fn flatten(&mut self) -> bool {
        let mut any = false;
        for piece in 0..self.flat.len() {
            let rise = self.parameters[piece + 1] - self.parameters[piece];
            if rise < -1e-9 && !self.flat[piece] {
                self.flat[piece] = true;
                any = true;
            }
        }
        any
    }
}

/// By how much the logarithms of the spreads should move (empirical Bayes, MacKay 1992).
fn spread_steps(
    curvature: &Curvature,
    penalty: &Penalty,
    parameters: &[f64],
    freedom: Freedom,
) -> [f64; 3] {
    let Shape { knots, .. } = penalty.shape;
    let [of_slope, of_intercept] = penalty.class_strengths();
    let step = |spread: f64, most: f64, squares: f64, decided: f64| {
        let step = 0.5 * (squares / decided / (spread * spread)).ln();
        let step = if step.is_nan() { -1.0 } else { step };
        step.clamp(-1.2, 1.2)
            .clamp((LEAST_SPREAD / spread).ln(), (most / spread).ln())
    };
    let (mut squares, mut decided) = ([0.0; 2], [0.0; 2]);
    let classes = parameters[knots..].chunks_exact(2);
    for (&[a, b, c], class) in curvature.alone.iter().zip(classes) {
        let (a, c) = (a + of_slope, c + of_intercept);
        let determinant = a * c - b * b;
        decided[0] += (1.0 - of_slope * c / determinant).max(0.0);
        decided[1] += (1.0 - of_intercept * a / determinant).max(0.0);
        squares[0] += class[0] * class[0];
        squares[1] += class[1] * class[1];
    }
    let spreads = penalty.spreads;
    let slopes = if freedom.slopes {
        step(spreads.slopes, MOST_SLOPES, squares[0], decided[0])
    } else {
        0.0
    };
    let intercepts = step(spreads.intercepts, MOST_OTHERS, squares[1], decided[1]);
    let bends = if knots > 2 {
        let factor = knots_factor(curvature, penalty);
        let strength = (spreads.bends * spreads.bends).recip();
        let mut column = vec![0.0; knots];
        let mut decided = 0.0;
        for row in penalty.bend_rows() {
            column.fill(0.0);
            row.iter().for_each(|&(knot, factor)| column[knot] = factor);
            factor.solve(&mut column);
            let variance: f64 = row.iter().map(|&(knot, f)| f * column[knot]).sum();
            decided += (1.0 - strength * variance).max(0.0);
        }
        let squares = penalty.bends(parameters).map(|bend| bend * bend).sum();
        step(spreads.bends, MOST_OTHERS, squares, decided)
    } else {
        0.0
    };
    [bends, slopes, intercepts]
}

fn knots_factor(curvature: &Curvature, penalty: &Penalty) -> Factor {
    let count = penalty.shape.knots;
    let sums = curvature.knots_coupled.iter().zip(penalty.knots());
    Factor::of(sums.map(|(a, b)| a + b).collect(), &vec![0.0; count])
}

/// The step to the minimum of the quadratic model, by conjugate gradients; knots together and each class by
/// itself are brought to unit size first.
fn direction(cells: &Cells, penalty: &Penalty, here: &Expansion) -> Vec<f64> {
    let knots = knots_factor(&here.curvature, penalty);
    let strengths = penalty.class_strengths();
    let precondition = |residual: &[f64]| {
        let mut out = residual.to_vec();
        let (shared, classes) = out.split_at_mut(penalty.shape.knots);
        knots.solve(shared);
        for (pair, &[a, b, c]) in classes.chunks_exact_mut(2).zip(&here.curvature.alone) {
            let (a, c) = (a + strengths[0], c + strengths[1]);
            let determinant = a * c - b * b;
            let [x, y] = [pair[0], pair[1]];
            pair[0] = (c * x - b * y) / determinant;
            pair[1] = (a * y - b * x) / determinant;
        }
        out
    };
    let mut step = vec![0.0; here.gradient.len()];
    let mut residual = here.gradient.clone();
    let mut scaled = precondition(&residual);
    let mut way = scaled.clone();
    let mut size = dot(&residual, &scaled);
    let enough = 1e-6 * size;
    for _ in 0..100 {
        if size <= enough {
            break;
        }
        let product = here.curvature.times(cells, penalty, &way);
        let curve = dot(&way, &product);
        if curve <= 0.0 {
            break;
        }
        let length = size / curve;
        for i in 0..step.len() {
            step[i] += length * way[i];
            residual[i] -= length * product[i];
        }
        scaled = precondition(&residual);
        let next = dot(&residual, &scaled);
        let keep = next / size;
        size = next;
        for (way, scaled) in way.iter_mut().zip(&scaled) {
            *way = scaled + keep * *way;
        }
    }
    step
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
