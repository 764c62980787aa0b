//! Linear support vector machines and logistic regression.

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

/// A model with the dual variables that gave it, from which a similar problem can start.
pub(crate) struct DualFit {
    pub(crate) model: LinearModel,
    pub(crate) duals: Vec<f64>,
}

/// A learner that solves a [`LinearProblem`] in the dual, so that a fold can start from the
/// solution of the whole.
pub(crate) trait DualLearner: Sync {
    fn price(&self) -> Result<f64, FitError>;
    fn limits(&self) -> SolverLimits;
    fn solve(&self, problem: &LinearProblem<'_>, solution: &mut Solution, limits: &SolverLimits) -> Convergence;

    /// Solves from the dual variables of the whole, as a fold does, or from nothing.
    fn fit_prepared(
        &self,
        prepared: &PreparedRows<'_>,
        labels: &[bool],
        weights: &[f64],
        members: &[u32],
        start: Option<&[f64]>,
    ) -> Result<DualFit, FitError> {
        let costs = self.costs(weights)?;
        let problem = problem(prepared, labels, &costs, members);
        let (mut solution, limits) = match start {
            Some(duals) => (Solution::at(&problem, duals), self.limits().for_fold()),
            None => (Solution::zero(&problem), self.limits()),
        };
        let convergence = self.solve(&problem, &mut solution, &limits);
        let model = LinearModel {
            weights: solution.weights,
            bias: solution.bias,
            convergence,
        };
        Ok(DualFit { model, duals: solution.duals })
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

    fn limits(&self) -> SolverLimits {
        self.limits
    }

    fn solve(&self, problem: &LinearProblem<'_>, solution: &mut Solution, limits: &SolverLimits) -> Convergence {
        solve_svm(problem, self.loss, solution, limits, self.seed)
    }
}

impl DualLearner for LogisticRegression {
    fn price(&self) -> Result<f64, FitError> {
        checked_price(self.c)
    }

    fn limits(&self) -> SolverLimits {
        self.limits
    }

    fn solve(&self, problem: &LinearProblem<'_>, solution: &mut Solution, limits: &SolverLimits) -> Convergence {
        solve_logistic(problem, solution, limits, self.seed)
    }
}

impl<T: DualLearner> Learner for T {
    type Model = LinearModel;

    fn fit_members(&self, data: &Dataset<'_>, members: &[u32]) -> Result<LinearModel, FitError> {
        let prepared = PreparedRows::new(data.rows());
        Ok(self.fit_prepared(&prepared, data.labels(), data.weights(), members, None)?.model)
    }

    /// Folds start from the solution of the whole.
    fn cross_fit(&self, data: &Dataset<'_>, folds: &Folds) -> Result<(LinearModel, Vec<f64>), FitError> {
        let prepared = PreparedRows::new(data.rows());
        let everyone: Vec<u32> = (0..data.rows().row_count() as u32).collect();
        let whole = self.fit_prepared(&prepared, data.labels(), data.weights(), &everyone, None)?;
        let mut scores = vec![0.0; everyone.len()];
        for fold in 0..folds.count() {
            let (held_out, members): (Vec<u32>, Vec<u32>) =
                everyone.iter().partition(|&&row| folds.of(row as usize) == fold);
            let part = self.fit_prepared(&prepared, data.labels(), data.weights(), &members, Some(&whole.duals))?;
            for row in held_out {
                scores[row as usize] = part.model.score(data.rows().row(row as usize));
            }
        }
        Ok((whole.model, scores))
    }
}
