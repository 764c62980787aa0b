//! The logistic loss in the dual.

use super::{DualLoss, Visit};
use crate::numeric::{sigmoid, softplus};

/// The logistic loss `ln(1 + e^-m)` as [`solve_side_by_side`](super::solve_side_by_side) sees it.
///
/// # Formula
/// ```text
/// minimise over α:  |Σ y_i α_i x_i|² / 2 + Σ α_i ln α_i + (C_i - α_i) ln(C_i - α_i)    0 < α_i < C_i
/// ```
/// With `α = C σ(t)` the condition for one variable is `t + m + q (C σ(t) - α_now) = 0`, where `m` is the
/// row's margin and `q = |x|² + 1`: the left side rises in `t` with slope at least 1, so Newton's steps
/// inside a bracket always find its root, and no variable ever touches its bounds.
///
/// # Reference
/// The dual and its coordinate descent: Yu, Huang & Lin, Machine Learning 85 (2011). The
/// parametrisation by `t` is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogisticLossDual;

impl DualLoss for LogisticLossDual {
    fn start(&self, cost: f64) -> f64 {
        1e-3 * cost
    }

    #[inline]
    fn visit(
        &self,
        margin: f64,
        dual: f64,
        cost: f64,
        curvature: f64,
        _bounds: (f64, f64),
    ) -> Visit {
        let now = (dual / (cost - dual)).ln();
        let gradient = now + margin;
        if gradient.abs() < 1e-9 {
            return Visit::Moved { dual, gradient };
        }
        let (mut low, mut high) = (
            -margin - curvature * (cost - dual),
            -margin + curvature * dual,
        );
        // Not `clamp`, which panics where features overflowed and a bound is not a number; such
        // scores are refused later on.
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
            let done = (next - t).abs() <= 1e-6 + 1e-3 * gradient.abs().min(1e-3);
            t = next;
            if done {
                break;
            }
        }
        // Kept off the ends so that the next logarithm is finite.
        Visit::Moved {
            dual: (cost * sigmoid(t))
                .max(cost * 1e-15)
                .min(cost * (1.0 - 1e-15)),
            gradient,
        }
    }

    #[inline]
    fn objectives(&self, margin: f64, dual: f64, cost: f64) -> (f64, f64) {
        let share = dual / cost;
        let entropy = -(share * share.ln() + (1.0 - share) * (-share).ln_1p());
        (cost * softplus(-margin), cost * entropy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::SparseMatrix;
    use crate::numeric::Random;
    use crate::solvers::{Lane, LinearProblem, Members, SolverLimits, solve_side_by_side};

    /// The least objective by plain gradient descent, slow and sure: another road to the same place.
    fn by_gradient_descent(rows: &SparseMatrix, labels: &[bool], costs: &[f64]) -> f64 {
        let mut weights = vec![0.0; rows.column_count()];
        let mut bias = 0.0;
        let score = |weights: &[f64], bias: f64, row: usize| {
            rows.row(row)
                .entries()
                .map(|(column, value)| weights[column] * value)
                .sum::<f64>()
                + bias
        };
        for _ in 0..20_000 {
            let mut gradient = weights.clone();
            let mut bias_gradient = bias;
            for row in 0..labels.len() {
                let target = f64::from(u8::from(labels[row]));
                let pull = costs[row] * (sigmoid(score(&weights, bias, row)) - target);
                rows.row(row)
                    .entries()
                    .for_each(|(column, value)| gradient[column] += pull * value);
                bias_gradient += pull;
            }
            weights
                .iter_mut()
                .zip(&gradient)
                .for_each(|(weight, gradient)| *weight -= 0.01 * gradient);
            bias -= 0.01 * bias_gradient;
        }
        let regular = 0.5 * (weights.iter().map(|w| w * w).sum::<f64>() + bias * bias);
        let loss = |row: usize| {
            let score = score(&weights, bias, row);
            costs[row] * softplus(if labels[row] { -score } else { score })
        };
        regular + (0..labels.len()).map(loss).sum::<f64>()
    }

    #[test]
    fn the_least_value_equals_gradient_descent() {
        let mut random = Random::from_seed(11);
        let labels: Vec<bool> = (0..60).map(|_| random.uniform() < 0.4).collect();
        let rows: Vec<Vec<(u32, f32)>> = labels
            .iter()
            .map(|&label| {
                let lean = |column: u32| if label && column < 3 { 0.7 } else { 0.3 };
                (0..8)
                    .filter(|&column| random.uniform() < lean(column))
                    .map(|column| (column, 0.5))
                    .collect()
            })
            .collect();
        let rows = SparseMatrix::from_rows(8, rows);
        let squared_norms: Vec<f64> = rows.rows().map(|row| row.squared_norm()).collect();
        let costs: Vec<f64> = labels
            .iter()
            .map(|&label| if label { 2.0 } else { 0.5 })
            .collect();
        let members: Vec<u32> = (0..60).collect();
        let problem = LinearProblem {
            rows: &rows,
            squared_norms: &squared_norms,
            weights: &[1.0; 60],
            members: Members::Listed(&members),
            constant: 1.0,
        };
        let lane = Lane {
            labels: &|row| labels[row],
            costs: (2.0, 0.5),
            start: None,
            keeps_duals: false,
        };
        let limits = SolverLimits {
            relative_gap: 1e-8,
            max_passes: 10_000,
        };
        let solved = solve_side_by_side::<1, _>(&problem, &[lane], LogisticLossDual, &limits, 5);
        assert!(
            solved[0].convergence.converged,
            "{:?}",
            solved[0].convergence
        );
        let other = by_gradient_descent(&rows, &labels, &costs);
        assert!((solved[0].convergence.objective / other - 1.0).abs() < 1e-6);
    }
}
