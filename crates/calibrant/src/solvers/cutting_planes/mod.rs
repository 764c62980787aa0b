//! Structural support vector machines by cutting planes.
//!
//! A structured problem has many examples, and for each of them more possible outputs than could
//! ever be listed (all rankings of a query's documents, say). It is enough to be able to find, for
//! given weights, the output that breaks its constraint most: each such answer is a plane that
//! supports the objective from below, and a few dozen planes describe it as closely as is wanted.

mod n_slack;
mod one_slack;
mod planes;

use crate::parallel;
use std::ops::{ControlFlow, Range};

pub use planes::PlaneSet;

/// What the cutting-plane solver asks of a structured problem.
///
/// # Formula
/// With `ψ_i(y)` the features of output `y` for example `i`, `y_i` its true output and `Δ_i(y) >= 0`
/// what an output costs, the most violated output is
/// ```text
/// ŷ = argmax over y of Δ_i(y) - w·(ψ_i(y_i) - ψ_i(y))
/// ```
/// and the objective of the problem is `½|w|² + C/n Σ_i max over y of (Δ_i(y) - w·(ψ_i(y_i) - ψ_i(y)))`.
/// Because `y_i` itself is among the outputs and costs nothing, no term of the sum is negative.
pub trait StructuredProblem: Sync {
    /// How many examples there are.
    fn example_count(&self) -> usize;
    /// How many weights are learned.
    fn dimension(&self) -> usize;
    /// Adds `Σ ψ_i(y_i) - ψ_i(ŷ)` over the examples of `range` to `direction` and returns `Σ Δ_i(ŷ)`.
    fn add_most_violated(&self, weights: &[f64], range: Range<usize>, direction: &mut [f64])
    -> f64;
}

/// How the slack of examples that cannot all be satisfied is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Slack {
    /// One slack for all examples: a plane is the mean over all of them. Few planes are needed,
    /// however many examples there are (Joachims, Finley & Yu 2009).
    #[default]
    One,
    /// One slack an example, as in the first description of structural support vector machines
    /// (Tsochantaridis et al. 2005): a plane an example a round, hundreds of times as many.
    EachExample,
}

/// Settings of [`solve_cutting_planes`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CuttingPlanes {
    /// `C`, the cost of the mean slack against `½|w|²`.
    pub c: f64,
    /// Stops when primal minus dual is at most this part of the primal.
    pub tolerance: f64,
    /// Rounds after which it stops in any case.
    pub round_limit: usize,
    /// Which of two equivalent formulations is solved.
    pub slack: Slack,
}

impl Default for CuttingPlanes {
    fn default() -> Self {
        Self {
            c: 1.0,
            tolerance: 1e-3,
            round_limit: 2_000,
            slack: Slack::One,
        }
    }
}

/// Where the solver stands after a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    /// Rounds done, each with one look at every example.
    pub round: usize,
    /// The least objective so far.
    pub primal: f64,
    /// The greatest lower bound so far.
    pub dual: f64,
    /// Planes that are kept.
    pub planes: usize,
}

impl Round {
    /// How far the objective may be above its least value.
    pub fn gap(&self) -> f64 {
        (self.primal - self.dual).max(0.0)
    }
}

/// Rounds in which the gap must shrink by [`LEAST_PROGRESS`].
const PATIENCE: usize = 100;
const LEAST_PROGRESS: f64 = 0.02;

/// The best of all rounds, and whether there shall be another.
struct Standing {
    tolerance: f64,
    end: Round,
    weights: Vec<f64>,
    /// The gap that the next ones are compared with, and for how many rounds it has hardly shrunk: then rounding,
    /// and not the planes at hand, keeps the bounds apart.
    last_gap: Option<f64>,
    idle_rounds: usize,
}

impl Standing {
    fn new(tolerance: f64, dimension: usize) -> Self {
        Self {
            tolerance,
            end: Round {
                round: 0,
                primal: f64::INFINITY,
                dual: f64::NEG_INFINITY,
                planes: 0,
            },
            weights: vec![0.0; dimension],
            last_gap: None,
            idle_rounds: 0,
        }
    }

    /// How exactly the planes at hand are mixed: no more than the outer gap can use.
    fn inner_tolerance(&self) -> f64 {
        if self.end.primal.is_finite() {
            (0.1 * self.end.gap()).max(0.1 * self.tolerance * self.end.primal)
        } else {
            0.0
        }
    }

