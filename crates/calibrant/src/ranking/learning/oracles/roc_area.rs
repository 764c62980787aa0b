//! The area under the ROC curve.

use super::SortedSides;

/// The most violated ranking for the loss `1 - ROC area`: the part of pairs that stand the wrong way round.
///
/// # Formula
/// Every pair decides for itself: it stands the wrong way round where that costs less than it brings,
/// ```text
/// 1/(|R||N|) > 2 (s_i - t_j)/(|R||N|)    or    s_i < t_j + ½
/// ```
/// and since this compares sorted scores with sorted scores moved by a half, the answers of all pairs
/// fit together into one ranking. `O(n log n)` with the sort.
///
/// # When it misleads
/// All pairs count alike, at the top of a ranking and at its end; whoever looks at the top alone wants
/// [average precision](super::most_violated_average_precision).
///
/// # Reference
/// Joachims, ICML 2005, section 4.3 and algorithm 3.
///
/// ```
/// use calibrant::ranking::learning::{SortedSides, most_violated_roc_area};
/// let (mut sides, mut before, mut c) = (SortedSides::default(), Vec::new(), [0.0; 3]);
/// sides.sort(&[0.6, 0.3, 0.0], &[true, false, false]);
/// // By hand: the lead over the first is 0.3 < ½ (wrong), over the second 0.6 (right): one pair of two.
/// assert_eq!(most_violated_roc_area(&sides, &mut before, &mut c), 0.5);
/// assert_eq!(c, [1.0, -1.0, 0.0]);
/// ```
pub fn most_violated_roc_area(
    sides: &SortedSides,
    relevant_before: &mut Vec<u32>,
    coefficients: &mut [f64],
) -> f64 {
    let Some((relevant, others)) = sides.begin(relevant_before, coefficients) else {
        return 0.0;
    };
    let mut place = 0;
    let mut wrong = 0;
    for &t in sides.other_scores() {
        while place < relevant && sides.relevant_scores()[place] >= t + 0.5 {
            place += 1;
        }
        relevant_before.push(place as u32);
        wrong += relevant - place;
    }
    sides.coefficients_into(relevant_before, coefficients);
    wrong as f64 / (relevant as f64 * others as f64)
}

#[cfg(test)]
mod tests {
    use super::super::testing::check_interleavings;
    use super::*;
    use proptest::prelude::*;

    fn wrong_part(order: &[bool]) -> f64 {
        let (mut others, mut wrong, mut relevant) = (0, 0, 0);
        for &label in order {
            if label {
                relevant += 1;
                wrong += others;
            } else {
                others += 1;
            }
        }
        f64::from(wrong) / f64::from(relevant * others)
    }

    proptest! {
        #[test]
        fn no_interleaving_is_more_violated(
            documents in prop::collection::vec((-1.5f64..1.5, any::<bool>()), 2..8),
            coarse in any::<bool>(),
        ) {
            let mut before = Vec::new();
            check_interleavings(&documents, coarse, wrong_part, |sides, coefficients| {
                most_violated_roc_area(sides, &mut before, coefficients)
            })?;
        }
    }

    #[test] // By hand: 8 of 15 pairs stand the wrong way round.
    fn the_toy_ranking_has_the_area_worked_out_by_hand() {
        let order = [true, false, false, false, false, true, true, false];
        assert!((1.0 - wrong_part(&order) - 0.467).abs() < 5e-4);
    }
}
