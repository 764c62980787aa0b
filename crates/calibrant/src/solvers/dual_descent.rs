//! Regularised linear problems by dual coordinate descent, several side by side.

mod face_steps;

use serde::{Deserialize, Serialize};

use super::Members;
use super::descent_rows::DescentRows;
use crate::features::{SparseMatrix, prefetch};
use crate::numeric::Random;
use crate::progress::check;
use crate::{Cancelled, NoProgress, Progress};

/// Rows that several problems with two classes each learn from.
///
/// ```text
/// minimise over w, b:   (|w|² + (b / B)²) / 2  +  Σ_i C_i loss(y_i (w·x_i + b))
/// ```
/// The bias `b` is `B` times the weight of a constant feature `B`, which is regularised with the rest, as LIBLINEAR
/// does it with `-B`.
#[derive(Debug, Clone, Copy)]
pub struct LinearProblem<'a, R: ?Sized = SparseMatrix> {
    /// All rows; only `members` take part.
    pub rows: &'a R,
    /// `|x_i|²` of each row; where there are none, the rows are asked.
    pub squared_norms: &'a [f64],
    /// How much each row counts: `C_i` is this times the side's cost. Where there are none, each counts 1.
    pub weights: &'a [f64],
    /// The rows that are learned from.
    pub members: Members<'a>,
    /// `B`: 1 is usual, with 0 there is no bias.
    pub constant: f64,
}

impl<R: ?Sized> LinearProblem<'_, R> {
    /// How much a row counts.
    #[inline]
    fn weight(&self, row: usize) -> f64 {
        self.weights.get(row).copied().unwrap_or(1.0)
    }
}

/// One of the problems.
#[derive(Clone, Copy)]
pub struct Lane<'a> {
    /// Whether each row is positive (`y = 1`) or negative (`y = -1`).
    pub labels: &'a (dyn Fn(usize) -> bool + Sync),
    /// The cost of a positive row's loss and of a negative one's.
    pub costs: (f64, f64),
    /// Dual variables of a similar problem to start from; those of rows that are not members are
    /// taken as zero.
    pub start: Option<&'a [f64]>,
    /// Whether the solution is to come with its dual variables.
    pub keeps_duals: bool,
}

/// The answer to one problem.
#[derive(Debug, Clone)]
pub struct LaneSolution<W = f32> {
    /// The dual variable of each row, between 0 and `C_i`; none where nobody asked for them.
    pub duals: Vec<f64>,
    /// `w = Σ y_i α_i x_i`.
    pub weights: Vec<W>,
    /// `b = B² Σ y_i α_i`.
    pub bias: f64,
    /// How the solver ended.
    pub convergence: Convergence,
}

/// What a loss asks of one row's dual variable.
pub trait DualLoss: Copy + Sync {
    /// Where a variable starts that has no better place.
    fn start(&self, cost: f64) -> f64;

    /// The spread of gradients at which the gap is probably small enough. Too large a guess is tightened, one look at all rows
    /// after the other.
    fn settled(&self, relative_gap: f64) -> f64 {
        usually_settled(relative_gap)
    }

    /// Whether [`Self::objectives`] takes so little time that every visit can ask: then the gap itself, as it was at each row's visit, says
    /// when all rows are to be looked at.
    const TELLS_GAP: bool = false;

    /// The upper end of a variable's box, where the loss does not bend: then the dual may be nearly flat along several variables at
    /// once, and visits to one after the other take long to get anywhere.
    fn end_of_flat_box(&self, _cost: f64) -> Option<f64> {
        None
    }

    /// Solves for one variable while the others stand still. `margin` is `y (w·x + b)`, `curvature`
    /// is `|x|² + 1`; gradients beyond `bounds = (lowest, highest)` of the last pass show that a
    /// variable rests at its end of the box.
    fn visit(&self, margin: f64, dual: f64, cost: f64, curvature: f64, bounds: (f64, f64))
    -> Visit;

    /// `C loss(margin)`, and what the variable adds to the dual objective beside `-|w|²/2`.
    fn objectives(&self, margin: f64, dual: f64, cost: f64) -> (f64, f64);
}

/// The gap falls with the square of the gradients' spread; on text this is a good first guess.
fn usually_settled(relative_gap: f64) -> f64 {
    (7.0 * relative_gap.sqrt()).clamp(1e-6, 0.5)
}

