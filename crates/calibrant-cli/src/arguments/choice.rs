//! Values that several commands take: the library's closed sets with its words and its sentences of help, languages, counts, shares.

use std::num::NonZeroUsize;

use calibrant::Named;
use calibrant::text::Language;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Takes the name of a member, with hyphens or underscores, or another word that the library knows for it.
pub(crate) fn choice<T: Named>() -> impl TypedValueParser<Value = T> {
    let values = T::members().iter().map(|&member| {
        let others = member.other_words().iter().copied();
        PossibleValue::new(member.word())
            .help(member.sentence())
            .aliases(others.flat_map(spellings).chain(spellings(member.word())))
    });
    PossibleValuesParser::new(values).try_map(|word| T::from_word(&word))
}

/// The word with hyphens, and with underscores.
fn spellings(word: &'static str) -> [String; 2] {
    [word.replace('_', "-"), word.replace('-', "_")]
}

/// A whole number from 1 on.
pub(crate) fn positive(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "it must be a whole number, 1 or more".to_owned())
}

/// A share that is neither nothing nor all: 0.05 or 5%.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let read = match text.strip_suffix('%') {
        Some(number) => number.trim_end().parse::<f64>().map(|share| share / 100.0),
        None => text.parse(),
    };
    match read {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err(
            "it must be between 0 and 1, both excluded, with a point, or a percentage: 0.05 or 5%"
                .into(),
        ),
    }
}

/// A language; if there is no such language, those with a stemmer are listed.
pub(crate) fn stem_language(text: &str) -> Result<Language, String> {
    language(text, Language::has_stemmer, "a stemmer")
}

/// A language; if there is no such language, those with stop words are listed.
pub(crate) fn stop_language(text: &str) -> Result<Language, String> {
    language(text, Language::has_stop_words, "stop words")
}

fn language(text: &str, fits: fn(Language) -> bool, what: &str) -> Result<Language, String> {
    match text.parse() {
        Ok(language) if fits(language) => Ok(language),
        _ => {
            let fitting = Language::ALL.iter().filter(|&&language| fits(language));
            let names: Vec<&str> = fitting.map(|language| language.name()).collect();
            Err(format!("languages with {what} are {}", names.join(", ")))
        }
    }
}
