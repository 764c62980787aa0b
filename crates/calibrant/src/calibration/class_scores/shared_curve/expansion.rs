//! The loss of a curve and its lines, with its slope and about its curvature.

use super::cells::{Cell, Cells, Link, Part};
use super::curvature::Curvature;
use super::parameters::{Penalty, Shape};
use crate::numeric::{exp_of_negative, softplus};
use crate::solvers::sum_in_parts;

/// The loss at a point, its gradient, and its curvature, all without the penalty's part.
pub(super) struct Expansion {
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
    pub(super) curvature: Curvature,
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
    pub(super) fn add(&self, shape: Shape, pull: f64, out: &mut [f64]) {
        let (piece, along) = (self.piece as usize, f64::from(self.along));
        let class = shape.class(self.class as usize);
        let later = pull * along;
        out[piece] += pull - later;
        out[piece + 1] += later;
        out[class] += pull * f64::from(self.x);
        out[class + 1] += pull;
    }
}

fn add(to: &mut [f64], from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

/// The loss alone of some rows.
pub(super) fn value_at(cells: &Cells, penalty: &Penalty, part: Part, parameters: &[f64]) -> f64 {
    let loss = sum_in_parts(
        cells.row_count(),
        || (0.0, Vec::new()),
        |(sum, room), rows| {
            for row in rows.filter(|&row| part.has(cells.folds[row])) {
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
            room.iter_mut()
                .for_each(|weight| *weight = exp_of_negative(*weight - top));
            let mut total = 0.0;
            for (weight, cell) in room.iter_mut().zip(row) {
                *weight *= f64::from(cell.stands_for);
                total += *weight;
            }
            room.iter_mut().for_each(|weight| *weight /= total);
            total.ln() + top - own
        }
    }
}

/// The loss with gradient and curvature, of some rows.
pub(super) fn expand(cells: &Cells, shape: Shape, part: Part, parameters: &[f64]) -> Expansion {
    let zero = || {
        let expansion = Expansion::zero(shape);
        (expansion, Vec::new(), vec![0.0; shape.knots])
    };
    let (total, ..) = sum_in_parts(
        cells.row_count(),
        zero,
        |(sum, room, mean), rows| {
            for row in rows.filter(|&row| part.has(cells.folds[row])) {
                let (scores, right) = cells.row(row);
                let weight = cells.weights[row];
                let loss = row_loss(cells.link, shape, scores, right, parameters, room);
                sum.value += weight * loss;
                match cells.link {
                    Link::Sigmoid => sum.add_sigmoid_row(shape, scores, right, weight, room),
                    Link::Softmax => {
                        sum.add_softmax_row(shape, scores, right[0] as usize, weight, room);
                        sum.curvature.add_row(scores, weight, room, mean);
                    }
                }
            }
        },
        |total, more| total.0.add(&more.0),
    );
    total
}

impl Expansion {
    fn zero(shape: Shape) -> Self {
        Self {
            value: 0.0,
            gradient: vec![0.0; shape.len()],
            curvature: Curvature::zero(shape),
        }
    }

    fn add(&mut self, other: &Self) {
        self.value += other.value;
        add(&mut self.gradient, &other.gradient);
        self.curvature.add(&other.curvature);
    }

    /// Of all rows together that were looked at apart.
    pub(super) fn sum<'a>(shape: Shape, parts: impl Iterator<Item = &'a Self>) -> Self {
        let mut sum = Self::zero(shape);
        parts.for_each(|part| sum.add(part));
        sum
    }

    /// Value and gradient with the penalty's part.
    pub(super) fn penalised(&self, penalty: &Penalty, parameters: &[f64]) -> (f64, Vec<f64>) {
        let mut gradient = penalty.gradient(parameters);
        add(&mut gradient, &self.gradient);
        (self.value + penalty.value(parameters), gradient)
    }

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
            // One exponential serves the probabilities of both sides.
            let e = exp_of_negative(-l.abs());
            let inverse = 1.0 / (1.0 + e);
            let (p, other) = if l >= 0.0 {
                (inverse, e * inverse)
            } else {
                (e * inverse, inverse)
            };
            let share = weight * f64::from(cell.stands_for);
            let pull = share * if hit { -other } else { p };
            cell.add(shape, pull, &mut self.gradient);
            let curve = share * p * other;
            self.curvature.add_cell(cell, curve, curve);
        }
    }

    fn add_softmax_row(
        &mut self,
        shape: Shape,
        row: &[Cell],
        right: usize,
        weight: f64,
        p: &[f64],
    ) {
        for (at, (cell, &p)) in row.iter().zip(p).enumerate() {
            if at != right {
                cell.add(shape, weight * p, &mut self.gradient);
            }
        }
        // From the others' side, which does not cancel.
        let others = p[..right].iter().chain(&p[right + 1..]).sum::<f64>();
        row[right].add(shape, -weight * others, &mut self.gradient);
    }
}
