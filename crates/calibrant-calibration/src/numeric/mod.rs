//! Arithmetic that stays finite: everything here works in logarithms where a
//! plain computation would overflow, underflow or cancel.

mod binomial;
mod chi_square;
mod exponential;
mod hypergeometric;
mod incomplete_beta;
mod links;
mod ln_gamma;
mod normal;
mod order;
mod random;
mod relative_weights;
mod stable_hash;
mod stable_sum;
mod student;

pub use binomial::{binomial_at_most, exact_lower_share, exact_upper_share};
pub use chi_square::chi_square_tail;
pub use exponential::exp_of_negative;
#[doc(hidden)]
pub use exponential::ln_1p;
pub use hypergeometric::{hypergeometric_at_most, least_marked, most_marked};
#[doc(hidden)]
pub use links::Links;
pub(crate) use ln_gamma::{HALF_LN_TAU, stirling_error};
pub use ln_gamma::{ln_binomial, ln_gamma};
pub use normal::{NORMAL_975, ln_normal_cdf, normal_cdf};
pub use order::{
    NumberedKey, order_bits, rising_order, sort_keys, sort_keys_then, value_of_order_bits,
};
pub use random::Random;
pub use relative_weights::relative_weights;
pub use stable_hash::stable_hash;
pub use stable_sum::StableSum;
pub use student::{student_as_normal, student_reach, student_tails};

/// `ln(1 + e^x)` without overflow; the log loss of a forecast with log-odds `-x`.
///
/// ```
/// use calibrant_calibration::numeric::softplus;
/// assert!((softplus(0.0) - 2f64.ln()).abs() < 1e-15);
/// assert_eq!(softplus(800.0), 800.0); // e^800 would be infinite
/// assert!(softplus(-800.0) >= 0.0);
/// ```
#[inline]
pub fn softplus(x: f64) -> f64 {
    x.max(0.0) + ln_1p((-x.abs()).exp())
}

/// `1 / (1 + e^-x)`, computed from the side that does not overflow.
///
/// ```
/// use calibrant_calibration::numeric::sigmoid;
/// assert_eq!(sigmoid(0.0), 0.5);
/// assert!((sigmoid(2.0) + sigmoid(-2.0) - 1.0).abs() < 1e-15);
/// ```
#[inline]
pub fn sigmoid(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    if x >= 0.0 {
        1.0 / (1.0 + e)
    } else {
        e / (1.0 + e)
    }
}

/// `ln Σ e^x`, negative infinity for an empty slice.
///
/// ```
/// use calibrant_calibration::numeric::log_sum_exp;
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
/// use calibrant_calibration::numeric::log_diff_exp;
/// assert!((log_diff_exp(3f64.ln(), 1f64.ln()) - 2f64.ln()).abs() < 1e-15);
/// ```
pub fn log_diff_exp(a: f64, b: f64) -> f64 {
    if b == f64::NEG_INFINITY {
        a
    } else {
        a + (-(b - a).exp_m1()).ln()
    }
}

/// Log-odds of each class against all others, from unnormalised log-probabilities:
/// `a_c - ln Σ_{k≠c} e^{a_k}`, all classes in linear time.
///
/// ```
/// use calibrant_calibration::numeric::log_odds_against_rest;
/// let mut log_odds = [0.0; 3];
/// log_odds_against_rest(&[2f64.ln(), 0.0, 0.0], &mut log_odds);
/// assert!(log_odds[0].abs() < 1e-15); // by hand: 2 against 1 + 1
/// assert!((log_odds[1] - (1.0f64 / 3.0).ln()).abs() < 1e-15); // 1 against 2 + 1
/// ```
pub fn log_odds_against_rest(ln_weights: &[f64], log_odds: &mut [f64]) {
    let largest = first_largest(ln_weights);
    let Some(&top) = ln_weights.get(largest) else {
        return;
    };
    // All in units of the largest weight: a sum that is rounded as the weights themselves are
    // would be off by whole units where they lie near the ends of what is kept. One exponential a class serves all.
    for (share, weight) in log_odds.iter_mut().zip(ln_weights) {
        *share = exp_of_negative(weight - top);
    }
    // The others are summed on their own: taking the largest from the total would cancel.
    log_odds[largest] = 0.0;
    let others = lanes(log_odds, 0.0, |sum, share| sum + share)
        .iter()
        .sum::<f64>();
    let (scale, ln_total) = (1.0 / (1.0 + others), others.ln_1p());
    // ln(p / (1 - p)): first as if every p were small, without a branch, then again for the few that are not.
    for (log_odds, weight) in log_odds.iter_mut().zip(ln_weights) {
        *log_odds = (weight - top - ln_total) + ln_of_inverse_rest(*log_odds * scale);
    }
    let small = ln_total + LN_MOST_SMALL;
    for (log_odds, weight) in log_odds.iter_mut().zip(ln_weights) {
        if weight - top > small {
            let share = exp_of_negative(weight - top) * scale;
            *log_odds = (weight - top - ln_total) - (-share).ln_1p();
        }
    }
    log_odds[largest] = if others > LEAST_SHARE {
        -others.ln()
    } else {
        // So far behind that their exponentials have lost their digits.
        let others = ln_weights.iter().enumerate();
        let others = others.filter(|&(other, _)| other != largest);
        let others: Vec<f64> = others.map(|(_, &weight)| weight - top).collect();
        -log_sum_exp(&others)
    };
}

