//! The reliability diagram without bins: the isotonic curve, and the band around the diagonal in
//! which that of a perfect forecaster would lie.

use super::SortedForecasts;
use super::perfect::{DRAWS, ENOUGH_FOR_MEANS, PerfectBin, generator};
use crate::solvers::{Pool, pool_adjacent_violators};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A point of the isotonic reliability curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// A stated probability.
    pub stated: f64,
    /// The share that came true according to the isotonic fit.
    pub observed: f64,
    /// Lower end of the consistency band: of perfect forecasters with the same stated probabilities
    /// 95 % would show a share between the two ends here.
    pub consistent_lower: f64,
    /// Upper end of the consistency band.
    pub consistent_upper: f64,
}

impl SortedForecasts {
    /// The isotonic reliability curve with its consistency band, as at most `most` points (an even
    /// number: both ends of each level stretch), ready to be joined by lines.
    ///
    /// The curve is the rising sequence that is nearest to the outcomes. For the band 200 sets of
    /// outcomes are drawn from the stated probabilities and fitted likewise; up to a thousand groups of
    /// neighbouring forecasts stand for the forecasts themselves there, which is exact for a thousand
    /// different forecasts or fewer.
    ///
    /// # When it misleads
    /// The ends of the curve rest on few forecasts and tend to 0 and 1; the band is wide there. The
    /// band holds point by point, not for the whole curve at once.
    ///
    /// # Reference
    /// Dimitriadis, Gneiting & Jordan, PNAS 118 (2021).
    ///
    /// ```
    /// use calibrant_calibration::{Probability, evaluation::SortedForecasts};
    /// let p = Probability::from_log_odds(3f64.ln());
    /// let curve = SortedForecasts::new(&[(p, true, 1.0), (p, false, 1.0)]).reliability_curve(100);
    /// assert_eq!(curve[0].observed, 0.5); // one level, where 0.75 was stated
    /// assert!((curve[0].stated - 0.75).abs() < 1e-12);
    /// ```
    pub fn reliability_curve(&self, most: usize) -> Vec<CurvePoint> {
        self.reliability_curve_with(&self.isotonic_pools(), most)
    }

    pub(super) fn reliability_curve_with(&self, pools: &[Pool], most: usize) -> Vec<CurvePoint> {
        if pools.is_empty() || most < 2 {
            return Vec::new();
        }
        let starts = std::iter::once(0).chain(pools.iter().map(|pool| pool.end));
        let levels: Vec<(Range<usize>, f64)> = starts
            .zip(pools)
            .map(|(start, pool)| (start..pool.end, pool.mean().clamp(0.0, 1.0)))
            .collect();
        // The ends of the levels, as positions of forecasts; evenly thinned.
        let corners: Vec<(usize, f64)> = thinned(&levels, most / 2)
            .flat_map(|(range, mean)| [(range.start, *mean), (range.end - 1, *mean)])
            .collect();
        let cells = self.equal_mass(GROUPS);
        let places: Vec<usize> = corners
            .iter()
            .map(|&(position, _)| cells.partition_point(|cell| cell.end <= position))
            .collect();
        let bands = self.bands(&cells, &places);
        corners
            .iter()
            .zip(bands)
            .map(|(&(position, observed), (lower, upper))| {
                let stated = self.stated(position);
                CurvePoint {
                    stated,
                    observed,
                    consistent_lower: lower.min(stated),
                    consistent_upper: upper.max(stated),
                }
            })
            .collect()
    }

