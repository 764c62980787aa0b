//! McNemar's test.

use serde::{Deserialize, Serialize};

use super::{SignTest, two_sided};
use crate::numeric::ln_normal_cdf;

/// Do two classifiers err equally often? Looks at the decisions that exactly one of them got right.
///
/// # Formula
/// With `b` the decisions that only the first got right and `c` those that only the second did,
/// the exact form is the sign test of `b` against `c`; the form for large counts, with Edwards'
/// correction, compares
/// ```text
/// χ² = max(0, |b - c| - 1)² / (b + c)
/// ```
/// with the chi-squared distribution of one degree of freedom.
///
/// # When it misleads
/// As the sign test it takes decisions on one document for independent. With fewer than some
/// 25 decisions that differ, only the exact form is to be trusted.
///
/// # Reference
/// McNemar, Psychometrika 1947; Dietterich, Neural Computation 1998, section 3.1.
///
/// ```
/// use calibrant_calibration::evaluation::McNemarTest;
/// let test = McNemarTest::of_counts(9, 1);
/// assert!((test.p_value - 22.0 / 1024.0).abs() < 1e-15); // by hand: 2 · (1 + 10) / 2^10
/// assert!((test.chi_squared - 4.9).abs() < 1e-15); // by hand: (8 - 1)² / 10
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McNemarTest {
    /// Decisions that only the first got right.
    pub only_first_right: u64,
    /// Decisions that only the second got right.
    pub only_second_right: u64,
    /// The exact two-sided p-value.
    pub p_value: f64,
    /// Its logarithm.
    pub ln_p_value: f64,
    /// The statistic for large counts, with correction for continuity.
    pub chi_squared: f64,
    /// The p-value of that statistic.
    pub chi_squared_p_value: f64,
}

impl McNemarTest {
    /// From what has been counted.
    pub fn of_counts(only_first_right: u64, only_second_right: u64) -> Self {
        let exact = SignTest::of_counts(only_first_right, only_second_right, 0);
        let count = only_first_right as f64 + only_second_right as f64;
        let gap = only_first_right.abs_diff(only_second_right) as f64;
        let chi = if count > 0.0 {
            (gap - 1.0).max(0.0) / count.sqrt()
        } else {
            0.0
        };
        // One degree of freedom: the square of a normal number.
        let (chi_squared_p_value, _) = two_sided(ln_normal_cdf(-chi));
        Self {
            only_first_right,
            only_second_right,
            p_value: exact.p_value,
            ln_p_value: exact.ln_p_value,
            chi_squared: chi * chi,
            chi_squared_p_value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_counts_and_no_counts_tell_nothing() {
        for (b, c) in [(0, 0), (4, 4), (4, 5)] {
            let test = McNemarTest::of_counts(b, c);
            assert_eq!(
                (test.p_value, test.chi_squared_p_value),
                (1.0, 1.0),
                "{b} {c}"
            );
        }
    }

    #[test]
    fn both_forms_agree_for_large_counts() {
        let test = McNemarTest::of_counts(50_300, 49_700);
        assert!(
            (test.p_value / test.chi_squared_p_value - 1.0).abs() < 1e-3,
            "{test:?}"
        );
    }
}
