//! How many among all, from a sample without replacement?

use super::ln_binomial;

/// The probability of at most `count` marked ones in a sample of `sample` out of `all`, of which `marked` are marked;
/// no one is drawn twice.
///
/// # Formula
/// ```text
/// P(X ≤ x) = Σ_{k ≤ x} C(K, k) C(N - K, n - k) / C(N, n)
/// ```
///
/// ```
/// use calibrant_calibration::numeric::hypergeometric_at_most;
/// // By hand: of two drawn from three with one marked, none is marked in one case of three.
/// assert!((hypergeometric_at_most(0, 3, 1, 2) - 1.0 / 3.0).abs() < 1e-14);
/// ```
pub fn hypergeometric_at_most(count: u64, all: u64, marked: u64, sample: u64) -> f64 {
    let (marked, sample) = (marked.min(all), sample.min(all));
    let least = sample.saturating_sub(all - marked);
    let most = marked.min(sample);
    if count >= most {
        return 1.0;
    }
    if count < least {
        return 0.0;
    }
    let ln_term = |k: u64| {
        ln_binomial(marked, k) + ln_binomial(all - marked, sample - k) - ln_binomial(all, sample)
    };
    // The shorter side is summed, from its largest term on: terms of a tail fall quickly.
    let mean = sample as f64 * (marked as f64 / all as f64);
    let below = (count as f64) < mean;
    let mut term = ln_term(if below { count } else { count + 1 }).exp();
    let mut sum = 0.0;
    let (mut k, end) = if below {
        (count, least)
    } else {
        (count + 1, most)
    };
    loop {
        sum += term;
        if k == end || term <= sum * 1e-18 {
            break;
        }
        // Terms that follow each other have a simple ratio.
        let rest = all - marked;
        term *= match below {
            true => {
                let up = k as f64 * (rest + k - sample) as f64;
                up / ((marked - k + 1) as f64 * (sample - k + 1) as f64)
            }
            false => {
                let up = (marked - k) as f64 * (sample - k) as f64;
                up / ((k + 1) as f64 * (rest + k + 1 - sample) as f64)
            }
        };
        k = if below { k - 1 } else { k + 1 };
    }
    match below {
        true => sum.min(1.0),
        false => (1.0 - sum).max(0.0),
    }
}

/// How many of all may be marked at most, after a sample without replacement had `count` marked ones: more are possible
/// with probability `miss` at most, however many there are.
///
/// # Formula
/// ```text
/// max { K : P(X ≤ x; N, K, n) > miss }
/// ```
///
/// ```
/// use calibrant_calibration::numeric::most_marked;
/// // From a table: none among 200 of 2,000.
/// assert_eq!(most_marked(0, 2_000, 200, 0.05), 28);
/// // What was drawn is known.
/// assert_eq!(most_marked(3, 10, 10, 0.05), 3);
/// ```
pub fn most_marked(count: u64, all: u64, sample: u64, miss: f64) -> u64 {
    let sample = sample.min(all);
    let count = count.min(sample);
    // The tail falls as more are marked; at `count` it is one, and beyond `high` the sample would have had more.
    let (mut low, mut high) = (count, all - (sample - count));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        match hypergeometric_at_most(count, all, middle, sample) > miss {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    low
}

/// How many of all are marked at least, after a sample without replacement had `count` marked ones: fewer are possible
/// with probability `miss` at most.
///
/// ```
/// use calibrant_calibration::numeric::{least_marked, most_marked};
/// // The unmarked ones of the opposite.
/// assert_eq!(least_marked(197, 2_000, 200, 0.05), 2_000 - most_marked(3, 2_000, 200, 0.05));
/// ```
pub fn least_marked(count: u64, all: u64, sample: u64, miss: f64) -> u64 {
    let sample = sample.min(all);
    all - most_marked(sample - count.min(sample), all, sample, miss)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By counting in whole numbers: every share of samples with at most so many.
    fn counted(count: u64, all: u64, marked: u64, sample: u64) -> f64 {
        let choose = |n: u64, k: u64| -> f64 {
            if k > n {
                return 0.0;
            }
            (0..k).fold(1.0, |ways, i| ways * (n - i) as f64 / (i + 1) as f64)
        };
        let ways = |k: u64| choose(marked, k) * choose(all - marked, sample - k);
        let up_to = count.min(sample).min(marked);
        (0..=up_to).map(ways).sum::<f64>() / choose(all, sample)
    }

    proptest! {
        #[test]
        fn tails_are_what_counting_gives(all in 1u64..40, marked in 0u64..40, sample in 0u64..40, count in 0u64..40) {
            let (marked, sample) = (marked.min(all), sample.min(all));
            let expected = counted(count, all, marked, sample);
            let found = hypergeometric_at_most(count, all, marked, sample);
            prop_assert!((found - expected).abs() < 1e-11, "{} {}", found, expected);
        }

        #[test]
        fn bounds_are_the_definitions(all in 1u64..60, sample in 0u64..60, count in 0u64..60, miss in 0.01..0.3f64) {
            let sample = sample.min(all);
            let count = count.min(sample);
            let possible = |marked: &u64| {
                let rest = all - *marked;
                count <= *marked && sample - count <= rest && counted(count, all, *marked, sample) > miss
            };
            let expected = (0..=all).filter(possible).max();
            prop_assert_eq!(Some(most_marked(count, all, sample, miss)), expected);
        }
    }

    #[test] // However many are marked, the bound is below it in at most 5 % of the samples.
    fn bounds_hold_however_many_are_marked() {
        let (all, sample) = (300, 40);
        for marked in 0..=all {
            let missed = (0..=sample.min(marked))
                .filter(|&count| most_marked(count, all, sample, 0.05) < marked)
                .map(|count| {
                    let before = match count {
                        0 => 0.0,
                        _ => hypergeometric_at_most(count - 1, all, marked, sample),
                    };
                    hypergeometric_at_most(count, all, marked, sample) - before
                });
            assert!(missed.sum::<f64>() <= 0.05 + 1e-11, "{marked}");
        }
    }

    #[test]
    fn large_collections_take_no_time() {
        let most = most_marked(5, 100_000_000, 10_000, 0.05);
        // About the binomial bound, 10.51 of 10,000.
        assert!((most as f64 / 105_100.0 - 1.0).abs() < 0.01, "{most}");
    }
}
