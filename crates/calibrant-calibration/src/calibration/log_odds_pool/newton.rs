//! Weights that may not be negative, by Newton's method on those that are free to move.
//!
//! Forecasts that are all but certain make the loss nearly a polyhedron: steep, almost without curvature, and then
//! sharply bent. Where Newton's steps turn out too long for that, they are damped by the most curvature there can be, as
//! Levenberg and Marquardt do.

use super::MemberForecasts;
use crate::numeric::{log_sum_exp, sigmoid, softplus};
use crate::solvers::sum_in_parts;
use crate::{CalibrationError, Task};

const METHOD: &str = "the pool of forecasts";
/// How firmly weights are held to what each member's own forecasts are worth, and intercepts to zero: round numbers. Of 20, 60 and 200
/// for weights the second lost least over SVM and naive Bayes of five corpora (IMDb, SMS, 20 Newsgroups, R52, Debian) pooled on 50, 200 and 1,000
/// examples.
pub(super) const WEIGHT_STRENGTH: f64 = 60.0;
pub(super) const INTERCEPT_STRENGTH: f64 = 50.0;
/// How much of the examples' evidence goes into the members' shares: all of it would settle on the luckiest.
pub(super) const TEMPER: f64 = 0.25;
/// The largest slope that is left, in nats per example.
pub(super) const TOLERANCE: f64 = 1e-9;
const MOST_STEPS: usize = 200;
/// The least damping that is tried, as a share of the most curvature there can be.
const LEAST_DAMPING: f64 = 1e-10;

/// How firmly weights are held to where they lie without data, and intercepts to zero.
#[derive(Debug, Clone, Copy)]
pub(in crate::calibration) struct Strengths {
    pub(in crate::calibration) weight: f64,
    pub(in crate::calibration) intercept: f64,
}

impl Default for Strengths {
    fn default() -> Self {
        Self {
            weight: WEIGHT_STRENGTH,
            intercept: INTERCEPT_STRENGTH,
        }
    }
}

/// The weights, then the intercepts, with the least penalised log loss: until no slope is above the
/// tolerance, or rounding hides what a further step promises.
pub(in crate::calibration) fn solve(
    forecasts: &MemberForecasts,
    rows: &[u32],
    strengths: Strengths,
) -> Result<Vec<f64>, CalibrationError> {
    let problem = Problem::new(forecasts, rows, strengths);
    let members = forecasts.member_count();
    let mut here = vec![0.0; members + forecasts.class_count()];
    here[..members].copy_from_slice(&problem.centres);
    let mut at = problem.expand(&here);
    let mut damping = 0.0;
    let mut steps = 0;
    loop {
        let size = problem.slope_left(&here, &at);
        let stopped = CalibrationError::NotConverged {
            method: METHOD,
            iterations: steps,
            gradient: size / problem.total,
        };
        if size <= TOLERANCE * problem.total && at.value.is_finite() {
            return Ok(here);
        }
        if !(size.is_finite() && at.value.is_finite()) || steps == MOST_STEPS {
            return Err(stopped);
        }
        let bound = problem.bound(&here, &at, damping);
        let way = problem.direction(&at, &bound, damping);
        let rounding = 1e-12 * (1.0 + at.value.abs());
        let mut most_promised = 0.0f64;
        let mut length = 1.0;
        let next = loop {
            let there = problem.moved(&here, &way, length);
            let promise: f64 = (0..here.len())
                .map(|place| at.gradient[place] * (there[place] - here[place]))
                .sum();
            most_promised = most_promised.max(promise.abs());
            let next = problem.expand(&there);
            // Near the answer the value's gain drowns in rounding; the slopes still tell.
            let flatter =
                next.value <= at.value + rounding && problem.slope_left(&there, &next) < 0.5 * size;
            if flatter || (promise < 0.0 && next.value <= at.value + 1e-4 * promise) {
                break Some((there, next));
            }
            length *= 0.5;
            if length < 1e-12 {
                break None;
            }
        };
        match next {
            Some((there, next)) => {
                let way: Vec<f64> = there
                    .iter()
                    .zip(&here)
                    .map(|(to, from)| to - from)
                    .collect();
                let bent = 0.5 * dot(&way, &problem.product(&at, &way));
                let promised = -(dot(&way, &at.gradient) + bent);
                let kept = (at.value - next.value) / promised;
                // A promise that is not kept: the model reaches less far than its step.
                if length < 1.0 || (promised > rounding && kept < 0.25) {
                    damping = (10.0 * damping).max(LEAST_DAMPING);
                } else if kept > 0.75 {
                    let less = 0.1 * damping;
                    damping = if less < LEAST_DAMPING { 0.0 } else { less };
                }
                (here, at) = (there, next);
            }
            None if most_promised <= 100.0 * rounding => return Ok(here),
            None => return Err(stopped),
        }
        steps += 1;
    }
}

