//! Stems by the Snowball rules, with a small memory of the latest words.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use frostem::Stemmer;

use super::language::Language;

/// The rules of one language.
#[derive(Clone, Copy)]
pub(super) struct LanguageStemmer {
    language: Language,
    rules: Stemmer,
}

impl LanguageStemmer {
    pub(super) fn new(language: Language) -> Option<Self> {
        language.algorithm().map(|algorithm| Self {
            language,
            rules: Stemmer::new(algorithm),
        })
    }

    /// The stem of a word. Should the rules strip a word bare, it is its own stem.
    #[inline]
    pub(super) fn stem<'s>(&self, word: &'s str, cache: &'s mut StemCache) -> &'s str {
        cache.belong_to(self.language);
        let index = cache.slot_index(word);
        if holds(&cache.slots[index], word) {
            return stem_in(&cache.slots[index], word);
        }
        self.stem_anew(word, index, cache)
    }

    #[cold]
    fn stem_anew<'s>(&self, word: &'s str, index: usize, cache: &'s mut StemCache) -> &'s str {
        let stem = self.rules.stem(word);
        let stem = if stem.is_empty() { word } else { &stem };
        store(&mut cache.slots[index], word, stem);
        cache.latest.clear();
        cache.latest.push_str(stem);
        &cache.latest
    }
}

impl std::fmt::Debug for LanguageStemmer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("LanguageStemmer")
            .field(&self.language)
            .finish()
    }
}

/// How many words are remembered: 65536 slots of 32 bytes are 2 MiB.
const SLOT_COUNT: usize = 1 << 16;

/// What [`LanguageStemmer::stem`] remembers: one word and its stem per slot, the slot chosen
/// by the word's hash, the latest comer staying. Never grows, and never changes a result.
#[derive(Debug, Default, Clone)]
pub(super) struct StemCache {
    language: Option<Language>,
    slots: Vec<Slot>,
    latest: String,
    hash: FixedState,
}

impl StemCache {
    /// Forgets everything if the words so far were of another language.
    #[inline]
    fn belong_to(&mut self, language: Language) {
        if self.language != Some(language) {
            self.language = Some(language);
            self.slots = vec![[0; SLOT_BYTES]; SLOT_COUNT];
        }
    }

    #[inline]
    fn slot_index(&self, word: &str) -> usize {
        let mut hasher = self.hash.build_hasher();
        hasher.write(word.as_bytes());
        (hasher.finish() >> 32) as usize % SLOT_COUNT
    }
}

const SLOT_BYTES: usize = 32;

/// The length of the word (zero: nothing here), the length of the stem, the bytes of the
/// word, then those of the stem unless the word begins with it, which the second byte says.
/// A plain array, so that memory for fresh slots comes zeroed and untouched.
type Slot = [u8; SLOT_BYTES];

const STEM_IS_PREFIX: u8 = 0x80;

#[inline]
fn holds(slot: &Slot, word: &str) -> bool {
    let length = usize::from(slot[0]);
    length == word.len() && slot.get(2..2 + length) == Some(word.as_bytes())
}

