//! The settings of text analysis, as they are saved with a model.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::compiled::CompiledAnalyzer;
use super::language::Language;
use super::word_rules::WordRules;

/// How a text becomes terms. Plain settings: [`Analyzer::compile`] checks them.
///
/// Missing fields take their defaults (those of a saved model what was done before they were thought of);
/// unknown ones are refused.
///
/// ```
/// use calibrant::text::{Analyzer, Language, NgramRange};
/// let analyzer = Analyzer {
///     stemmer: Some(Language::English),
///     word_ngrams: NgramRange { min: 1, max: 2 },
///     ..Analyzer::default()
/// };
/// let terms = analyzer.compile()?.terms("Running dogs");
/// assert_eq!(terms, ["run", "dog", "run dog"]); // by hand: two words, one pair
/// # Ok::<(), calibrant::text::AnalyzerError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Analyzer {
    /// Whether words are lower-cased (yes by default). Turkish is treated as any other
    /// language: `I` becomes `i`, and `İ` becomes `i` with a combining dot.
    pub lowercase: bool,
    /// Whether accents are taken off Latin, Greek and Cyrillic letters and compatibility
    /// forms are replaced (`é` by `e`, `ﬁ` by `fi`); no by default.
    ///
    /// Letters that Unicode does not take apart stay as they are (`ø`, `ł`, `ß`), and so do
    /// the vowel signs of Hindi, Thai, Arabic and others, which are no decoration.
    /// The accent may tell words apart: Spanish `año` and `ano`.
    pub fold_accents: bool,
    /// Removes the very frequent words of a language; none by default.
    ///
    /// The lists are in lower case, so with `lowercase` off `The` stays.
    pub stop_words: Option<Language>,
    /// Brings the forms of a word to one stem; none by default. Expects lower case.
    pub stemmer: Option<Language>,
    /// Words with fewer characters are removed; 1 by default.
    ///
    /// Scripts that write words of one character, or that are cut into single characters for
    /// want of spaces (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese), are spared.
    pub min_token_chars: usize,
    /// How many neighbouring words make a term, joined by one space; 1 to 1 by default.
    ///
    /// Neighbours are those left over by the earlier steps: removed words leave no gap. The last word
    /// of a field and the first of the next (see [`FIELD_BREAK`](super::FIELD_BREAK)) are none.
    pub word_ngrams: NgramRange,
    /// If given, terms are runs of so many characters inside each word padded by a space on
    /// either side, and `word_ngrams` is not used; none by default.
    pub char_ngrams: Option<NgramRange>,
    /// Whether such runs go on from a word to the next of the same field (no by default).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub char_ngrams_across: bool,
    /// Whether a capital sigma that ends a word becomes the small letter of word ends, so that `ΟΔΟΣ`
    /// is `οδος` (yes by default; models that were saved before there was a choice made it `οδοσ`).
    pub final_sigma: bool,
    /// Whether word n-grams end where a text field ends (yes by default; models that were saved before
    /// there was a choice ran on into the next field).
    pub fields_apart: bool,
    /// What is a word where Unicode's boundaries are not enough: scripts without spaces, emoji, `C++` (models
    /// that were saved before there was a choice have [`WordRules::before`]).
    pub words: WordRules,
}

impl Default for Analyzer {
    fn default() -> Self {
        Self {
            lowercase: true,
            fold_accents: false,
            stop_words: None,
            stemmer: None,
            min_token_chars: 1,
            word_ngrams: NgramRange::default(),
            char_ngrams: None,
            char_ngrams_across: false,
            final_sigma: true,
            fields_apart: true,
            words: WordRules::default(),
        }
    }
}

impl Analyzer {
    /// The analyzer of a saved model, where it has one: what that does not say is as it was before there was a choice.
    pub(crate) fn of_saved_option<'d, D: Deserializer<'d>>(
        deserializer: D,
    ) -> Result<Option<Self>, D::Error> {
        let saved = Option::<serde_json::Value>::deserialize(deserializer)?;
        let read = saved.map(Self::of_saved_value).transpose();
        read.map_err(D::Error::custom)
    }

