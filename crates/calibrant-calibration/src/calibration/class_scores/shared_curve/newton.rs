//! The curve and lines of least penalised loss, and how firmly they are held.

use super::bounds::{Bound, centre_curve, hand_over, least_slope, within};
use super::cells::{Cells, Link, Part};
use super::curvature::{Curvature, Hessian};
use super::expansion::{Expansion, expand, value_at};
use super::parameters::{Penalty, Shape, Spreads, Tilt};
use crate::CalibrationError;
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
    /// Whether classes have slopes of their own.
    slopes: bool,
}

/// A step of Newton's method.
struct Step {
    /// The size of the gradient before it.
    gradient: f64,
    /// What it promised; zero if there was none.
    gain: f64,
    /// Where it led, if that is known.
    there: Option<Expansion>,
    /// What stayed where it was.
    bound: Bound,
}

/// The smallest and largest standard deviations that are believed.
const LEAST_SPREAD: f64 = 1e-3;
const MOST_SLOPES: f64 = 1.0;
const MOST_OTHERS: f64 = 3.0;

impl Solution {
    /// A straight line of slope one through standardised scores, the same for all classes.
    pub(super) fn line(knots: &[f64], classes: usize, slopes: bool) -> Self {
        let mut parameters = knots.to_vec();
        parameters.resize(knots.len() + 2 * classes, 0.0);
        let shape = Shape {
            knots: knots.len(),
            classes,
        };
        hand_over(knots, shape, least_slope(knots), &mut parameters);
        within(knots, shape, slopes, &mut parameters);
        Self {
            parameters,
            spreads: Spreads {
                bends: 0.5,
                slopes: if slopes { 0.2 } else { LEAST_SPREAD },
                intercepts: 0.5,
            },
            tilt: Tilt {
                slope: 1.0,
                spread: 1.0,
            },
            slopes,
        }
    }

    /// As [`Self::line`], where classes may not differ and nothing is known of the slope.
    pub(super) fn rough_line(knots: &[f64], classes: usize) -> Self {
        let mut line = Self::line(knots, classes, false);
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
        tolerance: f64,
    ) -> Result<Self, CalibrationError> {
        let known = self.spread_out(cells, knots);
        self.solve_from(cells, knots, Part::All, tolerance, known)
    }

    /// About what [`Self::settle`] finds, to start it from: the spreads with parameters that are near.
    pub(super) fn roughly(mut self, cells: &Cells, knots: &[f64]) -> Self {
        self.spread_out(cells, knots);
        self
    }

    /// The same, with slopes of classes that say how far each differs from the mean of them all.
    pub(super) fn centred(&self, knots: &[f64]) -> Vec<f64> {
        let mut parameters = self.parameters.clone();
        let classes = (parameters.len() - knots.len()) / 2;
        let slopes = parameters[knots.len()..].iter().step_by(2);
        let mean = slopes.sum::<f64>() / classes as f64;
        let shape = Shape {
            knots: knots.len(),
            classes,
        };
        hand_over(knots, shape, -mean, &mut parameters);
        parameters
    }

    /// Moves spreads and parameters in turn until the spreads stand; the expansion there, if it is known.
    fn spread_out(&mut self, cells: &Cells, knots: &[f64]) -> Option<Expansion> {
        let mut known = None;
        for _ in 0..ROUNDS {
            let penalty = self.penalty(cells, knots);
            let here = known
                .take()
                .unwrap_or_else(|| expand(cells, penalty.shape, Part::All, &self.parameters));
            let step = self.step(cells, knots, &penalty, Part::All, &here, 0.0);
            let steps = self.spread_steps(&here.curvature, &penalty, &step.bound);
            self.spreads.bends *= steps[0].exp();
            self.spreads.slopes *= steps[1].exp();
            self.spreads.intercepts *= steps[2].exp();
            known = step.there;
            if step.gain <= 0.0 || steps.iter().all(|step| step.abs() < 0.05) {
                break;
            }
        }
        known
    }

    /// Newton's method with the spreads as they are.
    pub(super) fn solve(
        self,
        cells: &Cells,
        knots: &[f64],
        tolerance: f64,
    ) -> Result<Self, CalibrationError> {
        self.solve_from(cells, knots, Part::All, tolerance, None)
    }

