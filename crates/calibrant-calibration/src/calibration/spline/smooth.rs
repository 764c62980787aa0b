//! Smooth curves by penalised likelihood, and how smooth they should be.

use super::band::{Band, dot, solve_full};
use super::basis::{Basis, Row, combine};
use crate::numeric::exp_of_negative;

/// Examples with nearly the same score, taken together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Group {
    /// The mean score.
    pub(super) score: f64,
    /// The mean target.
    pub(super) target: f64,
    /// The total weight.
    pub(super) weight: f64,
}

/// What a curve over a basis loses on grouped examples, and what its bends cost.
pub(super) struct Problem<'a> {
    groups: &'a [Group],
    rows: Vec<Row>,
    /// What curvature costs, and what its changes cost.
    penalties: [Band; 2],
    /// The same as functions of the second derivative at the knots.
    priors: [Band; 2],
    size: usize,
}

/// Loss with penalties, its gradient and its Hessian.
struct Expansion {
    loss: f64,
    gradient: Vec<f64>,
    hessian: Band,
}

/// What curvature costs: so little that it only decides what the examples leave open.
const CURVATURE: f64 = 0.02;
/// The logarithms of what changes of curvature cost, of which several are tried, the strongest first.
const LN_CHANGES: [f64; 9] = [12.0, 10.0, 8.0, 6.0, 4.0, 2.0, 0.0, -2.0, -4.0];
/// A pull on a held step that is a smaller share of the one it began with is rounding.
const HARDEST: f64 = 1e-9;
/// The promised gain of a step (in nats, over all examples) after which no other is worth taking.
const GAIN: f64 = 1e-7;

impl<'a> Problem<'a> {
    pub(super) fn new(basis: &Basis, groups: &'a [Group]) -> Self {
        let size = basis.len();
        let knots = basis.knots();
        let seconds = basis.second_derivatives();
        let (mut changes, mut curvature) = (Band::zeros(size), Band::zeros(size));
        let (mut change_prior, mut curvature_prior) =
            (Band::zeros(knots.len()), Band::zeros(knots.len()));
        // Derivatives times the width of a piece as often as they divide by it: they are then in
        // log-odds a knot, whatever the unit of the score, and knots that lie far apart bend as
        // easily as knots that lie close together.
        for (j, row) in seconds.iter().enumerate() {
            let (left, right) = (
                knots[j.saturating_sub(1)],
                knots[(j + 1).min(knots.len() - 1)],
            );
            let square = (0.5 * (right - left)).powi(2);
            curvature.add_outer(j, &row.map(|entry| entry * square), 1.0);
            curvature_prior.add_outer(j, &[square], 1.0);
        }
        for (j, pair) in seconds.windows(2).enumerate() {
            let square = (knots[j + 1] - knots[j]).powi(2);
            let (a, b) = (pair[0], pair[1]);
            let row = [-a[0], b[0] - a[1], b[1] - a[2], b[2]];
            changes.add_outer(j, &row.map(|entry| entry * square), 1.0);
            change_prior.add_outer(j, &[-square, square], 1.0);
        }
        Self {
            groups,
            rows: groups.iter().map(|group| basis.at(group.score)).collect(),
            penalties: [curvature, changes],
            priors: [curvature_prior, change_prior],
            size,
        }
    }

    /// The coefficients of the best curves for several strengths of the penalty, averaged by how
    /// likely each strength makes the examples.
    pub(super) fn solve(&self, start: &[f64], monotone: bool) -> Vec<f64> {
        let mut curves: Vec<(Vec<f64>, f64)> = Vec::new();
        let mut here = start.to_vec();
        let mut held = false;
        for ln_change in LN_CHANGES {
            let strengths = [CURVATURE, ln_change.exp()];
            let mut solved = None;
            if !held {
                let (free, at) = self.descend(strengths, here);
                // A curve that falls somewhere has to be held up; with less to pay for bends, the next ones, too.
                held = monotone && !free.is_sorted();
                if held {
                    here = self.some_rising(strengths, &free);
                } else {
                    here = free.clone();
                    solved = Some((free, at));
                }
            }
            let (curve, at) = solved.unwrap_or_else(|| self.rising(strengths, &here));
            curves.push((curve, self.ln_evidence(strengths, &at)));
            if held {
                here = curves[curves.len() - 1].0.clone();
            }
        }
        let most = curves
            .iter()
            .map(|&(_, evidence)| evidence)
            .fold(f64::NEG_INFINITY, f64::max);
        if !most.is_finite() {
            return curves.swap_remove(0).0;
        }
        let mut mean = vec![0.0; self.size];
        let mut total = 0.0;
        for (curve, evidence) in &curves {
            let share = (evidence - most).exp();
            total += share;
            for (mean, coefficient) in mean.iter_mut().zip(curve) {
                *mean += share * coefficient;
            }
        }
        mean.iter_mut().for_each(|mean| *mean /= total);
        mean
    }

