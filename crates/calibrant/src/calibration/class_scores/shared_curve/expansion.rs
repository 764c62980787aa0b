//! The loss of a curve and its lines, with its slope and about its curvature.

use super::cells::{Cell, Cells, Link};
use super::parameters::{Penalty, Shape};
use crate::numeric::{sigmoid, softplus};
use crate::solvers::sum_in_parts;

/// Probabilities below this do not enter the coupling of classes: it guides the steps, no more.
const COUPLED: f64 = 1e-3;

/// The loss at a point, its gradient, and its curvature.
pub(super) struct Expansion {
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
    pub(super) curvature: Curvature,
}

/// What the Hessian is made of.
///
/// # Formula
/// ```text
/// H = Σ_cells v φ φᵀ - Σ_rows w m mᵀ,     m = Σ_c p_c φ_c
/// ```
/// `v` is `w p` where classes exclude each other (and the second sum couples them), else `w p (1-p)` without
/// a second sum. `φ` of a cell is the two knots around the score, the score itself and a one for the class.
pub(super) struct Curvature {
    /// The first sum between knots.
    knots: Vec<f64>,
    /// The first sum between knots and the slope and intercept of each class.
    between: Vec<[f64; 2]>,
    /// The first sum of each class: of squares, of scores, of ones.
    classes: Vec<[f64; 3]>,
    /// The same with `p (1-p)`: a class as if it were alone.
    pub(super) alone: Vec<[f64; 3]>,
    /// Both sums between knots.
    pub(super) knots_coupled: Vec<f64>,
    coupled: Vec<Coupled>,
}

/// The likelier classes of a row: which cell, and its probability.
struct Coupled {
    row: u32,
    weight: f64,
    cells: Vec<(u32, f32)>,
}

impl Cell {
    /// `φ·θ`.
    #[inline]
    pub(super) fn log_weight(&self, shape: Shape, parameters: &[f64]) -> f64 {
        let (piece, along) = (self.piece as usize, f64::from(self.along));
        let class = shape.class(self.class as usize);
        let curve = parameters[piece] + along * (parameters[piece + 1] - parameters[piece]);
        curve + parameters[class] * f64::from(self.x) + parameters[class + 1]
    }

    /// Adds `pull · φ`.
    #[inline]
    fn add(&self, shape: Shape, pull: f64, out: &mut [f64]) {
        let (piece, along) = (self.piece as usize, f64::from(self.along));
        let class = shape.class(self.class as usize);
        let later = pull * along;
        out[piece] += pull - later;
        out[piece + 1] += later;
        out[class] += pull * f64::from(self.x);
        out[class + 1] += pull;
    }
}

impl Curvature {
    fn zero(shape: Shape) -> Self {
        let (knots, classes) = (shape.knots, shape.classes);
        Self {
            knots: vec![0.0; knots * knots],
            between: vec![[0.0; 2]; knots * classes],
            classes: vec![[0.0; 3]; classes],
            alone: vec![[0.0; 3]; classes],
            knots_coupled: vec![0.0; knots * knots],
            coupled: Vec::new(),
        }
    }

    fn add(&mut self, other: Self) {
        let plus = |to: &mut [f64], from: &[f64]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        };
        plus(&mut self.knots, &other.knots);
        plus(
            self.between.as_flattened_mut(),
            other.between.as_flattened(),
        );
        plus(
            self.classes.as_flattened_mut(),
            other.classes.as_flattened(),
        );
        plus(self.alone.as_flattened_mut(), other.alone.as_flattened());
        plus(&mut self.knots_coupled, &other.knots_coupled);
        self.coupled.extend(other.coupled);
    }

    /// Adds `curve · φ φᵀ` of one cell.
    #[inline]
    fn add_cell(&mut self, shape: Shape, cell: &Cell, curve: f64, alone: f64) {
        let (piece, class) = (cell.piece as usize, cell.class as usize);
        let (x, along) = (f64::from(cell.x), f64::from(cell.along));
        let (near, far) = (curve * (1.0 - along), curve * along);
        let knots = &mut self.knots;
        knots[piece * shape.knots + piece] += near * (1.0 - along);
        knots[(piece + 1) * shape.knots + piece] += near * along;
        knots[(piece + 1) * shape.knots + piece + 1] += far * along;
        let between = &mut self.between[class * shape.knots + piece..][..2];
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

    /// Takes the coupling of a row off the curvature between knots.
    fn couple_knots(&mut self, shape: Shape, weight: f64, mean: &[f64]) {
        for (i, &one) in mean.iter().enumerate().filter(|(_, mean)| **mean != 0.0) {
            for (j, &other) in mean[..=i].iter().enumerate() {
                self.knots_coupled[i * shape.knots + j] -= weight * one * other;
            }
        }
    }

    /// The Hessian times a direction, the penalty's part included.
    pub(super) fn times(&self, cells: &Cells, penalty: &Penalty, direction: &[f64]) -> Vec<f64> {
        let shape = penalty.shape;
        let mut out = penalty.times(direction);
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
        let coupling = sum_in_parts(
            self.coupled.len(),
            || vec![0.0; direction.len()],
            |sum, rows| {
                for coupled in &self.coupled[rows] {
                    let (row, _) = cells.row(coupled.row as usize);
                    let each = || coupled.cells.iter().map(|&(at, p)| (&row[at as usize], p));
                    let mean: f64 = each()
                        .map(|(cell, p)| f64::from(p) * cell.log_weight(shape, direction))
                        .sum();
                    let pull = coupled.weight * mean;
                    each().for_each(|(cell, p)| cell.add(shape, pull * f64::from(p), sum));
                }
            },
            |total, part| add(total, &part),
        );
        out.iter_mut()
            .zip(&coupling)
            .for_each(|(out, coupling)| *out -= coupling);
        out
    }
}

