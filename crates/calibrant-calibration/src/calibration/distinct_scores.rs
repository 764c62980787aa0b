//! Held-out examples as the methods that count them see them: one entry for each distinct score.

use super::HeldOutScores;
use super::logistic::require_both_classes;
use crate::CalibrationError;
use crate::numeric::{order_bits, value_of_order_bits};

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
    // One whole number for score, weight and label (weights are positive: their sign bit is free),
    // so that sorting moves everything at once and nothing has to be gathered afterwards.
    let mut keys: Vec<u128> = held_out
        .examples()
        .map(|(score, label, weight)| {
            u128::from(order_bits(score)) << 64 | u128::from(weight.to_bits() << 1 | label as u64)
        })
        .collect();
    let score_bits = |key: u128| (key >> 64) as u64;
    if held_out.scores().is_sorted() {
        keys.chunk_by_mut(|&a, &b| score_bits(a) == score_bits(b))
            .filter(|tied| !tied.is_sorted())
            .for_each(|tied| tied.sort_unstable());
    } else {
        keys.sort_unstable();
    }
    let mut distinct: Vec<DistinctScore> = Vec::with_capacity(keys.len());
    let mut last_bits = None;
    let mut total = 0.0;
    for key in keys {
        let bits = score_bits(key);
        if last_bits != Some(bits) {
            last_bits = Some(bits);
            distinct.push(DistinctScore {
                score: value_of_order_bits(bits),
                negative: 0.0,
                positive: 0.0,
            });
        }
        let Some(last) = distinct.last_mut() else {
            continue;
        };
        let weight = f64::from_bits(key as u64 >> 1);
        let class = if key & 1 == 1 {
            &mut last.positive
        } else {
            &mut last.negative
        };
        *class += weight;
        total += weight;
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
