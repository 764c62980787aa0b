//! The sign test.

use std::cmp::Ordering;
use std::f64::consts::LN_2;

use serde::{Deserialize, Serialize};

use super::two_sided;
use crate::numeric::{HALF_LN_TAU, ln_normal_cdf, stirling_error};

/// Counts who was closer to the truth, decision by decision, whatever the distance. Over all
/// decisions of all classes it is known as the micro sign test.
///
/// # Formula
/// If neither is better, each of the `n` decisions on which the two differ is the toss of a fair
/// coin. With `k` the smaller of wins and losses,
/// ```text
/// p = min(1, 2 · Σ_{i=0..k} (n over i) / 2^n)
/// ```
/// worked out exactly, in logarithms. (From 10^12 decisions on the normal curve stands in for
/// the sum, with a correction of one half; nobody could tell the difference.) Ties are dropped.
///
/// # When it misleads
/// The size of a difference does not count: a forecaster that is a little closer nearly always
/// and ruinously wrong now and then wins this test and loses in total. Decisions on one document
/// depend on each other, which makes the test too sure; [`super::WilcoxonTest`] and
/// [`super::BootstrapDifference`] take a document as one.
///
/// # Reference
/// Yang & Liu, SIGIR 1999, section 4 (the micro sign test "s-test"); used by Bennett, SIGIR 2003.
///
/// ```
/// use calibrant_calibration::evaluation::SignTest;
/// let test = SignTest::of_counts(9, 1, 5);
/// // By hand: 2 · (1 + 10) / 2^10.
/// assert!((test.p_value - 22.0 / 1024.0).abs() < 1e-15);
/// assert_eq!(SignTest::of_counts(3, 3, 0).p_value, 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignTest {
    /// How often the first was closer to the truth.
    pub wins: u64,
    /// How often the second was.
    pub losses: u64,
    /// How often neither was.
    pub ties: u64,
    /// The chance of a count at least as uneven, on either side, if neither is better.
    pub p_value: f64,
    /// Its logarithm, which goes on where the value itself is too small to be written.
    pub ln_p_value: f64,
}

/// Beyond this many decisions the normal curve stands in for the sum.
const EXACT_UP_TO: u64 = 1_000_000_000_000;

impl SignTest {
    /// From what has been counted.
    pub fn of_counts(wins: u64, losses: u64, ties: u64) -> Self {
        let (p_value, ln_p_value) = two_sided(ln_tail(wins, losses));
        Self {
            wins,
            losses,
            ties,
            p_value,
            ln_p_value,
        }
    }

    /// From the outcomes: `Greater` where the first was closer to the truth.
    pub fn of_outcomes(outcomes: impl Iterator<Item = Ordering>) -> Self {
        let mut counts = [0; 3];
        for outcome in outcomes {
            counts[(outcome as i8 + 1) as usize] += 1;
        }
        let [losses, ties, wins] = counts;
        Self::of_counts(wins, losses, ties)
    }

    /// The same test seen from the other side.
    pub fn reversed(self) -> Self {
        Self {
            wins: self.losses,
            losses: self.wins,
            ..self
        }
    }
}

/// `ln Σ_{i=0..k} (n over i) / 2^n` for the smaller of the two counts.
fn ln_tail(wins: u64, losses: u64) -> f64 {
    let (few, many) = (wins.min(losses), wins.max(losses));
    let count = few.saturating_add(many);
    // As even as can be: the tail is a half or more.
    if many - few <= 1 {
        return 0.0;
    }
    if count > EXACT_UP_TO {
        let z = ((many - few) as f64 - 1.0) / (count as f64).sqrt();
        return ln_normal_cdf(-z);
    }
    // From the largest term down; each is the one before times i / (n - i + 1).
    let (mut term, mut sum) = (1.0, 1.0);
    let mut i = few;
    while i > 0 && term > 1e-18 * sum {
        term *= i as f64 / (count - i + 1) as f64;
        sum += term;
        i -= 1;
    }
    ln_heads(count, few) + sum.ln()
}

/// `ln ((n over k) / 2^n)`. The powers of two are taken off before anything large is summed, so that
/// a million tosses cost no digits.
fn ln_heads(tosses: u64, heads: u64) -> f64 {
    let (n, k, rest) = (tosses as f64, heads as f64, (tosses - heads) as f64);
    if heads == 0 {
        return -n * LN_2;
    }
    let lean = (k - rest) / n;
    let ln_share = if 4 * heads < tosses {
        (2.0 * k / n).ln()
    } else {
        lean.ln_1p()
    };
    let deviance = k * ln_share + rest * (-lean).ln_1p();
    0.5 * (n / k / rest).ln() - HALF_LN_TAU - deviance + stirling_error(tosses)
        - stirling_error(heads)
        - stirling_error(tosses - heads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::normal_cdf;

    #[test]
    fn small_counts_agree_with_adding_up_the_triangle_of_pascal() {
        for n in 0..=40u64 {
            let mut row = vec![1.0f64];
            for _ in 0..n {
                let mut next = vec![1.0];
                next.extend(row.windows(2).map(|pair| pair[0] + pair[1]));
                next.push(1.0);
                row = next;
            }
            for wins in 0..=n {
                let few = wins.min(n - wins) as usize;
                let tail: f64 = row[..=few].iter().sum::<f64>() / 2f64.powi(n as i32);
                let expected = (2.0 * tail).min(1.0);
                let found = SignTest::of_counts(wins, n - wins, 3).p_value;
                assert!(
                    (found / expected - 1.0).abs() < 2e-14,
                    "{wins} of {n}: {found} {expected}"
                );
            }
        }
    }

    #[test] // For many tosses the normal curve is right to a few parts in n.
    fn large_counts_come_close_to_the_normal_curve() {
        for (n, spread) in [
            (1_000_000u64, 2.0),
            (100_000_000, 3.0),
            (10_000_000_000, 1.0),
        ] {
            let lean = (spread * (n as f64).sqrt() / 2.0) as u64;
            let (wins, losses) = (n / 2 + lean, n / 2 - lean);
            let z = ((wins - losses) as f64 - 1.0) / (n as f64).sqrt();
            let expected = 2.0 * normal_cdf(-z);
            let found = SignTest::of_counts(wins, losses, 0).p_value;
            assert!(
                (found / expected - 1.0).abs() < 30.0 / n as f64,
                "{n}: {found} {expected}"
            );
        }
    }

    #[test]
    fn nothing_breaks_at_the_ends() {
        let none = SignTest::of_counts(0, 0, 7);
        assert_eq!((none.p_value, none.ln_p_value), (1.0, 0.0));
        let all = SignTest::of_counts(0, 5_000, 0); // by hand: 2 / 2^5000
        assert!((all.ln_p_value - -4_999.0 * LN_2).abs() < 1e-9);
        assert!(all.p_value > 0.0);
        let huge = SignTest::of_counts(u64::MAX, 1, u64::MAX);
        assert!(huge.ln_p_value.is_finite() && huge.ln_p_value < -1e18);
        assert!(SignTest::of_counts(u64::MAX, u64::MAX - 1, 0).p_value > 0.99);
    }

    #[test]
    fn outcomes_are_counted_and_can_be_seen_from_the_other_side() {
        use Ordering::{Equal, Greater, Less};
        let test = SignTest::of_outcomes([Greater, Equal, Less, Greater, Greater].into_iter());
        assert_eq!((test.wins, test.losses, test.ties), (3, 1, 1));
        assert_eq!(test.reversed(), SignTest::of_counts(1, 3, 1));
    }
}
