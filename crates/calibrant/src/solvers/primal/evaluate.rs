//! The objective of smooth problems, with its gradient, in one pass over the rows.

use rayon::prelude::*;

use super::kernels::{Real, TOGETHER, Work, add_four, dot_four, run_wide};
use super::{PrimalOutput, PrimalProblem};
use crate::features::{DenseValues, DenseView};

/// Most blocks that rows are cut into.
const MOST_BLOCKS: usize = 64;
/// Numbers that the gradients of all blocks may have together.
const MOST_SUMS: usize = 1 << 22;
/// After so many rows sums of four bytes are added to those of eight.
const ROWS_A_SUM: usize = 256;

/// A loss that has a slope everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmoothLoss {
    /// `ln(1 + e^-m)`.
    Logistic,
    /// `max(0, 1 - m)²`.
    SquaredHinge,
}

impl SmoothLoss {
    /// The loss of a margin and its slope.
    ///
    /// By hand: the logistic loss of 0 is ln 2 with slope -1/2; the squared hinge of -1 is 4 with slope -4.
    #[inline]
    pub(super) fn value_and_slope(self, margin: f64) -> (f64, f64) {
        match self {
            Self::Logistic => {
                let small = (-margin.abs()).exp();
                let of_one = 1.0 / (1.0 + small);
                let against = if margin >= 0.0 {
                    small * of_one
                } else {
                    of_one
                };
                ((-margin).max(0.0) + small.ln_1p(), -against)
            }
            Self::SquaredHinge => {
                // What is no number stays none, which `max` would hide.
                let slack = if margin > 1.0 { 0.0 } else { 1.0 - margin };
                (slack * slack, -2.0 * slack)
            }
        }
    }

    /// The slope of the loss at a margin.
    pub(crate) fn slope(self, margin: f64) -> f64 {
        self.value_and_slope(margin).1
    }

    /// The slope of the slope where the score is this: it does not depend on the sign where it is near zero, and the sign is not asked for.
    pub(super) fn curvature(self, score: f64) -> f64 {
        match self {
            Self::Logistic => {
                let small = (-score.abs()).exp();
                small / ((1.0 + small) * (1.0 + small))
            }
            // Between the margins both sides bend it; beyond, one of them, as rarely as errors are made.
            Self::SquaredHinge if score.abs() < 1.0 => 2.0,
            Self::SquaredHinge => 0.1,
        }
    }
}

/// Weights of all columns, and of the constant behind them.
pub(super) type Point = Vec<f64>;

/// Value and gradient at a point.
pub(super) struct Evaluated {
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
}

/// The objectives of several problems over the same rows.
pub(super) struct Objective<'a> {
    problem: &'a PrimalProblem<'a>,
    outputs: &'a [PrimalOutput<'a>],
    dense: Option<DenseView<'a>>,
    column_count: usize,
    member_count: usize,
}

impl<'a> Objective<'a> {
    pub(super) fn new(problem: &'a PrimalProblem<'a>, outputs: &'a [PrimalOutput<'a>]) -> Self {
        let member_count = problem.members.map(<[u32]>::len);
        Self {
            problem,
            outputs,
            dense: problem.rows.as_dense(),
            column_count: problem.rows.column_count(),
            member_count: member_count.unwrap_or(problem.rows.row_count()),
        }
    }

    pub(super) fn column_count(&self) -> usize {
        self.column_count
    }

    /// The value of the constant feature: the bias is that times its weight.
    fn constant(&self) -> f64 {
        if self.is_free() {
            1.0
        } else {
            self.problem.constant
        }
    }

    /// Whether the bias is not regularised.
    pub(super) fn is_free(&self) -> bool {
        self.problem.constant.is_infinite()
    }

    pub(super) fn start(&self, given: Option<(&[f64], f64)>) -> Point {
        let Some((weights, bias)) = given else {
            return vec![0.0; self.column_count + 1];
        };
        let mut point = weights.to_vec();
        let constant = self.constant();
        point.push(if constant == 0.0 {
            0.0
        } else {
            bias / constant
        });
        point
    }

    pub(super) fn weights_and_bias(&self, mut point: Point) -> (Vec<f64>, f64) {
        let bias = point.pop().unwrap_or_default() * self.constant();
        (point, bias)
    }

    /// Values and gradients of some problems at a point each.
    pub(super) fn evaluate(&self, points: &[(usize, &Point)]) -> Vec<Evaluated> {
        let width = self.column_count + 1;
        let most = (MOST_SUMS / (width * points.len())).clamp(1, MOST_BLOCKS);
        let length = self.member_count.div_ceil(most).max(ROWS_A_SUM);
        let length = length.next_multiple_of(TOGETHER);
        let blocks = self.member_count.div_ceil(length);
        let one = |block: usize| {
            let end = (block + 1) * length;
            self.block(points, block * length..end.min(self.member_count))
        };
        let mut whole = BlockSums::zeros(points.len(), width);
        let parts: Vec<BlockSums> = (0..blocks).into_par_iter().map(one).collect();
        parts.iter().for_each(|part| whole.add(part));
        let constant = self.constant();
        let gradients = whole.gradients.chunks_exact(width);
        let sums = whole.values.iter().zip(gradients).zip(points);
        sums.map(|((loss, gradient), &(_, point))| {
            let mut gradient = gradient.to_vec();
            gradient[self.column_count] *= constant;
            let last = if self.is_free() {
                self.column_count
            } else {
                width
            };
            let mut regular = 0.0;
            for (slope, weight) in gradient[..last].iter_mut().zip(point) {
                *slope += weight;
                regular += 0.5 * weight * weight;
            }
            Evaluated {
                value: regular + loss,
                gradient,
            }
        })
        .collect()
    }

    fn block(&self, points: &[(usize, &Point)], range: std::ops::Range<usize>) -> BlockSums {
        let mut sums = BlockSums::zeros(points.len(), self.column_count + 1);
        match self.dense.map(|view| (view.values, view)) {
            Some((DenseValues::Single(values), view)) => {
                self.dense_block::<f32, 8>(values, view, points, range, &mut sums);
            }
            Some((DenseValues::Double(values), view)) => {
                self.dense_block::<f64, 4>(values, view, points, range, &mut sums);
            }
            None => self.any_block(points, range, &mut sums),
        }
        sums
    }

    #[inline]
    fn member(&self, place: usize) -> usize {
        self.problem
            .members
            .map_or(place, |members| members[place] as usize)
    }

    /// What a row of this score costs a problem, and the slope of that in the score.
    #[inline]
    fn loss(&self, output: usize, row: usize, score: f64) -> (f64, f64) {
        let PrimalOutput { labels, costs, .. } = self.outputs[output];
        let (sign, cost) = if labels(row) {
            (1.0, costs.0)
        } else {
            (-1.0, costs.1)
        };
        let cost = cost * self.problem.weights.get(row).copied().unwrap_or(1.0);
        let (value, slope) = self.problem.loss.value_and_slope(sign * score);
        (cost * value, cost * slope * sign)
    }

    fn dense_block<V: Real, const LANES: usize>(
        &self,
        values: &[V],
        view: DenseView<'_>,
        points: &[(usize, &Point)],
        range: std::ops::Range<usize>,
        sums: &mut BlockSums,
    ) {
        let weights = points
            .iter()
            .flat_map(|(_, point)| &point[..self.column_count]);
        run_wide(DenseBlock::<V, LANES> {
            objective: self,
            values,
            view,
            points,
            weights: weights.map(|&weight| V::of(weight)).collect(),
            range,
            sums,
        });
    }

    /// Rows of any kind, one after the other.
    fn any_block(
        &self,
        points: &[(usize, &Point)],
        range: std::ops::Range<usize>,
        sums: &mut BlockSums,
    ) {
        let (columns, constant) = (self.column_count, self.constant());
        for row in range.map(|place| self.member(place)) {
            let gradients = sums.gradients.chunks_exact_mut(columns + 1);
            for ((&(output, point), gradient), value) in
                points.iter().zip(gradients).zip(&mut sums.values)
            {
                let score = self.problem.rows.dot(row, &point[..columns]);
                let (loss, slope) = self.loss(output, row, score + constant * point[columns]);
                *value += loss;
                self.problem.rows.add(row, slope, &mut gradient[..columns]);
                gradient[columns] += slope;
            }
        }
    }
}