    /// For each fold the same without its rows, from here.
    pub(super) fn without_folds(
        &self,
        cells: &Cells,
        knots: &[f64],
        fold_count: usize,
        tolerance: f64,
    ) -> Result<Vec<Self>, CalibrationError> {
        let shape = self.penalty(cells, knots).shape;
        // All start at the same point, so that each row is looked at once for all of them.
        let parts: Vec<Expansion> = (0..fold_count)
            .map(|fold| expand(cells, shape, Part::Only(fold as u8), &self.parameters))
            .collect();
        (0..fold_count)
            .map(|fold| {
                let others = parts.iter().enumerate();
                let others = others.filter(|(other, _)| *other != fold);
                let here = Expansion::sum(shape, others.map(|(_, part)| part));
                let part = Part::Without(fold as u8);
                let near = self.clone();
                near.solve_from(cells, knots, part, tolerance, Some(here))
            })
            .collect()
    }

    /// Newton's method on a part of the rows, where the expansion at the parameters may be known.
    fn solve_from(
        mut self,
        cells: &Cells,
        knots: &[f64],
        part: Part,
        tolerance: f64,
        mut known: Option<Expansion>,
    ) -> Result<Self, CalibrationError> {
        let total = cells.weight(part);
        let (mut gradient, mut gain) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..MOST_STEPS {
            let penalty = self.penalty(cells, knots);
            let here = known
                .take()
                .unwrap_or_else(|| expand(cells, penalty.shape, part, &self.parameters));
            let step = self.step(cells, knots, &penalty, part, &here, tolerance * total);
            (gradient, gain) = (step.gradient, step.gain);
            if !gradient.is_finite() {
                break;
            }
            if gain <= tolerance * total {
                return Ok(self);
            }
            known = step.there;
        }
        // Scores that tell classes apart without a mistake make the loss so flat that steps gain hardly anything.
        if gradient.is_finite() && gain <= ENOUGH * total {
            return Ok(self);
        }
        Err(CalibrationError::NotConverged {
            method: METHOD,
            iterations: MOST_STEPS,
            gradient,
        })
    }

    fn penalty(&self, cells: &Cells, knots: &[f64]) -> Penalty {
        Penalty::new(knots, cells.class_count, self.spreads, self.tilt)
    }

    /// One step of Newton's method within the bounds, halved until the loss falls. What it leads to is expanded, too, where
    /// it gains more than `last`.
    fn step(
        &mut self,
        cells: &Cells,
        knots: &[f64],
        penalty: &Penalty,
        part: Part,
        here: &Expansion,
        last: f64,
    ) -> Step {
        let (now, gradient) = here.penalised(penalty, &self.parameters);
        let shape = penalty.shape;
        let bound = Bound::at(knots, shape, &self.parameters, &gradient, self.slopes);
        let free = bound.gather(&gradient);
        let mut taken = Step {
            gradient: dot(&free, &free).sqrt(),
            gain: 0.0,
            there: None,
            bound,
        };
        if !taken.gradient.is_finite() {
            return taken;
        }
        let step = direction(penalty, &here.curvature, &taken.bound, free);
        let slope = -dot(&gradient, &step);
        let rounding = 1e-13 * (1.0 + now.abs());
        if slope >= -rounding {
            return taken;
        }
        let gain = -0.5 * slope;
        let mut length = 1.0;
        while length > 1e-8 {
            let moved = self.parameters.iter().zip(&step);
            let mut tried: Vec<f64> = moved.map(|(p, step)| p - length * step).collect();
            taken.bound.settle(&mut tried);
            within(knots, shape, self.slopes, &mut tried);
            if cells.link == Link::Softmax {
                centre_curve(knots, shape, &mut tried);
            }
            // A whole step is nearly always taken, and the next one starts from there.
            let there =
                (length == 1.0 && gain > last).then(|| expand(cells, penalty.shape, part, &tried));
            let value = match &there {
                Some(there) => there.value + penalty.value(&tried),
                None => value_at(cells, penalty, part, &tried),
            };
            if value <= now + 1e-4 * length * slope + rounding {
                self.parameters = tried;
                (taken.gain, taken.there) = (gain, there);
                return taken;
            }
            length *= 0.5;
        }
        taken
    }

