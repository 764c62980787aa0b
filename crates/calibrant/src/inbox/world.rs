//! The world the inbox lives in: which classes there are and which words each uses.
//!
//! It is the same for every seed, so that mail drawn with one seed can train what
//! mail drawn with another seed tests.

use super::filler::made_up_words;
use super::letter::fixed_words;
use super::urn::Urn;
use super::words::{EVERYDAY, PartOfSpeech, THEMES, Theme};
use crate::numeric::{Random, log_sum_exp};
use std::collections::HashSet;

/// How often the classes occur, in the order of the themes.
const CLASS_SHARES: [f64; 6] = [0.26, 0.20, 0.18, 0.13, 0.15, 0.08];

/// Of the words of a class (row), the shares that come from each theme (column); the
/// rest is everyday and made-up words. Neighbouring subjects share much of their
/// vocabulary: whoever wants a refund writes about the payment and the parcel too.
const THEME_SHARES: [[f64; 6]; 6] = [
    [0.200, 0.025, 0.015, 0.080, 0.015, 0.015],
    [0.025, 0.200, 0.010, 0.010, 0.085, 0.010],
    [0.015, 0.010, 0.200, 0.065, 0.010, 0.020],
    [0.085, 0.010, 0.070, 0.170, 0.015, 0.015],
    [0.015, 0.085, 0.010, 0.015, 0.190, 0.020],
    [0.020, 0.020, 0.035, 0.025, 0.030, 0.170],
];

/// How many made-up words there are.
const MADE_UP_COUNT: usize = 4_000;

/// How much of the common words is made up.
const MADE_UP_SHARE: f64 = 0.25;

/// How differently the classes use common words: the standard deviation of the
/// logarithm of their frequencies.
const COMMON_WORD_TILT: f64 = 0.25;

/// Fixes the made-up words and the tilts.
const WORLD_SEED: u64 = 20_041;

pub(super) struct World {
    pub(super) class_names: Vec<String>,
    pub(super) words: Vec<(String, PartOfSpeech)>,
    pub(super) ln_class_shares: Vec<f64>,
    pub(super) urns: Vec<Urn>,
}

impl World {
    /// `concentration` is the weight of all words in each class's urn.
    pub(super) fn new(concentration: f64) -> Self {
        let mut random = Random::from_seed(WORLD_SEED);
        let fixed: HashSet<String> = fixed_words().collect();
        let theme_words: Vec<Vec<(&str, PartOfSpeech)>> = THEMES.iter().map(Theme::words).collect();
        let everyday = EVERYDAY.words();
        let real = theme_words.iter().flatten().chain(&everyday);
        let mut taken: HashSet<&str> = fixed.iter().map(String::as_str).collect();
        taken.extend(real.clone().map(|word| word.0));
        let made_up = made_up_words(MADE_UP_COUNT, &taken, &mut random);

        let mut words: Vec<(String, PartOfSpeech)> =
            real.map(|&(word, part)| (word.to_owned(), part)).collect();
        words.extend(made_up.into_iter().map(|word| (word, PartOfSpeech::Noun)));

        let urns = THEME_SHARES
            .iter()
            .map(|theme_shares| {
                let mut shares = Vec::with_capacity(words.len());
                for (theme, share) in theme_words.iter().zip(theme_shares) {
                    shares.extend(falling_shares(theme.len(), *share));
                }
                let common = 1.0 - theme_shares.iter().sum::<f64>();
                shares.extend(falling_shares(
                    everyday.len(),
                    common * (1.0 - MADE_UP_SHARE),
                ));
                shares.extend(falling_shares(MADE_UP_COUNT, common * MADE_UP_SHARE));
                let first_common = words.len() - MADE_UP_COUNT - everyday.len();
                for share in &mut shares[first_common..] {
                    *share *= (COMMON_WORD_TILT * random.normal()).exp();
                }
                Urn::new(&shares, concentration)
            })
            .collect();

        Self {
            class_names: THEMES.iter().map(|theme| theme.name.to_owned()).collect(),
            words,
            ln_class_shares: CLASS_SHARES.iter().map(|share| share.ln()).collect(),
            urns,
        }
    }

    /// A class, each as often as its share says.
    pub(super) fn draw_class(&self, random: &mut Random) -> usize {
        let mut left = random.uniform();
        for (class, share) in CLASS_SHARES.iter().enumerate() {
            left -= share;
            if left < 0.0 {
                return class;
            }
        }
        CLASS_SHARES.len() - 1
    }

    /// The logarithms of the true probabilities of all classes, given how often every
    /// word occurs.
    pub(super) fn ln_posterior(&self, counts: &[(u32, u32)]) -> Vec<f64> {
        let mut joint: Vec<f64> = self
            .urns
            .iter()
            .zip(&self.ln_class_shares)
            .map(|(urn, ln_share)| ln_share + urn.ln_probability(counts))
            .collect();
        let evidence = log_sum_exp(&joint);
        joint.iter_mut().for_each(|value| *value -= evidence);
        joint
    }
}

/// Shares of `count` words that sum to `total`, the word of rank `r` in proportion to
/// `1 / (r + 2)`: Zipf's law with a flattened head.
fn falling_shares(count: usize, total: f64) -> impl Iterator<Item = f64> {
    let weight = |rank: usize| 1.0 / (rank as f64 + 3.0);
    let sum: f64 = (0..count).map(weight).sum();
    (0..count).map(move |rank| weight(rank) / sum * total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_parts_of_letters_use_no_word_that_tells_a_class() {
        let world = World::new(100.0);
        let vocabulary: HashSet<&str> = world.words.iter().map(|word| word.0.as_str()).collect();
        assert_eq!(vocabulary.len(), world.words.len());
        for word in fixed_words() {
            assert!(!vocabulary.contains(word.as_str()), "{word}");
        }
    }

    #[test]
    fn shares_add_up() {
        assert!((CLASS_SHARES.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((falling_shares(50, 0.3).sum::<f64>() - 0.3).abs() < 1e-12);
        assert!(THEME_SHARES.iter().all(|row| row.iter().sum::<f64>() < 0.5));
    }

    #[test]
    fn posteriors_sum_to_one() {
        let world = World::new(100.0);
        let posterior = world.ln_posterior(&[(0, 3), (40, 1), (4_000, 2)]);
        assert!(log_sum_exp(&posterior).abs() < 1e-12);
        // Without words, what remains is how often the classes occur.
        assert!((world.ln_posterior(&[])[0] - CLASS_SHARES[0].ln()).abs() < 1e-12);
    }
}
