//! Linear support vector machines and logistic regression.

use serde::{Deserialize, Serialize};

use super::log_count_ratio::fit_scaled;
use super::{Dataset, Learner, Scorer};
use crate::FitError;
use crate::features::{RowView, SparseMatrix};
use crate::problem::Folds;
use crate::solvers::{
    Convergence, HingeLoss, HingeLossDual, Lane, LaneSolution, LinearProblem, LogisticLossDual,
    SolverLimits, solve_side_by_side,
};

/// A linear support vector machine: a wide margin between the classes, rows inside it at a price.
///
/// # When it misleads
/// Its score is a distance from the boundary, not a probability, and nothing in training makes it
/// one: calibrate it on held-out scores.
///
/// # Reference
/// The problem is stated at [`LinearProblem`], the method at [`HingeLossDual`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinearSvm {
    /// The price of a row inside the margin; larger fits the training rows closer. Absent, it is [`USUAL_C`](Self::USUAL_C),
    /// unless a fit of the pipeline finds that more suits classes which are told apart easily.
    pub c: Option<f64>,
    /// Hinge or squared hinge.
    pub loss: HingeLoss,
    /// When to stop.
    pub limits: SolverLimits,
    /// For the order in which rows are visited.
    pub seed: u64,
    /// If given, each term is scaled by the logarithm of how much more often it comes with the class than without, after so
    /// many extra sightings on either side: naive Bayes's evidence as features (Wang & Manning, ACL 2012). The model is as
    /// linear as any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_count_ratio: Option<f64>,
}

impl LinearSvm {
    /// The usual price. The same for few and for many documents: from 300 to 10,000 of them half and twice as much changed
    /// held-out log losses by a per cent or two, in no common direction (experiment `small`).
    pub const USUAL_C: f64 = 0.5;
}

impl Default for LinearSvm {
    fn default() -> Self {
        Self {
            c: None,
            loss: HingeLoss::SquaredHinge,
            limits: SolverLimits::default(),
            seed: 0,
            log_count_ratio: None,
        }
    }
}

/// Regularised logistic regression.
///
/// # When it misleads
/// Its score is a log-odds, but of training rows it has seen and with regularisation pulling it
/// towards zero: on text its probabilities are too timid at small `c`. Calibrate it too.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogisticRegression {
    /// The price of the loss against the regularisation; larger fits the training rows closer. Absent, it is
    /// [`USUAL_C`](Self::USUAL_C), unless a fit of the pipeline finds that more suits classes which are told apart easily.
    pub c: Option<f64>,
    /// When to stop.
    pub limits: SolverLimits,
    /// For the order in which rows are visited.
    pub seed: u64,
}

impl LogisticRegression {
    /// The usual price.
    pub const USUAL_C: f64 = 10.0;
}

/// Weights, a bias, and how the solver ended.
#[derive(Debug, Clone)]
pub struct LinearModel {
    weights: Vec<f32>,
    bias: f64,
    convergence: Convergence,
}

impl LinearModel {
    /// The weight of each column.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The score of an empty row.
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// How the solver ended.
    pub fn convergence(&self) -> Convergence {
        self.convergence
    }

    pub(super) fn scale_weights(&mut self, factors: &[f32]) {
        for (weight, factor) in self.weights.iter_mut().zip(factors) {
            *weight *= factor;
        }
    }
}

impl Scorer for LinearModel {
    fn score(&self, row: RowView<'_>) -> f64 {
        let weighted = row
            .entries()
            .map(|(column, value)| f64::from(self.weights[column]) * value);
        weighted.sum::<f64>() + self.bias
    }
}

/// Rows with their squared lengths, which all classes share.
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

    pub(super) fn rows(&self) -> &SparseMatrix {
        self.rows
    }

    fn problem(&'a self, weights: &'a [f64], members: &'a [u32]) -> LinearProblem<'a> {
        LinearProblem {
            rows: self.rows,
            squared_norms: &self.squared_norms,
            weights,
            members,
        }
    }
}

/// A model with the dual variables that gave it, from which a similar problem can start.
pub(crate) struct DualFit {
    pub(crate) model: LinearModel,
    pub(crate) duals: Vec<f64>,
}

impl From<LaneSolution> for DualFit {
    fn from(solution: LaneSolution) -> Self {
        let LaneSolution {
            duals,
            weights,
            bias,
            convergence,
        } = solution;
        Self {
            model: LinearModel {
                weights,
                bias,
                convergence,
            },
            duals,
        }
    }
}

/// One problem as a learner is given it: labels, how much more its sides count, and the whole's
/// solution for a fold.
pub(crate) struct LaneData<'a> {
    pub(crate) labels: Vec<bool>,
    pub(crate) factors: (f64, f64),
    pub(crate) start: Option<&'a [f64]>,
}

