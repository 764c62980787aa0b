//! The squared calibration error without what chance adds to it.

use super::SortedForecasts;
use super::perfect::{DRAWS, ENOUGH_FOR_MEANS, PerfectBin, generator};
use crate::numeric::StableSum;
use serde::{Deserialize, Serialize};

/// An estimate of the squared calibration error that is right on average.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DebiasedError {
    /// The estimate; below zero where bins agree with their forecasts better than chance would let
    /// them, which means: no miscalibration can be seen.
    pub squared: f64,
    /// The square root of its size, with its sign: comparable to other calibration errors.
    pub signed_root: f64,
    /// The standard deviation of [`Self::squared`] for a perfect forecaster, whose mean is 0.
    pub squared_deviation_of_perfect: f64,
}

impl SortedForecasts {
    /// The debiased squared calibration error over at most `bins` bins of equal mass.
    ///
    /// # Formula
    /// ```text
    /// Σ_b W_b/W [ (p̄_b - ȳ_b)² - ȳ_b (1-ȳ_b) / (n_b - 1) ]
    /// ```
    /// `p̄` and `ȳ` are the mean stated probability and the share that came true in a bin, and `n_b` is
    /// its effective count `(Σw)² / Σw²`: a forecast that counts twice is not two forecasts. Bins with
    /// an effective count of one have no estimate and are left out.
    ///
    /// # When it misleads
    /// Binning hides what is wrong within a bin. With few forecasts it is often negative.
    ///
    /// # Reference
    /// Kumar, Liang & Ma, NeurIPS 2019.
    ///
    /// ```
    /// use calibrant_calibration::{Probability, evaluation::SortedForecasts};
    /// let p = Probability::from_log_odds(0.0);
    /// let points: Vec<_> = (0..10).map(|i| (p, i < 8, 1.0)).collect();
    /// let error = SortedForecasts::new(&points).debiased_error(15);
    /// // By hand: (0.5 - 0.8)² - 0.8 · 0.2 / 9.
    /// assert!((error.squared - (0.09 - 0.16 / 9.0)).abs() < 1e-12);
    /// ```
    pub fn debiased_error(&self, bins: usize) -> DebiasedError {
        let bins = self.equal_mass(bins);
        let mut random = generator();
        let mut squared = StableSum::default();
        let mut of_perfect = [0.0; DRAWS];
        for bin in bins {
            let weight: f64 = self.weights[bin.clone()].iter().sum();
            // Divided by the bin's own largest, so that squares of light weights do not vanish.
            let largest = self.weights[bin.clone()]
                .iter()
                .copied()
                .fold(0.0, f64::max);
            let squares = self.sum(bin.clone(), |i| (self.weights[i] / largest).powi(2));
            let effective_count = (weight / largest).powi(2) / squares;
            if effective_count < 1.0 + 1e-9 {
                continue;
            }
            let (yes, _) = self.outcomes(bin.clone());
            let mean_stated = self.sum(bin.clone(), |i| self.weights[i] * self.stated(i)) / weight;
            let term = |gap: f64, share: f64| {
                let share = share.clamp(0.0, 1.0);
                weight / self.total * (gap * gap - share * (1.0 - share) / (effective_count - 1.0))
            };
            squared.add(term(self.gap_of(&bin) / weight, yes / weight));
            let perfect = PerfectBin::new(self, bin.clone(), ENOUGH_FOR_MEANS);
            for (sum, gap) in of_perfect
                .iter_mut()
                .zip(perfect.gaps(self, DRAWS, &mut random))
            {
                *sum += term(gap / weight, mean_stated + gap / weight);
            }
        }
        let squared = squared.total();
        let mean = of_perfect.iter().sum::<f64>() / DRAWS as f64;
        let variance = of_perfect.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / DRAWS as f64;
        DebiasedError {
            squared,
            signed_root: squared.signum() * squared.abs().sqrt(),
            squared_deviation_of_perfect: variance.sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sorted_forecasts::testing::*;
    use super::*;
    use crate::numeric::Random;
    use proptest::prelude::*;

    #[test]
    fn the_mean_over_perfect_outcomes_is_nothing() {
        for weighted in [false, true] {
            let mut points = drawn(3, 600, (-1.0, 1.5), 1.0, weighted);
            let mut random = Random::from_seed(4);
            let found: Vec<f64> = (0..600)
                .map(|_| {
                    redraw(&mut points, &mut random);
                    SortedForecasts::new(&points).debiased_error(15).squared
                })
                .collect();
            let mean = found.iter().sum::<f64>() / 600.0;
            let deviation = (found.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / 600.0).sqrt();
            // Four standard errors; within a bin probabilities differ a little, which is allowed for.
            assert!(
                mean.abs() < 4.0 * deviation / 600f64.sqrt() + 2e-5,
                "{mean} {deviation}"
            );
            let said = SortedForecasts::new(&points).debiased_error(15);
            let ratio = said.squared_deviation_of_perfect / deviation;
            assert!((ratio - 1.0).abs() < 0.25, "{ratio}");
        }
    }

    #[test] // A forecaster whose log-odds are doubled misses by about 0.1.
    fn miscalibration_is_found() {
        let points = drawn(5, 20_000, (0.0, 3.0), 2.0, false);
        let error = SortedForecasts::new(&points).debiased_error(15);
        let plain =
            SortedForecasts::new(&points).calibration_error(super::super::Binning::EqualMass, 15);
        assert!(
            error.signed_root >= plain.value - 1e-3,
            "{error:?} {plain:?}"
        );
        assert!(error.squared > 20.0 * error.squared_deviation_of_perfect);
    }

    proptest! {
        #[test]
        fn it_is_finite_whatever_comes(points in any_points(), bins in 0usize..20) {
            let error = SortedForecasts::new(&points).debiased_error(bins);
            prop_assert!(error.squared.is_finite() && error.squared_deviation_of_perfect.is_finite());
        }
    }
}
