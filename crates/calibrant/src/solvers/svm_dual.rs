//! Linear support vector machines by dual coordinate descent.

use serde::{Deserialize, Serialize};

use super::{Convergence, LinearProblem, Solution, SolverLimits};
use crate::numeric::Random;

/// The loss of a margin `m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HingeLoss {
    /// `max(0, 1 - m)`.
    Hinge,
    /// `max(0, 1 - m)²`.
    SquaredHinge,
}

/// Solves the dual one row at a time, rows that rest at a bound set aside until the end.
///
/// # Formula
/// ```text
/// minimise over α:  (|Σ y_i α_i x_i|² + Σ d_i α_i²) / 2 - Σ α_i       0 <= α_i <= u_i
///   hinge:          u_i = C_i,  d_i = 0
///   squared hinge:  u_i = ∞,    d_i = 1 / (2 C_i)
/// ```
/// A pass visits the active rows in random order and solves each for its own `α_i`, which has a
/// closed form. A row whose gradient points well out of the box is shrunk away; when the rest has
/// settled, all rows come back for a check. It ends when the duality gap is small enough, which
/// does not depend on how the data are scaled.
///
/// # Reference
/// Hsieh, Chang, Lin, Keerthi & Sundararajan, ICML 2008.
pub fn solve_svm(
    problem: &LinearProblem<'_>,
    loss: HingeLoss,
    solution: &mut Solution,
    limits: &SolverLimits,
    seed: u64,
) -> Convergence {
    let mut random = Random::from_seed(seed);
    let mut active = Active::start(problem, solution);
    // The spread of projected gradients that counts as settled; tightened until the gap agrees.
    let mut settled = 0.1;
    let mut passes = 0;
    loop {
        let spread = active.pass(problem, loss, solution, &mut random);
        passes += 1;
        let out_of_time = passes >= limits.max_passes;
        if spread > settled && !out_of_time {
            continue;
        }
        if active.is_partial() && !out_of_time {
            active.everyone();
            continue;
        }
        let (primal, dual) = objectives(problem, loss, solution);
        let convergence = Convergence::measured(primal, dual, passes, limits);
        if convergence.converged || out_of_time {
            return convergence;
        }
        settled *= 0.3;
        active.everyone();
    }
}

/// `1 / (2 C_i)` or nothing, and the upper bound of `α_i`.
#[inline]
fn diagonal_and_bound(loss: HingeLoss, cost: f64) -> (f64, f64) {
    match loss {
        HingeLoss::Hinge => (0.0, cost),
        HingeLoss::SquaredHinge => (0.5 / cost, f64::INFINITY),
    }
}

struct Active {
    order: Vec<u32>,
    count: usize,
    highest: f64,
    lowest: f64,
}

impl Active {
    /// A warm start begins with the rows that its solution rests on; the others come back for the
    /// check at the end.
    fn start(problem: &LinearProblem<'_>, solution: &Solution) -> Self {
        let (mut order, resting): (Vec<u32>, Vec<u32>) =
            problem.members.iter().partition(|&&row| solution.duals[row as usize] > 0.0);
        let count = if order.is_empty() { resting.len() } else { order.len() };
        order.extend(resting);
        Self { order, count, highest: f64::INFINITY, lowest: f64::NEG_INFINITY }
    }

    fn is_partial(&self) -> bool {
        self.count < self.order.len()
    }

    fn everyone(&mut self) {
        self.count = self.order.len();
        self.highest = f64::INFINITY;
        self.lowest = f64::NEG_INFINITY;
    }

    /// One pass over the active rows; returns how far apart the projected gradients are.
    fn pass(
        &mut self,
        problem: &LinearProblem<'_>,
        loss: HingeLoss,
        solution: &mut Solution,
        random: &mut Random,
    ) -> f64 {
        let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        random.shuffle(&mut self.order[..self.count]);
        let mut place = 0;
        while place < self.count {
            let row = self.order[place] as usize;
            let sign = problem.sign(row);
            let (diagonal, bound) = diagonal_and_bound(loss, problem.costs[row]);
            let dual = solution.duals[row];
            let gradient = sign * problem.score(solution, row) - 1.0 + diagonal * dual;
            let at_rest = (dual == 0.0 && gradient > self.highest)
                || (dual == bound && gradient < self.lowest);
            if at_rest {
                self.count -= 1;
                self.order.swap(place, self.count);
                continue;
            }
            let projected = if dual == 0.0 {
                gradient.min(0.0)
            } else if dual == bound {
                gradient.max(0.0)
            } else {
                gradient
            };
            highest = highest.max(projected);
            lowest = lowest.min(projected);
            if projected.abs() > 1e-12 {
                let curvature = problem.squared_norms[row] + 1.0 + diagonal;
                let moved = (dual - gradient / curvature).clamp(0.0, bound);
                solution.duals[row] = moved;
                solution.step(problem, row, (moved - dual) * sign);
            }
            place += 1;
        }
        self.highest = if highest > 0.0 {
            highest
        } else {
            f64::INFINITY
        };
        self.lowest = if lowest < 0.0 {
            lowest
        } else {
            f64::NEG_INFINITY
        };
        (highest - lowest).max(0.0)
    }
}