/// A learner that solves a [`LinearProblem`] in the dual, so that a fold can start from the
/// solution of the whole.
pub(crate) trait DualLearner: Sync {
    fn price(&self) -> f64;
    fn limits(&self) -> SolverLimits;
    /// The smoothing of log-count ratios, where columns are scaled by them.
    fn log_count_ratio(&self) -> Option<f64> {
        None
    }
    fn solve<const L: usize>(
        &self,
        problem: &LinearProblem<'_>,
        lanes: &[Lane<'_>],
        limits: &SolverLimits,
    ) -> Vec<LaneSolution>;

    /// Solves up to `L` problems side by side, or one after the other where each has columns of its own.
    fn fit_lanes<const L: usize>(
        &self,
        rows: &PreparedRows<'_>,
        weights: &[f64],
        members: &[u32],
        lanes: &[LaneData<'_>],
    ) -> Result<Vec<DualFit>, FitError> {
        let Some(alpha) = self.log_count_ratio() else {
            return self.fit_as_they_are::<L>(rows, weights, members, lanes);
        };
        let one = |rows: &PreparedRows<'_>, lane: &LaneData<'_>| {
            self.fit_as_they_are::<1>(rows, weights, members, std::slice::from_ref(lane))
        };
        fit_scaled(rows, weights, members, lanes, alpha, one)
    }

    fn fit_as_they_are<const L: usize>(
        &self,
        rows: &PreparedRows<'_>,
        weights: &[f64],
        members: &[u32],
        lanes: &[LaneData<'_>],
    ) -> Result<Vec<DualFit>, FitError> {
        let price = self.price();
        if !(price.is_finite() && price > 0.0) {
            return Err(FitError::BadSetting {
                setting: "c",
                requirement: "a positive number",
                value: price.to_string(),
            });
        }
        let of_fold = lanes.iter().any(|lane| lane.start.is_some());
        let limits = if of_fold {
            self.limits().for_fold()
        } else {
            self.limits()
        };
        let lanes: Vec<Lane<'_>> = lanes
            .iter()
            .map(|lane| Lane {
                labels: &lane.labels,
                prices: (price * lane.factors.0, price * lane.factors.1),
                start: lane.start,
            })
            .collect();
        let solutions = self.solve::<L>(&rows.problem(weights, members), &lanes, &limits);
        Ok(solutions.into_iter().map(DualFit::from).collect())
    }
}

impl DualLearner for LinearSvm {
    fn price(&self) -> f64 {
        self.c.unwrap_or(Self::USUAL_C)
    }

    fn limits(&self) -> SolverLimits {
        self.limits
    }

    fn log_count_ratio(&self) -> Option<f64> {
        self.log_count_ratio
    }

    fn solve<const L: usize>(
        &self,
        problem: &LinearProblem<'_>,
        lanes: &[Lane<'_>],
        limits: &SolverLimits,
    ) -> Vec<LaneSolution> {
        solve_side_by_side::<L>(problem, lanes, HingeLossDual(self.loss), limits, self.seed)
    }
}

impl DualLearner for LogisticRegression {
    fn price(&self) -> f64 {
        self.c.unwrap_or(Self::USUAL_C)
    }

    fn limits(&self) -> SolverLimits {
        self.limits
    }

    fn solve<const L: usize>(
        &self,
        problem: &LinearProblem<'_>,
        lanes: &[Lane<'_>],
        limits: &SolverLimits,
    ) -> Vec<LaneSolution> {
        solve_side_by_side::<L>(problem, lanes, LogisticLossDual, limits, self.seed)
    }
}

fn fit_one<T: DualLearner>(
    learner: &T,
    data: &Dataset<'_>,
    rows: &PreparedRows<'_>,
    members: &[u32],
    start: Option<&[f64]>,
) -> Result<DualFit, FitError> {
    let lane = LaneData {
        labels: data.labels().to_vec(),
        factors: (1.0, 1.0),
        start,
    };
    Ok(learner
        .fit_lanes::<1>(rows, data.weights(), members, &[lane])?
        .remove(0))
}

impl<T: DualLearner> Learner for T {
    type Model = LinearModel;

    fn fit_members(&self, data: &Dataset<'_>, members: &[u32]) -> Result<LinearModel, FitError> {
        Ok(fit_one(self, data, &PreparedRows::new(data.rows()), members, None)?.model)
    }

    /// Folds start from the solution of the whole.
    fn cross_fit(
        &self,
        data: &Dataset<'_>,
        folds: &Folds,
    ) -> Result<(LinearModel, Vec<f64>), FitError> {
        let rows = PreparedRows::new(data.rows());
        let everyone: Vec<u32> = (0..data.rows().row_count() as u32).collect();
        let whole = fit_one(self, data, &rows, &everyone, None)?;
        let mut scores = vec![0.0; everyone.len()];
        for fold in 0..folds.count() {
            let (held_out, members): (Vec<u32>, Vec<u32>) = everyone
                .iter()
                .partition(|&&row| folds.of(row as usize) == fold);
            let part = fit_one(self, data, &rows, &members, Some(&whole.duals))?;
            for row in held_out {
                scores[row as usize] = part.model.score(data.rows().row(row as usize));
            }
        }
        Ok((whole.model, scores))
    }
}
