//! Logistic regression by dual coordinate descent.

use super::{Convergence, LinearProblem, Solution, SolverLimits};
use crate::numeric::{Random, sigmoid, softplus};

/// Solves the dual of regularised logistic regression one row at a time.
///
/// # Formula
/// ```text
/// minimise over α:  |Σ y_i α_i x_i|² / 2 + Σ α_i ln α_i + (C_i - α_i) ln(C_i - α_i)    0 < α_i < C_i
/// ```
/// With `α = C σ(t)` the condition for one row is `t + m + q (C σ(t) - α_now) = 0`, where `m` is its
/// margin and `q = |x|² + 1`: the left side rises in `t` with slope at least 1, so Newton's steps
/// inside a bracket always find its root, and no variable ever touches its bounds.
///
/// # Reference
/// The dual and its coordinate descent: Yu, Huang & Lin, Machine Learning 85 (2011). The
/// parametrisation by `t` is ours.
pub fn solve_logistic(
    problem: &LinearProblem<'_>,
    solution: &mut Solution,
    limits: &SolverLimits,
    seed: u64,
) -> Convergence {
    let mut random = Random::from_seed(seed);
    let mut order = problem.members.to_vec();
    start(problem, solution);
    let mut settled = 0.1;
    let mut passes = 0;
    loop {
        random.shuffle(&mut order);
        let mut largest: f64 = 0.0;
        for &row in &order {
            largest = largest.max(improve(problem, solution, row as usize));
        }
        passes += 1;
        let out_of_time = passes >= limits.max_passes;
        if largest > settled && !out_of_time {
            continue;
        }
        let (primal, dual) = objectives(problem, solution);
        let convergence = Convergence::measured(primal, dual, passes, limits);
        if convergence.converged || out_of_time {
            return convergence;
        }
        settled *= 0.3;
    }
}

/// Rows whose variable is zero begin just inside the box.
fn start(problem: &LinearProblem<'_>, solution: &mut Solution) {
    for &row in problem.members {
        let row = row as usize;
        if solution.duals[row] <= 0.0 {
            let dual = 1e-3 * problem.costs[row];
            solution.duals[row] = dual;
            solution.step(problem, row, dual * problem.sign(row));
        }
    }
}

/// Solves one row; returns by how much its condition was violated before.
#[inline]
fn improve(problem: &LinearProblem<'_>, solution: &mut Solution, row: usize) -> f64 {
    let cost = problem.costs[row];
    let sign = problem.sign(row);
    let margin = sign * problem.score(solution, row);
    let dual = solution.duals[row];
    let curvature = problem.squared_norms[row] + 1.0;
    let now = (dual / (cost - dual)).ln();
    let violation = (now + margin).abs();
    if violation < 1e-9 {
        return violation;
    }
    let (mut low, mut high) = (
        -margin - curvature * (cost - dual),
        -margin + curvature * dual,
    );
    // Not `clamp`, which panics where features overflowed and a bound is not a number; the scores
    // are refused later on.
    let mut t = now.max(low).min(high);
    for _ in 0..50 {
        let share = sigmoid(t);
        let value = t + margin + curvature * (cost * share - dual);
        if value > 0.0 {
            high = t
        } else {
            low = t
        }
        let newton = t - value / (1.0 + curvature * cost * share * (1.0 - share));
        let next = if newton > low && newton < high {
            newton
        } else {
            0.5 * (low + high)
        };
        let done = (next - t).abs() <= 1e-6 * (1.0 + violation.min(1.0));
        t = next;
        if done {
            break;
        }
    }
    // Kept off the ends so that the next logarithm is finite.
    let moved = (cost * sigmoid(t))
        .max(cost * 1e-15)
        .min(cost * (1.0 - 1e-15));
    solution.duals[row] = moved;
    solution.step(problem, row, (moved - dual) * sign);
    violation
}

