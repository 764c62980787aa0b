//! The bins of a reliability diagram.

use super::SortedForecasts;
use super::perfect::{ENOUGH_FOR_ENDS, PerfectBin, generator};
use crate::Probability;
use crate::numeric::{NORMAL_975, Random};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Forecasts of about the same probability, and how often they came true.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// The mean of the stated probabilities.
    pub stated: f64,
    /// The share that came true.
    pub observed: f64,
    /// Lower end of the 95 % Wilson interval of the observed share.
    pub lower: f64,
    /// Upper end of the 95 % Wilson interval of the observed share.
    pub upper: f64,
    /// Lower end of the consistency band: 95 % of perfect forecasters with the same stated
    /// probabilities would show a share between the two ends.
    #[serde(default)]
    pub consistent_lower: f64,
    /// Upper end of the consistency band.
    #[serde(default = "one")]
    pub consistent_upper: f64,
    /// The sum of the weights.
    pub weight: f64,
    /// How many forecasts are in the bin.
    pub count: usize,
    /// The smallest stated probability.
    pub stated_lowest: f64,
    /// The largest stated probability.
    pub stated_highest: f64,
}

/// The widest end of a band, for bins that were written before there were bands.
fn one() -> f64 {
    1.0
}

/// Sorts forecasts into at most `bins` groups of about equal weight and compares
/// what was stated with what came true. Equal probabilities are never split over
/// two bins, so there may be fewer bins than asked for.
///
/// Each point is a forecast, whether it came true, and its weight; points whose
/// weight is not positive and finite are left out.
///
/// # When it misleads
/// A bin averages: a forecaster that is too high for one half of a bin and too low
/// for the other looks perfect. About one bin in twenty of a perfect forecaster lies outside its
/// consistency band. With unequal weights the interval uses the
/// effective count `(Σw)² / Σw²`, which is an approximation.
///
/// ```
/// use calibrant_calibration::{Probability, evaluation::reliability};
/// let p = Probability::from_log_odds(3f64.ln()); // 3 to 1
/// let points = [(p, true, 1.0), (p, true, 1.0), (p, false, 1.0), (p, false, 1.0)];
/// let bins = reliability(&points, 10);
/// assert_eq!(bins.len(), 1);
/// assert!((bins[0].stated - 0.75).abs() < 1e-12);
/// assert_eq!(bins[0].observed, 0.5);
/// ```
pub fn reliability(points: &[(Probability, bool, f64)], bins: usize) -> Vec<ReliabilityBin> {
    SortedForecasts::new(points).reliability(bins)
}

impl SortedForecasts {
    /// The bins of a reliability diagram; see [`reliability`].
    pub fn reliability(&self, bins: usize) -> Vec<ReliabilityBin> {
        let mut random = generator();
        self.equal_mass(bins)
            .into_iter()
            .map(|bin| self.summarise(bin, &mut random))
            .collect()
    }

    /// One bin, which is not empty.
    fn summarise(&self, bin: Range<usize>, random: &mut Random) -> ReliabilityBin {
        // Scaled once more, so that squares of a bin of light points do not vanish.
        let weights = &self.weights[bin.clone()];
        let largest = weights.iter().copied().fold(0.0, f64::max);
        let weight = self.sum(bin.clone(), |i| self.weights[i]);
        let stated = self.sum(bin.clone(), |i| self.weights[i] * self.stated(i)) / weight;
        let happened = |i: usize| {
            if self.happened[i] {
                self.weights[i]
            } else {
                0.0
            }
        };
        let observed = self.sum(bin.clone(), happened) / weight;
        let squares = self.sum(bin.clone(), |i| (self.weights[i] / largest).powi(2));
        let (lower, upper) = wilson_interval(observed, (weight / largest).powi(2) / squares);
        let (consistent_lower, consistent_upper) = self.consistent(bin.clone(), random);
        ReliabilityBin {
            stated,
            observed,
            lower,
            upper,
            consistent_lower: (stated + consistent_lower / weight).clamp(0.0, stated),
            consistent_upper: (stated + consistent_upper / weight).clamp(stated, 1.0),
            weight: (weight * self.scale).min(f64::MAX),
            count: bin.len(),
            stated_lowest: self.stated(bin.start),
            stated_highest: self.stated(bin.end - 1),
        }
    }

    /// The middle 95 % of a bin's gap for a perfect forecaster.
    fn consistent(&self, bin: Range<usize>, random: &mut Random) -> (f64, f64) {
        let perfect = PerfectBin::new(self, bin, ENOUGH_FOR_ENDS);
        if let Some(deviation) = perfect.normal_deviation() {
            return (-NORMAL_975 * deviation, NORMAL_975 * deviation);
        }
        let mut gaps = perfect.gaps(self, BAND_DRAWS, random);
        gaps.sort_unstable_by(f64::total_cmp);
        let beyond = BAND_DRAWS / 40;
        (gaps[beyond], gaps[BAND_DRAWS - 1 - beyond])
    }
}

/// Sets of outcomes that are drawn where a bin is too small for the normal curve.
const BAND_DRAWS: usize = 1_000;

