//! Held-out examples as the methods that count them see them: one entry for each distinct score.

use super::HeldOutScores;
use super::logistic::require_both_classes;
use crate::CalibrationError;

/// The examples that share one score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DistinctScore {
    pub(super) score: f64,
    /// The weight of its negative examples.
    pub(super) negative: f64,
    /// The weight of its positive examples.
    pub(super) positive: f64,
}

impl DistinctScore {
    #[inline]
    pub(super) fn weight(&self) -> f64 {
        self.negative + self.positive
    }
}

/// Products of two sums of weights have to stay finite.
const LARGEST_TOTAL: f64 = 1e150;

/// The distinct scores, rising. There is at least one positive and one negative example, and the
/// order in which the examples came leaves no trace, not even in the last bit of a sum.
pub(super) fn distinct_scores(
    held_out: &HeldOutScores,
    method: &'static str,
) -> Result<Vec<DistinctScore>, CalibrationError> {
    require_both_classes(method, held_out)?;
    merge_ties(held_out)
}

/// As [`distinct_scores`], for examples that may all have one label.
pub(super) fn merge_ties(held_out: &HeldOutScores) -> Result<Vec<DistinctScore>, CalibrationError> {
    let rising = held_out.rising();
    let (scores, labels, weights) = (rising.scores(), rising.labels(), rising.weights());
    let mut distinct: Vec<DistinctScore> = Vec::with_capacity(scores.len());
    let mut total = 0.0;
    let mut start = 0;
    while start < scores.len() {
        // Of both zeros the one without a sign.
        let score = scores[start] + 0.0;
        let mut point = DistinctScore {
            score,
            negative: 0.0,
            positive: 0.0,
        };
        let mut add = |tied: usize| {
            let (label, weight) = (labels[tied], weights[tied]);
            // Without a branch, which nothing could foresee.
            point.positive += if label { weight } else { 0.0 };
            point.negative += if label { 0.0 } else { weight };
            total += weight;
        };
        let mut end = start + 1;
        if scores.get(end).is_none_or(|&next| next > score) {
            add(start);
        } else {
            while end < scores.len() && scores[end] == score {
                end += 1;
            }
            // Each label's weights are added up from the least to the greatest.
            let mut tied: Vec<usize> = (start..end).collect();
            tied.sort_by(|&a, &b| weights[a].total_cmp(&weights[b]));
            tied.into_iter().for_each(&mut add);
        }
        distinct.push(point);
        start = end;
    }
    if total > LARGEST_TOTAL {
        return Err(CalibrationError::Overflow);
    }
    Ok(distinct)
}

/// The weight of the negatives and of the positives.
pub(super) fn class_weights(distinct: &[DistinctScore]) -> (f64, f64) {
    distinct
        .iter()
        .fold((0.0, 0.0), |(negative, positive), point| {
            (negative + point.negative, positive + point.positive)
        })
}

/// A number above `left` and at most `right`, halfway where floats allow it.
pub(super) fn edge_between(left: f64, right: f64) -> f64 {
    let width = right - left;
    let middle = if width.is_finite() {
        left + width / 2.0
    } else {
        left / 2.0 + right / 2.0
    };
    if middle > left && middle <= right {
        middle
    } else {
        right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_are_merged_whatever_their_order() {
        let weights = vec![0.1, 0.7, 0.3, 1e-9, 0.2, 1.0];
        let scores = vec![0.0, 1.0, -0.0, 0.0, 0.0, -2.0];
        let labels = vec![true, false, true, true, false, false];
        let first = HeldOutScores::assume_weighted(scores, labels, weights).unwrap();
        let found = distinct_scores(&first, "").unwrap();
        let scores: Vec<f64> = found.iter().map(|point| point.score).collect();
        assert_eq!(scores, [-2.0, 0.0, 1.0]);
        assert!((found[1].positive - 0.400_000_001).abs() < 1e-15);
        assert_eq!(found[1].negative, 0.2);
        // The same examples, already sorted, ties the other way round.
        let again = HeldOutScores::assume_weighted(
            vec![-2.0, 0.0, 0.0, -0.0, 0.0, 1.0],
            vec![false, false, true, true, true, false],
            vec![1.0, 0.2, 1e-9, 0.3, 0.1, 0.7],
        )
        .unwrap();
        assert_eq!(distinct_scores(&again, "").unwrap(), found);
    }

    #[test]
    fn one_class_or_endless_weights_are_refused() {
        let one = HeldOutScores::assume(vec![1.0, 2.0], vec![true, true]).unwrap();
        assert!(distinct_scores(&one, "").is_err());
        let none = HeldOutScores::assume(vec![], vec![]).unwrap();
        assert!(distinct_scores(&none, "").is_err());
        let heavy = HeldOutScores::assume_weighted(
            vec![1.0, 2.0],
            vec![true, false],
            vec![f64::MAX, f64::MAX],
        );
        assert_eq!(
            distinct_scores(&heavy.unwrap(), ""),
            Err(CalibrationError::Overflow)
        );
    }

    proptest! {
        #[test]
        fn an_edge_separates_its_neighbours(a in any::<f64>(), b in any::<f64>()) {
            prop_assume!(a.is_finite() && b.is_finite() && a != b);
            let edge = edge_between(a.min(b), a.max(b));
            prop_assert!(a.min(b) < edge && edge <= a.max(b));
        }
    }
}
