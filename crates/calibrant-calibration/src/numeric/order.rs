//! Sorting by a number, fast.

use crate::parallel;

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
/// Into how many buckets they go: a bucket of a million fits into the fastest memory of a core.
const BUCKETS: usize = 256;
/// How many keys are looked at for each bucket to find where it ends.
const LOOKED_AT: usize = 8;
/// How many keys a thread puts into buckets before it takes others.
const AT_ONCE: usize = 1 << 14;

/// A key that orders as its number does first.
pub trait NumberedKey: Copy + Ord + Send + Sync {
    /// The number.
    fn number(self) -> u64;
}

/// With the position that the number came from.
impl NumberedKey for (u64, u32) {
    #[inline]
    fn number(self) -> u64 {
        self.0
    }
}

/// With something else in the lower half.
impl NumberedKey for u128 {
    #[inline]
    fn number(self) -> u64 {
        (self >> 64) as u64
    }
}

/// Sorts keys, on all threads where there are many.
///
/// Many are put into buckets first, between keys at even steps of some that were looked at, so that each bucket can be sorted by itself.
pub fn sort_keys<K: NumberedKey>(keys: &mut [K]) {
    sort_keys_then(keys, |_| ());
}

/// As [`sort_keys`]; then `then` is given all keys, in parts that never divide keys of one number.
pub fn sort_keys_then<K: NumberedKey>(keys: &mut [K], then: impl Fn(&mut [K]) + Sync) {
    if keys.len() < SHARED_FROM {
        keys.sort_unstable();
        then(keys);
        return;
    }
    let splitters = splitters(keys);
    let parts = parallel::map_chunks(keys, AT_ONCE, |keys| Bucketed::new(keys, &splitters));
    let mut rest = keys;
    let mut buckets = Vec::with_capacity(BUCKETS);
    for bucket in 0..BUCKETS {
        let length = parts.iter().map(|part| part.of(bucket).len()).sum();
        let (own, others) = rest.split_at_mut(length);
        buckets.push((bucket, own));
        rest = others;
    }
    parallel::map_owned(buckets, |(bucket, place)| {
        let mut filled = 0;
        for part in &parts {
            let keys = part.of(bucket);
            place[filled..filled + keys.len()].copy_from_slice(keys);
            filled += keys.len();
        }
        // Equal numbers mostly come in order already, which a sort is quick to see.
        place.sort_unstable();
        then(place);
    });
}

/// The numbers below which the buckets end, rising; the last one has no end.
fn splitters<K: NumberedKey>(keys: &[K]) -> [u64; BUCKETS - 1] {
    let count = BUCKETS * LOOKED_AT;
    let looked_at = (0..count).map(|place| keys[place * keys.len() / count].number());
    let mut looked_at: Vec<u64> = looked_at.collect();
    looked_at.sort_unstable();
    std::array::from_fn(|bucket| looked_at[(bucket + 1) * LOOKED_AT])
}

/// Keys by the bucket that they belong to.
struct Bucketed<K> {
    keys: Vec<K>,
    /// Where each bucket starts, and where the last one ends.
    starts: Vec<u32>,
}

impl<K: NumberedKey> Bucketed<K> {
    fn new(keys: &[K], splitters: &[u64; BUCKETS - 1]) -> Self {
        let bucket_of = |key: &K| bucket_of(key.number(), splitters);
        let of_keys: Vec<u8> = keys.iter().map(bucket_of).collect();
        let mut starts = vec![0u32; BUCKETS + 1];
        for &bucket in &of_keys {
            starts[usize::from(bucket) + 1] += 1;
        }
        for bucket in 0..BUCKETS {
            starts[bucket + 1] += starts[bucket];
        }
        let mut next = starts.clone();
        let mut placed = keys.to_vec();
        for (key, &bucket) in keys.iter().zip(&of_keys) {
            let next = &mut next[usize::from(bucket)];
            placed[*next as usize] = *key;
            *next += 1;
        }
        Self {
            keys: placed,
            starts,
        }
    }

    fn of(&self, bucket: usize) -> &[K] {
        &self.keys[self.starts[bucket] as usize..self.starts[bucket + 1] as usize]
    }
}

/// Halving eight times without a branch that depends on the number: the processor cannot guess those.
#[inline]
fn bucket_of(number: u64, splitters: &[u64; BUCKETS - 1]) -> u8 {
    let mut bucket = 0;
    let mut half = BUCKETS / 2;
    while half > 0 {
        bucket += half * usize::from(splitters[bucket + half - 1] <= number);
        half /= 2;
    }
    bucket as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;
    use proptest::prelude::*;

    #[test]
    fn many_keys_are_sorted_whatever_they_are() {
        let mut random = Random::from_seed(9);
        let count = 2 * SHARED_FROM + 77;
        let mut number = |kind: usize, place: usize| match kind {
            0 => random.normal(),
            1 => (random.below(19) as f64) / 20.0,
            2 => -(place as f64),
            3 => random.normal() * 10f64.powi(random.below(600) as i32 - 300),
            4 if place.is_multiple_of(3) => 0.0,
            4 => 1.0 - random.uniform() * 1e-9,
            _ => 2.5,
        };
        for kind in 0..6 {
            let values: Vec<f64> = (0..count).map(|place| number(kind, place)).collect();
            let mut expected: Vec<u32> = (0..count as u32).collect();
            expected.sort_by(|&a, &b| values[a as usize].partial_cmp(&values[b as usize]).unwrap());
            for threads in [1, 2, 5] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                let found = pool.build().unwrap().install(|| rising_order(&values));
                assert!(found == expected, "{kind} on {threads}");
            }
        }
    }

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
