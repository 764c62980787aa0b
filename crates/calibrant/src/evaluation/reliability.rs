//! The bins of a reliability diagram.

use super::equal_mass::{EqualMass, Point};
use crate::Probability;
use crate::numeric::StableSum;
use serde::{Deserialize, Serialize};

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
    /// The sum of the weights.
    pub weight: f64,
    /// How many forecasts are in the bin.
    pub count: usize,
    /// The smallest stated probability.
    pub stated_lowest: f64,
    /// The largest stated probability.
    pub stated_highest: f64,
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
/// for the other looks perfect. With unequal weights the interval uses the
/// effective count `(Σw)² / Σw²`, which is an approximation.
///
/// ```
/// use calibrant::{Probability, evaluation::reliability};
/// let p = Probability::from_log_odds(3f64.ln()); // 3 to 1
/// let points = [(p, true, 1.0), (p, true, 1.0), (p, false, 1.0), (p, false, 1.0)];
/// let bins = reliability(&points, 10);
/// assert_eq!(bins.len(), 1);
/// assert!((bins[0].stated - 0.75).abs() < 1e-12);
/// assert_eq!(bins[0].observed, 0.5);
/// ```
pub fn reliability(points: &[(Probability, bool, f64)], bins: usize) -> Vec<ReliabilityBin> {
    let cut = EqualMass::new(points, bins);
    cut.bins
        .iter()
        .map(|range| summarise(&cut.points[range.clone()], cut.scale))
        .collect()
}

/// One bin; `points` is not empty and sorted, and `scale` brings its weights back.
fn summarise(points: &[Point], scale: f64) -> ReliabilityBin {
    let sum_of =
        |value: &dyn Fn(&Point) -> f64| points.iter().map(value).collect::<StableSum>().total();
    // Scaled once more, so that squares of a bin of light points do not vanish.
    let largest = points.iter().map(|point| point.2).fold(0.0, f64::max);
    let weight = sum_of(&|point| point.2);
    let stated = sum_of(&|point| point.2 * point.0.value()) / weight;
    let observed = sum_of(&|point| if point.1 { point.2 } else { 0.0 }) / weight;
    let effective_count = (weight / largest).powi(2) / sum_of(&|point| (point.2 / largest).powi(2));
    let (lower, upper) = wilson_interval(observed, effective_count);
    ReliabilityBin {
        stated,
        observed,
        lower,
        upper,
        weight: weight * scale,
        count: points.len(),
        stated_lowest: points.first().map_or(stated, |point| point.0.value()),
        stated_highest: points.last().map_or(stated, |point| point.0.value()),
    }
}

/// The 95 % score interval of a share observed among `count` independent cases.
///
/// # Formula
/// ```text
/// (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n)
/// ```
fn wilson_interval(share: f64, count: f64) -> (f64, f64) {
    const Z: f64 = 1.959_963_984_540_054;
    let z2 = Z * Z / count;
    let centre = share + z2 / 2.0;
    let half = (Z * Z * share * (1.0 - share) / count + z2 * z2 / 4.0)
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
