//! What counts as a word, where Unicode's word boundaries leave it open.

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

/// How texts without spaces between words are taken apart: Chinese, Japanese, Thai, Lao, Khmer and Burmese.
///
/// Other scripts, digits and Latin words among them are the same in all of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Segmentation {
    /// Each character with its marks is a word, each run of katakana one.
    #[default]
    Characters,
    /// Words of a dictionary: the longest that fits, from the left.
    Dictionary,
    /// Each character, and each pair of neighbours.
    Pairs,
    /// Words of a dictionary, and each pair of neighbouring characters.
    DictionaryPairs,
}

named! {
    Segmentation, "a way to find words where there are no spaces";
    DictionaryPairs = "dictionary_pairs", "Words of a dictionary, and pairs of neighbouring characters across them";
    Dictionary = "dictionary", "Words of a dictionary: the longest that fits, from the left";
    Pairs = "pairs", "Single characters, and pairs of neighbours";
    Characters = "characters", "Single characters, and runs of katakana";
}

impl Segmentation {
    /// Whether words are looked up.
    pub(super) fn looks_up(self) -> bool {
        matches!(self, Self::Dictionary | Self::DictionaryPairs)
    }

    /// Whether pairs of characters are terms, too.
    pub(super) fn has_pairs(self) -> bool {
        matches!(self, Self::Pairs | Self::DictionaryPairs)
    }
}

/// Rules of words that were added to those of Unicode. Models and indexes keep the rules that they were made with.
///
/// ```
/// use calibrant::text::{Analyzer, WordRules};
/// let text = "C++ or C? 👍🏽";
/// let terms = Analyzer::default().compile()?.terms(text);
/// assert_eq!(terms, ["c++", "or", "c", "👍🏽"]);
/// let before = Analyzer { words: WordRules::before(), ..Analyzer::default() };
/// assert_eq!(before.compile()?.terms(text), ["c", "or", "c"]);
/// # Ok::<(), calibrant::text::AnalyzerError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WordRules {
    /// How words are found where there are no spaces between them.
    pub segmentation: Segmentation,
    /// Whether an emoji is a term, with its skin tone, and several joined to one picture as one. It is the same
    /// term with and without the selector that asks for a coloured picture.
    pub emoji: bool,
    /// Whether a name of one or two letters keeps the `++` or `#` that directly follows it: `C++`, `g++`, `C#`, `F#`.
    ///
    /// No letter may come behind it (`a++b`, `C#major`), and behind `#` no digit (`A#4`); `C++17` is `c++` and `17`.
    pub signs: bool,
}

impl WordRules {
    /// The rules of analyzers that were saved before there was a choice: Unicode's alone.
    pub const fn before() -> Self {
        Self {
            segmentation: Segmentation::Characters,
            emoji: false,
            signs: false,
        }
    }
}

impl Default for WordRules {
    fn default() -> Self {
        Self {
            segmentation: Segmentation::Pairs,
            emoji: true,
            signs: true,
        }
    }
}
