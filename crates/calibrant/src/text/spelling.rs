//! The spelling of words outside ASCII: separators, apostrophes, case, accents.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Which differences of spelling are ironed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spelling {
    pub(super) lowercase: bool,
    pub(super) fold_accents: bool,
    pub(super) final_sigma: bool,
}

/// Buffers for the stages of [`Spelling::apply`].
#[derive(Debug, Default, Clone)]
pub(super) struct Scratch {
    first: String,
    second: String,
    parts: Vec<char>,
}

impl Spelling {
    /// The spelling of a trimmed, non-empty word: never empty.
    pub(super) fn apply<'s>(self, word: &str, scratch: &'s mut Scratch) -> &'s str {
        let Scratch {
            first,
            second,
            parts,
        } = scratch;
        first.clear();
        for (at, character) in word.char_indices() {
            if is_apostrophe(character) {
                first.push('\'');
            } else if character == 'Σ' && self.ends_in_sigma(word, at) {
                first.push('ς');
            } else if !is_invisible(character) {
                self.push_cased(character, first);
            }
        }
        if self.fold_accents && !first.is_ascii() {
            second.clear();
            self.fold_accents(first, second, parts);
            std::mem::swap(first, second);
        }
        if is_nfc_quick(first.chars()) != IsNormalized::Yes {
            second.clear();
            second.extend(first.nfc());
            std::mem::swap(first, second);
        }
        first
    }

    /// Whether the capital sigma at `at` is the last of several letters.
    fn ends_in_sigma(self, word: &str, at: usize) -> bool {
        let has_letter = |part: &str| part.chars().any(char::is_alphabetic);
        let before = &word[..at];
        let behind = word[at..].strip_prefix('Σ').unwrap_or_default();
        self.lowercase && self.final_sigma && has_letter(before) && !has_letter(behind)
    }

    #[inline]
    fn push_cased(self, character: char, out: &mut String) {
        if !self.lowercase || is_lower_at_sight(character) {
            out.push(character);
        } else {
            out.extend(character.to_lowercase());
        }
    }

    /// Takes characters apart and leaves out the marks on letters of alphabets that can do
    /// without them.
    fn fold_accents(self, word: &str, out: &mut String, parts: &mut Vec<char>) {
        let mut drops_marks = false;
        for character in word.chars() {
            parts.clear();
            decompose_compatible(character, |part| parts.push(part));
            // Some characters come apart into punctuation (`½`, `⑴`) or into several words by
            // the rules of splitting (in Thai and Lao, and the hiragana digraph U+309F): a
            // word must stay one word, so these are left alone.
            let splits = matches!(character, '\u{E00}'..='\u{EFF}' | '\u{309F}');
            let stays_a_word = !splits
                && parts.iter().all(|part| {
                    (part.is_alphanumeric() || is_mark(*part)) && !is_apostrophe(*part)
                });
            if !stays_a_word {
                parts.clear();
                parts.push(character);
            }
            for part in parts.iter().copied() {
                if !is_mark(part) {
                    drops_marks = is_alphabet_with_accents(part);
                } else if drops_marks {
                    continue;
                }
                // Taking apart may bring up a capital: the mathematical 𝐀 has no small form.
                self.push_cased(part, out);
            }
        }
    }
}

/// Removes what cannot begin or end a word.
pub(super) fn trim(piece: &str) -> &str {
    piece
        .trim_start_matches(|c: char| !c.is_alphanumeric() || is_mark(c) || is_apostrophe(c))
        .trim_end_matches(|c: char| is_apostrophe(c) || is_joiner(c) || is_invisible(c))
}

/// Letters of frequent alphabets that need no look into the tables of cases: small Latin and
/// Cyrillic, and scripts without capitals from Hebrew to Sinhala and of East Asia.
fn is_lower_at_sight(character: char) -> bool {
    matches!(
        character,
        'a'..='z'
            | '\u{DF}'..='\u{FF}'
            | '\u{430}'..='\u{45F}'
            | '\u{5D0}'..='\u{DFF}'
            | '\u{3040}'..='\u{9FFF}'
            | '\u{AC00}'..='\u{D7A3}'
    )
}

/// Characters at which a word of Unicode's rules is cut further.
#[inline]
pub(super) fn is_separator(character: char) -> bool {
    match character {
        '_' | ':' | ',' | ';' | '.' | '\u{A9}' | '\u{AE}' => true,
        // Greek, Armenian, Arabic and N'Ko punctuation that may stand between digits.
        '\u{37E}' | '\u{589}' | '\u{60C}' | '\u{60D}' | '\u{66B}' | '\u{66C}' | '\u{7F8}' => true,
        // Frequent letters, ahead of the questions below.
        '\u{3041}'..='\u{3096}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' => false,
        // From here on there are spaces, wide forms of the above and symbols, which the rules
        // join to a word in a few places (U+202F between digits, emoji after a joiner).
        '\u{2000}'.. => {
            !character.is_alphanumeric()
                && !is_mark(character)
                && !is_apostrophe(character)
                && !is_joiner(character)
                && !is_invisible(character)
        }
        _ => false,
    }
}