fn objectives(problem: &LinearProblem<'_>, solution: &Solution) -> (f64, f64) {
    let regular = 0.5 * solution.squared_norm();
    let (mut losses, mut entropy) = (0.0, 0.0);
    for &row in problem.members {
        let row = row as usize;
        let cost = problem.costs[row];
        losses += cost * softplus(-problem.sign(row) * problem.score(solution, row));
        let share = solution.duals[row] / cost;
        entropy -= cost * (share * share.ln() + (1.0 - share) * (-share).ln_1p());
    }
    (regular + losses, entropy - regular)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::SparseMatrix;

    fn objective_by_definition(
        rows: &SparseMatrix,
        labels: &[bool],
        costs: &[f64],
        weights: &[f64],
        bias: f64,
    ) -> f64 {
        let regular = 0.5 * (weights.iter().map(|w| w * w).sum::<f64>() + bias * bias);
        let loss = |row: usize| {
            let score: f64 = rows
                .row(row)
                .entries()
                .map(|(column, value)| weights[column] * value)
                .sum::<f64>()
                + bias;
            costs[row] * softplus(if labels[row] { -score } else { score })
        };
        regular + (0..labels.len()).map(loss).sum::<f64>()
    }

    /// Plain gradient descent, slow and sure: another road to the same least value.
    fn by_gradient_descent(rows: &SparseMatrix, labels: &[bool], costs: &[f64]) -> f64 {
        let mut weights = vec![0.0; rows.column_count()];
        let mut bias = 0.0;
        for _ in 0..20_000 {
            let mut gradient = weights.clone();
            let mut bias_gradient = bias;
            for row in 0..labels.len() {
                let score: f64 = rows
                    .row(row)
                    .entries()
                    .map(|(c, v)| weights[c] * v)
                    .sum::<f64>()
                    + bias;
                let pull = costs[row] * (sigmoid(score) - f64::from(u8::from(labels[row])));
                rows.row(row)
                    .entries()
                    .for_each(|(c, v)| gradient[c] += pull * v);
                bias_gradient += pull;
            }
            weights
                .iter_mut()
                .zip(&gradient)
                .for_each(|(w, g)| *w -= 0.01 * g);
            bias -= 0.01 * bias_gradient;
        }
        objective_by_definition(rows, labels, costs, &weights, bias)
    }

    #[test]
    fn the_least_value_equals_gradient_descent() {
        let mut random = Random::from_seed(11);
        let labels: Vec<bool> = (0..60).map(|_| random.uniform() < 0.4).collect();
        let rows = SparseMatrix::from_rows(
            8,
            labels
                .iter()
                .map(|&label| {
                    (0..8)
                        .filter(|&c| random.uniform() < if label && c < 3 { 0.7 } else { 0.3 })
                        .map(|c| (c, 0.5))
                        .collect::<Vec<_>>()
                })
                .collect::<Vec<_>>(),
        );
        let squared_norms: Vec<f64> = rows.rows().map(|row| row.squared_norm()).collect();
        let costs: Vec<f64> = labels
            .iter()
            .map(|&label| if label { 2.0 } else { 0.5 })
            .collect();
        let members: Vec<u32> = (0..60).collect();
        let problem = LinearProblem {
            rows: &rows,
            squared_norms: &squared_norms,
            labels: &labels,
            costs: &costs,
            members: &members,
        };
        let limits = SolverLimits {
            relative_gap: 1e-8,
            max_passes: 10_000,
        };
        let mut solution = Solution::zero(&problem);
        let end = solve_logistic(&problem, &mut solution, &limits, 5);
        assert!(end.converged, "{end:?}");
        let other = by_gradient_descent(&rows, &labels, &costs);
        assert!(
            (end.objective / other - 1.0).abs() < 1e-6,
            "{} {other}",
            end.objective
        );
        // A warm start without a fifth of the rows agrees with a cold one.
        let some: Vec<u32> = (0..60).filter(|row| row % 5 != 1).collect();
        let part = LinearProblem {
            members: &some,
            ..problem
        };
        let mut warm = solution.without(&part, |row| row % 5 == 1);
        let warm = solve_logistic(&part, &mut warm, &limits, 6);
        let cold = solve_logistic(&part, &mut Solution::zero(&part), &limits, 7);
        assert!(warm.converged && (warm.objective / cold.objective - 1.0).abs() < 1e-7);
    }
}