/// The primal and the dual objective at a point.
fn objectives(problem: &LinearProblem<'_>, loss: HingeLoss, solution: &Solution) -> (f64, f64) {
    let regular = 0.5 * solution.squared_norm();
    let (mut losses, mut linear) = (0.0, 0.0);
    for &row in problem.members {
        let row = row as usize;
        let slack = (1.0 - problem.sign(row) * problem.score(solution, row)).max(0.0);
        losses += problem.costs[row]
            * if loss == HingeLoss::Hinge {
                slack
            } else {
                slack * slack
            };
        let (diagonal, _) = diagonal_and_bound(loss, problem.costs[row]);
        let dual = solution.duals[row];
        linear += dual - 0.5 * diagonal * dual * dual;
    }
    (regular + losses, linear - regular)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::SparseMatrix;

    fn norms(rows: &SparseMatrix) -> Vec<f64> {
        rows.rows().map(|row| row.squared_norm()).collect()
    }

    #[test] // One feature at ±1 and a bias: by symmetry b = 0 and w solves w/2·... by hand below.
    fn the_answer_worked_by_hand() {
        let rows = SparseMatrix::from_rows(1, [vec![(0, 1.0)], vec![(0, -1.0)]]);
        let labels = [true, false];
        let squared_norms = norms(&rows);
        let costs = [0.25, 0.25];
        let problem = LinearProblem {
            rows: &rows,
            squared_norms: &squared_norms,
            labels: &labels,
            costs: &costs,
            members: &[0, 1],
        };
        let limits = SolverLimits {
            relative_gap: 1e-9,
            max_passes: 10_000,
        };
        // Squared hinge: w²/2 + 2·C(1-w)² is least at w = 4C/(1+4C) = 1/2.
        let mut solution = Solution::zero(&problem);
        let end = solve_svm(&problem, HingeLoss::SquaredHinge, &mut solution, &limits, 1);
        assert!(end.converged);
        assert!((solution.weights.values()[0] - 0.5).abs() < 1e-4 && solution.bias.abs() < 1e-4);
        assert!((end.objective - 0.25).abs() < 1e-6);
        // Hinge: w²/2 + 2·C(1-w) is least at w = 2C = 1/2.
        let mut solution = Solution::zero(&problem);
        let end = solve_svm(&problem, HingeLoss::Hinge, &mut solution, &limits, 1);
        assert!((solution.weights.values()[0] - 0.5).abs() < 1e-4);
        assert!((end.objective - 0.375).abs() < 1e-6);
    }

    fn random_problem(seed: u64) -> (SparseMatrix, Vec<bool>) {
        let mut random = Random::from_seed(seed);
        let labels: Vec<bool> = (0..120).map(|_| random.uniform() < 0.3).collect();
        let rows = SparseMatrix::from_rows(
            30,
            labels.iter().map(|&label| {
                (0..30)
                    .filter_map(|column| {
                        let lean = if label && column < 5 { 0.4 } else { 0.1 };
                        (random.uniform() < lean).then(|| (column, random.uniform() as f32 + 0.1))
                    })
                    .collect()
            }),
        );
        (rows, labels)
    }

    #[test]
    fn a_warm_start_ends_at_the_same_objective() {
        for seed in 0..5 {
            let (rows, labels) = random_problem(seed);
            let squared_norms = norms(&rows);
            let costs = vec![1.0; 120];
            let everyone: Vec<u32> = (0..120).collect();
            let some: Vec<u32> = (0..120).filter(|row| row % 5 != 0).collect();
            let limits = SolverLimits {
                relative_gap: 1e-6,
                max_passes: 10_000,
            };
            let whole = LinearProblem {
                rows: &rows,
                squared_norms: &squared_norms,
                labels: &labels,
                costs: &costs,
                members: &everyone,
            };
            let part = LinearProblem {
                members: &some,
                ..whole
            };
            for loss in [HingeLoss::Hinge, HingeLoss::SquaredHinge] {
                let mut full = Solution::zero(&whole);
                assert!(solve_svm(&whole, loss, &mut full, &limits, seed).converged);
                let mut warm = Solution::at(&part, &full.duals);
                let warm_end = solve_svm(&part, loss, &mut warm, &limits, seed);
                let mut cold = Solution::zero(&part);
                let cold_end = solve_svm(&part, loss, &mut cold, &limits, seed + 1);
                assert!(warm_end.converged && cold_end.converged);
                assert!((warm_end.objective / cold_end.objective - 1.0).abs() < 2e-6);
            }
        }
    }

    #[test]
    fn giving_up_is_said() {
        let (rows, labels) = random_problem(3);
        let squared_norms = norms(&rows);
        let costs = vec![100.0; 120];
        let everyone: Vec<u32> = (0..120).collect();
        let problem = LinearProblem {
            rows: &rows,
            squared_norms: &squared_norms,
            labels: &labels,
            costs: &costs,
            members: &everyone,
        };
        let limits = SolverLimits {
            relative_gap: 1e-9,
            max_passes: 2,
        };
        let end = solve_svm(
            &problem,
            HingeLoss::Hinge,
            &mut Solution::zero(&problem),
            &limits,
            1,
        );
        assert!(!end.converged && end.passes == 2 && end.relative_gap > 1e-9);
    }
}
