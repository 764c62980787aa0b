//! Steps along all free variables of a problem at once.

use super::{Descent, DescentRows, DualLoss, Stage};

/// Below this gap, relative to the objective, it is mostly known which variables rest at an end of their box.
const KNOWN: f64 = 1e-3;
/// So many passes lie between two steps: they find out which variables became free, and which came to rest.
const PASSES_ALONE: usize = 4;
/// Directions of a step, each of which takes as long as a pass over the free variables.
const DIRECTIONS: usize = 6;
/// The part of the residual at which the direction is good enough.
const SMALL: f64 = 0.1;
/// The part of the rows that may be free: each takes 24 bytes meanwhile.
const MOST_FREE: f64 = 0.5;

/// A variable between the ends of its box. All numbers have the sign of the row: they are those of `y_i α_i`.
struct Free {
    row: u32,
    gradient: f32,
    residual: f32,
    direction: f32,
    product: f32,
    change: f32,
}

impl<const L: usize, R: DescentRows<L> + ?Sized, Loss: DualLoss> Descent<'_, L, R, Loss> {
    /// Whether visits to one variable after the other take long. (Problems side by side are all of losses that bend.)
    pub(super) fn is_slow(&self) -> bool {
        let state = &self.states[0];
        Self::TELLS_GAP
            && L == 1
            && state.stage == Stage::Moving
            && state.alone >= PASSES_ALONE
            && state.gap <= KNOWN * state.dual
    }

    /// Conjugate gradients on the face of the box where the variables now are, cut off at its ends. What is left of the direction
    /// still leads up the dual objective or is not taken, and its length is the best one: nothing can be lost.
    ///
    /// # Reference
    /// Moré & Toraldo, SIAM Journal on Optimization 1 (1991), whose projected search is a single length here.
    pub(super) fn step_along_faces(&mut self) {
        self.states[0].alone = 0;
        let mut face = self.face();
        if face.is_empty() || face.len() as f64 > MOST_FREE * self.rows.len() as f64 {
            return;
        }
        let mut image = self.problem.rows.zeros();
        self.find_changes(&mut face, &mut image);
        // Cut off at the ends; the slope and the bend of the objective along what is left.
        let mut slope = 0.0;
        for free in &mut face {
            let (dual, sign, end) = self.dual_sign_and_end(free.row);
            let moved = (dual + sign * f64::from(free.change)).clamp(0.0, end);
            free.change = (sign * (moved - dual)) as f32;
            slope += f64::from(free.gradient) * f64::from(free.change);
        }
        let bias = self.sum_into(&face, |free| free.change, &mut image);
        let bend = R::squared_norms(&image)[0] + bias * bias;
        let length = (-slope / bend).min(1.0);
        if length.is_nan() || length <= 0.0 {
            return;
        }
        for free in &face {
            let (dual, sign, end) = self.dual_sign_and_end(free.row);
            let moved = (dual + sign * length * f64::from(free.change)).clamp(0.0, end);
            let row = free.row as usize;
            self.rows[row].duals[0] = moved;
            self.step(row, one(sign * (moved - dual)));
        }
        self.states[0].dual -= length * (slope + 0.5 * length * bend);
    }

    /// The variables of which neither end of the box is reached, in the order of the rows.
    fn face(&self) -> Vec<Free> {
        let is_free = |&row: &u32| {
            let (dual, _, end) = self.dual_sign_and_end(row);
            dual > 0.0 && dual < end
        };
        let mut face: Vec<Free> =
            Vec::with_capacity(self.order.iter().filter(|row| is_free(row)).count());
        for &row in self.order.iter().filter(|row| is_free(row)) {
            let sign = self.rows[row as usize].sign(0);
            let gradient = (self.scores(row as usize)[0] - sign) as f32;
            face.push(Free {
                row,
                gradient,
                residual: -gradient,
                direction: -gradient,
                product: 0.0,
                change: 0.0,
            });
        }
        face.sort_unstable_by_key(|free| free.row);
        face
    }

    /// The dual variable, the sign and the upper end of the box of a row; variables without one are never free.
    fn dual_sign_and_end(&self, row: u32) -> (f64, f64, f64) {
        let state = &self.rows[row as usize];
        let cost = state.cost(0, self.problem.weight(row as usize), self.lanes[0].costs);
        let end = self.loss.end_of_flat_box(cost);
        (state.duals[0], state.sign(0), end.unwrap_or(0.0))
    }

    /// Where the lowest point of the face lies, as a few conjugate directions tell it.
    fn find_changes(&self, face: &mut [Free], image: &mut R::Weights) {
        let square = |number: f32| f64::from(number) * f64::from(number);
        let mut squares: f64 = face.iter().map(|free| square(free.residual)).sum();
        let enough = SMALL * SMALL * squares;
        for _ in 0..DIRECTIONS {
            let bias = self.sum_into(face, |free| free.direction, image) * self.problem.constant;
            let mut bend = 0.0;
            for free in &mut *face {
                let product = self.problem.rows.dot(free.row as usize, image)[0] + bias;
                bend += product * f64::from(free.direction);
                free.product = product as f32;
            }
            let length = squares / bend;
            if !(length > 0.0 && length.is_finite()) {
                return;
            }
            let mut left = 0.0;
            for free in &mut *face {
                free.change += length as f32 * free.direction;
                free.residual -= length as f32 * free.product;
                left += square(free.residual);
            }
            if left <= enough {
                return;
            }
            let kept = (left / squares) as f32;
            squares = left;
            for free in &mut *face {
                free.direction = free.residual + kept * free.direction;
            }
        }
    }

    /// `Σ number · x` over the free rows, and its part in the constant feature.
    fn sum_into(
        &self,
        face: &[Free],
        number: impl Fn(&Free) -> f32,
        image: &mut R::Weights,
    ) -> f64 {
        self.problem.rows.clear(image);
        let mut bias = 0.0;
        for free in face {
            let number = f64::from(number(free));
            self.problem.rows.add(free.row as usize, one(number), image);
            bias += number * self.problem.constant;
        }
        bias
    }
}

/// The factor of the first problem.
fn one<const L: usize>(factor: f64) -> [f64; L] {
    let mut factors = [0.0; L];
    factors[0] = factor;
    factors
}
