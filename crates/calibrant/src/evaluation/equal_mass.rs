//! Cuts sorted forecasts into bins of about equal weight.

use crate::Probability;
use std::ops::Range;

/// A forecast, whether it came true, and how much it counts.
pub(super) type Point = (Probability, bool, f64);

/// Forecasts in rising order and the stretches that form the bins, none empty.
pub(super) struct EqualMass {
    pub(super) points: Vec<Point>,
    pub(super) bins: Vec<Range<usize>>,
    /// The sum of all weights, after they were divided by the largest.
    pub(super) weight: f64,
    /// The largest weight, by which all were divided.
    pub(super) scale: f64,
}

impl EqualMass {
    /// Forecasts with equal probabilities form one block that is never split; a
    /// block goes to the bin in which the middle of its weight lies. (Filling bins
    /// one after the other instead would melt a few low forecasts into a large
    /// block that follows them.) Points without a positive finite weight are left out.
    pub(super) fn new(points: &[Point], bin_count: usize) -> Self {
        let counts = |weight: f64| weight.is_finite() && weight > 0.0;
        let scale = points
            .iter()
            .map(|point| point.2)
            .filter(|&w| counts(w))
            .fold(0.0, f64::max);
        let mut points: Vec<Point> = points
            .iter()
            .filter(|point| counts(point.2))
            .map(|&(probability, happened, weight)| (probability, happened, weight / scale))
            .filter(|point| point.2 > 0.0)
            .collect();
        // The weight is compared too so that the order of the input leaves no trace.
        points.sort_unstable_by(|a, b| {
            let by_odds = a.0.log_odds().partial_cmp(&b.0.log_odds());
            by_odds
                .unwrap_or(std::cmp::Ordering::Equal)
                .then(a.2.total_cmp(&b.2))
        });
        let weight: f64 = points.iter().map(|point| point.2).sum();

        let mut bins: Vec<Range<usize>> = Vec::new();
        let (mut bin_of_last, mut before) = (None, 0.0);
        for block in points.chunk_by(|a, b| a.0.log_odds() == b.0.log_odds()) {
            let block_weight: f64 = block.iter().map(|point| point.2).sum();
            let middle = (before + block_weight / 2.0) / weight;
            // The nudge keeps rounding from deciding where a middle lies on an edge.
            let bin =
                ((middle * bin_count as f64 + 1e-9) as usize).min(bin_count.saturating_sub(1));
            let start = bins.last().map_or(0, |last| last.end);
            match bins.last_mut() {
                Some(last) if bin_of_last == Some(bin) => last.end += block.len(),
                _ => bins.push(start..start + block.len()),
            }
            bin_of_last = Some(bin);
            before += block_weight;
        }
        if bin_count == 0 {
            bins.clear();
        }
        Self {
            points,
            bins,
            weight,
            scale,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sizes(log_odds: &[f64], bin_count: usize) -> Vec<usize> {
        let points: Vec<Point> = log_odds
            .iter()
            .map(|&x| (Probability::from_log_odds(x), true, 1.0))
            .collect();
        EqualMass::new(&points, bin_count)
            .bins
            .iter()
            .map(|bin| bin.len())
            .collect()
    }

    #[test]
    fn bins_hold_equal_numbers_and_keep_ties_together() {
        let rising: Vec<f64> = (0..12).map(f64::from).collect();
        assert_eq!(sizes(&rising, 4), [3, 3, 3, 3]);
        assert_eq!(sizes(&rising[..10], 4), [2, 3, 2, 3]); // middles at 0.5, 1.5, ... of 10
        assert_eq!(sizes(&[1.0; 9], 4), [9]);
        // One low, eight equal, one high: the large block is alone in its bin.
        assert_eq!(
            sizes(&[0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0], 4),
            [1, 8, 1]
        );
        assert_eq!(sizes(&[], 4), [0usize; 0]);
        assert_eq!(sizes(&rising, 0), [0usize; 0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn bins_cover_everything_once_and_never_split_ties(
            values in proptest::collection::vec((-4i8..4, 0.1f64..3.0), 0..60), bin_count in 1usize..20
        ) {
            let points: Vec<Point> = values.iter()
                .map(|&(x, w)| (Probability::from_log_odds(f64::from(x)), true, w)).collect();
            let cut = EqualMass::new(&points, bin_count);
            prop_assert!(cut.bins.len() <= bin_count);
            let mut next = 0;
            for bin in &cut.bins {
                prop_assert_eq!(bin.start, next);
                prop_assert!(!bin.is_empty());
                prop_assert!(next == 0 || cut.points[next - 1].0 < cut.points[next].0);
                next = bin.end;
            }
            prop_assert_eq!(next, points.len());
        }
    }
}
