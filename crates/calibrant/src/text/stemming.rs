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
    pub(super) fn stem<'s>(&self, word: &str, cache: &'s mut StemCache) -> &'s str {
        cache.belong_to(self.language);
        let index = cache.slot_index(word);
        if cache.slots[index].holds(word) {
            return cache.slots[index].stem();
        }
        self.stem_anew(word, index, cache)
    }

    #[cold]
    fn stem_anew<'s>(&self, word: &str, index: usize, cache: &'s mut StemCache) -> &'s str {
        let stem = self.rules.stem(word);
        let stem = if stem.is_empty() { word } else { &stem };
        cache.slots[index].store(word, stem);
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

/// How many words are remembered: 16384 slots of 64 bytes are 1 MiB.
const SLOT_COUNT: usize = 1 << 14;

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
            self.slots.clear();
            self.slots.resize(SLOT_COUNT, Slot::EMPTY);
        }
    }

    #[inline]
    fn slot_index(&self, word: &str) -> usize {
        let mut hasher = self.hash.build_hasher();
        hasher.write(word.as_bytes());
        (hasher.finish() >> 32) as usize % SLOT_COUNT
    }
}

const SLOT_BYTES: usize = 62;

/// A word and its stem, one behind the other, in the size of a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Slot {
    word_length: u8,
    stem_length: u8,
    bytes: [u8; SLOT_BYTES],
}

impl Slot {
    const EMPTY: Self = Self {
        word_length: 0,
        stem_length: 0,
        bytes: [0; SLOT_BYTES],
    };

    #[inline]
    fn holds(&self, word: &str) -> bool {
        self.word_length != 0 && &self.bytes[..usize::from(self.word_length)] == word.as_bytes()
    }

    #[inline]
    fn stem(&self) -> &str {
        let start = usize::from(self.word_length);
        let bytes = &self.bytes[start..start + usize::from(self.stem_length)];
        // Only whole strings are stored, so this never falls back.
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// Keeps the pair if there is room for it; long words are stemmed anew each time.
    fn store(&mut self, word: &str, stem: &str) {
        let end = word.len() + stem.len();
        if end > SLOT_BYTES {
            return;
        }
        self.bytes[..word.len()].copy_from_slice(word.as_bytes());
        self.bytes[word.len()..end].copy_from_slice(stem.as_bytes());
        self.word_length = word.len() as u8;
        self.stem_length = stem.len() as u8;
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
    fn stems_of_several_languages_match_published_vocabularies() {
        // Pairs from the sample vocabularies of the Snowball site.
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
        #![proptest_config(ProptestConfig::with_cases(200))]

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
