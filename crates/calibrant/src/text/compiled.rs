//! An analyzer ready for use.

use super::FIELD_BREAK;
use super::analyzer::{Analyzer, AnalyzerError};
use super::ngrams::{CharacterWindow, WordWindow};
use super::spelling::Spelling;
use super::stemming::{LanguageStemmer, StemCache};
use super::stop_words::StopWords;
use super::unspaced;
use super::words::{WordScratch, for_each_word};

/// An [`Analyzer`] whose settings were checked; it can be shared between threads, each with
/// [`AnalyzerBuffers`] of its own.
///
/// ```
/// use calibrant::text::{Analyzer, AnalyzerBuffers};
/// let analyzer = Analyzer::default().compile()?;
/// let mut buffers = AnalyzerBuffers::default();
/// let mut letters = 0;
/// analyzer.for_each_term("Don't panic: 42!", &mut buffers, |term| letters += term.len());
/// assert_eq!(letters, 12); // by hand: don't 5, panic 5, 42 2
/// # Ok::<(), calibrant::text::AnalyzerError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CompiledAnalyzer {
    settings: Analyzer,
    spelling: Spelling,
    stop_words: Option<StopWords>,
    stemmer: Option<LanguageStemmer>,
}

/// Scratch space of [`CompiledAnalyzer::for_each_term`], kept between texts so that words
/// are not allocated one by one. Its size is bounded, and any analyzer may use it.
#[derive(Debug, Default, Clone)]
pub struct AnalyzerBuffers {
    words: WordScratch,
    stems: StemCache,
    window: WordWindow,
    characters: CharacterWindow,
}

impl CompiledAnalyzer {
    pub(super) fn new(settings: &Analyzer) -> Result<Self, AnalyzerError> {
        let spelling = Spelling {
            lowercase: settings.lowercase,
            fold_accents: settings.fold_accents,
            final_sigma: settings.final_sigma,
        };
        let stop_words = settings
            .stop_words
            .map(|language| {
                StopWords::new(language, settings.words, spelling)
                    .ok_or(AnalyzerError::NoStopWords { language })
            })
            .transpose()?;
        let stemmer = settings
            .stemmer
            .map(|language| {
                LanguageStemmer::new(language).ok_or(AnalyzerError::NoStemmer { language })
            })
            .transpose()?;
        Ok(Self {
            settings: settings.clone(),
            spelling,
            stop_words,
            stemmer,
        })
    }

    /// The settings this analyzer was compiled from.
    pub fn settings(&self) -> &Analyzer {
        &self.settings
    }

    /// Calls `visit` with each term of `text`, in the order of the words that end them.
    ///
    /// A term lives only as long as the call; no text makes this panic or need memory in
    /// proportion to its length.
    pub fn for_each_term(
        &self,
        text: &str,
        buffers: &mut AnalyzerBuffers,
        mut visit: impl FnMut(&str),
    ) {
        let AnalyzerBuffers {
            words,
            stems,
            window,
            characters,
        } = buffers;
        let range = self.settings.word_ngrams;
        if self.has_pairs() {
            unspaced::for_each_pair(text, |pair| visit(words.spelled(pair, self.spelling)));
        }
        if let (Some(range), true) = (self.settings.char_ngrams, self.settings.char_ngrams_across) {
            for field in text.split(FIELD_BREAK) {
                characters.begin();
                self.for_each_kept_word(field, words, stems, |word| {
                    characters.push(word, range, &mut visit);
                });
            }
        } else if let Some(range) = self.settings.char_ngrams {
            self.for_each_kept_word(text, words, stems, |word| {
                characters.visit(word, range, &mut visit);
            });
        } else if range.max == 1 {
            self.for_each_kept_word(text, words, stems, visit);
        } else {
            let apart = self.settings.fields_apart;
            for field in text.split(|c: char| apart && c == FIELD_BREAK) {
                window.clear();
                self.for_each_kept_word(field, words, stems, |word| {
                    window.push(word, range, &mut visit);
                });
            }
        }
    }

