//! Tests of the claim that forecasts are calibrated.

use super::SortedForecasts;
use crate::numeric::normal_cdf;
use serde::{Deserialize, Serialize};

/// A test statistic and how often a perfect forecaster would show one as extreme.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    /// The statistic.
    pub statistic: f64,
    /// The chance of a statistic at least as extreme if the stated probabilities are right.
    pub p_value: f64,
}

impl SortedForecasts {
    /// Spiegelhalter's test: is the squared error what the forecasts themselves lead one to expect?
    /// `None` where nothing is open (all forecasts one half or certain).
    ///
    /// # Formula
    /// ```text
    /// z = Σ w (y-p)(1-2p) / √ Σ w² (1-2p)² p (1-p)
    /// ```
    /// Standard normal for a perfect forecaster; above 0 for one that is too sure. The p-value is for
    /// both sides: one that is too timid is as wrong as one that is too sure.
    ///
    /// # When it misleads
    /// Errors in opposite directions cancel. Decisions on one document are taken as independent.
    ///
    /// # Reference
    /// Spiegelhalter, Statistics in Medicine 5 (1986).
    ///
    /// ```
    /// use calibrant_calibration::{Probability, evaluation::SortedForecasts};
    /// let p = Probability::from_log_odds(3f64.ln()); // 0.75, once right and once wrong
    /// let test = SortedForecasts::new(&[(p, true, 1.0), (p, false, 1.0)]).spiegelhalter().unwrap();
    /// // By hand: (0.25 - 0.75)(-0.5) / √(2 · 0.25 · 0.1875).
    /// assert!((test.statistic - 0.25 / 0.09375f64.sqrt()).abs() < 1e-12);
    /// ```
    pub fn spiegelhalter(&self) -> Option<TestResult> {
        let lean = |i: usize| {
            let size = 1.0 - 2.0 * self.surprise[i];
            if self.log_odds[i] > 0.0 { -size } else { size }
        };
        let whole = 0..self.len();
        let excess = self.sum(whole.clone(), |i| self.weights[i] * self.gap(i) * lean(i));
        let variance = self.sum(whole, |i| lean(i) * lean(i) * self.variance(i));
        let statistic = excess / variance.sqrt();
        statistic.is_finite().then(|| TestResult {
            statistic,
            p_value: 2.0 * normal_cdf(-statistic.abs()),
        })
    }

    /// The tests of Kolmogorov and Smirnov and of Kuiper: how far do the summed differences between
    /// outcomes and forecasts, from the lowest forecast up, drift from zero? `None` where every outcome
    /// is certain.
    ///
    /// # Formula
    /// ```text
    /// C_k = Σ_{i<=k} w (y - p),  C_0 = 0        scale = √ Σ w² p (1-p)
    /// Kolmogorov-Smirnov  max |C_k| / scale     Kuiper  (max C_k - min C_k) / scale
    /// ```
    /// For a perfect forecaster `C` is nearly Brownian motion, whose largest size and range have known
    /// distributions. Within equal forecasts the order means nothing, so `C` is looked at after them.
    ///
    /// # When it misleads
    /// With few forecasts Brownian motion is a rough picture and the p-values are too large. A sum over
    /// a long stretch of small errors weighs more than a large error at a few forecasts.
    ///
    /// # Reference
    /// Tygert, arXiv:2202.00100; Arrieta-Ibarra et al., JMLR 23 (2022).
    ///
    /// ```
    /// use calibrant_calibration::{Probability, evaluation::SortedForecasts};
    /// let p = Probability::from_log_odds(0.0);
    /// let (smirnov, kuiper) = SortedForecasts::new(&[(p, true, 1.0); 4]).cumulative_tests().unwrap();
    /// // By hand: four coins, all heads: 4 · 0.5 / √(4 · 0.25) = 2; P(sup |B| > 2) = 4 (Φ̄(2) - Φ̄(6) + ...).
    /// assert!((smirnov.statistic - 2.0).abs() < 1e-12 && (kuiper.statistic - 2.0).abs() < 1e-12);
    /// assert!((smirnov.p_value - 0.091_000).abs() < 1e-6);
    /// ```
    pub fn cumulative_tests(&self) -> Option<(TestResult, TestResult)> {
        let scale = self.sum(0..self.len(), |i| self.variance(i)).sqrt();
        let (mut drift, mut lowest, mut highest) = (0.0f64, 0.0f64, 0.0f64);
        for i in 0..self.len() {
            drift += self.weights[i] * self.gap(i);
            if self.log_odds.get(i + 1) != Some(&self.log_odds[i]) {
                lowest = lowest.min(drift);
                highest = highest.max(drift);
            }
        }
        let (size, range) = (highest.max(-lowest) / scale, (highest - lowest) / scale);
        (size.is_finite() && range.is_finite()).then(|| {
            (
                TestResult {
                    statistic: size,
                    p_value: largest_size_tail(size),
                },
                TestResult {
                    statistic: range,
                    p_value: range_tail(range),
                },
            )
        })
    }
}

