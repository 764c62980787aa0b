//! The regularised incomplete beta function: the tails of Student's and of the binomial distribution.

use super::ln_gamma;

/// `I_x(a, b)` with `y = 1 - x` given apart, so that neither is rounded away.
pub(crate) fn incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    // x^a y^b / B(a, b), which both sides share.
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * ln(x, y) + b * ln(y, x)).exp();
    match x < (a + 1.0) / (a + b + 2.0) {
        true => front * fraction(a, b, x) / a,
        false => 1.0 - front * fraction(b, a, y) / b,
    }
}

/// `ln x`, by the smaller of `x` and `1 - x`.
fn ln(x: f64, complement: f64) -> f64 {
    match x > 0.5 {
        true => (-complement).ln_1p(),
        false => x.ln(),
    }
}

/// The continued fraction of the incomplete beta function, from the top by Lentz's method.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const MOST_STEPS: usize = 100_000;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..MOST_STEPS {
        let m = step as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        value *= c * d;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        let factor = c * d;
        value *= factor;
        if (factor - 1.0).abs() < 4.0 * f64::EPSILON {
            break;
        }
    }
    value
}
