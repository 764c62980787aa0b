//! Made-up words: the long tail of names, typing errors and part numbers that real
//! mail is full of.

use crate::numeric::Random;
use std::collections::HashSet;

const ONSETS: [&str; 21] = [
    "b", "d", "f", "l", "m", "n", "r", "v", "w", "j", "br", "dr", "fl", "gl", "pl", "sn", "st",
    "tr", "sw", "qu", "th",
];
const VOWELS: [&str; 7] = ["a", "e", "i", "o", "u", "ai", "oo"];
const ENDINGS: [&str; 7] = ["", "x", "sk", "rn", "ble", "ket", "dle"];

/// `count` different pronounceable words, none of which is in `taken`.
///
/// There are over 20,000 words of two syllables alone, of which a few thousand are asked for.
pub(super) fn made_up_words(
    count: usize,
    taken: &HashSet<&str>,
    random: &mut Random,
) -> Vec<String> {
    let mut seen: HashSet<String> = HashSet::with_capacity(count);
    let mut words = Vec::with_capacity(count);
    while words.len() < count {
        let syllables = 2 + random.below(2);
        let mut word = String::new();
        for _ in 0..syllables {
            word.push_str(ONSETS[random.below(ONSETS.len())]);
            word.push_str(VOWELS[random.below(VOWELS.len())]);
        }
        word.push_str(ENDINGS[random.below(ENDINGS.len())]);
        if !taken.contains(word.as_str()) && seen.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_words_are_different_and_avoid_what_is_taken() {
        let mut random = Random::from_seed(1);
        let first = made_up_words(3, &HashSet::new(), &mut random);
        let taken: HashSet<&str> = first.iter().map(String::as_str).collect();
        let words = made_up_words(5_000, &taken, &mut Random::from_seed(1));
        assert!(words.iter().all(|word| !taken.contains(word.as_str())));
        let different: HashSet<&String> = words.iter().collect();
        assert_eq!(different.len(), 5_000);
    }
}