    /// The middle 95 % of a perfect forecaster's isotonic fit at some of the cells.
    fn bands(&self, cells: &[Range<usize>], places: &[usize]) -> Vec<(f64, f64)> {
        let mut random = generator();
        // Drawn cell by cell: the mean stated probability, the weight, and as many gaps as draws.
        let perfect: Vec<(f64, f64, Vec<f64>)> = cells
            .iter()
            .map(|cell| {
                let weight = self.sum(cell.clone(), |i| self.weights[i]);
                let stated = self.sum(cell.clone(), |i| self.weights[i] * self.stated(i));
                let bin = PerfectBin::new(self, cell.clone(), ENOUGH_FOR_MEANS);
                let gaps = bin.gaps(self, DRAWS, &mut random);
                (stated / weight, weight, gaps)
            })
            .collect();
        let mut fits = vec![Vec::with_capacity(DRAWS); places.len()];
        for draw in 0..DRAWS {
            let shares = perfect.iter().map(|(stated, weight, gaps)| {
                let share = stated + gaps[draw] / weight;
                (share.clamp(0.0, 1.0), *weight)
            });
            let pools = pool_adjacent_violators(shares);
            // Places rise, so one walk through the pools serves all.
            let mut pool = 0;
            for (fits, &place) in fits.iter_mut().zip(places) {
                while pools[pool].end <= place {
                    pool += 1;
                }
                fits.push(pools[pool].mean().clamp(0.0, 1.0));
            }
        }
        let beyond = DRAWS / 40;
        fits.into_iter()
            .map(|mut fits| {
                fits.sort_unstable_by(f64::total_cmp);
                (fits[beyond], fits[DRAWS - 1 - beyond])
            })
            .collect()
    }
}

/// Groups of neighbouring forecasts that stand for the forecasts when outcomes are drawn.
const GROUPS: usize = 1_000;

/// At most `most` of the items, evenly spaced, the first and the last among them.
fn thinned<T>(items: &[T], most: usize) -> impl Iterator<Item = &T> {
    let last = items.len() - 1;
    let count = items.len().min(most);
    let steps = (count - 1).max(1);
    (0..count).map(move |i| &items[i * last / steps])
}

#[cfg(test)]
mod tests {
    use super::super::sorted_forecasts::testing::*;
    use super::*;
    use crate::numeric::Random;
    use proptest::prelude::*;

    #[test]
    fn groups_and_forecasts_give_the_same_band() {
        // More forecasts than groups; every outcome by itself here.
        let mut points = drawn(2, 5_000, (-0.5, 1.5), 1.0, false);
        let sorted = SortedForecasts::new(&points);
        let curve = sorted.reliability_curve(20);
        let mut random = Random::from_seed(3);
        let mut fits: Vec<Vec<f64>> = vec![Vec::new(); curve.len()];
        for _ in 0..400 {
            redraw(&mut points, &mut random);
            let drawn = SortedForecasts::new(&points);
            let pools = drawn.isotonic_pools();
            for (fits, point) in fits.iter_mut().zip(&curve) {
                let position = (0..drawn.len())
                    .position(|i| drawn.stated(i) == point.stated)
                    .unwrap();
                let pool = pools.iter().find(|pool| pool.end > position).unwrap();
                fits.push(pool.mean());
            }
        }
        for (fits, point) in fits.iter_mut().zip(&curve) {
            fits.sort_unstable_by(f64::total_cmp);
            // Away from the ends, where a single forecast is a level of its own.
            if (0.05..0.95).contains(&point.stated) {
                let (lower, upper) = (fits[10], fits[389]);
                let slack = 0.3 * (upper - lower);
                assert!(
                    (point.consistent_lower - lower).abs() < slack,
                    "{point:?} {lower}"
                );
                assert!(
                    (point.consistent_upper - upper).abs() < slack,
                    "{point:?} {upper}"
                );
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn curves_rise_and_bands_hold_the_diagonal(points in any_points(), most in 0usize..30) {
            let curve = SortedForecasts::new(&points).reliability_curve(most);
            prop_assert!(curve.len() <= most.max(2));
            for pair in curve.windows(2) {
                prop_assert!(pair[0].stated <= pair[1].stated && pair[0].observed <= pair[1].observed);
            }
            for point in &curve {
                prop_assert!((0.0..=1.0).contains(&point.observed));
                prop_assert!(0.0 <= point.consistent_lower && point.consistent_lower <= point.stated);
                prop_assert!(point.stated <= point.consistent_upper && point.consistent_upper <= 1.0);
            }
        }
    }
}
