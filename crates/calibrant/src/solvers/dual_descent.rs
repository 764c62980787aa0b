//! Regularised linear problems by dual coordinate descent, several side by side.

use serde::{Deserialize, Serialize};

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
    /// The rows that are learned from, rising; `None` where it is all of them.
    pub members: Option<&'a [u32]>,
    /// `B`: 1 is usual, with 0 there is no bias.
    pub constant: f64,
}

impl<R: ?Sized> LinearProblem<'_, R> {
    /// Asks for each row that is learned from.
    #[inline]
    fn for_each_member(&self, row_count: usize, mut each: impl FnMut(usize)) {
        match self.members {
            None => (0..row_count).for_each(each),
            Some(members) => members.iter().for_each(|&row| each(row as usize)),
        }
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

/// All that a visit needs of a row beside its entries, in one place: rows are visited in random
/// order, and each place is a cache line that has to be fetched.
#[derive(Debug, Clone, Copy)]
struct RowState<const L: usize> {
    duals: [f64; L],
    weight: f64,
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
    ) -> Self {
        let squared_norm = match problem.squared_norms {
            [] => problem.rows.squared_norm(row),
            norms => norms[row],
        };
        let labels = lanes.iter().enumerate();
        Self {
            duals: [0.0; L],
            weight: problem.weights.get(row).copied().unwrap_or(1.0),
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

    #[inline]
    fn cost(&self, lane: usize, costs: (f64, f64)) -> f64 {
        self.weight
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
        let rows = (0..row_count).map(|row| RowState::new(problem, lanes, row));
        let member_count = problem.members.map_or(row_count, <[u32]>::len);
        let mut descent = Self {
            problem,
            lanes,
            loss,
            rows: rows.collect(),
            weights: problem.rows.zeros(),
            biases: [0.0; L],
            order: Vec::with_capacity(member_count),
            states: Vec::with_capacity(lanes.len()),
            looks_early: lanes.iter().any(|lane| lane.start.is_some()),
        };
        let mut resting_on = [0; L];
        problem.for_each_member(row_count, |number| {
            let row = &mut descent.rows[number];
            let mut steps = [0.0; L];
            for (lane, settings) in lanes.iter().enumerate() {
                let given = settings.start.map_or(0.0, |duals| duals[number]);
                let dual = if given > 0.0 {
                    given
                } else {
                    loss.start(row.cost(lane, settings.costs))
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
        problem.for_each_member(row_count, |row| descent.rows[row].moving |= all);
        descent.states.extend((0..lanes.len()).map(|_| LaneState {
            bounds: LaneState::OPEN,
            spread: 0.0,
            settled,
            stage: Stage::Moving,
        }));
        descent.gather();
        descent
    }

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
        self.problem.for_each_member(rows.len(), |row| {
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
        let mut ranges = [(f64::INFINITY, f64::NEG_INFINITY); L];
        let mut order = std::mem::take(&mut self.order);
        random.shuffle(&mut order);
        let far = self.problem.rows.are_far(order.len());
        for (place, &number) in order.iter().enumerate() {
            if far {
                self.prefetch_after(&order, place);
            }
            let number = number as usize;
            let scores = self.scores(number);
            let row = &mut self.rows[number];
            let mut steps = [0.0; L];
            for (lane, settings) in self.lanes.iter().enumerate() {
                if row.moving >> lane & 1 == 0 {
                    continue;
                }
                let sign = row.sign(lane);
                let margin = sign * scores[lane];
                let dual = row.duals[lane];
                let cost = row.cost(lane, settings.costs);
                let curvature = f64::from(row.curvature);
                let bounds = self.states[lane].bounds;
                match self.loss.visit(margin, dual, cost, curvature, bounds) {
                    Visit::AtRest => row.moving &= !(1 << lane),
                    Visit::Moved {
                        dual: moved,
                        gradient,
                    } => {
                        ranges[lane] = (ranges[lane].0.min(gradient), ranges[lane].1.max(gradient));
                        steps[lane] = (moved - dual) * sign;
                        row.duals[lane] = moved;
                    }
                }
            }
            self.step(number, steps);
        }
        self.order = order;
        for (state, (lowest, highest)) in self.states.iter_mut().zip(ranges) {
            if state.stage != Stage::Moving {
                continue;
            }
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
            let settled = state.spread <= state.settled;
            if state.stage == Stage::Moving && (settled || look || out_of_time) {
                state.stage = Stage::Settled;
                self.rows
                    .iter_mut()
                    .for_each(|row| row.moving &= !(1 << lane));
            }
        }
        if self.states.iter().all(|state| state.stage != Stage::Moving) {
            self.look_at_all(pass, limits, out_of_time);
        }
        self.gather();
        self.states
            .iter()
            .all(|state| matches!(state.stage, Stage::Ended(_)))
    }

    /// Adds what a row has to say of the settled problems, and lets its variables move again that have to.
    #[inline]
    fn look_at(&mut self, number: usize, objectives: &mut [(f64, f64)], largest: &mut [f64; L]) {
        let scores = self.scores(number);
        let row = &mut self.rows[number];
        for (lane, settings) in self.lanes.iter().enumerate() {
            let state = &self.states[lane];
            if state.stage != Stage::Settled {
                continue;
            }
            let margin = row.sign(lane) * scores[lane];
            let cost = row.cost(lane, settings.costs);
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
            if dual > 0.0 || gradient > 0.1 * state.settled {
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
        problem.for_each_member(self.rows.len(), |number| {
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
                state.bounds = LaneState::OPEN;
                state.stage = Stage::Moving;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::EndsAfter;
    use crate::solvers::{HingeLoss, HingeLossDual, LogisticLossDual};

    fn random_rows(seed: u64, labels: &[bool]) -> SparseMatrix {
        let mut random = Random::from_seed(seed);
        let row = |label: bool| {
            let mut entries = Vec::new();
            for column in 0..30 {
                let lean = if label && column < 5 { 0.4 } else { 0.1 };
                if random.uniform() < lean {
                    entries.push((column, random.uniform() as f32 + 0.1));
                }
            }
            entries
        };
        SparseMatrix::from_rows(30, labels.iter().copied().map(row))
    }

    fn random_labels(seed: u64) -> Vec<bool> {
        let mut random = Random::from_seed(seed);
        (0..120).map(|_| random.uniform() < 0.3).collect()
    }

    const TIGHT: SolverLimits = SolverLimits {
        relative_gap: 1e-6,
        max_passes: 20_000,
    };

    fn check_warm_starts_and_lanes(loss: impl DualLoss) {
        for seed in 0..3 {
            let labels: Vec<Vec<bool>> =
                (0..4).map(|lane| random_labels(seed * 10 + lane)).collect();
            let rows = random_rows(seed, &labels[0]);
            let squared_norms: Vec<f64> = rows.rows().map(|row| row.squared_norm()).collect();
            let weights: Vec<f64> = (0..120).map(|row| 0.5 + f64::from(row % 3)).collect();
            let some: Vec<u32> = (0..120).filter(|row| row % 5 != 0).collect();
            let whole = LinearProblem {
                rows: &rows,
                squared_norms: &squared_norms,
                weights: &weights,
                members: None,
                constant: 1.0,
            };
            let part = LinearProblem {
                members: Some(&some),
                ..whole
            };
            let asked: Vec<_> = labels
                .iter()
                .map(|labels| |row: usize| labels[row])
                .collect();
            let cold: Vec<Lane<'_>> = asked
                .iter()
                .map(|labels| Lane {
                    labels,
                    costs: (1.0, 0.7),
                    start: None,
                    keeps_duals: true,
                })
                .collect();
            let full = solve_side_by_side::<4, _>(&whole, &cold, loss, &TIGHT, seed);
            let warm: Vec<Lane<'_>> = cold
                .iter()
                .zip(&full)
                .map(|(lane, full)| Lane {
                    start: Some(&full.duals),
                    ..*lane
                })
                .collect();
            let warm_ends = solve_side_by_side::<4, _>(&part, &warm, loss, &TIGHT, seed);
            for (lane, warm_end) in cold.iter().zip(&warm_ends) {
                let [alone] = solve_side_by_side::<1, _>(&part, &[*lane], loss, &TIGHT, seed + 1)
                    .try_into()
                    .unwrap();
                assert!(warm_end.convergence.converged && alone.convergence.converged);
                let ratio = warm_end.convergence.objective / alone.convergence.objective;
                assert!((ratio - 1.0).abs() < 3e-6, "{ratio}");
            }
        }
    }

    #[test]
    fn warm_or_cold_alone_or_side_by_side_the_objective_is_the_same() {
        check_warm_starts_and_lanes(HingeLossDual(HingeLoss::Hinge));
        check_warm_starts_and_lanes(HingeLossDual(HingeLoss::SquaredHinge));
        check_warm_starts_and_lanes(LogisticLossDual);
    }

    #[test]
    fn giving_up_is_said() {
        let labels = random_labels(3);
        let rows = random_rows(3, &labels);
        let squared_norms: Vec<f64> = rows.rows().map(|row| row.squared_norm()).collect();
        let weights = [1.0; 120];
        let problem = LinearProblem {
            rows: &rows,
            squared_norms: &squared_norms,
            weights: &weights,
            members: None,
            constant: 1.0,
        };
        let lane = Lane {
            labels: &|row| labels[row],
            costs: (100.0, 100.0),
            start: None,
            keeps_duals: false,
        };
        let limits = SolverLimits {
            relative_gap: 1e-9,
            max_passes: 2,
        };
        let solved = solve_side_by_side::<1, _>(
            &problem,
            &[lane],
            HingeLossDual(HingeLoss::Hinge),
            &limits,
            1,
        );
        let end = solved[0].convergence;
        assert!(!end.converged && end.passes == 2 && end.relative_gap > 1e-9);
        // Asked before each pass, and told no before the second.
        let loss = HingeLossDual(HingeLoss::Hinge);
        let ended = EndsAfter::questions(1);
        let ended = solve_while_wanted::<1, _>(&problem, &[lane], loss, &limits, 1, &ended);
        assert_eq!(ended.err(), Some(Cancelled));
    }
}