/// What visiting a row came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Visit {
    /// The variable rests at an end of its box and can be left alone for now.
    AtRest,
    /// The variable's new value, and its projected gradient before the step.
    Moved {
        /// The new value.
        dual: f64,
        /// How far the variable was from being right.
        gradient: f64,
    },
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

impl Default for SolverLimits {
    fn default() -> Self {
        Self {
            relative_gap: 1e-4,
            max_passes: 1000,
        }
    }
}

impl SolverLimits {
    /// For models that only score their fold: ten times the gap.
    pub(crate) fn for_fold(self) -> Self {
        Self {
            relative_gap: 10.0 * self.relative_gap,
            ..self
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

/// Solves up to `L` problems over the same rows.
///
/// A pass visits rows in random order and solves each problem's variable of the row in turn. A
/// variable that rests at an end of its box is left alone until the others of its problem have
/// settled; then all are looked at again. A problem ends when its duality gap is small enough,
/// which does not depend on how the data are scaled. Problems do not influence each other but for
/// the order in which rows are visited.
///
/// # Panics
/// If there are no lanes, or more than `L` or eight.
pub fn solve_side_by_side<const L: usize, R: DescentRows<L> + ?Sized>(
    problem: &LinearProblem<'_, R>,
    lanes: &[Lane<'_>],
    loss: impl DualLoss,
    limits: &SolverLimits,
    seed: u64,
) -> Vec<LaneSolution<R::Value>> {
    // Nobody is there to end it.
    solve_while_wanted::<L, R>(problem, lanes, loss, limits, seed, &NoProgress).unwrap_or_default()
}

/// As [`solve_side_by_side`], and asks before every pass whether to go on.
///
/// # Panics
/// As it does.
pub fn solve_while_wanted<const L: usize, R: DescentRows<L> + ?Sized>(
    problem: &LinearProblem<'_, R>,
    lanes: &[Lane<'_>],
    loss: impl DualLoss,
    limits: &SolverLimits,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<LaneSolution<R::Value>>, Cancelled> {
    assert!((1..=L.min(8)).contains(&lanes.len()));
    let mut descent = Descent::<L, R, _>::start(problem, lanes, loss, limits);
    let mut random = Random::from_seed(seed);
    for pass in 1.. {
        check(progress)?;
        descent.pass(&mut random);
        if descent.settle(pass, limits) {
            break;
        }
    }
    let Descent {
        lanes,
        rows,
        weights,
        biases,
        states,
        ..
    } = descent;
    let solutions = states
        .into_iter()
        .enumerate()
        .map(|(lane, state)| LaneSolution {
            duals: match lanes[lane].keeps_duals {
                false => Vec::new(),
                true => rows.iter().map(|row| row.duals[lane]).collect(),
            },
            weights: R::lane(&weights, lane),
            bias: biases[lane] * problem.constant,
            convergence: match state.stage {
                Stage::Ended(convergence) => convergence,
                // The loop goes on until every problem has ended.
                _ => Convergence {
                    converged: false,
                    passes: 0,
                    objective: f64::NAN,
                    relative_gap: f64::INFINITY,
                },
            },
        });
    Ok(solutions.collect())
}

/// After so many passes a problem that began near its solution is looked at as a whole: most are solved
/// by then, long before the last of the variables that they rest on have settled.
const PASSES_BETWEEN_LOOKS: usize = 4;

/// How many visits lie between two stages of fetching a row.
const PREFETCH_DISTANCE: usize = 4;

struct Descent<'a, const L: usize, R: DescentRows<L> + ?Sized, Loss> {
    problem: &'a LinearProblem<'a, R>,
    lanes: &'a [Lane<'a>],
    loss: Loss,
    rows: Vec<RowState<L>>,
    weights: R::Weights,
    /// The weights of the constant feature.
    biases: [f64; L],
    /// The rows where anything moves.
    order: Vec<u32>,
    states: Vec<LaneState>,
    /// Whether all rows are looked at every few passes.
    looks_early: bool,
}

/// What a pass has seen of a problem.
#[derive(Debug, Clone, Copy)]
struct Seen {
    /// The range of projected gradients.
    lowest: f64,
    highest: f64,
    /// How much of the gap is due to the rows, and how much the dual objective gained.
    gap: f64,
    gained: f64,
}

impl Seen {
    const NOTHING: Self = Self {
        lowest: f64::INFINITY,
        highest: f64::NEG_INFINITY,
        gap: 0.0,
        gained: 0.0,
    };
}

/// All that a visit needs of a row beside its entries, in one place: rows are visited in random
/// order, and each place is a cache line that has to be fetched.
#[derive(Debug, Clone, Copy)]
struct RowState<const L: usize> {
    duals: [f64; L],
    /// Rounded: it is the length of steps, not where they lead.
    curvature: f32,
    /// A bit for each problem in which the row is positive.
    labels: u8,
    /// A bit for each problem whose variable of the row is moving.
    moving: u8,
}

impl<const L: usize> RowState<L> {
    fn new<R: DescentRows<L> + ?Sized>(
        problem: &LinearProblem<'_, R>,
        lanes: &[Lane<'_>],
        row: usize,
        zeros: &mut R::Weights,
    ) -> Self {
        let squared_norm = match problem.squared_norms {
            [] => problem.rows.squared_norm(row, zeros),
            norms => norms[row],
        };
        let labels = lanes.iter().enumerate();
        Self {
            duals: [0.0; L],
            curvature: (squared_norm + problem.constant * problem.constant) as f32,
            labels: labels
                .map(|(number, lane)| u8::from((lane.labels)(row)) << number)
                .sum(),
            moving: 0,
        }
    }

    #[inline]
    fn sign(&self, lane: usize) -> f64 {
        if self.labels >> lane & 1 == 1 {
            1.0
        } else {
            -1.0
        }
    }

    /// What an error costs in a row of this weight.
    #[inline]
    fn cost(&self, lane: usize, weight: f64, costs: (f64, f64)) -> f64 {
        weight
            * if self.labels >> lane & 1 == 1 {
                costs.0
            } else {
                costs.1
            }
    }
}

struct LaneState {
    /// The range of projected gradients in the last pass.
    bounds: (f64, f64),
    spread: f64,
    /// The spread that counts as settled; tightened until the gap agrees.
    settled: f64,
    /// The dual objective, and the gap of the last pass's rows, each as it was at its visit.
    dual: f64,
    gap: f64,
    /// The part of the wanted gap that has to be reached; smaller where more was found at all rows than at those that were visited.
    part: f64,
    /// Passes since free variables took a step together.
    alone: usize,
    stage: Stage,
}

/// Problems wait for each other where all rows are looked at, so that one look serves all.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    /// Its variables are being solved for.
    Moving,
    /// The variables that were moving have settled; the others have to be looked at.
    Settled,
    /// Done.
    Ended(Convergence),
}

impl LaneState {
    const OPEN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
}

impl<'a, const L: usize, R: DescentRows<L> + ?Sized, Loss: DualLoss> Descent<'a, L, R, Loss> {
    fn start(
        problem: &'a LinearProblem<'a, R>,
        lanes: &'a [Lane<'a>],
        loss: Loss,
        limits: &SolverLimits,
    ) -> Self {
        let settled = match R::FINE {
            true => loss.settled(limits.relative_gap),
            false => usually_settled(limits.relative_gap),
        };
        let row_count = problem.rows.row_count();
        let mut weights = problem.rows.zeros();
        let rows = (0..row_count).map(|row| RowState::new(problem, lanes, row, &mut weights));
        let member_count = problem.members.count(row_count);
        let mut descent = Self {
            problem,
            lanes,
            loss,
            rows: rows.collect(),
            weights,
            biases: [0.0; L],
            order: Vec::with_capacity(member_count),
            states: Vec::with_capacity(lanes.len()),
            looks_early: lanes.iter().any(|lane| lane.start.is_some()),
        };
        let mut resting_on = [0; L];
        problem.members.for_each(row_count, |number| {
            let (row, weight) = (&mut descent.rows[number], problem.weight(number));
            let mut steps = [0.0; L];
            for (lane, settings) in lanes.iter().enumerate() {
                let given = settings.start.map_or(0.0, |duals| duals[number]);
                let dual = if given > 0.0 {
                    given
                } else {
                    loss.start(row.cost(lane, weight, settings.costs))
                };
                row.duals[lane] = dual;
                steps[lane] = dual * row.sign(lane);
                if dual > 0.0 {
                    row.moving |= 1 << lane;
                    resting_on[lane] += 1;
                }
            }
            descent.step(number, steps);
        });
        // A warm start begins with the variables that it rests on, unless they are most of them anyway.
        let all: u8 = (0..lanes.len())
            .filter(|&lane| lanes[lane].start.is_none() || 2 * resting_on[lane] >= member_count)
            .map(|lane| 1 << lane)
            .sum();
        problem
            .members
            .for_each(row_count, |row| descent.rows[row].moving |= all);
        descent.states.extend((0..lanes.len()).map(|_| LaneState {
            bounds: LaneState::OPEN,
            spread: 0.0,
            settled,
            dual: 0.0,
            gap: f64::INFINITY,
            part: 1.0,
            alone: 0,
            stage: Stage::Moving,
        }));
        descent.gather();
        descent
    }

    /// Whether the loss tells of the gap at each visit. (Models that were learned from counts keep the general rule, and with it their
    /// numbers.)
    const TELLS_GAP: bool = R::FINE && Loss::TELLS_GAP;

    /// `w·x + b` of each problem.
    #[inline]
    fn scores(&self, row: usize) -> [f64; L] {
        let mut scores = self.problem.rows.dot(row, &self.weights);
        let constant = self.problem.constant;
        (0..L).for_each(|lane| scores[lane] += self.biases[lane] * constant);
        scores
    }

    #[inline]
    fn step(&mut self, row: usize, steps: [f64; L]) {
        if steps.iter().any(|&step| step != 0.0) {
            self.problem.rows.add(row, steps, &mut self.weights);
            let constant = self.problem.constant;
            (0..L).for_each(|lane| self.biases[lane] += steps[lane] * constant);
        }
    }

    fn gather(&mut self) {
        let (rows, order) = (&self.rows, &mut self.order);
        order.clear();
        self.problem.members.for_each(rows.len(), |row| {
            if rows[row].moving != 0 {
                order.push(row as u32);
            }
        });
    }

    /// Asks for what the visits to come will need, one stage after the other: each tells where the next
    /// one lies.
    #[inline]
    fn prefetch_after(&self, order: &[u32], place: usize) {
        let ahead = |distance: usize| order.get(place + distance).map(|&row| row as usize);
        let entries = ahead(2 * PREFETCH_DISTANCE);
        if let Some(row) = entries {
            prefetch(&self.rows, row);
            prefetch(self.problem.weights, row);
        }
        let rows = [
            ahead(3 * PREFETCH_DISTANCE),
            entries,
            ahead(PREFETCH_DISTANCE),
        ];
        self.problem.rows.prefetch(rows, &self.weights);
    }

    /// One pass over the rows where anything moves.
    fn pass(&mut self, random: &mut Random) {
        let mut seen = [Seen::NOTHING; L];
        let mut order = std::mem::take(&mut self.order);
        random.shuffle(&mut order);
        let far = self.problem.rows.are_far(order.len());
        for (place, &number) in order.iter().enumerate() {
            if far {
                self.prefetch_after(&order, place);
            }
            let number = number as usize;
            let scores = self.scores(number);
            let (row, weight) = (&mut self.rows[number], self.problem.weight(number));
            let mut steps = [0.0; L];
            for (lane, settings) in self.lanes.iter().enumerate() {
                if row.moving >> lane & 1 == 0 {
                    continue;
                }
                let sign = row.sign(lane);
                let margin = sign * scores[lane];
                let dual = row.duals[lane];
                let cost = row.cost(lane, weight, settings.costs);
                let curvature = f64::from(row.curvature);
                let bounds = self.states[lane].bounds;
                match self.loss.visit(margin, dual, cost, curvature, bounds) {
                    Visit::AtRest => row.moving &= !(1 << lane),
                    Visit::Moved {
                        dual: moved,
                        gradient,
                    } => {
                        let seen = &mut seen[lane];
                        seen.lowest = seen.lowest.min(gradient);
                        seen.highest = seen.highest.max(gradient);
                        let step = moved - dual;
                        if Self::TELLS_GAP {
                            let (loss, gain) = self.loss.objectives(margin, dual, cost);
                            let (_, next) = self.loss.objectives(margin, moved, cost);
                            seen.gap += loss - gain + dual * margin;
                            seen.gained += next - gain - step * (margin + 0.5 * curvature * step);
                        }
                        steps[lane] = step * sign;
                        row.duals[lane] = moved;
                    }
                }
            }
            self.step(number, steps);
        }
        self.order = order;
        for (state, seen) in self.states.iter_mut().zip(seen) {
            if state.stage != Stage::Moving {
                continue;
            }
            let Seen {
                lowest, highest, ..
            } = seen;
            (state.gap, state.dual) = (seen.gap, state.dual + seen.gained);
            state.alone += 1;
            state.spread = (highest.max(0.0) - lowest.min(0.0)).max(0.0);
            state.bounds = (
                if lowest < 0.0 {
                    lowest
                } else {
                    f64::NEG_INFINITY
                },
                if highest > 0.0 {
                    highest
                } else {
                    f64::INFINITY
                },
            );
        }
    }

    /// Looks at the problems that have settled; true when all have ended.
    fn settle(&mut self, pass: usize, limits: &SolverLimits) -> bool {
        let out_of_time = pass >= limits.max_passes;
        let look = self.looks_early && pass.is_multiple_of(PASSES_BETWEEN_LOOKS);
        for lane in 0..self.states.len() {
            let state = &mut self.states[lane];
            let settled = match Self::TELLS_GAP {
                true => state.gap <= state.part * limits.relative_gap * state.dual,
                false => state.spread <= state.settled,
            };
            if state.stage == Stage::Moving && (settled || look || out_of_time) {
                state.stage = Stage::Settled;
                self.rows
                    .iter_mut()
                    .for_each(|row| row.moving &= !(1 << lane));
            }
        }
        if self.states.iter().all(|state| state.stage != Stage::Moving) {
            self.look_at_all(pass, limits, out_of_time);
            self.gather();
        } else if R::FINE {
            let rows = &self.rows;
            self.order.retain(|&row| rows[row as usize].moving != 0);
        } else {
            // The same rows in rising order, from which the next one is drawn.
            self.gather();
        }
        if self.is_slow() {
            self.step_along_faces();
        }
        self.states
            .iter()
            .all(|state| matches!(state.stage, Stage::Ended(_)))
    }

    /// Adds what a row has to say of the settled problems, and lets its variables move again that have to.
    #[inline]
    fn look_at(&mut self, number: usize, objectives: &mut [(f64, f64)], largest: &mut [f64; L]) {
        let scores = self.scores(number);
        let (row, weight) = (&mut self.rows[number], self.problem.weight(number));
        for (lane, settings) in self.lanes.iter().enumerate() {
            let state = &self.states[lane];
            if state.stage != Stage::Settled {
                continue;
            }
            let margin = row.sign(lane) * scores[lane];
            let cost = row.cost(lane, weight, settings.costs);
            let dual = row.duals[lane];
            let (loss, gain) = self.loss.objectives(margin, dual, cost);
            objectives[lane].0 += loss;
            objectives[lane].1 += gain;
            let curvature = f64::from(row.curvature);
            let open = LaneState::OPEN;
            let visit = self.loss.visit(margin, dual, cost, curvature, open);
            let gradient = match visit {
                Visit::AtRest => 0.0,
                Visit::Moved { gradient, .. } => gradient.abs(),
            };
            largest[lane] = largest[lane].max(gradient);
            let moves = match Self::TELLS_GAP {
                true => gradient > 0.0,
                false => dual > 0.0 || gradient > 0.1 * state.settled,
            };
            if moves {
                row.moving |= 1 << lane;
            }
        }
    }

    /// Measures the gap of the settled problems over all rows. One that is small enough has ended;
    /// else the variables that it rests on, and those that are not at rest, move again.
    fn look_at_all(&mut self, pass: usize, limits: &SolverLimits, out_of_time: bool) {
        let norms = R::squared_norms(&self.weights);
        let mut objectives: Vec<(f64, f64)> = (0..self.lanes.len())
            .map(|lane| 0.5 * (norms[lane] + self.biases[lane] * self.biases[lane]))
            .map(|regular| (regular, -regular))
            .collect();
        let mut largest = [0f64; L];
        let problem = self.problem;
        problem.members.for_each(self.rows.len(), |number| {
            self.look_at(number, &mut objectives, &mut largest);
        });
        for (lane, (primal, dual)) in objectives.into_iter().enumerate() {
            let state = &mut self.states[lane];
            if state.stage != Stage::Settled {
                continue;
            }
            let relative_gap = if primal > 0.0 {
                (primal - dual).max(0.0) / primal
            } else {
                0.0
            };
            let converged = relative_gap <= limits.relative_gap;
            if converged || out_of_time {
                state.stage = Stage::Ended(Convergence {
                    converged,
                    passes: pass,
                    objective: primal,
                    relative_gap,
                });
                self.rows
                    .iter_mut()
                    .for_each(|row| row.moving &= !(1 << lane));
            } else {
                if largest[lane] <= state.settled {
                    state.settled *= 0.3;
                }
                if primal - dual > state.gap {
                    state.part *= 0.5;
                }
                state.dual = dual;
                state.bounds = LaneState::OPEN;
                state.stage = Stage::Moving;
            }
        }
    }
}

#[cfg(test)]
mod tests;
