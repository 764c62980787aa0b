//! Cuts sorted forecasts into bins.

use super::SortedForecasts;
use std::ops::Range;

impl SortedForecasts {
    /// Bins of about equal weight, none empty, at most `bin_count`.
    ///
    /// Forecasts with equal probabilities form one block that is never split; a
    /// block goes to the bin in which the middle of its weight lies. (Filling bins
    /// one after the other instead would melt a few low forecasts into a large
    /// block that follows them.)
    pub(super) fn equal_mass(&self, bin_count: usize) -> Vec<Range<usize>> {
        let mut bins: Vec<Range<usize>> = Vec::new();
        if bin_count == 0 {
            return bins;
        }
        let (mut bin_of_last, mut before) = (None, 0.0);
        for block in self.blocks() {
            let block_weight: f64 = self.weights[block.clone()].iter().sum();
            let middle = (before + block_weight / 2.0) / self.total;
            // The nudge keeps rounding from deciding where a middle lies on an edge.
            let bin = ((middle * bin_count as f64 + 1e-9) as usize).min(bin_count - 1);
            match bins.last_mut() {
                Some(last) if bin_of_last == Some(bin) => last.end = block.end,
                _ => bins.push(block),
            }
            bin_of_last = Some(bin);
            before += block_weight;
        }
        bins
    }

    /// Bins of equal width over the stated probability, `k/B <= p < (k+1)/B`; empty ones are left out.
    pub(super) fn equal_width(&self, bin_count: usize) -> Vec<Range<usize>> {
        let mut bins = Vec::new();
        let mut start = 0;
        for bin in 1..=bin_count {
            // An edge in log-odds, so that no rounding of probabilities moves a forecast.
            let edge = (bin as f64).ln() - ((bin_count - bin) as f64).ln();
            let end = if bin == bin_count {
                self.len()
            } else {
                self.log_odds.partition_point(|&log_odds| log_odds < edge)
            };
            if start < end {
                bins.push(start..end);
            }
            start = end;
        }
        bins
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probability;
    use proptest::prelude::*;

    fn sorted(log_odds: &[f64]) -> SortedForecasts {
        let point = |&x: &f64| (Probability::from_log_odds(x), true, 1.0);
        SortedForecasts::new(&log_odds.iter().map(point).collect::<Vec<_>>())
    }

    fn sizes(log_odds: &[f64], bin_count: usize) -> Vec<usize> {
        let bins = sorted(log_odds).equal_mass(bin_count);
        bins.iter().map(|bin| bin.len()).collect()
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

    #[test] // 0.5 is at the left edge of the upper half; nothing is between 0.25 and 0.5.
    fn bins_of_equal_width_hold_their_left_edge() {
        let log_odds = [-30.0, (0.2f64 / 0.8).ln(), 0.0, 1.0, 2.0, 800.0];
        let bins = sorted(&log_odds).equal_width(4);
        assert_eq!(bins, [0..2, 2..4, 4..6]); // sigmoid(1) = 0.73, sigmoid(2) = 0.88
        assert!(sorted(&log_odds).equal_width(0).is_empty());
        assert_eq!(sorted(&log_odds).equal_width(1), vec![0..6]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn bins_cover_everything_once_and_never_split_ties(
            values in proptest::collection::vec((-4i8..4, 0.1f64..3.0), 0..60), bin_count in 1usize..20
        ) {
            let points: Vec<_> = values.iter()
                .map(|&(x, w)| (Probability::from_log_odds(f64::from(x)), true, w)).collect();
            let sorted = SortedForecasts::new(&points);
            for bins in [sorted.equal_mass(bin_count), sorted.equal_width(bin_count)] {
                prop_assert!(bins.len() <= bin_count);
                let mut next = 0;
                for bin in &bins {
                    prop_assert_eq!(bin.start, next);
                    prop_assert!(!bin.is_empty());
                    prop_assert!(next == 0 || sorted.log_odds[next - 1] < sorted.log_odds[next]);
                    next = bin.end;
                }
                prop_assert_eq!(next, points.len());
            }
        }
    }
}