    /// Writes what holds this analyzer as models were saved before there was a choice of words, where it has the words of then: such a model
    /// is saved again to the byte.
    pub(crate) fn save_with<S: Serializer>(
        &self,
        whole: &impl Serialize,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        use serde::ser::Error;
        if self.words != WordRules::before() {
            return whole.serialize(serializer);
        }
        let words = serde_json::to_string(&WordRules::before()).map_err(S::Error::custom)?;
        let written = serde_json::to_string(whole).map_err(S::Error::custom)?;
        // Quotes inside of texts are written otherwise, so that this is the analyzer's.
        let written = written.replacen(&format!(",\"words\":{words}"), "", 1);
        let raw = RawValue::from_string(written).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }

    /// The same, where there may be no analyzer.
    pub(crate) fn save_option<S: Serializer>(
        analyzer: &Option<Self>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match analyzer {
            Some(own) => own.save_with(own, serializer),
            None => serializer.serialize_none(),
        }
    }

    /// The same, of a value of JSON.
    pub(crate) fn of_saved_value(saved: serde_json::Value) -> Result<Self, serde_json::Error> {
        let is_older = |key: &str| saved.get(key).is_none();
        let [sigma, apart, words] = ["final_sigma", "fields_apart", "words"].map(is_older);
        let mut analyzer: Self = serde_json::from_value(saved)?;
        analyzer.final_sigma &= !sigma;
        analyzer.fields_apart &= !apart;
        if words {
            analyzer.words = WordRules::before();
        }
        Ok(analyzer)
    }

    /// Checks the settings and prepares stop words and stemmer.
    pub fn compile(&self) -> Result<CompiledAnalyzer, AnalyzerError> {
        self.word_ngrams.check("word_ngrams")?;
        if let Some(range) = self.char_ngrams {
            range.check("char_ngrams")?;
        }
        CompiledAnalyzer::new(self)
    }
}

/// From how many to how many neighbours make one term, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NgramRange {
    /// The shortest, at least 1.
    pub min: usize,
    /// The longest, at least `min` and at most [`NgramRange::LONGEST`].
    pub max: usize,
}

impl NgramRange {
    /// The longest n-gram that can be asked for.
    pub const LONGEST: usize = 8;

    fn check(self, setting: &'static str) -> Result<(), AnalyzerError> {
        let Self { min, max } = self;
        if 1 <= min && min <= max && max <= Self::LONGEST {
            Ok(())
        } else {
            Err(AnalyzerError::NgramRange { setting, min, max })
        }
    }
}

impl Default for NgramRange {
    fn default() -> Self {
        Self { min: 1, max: 1 }
    }
}

/// Why an [`Analyzer`] cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnalyzerError {
    /// A range of n-grams is empty, starts at zero or ends too high.
    #[error(
        "{setting} from {min} to {max} is not possible; \
         choose 1 <= min <= max <= {longest}",
        longest = NgramRange::LONGEST
    )]
    NgramRange {
        /// The field of [`Analyzer`].
        setting: &'static str,
        /// The shortest n-gram asked for.
        min: usize,
        /// The longest n-gram asked for.
        max: usize,
    },
    /// There are no Snowball rules for the language.
    #[error(
        "there is no stemmer for `{language}`; choose one of {}",
        listed(Language::has_stemmer)
    )]
    NoStemmer {
        /// The language asked for.
        language: Language,
    },
    /// There is no list of stop words for the language.
    #[error(
        "there is no list of stop words for `{language}`; choose one of {}",
        listed(Language::has_stop_words)
    )]
    NoStopWords {
        /// The language asked for.
        language: Language,
    },
}

