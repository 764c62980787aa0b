//! About the curvature of the loss of a curve and its lines.

use super::cells::Cell;
use super::parameters::{Penalty, Shape};
use crate::parallel;
use crate::solvers::sum_in_parts;

/// Probabilities below this do not enter the coupling of classes, and those below [`SEEN`] not the curvature at all: it
/// guides the steps, no more.
const COUPLED: f64 = 1e-3;
const SEEN: f64 = 1e-5;

/// What the Hessian is made of.
///
/// # Formula
/// ```text
/// H = Σ_cells v φ φᵀ - Σ_rows w m mᵀ,     m = Σ_c p_c φ_c
/// ```
/// `v` is `w p` where classes exclude each other (and the second sum couples them), else `w p (1-p)` without
/// a second sum. `φ` of a cell is the two knots around the score, the score itself and a one for the class.
pub(super) struct Curvature {
    shape: Shape,
    /// The first sum between knots.
    knots: Vec<f64>,
    /// The first sum between knots and the slope and intercept of each class.
    between: Vec<[f64; 2]>,
    /// The first sum of each class: of squares, of scores, of ones.
    classes: Vec<[f64; 3]>,
    /// The same with `p (1-p)`: a class as if it were alone.
    pub(super) alone: Vec<[f64; 3]>,
    /// The second sum between knots.
    knots_coupled: Vec<f64>,
    coupling: Coupling,
    buffer: MeanBuffers,
}

/// Buffers for one row.
#[derive(Default)]
struct MeanBuffers {
    cells: Vec<(Cell, f32)>,
    knots: Vec<f64>,
    mean: Vec<(usize, f64)>,
}

/// The second sum.
enum Coupling {
    /// As a matrix, of which entries from the diagonal down are filled: where there are few classes.
    Matrix(Vec<f64>),
    /// As what it is made of.
    Rows(CoupledRows),
}

/// The likelier classes of each row with their probabilities.
#[derive(Default)]
struct CoupledRows {
    cells: Vec<(Cell, f32)>,
    /// Where each row ends, and its weight.
    rows: Vec<(usize, f64)>,
}

impl CoupledRows {
    fn row(&self, row: usize) -> (&[(Cell, f32)], f64) {
        let first = row.checked_sub(1).map_or(0, |before| self.rows[before].0);
        let (end, weight) = self.rows[row];
        (&self.cells[first..end], weight)
    }

    fn add(&mut self, other: &Self) {
        let before = self.cells.len();
        self.cells.extend_from_slice(&other.cells);
        let rows = other.rows.iter();
        self.rows
            .extend(rows.map(|(end, weight)| (before + end, *weight)));
    }

    /// Whether a matrix of all pairs is made sooner than the rows are looked at again for a few steps.
    fn is_sparse(&self) -> bool {
        let pairs: usize = (0..self.rows.len())
            .map(|row| self.row(row).0.len().pow(2))
            .sum();
        pairs <= FEW * self.cells.len()
    }
}

