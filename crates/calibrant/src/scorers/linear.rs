//! Linear support vector machines and logistic regression.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Dataset, Learner, Scorer};
use crate::FitError;
use crate::corpus::Folds;
use crate::features::{DenseVector, RowView, SparseMatrix};
use crate::solvers::{
    Convergence, HingeLoss, LinearProblem, Solution, SolverLimits, solve_logistic, solve_svm,
};

/// A linear support vector machine: a wide margin between the classes, rows inside it at a price.
///
/// # When it misleads
/// Its score is a distance from the boundary, not a probability, and nothing in training makes it
/// one: calibrate it on held-out scores.
///
/// # Reference
/// The problem is stated at [`LinearProblem`], the method at [`solve_svm`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinearSvm {
    /// The price of a row inside the margin; larger fits the training rows closer.
    pub c: f64,
    /// Hinge or squared hinge.
    pub loss: HingeLoss,
    /// When to stop.
    pub limits: SolverLimits,
    /// For the order in which rows are visited.
    pub seed: u64,
}

impl Default for LinearSvm {
    fn default() -> Self {
        Self {
            c: 0.5,
            loss: HingeLoss::SquaredHinge,
            limits: SolverLimits::default(),
            seed: 0,
        }
    }
}

/// Regularised logistic regression.
///
/// # When it misleads
/// Its score is a log-odds, but of training rows it has seen and with regularisation pulling it
/// towards zero: on text its probabilities are too timid at small `c`. Calibrate it too.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogisticRegression {
    /// The price of the loss against the regularisation; larger fits the training rows closer.
    pub c: f64,
    /// When to stop.
    pub limits: SolverLimits,
    /// For the order in which rows are visited.
    pub seed: u64,
}

impl Default for LogisticRegression {
    fn default() -> Self {
        Self {
            c: 10.0,
            limits: SolverLimits::default(),
            seed: 0,
        }
    }
}

/// Weights, a bias, and how the solver ended.
#[derive(Debug, Clone)]
pub struct LinearModel {
    weights: DenseVector,
    bias: f64,
    convergence: Convergence,
}

impl LinearModel {
    /// The weight of each column.
    pub fn weights(&self) -> &[f32] {
        self.weights.values()
    }

    /// The score of an empty row.
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// How the solver ended.
    pub fn convergence(&self) -> Convergence {
        self.convergence
    }
}

impl Scorer for LinearModel {
    fn score(&self, row: RowView<'_>) -> f64 {
        self.weights.dot(row) + self.bias
    }
}

/// Rows with their squared lengths, which all classes and folds share.
pub(crate) struct PreparedRows<'a> {
    rows: &'a SparseMatrix,
    squared_norms: Vec<f64>,
}

impl<'a> PreparedRows<'a> {
    pub(crate) fn new(rows: &'a SparseMatrix) -> Self {
        Self {
            rows,
            squared_norms: rows.rows().map(|row| row.squared_norm()).collect(),
        }
    }
}