/// The chance that Brownian motion over one unit of time is anywhere farther than `x` from its start.
///
/// # Formula
/// ```text
/// 4 Σ_{k>=0} (-1)^k Φ̄((2k+1) x)  =  1 - 2/π Σ_{k>=0} (-1)^k / (k+½) exp(-(k+½)² π² / 2x²)
/// ```
/// The first series is short for large `x` and keeps small chances exact, the second for small.
fn largest_size_tail(x: f64) -> f64 {
    let mut sum = 0.0;
    let mut sign = 1.0;
    if x >= 1.0 {
        for k in 0..20 {
            sum += sign * normal_cdf(-f64::from(2 * k + 1) * x);
            sign = -sign;
        }
        (4.0 * sum).clamp(0.0, 1.0)
    } else {
        for k in 0..20 {
            let half = f64::from(k) + 0.5;
            sum += sign / half * (-0.5 * (half * std::f64::consts::PI / x).powi(2)).exp();
            sign = -sign;
        }
        (1.0 - sum * 2.0 / std::f64::consts::PI).clamp(0.0, 1.0)
    }
}

/// The chance that the range of Brownian motion over one unit of time exceeds `x`.
///
/// # Formula
/// ```text
/// 8 Σ_{k>=1} (-1)^{k-1} k Φ̄(k x)
///   =  1 - Σ_{k>=0} (8/x² + 2/((k+½)² π²)) exp(-2 (k+½)² π² / x²)
/// ```
fn range_tail(x: f64) -> f64 {
    let mut sum = 0.0;
    if x >= 1.5 {
        let mut sign = 1.0;
        for k in 1..=20 {
            sum += sign * f64::from(k) * normal_cdf(-f64::from(k) * x);
            sign = -sign;
        }
        (8.0 * sum).clamp(0.0, 1.0)
    } else {
        for k in 0..20 {
            let square = ((f64::from(k) + 0.5) * std::f64::consts::PI).powi(2);
            let shrunk = (-2.0 * square / (x * x)).exp();
            if shrunk > 0.0 {
                sum += (8.0 / (x * x) + 2.0 / square) * shrunk;
            }
        }
        (1.0 - sum).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::sorted_forecasts::testing::*;
    use super::*;
    use crate::numeric::Random;
    use proptest::prelude::*;

    #[test] // The published 0.3708 and 0.0634 of the two distributions at 1.
    fn the_distributions_agree_with_published_values_and_their_halves_meet() {
        assert!((largest_size_tail(1.0) - 0.6292).abs() < 5e-5);
        assert!((range_tail(1.0) - 0.9366).abs() < 5e-5);
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        near(largest_size_tail(1.0 - 1e-14), largest_size_tail(1.0));
        near(range_tail(1.5 - 1e-14), range_tail(1.5));
        assert_eq!((largest_size_tail(0.0), range_tail(0.0)), (1.0, 1.0));
        assert!(largest_size_tail(20.0) > 0.0 && largest_size_tail(20.0) < 1e-80);
    }

    #[test]
    fn a_perfect_forecaster_is_rejected_about_as_often_as_promised() {
        let mut points = drawn(1, 2_000, (-1.0, 1.5), 1.0, true);
        let mut random = Random::from_seed(2);
        let mut rejected = [0; 3];
        for _ in 0..400 {
            redraw(&mut points, &mut random);
            let sorted = SortedForecasts::new(&points);
            let (smirnov, kuiper) = sorted.cumulative_tests().unwrap();
            for (count, test) in
                rejected
                    .iter_mut()
                    .zip([sorted.spiegelhalter().unwrap(), smirnov, kuiper])
            {
                *count += i32::from(test.p_value < 0.1);
            }
        }
        // 40 each, give or take four times 6; the last two err on the safe side.
        assert!((16..=64).contains(&rejected[0]), "{rejected:?}");
        assert!(
            (10..=64).contains(&rejected[1]) && (10..=64).contains(&rejected[2]),
            "{rejected:?}"
        );
    }

    #[test]
    fn a_forecaster_who_exaggerates_is_found_out() {
        let sorted = SortedForecasts::new(&drawn(3, 3_000, (0.0, 2.0), 2.0, false));
        let test = sorted.spiegelhalter().unwrap();
        assert!(test.statistic > 5.0 && test.p_value < 1e-6);
        assert!(sorted.cumulative_tests().unwrap().1.p_value < 1e-3);
    }

    proptest! {
        #[test]
        fn chances_are_chances_whatever_comes(points in any_points()) {
            let sorted = SortedForecasts::new(&points);
            let (a, b) = sorted.cumulative_tests().unzip();
            for test in [sorted.spiegelhalter(), a, b].into_iter().flatten() {
                prop_assert!(test.statistic.is_finite() && (0.0..=1.0).contains(&test.p_value));
            }
        }
    }
}