impl Curvature {
    pub(super) fn zero(shape: Shape) -> Self {
        let (knots, classes) = (shape.knots, shape.classes);
        Self {
            shape,
            knots: vec![0.0; knots * knots],
            between: vec![[0.0; 2]; knots * classes],
            classes: vec![[0.0; 3]; classes],
            alone: vec![[0.0; 3]; classes],
            knots_coupled: vec![0.0; knots * knots],
            coupling: match classes <= FEW {
                true => Coupling::Matrix(vec![0.0; shape.len() * shape.len()]),
                false => Coupling::Rows(CoupledRows::default()),
            },
            buffer: MeanBuffers::default(),
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        add(&mut self.knots, &other.knots);
        add(
            self.between.as_flattened_mut(),
            other.between.as_flattened(),
        );
        add(
            self.classes.as_flattened_mut(),
            other.classes.as_flattened(),
        );
        add(self.alone.as_flattened_mut(), other.alone.as_flattened());
        add(&mut self.knots_coupled, &other.knots_coupled);
        match (&mut self.coupling, &other.coupling) {
            (Coupling::Matrix(sum), Coupling::Matrix(more)) => add(sum, more),
            (Coupling::Rows(rows), Coupling::Rows(more)) => rows.add(more),
            // The number of classes decides which it is.
            (Coupling::Matrix(_), Coupling::Rows(_)) | (Coupling::Rows(_), Coupling::Matrix(_)) => {
            }
        }
    }

    /// Adds `curve · φ φᵀ` of one cell.
    #[inline]
    pub(super) fn add_cell(&mut self, cell: &Cell, curve: f64, alone: f64) {
        let (piece, class) = (cell.piece as usize, cell.class as usize);
        let (x, along) = (f64::from(cell.x), f64::from(cell.along));
        let (near, far) = (curve * (1.0 - along), curve * along);
        let count = self.shape.knots;
        let knots = &mut self.knots;
        knots[piece * count + piece] += near * (1.0 - along);
        knots[(piece + 1) * count + piece] += near * along;
        knots[(piece + 1) * count + piece + 1] += far * along;
        let between = &mut self.between[class * count + piece..][..2];
        between[0][0] += near * x;
        between[0][1] += near;
        between[1][0] += far * x;
        between[1][1] += far;
        for (sums, curve) in [(&mut self.classes, curve), (&mut self.alone, alone)] {
            let sums = &mut sums[class];
            sums[0] += curve * x * x;
            sums[1] += curve * x;
            sums[2] += curve;
        }
    }

    /// Adds a row whose classes exclude each other, of these probabilities. `mean` is a buffer with one number per knot.
    pub(super) fn add_row(&mut self, row: &[Cell], weight: f64, p: &[f64], mean: &mut [f64]) {
        mean.fill(0.0);
        self.buffer.cells.clear();
        for (cell, &p) in row.iter().zip(p) {
            if p > SEEN {
                let curve = weight * p;
                self.add_cell(cell, curve, curve * (1.0 - p).max(0.0));
            }
            if p > COUPLED {
                self.buffer.cells.push((*cell, p as f32));
                let (piece, along) = (cell.piece as usize, f64::from(cell.along));
                mean[piece] += p * (1.0 - along);
                mean[piece + 1] += p * along;
            }
        }
        for (i, &one) in mean.iter().enumerate().filter(|(_, mean)| **mean != 0.0) {
            let sums = &mut self.knots_coupled[i * self.shape.knots..];
            for (sum, &other) in sums.iter_mut().zip(&mean[..=i]) {
                *sum += weight * one * other;
            }
        }
        match &mut self.coupling {
            Coupling::Matrix(sum) => self.buffer.add_to(sum, self.shape, weight),
            Coupling::Rows(rows) => {
                rows.cells.extend_from_slice(&self.buffer.cells);
                rows.rows.push((rows.cells.len(), weight));
            }
        }
    }

    /// The curvature between knots, the penalty's part included.
    pub(super) fn between_knots(&self, penalty: &Penalty) -> Vec<f64> {
        let sums = self.knots.iter().zip(&self.knots_coupled);
        let sums = sums.zip(penalty.knots());
        sums.map(|((first, second), held)| first - second + held)
            .collect()
    }
}

fn add(to: &mut [f64], from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

/// The Hessian, the penalty's part included.
pub(super) struct Hessian<'a> {
    curvature: &'a Curvature,
    penalty: &'a Penalty,
    /// The second sum, row after row, where there are few enough parameters.
    coupling: Option<Vec<f64>>,
}

/// With more parameters a matrix would take longer than looking at the rows again.
const MOST_PARAMETERS: usize = 512;
/// So many likely classes a row make a matrix worth its time.
const FEW: usize = 16;
/// Parts of the rows whose sums are added, whatever the number of threads.
const PARTS: usize = 8;

impl<'a> Hessian<'a> {
    pub(super) fn new(curvature: &'a Curvature, penalty: &'a Penalty) -> Self {
        let shape = curvature.shape;
        let coupling = match &curvature.coupling {
            Coupling::Matrix(sum) => Some(sum.clone()),
            Coupling::Rows(rows) => {
                let small = shape.len() <= MOST_PARAMETERS && !rows.rows.is_empty();
                (small && rows.is_sparse()).then(|| rows.matrix(shape))
            }
        };
        Self {
            curvature,
            penalty,
            coupling: coupling.map(|sum| mirrored(sum, shape.len())),
        }
    }

