//! Options whose values are the library's closed sets: its words, its sentences of help.

use calibrant::Named;
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