    /// Whether pairs of characters are terms of their own: not beside runs of characters, which contain them, nor beside
    /// pairs of words that are single characters.
    fn has_pairs(&self) -> bool {
        let Analyzer {
            words,
            word_ngrams,
            char_ngrams,
            ..
        } = &self.settings;
        let are_words =
            !words.segmentation.looks_up() && (word_ngrams.min..=word_ngrams.max).contains(&2);
        words.segmentation.has_pairs() && char_ngrams.is_none() && !are_words
    }

    /// The terms of `text` as a list: convenient, with one allocation per term.
    pub fn terms(&self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.for_each_term(text, &mut AnalyzerBuffers::default(), |term| {
            terms.push(term.to_owned());
        });
        terms
    }

    #[inline]
    fn for_each_kept_word(
        &self,
        text: &str,
        words: &mut WordScratch,
        stems: &mut StemCache,
        mut visit: impl FnMut(&str),
    ) {
        let min_chars = self.settings.min_token_chars;
        // Most often there is nothing to ask of a word: keep that loop bare.
        if self.stop_words.is_none() && self.stemmer.is_none() && min_chars <= 1 {
            for_each_word(text, self.settings.words, self.spelling, words, visit);
            return;
        }
        for_each_word(text, self.settings.words, self.spelling, words, |word| {
            if self
                .stop_words
                .as_ref()
                .is_some_and(|stop_words| stop_words.contains(word))
                || is_too_short(word, min_chars)
            {
                return;
            }
            match &self.stemmer {
                Some(stemmer) => visit(stemmer.stem(word, stems)),
                None => visit(word),
            }
        });
    }
}

#[inline]
fn is_too_short(word: &str, min_chars: usize) -> bool {
    // A character has at most four bytes, so most words need no counting.
    min_chars > 1
        && word.len() < min_chars.saturating_mul(4)
        && word.chars().count() < min_chars
        && !word.chars().next().is_some_and(has_short_words)
}

