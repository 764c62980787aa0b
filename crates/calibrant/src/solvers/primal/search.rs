//! One problem's way down.

use std::collections::VecDeque;

use super::curvature::Curvature;
use super::evaluate::{Evaluated, Objective, Point};
use crate::solvers::{Convergence, SolverLimits};

/// Steps that are remembered.
const MEMORY: usize = 10;
/// The part of the promised descent that a step must keep.
const KEPT: f64 = 1e-4;
/// Values differ by less than this for no other reason than rounding.
const ROUNDING: f64 = 1e-8;
/// A step that must be shorter than this does not lead down any more.
const SHORTEST: f64 = 1e-8;

/// A step that was taken: how far, and how the gradient changed.
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    /// Their product.
    product: f64,
}

/// L-BFGS as a sequence of points to evaluate, so that several searches can share a pass over the rows.
pub(super) struct Search {
    /// Where it stands; `None` before the first evaluation.
    at: Option<Evaluated>,
    point: Point,
    candidate: Point,
    direction: Vec<f64>,
    length: f64,
    pairs: VecDeque<Pair>,
    evaluations: usize,
    end: Option<Convergence>,
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Search {
    pub(super) fn from(start: Point) -> Self {
        Self {
            at: None,
            point: start.clone(),
            candidate: start,
            direction: Vec::new(),
            length: 0.0,
            pairs: VecDeque::new(),
            evaluations: 0,
            end: None,
        }
    }

    /// The point whose value is asked for next.
    pub(super) fn candidate(&self) -> &Point {
        &self.candidate
    }

    /// Where it stands.
    pub(super) fn point(&self) -> &Point {
        &self.point
    }

    pub(super) fn end(&self) -> Option<Convergence> {
        self.end
    }

    pub(super) fn into_end(self) -> (Point, Convergence) {
        let unfinished = Convergence {
            converged: false,
            passes: self.evaluations,
            objective: f64::NAN,
            relative_gap: f64::INFINITY,
        };
        (self.point, self.end.unwrap_or(unfinished))
    }

    /// Takes what the candidate came to, and chooses the next.
    pub(super) fn take(
        &mut self,
        found: Evaluated,
        objective: &Objective<'_>,
        curvature: &Curvature<'_>,
        limits: &SolverLimits,
    ) {
        self.evaluations += 1;
        let out_of_time = self.evaluations >= limits.max_passes;
        if !self.is_descent(&found) {
            self.length *= 0.25;
            if self.length < SHORTEST
                || out_of_time
                || !found.value.is_finite() && self.at.is_none()
            {
                return self.stop(objective, curvature, limits, true);
            }
            return self.set_candidate();
        }
        if let Some(before) = &self.at {
            let step: Vec<f64> = self.direction.iter().map(|d| d * self.length).collect();
            let changes = found.gradient.iter().zip(&before.gradient);
            let change: Vec<f64> = changes.map(|(new, old)| new - old).collect();
            let product = product(&step, &change);
            if product > 0.0 {
                if self.pairs.len() == MEMORY {
                    self.pairs.pop_front();
                }
                self.pairs.push_back(Pair {
                    step,
                    change,
                    product,
                });
            }
        }
        self.point.clone_from(&self.candidate);
        self.at = Some(found);
        self.stop(objective, curvature, limits, out_of_time);
        if self.end.is_none() {
            self.turn(curvature);
            self.set_candidate();
        }
    }

    /// Whether the candidate is low enough; near the end, where values differ by rounding alone, whether its slope is.
    fn is_descent(&self, found: &Evaluated) -> bool {
        let Some(at) = &self.at else {
            return found.value.is_finite();
        };
        let slope = product(&at.gradient, &self.direction);
        let is_low = found.value <= at.value + KEPT * self.length * slope;
        let is_level = found.value <= at.value + ROUNDING * at.value.abs()
            && product(&found.gradient, &self.direction).abs() <= 0.9 * slope.abs();
        is_low || is_level
    }

    /// Ends where the gap is small enough, or whatever it is.
    fn stop(
        &mut self,
        objective: &Objective<'_>,
        curvature: &Curvature<'_>,
        limits: &SolverLimits,
        now: bool,
    ) {
        let (value, gap) = match &self.at {
            None => (f64::NAN, f64::INFINITY),
            Some(at) => (at.value, gap(&at.gradient, objective, curvature)),
        };
        let relative_gap = if gap > 0.0 { gap / value } else { 0.0 };
        let converged = relative_gap <= limits.relative_gap;
        if converged || now {
            self.end = Some(Convergence {
                converged,
                passes: self.evaluations,
                objective: value,
                relative_gap,
            });
        }
    }

    fn set_candidate(&mut self) {
        let (point, direction) = (self.point.iter(), self.direction.iter());
        self.candidate.clear();
        let length = self.length;
        self.candidate
            .extend(point.zip(direction).map(|(at, d)| at + length * d));
    }

    /// The direction in which the remembered steps say that the lowest point lies.
    fn turn(&mut self, curvature: &Curvature<'_>) {
        let gradient = self.at.as_ref().map(|at| at.gradient.clone());
        let mut direction = gradient.unwrap_or_default();
        let mut shares = Vec::with_capacity(self.pairs.len());
        for pair in self.pairs.iter().rev() {
            let share = product(&pair.step, &direction) / pair.product;
            for (own, change) in direction.iter_mut().zip(&pair.change) {
                *own -= share * change;
            }
            shares.push(share);
        }
        let scale = self.pairs.back().map_or(1.0, |pair| {
            let mut solved = pair.change.clone();
            curvature.solve(&mut solved);
            pair.product / product(&pair.change, &solved)
        });
        curvature.solve(&mut direction);
        direction.iter_mut().for_each(|own| *own *= scale);
        for (pair, share) in self.pairs.iter().zip(shares.into_iter().rev()) {
            let own = product(&pair.change, &direction) / pair.product;
            for (entry, step) in direction.iter_mut().zip(&pair.step) {
                *entry += (share - own) * step;
            }
        }
        direction.iter_mut().for_each(|entry| *entry = -*entry);
        self.length = match &self.at {
            Some(at) if self.pairs.is_empty() => curvature.first_length(&at.gradient, &direction),
            _ => 1.0,
        };
        self.direction = direction;
    }
}

/// Primal less dual value: half the square of the gradient. A free bias has no dual value until its gradient vanishes; what is left to
/// gain by it is estimated.
fn gap(gradient: &[f64], objective: &Objective<'_>, curvature: &Curvature<'_>) -> f64 {
    let (&of_bias, of_weights) = gradient.split_last().unwrap_or((&0.0, &[]));
    let bias = if objective.is_free() {
        of_bias * of_bias / curvature.of_bias()
    } else {
        of_bias * of_bias
    };
    0.5 * (product(of_weights, of_weights) + bias)
}
