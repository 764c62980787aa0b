//! Linear learners on rows that somebody else holds.

use rayon::prelude::*;

use super::{Classifier, LinearSvm, LogisticRegression};
use crate::features::RowSource;
use crate::progress::step;
use crate::solvers::{
    BorrowedRows, Convergence, DualLoss, HingeLoss, HingeLossDual, Lane, LaneSolution,
    LinearProblem, LogisticLossDual, PrimalOutput, PrimalProblem, PrimalSolution, SmoothLoss,
    SolverLimits, solve_primal, solve_while_wanted,
};
use crate::{Cancelled, FitError, Progress};

/// How many problems are solved side by side.
const LANES: usize = 4;

/// What of a linear learner decides its solution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BorrowedLearner {
    loss: Loss,
    cost: f64,
    limits: SolverLimits,
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Loss {
    Hinge,
    Smooth(SmoothLoss),
}

/// Rows and how much they count.
#[derive(Clone, Copy)]
pub(crate) struct BorrowedProblem<'a> {
    pub(crate) rows: &'a dyn RowSource,
    /// One per row, or none where all count 1.
    pub(crate) weights: &'a [f64],
    /// The rows that are learned from; `None` where it is all of them.
    pub(crate) members: Option<&'a [u32]>,
    /// The value of the constant feature, whose weight is the bias.
    pub(crate) constant: f64,
}

/// One output's problem.
#[derive(Clone, Copy)]
pub(crate) struct BorrowedOutput<'a> {
    pub(crate) labels: &'a (dyn Fn(usize) -> bool + Sync),
    /// How much more the sides count.
    pub(crate) factors: (f64, f64),
    /// The solution of a similar problem.
    pub(crate) start: Option<&'a BorrowedFit>,
    /// Whether others will start from the solution.
    pub(crate) is_start: bool,
}

/// What an output's problem came to.
#[derive(Debug, Clone)]
pub(crate) struct BorrowedFit {
    pub(crate) weights: Vec<f64>,
    pub(crate) bias: f64,
    pub(crate) convergence: Convergence,
    /// The dual variables, where it was solved in the dual and others start from it.
    duals: Vec<f64>,
}

impl BorrowedFit {
    /// The score of a row.
    pub(crate) fn score(&self, rows: &dyn RowSource, row: usize) -> f64 {
        rows.dot(row, &self.weights) + self.bias
    }
}

impl From<LaneSolution<f64>> for BorrowedFit {
    fn from(solution: LaneSolution<f64>) -> Self {
        Self {
            weights: solution.weights,
            bias: solution.bias,
            convergence: solution.convergence,
            duals: solution.duals,
        }
    }
}

impl From<PrimalSolution> for BorrowedFit {
    fn from(solution: PrimalSolution) -> Self {
        Self {
            weights: solution.weights,
            bias: solution.bias,
            convergence: solution.convergence,
            duals: Vec::new(),
        }
    }
}

impl BorrowedLearner {
    /// `None` where the learner is not linear, or changes the rows.
    pub(crate) fn of(classifier: &Classifier) -> Option<Self> {
        match *classifier {
            Classifier::LinearSvm(LinearSvm {
                c,
                loss,
                limits,
                seed,
                log_count_ratio: None,
            }) => Some(Self {
                loss: match loss {
                    HingeLoss::Hinge => Loss::Hinge,
                    HingeLoss::SquaredHinge => Loss::Smooth(SmoothLoss::SquaredHinge),
                },
                cost: c.unwrap_or(LinearSvm::USUAL_C),
                limits,
                seed,
            }),
            Classifier::LogisticRegression(LogisticRegression { c, limits, seed }) => Some(Self {
                loss: Loss::Smooth(SmoothLoss::Logistic),
                cost: c.unwrap_or(LogisticRegression::USUAL_C),
                limits,
                seed,
            }),
            _ => None,
        }
    }

    /// Whether it works in the primal, whose objective tells of values that are no numbers at once.
    pub(crate) fn is_primal(&self, problem: &BorrowedProblem<'_>) -> bool {
        let suits = problem.constant.is_infinite() || problem.rows.as_dense().is_some();
        self.loss != Loss::Hinge && suits
    }

