//! The expected calibration error, and what it would be by chance alone.

use super::SortedForecasts;
use super::perfect::{DRAWS, ENOUGH_FOR_ENDS, ENOUGH_FOR_MEANS, PerfectBin, generator};
use crate::Probability;
use crate::numeric::StableSum;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A measure that is above zero for a perfect forecaster too, beside what it would be for one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BesidePerfect {
    /// What was measured.
    pub value: f64,
    /// The mean of the measure over outcomes drawn from the stated probabilities.
    pub of_perfect: f64,
}

/// Sets of outcomes that a band is found with.
const BAND_DRAWS: usize = 1000;

/// How forecasts are sorted into bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Binning {
    /// Bins that hold about the same weight; equal probabilities stay together.
    EqualMass,
    /// `k/B <= p < (k+1)/B`.
    EqualWidth,
}

/// The expected calibration error: the mean, over bins of about equal weight, of the
/// distance between the mean stated probability and the share that came true.
///
/// # Formula
/// ```text
/// Σ_bins | Σ_{i in bin} w_i (y_i - p_i) |  /  Σ_i w_i
/// ```
///
/// # When it misleads
/// It is never zero on real data, even for a perfect forecaster: compare it with
/// [`calibration_error_of_perfect`]. It depends on the number of bins, and forecasting the
/// overall share for everything makes it zero; read it beside log loss.
///
/// ```
/// use calibrant_calibration::{Probability, evaluation::calibration_error};
/// let p = Probability::from_log_odds(3f64.ln()); // 0.75
/// let points = [(p, true, 1.0), (p, false, 1.0)];
/// assert!((calibration_error(&points, 15) - 0.25).abs() < 1e-12); // |0.75 - 0.5|
/// ```
pub fn calibration_error(points: &[(Probability, bool, f64)], bins: usize) -> f64 {
    let sorted = SortedForecasts::new(points);
    error_of(&sorted, &sorted.equal_mass(bins))
}

/// The mean calibration error that a perfectly calibrated forecaster of the same
/// stated probabilities would show. What came true in `points` is not looked at.
///
/// A bin's gap is normal with variance `Σ w² p (1-p)` where enough outcomes are open, and has a
/// mean size of `√(2/π)` standard deviations; in other bins 200 sets of outcomes are drawn.
/// Equal input gives equal output.
pub fn calibration_error_of_perfect(points: &[(Probability, bool, f64)], bins: usize) -> f64 {
    let sorted = SortedForecasts::new(points);
    error_of_perfect(&sorted, &sorted.equal_mass(bins))
}

impl SortedForecasts {
    /// The expected calibration error over at most `bins` bins, beside that of a perfect forecaster;
    /// see [`calibration_error`].
    ///
    /// ```
    /// use calibrant_calibration::{Probability, evaluation::{Binning, SortedForecasts}};
    /// let p = Probability::from_log_odds(3f64.ln()); // 0.75
    /// let forecasts = SortedForecasts::new(&[(p, true, 1.0), (p, false, 1.0)]);
    /// let error = forecasts.calibration_error(Binning::EqualWidth, 10);
    /// assert!((error.value - 0.25).abs() < 1e-12); // by hand: |0.75 - 0.5|
    /// ```
    pub fn calibration_error(&self, binning: Binning, bins: usize) -> BesidePerfect {
        let bins = self.cut(binning, bins);
        BesidePerfect {
            value: error_of(self, &bins),
            of_perfect: error_of_perfect(self, &bins),
        }
    }

    /// The calibration error that a perfect forecaster of the same probabilities stays within this `share` of the time: the
    /// quantile over a thousand sets of outcomes drawn from the stated probabilities. What came true is not looked at.
    ///
    /// ```
    /// use calibrant_calibration::{Probability, evaluation::{Binning, SortedForecasts}};
    /// let p = Probability::from_log_odds(9f64.ln()); // 0.9
    /// let forecasts = SortedForecasts::new(&[(p, true, 1.0)]);
    /// // By hand: nine times of ten it comes true, and the error is 0.1; else it is 0.9.
    /// let band = |share| forecasts.calibration_error_band(Binning::EqualMass, 15, share);
    /// assert!((band(0.8) - 0.1).abs() < 1e-12);
    /// assert!((band(0.95) - 0.9).abs() < 1e-12);
    /// ```
    pub fn calibration_error_band(&self, binning: Binning, bins: usize, share: f64) -> f64 {
        let mut random = generator();
        let mut errors = vec![0.0; BAND_DRAWS];
        for bin in self.cut(binning, bins) {
            let bin = PerfectBin::new(self, bin, ENOUGH_FOR_ENDS);
            let gaps = bin.gaps(self, BAND_DRAWS, &mut random);
            for (error, gap) in errors.iter_mut().zip(gaps) {
                *error += gap.abs() / self.total;
            }
        }
        errors.sort_by(f64::total_cmp);
        let rank = (share * BAND_DRAWS as f64).ceil() as usize;
        errors[rank.clamp(1, BAND_DRAWS) - 1]
    }

