//! Which documents are labelled: at random, and again the same for the same seed.

use std::collections::HashMap;

use crate::numeric::{Random, stable_hash};

/// The documents to label: for each stratum so many of its documents, every set of them equally likely.
///
/// Documents are taken in the order of a hash of seed and key, so that the same documents are drawn whatever order they
/// come in, and a larger sample holds a smaller one. Documents with equal keys are next to each other: keys should
/// tell documents apart. Without `strata` all documents are one stratum. Places are returned, rising.
///
/// ```
/// use calibrant_calibration::decision::draw_sample;
/// let keys: Vec<u64> = (0..100).collect();
/// let some = draw_sample(&keys, &[], &[10], 7);
/// assert_eq!(some.len(), 10);
/// let more = draw_sample(&keys, &[], &[20], 7);
/// assert!(some.iter().all(|place| more.contains(place)));
/// let strata: Vec<u32> = (0..100).map(|place| u32::from(place >= 90)).collect();
/// let drawn = draw_sample(&keys, &strata, &[5, 2], 7);
/// assert_eq!(drawn.iter().filter(|&&place| place >= 90).count(), 2);
/// ```
pub fn draw_sample(keys: &[u64], strata: &[u32], labels: &[usize], seed: u64) -> Vec<usize> {
    let mut order: Vec<(u64, usize)> = keys
        .iter()
        .enumerate()
        .map(|(place, key)| {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&seed.to_le_bytes());
            bytes[8..].copy_from_slice(&key.to_le_bytes());
            (stable_hash(&bytes), place)
        })
        .collect();
    order.sort_unstable();
    let mut left = labels.to_vec();
    let mut drawn: Vec<usize> = order
        .into_iter()
        .filter_map(|(_, place)| {
            let stratum = strata.get(place).map_or(0, |&stratum| stratum as usize);
            let left = left.get_mut(stratum).filter(|left| **left > 0)?;
            *left -= 1;
            Some(place)
        })
        .collect();
    drawn.sort_unstable();
    drawn
}

/// So many different places below `count`: the first steps of a shuffle that remembers only what it moved.
pub(crate) fn random_places(count: usize, wanted: usize, random: &mut Random) -> Vec<usize> {
    let mut moved: HashMap<usize, usize> = HashMap::new();
    (0..wanted.min(count))
        .map(|place| {
            let other = place + random.below(count - place);
            let here = moved.get(&place).copied().unwrap_or(place);
            moved.insert(other, here).unwrap_or(other)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_different_and_equally_likely() {
        let mut random = Random::from_seed(5);
        let mut counts = [0u32; 10];
        for _ in 0..20_000 {
            let mut places = random_places(10, 4, &mut random);
            places.iter().for_each(|&place| counts[place] += 1);
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), 4);
        }
        // Expected 8,000 each, with a spread of 69.
        assert!(
            counts.iter().all(|&count| count.abs_diff(8_000) < 350),
            "{counts:?}"
        );
        assert_eq!(random_places(3, 9, &mut random).len(), 3);
    }

    #[test] // Neighbouring keys and seeds: a weak hash would show here.
    fn documents_are_drawn_equally_often_over_seeds() {
        let keys: Vec<u64> = (0..40).collect();
        let mut counts = [0u32; 40];
        for seed in 0..4_000 {
            let drawn = draw_sample(&keys, &[], &[10], seed);
            drawn.iter().for_each(|&place| counts[place] += 1);
        }
        // Expected 1,000 each, with a spread of 27.
        assert!(
            counts.iter().all(|&count| count.abs_diff(1_000) < 140),
            "{counts:?}"
        );
    }
}