/// A learner that solves a [`LinearProblem`] in the dual, so that a fold can start from the
/// solution of the whole.
pub(crate) trait DualLearner: Sync {
    fn price(&self) -> Result<f64, FitError>;
    fn solve(&self, problem: &LinearProblem<'_>, solution: &mut Solution) -> Convergence;

    fn fit_prepared(
        &self,
        prepared: &PreparedRows<'_>,
        labels: &[bool],
        weights: &[f64],
        members: &[u32],
    ) -> Result<LinearModel, FitError> {
        let costs = self.costs(weights)?;
        let problem = problem(prepared, labels, &costs, members);
        let mut solution = Solution::zero(&problem);
        let convergence = self.solve(&problem, &mut solution);
        Ok(LinearModel {
            weights: solution.weights,
            bias: solution.bias,
            convergence,
        })
    }

    /// The model of all rows, the out-of-fold scores, and how the fold that ended worst ended.
    fn cross_fit_prepared(
        &self,
        prepared: &PreparedRows<'_>,
        labels: &[bool],
        weights: &[f64],
        folds: &Folds,
    ) -> Result<(LinearModel, Vec<f64>, Convergence), FitError> {
        let costs = self.costs(weights)?;
        let row_count = prepared.rows.row_count();
        let everyone: Vec<u32> = (0..row_count as u32).collect();
        let whole = problem(prepared, labels, &costs, &everyone);
        let mut full = Solution::zero(&whole);
        let convergence = self.solve(&whole, &mut full);
        let parts: Vec<(Vec<(u32, f64)>, Convergence)> = (0..folds.count())
            .into_par_iter()
            .map(|fold| {
                let members: Vec<u32> = everyone
                    .iter()
                    .copied()
                    .filter(|&row| folds.of(row as usize) != fold)
                    .collect();
                let part = LinearProblem {
                    members: &members,
                    ..whole
                };
                let mut solution = full.without(&part, |row| folds.of(row) == fold);
                let convergence = self.solve(&part, &mut solution);
                let scores = everyone
                    .iter()
                    .filter(|&&row| folds.of(row as usize) == fold)
                    .map(|&row| (row, part.score(&solution, row as usize)))
                    .collect();
                (scores, convergence)
            })
            .collect();
        let mut scores = vec![0.0; row_count];
        let mut worst = convergence;
        for (part, convergence) in parts {
            part.into_iter()
                .for_each(|(row, score)| scores[row as usize] = score);
            if convergence.relative_gap > worst.relative_gap {
                worst = convergence;
            }
        }
        Ok((
            LinearModel {
                weights: full.weights,
                bias: full.bias,
                convergence,
            },
            scores,
            worst,
        ))
    }

    fn costs(&self, weights: &[f64]) -> Result<Vec<f64>, FitError> {
        let price = self.price()?;
        Ok(weights.iter().map(|weight| price * weight).collect())
    }
}

fn problem<'a>(
    prepared: &'a PreparedRows<'a>,
    labels: &'a [bool],
    costs: &'a [f64],
    members: &'a [u32],
) -> LinearProblem<'a> {
    LinearProblem {
        rows: prepared.rows,
        squared_norms: &prepared.squared_norms,
        labels,
        costs,
        members,
    }
}

fn checked_price(c: f64) -> Result<f64, FitError> {
    if c.is_finite() && c > 0.0 {
        Ok(c)
    } else {
        Err(FitError::BadSetting {
            setting: "c",
            requirement: "a positive number",
            value: c.to_string(),
        })
    }
}

impl DualLearner for LinearSvm {
    fn price(&self) -> Result<f64, FitError> {
        checked_price(self.c)
    }

    fn solve(&self, problem: &LinearProblem<'_>, solution: &mut Solution) -> Convergence {
        solve_svm(problem, self.loss, solution, &self.limits, self.seed)
    }
}

impl DualLearner for LogisticRegression {
    fn price(&self) -> Result<f64, FitError> {
        checked_price(self.c)
    }

    fn solve(&self, problem: &LinearProblem<'_>, solution: &mut Solution) -> Convergence {
        solve_logistic(problem, solution, &self.limits, self.seed)
    }
}

impl<T: DualLearner> Learner for T {
    type Model = LinearModel;

    fn fit_members(&self, data: &Dataset<'_>, members: &[u32]) -> Result<LinearModel, FitError> {
        self.fit_prepared(
            &PreparedRows::new(data.rows()),
            data.labels(),
            data.weights(),
            members,
        )
    }

    fn cross_fit(
        &self,
        data: &Dataset<'_>,
        folds: &Folds,
    ) -> Result<(LinearModel, Vec<f64>), FitError> {
        let (model, scores, _) = self.cross_fit_prepared(
            &PreparedRows::new(data.rows()),
            data.labels(),
            data.weights(),
            folds,
        )?;
        Ok((model, scores))
    }
}