fn add(to: &mut [f64], from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

/// The loss alone of the rows that do not lie in the fold that is left out.
pub(super) fn value_at(
    cells: &Cells,
    penalty: &Penalty,
    left_out: Option<u8>,
    parameters: &[f64],
) -> f64 {
    let loss = sum_in_parts(
        cells.row_count(),
        || (0.0, Vec::new()),
        |(sum, room), rows| {
            for row in rows.filter(|&row| Some(cells.folds[row]) != left_out) {
                let (scores, right) = cells.row(row);
                *sum += cells.weights[row]
                    * row_loss(cells.link, penalty.shape, scores, right, parameters, room);
            }
        },
        |total, part| total.0 += part.0,
    );
    loss.0 + penalty.value(parameters)
}

/// Fills `room` with log-weights (softmax: minus the largest, of what each cell stands for) and gives the loss.
fn row_loss(
    link: Link,
    shape: Shape,
    row: &[Cell],
    right: &[u32],
    parameters: &[f64],
    room: &mut Vec<f64>,
) -> f64 {
    room.clear();
    room.extend(row.iter().map(|cell| cell.log_weight(shape, parameters)));
    match link {
        Link::Sigmoid => {
            let mut right = right.iter().peekable();
            let losses = room.iter().zip(row).enumerate().map(|(at, (&l, cell))| {
                let hit = right.next_if(|&&place| place as usize == at).is_some();
                f64::from(cell.stands_for) * softplus(if hit { -l } else { l })
            });
            losses.sum()
        }
        Link::Softmax => {
            let own = room[right[0] as usize];
            let top = room.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut total = 0.0;
            for (weight, cell) in room.iter_mut().zip(row) {
                *weight = f64::from(cell.stands_for) * (*weight - top).exp();
                total += *weight;
            }
            room.iter_mut().for_each(|weight| *weight /= total);
            total.ln() + top - own
        }
    }
}

/// The loss with gradient and curvature, of the rows that do not lie in the fold that is left out.
pub(super) fn expand(
    cells: &Cells,
    penalty: &Penalty,
    left_out: Option<u8>,
    parameters: &[f64],
) -> Expansion {
    let shape = penalty.shape;
    let zero = || {
        let expansion = Expansion {
            value: 0.0,
            gradient: vec![0.0; shape.len()],
            curvature: Curvature::zero(shape),
        };
        (expansion, Vec::new(), vec![0.0; shape.knots])
    };
    let (mut total, ..) = sum_in_parts(
        cells.row_count(),
        zero,
        |(sum, room, mean), rows| {
            for row in rows.filter(|&row| Some(cells.folds[row]) != left_out) {
                let (scores, right) = cells.row(row);
                let weight = cells.weights[row];
                let loss = row_loss(cells.link, shape, scores, right, parameters, room);
                sum.value += weight * loss;
                match cells.link {
                    Link::Sigmoid => sum.add_sigmoid_row(shape, scores, right, weight, room),
                    Link::Softmax => {
                        sum.add_softmax_row(
                            shape,
                            scores,
                            right[0] as usize,
                            (row, weight),
                            room,
                            mean,
                        );
                    }
                }
            }
        },
        |total, part| {
            total.0.value += part.0.value;
            add(&mut total.0.gradient, &part.0.gradient);
            total.0.curvature.add(part.0.curvature);
        },
    );
    let knots = &mut total.curvature.knots_coupled;
    add(knots, &total.curvature.knots);
    total.value += penalty.value(parameters);
    add(&mut total.gradient, &penalty.gradient(parameters));
    total
}

impl Expansion {
    fn add_sigmoid_row(
        &mut self,
        shape: Shape,
        row: &[Cell],
        right: &[u32],
        weight: f64,
        log_weights: &[f64],
    ) {
        let mut right = right.iter().peekable();
        for (at, (cell, &l)) in row.iter().zip(log_weights).enumerate() {
            let hit = right.next_if(|&&place| place as usize == at).is_some();
            let p = sigmoid(l);
            let share = weight * f64::from(cell.stands_for);
            let pull = share * if hit { -sigmoid(-l) } else { p };
            cell.add(shape, pull, &mut self.gradient);
            let curve = share * p * sigmoid(-l);
            self.curvature.add_cell(shape, cell, curve, curve);
        }
    }

    fn add_softmax_row(
        &mut self,
        shape: Shape,
        row: &[Cell],
        right: usize,
        (number, weight): (usize, f64),
        p: &[f64],
        mean: &mut [f64],
    ) {
        mean.fill(0.0);
        let mut likely = Vec::new();
        for (at, (cell, &p)) in row.iter().zip(p).enumerate() {
            if at != right {
                cell.add(shape, weight * p, &mut self.gradient);
            }
            let curve = weight * p;
            self.curvature
                .add_cell(shape, cell, curve, curve * (1.0 - p).max(0.0));
            if p > COUPLED {
                likely.push((at as u32, p as f32));
                let (piece, along) = (cell.piece as usize, f64::from(cell.along));
                mean[piece] += p * (1.0 - along);
                mean[piece + 1] += p * along;
            }
        }
        // From the others' side, which does not cancel.
        let others = p[..right].iter().chain(&p[right + 1..]).sum::<f64>();
        row[right].add(shape, -weight * others, &mut self.gradient);
        self.curvature.couple_knots(shape, weight, mean);
        self.curvature.coupled.push(Coupled {
            row: number as u32,
            weight,
            cells: likely,
        });
    }
}
