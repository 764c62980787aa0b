//! Text -> terms: which strings does a text consist of?
//!
//! An [`Analyzer`] holds the settings and is saved with a model; compiling it checks
//! them and gives a [`CompiledAnalyzer`], which hands out the terms of a text.
//! The steps, in order:
//!
//! 1. **Split** into words: the word boundaries of Unicode Standard Annex #29, cut further
//!    at underscore, colon, comma, semicolon and full stop. `don't` is one word (the
//!    typographic apostrophe becomes `'`), `example.com`, `snake_case` and `3.14` two. Apostrophes
//!    at the edge of a word are not part of it: `dogs'` gives `dogs`. Words longer than
//!    [`MAX_WORD_BYTES`] are noise and dropped.
//! 2. **Lower-case**, character by character; a capital sigma that ends a word becomes `ς`.
//! 3. **Fold accents** of Latin, Greek and Cyrillic letters.
//! 4. **Stop words** are removed.
//! 5. **Short words** are removed.
//! 6. **Stem** by the Snowball rules of a language.
//! 7. **N-grams** of words, or of characters inside words.
//!
//! Words outside ASCII are brought to Unicode's composed form (NFC) in step 2, so that
//! `é` and `e` followed by U+0301 give the same term.
//!
//! [`WordRules`] add to step 1: words of Chinese, Japanese, Thai, Lao, Khmer and Burmese come from a dictionary, and pairs of
//! neighbouring characters are terms beside them ([`Segmentation`]); an emoji is a term; `C++` and `C#` are not `c`.
//!
//! # When it misleads
//! A dictionary takes the longest word that fits, from the left: names and new words fall into pieces, which the pairs
//! of characters mend in part. What was saved before these rules keeps the words it had ([`WordRules::before`]).

mod analyzer;
mod ascii_runs;
mod compiled;
mod emoji;
mod language;
mod ngrams;
mod spelling;
mod stemming;
mod stop_words;
mod stretches;
mod unspaced;
mod word_rules;
mod words;

pub use analyzer::{Analyzer, AnalyzerError, NgramRange};
pub use compiled::{AnalyzerBuffers, CompiledAnalyzer};
pub use language::{Language, UnknownLanguage};
pub use word_rules::{Segmentation, WordRules};
pub use words::MAX_WORD_BYTES;

/// Stands where one text field of a document ends and the next begins (ASCII's unit separator).
pub const FIELD_BREAK: char = '\u{1F}';