    fn expand(&self, strengths: [f64; 2], coefficients: &[f64]) -> Expansion {
        let mut sum = Expansion {
            loss: 0.0,
            gradient: vec![0.0; self.size],
            hessian: Band::zeros(self.size),
        };
        for (row, group) in self.rows.iter().zip(self.groups) {
            let z = combine(row, coefficients);
            let e = exp_of_negative(-z.abs());
            let inverse = 1.0 / (1.0 + e);
            let p = if z >= 0.0 { inverse } else { e * inverse };
            sum.loss += group.weight * (z.max(0.0) + e.ln_1p() - group.target * z);
            let pull = group.weight * (p - group.target);
            let (start, values) = row;
            for (gradient, value) in sum.gradient[*start..].iter_mut().zip(values) {
                *gradient += pull * value;
            }
            let curve = group.weight * e * inverse * inverse;
            sum.hessian.add_outer(*start, values, curve);
        }
        for (penalty, strength) in self.penalties.iter().zip(strengths) {
            let pull = penalty.times(coefficients);
            sum.loss += 0.5 * strength * dot(&pull, coefficients);
            for (gradient, pull) in sum.gradient.iter_mut().zip(pull) {
                *gradient += strength * pull;
            }
            sum.hessian.add(penalty, strength);
        }
        sum
    }

    /// Newton's method with backtracking; ends where no step helps. With the expansion there, or where the last step began: they differ by
    /// less than [`GAIN`].
    fn descend(&self, strengths: [f64; 2], start: Vec<f64>) -> (Vec<f64>, Expansion) {
        let mut place = start;
        let mut here = self.expand(strengths, &place);
        for _ in 0..50 {
            let Some(factor) = here.hessian.factor() else {
                break;
            };
            let step = factor.solve(&here.gradient);
            let gain = dot(&step, &here.gradient);
            if gain <= GAIN {
                // The last step is too small to need a check, and doubles the digits that are right.
                for (coefficient, step) in place.iter_mut().zip(&step) {
                    *coefficient -= step;
                }
                break;
            }
            let lengths = std::iter::successors(Some(1.0), |length| Some(0.5 * length)).take(30);
            let moved = lengths.into_iter().find_map(|length| {
                let tried: Vec<f64> = place
                    .iter()
                    .zip(&step)
                    .map(|(coefficient, step)| coefficient - length * step)
                    .collect();
                let there = self.expand(strengths, &tried);
                (there.loss <= here.loss - 1e-4 * length * gain).then_some((tried, there))
            });
            let Some(moved) = moved else { break };
            (place, here) = moved;
        }
        (place, here)
    }

    /// A rising curve to begin with: the highest so far of one that falls in places or, where it falls
    /// nearly everywhere, a flat one.
    fn some_rising(&self, strengths: [f64; 2], falling: &[f64]) -> Vec<f64> {
        let mut top = f64::NEG_INFINITY;
        let highest = falling.iter().map(|&coefficient| {
            top = top.max(coefficient);
            top
        });
        let highest: Vec<f64> = highest.collect();
        let flat = vec![self.mean_log_odds(); self.size];
        if self.expand(strengths, &flat).loss < self.expand(strengths, &highest).loss {
            flat
        } else {
            highest
        }
    }

