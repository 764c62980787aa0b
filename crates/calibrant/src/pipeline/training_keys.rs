//! Has the model learned from this document? A small filter remembers.

use crate::saved::{NamedTensor, TensorReader};

/// Bits of the filter a document.
const BITS_A_DOCUMENT: usize = 15;
/// Places of a key in the filter: about `15 · ln 2`, which makes chance hits rarest.
const PLACES: u8 = 10;
/// With more documents only a part of them is remembered.
const MOST_DOCUMENTS: usize = 10_000_000;
/// The first bytes of a saved filter: its version, places, bits of the sample, and five that are zero.
const HEADER: usize = 8;
const VERSION: u8 = 1;

/// Tells keys, one after the other.
pub(super) type EachKey<'a> = &'a dyn Fn(&mut dyn FnMut(u128));

/// Which documents a model learned from, as a Bloom filter over hashes of what it sees of them.
///
/// # Formula
/// A document sets `k = 10` bits of `15 n`, which its key decides. A document that was not learned from finds all
/// of its bits set by chance with probability `φ^k`, where `φ` is the share of bits that are set: about 0.0007.
/// Above ten million documents only those whose keys end in `s` zero bits are kept and looked up, a part of
/// `2^-s`.
///
/// # When it misleads
/// Short documents can be equal without being copies: everybody writes "ok". Near-copies are not found.
///
/// # Reference
/// Bloom, Space/time trade-offs in hash coding with allowable errors, CACM 13 (1970).
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingKeys {
    /// As a model file keeps it: a header, then the bits.
    bytes: Vec<u8>,
    chance: f64,
}

impl TrainingKeys {
    /// Remembers documents by their keys, the same ones whatever their order; a key of zero is none.
    pub(super) fn of(keys: &[u128]) -> Self {
        Self::of_each(&|take| keys.iter().for_each(|&key| take(key)))
    }

    /// The same of keys that are told one after the other, as often as they are asked for.
    pub(super) fn of_each(keys: EachKey<'_>) -> Self {
        Self::with_most(keys, MOST_DOCUMENTS)
    }

    fn with_most(keys: EachKey<'_>, most: usize) -> Self {
        let for_each_kept = |sample_bits: u8, take: &mut dyn FnMut(u128)| {
            keys(&mut |key| {
                if key != 0 && is_sampled(key, sample_bits) {
                    take(key);
                }
            });
        };
        let count = |sample_bits: u8| {
            let mut count = 0;
            for_each_kept(sample_bits, &mut |_| count += 1);
            count
        };
        let mut sample_bits = 0;
        let mut kept = count(sample_bits);
        while sample_bits < 63 && kept > most {
            sample_bits += 1;
            kept = count(sample_bits);
        }
        let bit_count = (kept * BITS_A_DOCUMENT).max(64);
        let mut bits = vec![0u8; bit_count.div_ceil(8)];
        for_each_kept(sample_bits, &mut |key| {
            for place in places_of(key, PLACES, bits.len()) {
                bits[place / 8] |= 1 << (place % 8);
            }
        });
        let mut bytes = vec![VERSION, PLACES, sample_bits, 0, 0, 0, 0, 0];
        let chance = chance(PLACES, &bits);
        bytes.append(&mut bits);
        Self { bytes, chance }
    }

    /// Whether the document is among those learned from (or looks so by chance); `None` if it is no part of the
    /// sample, so that nothing is known of it.
    pub(super) fn contains(&self, key: u128) -> Option<bool> {
        let (header, bits) = self.bytes.split_at(HEADER);
        is_sampled(key, header[2]).then(|| {
            let mut places = places_of(key, header[1], bits.len());
            places.all(|place| bits[place / 8] & (1 << (place % 8)) != 0)
        })
    }

    /// The same with the probability of a chance hit.
    pub(super) fn look_up(&self, key: u128) -> Option<(bool, f64)> {
        Some((self.contains(key)?, self.chance))
    }

    /// The probability that a document that was not learned from looks as if it were.
    pub fn chance(&self) -> f64 {
        self.chance
    }

