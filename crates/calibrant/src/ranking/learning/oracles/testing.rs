//! Oracles against all interleavings.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::SortedSides;

pub(crate) fn sides_of(scores: &[f64], relevant: &[bool]) -> SortedSides {
    let mut sides = SortedSides::default();
    sides.sort(scores, relevant);
    sides
}

/// All orders of `0..count`.
pub(crate) fn permutations(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for shorter in permutations(count - 1) {
        for place in 0..count {
            let mut order = shorter.clone();
            order.insert(place, count - 1);
            all.push(order);
        }
    }
    all
}

/// Whether an oracle's answer is worth as much as the best of all orders of the documents, by the
/// definitions alone. `coarse` rounds scores so that many are equal.
pub(crate) fn check_interleavings(
    documents: &[(f64, bool)],
    coarse: bool,
    loss: impl Fn(&[bool]) -> f64,
    mut oracle: impl FnMut(&SortedSides, &mut [f64]) -> f64,
) -> Result<(), TestCaseError> {
    let scores: Vec<f64> = documents
        .iter()
        .map(|&(score, _)| if coarse { score.round() } else { score })
        .collect();
    let relevant: Vec<bool> = documents.iter().map(|&(_, relevant)| relevant).collect();
    let count = relevant.iter().filter(|&&relevant| relevant).count();
    prop_assume!(count > 0 && count < relevant.len() && relevant.len() <= 7);
    let sides = sides_of(&scores, &relevant);
    let mut coefficients = vec![0.0; scores.len()];
    let found_loss = oracle(&sides, &mut coefficients);
    let product: f64 = coefficients.iter().zip(&scores).map(|(c, s)| c * s).sum();
    let found = found_loss - product;
    let pairs = (count * (relevant.len() - count)) as f64;
    let mut best = f64::NEG_INFINITY;
    for order in permutations(scores.len()) {
        let labels: Vec<bool> = order.iter().map(|&d| relevant[d]).collect();
        // Each pair that stands the wrong way round moves ψ by twice its difference.
        let mut wrong = 0.0;
        for (place, &first) in order.iter().enumerate() {
            for &second in &order[place + 1..] {
                if !relevant[first] && relevant[second] {
                    wrong += 2.0 * (scores[second] - scores[first]);
                }
            }
        }
        best = best.max(loss(&labels) - wrong / pairs);
    }
    prop_assert!((found - best).abs() < 1e-10, "{} {}", found, best);
    Ok(())
}