/// Value, slopes and curvatures at one point, and the forecasts there.
struct Expansion {
    value: f64,
    gradient: Vec<f64>,
    /// The diagonal of the Hessian.
    curvature: Vec<f64>,
    /// Row after row, class after class.
    probabilities: Vec<f64>,
}

struct Problem<'a> {
    forecasts: &'a MemberForecasts,
    rows: &'a [u32],
    strengths: Strengths,
    /// Brings the examples' weights to a mean of one.
    scale: f64,
    total: f64,
    /// Where weights lie without data.
    centres: Vec<f64>,
    /// For each parameter, the most curvature that any forecasts can give.
    most_curvature: Vec<f64>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl<'a> Problem<'a> {
    fn new(forecasts: &'a MemberForecasts, rows: &'a [u32], strengths: Strengths) -> Self {
        let weights = rows.iter().map(|&row| forecasts.weights()[row as usize]);
        let largest = weights.clone().fold(0.0, f64::max);
        // In units of the largest, so that it cannot overflow.
        let mean = weights.map(|weight| weight / largest).sum::<f64>() / rows.len() as f64;
        let mut problem = Self {
            forecasts,
            rows,
            strengths,
            scale: 1.0 / (largest * mean),
            total: rows.len() as f64,
            centres: Vec::new(),
            most_curvature: Vec::new(),
        };
        problem.centres = problem.say_of_each();
        problem.most_curvature = problem.most_curvature();
        problem
    }

    /// Shares by how well each member forecasts the examples alone, `∝ exp(-τ Σ v_i loss)`.
    fn say_of_each(&self) -> Vec<f64> {
        let mut losses = vec![0.0; self.members()];
        for &row in self.rows {
            let (row, labels) = (row as usize, &self.forecasts.labels()[row as usize]);
            let evidence = self
                .forecasts
                .evidence(row)
                .chunks_exact(self.forecasts.class_count());
            for (evidence, loss) in evidence.zip(&mut losses) {
                let own: f64 = labels.iter().map(|&label| evidence[label as usize]).sum();
                let all: f64 = match self.forecasts.task() {
                    Task::SingleLabel => log_sum_exp(evidence),
                    Task::MultiLabel => evidence.iter().map(|&e| softplus(e)).sum(),
                };
                *loss += self.weight(row) * (all - own);
            }
        }
        let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
        let shares: Vec<f64> = losses
            .iter()
            .map(|loss| (-TEMPER * (loss - least)).exp())
            .collect();
        let sum: f64 = shares.iter().sum();
        shares.iter().map(|share| share / sum).collect()
    }

    /// How firmly a parameter is held.
    fn strength(&self, place: usize) -> f64 {
        if place < self.members() {
            self.strengths.weight
        } else {
            self.strengths.intercept
        }
    }

    /// The variance of what lies within a range is at most a quarter of its square.
    fn most_curvature(&self) -> Vec<f64> {
        let classes = self.forecasts.class_count();
        let mut most = vec![self.strengths.weight; self.members() + classes];
        let (of_weights, of_intercepts) = most.split_at_mut(self.members());
        of_intercepts.fill(self.strengths.intercept + 0.25 * self.total);
        for &row in self.rows {
            let row = row as usize;
            let evidence = self.forecasts.evidence(row).chunks_exact(classes);
            for (evidence, most) in evidence.zip(of_weights.iter_mut()) {
                let squares = match self.forecasts.task() {
                    Task::SingleLabel => {
                        let high = evidence.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                        let low = evidence.iter().copied().fold(f64::INFINITY, f64::min);
                        (high - low) * (high - low)
                    }
                    Task::MultiLabel => dot(evidence, evidence),
                };
                *most += 0.25 * self.weight(row) * squares;
            }
        }
        most
    }

    fn members(&self) -> usize {
        self.forecasts.member_count()
    }

    fn weight(&self, row: usize) -> f64 {
        self.forecasts.weights()[row] * self.scale
    }

    /// `Σ_m d_m e_mc + d_c` for each class: the log-weights for `d = θ`, their change for a step.
    fn sums_into(&self, row: usize, parameters: &[f64], sums: &mut [f64]) {
        let (weights, intercepts) = parameters.split_at(self.members());
        sums.copy_from_slice(intercepts);
        let evidence = self.forecasts.evidence(row).chunks_exact(sums.len());
        for (evidence, weight) in evidence.zip(weights) {
            for (sum, evidence) in sums.iter_mut().zip(evidence) {
                *sum += weight * evidence;
            }
        }
    }

    /// Adds to `out` what pulls on the log-weights of classes are as pulls on the parameters.
    fn add_pulls(&self, row: usize, pulls: &[f64], out: &mut [f64]) {
        let (of_weights, of_intercepts) = out.split_at_mut(self.members());
        let evidence = self.forecasts.evidence(row).chunks_exact(pulls.len());
        for (evidence, out) in evidence.zip(of_weights) {
            *out += evidence.iter().zip(pulls).map(|(e, p)| e * p).sum::<f64>();
        }
        for (out, pull) in of_intercepts.iter_mut().zip(pulls) {
            *out += pull;
        }
    }

    fn expand(&self, parameters: &[f64]) -> Expansion {
        let classes = self.forecasts.class_count();
        let zero = || Expansion {
            value: 0.0,
            gradient: vec![0.0; parameters.len()],
            curvature: vec![0.0; parameters.len()],
            probabilities: Vec::new(),
        };
        let sum = |at: &mut Expansion, range: std::ops::Range<usize>| {
            let mut sums = vec![0.0; classes];
            let mut pulls = vec![0.0; classes];
            for &row in &self.rows[range] {
                let row = row as usize;
                let weight = self.weight(row);
                self.sums_into(row, parameters, &mut sums);
                let labels = &self.forecasts.labels()[row];
                let first = at.probabilities.len();
                match self.forecasts.task() {
                    Task::SingleLabel => {
                        let total = log_sum_exp(&sums);
                        at.probabilities
                            .extend(sums.iter().map(|z| (z - total).exp()));
                        at.value += weight * (total - sums[labels[0] as usize]);
                    }
                    Task::MultiLabel => {
                        at.probabilities.extend(sums.iter().map(|&z| sigmoid(z)));
                        let all: f64 = sums.iter().map(|&z| softplus(z)).sum();
                        let own: f64 = labels.iter().map(|&label| sums[label as usize]).sum();
                        at.value += weight * (all - own);
                    }
                }
                let probabilities = &at.probabilities[first..];
                for (pull, p) in pulls.iter_mut().zip(probabilities) {
                    *pull = weight * p;
                }
                for &label in labels {
                    pulls[label as usize] -= weight;
                }
                self.add_pulls(row, &pulls, &mut at.gradient);
                self.add_curvature(row, weight, probabilities, &mut at.curvature);
            }
        };
        let mut at = sum_in_parts(self.rows.len(), zero, sum, |total, part| {
            total.value += part.value;
            total.probabilities.extend(part.probabilities);
            let slopes = total.gradient.iter_mut().chain(&mut total.curvature);
            for (total, part) in slopes.zip(part.gradient.iter().chain(&part.curvature)) {
                *total += part;
            }
        });
        for (place, parameter) in parameters.iter().enumerate() {
            let away = parameter - self.centre_of(place);
            let strength = self.strength(place);
            at.value += 0.5 * strength * away * away;
            at.gradient[place] += strength * away;
            at.curvature[place] += strength;
        }
        at
    }

    fn centre_of(&self, place: usize) -> f64 {
        if place < self.members() {
            self.centres[place]
        } else {
            0.0
        }
    }

    fn add_curvature(&self, row: usize, weight: f64, probabilities: &[f64], out: &mut [f64]) {
        let single = self.forecasts.task() == Task::SingleLabel;
        let (of_weights, of_intercepts) = out.split_at_mut(self.members());
        let evidence = self
            .forecasts
            .evidence(row)
            .chunks_exact(probabilities.len());
        for (evidence, out) in evidence.zip(of_weights) {
            let of_class = evidence.iter().zip(probabilities);
            *out += weight
                * if single {
                    let mean: f64 = of_class.clone().map(|(e, p)| e * p).sum();
                    of_class
                        .map(|(e, p)| p * (e - mean) * (e - mean))
                        .sum::<f64>()
                } else {
                    of_class.map(|(e, p)| p * (1.0 - p) * e * e).sum::<f64>()
                };
        }
        for (out, p) in of_intercepts.iter_mut().zip(probabilities) {
            *out += weight * p * (1.0 - p);
        }
    }

    /// The Hessian times a step.
    fn product(&self, at: &Expansion, step: &[f64]) -> Vec<f64> {
        let classes = self.forecasts.class_count();
        let single = self.forecasts.task() == Task::SingleLabel;
        let sum = |total: &mut Vec<f64>, range: std::ops::Range<usize>| {
            let mut pulls = vec![0.0; classes];
            for place in range {
                let row = self.rows[place] as usize;
                let weight = self.weight(row);
                let probabilities = &at.probabilities[place * classes..][..classes];
                self.sums_into(row, step, &mut pulls);
                let mean = if single {
                    pulls.iter().zip(probabilities).map(|(u, p)| u * p).sum()
                } else {
                    0.0
                };
                for (pull, p) in pulls.iter_mut().zip(probabilities) {
                    let slack = if single { 1.0 } else { 1.0 - p };
                    *pull = weight * p * slack * (*pull - mean);
                }
                self.add_pulls(row, &pulls, total);
            }
        };
        let add = |total: &mut Vec<f64>, part: Vec<f64>| {
            total
                .iter_mut()
                .zip(part)
                .for_each(|(total, part)| *total += part);
        };
        let zero = || vec![0.0; step.len()];
        let mut product = sum_in_parts(self.rows.len(), zero, sum, add);
        for (place, (product, step)) in product.iter_mut().zip(step).enumerate() {
            *product += self.strength(place) * step;
        }
        product
    }

    /// The largest slope that something could still be gained by; a weight at zero that wants to fall
    /// is where it should be.
    fn slope_left(&self, here: &[f64], at: &Expansion) -> f64 {
        let left = at.gradient.iter().enumerate().filter(|&(place, &slope)| {
            !(place < self.members() && here[place] == 0.0 && slope > 0.0)
        });
        left.fold(0.0, |size: f64, (_, slope)| size.max(slope.abs()))
    }

    /// Weights that lie at zero, or next to it, and want to fall: they are moved on their own.
    fn bound(&self, here: &[f64], at: &Expansion, damping: f64) -> Vec<bool> {
        let place_is_bound = |(place, &slope): (usize, &f64)| {
            let curvature = at.curvature[place] + damping * self.most_curvature[place];
            let reach = (slope / curvature).min(1e-3);
            place < self.members() && slope > 0.0 && here[place] <= reach
        };
        at.gradient.iter().enumerate().map(place_is_bound).collect()
    }

    /// Newton's step for what is free, damped, by conjugate gradients in units of the curvature.
    fn direction(&self, at: &Expansion, bound: &[bool], damping: f64) -> Vec<f64> {
        let width = bound.len();
        let damped: Vec<f64> = self.most_curvature.iter().map(|c| damping * c).collect();
        let curvature: Vec<f64> = at
            .curvature
            .iter()
            .zip(&damped)
            .map(|(c, d)| c + d)
            .collect();
        let mut step = vec![0.0; width];
        let mut left: Vec<f64> = (0..width)
            .map(|i| if bound[i] { 0.0 } else { -at.gradient[i] })
            .collect();
        let scaled = |left: &[f64]| -> Vec<f64> {
            left.iter().zip(&curvature).map(|(r, c)| r / c).collect()
        };
        let mut towards = scaled(&left);
        let mut size = dot(&left, &towards);
        let enough = size * 1e-8f64.min(size / (self.total * self.total));
        for _ in 0..(2 * width + 10).min(400) {
            if size <= enough || size <= f64::MIN_POSITIVE {
                break;
            }
            let mut product = self.product(at, &towards);
            for i in 0..width {
                product[i] = if bound[i] {
                    0.0
                } else {
                    product[i] + damped[i] * towards[i]
                };
            }
            let far = size / dot(&towards, &product);
            for i in 0..width {
                step[i] += far * towards[i];
                left[i] -= far * product[i];
            }
            let preconditioned = scaled(&left);
            let next = dot(&left, &preconditioned);
            let share = next / size;
            for (towards, new) in towards.iter_mut().zip(preconditioned) {
                *towards = new + share * *towards;
            }
            size = next;
        }
        for i in (0..width).filter(|&i| bound[i]) {
            step[i] = -at.gradient[i] / curvature[i];
        }
        step
    }

    /// A step that ends at zero where it would go below.
    fn moved(&self, here: &[f64], way: &[f64], length: f64) -> Vec<f64> {
        let moved = here.iter().zip(way).enumerate();
        moved
            .map(|(place, (here, way))| {
                let there = here + length * way;
                if place < self.members() {
                    there.max(0.0)
                } else {
                    there
                }
            })
            .collect()
    }
}
