//! How many of so many? Exact statements about a share, from a count.

use super::incomplete_beta::incomplete_beta;

/// The probability of at most `count` successes in `trials` independent ones, each with probability `share`.
///
/// # Formula
/// ```text
/// P(X ≤ k) = I_{1-p}(n - k, k + 1),   the regularised incomplete beta function
/// ```
///
/// ```
/// use calibrant_calibration::numeric::binomial_at_most;
/// // By hand: (1 + 3) / 8 of the ways in which three coins fall have at most one head.
/// assert!((binomial_at_most(1, 3, 0.5) - 0.5).abs() < 1e-15);
/// assert_eq!(binomial_at_most(3, 3, 0.9), 1.0);
/// ```
pub fn binomial_at_most(count: u64, trials: u64, share: f64) -> f64 {
    if count >= trials || share <= 0.0 {
        return 1.0;
    }
    if share >= 1.0 {
        return 0.0;
    }
    let (more, up_to) = ((trials - count) as f64, count as f64 + 1.0);
    incomplete_beta(more, up_to, 1.0 - share, share).clamp(0.0, 1.0)
}

/// The largest share that so few successes still leave possible: it is exceeded with probability `miss` at most,
/// whatever the true share is (Clopper and Pearson's upper end).
///
/// # Formula
/// ```text
/// the p with P(X ≤ k; n, p) = miss,   1 where k = n
/// ```
///
/// ```
/// use calibrant_calibration::numeric::exact_upper_share;
/// // By hand: nothing among n leaves 1 - miss^(1/n).
/// assert!((exact_upper_share(0, 149, 0.05) - (1.0 - 0.05f64.powf(1.0 / 149.0))).abs() < 1e-14);
/// assert_eq!(exact_upper_share(5, 5, 0.05), 1.0);
/// ```
pub fn exact_upper_share(count: u64, trials: u64, miss: f64) -> f64 {
    if count >= trials {
        return 1.0;
    }
    // The tail falls as the share rises. The end that is returned keeps the promise: its tail is not above `miss`.
    let (mut low, mut high) = (count as f64 / trials as f64, 1.0);
    while let Some(middle) = between(low, high) {
        match binomial_at_most(count, trials, middle) > miss {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// The least share that so many successes leave possible: the true share is below it with probability `miss` at most
/// (Clopper and Pearson's lower end).
///
/// ```
/// use calibrant_calibration::numeric::{exact_lower_share, exact_upper_share};
/// assert_eq!(exact_lower_share(0, 10, 0.05), 0.0);
/// let (lower, upper) = (exact_lower_share(3, 10, 0.025), exact_upper_share(7, 10, 0.025));
/// assert!((lower - (1.0 - upper)).abs() < 1e-14); // failures are the successes of the opposite
/// assert!((lower - 0.0667395).abs() < 1e-7); // from any table
/// ```
pub fn exact_lower_share(count: u64, trials: u64, miss: f64) -> f64 {
    if count == 0 || trials == 0 {
        return 0.0;
    }
    let count = count.min(trials);
    let (mut low, mut high) = (0.0, count as f64 / trials as f64);
    // P(X ≥ k) = I_p(k, n - k + 1), from its own side: 1 - P(X < k) would cancel.
    let (from, rest) = (count as f64, (trials - count) as f64 + 1.0);
    while let Some(middle) = between(low, high) {
        match incomplete_beta(from, rest, middle, 1.0 - middle) > miss {
            true => high = middle,
            false => low = middle,
        }
    }
    low
}

/// A number between two shares, as long as they differ by more than rounding.
fn between(low: f64, high: f64) -> Option<f64> {
    let middle = 0.5 * (low + high);
    (low < middle && middle < high && high - low > 1e-15 * high).then_some(middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::ln_binomial;
    use proptest::prelude::*;

    /// The sum itself.
    fn summed(count: u64, trials: u64, share: f64) -> f64 {
        let term = |k: u64| {
            let (yes, no) = (k as f64, (trials - k) as f64);
            (ln_binomial(trials, k) + yes * share.ln() + no * (-share).ln_1p()).exp()
        };
        (0..=count).map(term).sum()
    }

    proptest! {
        #[test]
        fn tails_are_the_sums(trials in 1u64..200, part in 0.0..1.0f64, share in 0.001..0.999f64) {
            let count = (part * trials as f64) as u64;
            let expected = summed(count, trials, share).min(1.0);
            prop_assert!((binomial_at_most(count, trials, share) - expected).abs() < 1e-11);
        }

        #[test]
        fn ends_leave_the_tails_that_were_asked_for(trials in 1u64..5_000, part in 0.0..1.0f64, miss in 0.001..0.4f64) {
            let count = (part * trials as f64) as u64;
            let upper = exact_upper_share(count, trials, miss);
            let found = binomial_at_most(count, trials, upper);
            prop_assert!(count == trials || (found <= miss && found > miss - 1e-9), "{} {}", found, miss);
            let lower = exact_lower_share(count, trials, miss);
            prop_assert!(lower <= part && part <= upper + 1.0 / trials as f64);
            prop_assert!((lower - (1.0 - exact_upper_share(trials - count, trials, miss))).abs() < 1e-10);
        }
    }

    #[test] // Whatever the share is, the upper end lies below it in at most 5 % of all cases: by enumeration.
    fn upper_ends_hold_whatever_the_share_is() {
        for trials in [1u64, 7, 30, 149] {
            for step in 1..60 {
                let share = f64::from(step) / 60.0;
                let missed = (0..=trials)
                    .filter(|&count| exact_upper_share(count, trials, 0.05) < share)
                    .map(|count| {
                        let before = match count {
                            0 => 0.0,
                            _ => binomial_at_most(count - 1, trials, share),
                        };
                        binomial_at_most(count, trials, share) - before
                    });
                assert!(missed.sum::<f64>() <= 0.05 + 1e-12, "{trials} {share}");
            }
        }
    }

    #[test]
    fn nothing_at_all_says_nothing() {
        assert_eq!(exact_upper_share(0, 0, 0.05), 1.0);
        assert_eq!(exact_lower_share(0, 0, 0.05), 0.0);
        assert_eq!(binomial_at_most(0, 10, 0.0), 1.0);
        assert_eq!(binomial_at_most(0, 10, 1.0), 0.0);
    }
}