/// Separators that belong to a number when digits stand on both sides.
pub(super) fn is_number_point(character: char) -> bool {
    matches!(
        character,
        '.' | ',' | '\u{66B}' | '\u{66C}' | '\u{FF0C}' | '\u{FF0E}'
    )
}

/// The ASCII apostrophe and its typographic, modifier-letter and wide forms.
pub(super) fn is_apostrophe(character: char) -> bool {
    matches!(
        character,
        '\'' | '\u{2018}' | '\u{2019}' | '\u{2BC}' | '\u{FF07}'
    )
}

/// Zero-width joiner and non-joiner, which matter inside words of Persian and Hindi.
fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200C}' | '\u{200D}')
}

/// Soft hyphen, direction marks, byte order mark, variation selectors, enclosing keycap, tags.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{AD}'
            | '\u{200E}'
            | '\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{2069}'
            | '\u{20E3}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{E0000}'..='\u{E01EF}'
    )
}

/// Marks that attach to the character before; the two halfwidth kana marks are letters to
/// Unicode's categories but attach all the same.
pub(super) fn is_mark(character: char) -> bool {
    is_combining_mark(character) || matches!(character, '\u{FF9E}' | '\u{FF9F}')
}

/// Latin, Greek and Cyrillic letters.
fn is_alphabet_with_accents(base: char) -> bool {
    base.is_ascii_alphabetic()
        || matches!(
            base,
            '\u{C0}'..='\u{2AF}'
                | '\u{370}'..='\u{52F}'
                | '\u{1C80}'..='\u{1C8F}'
                | '\u{1D00}'..='\u{1DBF}'
                | '\u{1E00}'..='\u{1FFF}'
                | '\u{2C60}'..='\u{2C7F}'
                | '\u{A640}'..='\u{A69F}'
                | '\u{A720}'..='\u{A7FF}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, lowered: &str, folded: &str) {
        let mut scratch = Scratch::default();
        let spelling = Spelling {
            lowercase: true,
            fold_accents: false,
            final_sigma: true,
        };
        assert_eq!(spelling.apply(word, &mut scratch), lowered);
        let spelling = Spelling {
            lowercase: true,
            fold_accents: true,
            final_sigma: true,
        };
        assert_eq!(spelling.apply(word, &mut scratch), folded);
    }

    #[test]
    fn accents_go_from_latin_greek_and_cyrillic_only() {
        check("Été", "été", "ete");
        check("E\u{301}te\u{301}", "été", "ete");
        check("Ångström", "ångström", "angstrom");
        check("Việt", "việt", "viet");
        check("Άνθρωπος", "άνθρωπος", "ανθρωπος");
        check("Ёлка", "ёлка", "елка");
        check("हिन्दी", "हिन्दी", "हिन्दी");
        check("ไม่", "ไม่", "ไม่");
        check("한국어", "한국어", "한국어");
        check("がぎ", "がぎ", "がぎ");
        check("שָׁלוֹם", "שָׁלוֹם", "שָׁלוֹם");
    }

    #[test]
    fn letters_without_decomposition_stay() {
        check("Søłß", "søłß", "søłß");
        check("İı", "i\u{307}ı", "iı");
    }

    #[test]
    fn compatibility_forms_are_replaced_only_by_words() {
        check("ﬁn", "ﬁn", "fin");
        check("ＡＢＣ１", "ａｂｃ１", "abc1");
        check("𝐀", "𝐀", "a");
        check("½", "½", "½");
        check("⑴", "⑴", "⑴");
        check("\u{FDFA}", "\u{FDFA}", "\u{FDFA}");
        check("ﾊﾟ", "ﾊﾟ", "パ");
    }

    #[test]
    fn shortcuts_agree_with_the_tables() {
        for character in '\0'..=char::MAX {
            let lowered = character.to_lowercase();
            assert!(
                !is_lower_at_sight(character) || lowered.eq([character]),
                "{character:?}"
            );
            assert!(
                !is_separator(character) || !character.is_alphanumeric(),
                "{character:?} separates"
            );
        }
        for letter in ('ぁ'..='ゖ').chain('一'..='\u{9FFF}').chain('가'..='힣') {
            assert!(
                letter.is_alphanumeric() && !is_separator(letter),
                "{letter:?}"
            );
        }
    }

    #[test]
    fn trimming_leaves_nothing_of_mere_marks() {
        for (piece, expected) in [
            ("'a'", "a"),
            ("\u{301}a\u{301}", "a\u{301}"),
            ("\u{93E}", ""),
            ("ʼ’'", ""),
            ("", ""),
        ] {
            assert_eq!(trim(piece), expected);
        }
    }
}
