//! Linear learners on rows that somebody else holds.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use super::learner::CrossFit;
use super::{
    Classifier, LinearClassScorer, LinearSvm, Link, LogisticRegression, Storage, WeightMatrix,
};
use crate::features::RowSource;
use crate::problem::{Folds, Targets};
use crate::progress::step;
use crate::solvers::{
    BorrowedRows, Convergence, DualLoss, HingeLoss, HingeLossDual, Lane, LaneSolution,
    LinearProblem, LogisticLossDual, Members, PrimalOutput, PrimalProblem, PrimalSolution,
    SmoothLoss, SolverLimits, solve_primal, solve_while_wanted,
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
    /// The rows that are learned from.
    pub(crate) members: Members<'a>,
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

/// One fold of rows.
#[derive(Clone, Copy)]
struct Fold<'a> {
    folds: &'a [u8],
    number: u8,
}

impl<'a> Fold<'a> {
    fn of(folds: &'a Folds, number: usize) -> Self {
        Self {
            folds: folds.assignment(),
            number: number as u8,
        }
    }

    /// The rows of the other folds.
    fn others(self) -> Members<'a> {
        Members::Outside {
            folds: self.folds,
            fold: self.number,
        }
    }

    fn for_each_held_out(self, mut each: impl FnMut(usize)) {
        let folds = self.folds.iter().enumerate();
        folds
            .filter(|&(_, &fold)| fold == self.number)
            .for_each(|(row, _)| each(row));
    }
}