/// The place of the first of the largest numbers; zero if there is none.
pub fn first_largest(numbers: &[f64]) -> usize {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let top = lanes(numbers, f64::NEG_INFINITY, larger);
    let top = top.into_iter().fold(f64::NEG_INFINITY, larger);
    numbers
        .iter()
        .position(|&number| number == top)
        .unwrap_or(0)
}

/// Every fourth number together: four short chains instead of a long one, each link of which would wait for the last.
#[inline]
fn lanes(numbers: &[f64], start: f64, join: impl Fn(f64, f64) -> f64) -> [f64; 4] {
    let mut found = [start; 4];
    let (fours, rest) = numbers.as_chunks::<4>();
    for four in fours {
        for (lane, &number) in found.iter_mut().zip(four) {
            *lane = join(*lane, number);
        }
    }
    for (lane, &number) in found.iter_mut().zip(rest) {
        *lane = join(*lane, number);
    }
    found
}

/// Shares of the largest weight above this have all their digits.
const LEAST_SHARE: f64 = 1e-290;
/// The logarithm of the largest share that counts as small, 1/32.
const LN_MOST_SMALL: f64 = -5.0 * std::f64::consts::LN_2;

/// `-ln(1 - p)` for `p` up to 1/32, within two units in the last place.
#[inline]
fn ln_of_inverse_rest(p: f64) -> f64 {
    let mut series = 1.0 / 11.0;
    for term in [
        1.0 / 10.0,
        1.0 / 9.0,
        1.0 / 8.0,
        1.0 / 7.0,
        1.0 / 6.0,
        1.0 / 5.0,
        1.0 / 4.0,
        1.0 / 3.0,
        1.0 / 2.0,
        1.0,
    ] {
        series = series * p + term;
    }
    series * p
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_of_the_largest_is_found() {
        assert_eq!(first_largest(&[]), 0);
        assert_eq!(first_largest(&[f64::NAN, f64::NAN]), 0);
        assert_eq!(first_largest(&[-3.0, f64::NAN, -1.0, -2.0, -1.0, -5.0]), 2);
        assert_eq!(first_largest(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), 6);
    }

    proptest! {
        #[test]
        fn small_shares_leave_the_rest_their_logarithm(p in prop_oneof![0.0f64..0.03125, 0.0f64..1e-12]) {
            let (ours, theirs) = (ln_of_inverse_rest(p), -(-p).ln_1p());
            prop_assert!((ours - theirs).abs() <= 2.0 * f64::EPSILON * theirs, "{} {}", ours, theirs);
        }

        #[test]
        fn log_odds_against_the_rest_of_many_equal_the_definition(weights in prop::collection::vec(-9.0f64..3.0, 60..70)) {
            let mut log_odds = vec![0.0; weights.len()];
            log_odds_against_rest(&weights, &mut log_odds);
            for (class, found) in log_odds.iter().enumerate() {
                let others: Vec<f64> = (0..weights.len()).filter(|&k| k != class).map(|k| weights[k]).collect();
                let expected = weights[class] - log_sum_exp(&others);
                prop_assert!((found - expected).abs() < 1e-13 * (1.0 + expected.abs()), "{} {}", found, expected);
            }
        }

        #[test]
        fn log_odds_against_the_rest_are_those_of_shares_that_sum_to_one(
            weights in prop::collection::vec(-3.0f64..3.0, 2..6),
            far in prop::sample::select(vec![0.0, 1e9, -1e13, 1e15, -1e15]),
        ) {
            let weights: Vec<f64> = weights.iter().map(|weight| weight + far).collect();
            let mut log_odds = vec![0.0; weights.len()];
            log_odds_against_rest(&weights, &mut log_odds);
            let sum: f64 = log_odds.iter().map(|&log_odds| sigmoid(log_odds)).sum();
            prop_assert!((sum - 1.0).abs() < 1e-12, "{}", sum);
        }

        #[test]
        fn log_odds_against_the_rest_equal_the_definition(weights in prop::collection::vec(-50.0f64..50.0, 2..6)) {
            let mut log_odds = vec![0.0; weights.len()];
            log_odds_against_rest(&weights, &mut log_odds);
            for (class, found) in log_odds.iter().enumerate() {
                let others: Vec<f64> = (0..weights.len()).filter(|&k| k != class).map(|k| weights[k]).collect();
                let expected = weights[class] - log_sum_exp(&others);
                prop_assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{} {}", found, expected);
            }
        }
    }
}