    /// By how much the logarithms of the spreads should move (empirical Bayes, MacKay 1992).
    fn spread_steps(&self, curvature: &Curvature, penalty: &Penalty, bound: &Bound) -> [f64; 3] {
        let parameters = &self.parameters;
        let Shape { knots, .. } = penalty.shape;
        let mean = penalty.mean(parameters);
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
            squares[0] += (class[0] - mean) * (class[0] - mean);
            squares[1] += class[1] * class[1];
        }
        let spreads = penalty.spreads;
        let slopes = if self.slopes {
            step(spreads.slopes, MOST_SLOPES, squares[0], decided[0])
        } else {
            0.0
        };
        let intercepts = step(spreads.intercepts, MOST_OTHERS, squares[1], decided[1]);
        let bends = if knots > 2 {
            let factor = knots_factor(curvature, penalty, bound);
            let strength = (spreads.bends * spreads.bends).recip();
            let mut full = vec![0.0; knots];
            let mut column = vec![0.0; bound.knots()];
            let mut decided = 0.0;
            for row in penalty.bend_rows() {
                full.fill(0.0);
                row.iter().for_each(|&(knot, factor)| full[knot] = factor);
                column.fill(0.0);
                bound.add_knots(&full, &mut column);
                let bend = column.clone();
                factor.solve(&mut column);
                let variance = dot(&bend, &column);
                decided += (1.0 - strength * variance).max(0.0);
            }
            let squares = penalty.bends(parameters).map(|bend| bend * bend).sum();
            step(spreads.bends, MOST_OTHERS, squares, decided)
        } else {
            0.0
        };
        [bends, slopes, intercepts]
    }
}

fn knots_factor(curvature: &Curvature, penalty: &Penalty, bound: &Bound) -> Factor {
    let matrix = bound.gather_matrix(&curvature.between_knots(penalty));
    Factor::of(matrix, &vec![0.0; bound.knots()])
}

/// The step to the minimum of the quadratic model within what moves, by conjugate gradients; knots together, each class by
/// itself and what holds the slopes of classes together are brought to unit size first.
fn direction(
    penalty: &Penalty,
    curvature: &Curvature,
    bound: &Bound,
    gradient: Vec<f64>,
) -> Vec<f64> {
    let hessian = Hessian::new(curvature, penalty);
    let knots = knots_factor(curvature, penalty, bound);
    let strengths = penalty.class_strengths();
    let apart = |residual: &[f64]| {
        let mut out = residual.to_vec();
        let (shared, classes) = out.split_at_mut(bound.knots());
        knots.solve(shared);
        let pairs = classes.chunks_exact_mut(2).zip(&curvature.alone);
        for (class, (pair, &[a, b, c])) in pairs.enumerate() {
            let (a, c) = (a + strengths[0], c + strengths[1]);
            let [x, y] = [pair[0], pair[1]];
            if bound.is_still(class) {
                pair[1] = y / c;
                continue;
            }
            let determinant = a * c - b * b;
            pair[0] = (c * x - b * y) / determinant;
            pair[1] = (a * y - b * x) / determinant;
        }
        out
    };
    // Slopes are held to what they have in common: that much less along one direction (Sherman and Morrison). Where nothing
    // stands at a bound, slope could be handed over for ever and nothing would change: what they have in common stays.
    let free = bound.is_free();
    let pull = bound.gather(&penalty.mean_pull());
    let answer = apart(&pull);
    let left = penalty.mean_strength() - dot(&pull, &answer);
    let precondition = |residual: &[f64]| {
        let mut out = apart(residual);
        if !free && left > 1e-9 * penalty.mean_strength() {
            let share = dot(&answer, residual) / left;
            let each = out.iter_mut().zip(&answer);
            each.for_each(|(out, answer)| *out += share * answer);
        }
        out
    };
    let mut step = vec![0.0; gradient.len()];
    let mut residual = gradient;
    let mut scaled = precondition(&residual);
    let mut way = scaled.clone();
    let mut size = dot(&residual, &scaled);
    let enough = 1e-6 * size;
    for _ in 0..100 {
        if size <= enough {
            break;
        }
        let mut product = bound.gather(&hessian.times(&bound.widen(&way)));
        if free {
            let along = dot(&pull, &way) / penalty.mean_strength();
            let each = product.iter_mut().zip(&pull);
            each.for_each(|(product, pull)| *product += along * pull);
        }
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
    bound.widen(&step)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
