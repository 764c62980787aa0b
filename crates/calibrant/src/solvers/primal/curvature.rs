//! How the objective bends, by a sample of the rows.

use rayon::prelude::*;

use super::evaluate::Point;
use super::kernels::{TOGETHER, Work, add_four_twice, run_wide};
use super::{PrimalOutput, PrimalProblem};

/// With more columns the curvature of each column by itself is all that is used.
const MOST_COLUMNS: usize = 1024;
/// Rows that the curvature of single columns is estimated by.
const FEW_ROWS: usize = 1024;
/// Rows of the sample for each column, so that it bends in all directions about as all rows do.
const ROWS_A_COLUMN: usize = 4;
/// Columns whose products are summed up together, so that rows are read less often.
const COLUMNS_AT_ONCE: usize = 4;
/// Numbers that are worked on at once.
const LANES: usize = 16;
/// After so many rows sums of four bytes are added to those of eight.
const ROWS_A_SUM: usize = 512;

/// The curvature `I + Σ C_i loss'' x_i x_iᵀ`, about as a sample of the rows has it.
pub(super) struct Curvature<'a> {
    problem: &'a PrimalProblem<'a>,
    /// The mean cost of all problems.
    cost: f64,
    width: usize,
    constant: f64,
    /// Of each column by itself, and of the constant, where all margins are zero.
    columns: Vec<f64>,
    /// Of all columns together, as a lower triangle `L` with `L Lᵀ` equal to it, row after row.
    lower: Option<Vec<f64>>,
}

/// Rows that stand for all, each with how much it bends the objective.
struct Sample {
    rows: Vec<(usize, f64)>,
}

impl<'a> Curvature<'a> {
    pub(super) fn new(
        problem: &'a PrimalProblem<'a>,
        outputs: &[PrimalOutput<'_>],
        column_count: usize,
    ) -> Self {
        let costs = outputs
            .iter()
            .map(|output| 0.5 * (output.costs.0 + output.costs.1));
        let free = problem.constant.is_infinite();
        let mut curvature = Self {
            problem,
            cost: costs.sum::<f64>() / outputs.len().max(1) as f64,
            width: column_count + 1,
            constant: if free { 1.0 } else { problem.constant },
            columns: vec![1.0; column_count + 1],
            lower: None,
        };
        if free {
            curvature.columns[column_count] = 1e-9;
        }
        for (row, weight) in curvature.at_zero().rows {
            let columns = &mut curvature.columns;
            problem.rows.for_each_entry(row, &mut |column, value| {
                columns[column] += weight * value * value;
            });
            columns[column_count] += weight * curvature.constant * curvature.constant;
        }
        curvature
    }

    /// About so many rows, evenly from all.
    fn sample(&self, wanted: usize, bends: impl Fn(usize) -> f64 + Sync) -> Sample {
        let members = self.problem.members;
        let count = members.map_or(self.problem.rows.row_count(), <[u32]>::len);
        let step = (count / wanted).max(1);
        let places = (0..count).step_by(step);
        let share = count as f64 / count.div_ceil(step).max(1) as f64;
        let rows = places.map(|place| members.map_or(place, |members| members[place] as usize));
        let weight = |row: usize| self.problem.weights.get(row).copied().unwrap_or(1.0);
        let rows = rows.map(|row| (row, self.cost * share * weight(row) * bends(row)));
        Sample {
            rows: rows.collect(),
        }
    }

    fn at_zero(&self) -> Sample {
        let bend = self.problem.loss.curvature(0.0);
        self.sample(FEW_ROWS, |_| bend)
    }

    /// The factor by which a first step along a direction leads to the lowest point, if the objective bends as it does where all
    /// margins are zero.
    pub(super) fn first_length(&self, gradient: &[f64], direction: &[f64]) -> f64 {
        let (weights, bias) = direction.split_at(self.width - 1);
        let mut bend: f64 = direction.iter().map(|entry| entry * entry).sum();
        for (row, weight) in self.at_zero().rows {
            let along = self.problem.rows.dot(row, weights) + self.constant * bias[0];
            bend += weight * along * along;
        }
        let slope: f64 = gradient.iter().zip(direction).map(|(g, d)| g * d).sum();
        if bend > 0.0 { -slope / bend } else { 1.0 }
    }

    /// Whether it is worth while to look at all columns together.
    pub(super) fn can_be_refined(&self) -> bool {
        self.lower.is_none()
            && self.width <= MOST_COLUMNS + 1
            && self.problem.rows.as_dense().is_some()
    }

    /// Looks at all columns together, as the objectives bend on average at these points.
    pub(super) fn refine(&mut self, points: &[&Point]) {
        let (columns, constant) = (self.width - 1, self.constant);
        let bends = |row: usize| {
            let of = |point: &&Point| {
                let score = self.problem.rows.dot(row, &point[..columns]);
                self.problem
                    .loss
                    .curvature(score + constant * point[columns])
            };
            points.iter().map(of).sum::<f64>() / points.len() as f64
        };
        let sample = self.sample(ROWS_A_COLUMN * self.width, bends);
        self.lower = cholesky(self.whole(&sample), self.width);
    }

    /// How it bends along the constant.
    pub(super) fn of_bias(&self) -> f64 {
        self.columns[self.width - 1]
    }

    /// Divides a vector by the curvature.
    pub(super) fn solve(&self, vector: &mut [f64]) {
        match &self.lower {
            Some(lower) => solve_triangles(lower, vector),
            None => {
                let entries = vector.iter_mut().zip(&self.columns);
                entries.for_each(|(entry, column)| *entry /= column);
            }
        }
    }

    /// The lower triangle, rows of full width.
    fn whole(&self, sample: &Sample) -> Vec<f64> {
        let width = self.width;
        // Rows as if each bent the objective by one; zeros fill up rows and their number to what is worked on at once.
        let stride = (width + 1).next_multiple_of(LANES);
        let count = sample.rows.len().next_multiple_of(TOGETHER);
        let mut rows = vec![0f32; count * stride];
        rows.par_chunks_mut(stride)
            .zip(&sample.rows)
            .for_each(|(values, &(row, weight))| {
                let root = weight.sqrt();
                self.problem.rows.for_each_entry(row, &mut |column, value| {
                    values[column] = (root * value) as f32;
                });
                values[width - 1] = (root * self.constant) as f32;
            });
        let free = self.problem.constant.is_infinite();
        let mut whole = vec![0f64; width * width];
        whole
            .par_chunks_mut(width * COLUMNS_AT_ONCE)
            .enumerate()
            .for_each(|(block, sums)| {
                let first = block * COLUMNS_AT_ONCE;
                run_wide(Products {
                    rows: &rows,
                    stride,
                    width,
                    first,
                    sums: &mut *sums,
                });
                for (place, sums) in sums.chunks_exact_mut(width).enumerate() {
                    let column = first + place;
                    sums[column] += if free && column + 1 == width {
                        1e-9
                    } else {
                        1.0
                    };
                }
            });
        whole
    }
}

/// The products of some columns with all that do not come behind them.
struct Products<'a> {
    rows: &'a [f32],
    stride: usize,
    width: usize,
    first: usize,
    sums: &'a mut [f64],
}

