//! What keeps the curve of every class from falling.

use super::parameters::Shape;

/// Which parameters of a point stand at a bound that they would go beyond.
///
/// # Formula
/// ```text
/// g_k ≥ 0,     a_c ≥ ε
/// ```
/// `g_k` is the slope of a piece of the curve, `a_c` that of a class. Only their sums count, for the loss and for what holds
/// them, so that these bounds ask for no more than `g_k + a_c ≥ ε`: slope that the curve can spare is handed to the
/// classes, and the other way round (see [`within`]). `ε` is [`least_slope`].
///
/// A step of Newton's method leaves alone what stands at a bound and would go beyond; everything else moves, and is brought
/// back to its bound where it went too far.
///
/// # Reference
/// Bertsekas, SIAM Journal on Control and Optimization 20 (1982), 221-246: projected Newton methods.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bound {
    shape: Shape,
    least_slope: f64,
    /// Knots between which the curve stays level are one: its place among what is left of them.
    place: Vec<usize>,
    /// Classes whose slope stays.
    still: Vec<bool>,
}

/// Even where examples ask for a curve that falls, a higher score says a little more, so that the better of two scores
/// wins: a fiftieth of the slope of the best straight line, but no more than a fifth of a nat from end to end.
pub(super) fn least_slope(knots: &[f64]) -> f64 {
    (0.2 / (knots[knots.len() - 1] - knots[0])).min(0.02)
}

/// A slope that is no farther than this from its bound is taken to stand at it.
const NEAR: f64 = 1e-6;

impl Bound {
    /// At a point with this gradient. Slopes of classes that may not move all stay.
    pub(super) fn at(
        knots: &[f64],
        shape: Shape,
        parameters: &[f64],
        gradient: &[f64],
        slopes: bool,
    ) -> Self {
        let least_slope = least_slope(knots);
        // A piece that rises lifts all knots behind it.
        let mut behind: f64 = gradient[..shape.knots].iter().sum();
        let mut place = vec![0];
        for piece in 0..shape.knots - 1 {
            behind -= gradient[piece];
            let rise = parameters[piece + 1] - parameters[piece];
            let level = rise <= NEAR * (knots[piece + 1] - knots[piece]) && behind > 0.0;
            place.push(place[piece] + usize::from(!level));
        }
        let still = (0..shape.classes).map(|class| {
            let at = shape.class(class);
            !slopes || (parameters[at] <= least_slope + NEAR && gradient[at] > 0.0)
        });
        Self {
            shape,
            least_slope,
            place,
            still: still.collect(),
        }
    }

    /// How many knots are left.
    pub(super) fn knots(&self) -> usize {
        1 + self.place[self.shape.knots - 1]
    }

    /// A gradient by the parameters that move: knots that are one together, nothing for slopes that stay.
    pub(super) fn gather(&self, full: &[f64]) -> Vec<f64> {
        let (curve, classes) = full.split_at(self.shape.knots);
        let mut out = vec![0.0; self.knots()];
        self.add_knots(curve, &mut out);
        out.extend_from_slice(classes);
        let slopes = out[self.knots()..].iter_mut().step_by(2);
        for (slope, _) in slopes.zip(&self.still).filter(|(_, still)| **still) {
            *slope = 0.0;
        }
        out
    }

    /// The part of [`Self::gather`] that speaks of knots.
    pub(super) fn add_knots(&self, curve: &[f64], out: &mut [f64]) {
        for (&place, value) in self.place.iter().zip(curve) {
            out[place] += value;
        }
    }

    /// A direction of the parameters that move as one of all.
    pub(super) fn widen(&self, moving: &[f64]) -> Vec<f64> {
        let curve = self.place.iter().map(|&place| moving[place]);
        curve
            .chain(moving[self.knots()..].iter().copied())
            .collect()
    }

    /// A matrix between knots (its lower half is read), by those that are left.
    pub(super) fn gather_matrix(&self, matrix: &[f64]) -> Vec<f64> {
        let (count, left) = (self.shape.knots, self.knots());
        let mut out = vec![0.0; left * left];
        for i in 0..count {
            for j in 0..count {
                out[self.place[i] * left + self.place[j]] += matrix[i.max(j) * count + i.min(j)];
            }
        }
        out
    }

    /// Whether nothing stands at a bound, so that slope can be handed over freely.
    pub(super) fn is_free(&self) -> bool {
        self.knots() == self.shape.knots && !self.still.contains(&true)
    }

    /// Whether a class's slope stays.
    pub(super) fn is_still(&self, class: usize) -> bool {
        self.still[class]
    }

    /// Brings what stands near its bound to it.
    pub(super) fn settle(&self, parameters: &mut [f64]) {
        for knot in 1..self.shape.knots {
            if self.place[knot] == self.place[knot - 1] {
                parameters[knot] = parameters[knot - 1];
            }
        }
        for class in (0..self.shape.classes).filter(|&class| self.still[class]) {
            parameters[self.shape.class(class)] = self.least_slope;
        }
    }
}

