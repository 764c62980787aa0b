//! Precision and recall at every threshold.

use super::SortedForecasts;
use super::per_class::ratio;
use crate::Probability;

/// What deciding "yes" from a threshold on would give.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrecisionRecallPoint {
    /// The least probability that is decided "yes".
    pub threshold: Probability,
    /// Of the positives, the share that is found.
    pub recall: f64,
    /// Of those found, the share that is positive.
    pub precision: f64,
}

/// Precision and recall from the strictest threshold to the mildest, and the average precision.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PrecisionRecall {
    /// At most as many points as asked for: the last and those nearest to even steps of recall.
    pub points: Vec<PrecisionRecallPoint>,
    /// `Σ (R_k - R_{k-1}) P_k` over all thresholds.
    pub average_precision: f64,
    /// The share of positives.
    pub prevalence: f64,
}

/// Precision and recall at every threshold, thinned to about `most` points.
///
/// ```
/// use calibrant_calibration::{Probability, evaluation::precision_recall};
/// let at = |log_odds: f64, happened| (Probability::from_log_odds(log_odds), happened, 1.0);
/// let curve = precision_recall(&[at(2.0, true), at(1.0, false), at(0.0, true)], 100);
/// // By hand: recall 1/2 at precision 1, then 1/2, then recall 1 at precision 2/3.
/// assert!((curve.average_precision - (0.5 + 0.5 * 2.0 / 3.0)).abs() < 1e-12);
/// assert_eq!((curve.points[0].recall, curve.points[0].precision), (0.5, 1.0));
/// ```
pub fn precision_recall(points: &[(Probability, bool, f64)], most: usize) -> PrecisionRecall {
    let sorted = SortedForecasts::new(points);
    let (positives, negatives) = sorted.outcomes(0..sorted.len());
    let total = positives + negatives;
    let mut curve = PrecisionRecall {
        prevalence: ratio(positives, total),
        ..PrecisionRecall::default()
    };
    if positives <= 0.0 {
        return curve;
    }
    let (mut found, mut right, mut recall_before, mut recall_kept) = (0.0, 0.0, 0.0, -1.0);
    let step = 1.0 / most.max(1) as f64;
    let blocks: Vec<_> = sorted.blocks().collect();
    for tied in blocks.into_iter().rev() {
        let threshold = Probability::from_log_odds(sorted.log_odds[tied.start]);
        let (yes, no) = sorted.outcomes(tied);
        right += yes;
        found += yes + no;
        let point = PrecisionRecallPoint {
            threshold,
            recall: (right / positives).min(1.0),
            precision: ratio(right, found).min(1.0),
        };
        curve.average_precision += (point.recall - recall_before) * point.precision;
        // Where recall stands still precision only falls, and says nothing new.
        let moved = point.recall > recall_before;
        recall_before = point.recall;
        if moved && point.recall - recall_kept >= step {
            recall_kept = point.recall;
            curve.points.push(point);
        } else if moved && point.recall >= 1.0 {
            curve.points.push(point);
        }
    }
    curve
}

#[cfg(test)]
mod tests {
    use super::super::sorted_forecasts::Point;
    use super::*;
    use crate::numeric::Random;

    /// Counts again for every threshold.
    fn by_definition(points: &[Point]) -> f64 {
        let mut thresholds: Vec<f64> = points.iter().map(|p| p.0.log_odds()).collect();
        thresholds.sort_by(f64::total_cmp);
        thresholds.dedup();
        let positives: f64 = points.iter().filter(|p| p.1).map(|p| p.2).sum();
        let (mut sum, mut before) = (0.0, 0.0);
        for threshold in thresholds.into_iter().rev() {
            let found = points.iter().filter(|p| p.0.log_odds() >= threshold);
            let (mut right, mut all) = (0.0, 0.0);
            for point in found {
                right += if point.1 { point.2 } else { 0.0 };
                all += point.2;
            }
            sum += (right / positives - before) * right / all;
            before = right / positives;
        }
        sum
    }

    #[test]
    fn average_precision_agrees_with_its_definition() {
        let mut random = Random::from_seed(2);
        let points: Vec<Point> = (0..300)
            .map(|_| {
                let x = (4.0 * random.normal()).round() / 2.0; // with ties
                let happened = random.uniform() < Probability::from_log_odds(x).value();
                (
                    Probability::from_log_odds(x),
                    happened,
                    0.5 + random.uniform(),
                )
            })
            .collect();
        let curve = precision_recall(&points, 10_000);
        assert!((curve.average_precision - by_definition(&points)).abs() < 1e-12);
        let thinned = precision_recall(&points, 10);
        assert!(thinned.points.len() <= 12);
        assert_eq!(thinned.average_precision, curve.average_precision);
        assert_eq!(thinned.points.last().map(|p| p.recall), Some(1.0));
    }

    #[test]
    fn without_positives_there_is_no_curve() {
        let p = Probability::from_log_odds(0.0);
        for points in [vec![], vec![(p, false, 1.0)]] {
            let curve = precision_recall(&points, 10);
            assert!(curve.points.is_empty() && curve.average_precision == 0.0);
        }
    }
}
