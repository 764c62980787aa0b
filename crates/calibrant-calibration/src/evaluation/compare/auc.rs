//! How well probabilities put members before others.

use crate::Task;
use crate::evaluation::forecasts::{Forecasts, Row};
use crate::numeric::{order_bits, rising_order};

/// The area under the ROC curve, averaged over the classes that have members and others, each
/// against the rest; `None` if there is no such class. Two exclusive classes are one question.
///
/// # Formula
/// The share of pairs of a member and another, weighted by the product of their weights, in which
/// the member has the larger probability; equal ones count half.
pub(super) fn mean_auc(forecasts: &Forecasts, rows: &[Row<'_>]) -> Option<f64> {
    let class_count = forecasts.class_names.len();
    let first = usize::from(forecasts.task == Task::SingleLabel && class_count == 2);
    let (mut sum, mut classes) = (0.0, 0);
    let mut log_odds = Vec::with_capacity(rows.len());
    for class in first..class_count {
        log_odds.clear();
        log_odds.extend(rows.iter().map(|row| row.probabilities[class].log_odds()));
        let belongs = |row: &Row<'_>| row.labels.contains(&(class as u32));
        if let Some(auc) = auc(&log_odds, |row| belongs(&rows[row]), |row| rows[row].weight) {
            sum += auc;
            classes += 1;
        }
    }
    (classes > 0).then(|| sum / f64::from(classes))
}

fn auc(
    scores: &[f64],
    belongs: impl Fn(usize) -> bool,
    weight: impl Fn(usize) -> f64,
) -> Option<f64> {
    let order = rising_order(scores);
    let (mut members, mut others_below, mut area) = (0.0, 0.0, 0.0);
    let bits = |row: &u32| order_bits(scores[*row as usize]);
    for equals in order.chunk_by(|a, b| bits(a) == bits(b)) {
        let (mut members_here, mut others_here) = (0.0, 0.0);
        for &row in equals {
            if belongs(row as usize) {
                members_here += weight(row as usize);
            } else {
                others_here += weight(row as usize);
            }
        }
        area += members_here * (others_below + 0.5 * others_here);
        members += members_here;
        others_below += others_here;
    }
    (members > 0.0 && others_below > 0.0).then(|| area / members / others_below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // By hand: pairs (2,1) right, (2,2) even, (3,1) right, (3,2) right: 3.5 of 4.
    fn a_small_case_agrees_with_the_hand() {
        let scores = [1.0, 2.0, 2.0, 3.0];
        let found = auc(&scores, |row| row == 1 || row == 3, |_| 1.0);
        assert_eq!(found, Some(3.5 / 4.0));
        assert_eq!(auc(&scores, |_| true, |_| 1.0), None);
        // A weight of two is a document twice: the even pair counts double.
        let found = auc(
            &scores,
            |row| row == 1 || row == 3,
            |row| if row == 2 { 2.0 } else { 1.0 },
        );
        assert_eq!(found, Some((1.0 + 0.5 * 2.0 + 1.0 + 2.0) / 6.0));
    }
}
