//! Cubic B-splines over knots, straight beyond the ends.

/// A basis of smooth curves: cubic between neighbouring knots, with two continuous derivatives
/// there, and straight (with the slope it has there) beyond the first and the last knot.
///
/// A curve is `Σ c_j B_j`, one coefficient more at each end than there are knots. It rises where
/// its coefficients do, and is a straight line where they are one in [`Self::centres`].
pub(super) struct Basis {
    /// The knots, the ends four times.
    padded: Vec<f64>,
}

/// What is not zero at a place: the first function's number, and the values of it and the next three.
pub(super) type Row = (usize, [f64; 4]);

impl Basis {
    /// Over at least two strictly rising knots.
    pub(super) fn new(knots: &[f64]) -> Self {
        let (first, last) = (knots[0], knots[knots.len() - 1]);
        let mut padded = vec![first; 3];
        padded.extend_from_slice(knots);
        padded.extend([last; 3]);
        Self { padded }
    }

    /// How many functions there are.
    pub(super) fn len(&self) -> usize {
        self.padded.len() - 4
    }

    pub(super) fn knots(&self) -> &[f64] {
        &self.padded[3..self.padded.len() - 3]
    }

    /// Where each function is centred: coefficients equal to these give the straight line `f(x) = x`.
    pub(super) fn centres(&self) -> Vec<f64> {
        (0..self.len())
            .map(|j| (self.padded[j + 1] + self.padded[j + 2] + self.padded[j + 3]) / 3.0)
            .collect()
    }

    /// How the second derivative at each knot follows from the coefficients: the first of three
    /// neighbours has the number of the knot.
    pub(super) fn second_derivatives(&self) -> Vec<[f64; 3]> {
        let t = &self.padded;
        (0..self.knots().len())
            .map(|j| {
                let (left, right) = (t[j + 4] - t[j + 1], t[j + 5] - t[j + 2]);
                let width = t[j + 4] - t[j + 2];
                [1.0 / left, -1.0 / left - 1.0 / right, 1.0 / right]
                    .map(|entry| 6.0 * entry / width)
            })
            .collect()
    }

    /// The functions at a place.
    pub(super) fn at(&self, x: f64) -> Row {
        let knots = self.knots();
        let (first, last) = (knots[0], knots[knots.len() - 1]);
        let inside = x.clamp(first, last);
        let (start, mut values) = self.inside(inside);
        if x != inside {
            let slopes = self.slopes(inside).1;
            for (value, slope) in values.iter_mut().zip(slopes) {
                *value += slope * (x - inside);
            }
        }
        (start, values)
    }

    /// The piece that a place between the ends lies in.
    fn piece(&self, x: f64) -> usize {
        let knots = self.knots();
        let after = knots.partition_point(|&knot| knot <= x);
        after.clamp(1, knots.len() - 1) - 1
    }

    /// By the recurrence of Cox and de Boor: functions of degree one from those of degree zero,
    /// and so on.
    fn inside(&self, x: f64) -> Row {
        let piece = self.piece(x);
        (piece, self.raised(piece, x, 3))
    }

    /// The functions of a degree that are not zero in a piece, in the last `degree + 1` places.
    fn raised(&self, piece: usize, x: f64, degree: usize) -> [f64; 4] {
        let t = &self.padded[piece..];
        let mut values = [0.0, 0.0, 0.0, 1.0];
        for degree in 1..=degree {
            for place in 3 - degree..4 {
                // The function that begins at knot `place` of this piece's eight.
                let rising = if place > 3 - degree {
                    values[place] * (x - t[place]) / (t[place + degree] - t[place])
                } else {
                    0.0
                };
                let falling = if place < 3 {
                    values[place + 1] * (t[place + degree + 1] - x)
                        / (t[place + degree + 1] - t[place + 1])
                } else {
                    0.0
                };
                values[place] = rising + falling;
            }
        }
        values
    }