    /// The best curve whose coefficients rise, from one that does, by Newton's method over the steps
    /// between them: each move goes towards the least value of the quadratic approximation among steps
    /// that are not negative, so that from near the end it doubles the digits as it would without bounds.
    fn rising(&self, strengths: [f64; 2], start: &[f64]) -> (Vec<f64>, Expansion) {
        let mut steps = vec![start[0]];
        steps.extend(start.windows(2).map(|pair| (pair[1] - pair[0]).max(0.0)));
        let mut here = self.expand(strengths, &running_sums(&steps));
        for _ in 0..100 {
            let gradient = tail_sums(here.gradient.clone());
            let hessian = over_steps(&here.hessian);
            let Some(aim) = least_quadratic(&hessian, &gradient, &steps) else {
                break;
            };
            let promised = dot(&gradient, &steps) - dot(&gradient, &aim);
            if promised <= GAIN {
                // As in `descend`: too small to need a check.
                steps = aim;
                break;
            }
            let lengths = std::iter::successors(Some(1.0), |length| Some(0.5 * length)).take(30);
            let moved = lengths.into_iter().find_map(|length| {
                let along = |(step, aim): (&f64, &f64)| (1.0 - length) * step + length * aim;
                let tried: Vec<f64> = steps.iter().zip(&aim).map(along).collect();
                let there = self.expand(strengths, &running_sums(&tried));
                (there.loss <= here.loss - 1e-4 * length * promised).then_some((tried, there))
            });
            let Some(moved) = moved else { break };
            (steps, here) = moved;
        }
        (running_sums(&steps), here)
    }

    /// The log-odds of the mean target.
    fn mean_log_odds(&self) -> f64 {
        let sum = |of: fn(&Group) -> f64| self.groups.iter().map(of).sum::<f64>();
        let positive = sum(|group| group.weight * group.target);
        (positive / sum(|group| group.weight * (1.0 - group.target))).ln()
    }

    /// The logarithm of how likely the examples are under a strength, by Laplace's approximation
    /// around its best curve, up to a constant: the likelihood there, times the prior of the curve
    /// (normal, with the penalty as its exponent), times the volume of curves that do as well.
    fn ln_evidence(&self, strengths: [f64; 2], here: &Expansion) -> f64 {
        let mut prior = Band::zeros(self.size - 2);
        for (part, strength) in self.priors.iter().zip(strengths) {
            prior.add(part, strength);
        }
        match (prior.factor(), here.hessian.factor()) {
            (Some(prior), Some(volume)) => {
                0.5 * prior.ln_determinant() - here.loss - 0.5 * volume.ln_determinant()
            }
            _ => f64::NEG_INFINITY,
        }
    }
}

/// The least value of `g·(y - x) + (y - x)·H(y - x)/2` over `y` with no negative entry but the first, from
/// an `x` that has none: entries at zero are held there until the others are right, then the one that pulls
/// hardest is let go; a move ends where an entry would become negative, which is held from there on.
/// `None` where `H` is not positive.
fn least_quadratic(hessian: &[Vec<f64>], gradient: &[f64], x: &[f64]) -> Option<Vec<f64>> {
    let size = x.len();
    let mut y = x.to_vec();
    let mut pull = gradient.to_vec();
    let mut held: Vec<bool> = (0..size)
        .map(|j| j > 0 && x[j] <= 0.0 && gradient[j] > 0.0)
        .collect();
    for _ in 0..4 * size {
        let free: Vec<usize> = (0..size).filter(|&j| !held[j]).collect();
        let kept = |row: &[f64]| free.iter().map(|&j| row[j]).collect::<Vec<f64>>();
        let matrix = free.iter().map(|&i| kept(&hessian[i])).collect();
        let step = solve_full(matrix, &kept(&pull))?;
        let mut length = 1.0;
        let mut ends_at = None;
        for (&j, &by) in free.iter().zip(&step) {
            if j > 0 && by > 0.0 && y[j] - length * by < 0.0 {
                (length, ends_at) = (y[j] / by, Some(j));
            }
        }
        for (&j, &by) in free.iter().zip(&step) {
            y[j] -= length * by;
            for (pull, entry) in pull.iter_mut().zip(&hessian[j]) {
                *pull -= length * by * entry;
            }
        }
        if let Some(j) = ends_at {
            (y[j], held[j]) = (0.0, true);
            continue;
        }
        let hardest = (0..size)
            .filter(|&j| held[j])
            .min_by(|&a, &b| pull[a].total_cmp(&pull[b]));
        match hardest {
            Some(j) if pull[j] < -HARDEST * gradient[j].abs().max(1e-3) => held[j] = false,
            _ => break,
        }
    }
    y.iter_mut()
        .skip(1)
        .for_each(|entry| *entry = entry.max(0.0));
    Some(y)
}

