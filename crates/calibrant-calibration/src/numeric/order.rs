//! Sorting by a number, fast.

/// A whole number that orders as the float does: `-∞ < … < -0 = 0 < … < ∞`, not-a-number at the ends.
///
/// Sorting whole numbers needs no branch in a comparison, which makes sorting a million scores
/// several times faster than sorting the floats themselves.
///
/// ```
/// use calibrant_calibration::numeric::order_bits;
/// assert!(order_bits(-2.0) < order_bits(-1.0) && order_bits(-1.0) < order_bits(0.5));
/// assert_eq!(order_bits(-0.0), order_bits(0.0));
/// ```
#[inline]
pub fn order_bits(value: f64) -> u64 {
    // Adding zero turns -0 into 0.
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    }
}

/// The number whose [`order_bits`] these are; `-0` comes back as `0`.
///
/// ```
/// use calibrant_calibration::numeric::{order_bits, value_of_order_bits};
/// assert_eq!(value_of_order_bits(order_bits(-2.5)), -2.5);
/// ```
#[inline]
pub fn value_of_order_bits(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 {
        bits & !(1 << 63)
    } else {
        !bits
    })
}

/// The positions of values from the least to the greatest, equal ones in the order they stand in.
///
/// ```
/// use calibrant_calibration::numeric::rising_order;
/// assert_eq!(rising_order(&[0.5, -1.0, 0.5, 0.0]), [1, 3, 0, 2]);
/// ```
pub fn rising_order(values: &[f64]) -> Vec<u32> {
    debug_assert!(values.len() <= u32::MAX as usize);
    let mut keys: Vec<(u64, u32)> = values
        .iter()
        .zip(0..)
        .map(|(&value, position)| (order_bits(value), position))
        .collect();
    sort_keys(&mut keys);
    keys.into_iter().map(|(_, position)| position).collect()
}

/// Keys from which on sorting is shared out.
const SHARED_FROM: usize = 1 << 15;

/// Sorts keys with the positions that they came from, on all threads where there are many.
pub fn sort_keys(keys: &mut [(u64, u32)]) {
    use rayon::prelude::ParallelSliceMut;
    match keys.len() < SHARED_FROM {
        true => keys.sort_unstable(),
        false => keys.par_sort_unstable(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_bits_order_as_the_numbers(a in any::<f64>(), b in any::<f64>()) {
            prop_assume!(!a.is_nan() && !b.is_nan());
            prop_assert_eq!(a.partial_cmp(&b).unwrap(), order_bits(a).cmp(&order_bits(b)));
            prop_assert_eq!(value_of_order_bits(order_bits(a)), a);
        }

        #[test]
        fn the_order_is_that_of_a_stable_sort(values in prop::collection::vec(-3i8..3, 0..40)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let mut expected: Vec<u32> = (0..values.len() as u32).collect();
            expected.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
            prop_assert_eq!(rising_order(&values), expected);
        }
    }
}