    /// Solves for all outputs.
    pub(crate) fn solve(
        &self,
        problem: &BorrowedProblem<'_>,
        outputs: &[BorrowedOutput<'_>],
        progress: &dyn Progress,
    ) -> Result<Vec<BorrowedFit>, FitError> {
        match self.loss {
            Loss::Hinge if problem.constant.is_infinite() => Err(FitError::BadSetting {
                setting: "the intercept",
                requirement: "penalised, or absent, with the hinge, whose dual needs it",
                value: "free".into(),
            }),
            Loss::Smooth(loss) if self.is_primal(problem) => {
                Ok(self.solve_primal(loss, problem, outputs, progress)?)
            }
            // Problems that differ in which rows still move do not gain by waiting for each other.
            Loss::Hinge => {
                let loss = HingeLossDual(HingeLoss::Hinge);
                Ok(self.solve_dual(loss, problem, outputs, 1, progress)?)
            }
            Loss::Smooth(SmoothLoss::SquaredHinge) => {
                let loss = HingeLossDual(HingeLoss::SquaredHinge);
                Ok(self.solve_dual(loss, problem, outputs, LANES, progress)?)
            }
            Loss::Smooth(SmoothLoss::Logistic) => {
                Ok(self.solve_dual(LogisticLossDual, problem, outputs, LANES, progress)?)
            }
        }
    }

    fn limits_of(&self, outputs: &[BorrowedOutput<'_>]) -> SolverLimits {
        match outputs.iter().any(|output| output.start.is_some()) {
            true => self.limits.for_fold(),
            false => self.limits,
        }
    }

    fn costs(&self, output: &BorrowedOutput<'_>) -> (f64, f64) {
        (self.cost * output.factors.0, self.cost * output.factors.1)
    }

    fn solve_primal(
        &self,
        loss: SmoothLoss,
        problem: &BorrowedProblem<'_>,
        outputs: &[BorrowedOutput<'_>],
        progress: &dyn Progress,
    ) -> Result<Vec<BorrowedFit>, Cancelled> {
        let limits = self.limits_of(outputs);
        let problem = PrimalProblem {
            rows: problem.rows,
            weights: problem.weights,
            members: problem.members,
            constant: problem.constant,
            loss,
        };
        let outputs: Vec<PrimalOutput<'_>> = outputs
            .iter()
            .map(|output| PrimalOutput {
                labels: output.labels,
                costs: self.costs(output),
                start: output.start.map(|fit| (&fit.weights[..], fit.bias)),
            })
            .collect();
        let solutions = solve_primal(&problem, &outputs, &limits, progress)?;
        step(progress, outputs.len() as u64)?;
        Ok(solutions.into_iter().map(BorrowedFit::from).collect())
    }

    fn solve_dual(
        &self,
        loss: impl DualLoss,
        problem: &BorrowedProblem<'_>,
        outputs: &[BorrowedOutput<'_>],
        lanes: usize,
        progress: &dyn Progress,
    ) -> Result<Vec<BorrowedFit>, Cancelled> {
        let limits = self.limits_of(outputs);
        let rows = BorrowedRows::new(problem.rows);
        let problem = LinearProblem {
            rows: &rows,
            squared_norms: &[],
            weights: problem.weights,
            members: problem.members,
            constant: problem.constant,
        };
        let block = |outputs: &[BorrowedOutput<'_>]| {
            let lanes: Vec<Lane<'_>> = outputs
                .iter()
                .map(|output| Lane {
                    labels: output.labels,
                    costs: self.costs(output),
                    start: output.start.map(|fit| &fit.duals[..]),
                    keeps_duals: output.is_start,
                })
                .collect();
            let seed = self.seed;
            let solutions = match lanes.len() {
                1 => solve_while_wanted::<1, _>(&problem, &lanes, loss, &limits, seed, progress)?,
                _ => {
                    solve_while_wanted::<LANES, _>(&problem, &lanes, loss, &limits, seed, progress)?
                }
            };
            step(progress, lanes.len() as u64)?;
            Ok(solutions.into_iter().map(BorrowedFit::from).collect())
        };
        let blocks: Result<Vec<Vec<BorrowedFit>>, Cancelled> =
            outputs.par_chunks(lanes).map(block).collect();
        Ok(blocks?.into_iter().flatten().collect())
    }
}