    /// The Hessian times a direction.
    pub(super) fn times(&self, direction: &[f64]) -> Vec<f64> {
        let mut out = self.penalty.times(direction);
        self.curvature.add_first_sum(direction, &mut out);
        match &self.coupling {
            Some(matrix) => {
                let rows = matrix.chunks_exact(direction.len());
                for (row, &along) in rows.zip(direction) {
                    let each = out.iter_mut().zip(row);
                    each.for_each(|(out, entry)| *out -= along * entry);
                }
            }
            None => {
                if let Coupling::Rows(rows) = &self.curvature.coupling {
                    let coupling = rows.times(self.curvature.shape, direction);
                    let each = out.iter_mut().zip(&coupling);
                    each.for_each(|(out, coupling)| *out -= coupling);
                }
            }
        }
        out
    }
}

impl Curvature {
    /// Adds the first sum times a direction.
    fn add_first_sum(&self, direction: &[f64], out: &mut [f64]) {
        let shape = self.shape;
        for (i, out) in out[..shape.knots].iter_mut().enumerate() {
            for (j, direction) in direction[..shape.knots].iter().enumerate() {
                *out += self.knots[i.max(j) * shape.knots + i.min(j)] * direction;
            }
        }
        for class in 0..shape.classes {
            let place = shape.class(class);
            let [squares, scores, ones] = self.classes[class];
            let (slope, intercept) = (direction[place], direction[place + 1]);
            out[place] += squares * slope + scores * intercept;
            out[place + 1] += scores * slope + ones * intercept;
            let between = &self.between[class * shape.knots..][..shape.knots];
            for (knot, [score, one]) in between.iter().enumerate() {
                out[knot] += score * slope + one * intercept;
                out[place] += score * direction[knot];
                out[place + 1] += one * direction[knot];
            }
        }
    }
}

impl CoupledRows {
    /// The second sum times a direction.
    fn times(&self, shape: Shape, direction: &[f64]) -> Vec<f64> {
        sum_in_parts(
            self.rows.len(),
            || vec![0.0; direction.len()],
            |sum, rows| {
                for (row, weight) in rows.map(|row| self.row(row)) {
                    let along =
                        |(cell, p): &(Cell, f32)| f64::from(*p) * cell.log_weight(shape, direction);
                    let pull = weight * row.iter().map(along).sum::<f64>();
                    for (cell, p) in row {
                        cell.add(shape, pull * f64::from(*p), sum);
                    }
                }
            },
            |total, part| add(total, &part),
        )
    }