fn listed(choice: fn(Language) -> bool) -> String {
    let names: Vec<&str> = Language::ALL
        .iter()
        .filter(|language| choice(**language))
        .map(|l| l.name())
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(min: usize, max: usize) -> NgramRange {
        NgramRange { min, max }
    }

    #[test]
    fn ngram_ranges_are_checked_at_both_ends() {
        for (min, max, good) in [
            (1, 1, true),
            (1, 8, true),
            (8, 8, true),
            (0, 1, false),
            (2, 1, false),
            (1, 9, false),
        ] {
            let words = Analyzer {
                word_ngrams: range(min, max),
                ..Analyzer::default()
            };
            assert_eq!(words.compile().is_ok(), good, "words {min}..={max}");
            let chars = Analyzer {
                char_ngrams: Some(range(min, max)),
                ..Analyzer::default()
            };
            assert_eq!(chars.compile().is_ok(), good, "chars {min}..={max}");
        }
    }

    #[test]
    fn the_error_names_the_setting_and_the_limits() {
        let analyzer = Analyzer {
            char_ngrams: Some(range(3, 2)),
            ..Analyzer::default()
        };
        assert_eq!(
            analyzer.compile().unwrap_err().to_string(),
            "char_ngrams from 3 to 2 is not possible; choose 1 <= min <= max <= 8"
        );
    }

    #[test]
    fn languages_without_rules_or_lists_are_refused() {
        let analyzer = Analyzer {
            stemmer: Some(Language::Japanese),
            ..Analyzer::default()
        };
        let error = analyzer.compile().unwrap_err();
        assert_eq!(
            error,
            AnalyzerError::NoStemmer {
                language: Language::Japanese
            }
        );
        assert!(error.to_string().contains("`japanese`") && error.to_string().contains("english"));
        let analyzer = Analyzer {
            stop_words: Some(Language::Yiddish),
            ..Analyzer::default()
        };
        let error = analyzer.compile().unwrap_err();
        assert_eq!(
            error,
            AnalyzerError::NoStopWords {
                language: Language::Yiddish
            }
        );
        assert!(!error.to_string().contains("porter"));
    }

    #[test]
    fn settings_survive_saving_and_missing_fields_take_defaults() {
        let analyzer = Analyzer {
            lowercase: false,
            fold_accents: true,
            stop_words: Some(Language::French),
            stemmer: Some(Language::EarlyModernEnglish),
            min_token_chars: 2,
            word_ngrams: range(1, 3),
            char_ngrams: Some(range(2, 5)),
            ..Analyzer::default()
        };
        let json = serde_json::to_string(&analyzer).unwrap();
        assert_eq!(serde_json::from_str::<Analyzer>(&json).unwrap(), analyzer);
        let short = r#"{"stemmer":"english"}"#;
        let today = Analyzer {
            stemmer: Some(Language::English),
            ..Analyzer::default()
        };
        assert_eq!(serde_json::from_str::<Analyzer>(short).unwrap(), today);
        let part: Analyzer = serde_json::from_str(r#"{"words":{"emoji":false}}"#).unwrap();
        let rules = WordRules {
            emoji: false,
            ..WordRules::default()
        };
        assert_eq!(part.words, rules);
        // A saved model that does not say it is of before there was a choice.
        let saved = |json: &str| {
            let value = serde_json::from_str(json).unwrap();
            Analyzer::of_saved_value(value).unwrap()
        };
        let before = Analyzer {
            final_sigma: false,
            fields_apart: false,
            words: WordRules::before(),
            ..today
        };
        assert_eq!(saved(short), before);
        for analyzer in [&analyzer, &before] {
            assert_eq!(&saved(&serde_json::to_string(analyzer).unwrap()), analyzer);
        }
    }

    #[test]
    fn unknown_fields_are_refused() {
        assert!(serde_json::from_str::<Analyzer>(r#"{"stemer":"english"}"#).is_err());
        let extra = r#"{"word_ngrams":{"min":1,"max":2,"step":1}}"#;
        assert!(serde_json::from_str::<Analyzer>(extra).is_err());
    }
}
