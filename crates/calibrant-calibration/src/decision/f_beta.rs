//! Which decisions have the largest expected F?

use crate::numeric::rising_order;
use serde::{Deserialize, Serialize};

/// The decisions of largest expected F, and that F.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BestF {
    /// What is more probable than this is accepted.
    pub threshold: f64,
    /// The expected F of these decisions.
    pub value: f64,
    /// How many of the given ones are accepted.
    pub accepted: usize,
}

/// The threshold of largest expected F over many decisions, from calibrated probabilities alone.
///
/// # Formula
/// Accepting the `j` most probable of all has the expected counts
/// ```text
/// F_j = (1 + β²) Σ_{i≤j} p_i / (j + β² Σ_i p_i)
/// ```
/// and at the best `j` just those are accepted whose `p` exceeds `F / (1 + β²)`. All labels of all documents together give the
/// threshold of micro-averaged F; [`best_f_beta_by_label`] those of macro-averaged F.
///
/// # When it misleads
/// It is the ratio of expected counts, which for few decisions is not the expected ratio (for the labels of one document see
/// [`BestF::of_document`]). It believes the probabilities.
///
/// # Reference
/// Lipton, Elkan and Naryanaswamy, ECML 2014 (the threshold is half the best F1); Ye, Chai, Lee and Chieu, ICML 2012.
///
/// ```
/// use calibrant_calibration::decision::best_f_beta;
/// // By hand, Σp = 1.8: one accepted 2·0.9/2.8 = 0.643, two 2·1.5/3.8 = 0.789, three 2·1.8/4.8 = 0.75.
/// let best = best_f_beta(&[0.6, 0.9, 0.3], 1.0);
/// assert_eq!(best.accepted, 2);
/// assert!((best.value - 3.0 / 3.8).abs() < 1e-15 && (best.threshold - 1.5 / 3.8).abs() < 1e-15);
/// ```
pub fn best_f_beta(probabilities: &[f64], beta: f64) -> BestF {
    let square = beta * beta;
    let total: f64 = probabilities.iter().sum();
    let (mut best, mut sum) = (0.0, 0.0);
    for (place, p) in (1u32..).zip(falling(probabilities)) {
        sum += p;
        let value = (1.0 + square) * sum / (f64::from(place) + square * total);
        // Once a further one makes it worse, all do.
        if value <= best {
            break;
        }
        best = value;
    }
    let threshold = best / (1.0 + square);
    BestF {
        threshold,
        value: best,
        accepted: probabilities.iter().filter(|&&p| p > threshold).count(),
    }
}

/// A threshold for each label, by its own probabilities in many documents (row by row): the largest macro-averaged F.
///
/// ```
/// use calibrant_calibration::decision::{best_f_beta, best_f_beta_by_label};
/// let best = best_f_beta_by_label(&[0.9, 0.2, 0.4, 0.1], 2, 1.0);
/// assert_eq!(best[1], best_f_beta(&[0.2, 0.1], 1.0));
/// ```
pub fn best_f_beta_by_label(probabilities: &[f64], label_count: usize, beta: f64) -> Vec<BestF> {
    let of_label = |label: usize| {
        let own = probabilities[label.min(probabilities.len())..].iter();
        let own: Vec<f64> = own.step_by(label_count).copied().collect();
        best_f_beta(&own, beta)
    };
    (0..label_count).map(of_label).collect()
}

impl BestF {
    /// The labels of one document that have the largest expected F: exact for labels that are independent given the document.
    ///
    /// # Formula
    /// ```text
    /// max_j E[ (1 + β²) T / (j + β² (T + M)) ]     T true among the j most probable, M among the others; 1 where j = T = M = 0
    /// ```
    /// by the distributions of `T` and `M`, in time that grows as the cube of the number of labels. Where several labels at the edge are
    /// equally probable, as many of them are meant as `accepted` says.
    ///
    /// # Reference
    /// Lewis, SIGIR 1995 (the most probable ones are best); Ye et al., ICML 2012 (the two distributions).
    ///
    /// ```
    /// use calibrant_calibration::decision::BestF;
    /// // By hand: nothing is right with probability 0.7 · 0.8 = 0.56; the first alone has F 1 where it alone is true
    /// // (0.3 · 0.8) and 2/3 where both are (0.3 · 0.2), 0.28 together; both have 1 · 0.06 + 2/3 · 0.38 = 0.31.
    /// let best = BestF::of_document(&[0.3, 0.2], 1.0);
    /// assert_eq!(best.accepted, 0);
    /// assert!((best.value - 0.56).abs() < 1e-15);
    /// ```
    pub fn of_document(probabilities: &[f64], beta: f64) -> Self {
        let square = beta * beta;
        let order: Vec<f64> = falling(probabilities).collect();
        // Below: how many of those from a place on are true.
        let mut below = vec![vec![1.0]];
        for p in order.iter().rev() {
            let next = with_one(&below[below.len() - 1], *p);
            below.push(next);
        }
        below.reverse();
        let mut best = Self {
            threshold: order.first().copied().unwrap_or(0.0),
            value: below[0][0],
            accepted: 0,
        };
        let mut above = vec![1.0];
        for (place, &p) in order.iter().enumerate() {
            above = with_one(&above, p);
            let count = place + 1;
            let f = |hits: usize, missed: usize| {
                let (hits, missed) = (hits as f64, missed as f64);
                (1.0 + square) * hits / (count as f64 + square * (hits + missed))
            };
            let rest = &below[count];
            let of_hits = |(hits, chance): (usize, &f64)| {
                let expected = rest
                    .iter()
                    .enumerate()
                    .map(|(missed, chance)| chance * f(hits, missed));
                chance * expected.sum::<f64>()
            };
            let value: f64 = above.iter().enumerate().map(of_hits).sum();
            if value > best.value * (1.0 + 1e-12) {
                best = Self {
                    threshold: order.get(count).copied().unwrap_or(0.0),
                    value,
                    accepted: count,
                };
            }
        }
        best
    }
}