impl Work for Products<'_> {
    #[inline(always)]
    fn run(self) {
        let columns = self.sums.len() / self.width;
        // Of two columns at a time; the constant may be alone.
        let mut parts = vec![0f32; columns.next_multiple_of(2) * self.stride];
        for rows in self.rows.chunks(ROWS_A_SUM * self.stride) {
            for four in rows.chunks_exact(TOGETHER * self.stride) {
                let row = |place: usize| &four[place * self.stride..][..self.stride];
                for (pair, parts) in parts.chunks_exact_mut(2 * self.stride).enumerate() {
                    let column = self.first + 2 * pair;
                    let end = (column + 2).next_multiple_of(LANES).min(self.stride);
                    let factors = [column, column + 1]
                        .map(|column| std::array::from_fn(|number| row(number)[column]));
                    let rows = std::array::from_fn(|number| &row(number)[..end]);
                    let (own, next) = parts.split_at_mut(self.stride);
                    add_four_twice::<f32, 8>(rows, factors, [&mut own[..end], &mut next[..end]]);
                }
            }
            let sums = self.sums.chunks_exact_mut(self.width);
            for (sums, parts) in sums.zip(parts.chunks_exact_mut(self.stride)) {
                for (sum, part) in sums.iter_mut().zip(&mut *parts) {
                    *sum += f64::from(*part);
                }
                parts.fill(0.0);
            }
        }
    }
}

/// `Σ a b` in eight parts.
#[inline(always)]
fn product(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (first, last) = a.as_chunks::<8>();
    let (other, other_last) = b.as_chunks::<8>();
    for (a, b) in first.iter().zip(other) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = last.iter().zip(other_last).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

/// `L` in place of the lower triangle of `L Lᵀ`; `None` where it is not positive.
fn cholesky(mut matrix: Vec<f64>, width: usize) -> Option<Vec<f64>> {
    let mut positive = true;
    run_wide(Decomposition {
        matrix: &mut matrix,
        width,
        positive: &mut positive,
    });
    positive.then_some(matrix)
}

struct Decomposition<'a> {
    matrix: &'a mut [f64],
    width: usize,
    positive: &'a mut bool,
}

impl Work for Decomposition<'_> {
    #[inline(always)]
    fn run(self) {
        let width = self.width;
        for row in 0..width {
            let (above, own) = self.matrix.split_at_mut(row * width);
            let own = &mut own[..width];
            for column in 0..row {
                let other = &above[column * width..][..width];
                let sum = own[column] - product(&own[..column], &other[..column]);
                own[column] = sum / other[column];
            }
            let left = own[row] - product(&own[..row], &own[..row]);
            if !(left > 0.0 && left.is_finite()) {
                *self.positive = false;
                return;
            }
            own[row] = left.sqrt();
        }
    }
}

/// Solves `L Lᵀ x = b`.
fn solve_triangles(lower: &[f64], vector: &mut [f64]) {
    let width = vector.len();
    for row in 0..width {
        let own = &lower[row * width..][..width];
        vector[row] = (vector[row] - product(&own[..row], &vector[..row])) / own[row];
    }
    for row in (0..width).rev() {
        let own = &lower[row * width..][..width];
        let value = vector[row] / own[row];
        vector[row] = value;
        for (entry, factor) in vector[..row].iter_mut().zip(own) {
            *entry -= factor * value;
        }
    }
}
