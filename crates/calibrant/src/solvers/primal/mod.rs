//! Smooth regularised linear problems over rows that hold every column, by steps along all weights at once.

mod curvature;
mod evaluate;
mod kernels;
mod search;

pub use evaluate::SmoothLoss;
pub(crate) use kernels::DenseScores;

use self::curvature::Curvature;
use self::evaluate::{Objective, Point};
use self::search::Search;
use super::{Convergence, SolverLimits};
use crate::features::RowSource;
use crate::progress::check;
use crate::{Cancelled, Progress};

/// Rows that several problems with two classes each learn from.
///
/// # Formula
/// ```text
/// minimise over w, b:   (|w|² + (b / B)²) / 2  +  Σ_i C_i loss(y_i (w·x_i + b))
/// ```
/// as [`LinearProblem`](super::LinearProblem) has it. With `B = ∞` the bias is free, with `B = 0` there is none.
#[derive(Clone, Copy)]
pub struct PrimalProblem<'a> {
    /// All rows; only `members` take part.
    pub rows: &'a dyn RowSource,
    /// How much each row counts: `C_i` is this times the side's cost. Where there are none, each counts 1.
    pub weights: &'a [f64],
    /// The rows that are learned from; `None` where it is all of them.
    pub members: Option<&'a [u32]>,
    /// `B`.
    pub constant: f64,
    /// The loss of a margin.
    pub loss: SmoothLoss,
}

/// One of the problems.
#[derive(Clone, Copy)]
pub struct PrimalOutput<'a> {
    /// Whether each row is positive (`y = 1`) or negative (`y = -1`).
    pub labels: &'a (dyn Fn(usize) -> bool + Sync),
    /// The cost of a positive row's loss and of a negative one's.
    pub costs: (f64, f64),
    /// Weights and bias of a similar problem to start from.
    pub start: Option<(&'a [f64], f64)>,
}

/// The answer to one problem.
#[derive(Debug, Clone)]
pub struct PrimalSolution {
    /// `w`.
    pub weights: Vec<f64>,
    /// `b`.
    pub bias: f64,
    /// How the solver ended; its passes are evaluations of the objective.
    pub convergence: Convergence,
}

/// Problems that are not solved by then are worth the time that a closer look at the curvature takes, which is that of a few passes.
const PASSES_BEFORE_A_CLOSER_LOOK: usize = 8;

/// Solves all problems side by side, so that a row is read once for all of them.
///
/// # Method
/// L-BFGS steps, whose first guess of the curvature is that of each column by itself in a sample of the rows. Where that does not
/// lead to the end soon, columns hang together, which is what makes such problems slow: then the curvature of all
/// columns together is taken from a sample. The value and the gradient come from one pass over the rows.
///
/// With `α_i = -C_i loss'(m_i)` the gradient is `g = w - Σ y_i α_i x_i`, and primal and dual value differ by `|g|² / 2`
/// exactly: every step is certified, for nothing. (By Fenchel's equality the losses and their conjugates add up to
/// `-w·Σ y_i α_i x_i`, so the difference is `|w|²/2 + |w - g|²/2 - w·(w - g)`.) The gradient of a free bias must vanish
/// for that; its part is estimated by the curvature.
///
/// Rows are cut into blocks that depend on their number alone, whose sums are added in order: results do not depend on threads.
///
/// # Reference
/// Liu & Nocedal, Mathematical Programming 45 (1989).
pub fn solve_primal(
    problem: &PrimalProblem<'_>,
    outputs: &[PrimalOutput<'_>],
    limits: &SolverLimits,
    progress: &dyn Progress,
) -> Result<Vec<PrimalSolution>, Cancelled> {
    let objective = Objective::new(problem, outputs);
    check(progress)?;
    let mut curvature = Curvature::new(problem, outputs, objective.column_count());
    let mut searches: Vec<Search> = outputs
        .iter()
        .map(|output| Search::from(objective.start(output.start)))
        .collect();
    for pass in 0.. {
        check(progress)?;
        let open: Vec<usize> = (0..searches.len())
            .filter(|&output| searches[output].end().is_none())
            .collect();
        if open.is_empty() {
            break;
        }
        if pass == PASSES_BEFORE_A_CLOSER_LOOK && curvature.can_be_refined() {
            let points: Vec<&Point> = open.iter().map(|&open| searches[open].point()).collect();
            curvature.refine(&points);
        }
        let points: Vec<(usize, &Point)> = open
            .iter()
            .map(|&output| (output, searches[output].candidate()))
            .collect();
        let found = objective.evaluate(&points);
        for (&output, found) in open.iter().zip(found) {
            searches[output].take(found, &objective, &curvature, limits);
        }
    }
    let solutions = searches.into_iter().map(|search| {
        let (point, convergence) = search.into_end();
        let (weights, bias) = objective.weights_and_bias(point);
        PrimalSolution {
            weights,
            bias,
            convergence,
        }
    });
    Ok(solutions.collect())
}

#[cfg(test)]
mod tests;
