//! Weights of which only the ratios count.

/// Weights in the same ratios whose sum is `total`, whatever the unit they came in.
///
/// # Formula
/// ```text
/// w'_i = total · w_i / Σ w
/// ```
/// Weights that are all alike become exactly `total / n`. The order of the weights makes no difference, and
/// weights near the ends of the number line neither overflow nor vanish.
///
/// ```
/// use calibrant_calibration::numeric::relative_weights;
/// assert_eq!(relative_weights(&[1.0, 3.0], 2.0), [0.5, 1.5]); // by hand: 2/4 and 6/4
/// assert_eq!(relative_weights(&[0.1; 3], 3.0), [1.0; 3]);
/// assert_eq!(relative_weights(&[1e308, 1e308, 1e308], 3.0), [1.0; 3]);
/// ```
pub fn relative_weights(weights: &[f64], total: f64) -> Vec<f64> {
    let count = weights.len() as f64;
    if weights.windows(2).all(|pair| pair[0] == pair[1]) {
        return vec![total / count; weights.len()];
    }
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let mut shares: Vec<f64> = weights.iter().map(|weight| weight / largest).collect();
    let mut sorted = shares.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let factor = total / sorted.iter().sum::<f64>();
    for share in &mut shares {
        *share = (*share * factor).max(f64::MIN_POSITIVE);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn only_ratios_count(
            weights in prop::collection::vec(1e-3..1e3f64, 1..40),
            power in -60i32..60,
        ) {
            // A power of two changes no digit, so the answer is the same to the last bit.
            let factor = 2f64.powi(power);
            let scaled: Vec<f64> = weights.iter().map(|weight| weight * factor).collect();
            let total = weights.len() as f64;
            let found = relative_weights(&weights, total);
            prop_assert_eq!(&found, &relative_weights(&scaled, total));
            prop_assert!((found.iter().sum::<f64>() - total).abs() < 1e-9 * total);
            let mut backwards = weights.clone();
            backwards.reverse();
            let mut turned = relative_weights(&backwards, total);
            turned.reverse();
            prop_assert_eq!(found, turned);
        }
    }

    #[test]
    fn extremes_stay_positive_and_finite() {
        let found = relative_weights(&[1e-308, 1e308], 2.0);
        assert!(found[0] > 0.0 && (found[1] - 2.0).abs() < 1e-12);
        assert!(relative_weights(&[], 1.0).is_empty());
    }
}