    /// As a model file keeps it.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// From any bytes; `None` where a later calibrant wrote them or nobody did.
    pub(super) fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        let (&[version, places, sample_bits, ..], bits) = bytes.split_first_chunk::<HEADER>()?;
        let fits = version == VERSION && places > 0 && sample_bits < 64 && !bits.is_empty();
        let chance = chance(places, bits);
        fits.then_some(Self { bytes, chance })
    }
}

/// What several filters say of a document: whether one of them knows it, and how likely one does by chance; `None` where none can tell.
pub(super) fn found_in_any(found: impl IntoIterator<Item = (bool, f64)>) -> Option<(bool, f64)> {
    let together = |(hit, missed): (bool, f64), (own, chance): (bool, f64)| {
        (hit | own, missed * (1.0 - chance))
    };
    let mut found = found.into_iter().peekable();
    found.peek()?;
    let (hit, missed) = found.fold((false, 1.0), together);
    Some((hit, 1.0 - missed))
}

/// The name of a filter in a model file: one for each time that the model was recalibrated.
fn name_of(time: usize) -> String {
    format!("recalibration_keys.{time}")
}

/// Documents that recalibrated a model, as tensors.
pub(super) fn recalibration_tensors(
    keys: &[TrainingKeys],
) -> impl Iterator<Item = NamedTensor<'_>> {
    let numbered = keys.iter().enumerate();
    numbered.map(|(time, own)| NamedTensor::vector(&name_of(time), own.bytes()))
}

/// What [`recalibration_tensors`] wrote; what cannot be read is as good as none.
pub(super) fn read_recalibration_keys(
    reader: &TensorReader<'_>,
    times: usize,
) -> Vec<TrainingKeys> {
    let saved = (0..times).map_while(|time| reader.vector::<u8>(&name_of(time)));
    saved.filter_map(TrainingKeys::from_bytes).collect()
}

/// Two halves of the key make as many places as are wanted.
fn places_of(key: u128, places: u8, byte_count: usize) -> impl Iterator<Item = usize> {
    let (start, step) = ((key >> 64) as u64, (key as u64) | 1);
    let bit_count = byte_count as u64 * 8;
    (0..u64::from(places))
        .map(move |place| (start.wrapping_add(place.wrapping_mul(step)) % bit_count) as usize)
}

/// The probability that places drawn at random are all set.
fn chance(places: u8, bits: &[u8]) -> f64 {
    let set: u64 = bits.iter().map(|byte| u64::from(byte.count_ones())).sum();
    let share = set as f64 / (bits.len() as f64 * 8.0).max(1.0);
    share.powi(i32::from(places))
}

/// The lowest bits of the upper half, which places do not hang on much.
fn is_sampled(key: u128, sample_bits: u8) -> bool {
    let mixed = ((key >> 64) as u64) ^ (key as u64).rotate_left(17);
    mixed & ((1u64 << sample_bits) - 1) == 0
}

/// How many of some documents a model had learned from.
///
/// ```
/// use calibrant::pipeline::Acquaintance;
/// let seen = Acquaintance { documents: 1000, looked_up: 1000, hits: 41, by_chance: 1.0 };
/// assert_eq!(seen.learned_from(), Some(40)); // by hand: 41 hits, of which chance explains 1
/// let chance = Acquaintance { hits: 3, ..seen };
/// assert_eq!(chance.learned_from(), None); // 3 where 1 is expected: 8 % of the time
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Acquaintance {
    /// Documents that were asked about.
    pub documents: usize,
    /// Those of them that the filter can tell something about.
    pub looked_up: usize,
    /// Those of them that it takes for documents learned from.
    pub hits: usize,
    /// How many it would take for such by chance.
    pub by_chance: f64,
}

impl Acquaintance {
    /// Counts a document; `found` is what the filter says, with its probability of a chance hit.
    pub(super) fn count(&mut self, found: Option<(bool, f64)>) {
        self.documents += 1;
        if let Some((hit, chance)) = found {
            self.looked_up += 1;
            self.hits += usize::from(hit);
            self.by_chance += chance;
        }
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &Self) {
        self.documents += other.documents;
        self.looked_up += other.looked_up;
        self.hits += other.hits;
        self.by_chance += other.by_chance;
    }