/// From the largest to the least.
fn falling(probabilities: &[f64]) -> impl Iterator<Item = f64> + '_ {
    let order = rising_order(probabilities);
    order
        .into_iter()
        .rev()
        .map(|place| probabilities[place as usize])
}

/// The distribution of a count with one more that is true with probability `p`.
fn with_one(counts: &[f64], p: f64) -> Vec<f64> {
    let at = |count: usize| counts.get(count).copied().unwrap_or(0.0);
    let one =
        |count: usize| at(count) * (1.0 - p) + if count > 0 { at(count - 1) * p } else { 0.0 };
    (0..=counts.len()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test] // Every set of decisions.
        fn no_other_decisions_have_a_larger_ratio(tenths in prop::collection::vec(0u8..=10, 1..9), beta in 0.2..4.0f64) {
            let p: Vec<f64> = tenths.iter().map(|&tenth| f64::from(tenth) / 10.0).collect();
            let total: f64 = p.iter().sum();
            let best = best_f_beta(&p, beta);
            let f = |chosen: &[f64]| {
                let hits: f64 = chosen.iter().sum();
                match chosen.len() {
                    0 => 0.0,
                    count => (1.0 + beta * beta) * hits / (count as f64 + beta * beta * total),
                }
            };
            for set in 0..1u32 << p.len() {
                let chosen: Vec<f64> = (0..p.len()).filter(|i| set >> i & 1 == 1).map(|i| p[i]).collect();
                prop_assert!(f(&chosen) <= best.value + 1e-12);
            }
            let accepted: Vec<f64> = p.iter().copied().filter(|&p| p > best.threshold).collect();
            prop_assert_eq!(accepted.len(), best.accepted);
            prop_assert!((f(&accepted) - best.value).abs() < 1e-9);
        }

        #[test] // Every set of labels against every truth.
        fn no_other_labels_of_a_document_have_a_larger_expected_f(p in prop::collection::vec(0.0..1.0f64, 0..7), beta in 0.3..3.0f64) {
            let expected = |set: u32| {
                let mut sum = 0.0;
                for truth in 0..1u32 << p.len() {
                    let chance: f64 = (0..p.len()).map(|i| if truth >> i & 1 == 1 { p[i] } else { 1.0 - p[i] }).product();
                    let (hits, said, there) = ((set & truth).count_ones(), set.count_ones(), truth.count_ones());
                    let below = f64::from(said) + beta * beta * f64::from(there);
                    sum += chance * if below == 0.0 { 1.0 } else { (1.0 + beta * beta) * f64::from(hits) / below };
                }
                sum
            };
            let best = BestF::of_document(&p, beta);
            let most = (0..1u32 << p.len()).map(expected).fold(0.0, f64::max);
            prop_assert!((most - best.value).abs() < 1e-9, "{} {}", most, best.value);
            let accepted = (0..p.len()).filter(|&i| p[i] > best.threshold).fold(0, |set, i| set | 1 << i);
            prop_assert!((expected(accepted) - best.value).abs() < 1e-9);
        }
    }

    #[test]
    fn nothing_to_accept_is_nothing_accepted() {
        for p in [&[][..], &[0.0, 0.0]] {
            let best = best_f_beta(p, 1.0);
            assert_eq!((best.accepted, best.value), (0, 0.0));
        }
        assert_eq!(BestF::of_document(&[], 1.0).value, 1.0);
        assert_eq!(best_f_beta_by_label(&[], 2, 1.0).len(), 2);
    }
}
