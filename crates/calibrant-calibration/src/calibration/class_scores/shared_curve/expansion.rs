//! The loss of a curve and its lines, with its slope and about its curvature.

use super::cells::{Cell, Cells, Link, Part, Row};
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
        |(sum, buffer), rows| {
            for row in rows.filter(|&row| part.has(cells.folds[row])) {
                *sum += cells.weights[row]
                    * row_loss(
                        cells.link,
                        penalty.shape,
                        cells.row(row),
                        parameters,
                        buffer,
                    );
            }
        },
        |total, part| total.0 += part.0,
    );
    loss.0 + penalty.value(parameters)
}

/// Fills `buffer` with log-weights (softmax: with probabilities, of what each cell stands for) and gives the loss.
fn row_loss(
    link: Link,
    shape: Shape,
    row: Row<'_>,
    parameters: &[f64],
    buffer: &mut Vec<f64>,
) -> f64 {
    buffer.clear();
    let cells = row.cells.iter();
    buffer.extend(cells.map(|cell| cell.log_weight(shape, parameters)));
    match link {
        Link::Sigmoid => {
            let mut right = row.right.iter().peekable();
            let cells = buffer.iter().zip(row.cells).enumerate();
            let losses = cells.map(|(at, (&l, cell))| {
                let hit = right.next_if(|&&place| place as usize == at).is_some();
                let l = if hit { -l } else { l };
                f64::from(cell.stands_for) * (softplus(l) - row.slip * l)
            });
            losses.sum()
        }
        Link::Softmax => {
            let own = buffer[row.right[0] as usize];
            let second = row.runner_up.map_or(own, |at| buffer[at as usize]);
            let top = buffer.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            buffer
                .iter_mut()
                .for_each(|weight| *weight = exp_of_negative(*weight - top));
            let mut total = 0.0;
            for (weight, cell) in buffer.iter_mut().zip(row.cells) {
                *weight *= f64::from(cell.stands_for);
                total += *weight;
            }
            buffer.iter_mut().for_each(|weight| *weight /= total);
            total.ln() + top - own + row.slip * (own - second)
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
        |(sum, buffer, mean), rows| {
            for row in rows.filter(|&row| part.has(cells.folds[row])) {
                let weight = cells.weights[row];
                let row = cells.row(row);
                sum.value += weight * row_loss(cells.link, shape, row, parameters, buffer);
                match cells.link {
                    Link::Sigmoid => sum.add_sigmoid_row(shape, row, weight, buffer),
                    Link::Softmax => {
                        sum.add_softmax_row(shape, row, weight, buffer);
                        sum.curvature.add_row(row.cells, weight, buffer, mean);
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

    fn add_sigmoid_row(&mut self, shape: Shape, row: Row<'_>, weight: f64, log_weights: &[f64]) {
        let mut right = row.right.iter().peekable();
        for (at, (cell, &l)) in row.cells.iter().zip(log_weights).enumerate() {
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
            let pull = if hit { row.slip - other } else { p - row.slip };
            let pull = share * pull;
            cell.add(shape, pull, &mut self.gradient);
            let curve = share * p * other;
            self.curvature.add_cell(cell, curve, curve);
        }
    }

    fn add_softmax_row(&mut self, shape: Shape, row: Row<'_>, weight: f64, p: &[f64]) {
        let right = row.right[0] as usize;
        for (at, (cell, &p)) in row.cells.iter().zip(p).enumerate() {
            if at != right {
                cell.add(shape, weight * p, &mut self.gradient);
            }
        }
        // From the others' side, which does not cancel.
        let mut others = p[..right].iter().chain(&p[right + 1..]).sum::<f64>();
        if let Some(second) = row.runner_up {
            let slip = weight * row.slip;
            row.cells[second as usize].add(shape, -slip, &mut self.gradient);
            others -= row.slip;
        }
        row.cells[right].add(shape, -weight * others, &mut self.gradient);
    }
}
