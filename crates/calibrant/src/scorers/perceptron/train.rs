//! The visits: which rows were on the wrong side, and when.

use crate::FitError;
use crate::features::LaneWeights;
use crate::numeric::Random;
use crate::parallel;
use crate::problem::Problem;

/// How many outputs learn side by side: a row is read once for all of them.
const LANES: usize = 4;

/// Rows to learn from.
pub(super) struct Examples<'a> {
    pub(super) problem: Problem<'a>,
    mean_weight: f64,
}

/// A row that was on the wrong side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mistake {
    /// The row.
    pub(super) row: u32,
    /// What it is added to the weights with: positive for a positive row.
    pub(super) step: f64,
    /// How many visits there were before.
    pub(super) at: u64,
}

/// All mistakes of an output.
#[derive(Debug, Clone, Default)]
pub(super) struct Mistakes {
    pub(super) list: Vec<Mistake>,
    /// How many visits there were.
    pub(super) visits: u64,
}

impl Mistakes {
    /// The mistakes with how many visits the weights stood that each of them led to.
    pub(super) fn stages(&self) -> impl Iterator<Item = (Mistake, f64)> {
        let ends = self.list.iter().skip(1).map(|mistake| mistake.at);
        self.list
            .iter()
            .zip(ends.chain([self.visits]))
            .map(|(&mistake, end)| (mistake, (end - mistake.at) as f64))
    }
}

impl<'a> Examples<'a> {
    pub(super) fn new(problem: &Problem<'a>) -> Result<Self, FitError> {
        let members = problem.members;
        let total: f64 = members
            .iter()
            .map(|&row| problem.weights[row as usize])
            .sum();
        let mean_weight = total / members.len().max(1) as f64;
        if !mean_weight.is_finite() {
            return Err(FitError::Overflow);
        }
        Ok(Self {
            problem: *problem,
            mean_weight,
        })
    }

    /// Visits the rows `epochs` times, for every output.
    pub(super) fn mistakes(&self, epochs: usize, seed: u64) -> Vec<Mistakes> {
        let outputs: Vec<usize> = (0..self.problem.labels.output_count()).collect();
        let blocks = parallel::map_chunks(&outputs, LANES, |outputs| match outputs.len() {
            1 => self.visit::<1>(outputs, epochs, seed),
            _ => self.visit::<LANES>(outputs, epochs, seed),
        });
        blocks.into_iter().flatten().collect()
    }

    /// Visits for up to `L` outputs. An epoch without a mistake is an output's last.
    fn visit<const L: usize>(&self, outputs: &[usize], epochs: usize, seed: u64) -> Vec<Mistakes> {
        let members_of: Vec<Vec<bool>> = outputs
            .iter()
            .map(|&output| {
                self.problem
                    .labels
                    .membership(self.problem.labels.class_of_output(output))
            })
            .collect();
        let mut found = vec![Mistakes::default(); outputs.len()];
        let mut finished = vec![false; outputs.len()];
        let mut weights = LaneWeights::<L>::zeros(self.problem.rows.column_count());
        let mut biases = [0f64; L];
        let mut random = Random::from_seed(seed);
        let mut order = self.problem.members.to_vec();
        let mut visits = 0;
        for _ in 0..epochs {
            if finished.iter().all(|&finished| finished) {
                break;
            }
            random.shuffle(&mut order);
            let before: Vec<usize> = found.iter().map(|mistakes| mistakes.list.len()).collect();
            for &row in &order {
                let view = self.problem.rows.row(row as usize);
                let margins = weights.dot(view);
                let mut steps = [0f64; L];
                for (lane, mistakes) in found.iter_mut().enumerate() {
                    let positive = members_of[lane][row as usize];
                    let margin = margins[lane] + biases[lane];
                    let right = if positive { margin > 0.0 } else { margin < 0.0 };
                    if right || finished[lane] {
                        continue;
                    }
                    let step = self.step(outputs[lane], row, positive);
                    steps[lane] = step;
                    biases[lane] += step;
                    let at = visits;
                    mistakes.list.push(Mistake { row, step, at });
                }
                if steps != [0.0; L] {
                    weights.add_scaled(steps, view);
                }
                visits += 1;
            }
            for (lane, mistakes) in found.iter_mut().enumerate() {
                if !finished[lane] {
                    mistakes.visits = visits;
                    finished[lane] = mistakes.list.len() == before[lane];
                }
            }
        }
        found
    }

    fn step(&self, output: usize, row: u32, positive: bool) -> f64 {
        let (more, less) = self.problem.factors.by_output[output];
        let size = self.problem.weights[row as usize] / self.mean_weight;
        if positive { more * size } else { -less * size }
    }
}
