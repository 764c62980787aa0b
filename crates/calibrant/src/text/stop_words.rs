//! The set of words that are removed.

use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::language::Language;
use super::spelling::Spelling;
use super::word_rules::WordRules;
use super::words::{WordScratch, for_each_word};

/// Stop words in the spelling of the words they are compared with.
#[derive(Debug, Clone)]
pub(super) struct StopWords {
    words: HashSet<Box<str>, FixedState>,
    longest: usize,
}

impl StopWords {
    /// The list of `language`, each entry split and spelled as the text will be. Entries of
    /// several words (`as well`) are left out: their words alone may mean something.
    pub(super) fn new(language: Language, rules: WordRules, spelling: Spelling) -> Option<Self> {
        let mut words = HashSet::with_hasher(FixedState::default());
        let mut scratch = WordScratch::default();
        for entry in language.stop_word_list()? {
            let mut parts: Vec<Box<str>> = Vec::new();
            for_each_word(entry, rules, spelling, &mut scratch, |word| {
                parts.push(word.into())
            });
            if parts.len() == 1 {
                words.extend(parts);
            }
        }
        let longest = words.iter().map(|word| word.len()).max().unwrap_or(0);
        Some(Self { words, longest })
    }

    #[inline]
    pub(super) fn contains(&self, word: &str) -> bool {
        word.len() <= self.longest && self.words.contains(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop_words(language: Language, fold_accents: bool) -> StopWords {
        StopWords::new(
            language,
            WordRules::before(),
            Spelling {
                lowercase: true,
                fold_accents,
                final_sigma: true,
            },
        )
        .unwrap()
    }

    #[test]
    fn frequent_words_of_several_languages_are_listed() {
        for (language, inside, outside) in [
            (Language::English, vec!["the", "and", "don't"], "wheat"),
            (Language::French, vec!["le", "et", "été"], "blé"),
            (Language::German, vec!["der", "und", "für"], "weizen"),
            (Language::Russian, vec!["и", "не", "что"], "пшеница"),
            (Language::Hindi, vec!["और", "है"], "गेहूं"),
            (Language::Arabic, vec!["من", "في"], "قمح"),
            (Language::Chinese, vec!["的", "了"], "麦"),
        ] {
            let list = stop_words(language, false);
            for word in inside {
                assert!(list.contains(word), "{language}: {word}");
            }
            assert!(!list.contains(outside), "{language}: {outside}");
        }
    }

    #[test]
    fn the_list_is_folded_as_the_text_is() {
        assert!(stop_words(Language::German, false).contains("für"));
        assert!(!stop_words(Language::German, false).contains("fur"));
        assert!(stop_words(Language::German, true).contains("fur"));
        assert!(!stop_words(Language::German, true).contains("für"));
    }

    #[test]
    fn every_language_that_promises_a_list_has_one() {
        for language in Language::ALL
            .iter()
            .filter(|language| language.has_stop_words())
        {
            assert!(!stop_words(*language, true).words.is_empty(), "{language}");
        }
    }
}