/// Scripts in which one character may be a word, or in which words are cut into characters.
fn has_short_words(character: char) -> bool {
    matches!(
        character,
        '\u{E00}'..='\u{EFF}' // Thai, Lao
            | '\u{1000}'..='\u{109F}' // Myanmar
            | '\u{1100}'..='\u{11FF}' // Hangul jamo
            | '\u{1780}'..='\u{17FF}' // Khmer
            | '\u{1950}'..='\u{19DF}' // Tai Le, New Tai Lue
            | '\u{1A20}'..='\u{1AAF}' // Tai Tham
            | '\u{2E80}'..='\u{2FDF}' // radicals
            | '\u{3005}'..='\u{3007}' // ideographic repetition, closing mark, zero
            | '\u{3021}'..='\u{318F}' // numerals, kana, bopomofo, Hangul compatibility
            | '\u{31A0}'..='\u{31FF}' // bopomofo, kana extensions
            | '\u{3400}'..='\u{4DBF}' // ideographs
            | '\u{4E00}'..='\u{A4CF}' // ideographs, Yi
            | '\u{A960}'..='\u{A97F}' // Hangul jamo
            | '\u{A9E0}'..='\u{A9FF}' // Myanmar
            | '\u{AA60}'..='\u{AADF}' // Myanmar, Tai Viet
            | '\u{AC00}'..='\u{D7FF}' // Hangul
            | '\u{F900}'..='\u{FAFF}' // compatibility ideographs
            | '\u{FF66}'..='\u{FFDC}' // halfwidth kana and Hangul
            | '\u{16FE0}'..='\u{18DFF}' // Tangut, Khitan
            | '\u{1AFF0}'..='\u{1B2FF}' // kana, Nushu
            | '\u{20000}'..='\u{3FFFF}' // ideographs
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::{Language, NgramRange, Segmentation, WordRules};

    fn terms(analyzer: Analyzer, text: &str) -> Vec<String> {
        analyzer.compile().unwrap().terms(text)
    }

    #[test]
    fn the_steps_run_in_their_order() {
        let analyzer = Analyzer {
            fold_accents: true,
            stop_words: Some(Language::French),
            stemmer: Some(Language::French),
            min_token_chars: 4,
            word_ngrams: NgramRange { min: 1, max: 2 },
            ..Analyzer::default()
        };
        // By hand: `Les` and `à` are stop words, `blé` folded has three characters.
        let found = terms(analyzer, "Les Maisons à blé majestueusement");
        assert_eq!(found, ["maison", "majestu", "maison majestu"]);
    }

    #[test]
    fn case_and_accents_stay_when_so_asked() {
        let analyzer = Analyzer {
            lowercase: false,
            ..Analyzer::default()
        };
        assert_eq!(terms(analyzer, "Été ABC don’t"), ["Été", "ABC", "don't"]);
    }

    #[test]
    fn short_words_are_dropped_but_not_ideographs_or_kana() {
        let analyzer = Analyzer {
            min_token_chars: 3,
            words: WordRules::before(),
            ..Analyzer::default()
        };
        let found = terms(analyzer, "a an the éa éab 日本 かな カ 한 ไท हि");
        assert_eq!(
            found,
            ["the", "éab", "日", "本", "か", "な", "カ", "한", "ไ", "ท"]
        );
    }

    #[test]
    fn absurd_minimum_lengths_drop_everything_without_overflow() {
        let analyzer = Analyzer {
            min_token_chars: usize::MAX,
            ..Analyzer::default()
        };
        assert!(terms(analyzer, "a bc def").is_empty());
    }

    #[test]
    fn character_ngrams_replace_word_terms() {
        let analyzer = Analyzer {
            char_ngrams: Some(NgramRange { min: 3, max: 3 }),
            word_ngrams: NgramRange { min: 1, max: 2 },
            ..Analyzer::default()
        };
        // The same list as scikit-learn 1.9.1 gives with analyzer="char_wb".
        assert_eq!(
            terms(analyzer, "Hi you"),
            [" hi", "hi ", " yo", "you", "ou "]
        );
    }

    #[test]
    fn character_ngrams_run_across_words_but_not_across_fields() {
        let analyzer = Analyzer {
            char_ngrams: Some(NgramRange { min: 4, max: 4 }),
            char_ngrams_across: true,
            ..Analyzer::default()
        };
        let text = format!("Hi, you{FIELD_BREAK}ox");
        let expected = [" hi ", "hi y", "i yo", " you", "you ", " ox "];
        assert_eq!(terms(analyzer, &text), expected);
    }

    #[test]
    fn a_capital_sigma_at_the_end_of_a_greek_word_is_a_final_sigma() {
        assert_eq!(terms(Analyzer::default(), "ΟΔΟΣ"), ["οδο\u{3c2}"]);
        let small = terms(Analyzer::default(), "οδος οδυσσεύς");
        assert_eq!(terms(Analyzer::default(), "ΟΔΟΣ ΟΔΥΣΣΕΎΣ"), small);
        // Inside a word, before an apostrophe with letters behind it, and alone it is no last letter.
        let found = terms(Analyzer::default(), "ΣΟΦΟΣ Σ ΑΣ'ΤΟ Σ.");
        assert_eq!(found, ["σοφος", "σ", "ασ'το", "σ"]);
        // As models do that were saved before.
        let old = Analyzer::of_saved_value(serde_json::json!({"lowercase": true})).unwrap();
        assert_eq!(terms(old, "ΟΔΟΣ"), ["οδοσ"]);
    }

    #[test]
    fn word_ngrams_end_with_their_field() {
        let pairs = Analyzer {
            word_ngrams: NgramRange { min: 1, max: 2 },
            ..Analyzer::default()
        };
        let text = format!("stock\nfalls{FIELD_BREAK}oil rises");
        let expected = ["stock", "falls", "stock falls", "oil", "rises", "oil rises"];
        assert_eq!(terms(pairs.clone(), &text), expected);
        let old = Analyzer {
            fields_apart: false,
            ..pairs
        };
        assert!(terms(old, &text).contains(&"falls oil".to_owned()));
        let old = Analyzer::of_saved_value(serde_json::json!({})).unwrap();
        assert!(!old.fields_apart);
    }

    #[test]
    fn french_elision_is_left_to_the_stemmer() {
        let analyzer = Analyzer {
            stemmer: Some(Language::French),
            ..Analyzer::default()
        };
        assert_eq!(terms(Analyzer::default(), "l'été"), ["l'été"]);
        assert_eq!(terms(analyzer, "l'été"), ["été"]);
    }

    #[test]
    fn buffers_of_one_analyzer_serve_another() {
        let english = Analyzer {
            stemmer: Some(Language::English),
            ..Analyzer::default()
        };
        let pairs = Analyzer {
            word_ngrams: NgramRange { min: 2, max: 3 },
            ..Analyzer::default()
        };
        let mut buffers = AnalyzerBuffers::default();
        for _ in 0..2 {
            for analyzer in [&english, &pairs] {
                let compiled = analyzer.compile().unwrap();
                let mut found = Vec::new();
                compiled.for_each_term("Running dogs ran", &mut buffers, |t| {
                    found.push(t.to_owned())
                });
                assert_eq!(found, compiled.terms("Running dogs ran"));
            }
        }
    }

    #[test]
    fn every_character_alone_is_unchanged_by_a_second_analysis() {
        for fold_accents in [false, true] {
            let analyzer = Analyzer {
                fold_accents,
                // `ヿ` folds to two characters, which would be a pair.
                words: WordRules {
                    segmentation: Segmentation::Characters,
                    ..WordRules::default()
                },
                ..Analyzer::default()
            }
            .compile()
            .unwrap();
            let (mut once, mut twice) = (String::new(), String::new());
            let mut buffers = AnalyzerBuffers::default();
            for character in '\0'..'\u{20000}' {
                let text = character.to_string();
                analyzer.for_each_term(&text, &mut buffers, |term| once.push_str(term));
                analyzer.for_each_term(&once, &mut buffers, |term| twice.push_str(term));
                assert_eq!(once, twice, "{character:?}, folding {fold_accents}");
                once.clear();
                twice.clear();
            }
        }
    }

    fn any_settings() -> impl Strategy<Value = Analyzer> {
        let language = |useful: fn(Language) -> bool| {
            let choices: Vec<Language> = Language::ALL
                .iter()
                .copied()
                .filter(|language| useful(*language))
                .collect();
            proptest::option::of(proptest::sample::select(choices))
        };
        let range = || {
            (1usize..=8, 0usize..8).prop_map(|(min, extra)| NgramRange {
                min,
                max: (min + extra).min(8),
            })
        };
        (
            any::<bool>(),
            any::<bool>(),
            language(Language::has_stop_words),
            language(Language::has_stemmer),
            0usize..5,
            range(),
            proptest::option::of(range()),
            any::<bool>(),
        )
            .prop_map(
                |(lowercase, fold_accents, stop_words, stemmer, min, words, characters, across)| {
                    Analyzer {
                        char_ngrams_across: across,
                        lowercase,
                        fold_accents,
                        stop_words,
                        stemmer,
                        min_token_chars: min,
                        word_ngrams: words,
                        char_ngrams: characters,
                        ..Analyzer::default()
                    }
                },
            )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn any_text_in_any_settings_gives_terms_that_are_not_empty(
            settings in any_settings(),
            texts in proptest::collection::vec(any::<String>(), 1..4),
        ) {
            let analyzer = settings.compile().unwrap();
            prop_assert_eq!(analyzer.settings(), &settings);
            let mut buffers = AnalyzerBuffers::default();
            for text in &texts {
                let mut found = Vec::new();
                analyzer.for_each_term(text, &mut buffers, |term| found.push(term.to_owned()));
                prop_assert!(found.iter().all(|term| !term.is_empty()));
                prop_assert_eq!(found, analyzer.terms(text));
            }
        }

        #[test]
        fn words_are_unchanged_by_a_second_analysis(text in any::<String>(), fold in any::<bool>()) {
            // A word of the dictionary may fall apart where it stands alone.
            let words = WordRules { segmentation: Segmentation::Characters, ..WordRules::default() };
            let analyzer = Analyzer { fold_accents: fold, words, ..Analyzer::default() };
            let analyzer = analyzer.compile().unwrap();
            let once = analyzer.terms(&text);
            prop_assert_eq!(analyzer.terms(&once.join(" ")), once);
        }
    }
}
