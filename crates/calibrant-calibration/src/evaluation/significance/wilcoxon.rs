//! Wilcoxon's signed-rank test.

use serde::{Deserialize, Serialize};

use super::two_sided;
use crate::numeric::ln_normal_cdf;

/// What [`wilcoxon_signed_rank`] found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WilcoxonTest {
    /// Differences that are not zero.
    pub pairs: u64,
    /// Differences that are zero, which have no part in the test.
    pub zeros: u64,
    /// The ranks of the positive differences, added up.
    pub positive_ranks: f64,
    /// The ranks of the negative differences, added up.
    pub negative_ranks: f64,
    /// How many standard deviations the positive ranks lie above what is expected.
    pub z: f64,
    /// Whether the p-value was counted out rather than read off the normal curve.
    pub exact: bool,
    /// The chance of ranks at least as uneven, on either side, if differences are as likely up as down.
    pub p_value: f64,
    /// Its logarithm, which goes on where the value itself is too small to be written.
    pub ln_p_value: f64,
}

/// Up to this many differences the distribution is counted out.
const EXACT_UP_TO: usize = 50;

/// Are the differences of pairs centred on zero? Uses how large differences are, but only in ranks.
///
/// # Formula
/// The differences that are not zero (nor not-a-number) are ranked by size, equal ones sharing the
/// mean of their ranks. With `T` the sum of the ranks of positive ones, `n` their number and `t`
/// running over the sizes of groups of equals,
/// ```text
/// z = (T - n(n+1)/4) / √(n(n+1)(2n+1)/24 - Σ(t³-t)/48)
/// ```
/// is compared with the normal curve. Up to 50 differences all `2^n` ways of giving the ranks their
/// signs are counted instead, ties included, and the p-value is exact. Zeros are dropped
/// (Wilcoxon's own way, not Pratt's).
///
/// # When it misleads
/// It asks about the middle of the differences, not about their mean: a few large losses can turn
/// the mean over without changing a rank. Weights of documents have no place in it.
///
/// # Reference
/// Wilcoxon, Biometrics Bulletin 1945.
///
/// ```
/// use calibrant_calibration::evaluation::wilcoxon_signed_rank;
/// let test = wilcoxon_signed_rank(&[0.1, 0.4, 0.0, 0.3, -0.2]);
/// assert_eq!((test.positive_ranks, test.negative_ranks, test.zeros), (8.0, 2.0, 1));
/// // By hand: of 16 ways to sign the ranks 1 to 4, {}, {1} and {2} give at most 2; twice 3/16.
/// assert_eq!(test.p_value, 0.375);
/// ```
pub fn wilcoxon_signed_rank(differences: &[f64]) -> WilcoxonTest {
    // The size in the upper bits orders the keys; the sign rides along in the lowest.
    let mut keys: Vec<u64> = differences
        .iter()
        .filter(|difference| **difference != 0.0 && !difference.is_nan())
        .map(|difference| difference.abs().to_bits() << 1 | u64::from(*difference > 0.0))
        .collect();
    keys.sort_unstable();
    let count = keys.len();
    // Twice the ranks, which are whole numbers even where ranks are shared.
    let mut doubled_ranks = Vec::with_capacity(if count <= EXACT_UP_TO { count } else { 0 });
    let (mut positive, mut tied, mut start) = (0u128, 0.0, 0);
    for equals in keys.chunk_by(|a, b| a >> 1 == b >> 1) {
        let end = start + equals.len();
        let doubled = (start + 1 + end) as u64;
        let up = equals.iter().map(|key| key & 1).sum::<u64>();
        positive += u128::from(doubled) * u128::from(up);
        let t = equals.len() as f64;
        tied += t * t * t - t;
        if count <= EXACT_UP_TO {
            doubled_ranks.resize(end, doubled as usize);
        }
        start = end;
    }
    let n = count as f64;
    let positive_ranks = positive as f64 / 2.0;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tied / 48.0;
    let z = if count == 0 {
        0.0
    } else {
        (positive_ranks - n * (n + 1.0) / 4.0) / variance.sqrt()
    };
    let exact = count <= EXACT_UP_TO;
    let (p_value, ln_p_value) = if exact {
        let p_value = (2.0 * exact_tail(&doubled_ranks, positive as usize)).min(1.0);
        (p_value, p_value.ln())
    } else {
        two_sided(ln_normal_cdf(-z.abs()))
    };
    WilcoxonTest {
        pairs: count as u64,
        zeros: (differences.len() - count) as u64,
        positive_ranks,
        negative_ranks: n * (n + 1.0) / 2.0 - positive_ranks,
        z,
        exact,
        p_value,
        ln_p_value,
    }
}