    /// The largest distance between the mean stated probability of a bin and the share that came
    /// true in it, over at most `bins` bins of equal mass.
    ///
    /// # When it misleads
    /// The largest of many noisy distances is large by chance: read it beside the perfect forecaster's.
    pub fn max_calibration_error(&self, bins: usize) -> BesidePerfect {
        let bins = self.equal_mass(bins);
        let weights: Vec<f64> = bins
            .iter()
            .map(|bin| self.weights[bin.clone()].iter().sum())
            .collect();
        let largest = |gaps: &mut dyn Iterator<Item = f64>| {
            gaps.zip(&weights)
                .map(|(gap, weight)| (gap.abs() / weight).min(1.0))
                .fold(0.0, f64::max)
        };
        let value = largest(&mut bins.iter().map(|bin| self.gap_of(bin)));
        let mut random = generator();
        let drawn: Vec<Vec<f64>> = bins
            .iter()
            .map(|bin| {
                PerfectBin::new(self, bin.clone(), ENOUGH_FOR_MEANS).gaps(self, DRAWS, &mut random)
            })
            .collect();
        let total: f64 = (0..DRAWS)
            .map(|draw| largest(&mut drawn.iter().map(|gaps| gaps[draw])))
            .sum();
        BesidePerfect {
            value,
            of_perfect: total / DRAWS as f64,
        }
    }

    pub(super) fn cut(&self, binning: Binning, bins: usize) -> Vec<Range<usize>> {
        match binning {
            Binning::EqualMass => self.equal_mass(bins),
            Binning::EqualWidth => self.equal_width(bins),
        }
    }

    /// `Σ w (y - p)` over a bin.
    pub(super) fn gap_of(&self, bin: &Range<usize>) -> f64 {
        self.sum(bin.clone(), |i| self.weights[i] * self.gap(i))
    }
}

pub(super) fn error_of(forecasts: &SortedForecasts, bins: &[Range<usize>]) -> f64 {
    if bins.is_empty() {
        return 0.0;
    }
    let gaps = bins.iter().map(|bin| forecasts.gap_of(bin).abs());
    gaps.collect::<StableSum>().total() / forecasts.total
}

pub(super) fn error_of_perfect(forecasts: &SortedForecasts, bins: &[Range<usize>]) -> f64 {
    if bins.is_empty() {
        return 0.0;
    }
    let mut random = generator();
    let sizes = bins.iter().map(|bin| {
        PerfectBin::new(forecasts, bin.clone(), ENOUGH_FOR_MEANS).mean_size(forecasts, &mut random)
    });
    sizes.collect::<StableSum>().total() / forecasts.total
}

#[cfg(test)]
mod tests {
    use super::super::sorted_forecasts::{Point, testing::*};
    use super::*;
    use crate::numeric::Random;
    use proptest::prelude::*;

    #[test] // By hand: bins {0.1, 0.3} with one of two true, {0.6, 0.8} with none true.
    fn a_small_case_agrees_with_the_hand() {
        let points = [
            (at(0.1), true, 1.0),
            (at(0.3), false, 1.0),
            (at(0.6), false, 1.0),
            (at(0.8), false, 1.0),
        ];
        // |0.4 - 1| / 4 + |1.4 - 0| / 4
        assert!((calibration_error(&points, 2) - 0.5).abs() < 1e-12);
        let sorted = SortedForecasts::new(&points);
        // The same halves by width; the largest distance is 1.4 / 2.
        let wide = sorted.calibration_error(Binning::EqualWidth, 2);
        assert!((wide.value - 0.5).abs() < 1e-12);
        assert!((sorted.max_calibration_error(2).value - 0.7).abs() < 1e-12);
        assert_eq!(calibration_error(&[], 15), 0.0);
        assert_eq!(calibration_error_of_perfect(&[], 15), 0.0);
    }