    /// How many documents were learned from, about; `None` where chance alone would give as many hits more often
    /// than once in a thousand times.
    pub fn learned_from(&self) -> Option<usize> {
        if poisson_tail(self.by_chance, self.hits) > 1e-3 {
            return None;
        }
        // Of `n` looked up with `t` learned from, `t + (n - t) f` are hits.
        let looked_up = (self.looked_up as f64).max(1.0);
        let not_by_chance = (1.0 - self.by_chance / looked_up).max(f64::MIN_POSITIVE);
        let learned = (self.hits as f64 - self.by_chance) / not_by_chance;
        let documents = self.documents as f64;
        let about = (learned * documents / looked_up).round();
        let about = about.clamp(1.0, documents.max(1.0));
        Some(about as usize)
    }
}

/// The probability of at least `count` events where `mean` are expected.
fn poisson_tail(mean: f64, count: usize) -> f64 {
    if count == 0 {
        return 1.0;
    }
    if mean <= 0.0 {
        return 0.0;
    }
    if count as f64 > mean + 40.0 * mean.sqrt() + 400.0 {
        return 0.0;
    }
    let mut term = -mean;
    let mut below = term.exp();
    for event in 1..count {
        term += (mean / event as f64).ln();
        below += term.exp();
    }
    (1.0 - below).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;
    use proptest::prelude::*;

    fn keys(count: usize, seed: u64) -> Vec<u128> {
        let mut random = Random::from_seed(seed);
        let mut word = || random.below(1 << 48) as u128;
        (0..count)
            .map(|_| (word() << 84) ^ (word() << 40) ^ word())
            .collect()
    }

    #[test]
    fn what_was_learned_is_found_and_chance_is_as_rare_as_stated() {
        let learned = keys(20_000, 1);
        let filter = TrainingKeys::of(&learned);
        assert!(
            learned
                .iter()
                .all(|&key| filter.contains(key) == Some(true))
        );
        assert!(filter.bytes().len() < 20_000 * 2);
        let others = keys(400_000, 2);
        let hits = others
            .iter()
            .filter(|&&key| filter.contains(key) == Some(true))
            .count() as f64;
        let expected = filter.chance() * 400_000.0;
        assert!(
            (hits - expected).abs() < 4.0 * expected.sqrt(),
            "{hits} {expected}"
        );
        assert!(filter.chance() < 1e-3);
        let mut turned = learned.clone();
        turned.reverse();
        assert_eq!(filter, TrainingKeys::of(&turned));
    }

    #[test]
    fn very_many_documents_are_sampled() {
        let learned = keys(10_000, 3);
        let filter =
            TrainingKeys::with_most(&|take| learned.iter().for_each(|&key| take(key)), 1_000);
        let known: Vec<Option<bool>> = learned.iter().map(|&key| filter.contains(key)).collect();
        let sampled = known.iter().flatten().count();
        assert!((400..=1_000).contains(&sampled), "{sampled}");
        assert!(known.iter().flatten().all(|&known| known));
        let mut seen = Acquaintance::default();
        known
            .iter()
            .for_each(|known| seen.count(known.map(|hit| (hit, filter.chance()))));
        assert_eq!(
            (seen.looked_up, seen.learned_from()),
            (sampled, Some(10_000))
        );
    }

    #[test]
    fn nothing_learned_is_nothing_known() {
        let filter = TrainingKeys::of(&[]);
        assert_eq!(filter.contains(77), Some(false));
        assert_eq!(filter.chance(), 0.0);
    }

    #[test] // By hand: 1 - e^-1 · (1 + 1 + 1/2) = 0.0803.
    fn the_tail_of_poisson() {
        assert!((poisson_tail(1.0, 3) - 0.080_301).abs() < 1e-6);
        assert_eq!(poisson_tail(1.0, 0), 1.0);
        assert_eq!(
            (poisson_tail(0.0, 1), poisson_tail(5.0, 100_000)),
            (0.0, 0.0)
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_filter_or_none(bytes in prop::collection::vec(any::<u8>(), 0..40), key in any::<u128>()) {
            if let Some(filter) = TrainingKeys::from_bytes(bytes) {
                filter.contains(key);
                prop_assert!((0.0..=1.0).contains(&filter.chance()));
                prop_assert_eq!(TrainingKeys::from_bytes(filter.bytes().to_vec()), Some(filter));
            }
        }
    }
}
