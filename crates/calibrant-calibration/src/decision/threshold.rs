//! From which score on is the answer yes?

/// A threshold, and the mistakes that it makes on the scores it was chosen by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// Scores from here on mean yes.
    pub value: f64,
    /// The weight of what is wrongly taken.
    pub false_positives: f64,
    /// The weight of what is wrongly left.
    pub false_negatives: f64,
}

/// The threshold at which false positives and false negatives are as near to each other as they
/// can be (the lowest of equals): as many are taken as there are.
///
/// ```
/// use calibrant_calibration::decision::balanced_threshold;
/// // By hand: from 2 on, one negative (3) is taken and one positive (1) is left.
/// let found = balanced_threshold(&[1.0, 2.5, 3.0, 0.0], &[true, true, false, false], &[]);
/// assert_eq!((found.false_positives, found.false_negatives), (1.0, 1.0));
/// assert_eq!(found.value, 1.75);
/// ```
pub fn balanced_threshold(scores: &[f64], labels: &[bool], weights: &[f64]) -> Threshold {
    least(scores, labels, weights, |wrong, missed| {
        (wrong - missed).abs()
    })
}

/// The threshold of least cost (the lowest of equals), where taking a wrong one and leaving a right
/// one have their prices.
pub fn least_cost_threshold(
    scores: &[f64],
    labels: &[bool],
    weights: &[f64],
    false_positive_cost: f64,
    false_negative_cost: f64,
) -> Threshold {
    least(scores, labels, weights, |wrong, missed| {
        false_positive_cost * wrong + false_negative_cost * missed
    })
}

/// Tries every threshold that makes a difference in one pass over the sorted scores. Thresholds lie
/// midway between neighbouring scores; beyond the ends, as far out as the scores spread.
fn least(
    scores: &[f64],
    labels: &[bool],
    weights: &[f64],
    badness: impl Fn(f64, f64) -> f64,
) -> Threshold {
    let weight = |place: usize| weights.get(place).copied().unwrap_or(1.0);
    let mut order: Vec<usize> = (0..scores.len().min(labels.len())).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let (Some(&first), Some(&last)) = (order.first(), order.last()) else {
        return Threshold {
            value: 0.0,
            false_positives: 0.0,
            false_negatives: 0.0,
        };
    };
    let spread = scores[last] - scores[first];
    let outside = if spread > 0.0 && spread.is_finite() {
        spread
    } else {
        1.0
    };
    let all_wrong: f64 = order
        .iter()
        .filter(|&&place| !labels[place])
        .map(|&place| weight(place))
        .sum();
    let mut best = Threshold {
        value: scores[first] - outside,
        false_positives: all_wrong,
        false_negatives: 0.0,
    };
    let (mut wrong, mut missed) = (all_wrong, 0.0);
    let mut begin = 0;
    while begin < order.len() {
        let score = scores[order[begin]];
        let mut end = begin;
        while end < order.len() && scores[order[end]] == score {
            let place = order[end];
            if labels[place] {
                missed += weight(place);
            } else {
                wrong -= weight(place);
            }
            end += 1;
        }
        // A NaN equals nothing, not even itself.
        end = end.max(begin + 1);
        let value = match order.get(end) {
            Some(&next) => 0.5 * score + 0.5 * scores[next],
            None => (score + outside).max(score.next_up()),
        };
        let here = Threshold {
            value,
            false_positives: wrong.max(0.0),
            false_negatives: missed,
        };
        let badness_of = |found: &Threshold| badness(found.false_positives, found.false_negatives);
        // What rounding alone makes better is no better.
        let (old, new) = (badness_of(&best), badness_of(&here));
        if new < old - 1e-12 * old.abs() {
            best = here;
        }
        begin = end;
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The mistakes of a threshold, counted one by one.
    fn mistakes(scores: &[f64], labels: &[bool], value: f64) -> (f64, f64) {
        let pairs = || scores.iter().zip(labels);
        let wrong = pairs()
            .filter(|(score, label)| **score >= value && !**label)
            .count();
        let missed = pairs()
            .filter(|(score, label)| **score < value && **label)
            .count();
        (wrong as f64, missed as f64)
    }

    fn examples() -> impl Strategy<Value = Vec<(f64, bool)>> {
        prop::collection::vec(((-6i32..6).prop_map(f64::from), any::<bool>()), 1..40)
    }

    proptest! {
        #[test]
        fn no_other_threshold_is_better(examples in examples(), prices in (1u32..9, 1u32..9)) {
            let (scores, labels): (Vec<f64>, Vec<bool>) = examples.into_iter().unzip();
            let (price, missing) = (f64::from(prices.0), f64::from(prices.1));
            let balanced = balanced_threshold(&scores, &labels, &[]);
            let cheapest = least_cost_threshold(&scores, &labels, &[], price, missing);
            for found in [balanced, cheapest] {
                let counted = mistakes(&scores, &labels, found.value);
                prop_assert_eq!((found.false_positives, found.false_negatives), counted);
            }
            // Every place between, below and above the scores.
            for step in -14..14 {
                let (wrong, missed) = mistakes(&scores, &labels, f64::from(step) / 2.0 + 0.25);
                let gap = (balanced.false_positives - balanced.false_negatives).abs();
                prop_assert!(gap <= (wrong - missed).abs());
                let cost = price * cheapest.false_positives + missing * cheapest.false_negatives;
                prop_assert!(cost <= price * wrong + missing * missed);
            }
        }
    }

    #[test]
    fn scores_that_cannot_be_used_do_no_harm() {
        let found = balanced_threshold(
            &[f64::NAN, f64::INFINITY, -1e308, 1e308],
            &[true, false, true, false],
            &[],
        );
        assert!(!found.value.is_nan() || found.false_negatives >= 0.0);
        assert_eq!(balanced_threshold(&[], &[], &[]).false_positives, 0.0);
    }
}