/// Brings parameters within their bounds: first by handing slope from the curve to all classes or back, which changes
/// nothing, then by making level what still falls. Where there is slope to spare, each side gets half of it.
pub(super) fn within(knots: &[f64], shape: Shape, slopes: bool, parameters: &mut [f64]) {
    let least = |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(f64::INFINITY, f64::min);
    if slopes {
        let mut of_pieces = (1..shape.knots).map(|knot| {
            (parameters[knot] - parameters[knot - 1]) / (knots[knot] - knots[knot - 1])
        });
        let curve = least(&mut of_pieces);
        let classes = least(&mut parameters[shape.knots..].iter().copied().step_by(2));
        let classes = classes - least_slope(knots);
        let handed = match (curve, classes) {
            _ if curve + classes >= 0.0 => 0.5 * (curve - classes),
            _ if curve > 0.0 => curve,
            _ if classes > 0.0 => -classes,
            _ => 0.0,
        };
        hand_over(knots, shape, handed, parameters);
        for slope in parameters[shape.knots..].iter_mut().step_by(2) {
            *slope = slope.max(least_slope(knots));
        }
    }
    let mut lifted = 0.0;
    for knot in 1..shape.knots {
        let value = parameters[knot] + lifted;
        lifted += (parameters[knot - 1] - value).max(0.0);
        parameters[knot] = value.max(parameters[knot - 1]);
    }
}

/// Hands slope from the curve to all classes: what is said stays the same.
pub(super) fn hand_over(knots: &[f64], shape: Shape, slope: f64, parameters: &mut [f64]) {
    let (curve, classes) = parameters.split_at_mut(shape.knots);
    for (value, knot) in curve.iter_mut().zip(knots) {
        *value -= slope * knot;
    }
    for of_class in classes.iter_mut().step_by(2) {
        *of_class += slope;
    }
}

/// Moves the curve so that its values with the mean line of the classes are zero in the mean. Where classes exclude each other
/// that changes nothing that is said; far from zero, what next to nothing holds there would slow every step.
pub(super) fn centre_curve(knots: &[f64], shape: Shape, parameters: &mut [f64]) {
    let (curve, classes) = parameters.split_at_mut(shape.knots);
    let slope = classes.iter().step_by(2).sum::<f64>() / shape.classes as f64;
    let values = curve.iter().zip(knots);
    let total: f64 = values.map(|(value, knot)| value + slope * knot).sum();
    let mean = total / shape.knots as f64;
    curve.iter_mut().for_each(|value| *value -= mean);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape {
        knots: 3,
        classes: 2,
    };
    const KNOTS: [f64; 3] = [-1.0, 0.0, 2.0];

    #[test] // By hand: the curve's slopes are 1 and 0.5, the classes' 0.1 and -0.3; 0.18 can be spared.
    fn slope_is_handed_over_before_anything_is_made_level() {
        let mut parameters = [0.0, 1.0, 2.0, 0.1, 7.0, -0.3, 8.0];
        within(&KNOTS, SHAPE, true, &mut parameters);
        // 0.41 goes to the classes: the curve then has 0.09 at least, and the classes that beyond 0.02.
        let wanted = [0.41, 1.0, 1.18, 0.51, 7.0, 0.11, 8.0];
        for (found, wanted) in parameters.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-12, "{parameters:?}");
        }
    }

    #[test] // By hand: slopes 1 and 0.5, classes 0.1 and -0.8: all of 0.5 is handed over, and 0.32 is missing.
    fn what_still_falls_is_made_level() {
        let mut parameters = [0.0, 1.0, 2.0, 0.1, 7.0, -0.8, 8.0];
        within(&KNOTS, SHAPE, true, &mut parameters);
        let wanted = [0.5, 1.0, 1.0, 0.6, 7.0, 0.02, 8.0];
        for (found, wanted) in parameters.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-12, "{parameters:?}");
        }
        let mut falls = [0.0, -1.0, 2.0, 0.0, 0.0, 0.0, 0.0];
        within(&KNOTS, SHAPE, false, &mut falls);
        assert_eq!(falls, [0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn only_what_stands_at_a_bound_and_would_go_beyond_stays() {
        let parameters = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
        // The last two knots pull up by 1 and 2, so the first piece would fall; the first class would, the second would rise.
        let gradient = [-3.0, 1.0, 2.0, 0.5, 0.0, -0.5, 0.0];
        let bound = Bound::at(&KNOTS, SHAPE, &parameters, &gradient, true);
        assert_eq!((bound.place.as_slice(), bound.knots()), (&[0, 0, 1][..], 2));
        assert_eq!(bound.still, [true, false]);
        assert_eq!(bound.gather(&gradient), [-2.0, 2.0, 0.0, 0.0, -0.5, 0.0]);
        let widened = bound.widen(&[1.0, 2.0, 0.0, 3.0, 4.0, 5.0]);
        assert_eq!(widened, [1.0, 1.0, 2.0, 0.0, 3.0, 4.0, 5.0]);
        let matrix = [1.0, 0.0, 0.0, 2.0, 4.0, 0.0, 3.0, 5.0, 6.0];
        assert_eq!(bound.gather_matrix(&matrix), [9.0, 8.0, 8.0, 6.0]); // 1 + 2·2 + 4, 3 + 5
        let turned: Vec<f64> = gradient.iter().map(|pull| -pull).collect();
        let bound = Bound::at(&KNOTS, SHAPE, &parameters, &turned, true);
        assert_eq!((bound.knots(), bound.still), (3, vec![false, true]));
    }
}
