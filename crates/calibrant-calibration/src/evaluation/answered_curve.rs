//! How often are answers right, if only the surest are given?

use crate::numeric::rising_order;
use serde::{Deserialize, Serialize};

/// What follows if answers are given from a confidence on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AnsweredPoint {
    /// The least confidence that is answered.
    pub threshold: f64,
    /// The share of documents that is answered.
    pub answered: f64,
    /// The share of the answers that is right.
    pub accuracy: f64,
}

/// The share answered against accuracy (the risk-coverage curve), with its area.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnsweredCurve {
    /// From the surest answers to all, one for each different confidence, thinned evenly along the share answered.
    pub points: Vec<AnsweredPoint>,
    /// The mean share of wrong answers over all numbers of answers: less is better.
    pub area: f64,
    /// The area of the best order there could be, with all wrong answers last.
    pub least_area: f64,
    /// The area of an order by chance: the share of wrong answers among all.
    pub chance_area: f64,
}

/// The curve of answers by falling confidence, with about `most` points.
///
/// # Formula
/// ```text
/// area = (1/n) Σ_{k=1..n} (wrong among the k surest) / k
/// ```
/// Documents of equal confidence have no order: among them, the mean over all orders is taken.
///
/// # When it misleads
/// The area weighs the very first answers as much as any other number of answers, so that one sure mistake shows; and it
/// depends on how often the model is right at all: hold it against the least area and that of chance.
///
/// # Reference
/// El-Yaniv and Wiener, JMLR 2010; Geifman, Uziel and El-Yaniv, ICLR 2019 (the area and its least value).
///
/// ```
/// use calibrant_calibration::evaluation::answered_curve;
/// let curve = answered_curve(&[0.9, 0.8, 0.7, 0.6], &[true, false, true, true], 100);
/// // By hand: errors 0, 1/2, 1/3, 1/4; at best 0, 0, 0, 1/4.
/// assert!((curve.area - (0.5 + 1.0 / 3.0 + 0.25) / 4.0).abs() < 1e-15);
/// assert!((curve.least_area - 0.0625).abs() < 1e-15);
/// assert_eq!((curve.points[1].answered, curve.points[1].accuracy), (0.5, 0.5));
/// ```
pub fn answered_curve(confidences: &[f64], right: &[bool], most: usize) -> AnsweredCurve {
    let count = confidences.len().min(right.len());
    let order = rising_order(&confidences[..count]);
    let falling: Vec<usize> = order.iter().rev().map(|&place| place as usize).collect();
    let (mut points, mut next) = (Vec::new(), 0.0);
    let (mut area, mut wrong, mut begin) = (0.0, 0.0, 0);
    while begin < count {
        let own = confidences[falling[begin]];
        let same = falling[begin..]
            .iter()
            .take_while(|&&place| confidences[place] == own);
        // What is not a number equals nothing.
        let end = begin + same.count().max(1);
        let block = &falling[begin..end];
        let here = block.iter().filter(|&&place| !right[place]).count() as f64;
        let part = here / block.len() as f64;
        let mean = |place: usize| (wrong + part * (place - begin + 1) as f64) / (place + 1) as f64;
        area += (begin..end).map(mean).sum::<f64>();
        wrong += here;
        let answered = end as f64 / count as f64;
        if answered >= next || end == count {
            points.push(AnsweredPoint {
                threshold: own,
                answered,
                accuracy: 1.0 - wrong / end as f64,
            });
            next = answered + 1.0 / most.max(1) as f64;
        }
        begin = end;
    }
    let all = count.max(1) as f64;
    let rights = count - wrong as usize;
    let least: f64 = (rights..count)
        .map(|place| (place + 1 - rights) as f64 / (place + 1) as f64)
        .sum();
    AnsweredCurve {
        points,
        area: area / all,
        least_area: least / all,
        chance_area: wrong / all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The area of one order.
    fn area(right: &[bool]) -> f64 {
        let mut wrong = 0.0;
        let errors = right.iter().enumerate().map(|(place, &right)| {
            wrong += f64::from(u8::from(!right));
            wrong / (place + 1) as f64
        });
        errors.sum::<f64>() / right.len() as f64
    }

    /// The mean area over all orders.
    fn mean_area(right: &mut Vec<bool>, fixed: usize) -> f64 {
        if fixed + 1 >= right.len() {
            return area(right);
        }
        let mut sum = 0.0;
        for place in fixed..right.len() {
            right.swap(fixed, place);
            sum += mean_area(right, fixed + 1);
            right.swap(fixed, place);
        }
        sum / (right.len() - fixed) as f64
    }

    proptest! {
        #[test]
        fn ties_count_as_the_mean_over_their_orders(mut right in prop::collection::vec(any::<bool>(), 1..7)) {
            let curve = answered_curve(&vec![0.5; right.len()], &right, 10);
            prop_assert_eq!(curve.points.len(), 1);
            let expected = mean_area(&mut right, 0);
            prop_assert!((curve.area - expected).abs() < 1e-12);
            prop_assert!((curve.chance_area - expected).abs() < 1e-12);
        }

        #[test]
        fn no_order_is_better_than_the_best(right in prop::collection::vec(any::<bool>(), 1..30)) {
            let confidences: Vec<f64> = (0..right.len()).map(|i| -(i as f64)).collect();
            let curve = answered_curve(&confidences, &right, 1_000);
            prop_assert!((curve.area - area(&right)).abs() < 1e-12);
            let mut best = right.clone();
            best.sort_by_key(|&right| !right);
            prop_assert!((curve.least_area - area(&best)).abs() < 1e-12);
            prop_assert!(curve.least_area <= curve.area + 1e-12);
            prop_assert_eq!(curve.points.len(), right.len());
        }
    }

    #[test]
    fn few_points_stand_for_many() {
        let confidences: Vec<f64> = (0..10_000).map(f64::from).collect();
        let curve = answered_curve(&confidences, &[true; 10_000], 100);
        assert!(curve.points.len() <= 102 && curve.points.len() >= 98);
        assert_eq!(curve.points.last().unwrap().answered, 1.0);
        assert!(answered_curve(&[], &[], 100).points.is_empty());
    }
}
