//! The languages for which there are Snowball rules or stop words.

use std::fmt;
use std::str::FromStr;

use frostem::Algorithm;
use serde::{Deserialize, Serialize};

/// One row per language: variant, name, ISO 639 code (empty for variants of a language),
/// Snowball rules. Whether there are stop words is asked of the lists themselves.
macro_rules! languages {
    ($($variant:ident $name:literal $code:literal $doc:literal $algorithm:expr;)*) => {
        /// A language with Snowball rules, with stop words or with both.
        ///
        /// Written and read by its name in lower case (`english`); read by its ISO 639 code
        /// (`en`) too. Some are sets of rules rather than languages: `porter` is Porter's
        /// stemmer of 1980 and `lovins` that of 1968, both for English.
        ///
        /// ```
        /// use calibrant::text::Language;
        /// let language: Language = "en".parse()?;
        /// assert_eq!(language, Language::English);
        /// assert!(language.has_stemmer() && language.has_stop_words());
        /// assert!(!Language::Japanese.has_stemmer());
        /// # Ok::<(), calibrant::text::UnknownLanguage>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum Language {
            $(#[doc = $doc] $variant,)*
        }

        impl Language {
            /// Every language, in the order of its name.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name, as it is written to settings.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// The Snowball rules, if there are any.
            pub(super) const fn algorithm(self) -> Option<Algorithm> {
                match self { $(Self::$variant => $algorithm,)* }
            }
        }
    };
}

languages! {
    Afrikaans "afrikaans" "af" "Afrikaans." None;
    Arabic "arabic" "ar" "Arabic." Some(Algorithm::Arabic);
    Armenian "armenian" "hy" "Armenian." Some(Algorithm::Armenian);
    Basque "basque" "eu" "Basque." Some(Algorithm::Basque);
    Bengali "bengali" "bn" "Bengali." None;
    Breton "breton" "br" "Breton." None;
    Bulgarian "bulgarian" "bg" "Bulgarian." None;
    Catalan "catalan" "ca" "Catalan." Some(Algorithm::Catalan);
    Chinese "chinese" "zh" "Chinese: only stop words of one ideograph take effect." None;
    Croatian "croatian" "hr" "Croatian." None;
    Czech "czech" "cs" "Czech." Some(Algorithm::Czech);
    Danish "danish" "da" "Danish." Some(Algorithm::Danish);
    Dutch "dutch" "nl" "Dutch, by the rules of Kraaij and Pohlmann." Some(Algorithm::Dutch);
    DutchPorter "dutch_porter" "" "Dutch, by Porter's rules." Some(Algorithm::DutchPorter);
    EarlyModernEnglish "early_modern_english" "" "English of the 16th and 17th centuries."
        Some(Algorithm::Earlymodernenglish);
    English "english" "en" "English." Some(Algorithm::English);
    Esperanto "esperanto" "eo" "Esperanto." Some(Algorithm::Esperanto);
    Estonian "estonian" "et" "Estonian." Some(Algorithm::Estonian);
    Finnish "finnish" "fi" "Finnish." Some(Algorithm::Finnish);
    French "french" "fr" "French." Some(Algorithm::French);
    Galician "galician" "gl" "Galician." None;
    German "german" "de" "German." Some(Algorithm::German);
    Greek "greek" "el" "Greek." Some(Algorithm::Greek);
    Gujarati "gujarati" "gu" "Gujarati." None;
    Hausa "hausa" "ha" "Hausa." None;
    Hebrew "hebrew" "he" "Hebrew." None;
    Hindi "hindi" "hi" "Hindi." Some(Algorithm::Hindi);
    Hungarian "hungarian" "hu" "Hungarian." Some(Algorithm::Hungarian);
    Indonesian "indonesian" "id" "Indonesian." Some(Algorithm::Indonesian);
    Irish "irish" "ga" "Irish." Some(Algorithm::Irish);
    Italian "italian" "it" "Italian." Some(Algorithm::Italian);
    Japanese "japanese" "ja" "Japanese: only stop words of one word by the splitting take effect." None;
    Korean "korean" "ko" "Korean." None;
    Kurdish "kurdish" "ku" "Kurdish." None;
    Latin "latin" "la" "Latin." None;
    Latvian "latvian" "lv" "Latvian." None;
    Lithuanian "lithuanian" "lt" "Lithuanian." Some(Algorithm::Lithuanian);
    Lovins "lovins" "" "English, by the rules of Lovins (1968)." Some(Algorithm::Lovins);
    Malay "malay" "ms" "Malay." None;
    Marathi "marathi" "mr" "Marathi." None;
    Nepali "nepali" "ne" "Nepali." Some(Algorithm::Nepali);
    Norwegian "norwegian" "no" "Norwegian." Some(Algorithm::Norwegian);
    Persian "persian" "fa" "Persian." Some(Algorithm::Persian);
    Polish "polish" "pl" "Polish." Some(Algorithm::Polish);
    Porter "porter" "" "English, by the rules of Porter (1980)." Some(Algorithm::Porter);
    Portuguese "portuguese" "pt" "Portuguese." Some(Algorithm::Portuguese);
    Romanian "romanian" "ro" "Romanian." Some(Algorithm::Romanian);
    Russian "russian" "ru" "Russian." Some(Algorithm::Russian);
    Serbian "serbian" "sr" "Serbian." Some(Algorithm::Serbian);
    Sesotho "sesotho" "st" "Sesotho, also called Southern Sotho." Some(Algorithm::Sesotho);
    Slovak "slovak" "sk" "Slovak." None;
    Slovenian "slovenian" "sl" "Slovenian." None;
    Somali "somali" "so" "Somali." None;
    Spanish "spanish" "es" "Spanish." Some(Algorithm::Spanish);
    Swahili "swahili" "sw" "Swahili." None;
    Swedish "swedish" "sv" "Swedish." Some(Algorithm::Swedish);
    Tagalog "tagalog" "tl" "Tagalog." None;
    Tamil "tamil" "ta" "Tamil." Some(Algorithm::Tamil);
    Thai "thai" "th" "Thai: only stop words of one character take effect." None;
    Turkish "turkish" "tr" "Turkish." Some(Algorithm::Turkish);
    Ukrainian "ukrainian" "uk" "Ukrainian." Some(Algorithm::Ukrainian);
    Urdu "urdu" "ur" "Urdu." None;
    Vietnamese "vietnamese" "vi" "Vietnamese: only stop words of one syllable take effect." None;
    Yiddish "yiddish" "yi" "Yiddish." Some(Algorithm::Yiddish);
    Yoruba "yoruba" "yo" "Yoruba." None;
    Zulu "zulu" "zu" "Zulu." None;
}

