//! Probabilities that add up to what was seen.

use super::HeldOutScores;
use crate::numeric::sigmoid;

/// What probabilities of these examples should add up to: the weight of the positives. Where one of the labels was
/// not seen at all, half an example stands for it.
pub(super) fn wanted_total(held_out: &HeldOutScores) -> f64 {
    let (positive, negative) = held_out.class_weights();
    let all = positive + negative;
    let half = 0.5 * all / held_out.len().max(1) as f64;
    positive.clamp(half, (all - half).max(half))
}

/// What has to be added to all log-odds (each with its weight) so that the probabilities add up to a total
/// between zero and the sum of the weights.
pub(super) fn shift_to_total(
    log_odds: impl Iterator<Item = (f64, f64)> + Clone,
    total: f64,
) -> f64 {
    let (mut least, mut most, mut all) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
    for (log_odds, weight) in log_odds.clone() {
        least = least.min(log_odds);
        most = most.max(log_odds);
        all += weight;
    }
    let even = (total / (all - total)).ln();
    if !even.is_finite() {
        return 0.0;
    }
    // At these ends all probabilities are at most, or at least, the mean that is wanted.
    let (mut low, mut high) = (even - most, even - least);
    let mut shift = 0.5 * (low + high);
    for _ in 0..100 {
        let (mut sum, mut slope) = (-total, 0.0);
        for (log_odds, weight) in log_odds.clone() {
            let p = sigmoid(log_odds + shift);
            sum += weight * p;
            slope += weight * p * (1.0 - p);
        }
        if sum > 0.0 {
            high = shift;
        } else {
            low = shift;
        }
        let newton = shift - sum / slope;
        let inside = newton > low && newton < high; // not so for NaN
        let next = if inside { newton } else { 0.5 * (low + high) };
        let step = (next - shift).abs();
        shift = next;
        if step <= 1e-12 * (1.0 + shift.abs()) {
            break;
        }
    }
    shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test] // By hand: of two examples at even odds, probabilities of 1/4 each add up to a half.
    fn the_shift_is_found_by_hand() {
        let shift = shift_to_total([(0.0, 1.0), (0.0, 1.0)].into_iter(), 0.5);
        assert!((shift + 3f64.ln()).abs() < 1e-9, "{shift}");
    }

    proptest! {
        #[test]
        fn probabilities_add_up(
            examples in prop::collection::vec((-50.0..50.0f64, 0.1..10.0f64), 1..60),
            share in 0.001..0.999f64,
        ) {
            let all: f64 = examples.iter().map(|(_, weight)| weight).sum();
            let shift = shift_to_total(examples.iter().copied(), share * all);
            let sum: f64 = examples.iter().map(|(l, weight)| weight * sigmoid(l + shift)).sum();
            prop_assert!((sum / all - share).abs() < 1e-6 * share, "{} {}", sum / all, share);
        }
    }
}