    /// Draws every outcome by itself.
    fn perfect_by_brute_force(
        points: &[Point],
        draws: usize,
        measure: impl Fn(&SortedForecasts) -> f64,
    ) -> f64 {
        let mut random = Random::from_seed(99);
        let mut drawn = points.to_vec();
        let mut total = 0.0;
        for _ in 0..draws {
            redraw(&mut drawn, &mut random);
            total += measure(&SortedForecasts::new(&drawn));
        }
        total / draws as f64
    }

    #[test]
    fn what_a_perfect_forecaster_shows_agrees_with_drawing_each_outcome() {
        let mut seed = 0;
        for (spread, centre, count) in [
            (1.0, 0.0, 400),
            (3.0, -3.0, 400),
            (0.1, 5.0, 400),
            (20.0, 0.0, 400),
            (2.0, -2.0, 6_000),
        ] {
            seed += 1;
            let points = drawn(seed, count, (centre, spread), 1.0, true);
            let sorted = SortedForecasts::new(&points);
            let close = |quick: f64, slow: f64| {
                // 200 draws of a sum over 15 bins vary by a few per cent of their mean.
                assert!(
                    (quick / slow - 1.0).abs() < 0.08,
                    "{quick} {slow} at {spread} {centre}"
                );
            };
            for binning in [Binning::EqualMass, Binning::EqualWidth] {
                close(
                    sorted.calibration_error(binning, 15).of_perfect,
                    perfect_by_brute_force(&points, 1_000, |sorted| {
                        error_of(sorted, &sorted.cut(binning, 15))
                    }),
                );
            }
            let brute = perfect_by_brute_force(&points, 1_000, |sorted| {
                let shares = sorted
                    .equal_mass(15)
                    .into_iter()
                    .map(|bin| sorted.gap_of(&bin).abs() / sorted.weights[bin].iter().sum::<f64>());
                shares.fold(0.0, f64::max)
            });
            close(sorted.max_calibration_error(15).of_perfect, brute);
        }
    }

    #[test] // By hand: n fair coins in one bin; the mean of |share - 1/2| is about √(1/(2πn)).
    fn fair_coins_miss_by_the_textbook_amount() {
        let points = vec![(at(0.5), true, 1.0); 1_000];
        let expected = (1.0 / (2.0 * std::f64::consts::PI * 1_000.0)).sqrt();
        let found = calibration_error_of_perfect(&points, 15);
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn certain_forecasts_have_no_error_by_chance() {
        let points = vec![
            (Probability::from_log_odds(1e15), true, 1.0),
            (Probability::from_log_odds(-1e15), false, 3.0),
        ];
        assert!(calibration_error_of_perfect(&points, 15) < 1e-15);
        assert!(calibration_error(&points, 15) < 1e-15);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn errors_are_shares_whatever_comes(points in any_points(), bins in 0usize..20) {
            let sorted = SortedForecasts::new(&points);
            for found in [
                sorted.calibration_error(Binning::EqualMass, bins),
                sorted.calibration_error(Binning::EqualWidth, bins),
                sorted.max_calibration_error(bins),
            ] {
                prop_assert!((0.0..=1.0 + 1e-12).contains(&found.value));
                prop_assert!((0.0..=1.0 + 1e-12).contains(&found.of_perfect));
            }
        }

        #[test]
        fn a_whole_weight_is_repetition((whole, repeated) in whole_and_repeated(), bins in 1usize..20) {
            let (a, b) = (SortedForecasts::new(&whole), SortedForecasts::new(&repeated));
            for binning in [Binning::EqualMass, Binning::EqualWidth] {
                let errors = [&a, &b].map(|s| s.calibration_error(binning, bins).value);
                prop_assert!((errors[0] - errors[1]).abs() < 1e-12);
            }
            let errors = [&a, &b].map(|s| s.max_calibration_error(bins).value);
            prop_assert!((errors[0] - errors[1]).abs() < 1e-12);
        }
    }
}
