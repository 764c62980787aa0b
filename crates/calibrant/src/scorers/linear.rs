//! Linear support vector machines and logistic regression.

use serde::{Deserialize, Serialize};

use super::learner::{ClassLearner, Cost, CrossFit, Fitted, FoldSource, Reads, Variant, positive};
use super::log_count_ratio::fit_scaled;
use super::one_vs_rest;
use crate::features::{RowView, SparseMatrix};
use crate::problem::{Problem, Targets};
use crate::solvers::{
    Convergence, HingeLoss, HingeLossDual, Lane, LaneSolution, LinearProblem, LogisticLossDual,
    Members, SolverLimits, solve_while_wanted,
};
use crate::{Cancelled, FitError, Progress};

/// A linear support vector machine: a wide margin between the classes, with a cost for rows inside it.
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
    /// The cost of a row inside the margin; larger values fit the training rows more closely. If absent, it is [`USUAL_C`](Self::USUAL_C),
    /// unless a fit of the pipeline finds that a larger cost is better for classes that are easy to separate.
    pub c: Option<f64>,
    /// Hinge or squared hinge.
    pub loss: HingeLoss,
    /// When to stop.
    pub limits: SolverLimits,
    /// The seed of the order in which rows are visited.
    pub seed: u64,
    /// If given, each term is scaled by its log-count ratio (how much more often it occurs with the class than without), with this
    /// much smoothing on either side: naive Bayes' evidence as features (Wang & Manning, ACL 2012). The model stays
    /// linear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_count_ratio: Option<f64>,
}

impl LinearSvm {
    /// The default cost, for few and for many documents: from 300 to 10,000 of them, half and twice this value changed
    /// held-out log losses by one or two per cent, in no consistent direction (experiment `small`).
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
/// Its score is a log-odds, but fitted to the training rows and shrunk towards zero by regularisation:
/// on text its probabilities are underconfident at small `c`. Calibrate it too.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogisticRegression {
    /// The weight of the loss relative to the regularisation; larger values fit the training rows more closely. If absent, it is
    /// [`USUAL_C`](Self::USUAL_C), unless a fit of the pipeline finds that a larger cost is better for classes that are easy to separate.
    pub c: Option<f64>,
    /// When to stop.
    pub limits: SolverLimits,
    /// The seed of the order in which rows are visited.
    pub seed: u64,
}

impl LogisticRegression {
    /// The usual cost.
    pub const USUAL_C: f64 = 10.0;
}

/// Weights of one output, a bias, and how the solver ended.
#[derive(Debug, Clone)]
pub(super) struct LinearModel {
    pub(super) weights: Vec<f32>,
    pub(super) bias: f64,
    pub(super) convergence: Convergence,
}

impl LinearModel {
    pub(super) fn scale_weights(&mut self, factors: &[f32]) {
        for (weight, factor) in self.weights.iter_mut().zip(factors) {
            *weight *= factor;
        }
    }

    pub(super) fn score(&self, row: RowView<'_>) -> f64 {
        let weighted = row
            .entries()
            .map(|(column, value)| f64::from(self.weights[column]) * value);
        weighted.sum::<f64>() + self.bias
    }
}

/// Rows with their squared lengths, which all classes share.
pub(super) struct PreparedRows<'a> {
    rows: &'a SparseMatrix,
    squared_norms: Vec<f64>,
}

impl<'a> PreparedRows<'a> {
    pub(super) fn new(rows: &'a SparseMatrix) -> Self {
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
            members: Members::Listed(members),
            constant: 1.0,
        }
    }
}

/// A model with the dual variables that gave it, from which a similar problem can start.
pub(super) struct DualFit {
    pub(super) model: LinearModel,
    pub(super) duals: Vec<f64>,
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
pub(super) struct LaneData<'a> {
    pub(super) labels: Vec<bool>,
    pub(super) factors: (f64, f64),
    pub(super) start: Option<&'a [f64]>,
}