    /// Takes a round in: the weights that it looked at, their objective and the bound that the planes gave.
    fn take(&mut self, weights: Vec<f64>, primal: f64, dual: f64, planes: usize) {
        self.end.round += 1;
        self.end.dual = self.end.dual.max(dual);
        if primal < self.end.primal || self.end.round == 1 {
            self.end.primal = primal;
            self.weights = weights;
        }
        self.end.planes = planes;
        let gap = self.end.gap();
        let shrinks = |last: f64| gap < (1.0 - LEAST_PROGRESS) * last;
        if self.last_gap.is_none_or(shrinks) {
            (self.last_gap, self.idle_rounds) = (Some(gap), 0);
        } else {
            self.idle_rounds += 1;
        }
    }

    fn has_converged(&self) -> bool {
        self.end.round > 0 && self.end.gap() <= self.tolerance * self.end.primal.abs()
    }

    fn is_over(&self, round_limit: usize) -> bool {
        let stuck = self.idle_rounds >= PATIENCE || !self.end.gap().is_finite();
        self.end.round > 0 && (self.has_converged() || stuck || self.end.round >= round_limit)
    }

    fn solution(self) -> CuttingPlaneSolution {
        CuttingPlaneSolution {
            converged: self.has_converged(),
            weights: self.weights,
            end: self.end,
        }
    }
}

/// What [`solve_cutting_planes`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct CuttingPlaneSolution {
    /// The weights with the least objective that were met.
    pub weights: Vec<f64>,
    /// Their objective, a lower bound for that of any weights, and what it took.
    pub end: Round,
    /// Whether the gap came below the tolerance.
    pub converged: bool,
}

/// Minimises the objective of a structured problem, with a certificate.
///
/// # Formula
/// ```text
/// primal   ½|w|² + C ξ                           with ξ >= d_k - w·g_k for every plane k
/// dual     max over α of  Σ α_k d_k - ½|Σ α_k g_k|²    subject to α >= 0, Σ α_k <= C
/// ```
/// Each round solves the dual over the planes at hand (see [`PlaneSet`]), takes `w = Σ α_k g_k`, and asks for the
/// most violated outputs at `w`: their mean direction `g` and mean loss `d` are the next plane, and
/// `½|w|² + C (d - w·g)` is the objective at `w`, exactly. The dual value is a lower bound for the
/// objective at any weights, so the gap between the two is a proof of how good the answer is.
///
/// Examples are visited on all threads; where the parts lie depends on their number alone and sums are
/// taken in order, so the answer is the same to the last bit whatever the number of threads.
///
/// `planes` may hold planes of an earlier call on the same problem, with another `C` for instance; they
/// remain valid and save most of the rounds. Start with `PlaneSet::default()`. `on_round` is told of every round and says whether to
/// go on; an answer that was ended is the best so far.
///
/// # When it misleads
/// With a very large `C` the objective is nearly piecewise linear and many rounds are needed; where
/// `round_limit` ends them, or features are so large that rounding keeps the bounds apart, `converged` is false and the
/// gap says how much may be missing.
///
/// # References
/// Tsochantaridis, Joachims, Hofmann & Altun, JMLR 2005; Joachims, Finley & Yu, Machine Learning 2009
/// (the formulation with one slack); Yue et al., SIGIR 2007, optimisation problem 1.
///
/// ```
/// use calibrant::solvers::{CuttingPlanes, PlaneSet, StructuredProblem, solve_cutting_planes};
/// /// One example, one wrong output: loss 1, direction (2).
/// struct Pair;
/// impl StructuredProblem for Pair {
///     fn example_count(&self) -> usize { 1 }
///     fn dimension(&self) -> usize { 1 }
///     fn add_most_violated(&self, w: &[f64], range: std::ops::Range<usize>, g: &mut [f64]) -> f64 {
///         let violated = !range.is_empty() && 1.0 - 2.0 * w[0] > 0.0;
///         if violated { g[0] += 2.0 }
///         if violated { 1.0 } else { 0.0 }
///     }
/// }
/// // By hand: ½w² + C max(0, 1 - 2w) has slope w - 2C below w = ½. With C = 0.1 it ends at w = 0.2,
/// // objective 0.02 + 0.1 · 0.6 = 0.08.
/// let settings = CuttingPlanes { c: 0.1, tolerance: 1e-9, ..CuttingPlanes::default() };
/// let go_on = &mut |_: &_| std::ops::ControlFlow::Continue(());
/// let found = solve_cutting_planes(&Pair, &settings, &mut PlaneSet::default(), go_on);
/// assert!(found.converged && (found.weights[0] - 0.2).abs() < 1e-9);
/// assert!((found.end.primal - 0.08).abs() < 1e-9);
/// ```
pub fn solve_cutting_planes<P: StructuredProblem + ?Sized>(
    problem: &P,
    settings: &CuttingPlanes,
    planes: &mut PlaneSet,
    on_round: &mut dyn FnMut(&Round) -> ControlFlow<()>,
) -> CuttingPlaneSolution {
    let usable = problem.example_count() > 0 && settings.c > 0.0 && settings.c.is_finite();
    if !usable {
        return CuttingPlaneSolution {
            weights: vec![0.0; problem.dimension()],
            end: Round {
                round: 0,
                primal: 0.0,
                dual: 0.0,
                planes: 0,
            },
            converged: problem.example_count() == 0,
        };
    }
    match settings.slack {
        Slack::One => one_slack::solve(problem, settings, planes, on_round),
        Slack::EachExample => n_slack::solve(problem, settings, planes, on_round),
    }
}