/// The stem of the `word` that the slot holds. Only whole strings are stored, so neither
/// default is ever taken.
#[inline]
fn stem_in<'s>(slot: &'s Slot, word: &'s str) -> &'s str {
    if slot[1] & STEM_IS_PREFIX != 0 {
        return word
            .get(..usize::from(slot[1] - STEM_IS_PREFIX))
            .unwrap_or_default();
    }
    let start = 2 + word.len();
    let bytes = slot
        .get(start..start + usize::from(slot[1]))
        .unwrap_or_default();
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// Keeps the pair if it fits; long words are stemmed again each time.
fn store(slot: &mut Slot, word: &str, stem: &str) {
    let is_prefix = word.starts_with(stem);
    let word_end = 2 + word.len();
    let end = if is_prefix {
        word_end
    } else {
        word_end + stem.len()
    };
    if end > SLOT_BYTES {
        return;
    }
    slot[0] = word.len() as u8;
    slot[1] = stem.len() as u8;
    slot[2..word_end].copy_from_slice(word.as_bytes());
    if is_prefix {
        slot[1] |= STEM_IS_PREFIX;
    } else {
        slot[word_end..end].copy_from_slice(stem.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(language: Language, pairs: &[(&str, &str)]) {
        let stemmer = LanguageStemmer::new(language).unwrap();
        let mut cache = StemCache::default();
        // Twice: computed, then remembered.
        for (word, stem) in pairs.iter().chain(pairs) {
            assert_eq!(stemmer.stem(word, &mut cache), *stem, "{language}: {word}");
        }
    }

    #[test]
    fn stems_of_several_languages_match_another_implementation() {
        // Checked with another implementation of the rules, the Python package
        // snowballstemmer.
        check(
            Language::English,
            &[
                ("consignment", "consign"),
                ("consistency", "consist"),
                ("consolation", "consol"),
                ("knightly", "knight"),
                ("knives", "knive"),
                ("don't", "don't"),
                ("dog's", "dog"),
            ],
        );
        check(
            Language::Porter,
            &[
                ("caresses", "caress"),
                ("ponies", "poni"),
                ("relational", "relat"),
            ],
        );
        check(
            Language::French,
            &[
                ("continuellement", "continuel"),
                ("majestueusement", "majestu"),
                ("maisons", "maison"),
            ],
        );
        check(
            Language::German,
            &[
                ("aufeinanderfolgenden", "aufeinanderfolg"),
                ("häuser", "haus"),
                ("kategorien", "kategori"),
            ],
        );
        check(
            Language::Spanish,
            &[("chicas", "chic"), ("torneado", "torn")],
        );
        check(
            Language::Russian,
            &[("важнейшими", "важн"), ("падали", "пада")],
        );
        check(Language::Finnish, &[("edeltäjistään", "edeltäj")]);
    }

    #[test]
    fn one_cache_serves_two_languages_without_mixing_them() {
        let (english, german) = (
            LanguageStemmer::new(Language::English),
            LanguageStemmer::new(Language::German),
        );
        let (english, german) = (english.unwrap(), german.unwrap());
        let mut cache = StemCache::default();
        for _ in 0..3 {
            assert_eq!(english.stem("houses", &mut cache), "hous");
            assert_eq!(
                german.stem("houses", &mut cache),
                german.rules.stem("houses")
            );
        }
    }

    #[test]
    fn long_words_bypass_the_cache() {
        let word = format!("{}ing", "walk".repeat(20));
        let stem = word.strip_suffix("ing").unwrap().to_owned();
        check(Language::English, &[(&word, &stem)]);
    }

    /// Words of the alphabets that the stemmers know, so that their rules really apply.
    fn words() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec(
            prop_oneof![
                "[a-zà-ÿ']{1,12}",
                "(ge|un|be)?[bcdst][aeiou]{1,2}[nst]{1,2}(ing|ed|ement|ität|isch|ación|s|'s|y){1,2}",
                "[а-яёіїєґ']{1,12}",
                "[ء-يً-ْپچژگ\u{200C}]{1,12}",
                "[ա-և]{1,10}",
                "[अ-ह][ऀ-ॏअ-ह]{0,10}",
                "[அ-ஹ][ா-்அ-ஹ]{0,10}",
                "[α-ωά-ώ]{1,12}",
                "[א-ת״׳ְ-ׇװ-ײ]{1,10}",
                r"\PC{1,20}",
            ],
            1..20,
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn every_stemmer_takes_any_word_and_the_cache_changes_nothing(words in words()) {
            let mut cache = StemCache::default();
            for language in Language::ALL.iter().copied() {
                let Some(stemmer) = LanguageStemmer::new(language) else { continue };
                for word in words.iter().chain(&words) {
                    let direct = stemmer.rules.stem(word);
                    let expected = if direct.is_empty() { word } else { &*direct };
                    prop_assert_eq!(stemmer.stem(word, &mut cache), expected);
                }
            }
        }
    }
}