    /// The second sum as a matrix, from the diagonal down.
    fn matrix(&self, shape: Shape) -> Vec<f64> {
        let width = shape.len();
        let count = self.rows.len();
        let size = count.div_ceil(PARTS).max(1);
        let parts = parallel::map_ranges(count, size, |rows| {
            let mut sum = vec![0.0; width * width];
            let mut buffer = MeanBuffers::default();
            for row in rows {
                let (cells, weight) = self.row(row);
                buffer.cells.clear();
                buffer.cells.extend_from_slice(cells);
                buffer.add_to(&mut sum, shape, weight);
            }
            sum
        });
        let mut sum = vec![0.0; width * width];
        parts.iter().for_each(|part| add(&mut sum, part));
        sum
    }
}

impl MeanBuffers {
    /// Adds `w m mᵀ` of the row, from the diagonal down.
    fn add_to(&mut self, sum: &mut [f64], shape: Shape, weight: f64) {
        self.knots.resize(shape.knots, 0.0);
        mean_of(&self.cells, shape, &mut self.knots, &mut self.mean);
        for (place, &(i, one)) in self.mean.iter().enumerate() {
            let entries = &mut sum[i * shape.len()..][..shape.len()];
            let one = weight * one;
            for &(j, other) in &self.mean[..=place] {
                entries[j] += one * other;
            }
        }
    }
}

/// A symmetric matrix that is filled from the diagonal down, filled.
fn mirrored(mut matrix: Vec<f64>, width: usize) -> Vec<f64> {
    for i in 0..width {
        for j in 0..i {
            matrix[j * width + i] = matrix[i * width + j];
        }
    }
    matrix
}

/// The entries of `m` of a row that are not zero, by rising place.
fn mean_of(cells: &[(Cell, f32)], shape: Shape, knots: &mut [f64], mean: &mut Vec<(usize, f64)>) {
    knots.fill(0.0);
    mean.clear();
    for (cell, p) in cells {
        let (piece, later) = (cell.piece as usize, f64::from(*p) * f64::from(cell.along));
        knots[piece] += f64::from(*p) - later;
        knots[piece + 1] += later;
    }
    let knots = knots.iter().copied().enumerate();
    mean.extend(knots.filter(|(_, mass)| *mass != 0.0));
    for (cell, p) in cells {
        let (place, p) = (shape.class(cell.class as usize), f64::from(*p));
        mean.push((place, p * f64::from(cell.x)));
        mean.push((place + 1, p));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::class_scores::shared_curve::parameters::{Spreads, Tilt};
    use crate::numeric::Random;

    #[test]
    fn the_matrix_does_what_the_rows_do() {
        let shape = Shape {
            knots: 4,
            classes: 6,
        };
        let knots = [-3.0, -1.0, 1.0, 3.0];
        let spreads = Spreads {
            bends: 0.7,
            slopes: 0.4,
            intercepts: 0.9,
        };
        let tilt = Tilt {
            slope: 1.0,
            spread: 1.0,
        };
        let penalty = Penalty::new(&knots, shape.classes, spreads, tilt);
        let mut random = Random::from_seed(3);
        let mut matrix = Curvature::zero(shape);
        let mut rows = Curvature::zero(shape);
        rows.coupling = Coupling::Rows(CoupledRows::default());
        for _ in 0..50 {
            let row: Vec<Cell> = (0..6)
                .map(|class| Cell {
                    class,
                    piece: random.below(3) as u32,
                    x: random.normal() as f32,
                    along: random.uniform() as f32,
                    stands_for: 1.0,
                })
                .collect();
            let p: Vec<f64> = (0..6).map(|_| random.uniform() / 6.0).collect();
            let weight = 0.5 + random.uniform();
            for curvature in [&mut matrix, &mut rows] {
                curvature.add_row(&row, weight, &p, &mut [0.0; 4]);
            }
        }
        let direction: Vec<f64> = (0..shape.len()).map(|_| random.normal()).collect();
        let of_rows = Hessian {
            coupling: None,
            ..Hessian::new(&rows, &penalty)
        };
        let expected = of_rows.times(&direction);
        for curvature in [&matrix, &rows] {
            let found = Hessian::new(curvature, &penalty).times(&direction);
            for (a, b) in found.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} {b}");
            }
        }
        let (curvature, matrix) = (&matrix, Hessian::new(&matrix, &penalty));
        // Between knots, too.
        let at = curvature.between_knots(&penalty);
        let mut unit = vec![0.0; shape.len()];
        unit[1] = 1.0;
        let column = matrix.times(&unit);
        // There what slopes have in common stays as it is.
        let pull = penalty.mean_pull();
        let common = pull[3] * pull[1] / penalty.mean_strength();
        assert!((at[3 * 4 + 1] - common - column[3]).abs() < 1e-9);
    }
}