/// Losses and gradients of some rows, problem after problem.
struct BlockSums {
    values: Vec<f64>,
    gradients: Vec<f64>,
}

impl BlockSums {
    fn zeros(outputs: usize, width: usize) -> Self {
        Self {
            values: vec![0.0; outputs],
            gradients: vec![0.0; outputs * width],
        }
    }

    fn add(&mut self, other: &Self) {
        let all = self.values.iter_mut().chain(&mut self.gradients);
        let others = other.values.iter().chain(&other.gradients);
        all.zip(others).for_each(|(sum, part)| *sum += part);
    }
}

/// A block of dense rows: scores, losses and gradients of four rows at a time.
struct DenseBlock<'b, V, const LANES: usize> {
    objective: &'b Objective<'b>,
    values: &'b [V],
    view: DenseView<'b>,
    points: &'b [(usize, &'b Point)],
    weights: Vec<V>,
    range: std::ops::Range<usize>,
    sums: &'b mut BlockSums,
}

impl<V: Real, const LANES: usize> Work for DenseBlock<'_, V, LANES> {
    #[inline(always)]
    fn run(self) {
        let columns = self.view.column_count;
        let constant = self.objective.constant();
        let mut gradients = vec![V::ZERO; self.weights.len()];
        let places: Vec<usize> = self.range.clone().step_by(TOGETHER).collect();
        for places in places.chunks(ROWS_A_SUM / TOGETHER) {
            for &first in places {
                let count = (self.range.end - first).min(TOGETHER);
                let numbers: [usize; TOGETHER] = std::array::from_fn(|place| {
                    self.objective.member(first + place.min(count - 1))
                });
                let row = |row: usize| &self.values[self.view.offset(row)..][..columns];
                let rows = numbers.map(row);
                let next = first + TOGETHER;
                let coming = (next + TOGETHER <= self.range.end)
                    .then(|| std::array::from_fn(|place| row(self.objective.member(next + place))));
                for (number, &(output, point)) in self.points.iter().enumerate() {
                    let weights = &self.weights[number * columns..][..columns];
                    let scores = dot_four::<V, LANES>(rows, weights);
                    let bias = constant * point[columns];
                    let mut factors = [V::ZERO; TOGETHER];
                    for place in 0..count {
                        let row = numbers[place];
                        let (loss, slope) = self.objective.loss(output, row, scores[place] + bias);
                        self.sums.values[number] += loss;
                        self.sums.gradients[number * (columns + 1) + columns] += slope;
                        factors[place] = V::of(slope);
                    }
                    let gradient = &mut gradients[number * columns..][..columns];
                    add_four::<V, LANES>(rows, factors, gradient, coming.filter(|_| number == 0));
                }
            }
            let parts = gradients.chunks_exact_mut(columns.max(1));
            for (sums, parts) in self.sums.gradients.chunks_exact_mut(columns + 1).zip(parts) {
                for (sum, part) in sums.iter_mut().zip(parts) {
                    *sum += std::mem::replace(part, V::ZERO).wide();
                }
            }
        }
    }
}