    /// The derivatives of the functions at a place between the ends.
    pub(super) fn slopes(&self, x: f64) -> Row {
        let piece = self.piece(x);
        let t = &self.padded[piece..];
        let lower = self.raised(piece, x, 2);
        // The derivative of a sum is a sum of functions of degree two over differences of coefficients.
        let steps: [f64; 4] = std::array::from_fn(|place| {
            if place == 0 {
                0.0
            } else {
                3.0 * lower[place] / (t[place + 3] - t[place])
            }
        });
        let slopes = std::array::from_fn(|place| {
            steps[place] - if place < 3 { steps[place + 1] } else { 0.0 }
        });
        (piece, slopes)
    }
}

/// `Σ c_j B_j` at a place.
pub(super) fn combine((start, values): &Row, coefficients: &[f64]) -> f64 {
    coefficients[*start..]
        .iter()
        .zip(values)
        .map(|(coefficient, value)| coefficient * value)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basis() -> Basis {
        Basis::new(&[-1.0, -0.5, 0.0, 0.25, 2.0])
    }

    fn places() -> impl Iterator<Item = f64> {
        (-40..=60).map(|i| f64::from(i) / 20.0)
    }

    #[test]
    fn the_functions_add_up_to_one_and_their_slopes_to_zero() {
        let basis = basis();
        assert_eq!(basis.len(), 7);
        for x in places() {
            let (start, values) = basis.at(x);
            assert!(start + 4 <= basis.len());
            assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            let (_, slopes) = basis.slopes(x.clamp(-1.0, 2.0));
            assert!(slopes.iter().sum::<f64>().abs() < 1e-13);
        }
    }

    #[test]
    fn centres_as_coefficients_give_the_straight_line() {
        let basis = basis();
        let centres = basis.centres();
        assert!(centres.is_sorted_by(|a, b| a < b));
        for x in places() {
            assert!((combine(&basis.at(x), &centres) - x).abs() < 1e-14, "{x}");
        }
    }

    #[test]
    fn a_parabola_has_the_same_second_derivative_at_every_knot() {
        // The coefficients of x² are the mean products of the knots around a function's centre.
        let basis = basis();
        let t = &basis.padded;
        let square: Vec<f64> = (1..=basis.len())
            .map(|j| (t[j] * t[j + 1] + t[j] * t[j + 2] + t[j + 1] * t[j + 2]) / 3.0)
            .collect();
        assert!((combine(&basis.at(0.7), &square) - 0.49).abs() < 1e-14);
        for (j, row) in basis.second_derivatives().into_iter().enumerate() {
            let found: f64 = row.iter().zip(&square[j..]).map(|(a, b)| a * b).sum();
            assert!((found - 2.0).abs() < 1e-12, "{found}");
        }
    }

    #[test]
    fn slopes_are_those_of_small_differences() {
        let basis = basis();
        let coefficients = [0.3, -1.0, 2.0, 0.1, 0.7, -0.4, 1.1];
        for x in places().filter(|x| (-0.99..1.99).contains(x)) {
            let step = 1e-6;
            let difference = (combine(&basis.at(x + step), &coefficients)
                - combine(&basis.at(x - step), &coefficients))
                / (2.0 * step);
            let slope = combine(&basis.slopes(x), &coefficients);
            assert!(
                (difference - slope).abs() < 1e-4,
                "{x}: {difference} {slope}"
            );
        }
    }

    #[test]
    fn the_middle_of_even_knots_has_the_textbook_values() {
        // By hand: a cubic B-spline over whole numbers is 1/6, 4/6, 1/6 at its inner knots.
        let basis = Basis::new(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let (start, values) = basis.at(3.0);
        assert_eq!(start, 3);
        for (value, expected) in values.iter().zip([1.0, 4.0, 1.0, 0.0]) {
            assert!((value - expected / 6.0).abs() < 1e-15);
        }
    }
}
