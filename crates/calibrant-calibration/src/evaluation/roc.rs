//! How well forecasts put what happens before what does not.

use super::SortedForecasts;
use crate::Probability;
use crate::numeric::StableSum;
use serde::{Deserialize, Serialize};

/// What follows if everything at or above a threshold is called positive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankingPoint {
    /// The lowest probability that is called positive.
    pub threshold: f64,
    /// The share of what happened that is called positive (also: recall).
    pub true_positive_rate: f64,
    /// The share of what did not happen that is called positive; 0 where everything happened.
    pub false_positive_rate: f64,
    /// The share of what is called positive that happened.
    pub precision: f64,
}

impl SortedForecasts {
    /// The chance that a forecast that came true is above one that did not, ties counted half: the
    /// area under the ROC curve. `None` where only one outcome was seen.
    ///
    /// # When it misleads
    /// It knows the order only; a map that rises leaves it as it is however wrong the probabilities.
    ///
    /// ```
    /// use calibrant_calibration::{Probability, evaluation::SortedForecasts};
    /// let at = |x: f64, y, w| (Probability::from_log_odds(x), y, w);
    /// let points = [at(0.0, false, 1.0), at(1.0, true, 1.0), at(1.0, false, 1.0), at(2.0, true, 2.0)];
    /// // By hand: of 3 · 2 weighted pairs the two of weight 2 win twice, the other wins once and ties once.
    /// assert!((SortedForecasts::new(&points).auc().unwrap() - 5.5 / 6.0).abs() < 1e-12);
    /// ```
    pub fn auc(&self) -> Option<f64> {
        let (mut won, mut yes_total, mut no_below) = (StableSum::default(), 0.0, 0.0);
        for block in self.blocks() {
            let (yes, no) = self.outcomes(block);
            won.add(yes * (no_below + 0.5 * no));
            yes_total += yes;
            no_below += no;
        }
        let pairs = yes_total * no_below;
        (pairs > 0.0).then(|| (won.total() / pairs).min(1.0))
    }

    /// The mean of precision over what happened, at the threshold of each (as scikit-learn's
    /// `average_precision_score`; no interpolation). `None` where nothing happened.
    ///
    /// # Formula
    /// ```text
    /// Σ_k (R_k - R_{k-1}) P_k      over distinct thresholds, falling
    /// ```
    ///
    /// ```
    /// use calibrant_calibration::{Probability, evaluation::SortedForecasts};
    /// let at = |x: f64, y| (Probability::from_log_odds(x), y, 1.0);
    /// let points = [at(3.0, true), at(2.0, false), at(1.0, true)];
    /// // By hand: precision 1 at the first, 2/3 at the second.
    /// let found = SortedForecasts::new(&points).average_precision().unwrap();
    /// assert!((found - (1.0 + 2.0 / 3.0) / 2.0).abs() < 1e-12);
    /// ```
    pub fn average_precision(&self) -> Option<f64> {
        let (mut sum, mut yes_above, mut above) = (StableSum::default(), 0.0, 0.0);
        let mut end = self.len();
        while end > 0 {
            let start = self.start_of_block(end);
            let (yes, no) = self.outcomes(start..end);
            yes_above += yes;
            above += yes + no;
            sum.add(yes * yes_above / above);
            end = start;
        }
        (yes_above > 0.0).then(|| (sum.total() / yes_above).min(1.0))
    }

    /// ROC and precision-recall curves as points from the highest threshold down, thinned to about
    /// `most` points that are evenly spaced along the ROC curve; both ends are among them. Empty
    /// where nothing happened.
    pub fn ranking_curve(&self, most: usize) -> Vec<RankingPoint> {
        let (yes_total, no_total) = self.outcomes(0..self.len());
        if yes_total <= 0.0 || most == 0 {
            return Vec::new();
        }
        let mut points: Vec<RankingPoint> = Vec::new();
        let (mut yes_above, mut no_above, mut end) = (0.0, 0.0, self.len());
        let mut next = 0.0;
        while end > 0 {
            let start = self.start_of_block(end);
            let (yes, no) = self.outcomes(start..end);
            yes_above += yes;
            no_above += no;
            let true_positive_rate = (yes_above / yes_total).min(1.0);
            let false_positive_rate = if no_total > 0.0 {
                (no_above / no_total).min(1.0)
            } else {
                0.0
            };
            let way = true_positive_rate + false_positive_rate;
            if way >= next || start == 0 {
                points.push(RankingPoint {
                    threshold: Probability::from_log_odds(self.log_odds[start]).value(),
                    true_positive_rate,
                    false_positive_rate,
                    precision: yes_above / (yes_above + no_above),
                });
                next = way + 2.0 / most as f64;
            }
            end = start;
        }
        points
    }

    fn start_of_block(&self, end: usize) -> usize {
        let value = self.log_odds[end - 1];
        let mut start = end - 1;
        while start > 0 && self.log_odds[start - 1] == value {
            start -= 1;
        }
        start
    }
}

#[cfg(test)]
mod tests {
    use super::super::sorted_forecasts::testing::*;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn auc_is_the_share_of_pairs_in_order(points in any_points()) {
            let sorted = SortedForecasts::new(&points);
            let (mut won, mut pairs) = (0.0, 0.0);
            for i in 0..sorted.len() {
                for j in 0..sorted.len() {
                    if sorted.happened[i] && !sorted.happened[j] {
                        let weight = sorted.weights[i] * sorted.weights[j];
                        pairs += weight;
                        won += weight * match sorted.log_odds[i].total_cmp(&sorted.log_odds[j]) {
                            std::cmp::Ordering::Greater => 1.0,
                            std::cmp::Ordering::Equal => 0.5,
                            std::cmp::Ordering::Less => 0.0,
                        };
                    }
                }
            }
            match sorted.auc() {
                Some(auc) => prop_assert!((auc - won / pairs).abs() < 1e-9),
                None => prop_assert!(pairs <= 0.0),
            }
            if let Some(precision) = sorted.average_precision() {
                prop_assert!((0.0..=1.0).contains(&precision));
            }
            for point in sorted.ranking_curve(50) {
                prop_assert!((0.0..=1.0).contains(&point.precision) && point.true_positive_rate <= 1.0);
            }
        }

        #[test]
        fn a_whole_weight_is_repetition((whole, repeated) in whole_and_repeated()) {
            let (a, b) = (SortedForecasts::new(&whole), SortedForecasts::new(&repeated));
            for (a, b) in [(a.auc(), b.auc()), (a.average_precision(), b.average_precision())] {
                prop_assert_eq!(a.is_some(), b.is_some());
                if let (Some(a), Some(b)) = (a, b) {
                    prop_assert!((a - b).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn the_thinned_curve_keeps_its_ends_and_its_area() {
        let sorted = SortedForecasts::new(&drawn(4, 20_000, (0.0, 2.0), 1.0, true));
        let curve = sorted.ranking_curve(400);
        assert!(curve.len() > 150 && curve.len() <= 402, "{}", curve.len());
        let last = curve.last().unwrap();
        assert!(
            (last.true_positive_rate - 1.0).abs() < 1e-9
                && (last.false_positive_rate - 1.0).abs() < 1e-9
        );
        let (mut area, mut before) = (0.0, (0.0, 0.0));
        for point in &curve {
            let here = (point.false_positive_rate, point.true_positive_rate);
            area += (here.0 - before.0) * (here.1 + before.1) / 2.0;
            before = here;
        }
        assert!((area - sorted.auc().unwrap()).abs() < 1e-4);
    }
}
