//! What the two dual solvers share: the problem, where to start, when to stop.

use serde::{Deserialize, Serialize};

use crate::features::{DenseVector, SparseMatrix};

/// A regularised linear problem with two classes.
///
/// ```text
/// minimise over w, b:   (|w|² + b²) / 2  +  Σ_i C_i loss(y_i (w·x_i + b))
/// ```
/// The bias `b` is the weight of a constant feature 1 and regularised with the rest, as LIBLINEAR
/// does it with `-B 1`.
#[derive(Debug, Clone, Copy)]
pub struct LinearProblem<'a> {
    /// All rows; only `members` take part.
    pub rows: &'a SparseMatrix,
    /// `|x_i|²` of each row, shared by all classes and folds.
    pub squared_norms: &'a [f64],
    /// Whether each row is positive (`y = 1`) or negative (`y = -1`).
    pub labels: &'a [bool],
    /// `C_i`, the price of each row's loss.
    pub costs: &'a [f64],
    /// The rows that are learned from, rising.
    pub members: &'a [u32],
}

impl LinearProblem<'_> {
    #[inline]
    pub(super) fn sign(&self, row: usize) -> f64 {
        if self.labels[row] { 1.0 } else { -1.0 }
    }

    /// `w·x + b` of a row.
    #[inline]
    pub fn score(&self, solution: &Solution, row: usize) -> f64 {
        solution.weights.dot(self.rows.row(row)) + solution.bias
    }
}

/// A point of the dual (one variable a row) and the weights that belong to it.
#[derive(Debug, Clone)]
pub struct Solution {
    /// The dual variable of each row, between 0 and `C_i`.
    pub duals: Vec<f64>,
    /// `w = Σ y_i α_i x_i`.
    pub weights: DenseVector,
    /// `b = Σ y_i α_i`.
    pub bias: f64,
}

impl Solution {
    /// The start: all dual variables zero.
    pub fn zero(problem: &LinearProblem<'_>) -> Self {
        Self {
            duals: vec![0.0; problem.rows.row_count()],
            weights: DenseVector::zeros(problem.rows.column_count()),
            bias: 0.0,
        }
    }

    /// The point of the dual with these variables, those of rows that are no members taken as zero.
    pub fn at(problem: &LinearProblem<'_>, duals: &[f64]) -> Self {
        let mut solution = Self::zero(problem);
        for &row in problem.members {
            let row = row as usize;
            if duals[row] != 0.0 {
                solution.duals[row] = duals[row];
                solution.step(problem, row, duals[row] * problem.sign(row));
            }
        }
        solution
    }

    #[inline]
    pub(super) fn step(&mut self, problem: &LinearProblem<'_>, row: usize, step: f64) {
        self.weights.add_scaled(step, problem.rows.row(row));
        self.bias += step;
    }

    pub(super) fn squared_norm(&self) -> f64 {
        self.weights.squared_norm() + self.bias * self.bias
    }
}

/// When a solver stops.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SolverLimits {
    /// The duality gap, relative to the objective, that counts as solved.
    pub relative_gap: f64,
    /// Passes over the data after which it gives up and says so.
    pub max_passes: usize,
}

impl SolverLimits {
    /// For models that only score their fold: ten times the gap.
    pub fn for_fold(self) -> Self {
        Self { relative_gap: 10.0 * self.relative_gap, ..self }
    }
}

impl Default for SolverLimits {
    fn default() -> Self {
        Self {
            relative_gap: 1e-4,
            max_passes: 1000,
        }
    }
}

/// How a solver ended. The gap between a primal and a dual value bounds how far the objective
/// can be from its least value, so it certifies the answer whatever the path was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Convergence {
    /// Whether the gap was reached within the allowed passes.
    pub converged: bool,
    /// Passes over the rows that were still moving.
    pub passes: usize,
    /// The objective at the answer.
    pub objective: f64,
    /// `(primal - dual) / primal` at the answer.
    pub relative_gap: f64,
}

impl Convergence {
    pub(super) fn measured(primal: f64, dual: f64, passes: usize, limits: &SolverLimits) -> Self {
        let relative_gap = if primal > 0.0 {
            (primal - dual).max(0.0) / primal
        } else {
            0.0
        };
        Self {
            converged: relative_gap <= limits.relative_gap,
            passes,
            objective: primal,
            relative_gap,
        }
    }
}