/// A learner that solves a [`LinearProblem`] in the dual, so that a fold can start from the
/// solution of the whole.
pub(super) trait DualLearner: Sync {
    fn cost_of_errors(&self) -> f64;
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
        progress: &dyn Progress,
    ) -> Result<Vec<LaneSolution>, Cancelled>;

    /// Solves up to `L` problems side by side, or one after the other where each has columns of its own.
    fn fit_lanes<const L: usize>(
        &self,
        rows: &PreparedRows<'_>,
        weights: &[f64],
        members: &[u32],
        lanes: &[LaneData<'_>],
        progress: &dyn Progress,
    ) -> Result<Vec<DualFit>, FitError> {
        let Some(alpha) = self.log_count_ratio() else {
            return self.fit_as_they_are::<L>(rows, weights, members, lanes, progress);
        };
        let one = |rows: &PreparedRows<'_>, lane: &LaneData<'_>| {
            let lane = std::slice::from_ref(lane);
            self.fit_as_they_are::<1>(rows, weights, members, lane, progress)
        };
        fit_scaled(rows, weights, members, lanes, alpha, one)
    }

    fn fit_as_they_are<const L: usize>(
        &self,
        rows: &PreparedRows<'_>,
        weights: &[f64],
        members: &[u32],
        lanes: &[LaneData<'_>],
        progress: &dyn Progress,
    ) -> Result<Vec<DualFit>, FitError> {
        let cost = self.cost_of_errors();
        positive("c", cost)?;
        let of_fold = lanes.iter().any(|lane| lane.start.is_some());
        let limits = if of_fold {
            self.limits().for_fold()
        } else {
            self.limits()
        };
        let labels: Vec<_> = lanes
            .iter()
            .map(|lane| |row: usize| lane.labels[row])
            .collect();
        let lanes: Vec<Lane<'_>> = lanes
            .iter()
            .zip(&labels)
            .map(|(lane, labels)| Lane {
                labels,
                costs: (cost * lane.factors.0, cost * lane.factors.1),
                start: lane.start,
                keeps_duals: lane.start.is_none(),
            })
            .collect();
        let problem = rows.problem(weights, members);
        let solutions = self.solve::<L>(&problem, &lanes, &limits, progress)?;
        Ok(solutions.into_iter().map(DualFit::from).collect())
    }
}

impl DualLearner for LinearSvm {
    fn cost_of_errors(&self) -> f64 {
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
        progress: &dyn Progress,
    ) -> Result<Vec<LaneSolution>, Cancelled> {
        let loss = HingeLossDual(self.loss);
        solve_while_wanted::<L, _>(problem, lanes, loss, limits, self.seed, progress)
    }
}

impl DualLearner for LogisticRegression {
    fn cost_of_errors(&self) -> f64 {
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
        progress: &dyn Progress,
    ) -> Result<Vec<LaneSolution>, Cancelled> {
        solve_while_wanted::<L, _>(
            problem,
            lanes,
            LogisticLossDual,
            limits,
            self.seed,
            progress,
        )
    }
}

/// Refuses limits of a solver that make no sense.
fn check_limits(limits: &SolverLimits) -> Result<(), FitError> {
    // A tolerance of zero is a fair wish: all the passes that are allowed.
    if limits.relative_gap != 0.0 {
        positive("the tolerance", limits.relative_gap)?;
    }
    positive("the number of passes", limits.max_passes as f64)
}

/// What linear learners of the dual solver answer alike: they are fitted class by class, and have a cost `c` and a seed.
macro_rules! as_linear_learners_do {
    () => {
        fn fit(&self, problem: &Problem<'_>) -> Result<Fitted, FitError> {
            one_vs_rest::fit(self, problem)
        }

        fn cross_fit(
            &self,
            rows: SparseMatrix,
            targets: &Targets<'_>,
            source: &dyn FoldSource,
        ) -> Result<CrossFit, FitError> {
            one_vs_rest::cross_fit(self, rows, targets, source)
        }

        fn is_linear(&self) -> bool {
            true
        }

        fn weighs_columns(&self) -> bool {
            true
        }

        fn cost(&self) -> Option<Cost> {
            Some(Cost {
                asked: self.c,
                usual: Self::USUAL_C,
            })
        }

        fn tuned(&mut self) -> Option<(&'static str, &mut f64)> {
            Some(("c", self.c.get_or_insert(Self::USUAL_C)))
        }

        fn set_seed(&mut self, seed: u64) {
            self.seed = seed;
        }
    };
}

impl ClassLearner for LinearSvm {
    as_linear_learners_do!();

    fn name(&self) -> &'static str {
        if self.log_count_ratio.is_some() {
            "linear SVM on log-count ratios"
        } else {
            "linear SVM"
        }
    }

    fn variants() -> Vec<Variant<Self>> {
        let on_ratios = Self {
            log_count_ratio: Some(1.0),
            ..Self::default()
        };
        let help = "Linear support vector machine";
        vec![
            Variant::named("svm", help, Self::default()).searched(0),
            Variant::unnamed(on_ratios).searched(10),
        ]
    }

    fn check(&self) -> Result<(), FitError> {
        if let Some(c) = self.c {
            positive("c", c)?;
        }
        if let Some(alpha) = self.log_count_ratio {
            positive("the smoothing of log-count ratios", alpha)?;
        }
        check_limits(&self.limits)
    }

    fn reads(&self) -> Reads {
        match self.log_count_ratio {
            Some(_) => Reads::TermCounts,
            None => Reads::Values,
        }
    }

    fn times_as_long(&self) -> f64 {
        if self.log_count_ratio.is_some() {
            2.0
        } else {
            1.0
        }
    }
}

impl ClassLearner for LogisticRegression {
    as_linear_learners_do!();

    fn name(&self) -> &'static str {
        "logistic regression"
    }

    fn variants() -> Vec<Variant<Self>> {
        let usual = Variant::named("logistic", "Logistic regression", Self::default());
        vec![usual.searched(40)]
    }

    fn check(&self) -> Result<(), FitError> {
        if let Some(c) = self.c {
            positive("c", c)?;
        }
        check_limits(&self.limits)
    }

    fn states_log_odds(&self) -> bool {
        true
    }
}