impl Language {
    /// Whether words of this language can be stemmed.
    pub fn has_stemmer(self) -> bool {
        self.algorithm().is_some()
    }

    /// Whether there is a list of stop words for this language.
    pub fn has_stop_words(self) -> bool {
        self.stop_word_list().is_some()
    }

    /// The stop words as their authors wrote them.
    pub(super) fn stop_word_list(self) -> Option<&'static [&'static str]> {
        stop_words::lookup(self.code())
    }
}

impl fmt::Display for Language {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(text: &str) -> Result<Self, UnknownLanguage> {
        let wanted = text.trim().to_lowercase().replace(['-', ' '], "_");
        Self::ALL
            .iter()
            .copied()
            .find(|language| {
                wanted == language.name() || (!wanted.is_empty() && wanted == language.code())
            })
            .ok_or_else(|| UnknownLanguage {
                name: text.to_owned(),
            })
    }
}

/// A name that is not a [`Language`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a known language; choose one of {}", names())]
pub struct UnknownLanguage {
    /// The name as it was given.
    pub name: String,
}

fn names() -> String {
    let names: Vec<&str> = Language::ALL
        .iter()
        .map(|language| language.name())
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_snowball_algorithm_has_exactly_one_language() {
        for algorithm in Algorithm::all() {
            let owners = Language::ALL
                .iter()
                .filter(|l| l.algorithm() == Some(*algorithm))
                .count();
            assert_eq!(owners, 1, "{}", algorithm.name());
        }
    }

    #[test]
    fn every_list_of_stop_words_has_exactly_one_language() {
        for code in stop_words::available_languages() {
            let owners = Language::ALL.iter().filter(|l| l.code() == *code).count();
            assert_eq!(owners, 1, "{code}");
        }
    }

    #[test]
    fn no_language_is_without_use_and_names_are_sorted() {
        assert!(
            Language::ALL
                .iter()
                .all(|l| l.has_stemmer() || l.has_stop_words())
        );
        assert!(Language::ALL.is_sorted_by(|a, b| a.name() < b.name()));
    }

    #[test]
    fn names_codes_and_saved_form_agree() {
        for language in Language::ALL.iter().copied() {
            assert_eq!(language.to_string().parse(), Ok(language));
            assert_eq!(language.name().to_uppercase().parse(), Ok(language));
            let json = serde_json::to_string(&language).unwrap();
            assert_eq!(json, format!("\"{language}\""));
            if !language.code().is_empty() {
                assert_eq!(language.code().parse(), Ok(language));
            }
        }
        assert_eq!("Dutch-Porter".parse(), Ok(Language::DutchPorter));
    }

    #[test]
    fn unknown_names_come_back_with_the_choices() {
        for name in ["", "klingon", "e n g"] {
            let error = name.parse::<Language>().unwrap_err();
            assert_eq!(error.name, name);
            assert!(error.to_string().contains("english, esperanto"));
        }
    }
}
