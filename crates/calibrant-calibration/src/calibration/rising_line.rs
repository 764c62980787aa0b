//! The likeliest line that rises.

use crate::solvers::{Factor, logistic_expansion};

/// What the slope of a class with so many examples of its rarer side is like, in units of the scores' mean absolute deviation.
pub(super) fn usual_slope(rarer: usize) -> f64 {
    match rarer {
        0 | 1 => 0.3,
        2 => 0.4,
        _ => 0.6,
    }
}

/// The standard deviation of its logarithm.
pub(super) const SPREAD: f64 = 0.85;

/// The logarithm of the slope, the intercept and a third factor that are likeliest, given what slopes are like: by Newton's method
/// over the three, `ln slope` being normal around that of the usual one.
///
/// `examples()` gives for each the score, what the third factor counts, the target from 0 to 1 and the weight, in units of an
/// example's. Where the third counts nothing it stays as it is.
pub(super) fn likeliest_rising<I>(
    usual: f64,
    start: [f64; 3],
    tolerance: f64,
    examples: impl Fn() -> I,
) -> [f64; 3]
where
    I: Iterator<Item = ([f64; 2], f64, f64)>,
{
    let strength = (SPREAD * SPREAD).recip();
    let look = |at: [f64; 3]| {
        let slope = at[0].exp();
        let off = at[0] - usual.ln();
        // The derivative by `ln slope` is that by a factor of the whole rise, at one.
        let each = examples().map(|([score, beside], target, weight)| {
            ([slope * score, 1.0, beside], target, weight)
        });
        let (value, mut gradient, curve) = logistic_expansion(&[1.0, at[1], at[2]], each);
        gradient[0] += strength * off;
        (value + 0.5 * strength * off * off, gradient, curve)
    };
    let mut at = start;
    let mut seen = look(at);
    for _ in 0..100 {
        let (value, mut step, curve) = seen;
        let matrix = curve.as_flattened().to_vec();
        Factor::of(matrix, &[strength, 1e-12, 1e-12]).solve(&mut step);
        let mut next = seen;
        let mut moved = at;
        for _ in 0..40 {
            moved = std::array::from_fn(|i| at[i] - step[i]);
            next = look(moved);
            if next.0 <= value {
                break;
            }
            step = step.map(|part| 0.5 * part);
        }
        if next.0.is_nan() || next.0 > value {
            break; // no step is short enough: this is as good as numbers allow
        }
        (at, seen) = (moved, next);
        if step.iter().all(|part| part.abs() < tolerance) {
            break;
        }
    }
    at
}