fn running_sums(steps: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    steps
        .iter()
        .map(|step| {
            sum += step;
            sum
        })
        .collect()
}

/// Each entry with all that follow it.
fn tail_sums(mut values: Vec<f64>) -> Vec<f64> {
    for j in (1..values.len()).rev() {
        values[j - 1] += values[j];
    }
    values
}

/// A Hessian over coefficients as one over the steps between them.
fn over_steps(hessian: &Band) -> Vec<Vec<f64>> {
    let mut full: Vec<Vec<f64>> = hessian.full().into_iter().map(tail_sums).collect();
    for i in (1..full.len()).rev() {
        let (before, after) = full.split_at_mut(i);
        for (entry, later) in before[i - 1].iter_mut().zip(&after[0]) {
            *entry += later;
        }
    }
    full
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    fn groups(count: usize) -> Vec<Group> {
        let mut random = Random::from_seed(3);
        (0..count)
            .map(|i| Group {
                score: 4.0 * i as f64 / count as f64 - 2.0,
                target: random.uniform(),
                weight: 5.0 * random.open_uniform(),
            })
            .collect()
    }

    const KNOTS: [f64; 6] = [-1.7, -1.0, -0.9, 0.2, 1.0, 1.8];

    #[test]
    fn gradient_and_curvature_are_those_of_small_differences() {
        let (basis, groups) = (Basis::new(&KNOTS), groups(60));
        let problem = Problem::new(&basis, &groups);
        let place: Vec<f64> = (0..basis.len()).map(|j| (j as f64).cos()).collect();
        let here = problem.expand([0.3, 0.7], &place);
        let full = here.hessian.full();
        let step = 1e-5;
        for j in 0..basis.len() {
            let moved = |by: f64| {
                let mut place = place.clone();
                place[j] += by;
                problem.expand([0.3, 0.7], &place)
            };
            let (low, high) = (moved(-step), moved(step));
            let slope = (high.loss - low.loss) / (2.0 * step);
            assert!((slope - here.gradient[j]).abs() < 1e-5 * (1.0 + slope.abs()));
            for (k, row) in full.iter().enumerate() {
                let curve = (high.gradient[k] - low.gradient[k]) / (2.0 * step);
                assert!((curve - row[j]).abs() < 1e-5 * (1.0 + curve.abs()));
            }
        }
    }

    #[test]
    fn the_penalties_spare_lines() {
        let basis = Basis::new(&KNOTS);
        let problem = Problem::new(&basis, &[]);
        let line: Vec<f64> = basis.centres().iter().map(|x| 3.0 - 2.0 * x).collect();
        for penalty in &problem.penalties {
            assert!(dot(&penalty.times(&line), &line) < 1e-9);
        }
    }

    #[test]
    fn the_priors_are_the_penalties() {
        let basis = Basis::new(&KNOTS);
        let problem = Problem::new(&basis, &[]);
        let c: Vec<f64> = (0..basis.len()).map(|j| (2.0 * j as f64).sin()).collect();
        let seconds: Vec<f64> = basis
            .second_derivatives()
            .iter()
            .enumerate()
            .map(|(j, row)| dot(row, &c[j..]))
            .collect();
        for (penalty, prior) in problem.penalties.iter().zip(&problem.priors) {
            let (found, expected) = (
                dot(&penalty.times(&c), &c),
                dot(&prior.times(&seconds), &seconds),
            );
            assert!(
                (found - expected).abs() < 1e-9 * expected,
                "{found} {expected}"
            );
        }
    }

    /// All sets of held entries, one after the other: the best of those that keep the rules.
    fn least_by_trying_all(hessian: &[Vec<f64>], gradient: &[f64], x: &[f64]) -> f64 {
        let size = x.len();
        let mut least = f64::INFINITY;
        for set in 0..1u32 << (size - 1) {
            let free: Vec<usize> = (0..size)
                .filter(|&j| j == 0 || set >> (j - 1) & 1 == 0)
                .collect();
            // With y = 0 where held: H_ff y_f = H_fx x - g_f.
            let right: Vec<f64> = free
                .iter()
                .map(|&i| dot(&hessian[i], x) - gradient[i])
                .collect();
            let matrix = free
                .iter()
                .map(|&i| free.iter().map(|&j| hessian[i][j]).collect())
                .collect();
            let Some(found) = solve_full(matrix, &right) else {
                continue;
            };
            if free
                .iter()
                .zip(&found)
                .any(|(&j, &entry)| j > 0 && entry < 0.0)
            {
                continue;
            }
            let mut y = vec![0.0; size];
            free.iter().zip(found).for_each(|(&j, entry)| y[j] = entry);
            least = least.min(quadratic(hessian, gradient, x, &y));
        }
        least
    }

    fn quadratic(hessian: &[Vec<f64>], gradient: &[f64], x: &[f64], y: &[f64]) -> f64 {
        let by: Vec<f64> = y.iter().zip(x).map(|(y, x)| y - x).collect();
        let bent: Vec<f64> = hessian.iter().map(|row| dot(row, &by)).collect();
        dot(gradient, &by) + 0.5 * dot(&bent, &by)
    }

    #[test]
    fn the_least_quadratic_is_the_best_of_all_sets_of_held_steps() {
        let mut random = Random::from_seed(11);
        for case in 0..200 {
            let size = 2 + case % 6;
            let vectors: Vec<Vec<f64>> = (0..size + 2)
                .map(|_| (0..size).map(|_| random.normal()).collect())
                .collect();
            let hessian: Vec<Vec<f64>> = (0..size)
                .map(|i| {
                    (0..size)
                        .map(|j| vectors.iter().map(|v| v[i] * v[j]).sum())
                        .collect()
                })
                .collect();
            let gradient: Vec<f64> = (0..size).map(|_| 2.0 * random.normal()).collect();
            let x: Vec<f64> = (0..size)
                .map(|j| {
                    if j == 0 {
                        -0.3
                    } else {
                        random.normal().max(0.0)
                    }
                })
                .collect();
            let y = least_quadratic(&hessian, &gradient, &x).unwrap();
            assert!(y[1..].iter().all(|&entry| entry >= 0.0));
            let (found, least) = (
                quadratic(&hessian, &gradient, &x, &y),
                least_by_trying_all(&hessian, &gradient, &x),
            );
            assert!(
                (found - least).abs() < 1e-8 * (1.0 + least.abs()),
                "{found} {least}"
            );
        }
    }

    #[test]
    fn the_best_rising_curve_cannot_be_improved() {
        // Targets that fall, rise and fall: some steps must be zero. No small move that keeps the
        // coefficients rising may lower the loss.
        let basis = Basis::new(&KNOTS);
        let groups: Vec<Group> = groups(60)
            .into_iter()
            .map(|group| Group {
                target: 0.5 + 0.45 * (3.0 * group.score).sin(),
                ..group
            })
            .collect();
        let problem = Problem::new(&basis, &groups);
        for strengths in [[0.001, 0.01], [0.1, 1.0], [2.0, 50.0]] {
            let (start, _) = problem.descend(strengths, vec![0.0; basis.len()]);
            assert!(!start.is_sorted());
            let (best, _) = problem.rising(strengths, &problem.some_rising(strengths, &start));
            assert!(best.is_sorted());
            let least = problem.expand(strengths, &best).loss;
            for j in 0..best.len() {
                for by in [-1e-3, 1e-3] {
                    // One coefficient, and all from one on.
                    let mut alone = best.clone();
                    alone[j] += by;
                    let mut tail = best.clone();
                    tail[j..].iter_mut().for_each(|c| *c += by);
                    for tried in [alone, tail] {
                        if tried.is_sorted() {
                            assert!(problem.expand(strengths, &tried).loss >= least - 1e-9);
                        }
                    }
                }
            }
        }
    }
}
