//! Student's test of the mean of differences.

use serde::{Deserialize, Serialize};

use crate::numeric::{StableSum, student_tails};

/// What [`paired_t_test`] found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairedTTest {
    /// The number of differences.
    pub pairs: u64,
    /// Their mean.
    pub mean: f64,
    /// The standard error of the mean; 0 where all differences are equal.
    pub standard_error: f64,
    /// The mean by its standard error; absent where that is 0.
    pub t: Option<f64>,
    /// The chance of a mean at least as far from zero, if differences are normal around zero.
    pub p_value: f64,
}

/// Is the mean of differences of pairs zero? Takes differences for normally distributed.
///
/// # Formula
/// ```text
/// t = d̄ / (s/√n),   s² = Σ (d - d̄)² / (n - 1),   n - 1 degrees of freedom
/// ```
/// If all differences are equal, the p-value is 1 where they are zero and 0 where they are not. Fewer than two differences, or one that is
/// not finite, give 1.
///
/// # When it misleads
/// Differences of average precision are far from normal; with many queries that hardly matters, with ten it does. Compare
/// [`randomisation_test`](super::randomisation_test), which assumes nothing of the kind.
///
/// # Reference
/// Student, Biometrika 1908; for rankings Smucker, Allan & Carterette, CIKM 2007.
///
/// ```
/// use calibrant_calibration::evaluation::paired_t_test;
/// let test = paired_t_test(&[1.0, 2.0, 3.0]);
/// // By hand: mean 2, s = 1, t = 2√3 with two degrees of freedom: p = 1 - t/√(t² + 2).
/// assert!((test.t.unwrap() - 12f64.sqrt()).abs() < 1e-12);
/// assert!((test.p_value - (1.0 - (12f64 / 14.0).sqrt())).abs() < 1e-12);
/// ```
pub fn paired_t_test(differences: &[f64]) -> PairedTTest {
    let n = differences.len() as f64;
    let nothing = PairedTTest {
        pairs: differences.len() as u64,
        mean: 0.0,
        standard_error: 0.0,
        t: None,
        p_value: 1.0,
    };
    if differences.is_empty() || differences.iter().any(|difference| !difference.is_finite()) {
        return nothing;
    }
    let mean = differences.iter().copied().collect::<StableSum>().total() / n;
    if differences.len() < 2 {
        return PairedTTest { mean, ..nothing };
    }
    // Equal differences have no spread, though their mean may be rounded.
    if differences
        .iter()
        .all(|&difference| difference == differences[0])
    {
        let p_value = f64::from(u8::from(mean == 0.0));
        return PairedTTest {
            mean,
            p_value,
            ..nothing
        };
    }
    let squares = differences
        .iter()
        .map(|difference| (difference - mean) * (difference - mean));
    let variance = squares.collect::<StableSum>().total() / (n - 1.0);
    let standard_error = (variance / n).sqrt();
    let t = mean / standard_error;
    match t.is_finite() {
        false => PairedTTest { mean, ..nothing },
        true => PairedTTest {
            mean,
            standard_error,
            t: Some(t),
            p_value: student_tails(t, n - 1.0),
            ..nothing
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_without_spread_have_an_answer() {
        assert_eq!(paired_t_test(&[]).p_value, 1.0);
        assert_eq!(paired_t_test(&[0.3]).p_value, 1.0);
        assert_eq!(paired_t_test(&[0.0; 9]).p_value, 1.0);
        assert_eq!(paired_t_test(&[0.1; 9]).p_value, 0.0);
        assert_eq!(paired_t_test(&[0.1, f64::NAN]).p_value, 1.0);
        assert!((0.0..=1.0).contains(&paired_t_test(&[1e308, -1e308, 1e308]).p_value));
    }

    #[test]
    fn turning_the_sign_turns_t_and_leaves_p() {
        let differences = [0.1, -0.2, 0.4, 0.05, 0.3];
        let turned: Vec<f64> = differences.iter().map(|difference| -difference).collect();
        let (up, down) = (paired_t_test(&differences), paired_t_test(&turned));
        assert_eq!(up.t, down.t.map(|t| -t));
        assert_eq!(up.p_value, down.p_value);
    }
}