/// The 95 % score interval of a share observed among `count` independent cases.
///
/// # Formula
/// ```text
/// (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n)
/// ```
pub(super) fn wilson_interval(share: f64, count: f64) -> (f64, f64) {
    score_interval(share, count, NORMAL_975)
}

/// As [`wilson_interval`], with another `z`.
pub(super) fn score_interval(share: f64, count: f64, z: f64) -> (f64, f64) {
    let z2 = z * z / count;
    let centre = share + z2 / 2.0;
    let half = (z * z * share * (1.0 - share) / count + z2 * z2 / 4.0)
        .max(0.0)
        .sqrt();
    let (lower, upper) = ((centre - half) / (1.0 + z2), (centre + half) / (1.0 + z2));
    // Rounding must not push the interval off its own share, which lies at an end when it is 0 or 1.
    (
        lower.clamp(0.0, share.min(1.0)),
        upper.clamp(share.min(1.0), 1.0),
    )
}

#[cfg(test)]
mod tests {
    use super::super::sorted_forecasts::{Point, testing::*};
    use super::*;
    use proptest::prelude::*;

    #[test] // By hand: z² = 3.8415; 0 of 10 gives 0 .. z²/(10+z²).
    fn the_interval_agrees_with_hand_computed_values() {
        let (lower, upper) = wilson_interval(0.0, 10.0);
        assert!(lower.abs() < 1e-15 && (upper - 0.277_533).abs() < 1e-6);
        // 5 of 10: (0.5 + 0.19207 ± √(0.096036 + 0.036893)) / 1.38415
        let (lower, upper) = wilson_interval(0.5, 10.0);
        assert!((lower - 0.236_593).abs() < 1e-6 && (upper - 0.763_407).abs() < 1e-6);
    }

    #[test]
    fn bins_report_their_forecasts() {
        let at = |p: f64, happened| {
            (
                Probability::from_log_odds((p / (1.0 - p)).ln()),
                happened,
                2.0,
            )
        };
        let bins = reliability(
            &[at(0.9, true), at(0.1, false), at(0.2, true), at(0.8, true)],
            2,
        );
        assert_eq!(bins.len(), 2);
        assert!((bins[0].stated - 0.15).abs() < 1e-12 && (bins[1].stated - 0.85).abs() < 1e-12);
        assert_eq!((bins[0].observed, bins[1].observed), (0.5, 1.0));
        assert_eq!((bins[0].weight, bins[0].count), (4.0, 2));
        assert!((bins[1].stated_lowest - 0.8).abs() < 1e-12);
        assert!((bins[1].stated_highest - 0.9).abs() < 1e-12);
    }

    #[test]
    fn a_perfect_forecaster_is_inside_the_band_nineteen_times_in_twenty() {
        for (count, centre) in [(60, 0.0), (600, -3.0), (20_000, 0.0)] {
            let mut points = drawn(6, count, (centre, 1.0), 1.0, true);
            let mut random = Random::from_seed(1);
            let (mut inside, mut all) = (0, 0);
            for _ in 0..40 {
                redraw(&mut points, &mut random);
                for bin in reliability(&points, 10) {
                    all += 1;
                    let band = bin.consistent_lower - 1e-12..=bin.consistent_upper + 1e-12;
                    inside += i32::from(band.contains(&bin.observed));
                }
            }
            let share = f64::from(inside) / f64::from(all);
            // Four standard errors; a band of few outcomes holds a little more than it must.
            assert!((0.90..=0.995).contains(&share), "{share} of {count}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_comes_in_the_bins_are_sane(
            points in proptest::collection::vec((any::<f64>(), any::<bool>(), any::<f64>()), 0..50),
            bins in 0usize..20,
        ) {
            let points: Vec<Point> = points.into_iter()
                .map(|(x, happened, w)| (Probability::from_log_odds(x), happened, w)).collect();
            for bin in reliability(&points, bins) {
                prop_assert!((0.0..=1.0).contains(&bin.stated));
                prop_assert!(0.0 <= bin.lower && bin.lower <= bin.observed);
                prop_assert!(bin.observed <= bin.upper && bin.upper <= 1.0);
                prop_assert!(bin.consistent_lower <= bin.stated && bin.stated <= bin.consistent_upper);
                prop_assert!(0.0 <= bin.consistent_lower && bin.consistent_upper <= 1.0);
                prop_assert!(bin.weight >= 0.0);
            }
        }

        #[test]
        fn the_bins_together_hold_what_went_in(
            points in proptest::collection::vec((-6i8..6, any::<bool>(), 1u8..5), 1..80), bins in 1usize..20,
        ) {
            let points: Vec<Point> = points.into_iter()
                .map(|(x, happened, w)| (Probability::from_log_odds(f64::from(x)), happened, f64::from(w)))
                .collect();
            let cut = reliability(&points, bins);
            let happened: f64 = points.iter().filter(|p| p.1).map(|p| p.2).sum();
            let total: f64 = points.iter().map(|p| p.2).sum();
            prop_assert!((cut.iter().map(|b| b.observed * b.weight).sum::<f64>() - happened).abs() < 1e-9);
            prop_assert!((cut.iter().map(|b| b.weight).sum::<f64>() - total).abs() < 1e-9);
            prop_assert_eq!(cut.iter().map(|b| b.count).sum::<usize>(), points.len());
        }
    }
}