/// Feature after feature, the outputs' weights side by side.
fn scorer_of(fits: &[BorrowedFit], link: Link) -> LinearClassScorer {
    let columns = fits.first().map_or(0, |fit| fit.weights.len());
    let weights = (0..columns).flat_map(|column| fits.iter().map(move |fit| fit.weights[column]));
    let weights = weights.map(|weight| weight as f32).collect();
    let biases = fits.iter().map(|fit| fit.bias).collect();
    LinearClassScorer::from_parts(WeightMatrix::Single(Storage::Owned(weights)), biases, link)
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

    /// Learns all outputs from all rows and without each fold, whose rows are scored by what did not see them.
    pub(crate) fn cross_fit(
        &self,
        rows: &dyn RowSource,
        targets: &Targets<'_>,
        folds: &Folds,
        progress: &dyn Progress,
    ) -> Result<CrossFit, FitError> {
        let labels = targets.labels;
        let sides: Vec<Vec<bool>> = (0..labels.output_count())
            .map(|output| labels.membership(labels.class_of_output(output)))
            .collect();
        let asked: Vec<_> = sides.iter().map(|side| |row: usize| side[row]).collect();
        let problem = BorrowedProblem {
            rows,
            weights: targets.weights,
            members: Members::All,
            constant: 1.0,
        };
        let outputs: Vec<BorrowedOutput<'_>> = asked
            .iter()
            .zip(&targets.factors.by_output)
            .map(|(labels, &factors)| BorrowedOutput {
                labels,
                factors,
                start: None,
                is_start: true,
            })
            .collect();
        let whole = self.solve(&problem, &outputs, progress)?;
        let mut convergence: Vec<Convergence> = whole.iter().map(|fit| fit.convergence).collect();
        if convergence.iter().any(|end| !end.objective.is_finite()) {
            return Err(FitError::Overflow);
        }
        let zeros = || (0..rows.row_count()).map(|_| AtomicU64::new(0)).collect();
        let out_of_fold: Vec<Vec<AtomicU64>> = outputs.iter().map(|_| zeros()).collect();
        // A few outputs of one fold at a time, whose weights are let go once its rows are scored: each score where it belongs.
        let blocks = outputs.len().div_ceil(LANES);
        let one = |task: usize| {
            let some = LANES * (task % blocks)..outputs.len().min(LANES * (task % blocks + 1));
            let fold = Fold::of(folds, task / blocks);
            let (outputs, whole) = (&outputs[some.clone()], &whole[some.clone()]);
            let fits = self.fold(&problem, outputs, whole, fold, progress)?;
            fold.for_each_held_out(|row| {
                for (fit, scores) in fits.iter().zip(&out_of_fold[some.clone()]) {
                    let score = rows.dot(row, &fit.weights) + fit.bias;
                    scores[row].store(score.to_bits(), Relaxed);
                }
            });
            Ok(fits.into_iter().map(|fit| fit.convergence).collect())
        };
        let tasks: Result<Vec<Vec<Convergence>>, FitError> = (0..blocks * folds.count())
            .into_par_iter()
            .map(one)
            .collect();
        for (task, ends) in tasks?.into_iter().enumerate() {
            for (worst, end) in convergence[LANES * (task % blocks)..].iter_mut().zip(ends) {
                if end.relative_gap > worst.relative_gap {
                    *worst = end;
                }
            }
        }
        let number = |bits: AtomicU64| f64::from_bits(bits.into_inner());
        let numbers = |scores: Vec<AtomicU64>| scores.into_iter().map(number).collect();
        Ok(CrossFit {
            scorer: scorer_of(&whole, Link::of(labels)).into(),
            out_of_fold: out_of_fold.into_iter().map(numbers).collect(),
            convergence,
        })
    }

    /// Some outputs without a fold.
    fn fold(
        &self,
        problem: &BorrowedProblem<'_>,
        outputs: &[BorrowedOutput<'_>],
        whole: &[BorrowedFit],
        fold: Fold<'_>,
        progress: &dyn Progress,
    ) -> Result<Vec<BorrowedFit>, FitError> {
        let starts: Vec<BorrowedFit> = match self.loss {
            Loss::Smooth(loss) if self.is_primal(problem) => outputs
                .iter()
                .zip(whole)
                .map(|(output, whole)| self.without(whole, loss, problem, output, fold))
                .collect(),
            _ => Vec::new(),
        };
        let starts = if starts.is_empty() { whole } else { &starts };
        let outputs: Vec<BorrowedOutput<'_>> = outputs
            .iter()
            .zip(starts)
            .map(|(output, start)| BorrowedOutput {
                start: Some(start),
                is_start: false,
                ..*output
            })
            .collect();
        let problem = BorrowedProblem {
            members: fold.others(),
            ..*problem
        };
        self.solve(&problem, &outputs, progress)
    }

    /// The whole's weights less what held-out rows have a part in: at the least value weights are `Σ y_i α_i x_i`, with
    /// `α_i = -C_i loss'(m_i)`. A start that still knew these rows would flatter their scores.
    fn without(
        &self,
        whole: &BorrowedFit,
        loss: SmoothLoss,
        problem: &BorrowedProblem<'_>,
        output: &BorrowedOutput<'_>,
        fold: Fold<'_>,
    ) -> BorrowedFit {
        let costs = self.costs(output);
        let mut start = whole.clone();
        fold.for_each_held_out(|row| {
            let score = problem.rows.dot(row, &whole.weights) + whole.bias;
            let (sign, cost) = match (output.labels)(row) {
                true => (1.0, costs.0),
                false => (-1.0, costs.1),
            };
            let weight = problem.weights.get(row).copied().unwrap_or(1.0);
            let slope = sign * cost * weight * loss.slope(sign * score);
            problem.rows.add(row, slope, &mut start.weights);
            start.bias += slope * problem.constant * problem.constant;
        });
        start
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
        let mut outside = Vec::new();
        let members = match problem.members {
            Members::All => None,
            Members::Listed(rows) => Some(rows),
            Members::Outside { .. } => {
                let count = problem.rows.row_count();
                let members = problem.members;
                members.for_each(count, |row| outside.push(row as u32));
                Some(&outside[..])
            }
        };
        let problem = PrimalProblem {
            rows: problem.rows,
            weights: problem.weights,
            members,
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
        // One problem asks for each once, and need not keep them.
        let squared_norms = match outputs.len() {
            0 | 1 => Vec::new(),
            _ => rows.norms(),
        };
        let problem = LinearProblem {
            rows: &rows,
            squared_norms: &squared_norms,
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