/// The chance that randomly signed ranks sum to `found` or further out, on the side where it lies.
fn exact_tail(ranks: &[usize], found: usize) -> f64 {
    let total: usize = ranks.iter().sum();
    // The chance of every sum, one rank after the other; by symmetry the lower side will do.
    let mut chances = vec![0.0; total + 1];
    chances[0] = 1.0;
    let mut reach = 0;
    for &rank in ranks {
        reach += rank;
        for sum in (0..=reach).rev() {
            let with = if sum >= rank {
                chances[sum - rank]
            } else {
                0.0
            };
            chances[sum] = (chances[sum] + with) / 2.0;
        }
    }
    chances[..=found.min(total - found)].iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Counts every way of giving signs to the differences.
    fn by_brute_force(differences: &[f64]) -> f64 {
        let sizes: Vec<f64> = differences
            .iter()
            .map(|d| d.abs())
            .filter(|&d| d > 0.0)
            .collect();
        let rank = |size: f64| {
            let below = sizes.iter().filter(|&&other| other < size).count() as f64;
            let equal = sizes.iter().filter(|&&other| other == size).count() as f64;
            below + (equal + 1.0) / 2.0
        };
        let found: f64 = differences
            .iter()
            .filter(|&&d| d > 0.0)
            .map(|&d| rank(d))
            .sum();
        let (mut low, mut high) = (0, 0);
        for signs in 0u32..1 << sizes.len() {
            let sum: f64 = (0..sizes.len())
                .filter(|&i| signs >> i & 1 == 1)
                .map(|i| rank(sizes[i]))
                .sum();
            low += u32::from(sum <= found);
            high += u32::from(sum >= found);
        }
        (2.0 * f64::from(low.min(high)) / f64::from(1u32 << sizes.len())).min(1.0)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn few_differences_agree_with_counting_all_signs(values in prop::collection::vec(-4i8..5, 0..11)) {
            let differences: Vec<f64> = values.into_iter().map(f64::from).collect();
            let found = wilcoxon_signed_rank(&differences);
            prop_assert!((found.p_value - by_brute_force(&differences)).abs() < 1e-12);
        }

        #[test]
        fn the_order_of_rows_and_the_side_looked_from_do_not_matter(
            mut values in prop::collection::vec(-1e3f64..1e3, 1..200)
        ) {
            let one = wilcoxon_signed_rank(&values);
            values.reverse();
            prop_assert_eq!(wilcoxon_signed_rank(&values), one);
            values.iter_mut().for_each(|value| *value = -*value);
            let other = wilcoxon_signed_rank(&values);
            prop_assert_eq!((other.positive_ranks, other.negative_ranks), (one.negative_ranks, one.positive_ranks));
            prop_assert!((other.ln_p_value - one.ln_p_value).abs() < 1e-12);
        }
    }

    #[test]
    fn nothing_breaks_at_the_ends() {
        let none = wilcoxon_signed_rank(&[0.0, -0.0, f64::NAN]);
        assert_eq!(
            (none.pairs, none.zeros, none.p_value, none.z),
            (0, 3, 1.0, 0.0)
        );
        let equal = wilcoxon_signed_rank(&[2.5; 100_000]);
        assert!(equal.ln_p_value < -10_000.0 && equal.ln_p_value.is_finite());
        assert!(equal.p_value > 0.0);
        let large = wilcoxon_signed_rank(&[1e308, -1e308, f64::INFINITY, 5e-324]);
        assert_eq!(large.pairs, 4);
        assert!(large.p_value <= 1.0);
        // By hand: all fifty up is one way of 2^50, on each of two sides.
        let all_up: Vec<f64> = (1..=50).map(f64::from).collect();
        assert_eq!(wilcoxon_signed_rank(&all_up).p_value, 2f64.powi(-49));
    }
}
