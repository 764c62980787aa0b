//! Arithmetic that stays finite: everything here works in logarithms where a
//! plain computation would overflow, underflow or cancel.

mod random;
mod stable_sum;

pub use random::Random;
pub use stable_sum::StableSum;

/// `ln(1 + e^x)` without overflow; the log loss of a forecast with log-odds `-x`.
///
/// ```
/// use calibrant::numeric::softplus;
/// assert!((softplus(0.0) - 2f64.ln()).abs() < 1e-15);
/// assert_eq!(softplus(800.0), 800.0); // e^800 would be infinite
/// assert!(softplus(-800.0) >= 0.0);
/// ```
#[inline]
pub fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// `1 / (1 + e^-x)`, computed from the side that does not overflow.
///
/// ```
/// use calibrant::numeric::sigmoid;
/// assert_eq!(sigmoid(0.0), 0.5);
/// assert!((sigmoid(2.0) + sigmoid(-2.0) - 1.0).abs() < 1e-15);
/// ```
#[inline]
pub fn sigmoid(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    if x >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// `ln Σ e^x`, negative infinity for an empty slice.
///
/// ```
/// use calibrant::numeric::log_sum_exp;
/// assert!((log_sum_exp(&[1000.0, 1000.0]) - (1000.0 + 2f64.ln())).abs() < 1e-12);
/// ```
pub fn log_sum_exp(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !largest.is_finite() {
        return largest;
    }
    largest + values.iter().map(|v| (v - largest).exp()).sum::<f64>().ln()
}

/// `ln(e^a - e^b)` for `a > b`; negative infinity where they are equal.
///
/// ```
/// use calibrant::numeric::log_diff_exp;
/// assert!((log_diff_exp(3f64.ln(), 1f64.ln()) - 2f64.ln()).abs() < 1e-15);
/// ```
pub fn log_diff_exp(a: f64, b: f64) -> f64 {
    if b == f64::NEG_INFINITY { a } else { a + (-(b - a).exp_m1()).ln() }
}