/// The cost `C` that suits the size of a problem's features: a unit to count other costs in.
///
/// # Formula
/// With `g` and `d` the mean direction and mean loss of the most violated outputs at `w = 0`, it is `d / |g|²`: from this
/// cost on, weights along `g` pay for all of `d`. Features twice as large make it a quarter. One, where
/// there is nothing to learn from.
///
/// # Reference
/// Joachims' SVM-light, whose cost is by default one over the mean squared length of an example, for the same reason.
///
/// ```
/// use calibrant::solvers::{StructuredProblem, unit_cost};
/// struct Pair(f64);
/// impl StructuredProblem for Pair {
///     fn example_count(&self) -> usize { 1 }
///     fn dimension(&self) -> usize { 1 }
///     fn add_most_violated(&self, _: &[f64], _: std::ops::Range<usize>, g: &mut [f64]) -> f64 {
///         g[0] += self.0;
///         0.5
///     }
/// }
/// // By hand: 0.5 / 2², and a sixteenth of that for features four times as large.
/// assert_eq!(unit_cost(&Pair(2.0)), 0.125);
/// assert_eq!(unit_cost(&Pair(8.0)), 0.125 / 16.0);
/// assert_eq!(unit_cost(&Pair(0.0)), 1.0);
/// ```
pub fn unit_cost<P: StructuredProblem + ?Sized>(problem: &P) -> f64 {
    if problem.example_count() == 0 {
        return 1.0;
    }
    let (direction, loss) = mean_most_violated(problem, &vec![0.0; problem.dimension()]);
    let cost = loss / dot(&direction, &direction);
    if cost > 0.0 && cost.is_finite() {
        cost
    } else {
        1.0
    }
}

/// The mean of the most violated outputs' directions, and their mean loss.
fn mean_most_violated<P: StructuredProblem + ?Sized>(
    problem: &P,
    weights: &[f64],
) -> (Vec<f64>, f64) {
    let count = problem.example_count();
    let size = count.div_ceil(64);
    let parts = parallel::map_ranges(count, size, |range| {
        let mut direction = vec![0.0; problem.dimension()];
        let loss = problem.add_most_violated(weights, range, &mut direction);
        (direction, loss)
    });
    let mut direction = vec![0.0; problem.dimension()];
    let mut loss = 0.0;
    for (part, part_loss) in parts {
        direction.iter_mut().zip(part).for_each(|(d, p)| *d += p);
        loss += part_loss;
    }
    let scale = 1.0 / count as f64;
    direction.iter_mut().for_each(|d| *d *= scale);
    (direction, loss * scale)
}

/// `Σ a_i b_i`, in four sums side by side, so that it can use wide registers.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a_blocks, a_rest) = a.as_chunks::<4>();
    let (b_blocks, b_rest) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (x, y) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..4 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

#[cfg(test)]
mod tests;
