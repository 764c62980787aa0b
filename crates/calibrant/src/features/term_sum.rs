//! What makes two bags of terms the same.

use super::term_hash;

/// A number for the terms of a document: the same for the same terms with the same counts, in whatever
/// order they come, and different for others as far as 128 bits can tell.
///
/// # Formula
/// ```text
/// Σ mark(term) mod 2^128      over all occurrences; mark spreads the term's 64-bit hash over 128 bits
/// ```
/// A sum needs no sorting, and a term that comes three times adds three times its mark.
///
/// ```
/// use calibrant::features::TermSum;
/// let of = |terms: &[&str]| {
///     let mut sum = TermSum::default();
///     terms.iter().for_each(|term| sum.add(term));
///     sum
/// };
/// assert_eq!(of(&["wheat", "corn", "wheat"]), of(&["corn", "wheat", "wheat"]));
/// assert_ne!(of(&["wheat", "corn"]), of(&["wheat", "corn", "corn"]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TermSum(u128);

impl TermSum {
    /// One more occurrence of a term.
    #[inline]
    pub fn add(&mut self, term: &str) {
        self.0 = self.0.wrapping_add(mark(term_hash(term.as_bytes())));
    }

    /// One more occurrence of a hashed column, all that is known of a term there.
    #[inline]
    pub fn add_column(&mut self, column: u32) {
        self.0 = self.0.wrapping_add(mark(u64::from(column)));
    }

    /// Numbered features with their values, or their presence alone. Features that are named twice are added up;
    /// zeros are not features.
    pub fn of_features(features: &[(u32, f32)], presence_only: bool) -> Self {
        let mut sum = Self::default();
        if features.is_sorted_by(|a, b| a.0 < b.0) {
            for &(number, value) in features {
                sum.add_feature(number, value, presence_only);
            }
            return sum;
        }
        let mut features = features.to_vec();
        features.sort_by_key(|&(number, _)| number);
        for same in features.chunk_by(|a, b| a.0 == b.0) {
            let value: f32 = same.iter().map(|&(_, value)| value).sum();
            sum.add_feature(same[0].0, value, presence_only);
        }
        sum
    }

    #[inline]
    fn add_feature(&mut self, number: u32, value: f32, presence_only: bool) {
        if value != 0.0 {
            let value = if presence_only { 1.0 } else { value };
            let both = (u64::from(number) << 32) | u64::from(value.to_bits());
            self.0 = self.0.wrapping_add(mark(both));
        }
    }

    /// So many occurrences of the term with this mark.
    #[inline]
    pub(super) fn add_marked(&mut self, mark: u128, count: u32) {
        self.0 = self.0.wrapping_add(mark.wrapping_mul(u128::from(count)));
    }

    /// The number.
    pub fn value(self) -> u128 {
        self.0
    }
}

/// A hash spread over 128 bits.
#[inline]
pub(super) fn mark(hash: u64) -> u128 {
    let low = mix(hash);
    let high = mix(hash ^ 0x6A09_E667_F3BC_C908);
    (u128::from(high) << 64) | u128::from(low)
}

/// The output step of the splitmix64 generator. Fixed for all time: saved filters depend on it.
#[inline]
fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn sums_agree_exactly_where_bags_do(
            left in prop::collection::vec("[ab]{1,2}", 0..5),
            right in prop::collection::vec("[ab]{1,2}", 0..5),
        ) {
            let bag = |terms: &[String]| {
                let mut bag: BTreeMap<String, usize> = BTreeMap::new();
                for term in terms {
                    *bag.entry(term.clone()).or_default() += 1;
                }
                bag
            };
            let sum = |terms: &[String]| {
                let mut sum = TermSum::default();
                terms.iter().for_each(|term| sum.add(term));
                sum
            };
            prop_assert_eq!(bag(&left) == bag(&right), sum(&left) == sum(&right));
        }
    }

    #[test]
    fn counts_are_as_good_as_occurrences_and_zeros_are_nothing() {
        let mut one_by_one = TermSum::default();
        (0..3).for_each(|_| one_by_one.add("wheat"));
        let mut at_once = TermSum::default();
        at_once.add_marked(mark(term_hash(b"wheat")), 3);
        assert_eq!(one_by_one, at_once);
        let of = |features: &[(u32, f32)]| TermSum::of_features(features, false);
        assert_eq!(of(&[(3, 0.0)]), TermSum::default());
        assert_ne!(of(&[(3, 1.0)]), of(&[(3, 2.0)]));
        // A model adds up what is named twice.
        assert_eq!(
            of(&[(3, 1.0), (5, 1.0), (3, 1.0)]),
            of(&[(5, 1.0), (3, 2.0)])
        );
        let present = |features: &[(u32, f32)]| TermSum::of_features(features, true);
        assert_eq!(present(&[(3, 1.0)]), present(&[(3, 2.0)]));
    }
}
