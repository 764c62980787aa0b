//! Splitting a text into words.
//!
//! Most text is ASCII, where the rules of Unicode Standard Annex #29 shrink to a table of
//! byte classes; only stretches around a non-ASCII byte are given to the full rules. Both
//! ways must give the same words as the full rules applied to the whole text, which the
//! tests check against a plain implementation.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::ascii_runs::AsciiRuns;
use super::emoji;
use super::spelling::{self, Spelling};
use super::stretches::{self, Found};
use super::word_rules::WordRules;

/// Words longer than this many bytes of the text are dropped as noise: encoded
/// attachments, rows of digits, keys.
pub const MAX_WORD_BYTES: usize = 256;

/// Whether `3.14` and `1,000` are cut at the point and the comma. Models are fitted to the
/// words that come out, so a change here is a change of what saved models mean.
pub(super) const SPLIT_NUMBERS: bool = true;

/// Scratch space for the spelling of words that differ from the text.
#[derive(Debug, Default, Clone)]
pub(super) struct WordScratch {
    lower: String,
    spelling: spelling::Scratch,
}

impl WordScratch {
    /// The spelling of characters that are no words.
    pub(super) fn spelled(&mut self, characters: &str, spelling: Spelling) -> &str {
        spelling.apply(characters, &mut self.spelling)
    }
}

/// Calls `visit` with each word of `text`, in order, spelled as `spelling` says.
#[inline]
pub(super) fn for_each_word(
    text: &str,
    rules: WordRules,
    spelling: Spelling,
    scratch: &mut WordScratch,
    visit: impl FnMut(&str),
) {
    for_each_word_as::<SPLIT_NUMBERS>(text, rules, spelling, scratch, visit);
}

const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const APOSTROPHE: u8 = 4;
/// A point or comma, which may stand inside a number.
const POINT: u8 = 8;
/// Not ASCII: the full rules decide.
const FOREIGN: u8 = 16;
/// Not always a word boundary next to characters outside ASCII, so a stretch for the full
/// rules reaches across. All other ASCII characters (spaces, brackets, `-`, `@`) are
/// boundaries on both sides whatever their neighbours.
const SOFT: u8 = 32;
/// May belong to the name before it, as in `C++` and `C#`.
const SIGN: u8 = 64;

const WORD: u8 = LETTER | DIGIT;

static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER | SOFT,
            b'0'..=b'9' => DIGIT | SOFT,
            b'\'' => APOSTROPHE | SOFT,
            b'.' | b',' => POINT | SOFT,
            // The double quote stands inside Hebrew abbreviations.
            b':' | b';' | b'_' | b'"' => SOFT,
            b'+' | b'#' => SIGN,
            0x80..=0xFF => FOREIGN | SOFT,
            _ => 0,
        };
        byte += 1;
    }
    class
};

#[inline]
fn class_at(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).map_or(0, |byte| CLASS[usize::from(*byte)])
}

fn for_each_word_as<const SPLIT_NUMBERS: bool>(
    text: &str,
    rules: WordRules,
    spelling: Spelling,
    scratch: &mut WordScratch,
    mut visit: impl FnMut(&str),
) {
    let bytes = text.as_bytes();
    let mut joining = if SPLIT_NUMBERS {
        FOREIGN | APOSTROPHE
    } else {
        FOREIGN | APOSTROPHE | POINT
    };
    if rules.signs {
        joining |= SIGN;
    }
    let mut runs = AsciiRuns::new(bytes);
    let mut at = 0;
    loop {
        let start = runs.next_start(at);
        if start >= bytes.len() {
            break;
        }
        let (mut end, mut has_capital) = runs.word_end(start);
        if class_at(bytes, end) & joining != 0 {
            match join_runs::<SPLIT_NUMBERS>(text, &mut runs, start, end) {
                Joined::Word { end: whole } => {
                    // Whether the parts behind have a capital is not worth knowing.
                    has_capital |= whole != end;
                    end = whole;
                }
                // Beginning the full rules at this word, not at the stretch before it, changes
                // nothing: what comes before has been cut off by a separator, and boundaries
                // further on depend on no character before the word.
                Joined::Foreign => {
                    let stretch = start..stretch_end(bytes, start);
                    at = for_each_word_of_stretch::<SPLIT_NUMBERS>(
                        text, stretch, rules, spelling, scratch, &mut visit,
                    );
                    continue;
                }
            }
        }
        at = end;
        if end - start > MAX_WORD_BYTES {
            continue;
        }
        let word = &text[start..end];
        if has_capital && spelling.lowercase {
            scratch.lower.clear();
            scratch.lower.push_str(word);
            scratch.lower.make_ascii_lowercase();
            visit(&scratch.lower);
        } else {
            visit(word);
        }
    }
}

/// Visits the words of a stretch for the full rules, and says where it ends. Beside these rules a call by pointer costs nothing, and so
/// they are compiled once, not once for everybody who visits words.
fn for_each_word_of_stretch<const SPLIT_NUMBERS: bool>(
    text: &str,
    stretch: Range<usize>,
    rules: WordRules,
    spelling: Spelling,
    scratch: &mut WordScratch,
    visit: &mut dyn FnMut(&str),
) -> usize {
    if rules == WordRules::before() {
        for segment in text[stretch.clone()].unicode_words() {
            for_each_piece::<SPLIT_NUMBERS>(segment, |piece| {
                visit(spelling.apply(piece, &mut scratch.spelling));
            });
        }
        return stretch.end;
    }
    stretches::for_each_found(text, stretch, rules, |found| match found {
        Found::Segment(segment) => for_each_piece::<SPLIT_NUMBERS>(segment, |piece| {
            visit(spelling.apply(piece, &mut scratch.spelling));
        }),
        Found::Name(name) => {
            scratch.lower.clear();
            scratch.lower.push_str(name);
            if spelling.lowercase {
                scratch.lower.make_ascii_lowercase();
            }
            visit(&scratch.lower);
        }
        Found::Emoji(emoji) if emoji.len() <= MAX_WORD_BYTES => {
            scratch.lower.clear();
            emoji::push_folded(emoji, &mut scratch.lower);
            visit(&scratch.lower);
        }
        Found::Emoji(_) => {}
    })
}

enum Joined {
    /// The word ends before `end`.
    Word { end: usize },
    /// A character outside ASCII touches the word.
    Foreign,
}

/// Follows a word from `start` over the apostrophes (and points in numbers) inside it;
/// `end` is the end of its first run of letters and digits.
fn join_runs<const SPLIT_NUMBERS: bool>(
    text: &str,
    runs: &mut AsciiRuns<'_>,
    start: usize,
    end: usize,
) -> Joined {
    let bytes = runs.bytes();
    if class_at(bytes, end) & SIGN != 0 {
        let end = stretches::sign_end(text, start, end).unwrap_or(end);
        return Joined::Word { end };
    }
    let mut end = end;
    loop {
        let class = class_at(bytes, end);
        if class & FOREIGN != 0 {
            return Joined::Foreign;
        }
        // An apostrophe joins two letters or two digits, a point two digits.
        let joins = match class {
            class if class & APOSTROPHE != 0 => WORD,
            class if class & POINT != 0 && !SPLIT_NUMBERS => DIGIT,
            _ => 0,
        };
        let before = if end == start {
            0
        } else {
            class_at(bytes, end - 1) & joins
        };
        if before == 0 {
            return Joined::Word { end };
        }
        let after = class_at(bytes, end + 1);
        if after & FOREIGN != 0 {
            return Joined::Foreign;
        }
        let both_letters = before & LETTER != 0 && after & LETTER != 0;
        let both_digits = before & DIGIT != 0 && after & DIGIT != 0;
        if !both_letters && !both_digits {
            return Joined::Word { end };
        }
        (end, _) = runs.word_end(end + 1);
    }
}

/// Where the stretch that the full rules must see as a whole ends.
fn stretch_end(bytes: &[u8], start: usize) -> usize {
    let length = bytes[start..]
        .iter()
        .position(|byte| CLASS[usize::from(*byte)] & SOFT == 0);
    length.map_or(bytes.len(), |length| start + length)
}

/// Cuts a word of the full rules at the separators and trims the parts.
fn for_each_piece<const SPLIT_NUMBERS: bool>(segment: &str, mut visit: impl FnMut(&str)) {
    let mut trim_and_visit = |piece: &str| {
        let piece = spelling::trim(piece);
        if !piece.is_empty() && piece.len() <= MAX_WORD_BYTES {
            visit(piece);
        }
    };
    let mut start = 0;
    let mut before = None;
    let mut characters = segment.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let after = characters.peek().map(|(_, next)| *next);
        let separates = spelling::is_separator(character)
            && (SPLIT_NUMBERS
                || !spelling::is_number_point(character)
                || !before.is_some_and(char::is_numeric)
                || !after.is_some_and(char::is_numeric));
        if separates {
            trim_and_visit(&segment[start..at]);
            start = at + character.len_utf8();
        }
        before = Some(character);
    }
    trim_and_visit(&segment[start..]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const AS_WRITTEN: Spelling = Spelling {
        lowercase: false,
        fold_accents: false,
        final_sigma: true,
    };
    const LOWERED: Spelling = Spelling {
        lowercase: true,
        fold_accents: false,
        final_sigma: true,
    };

    fn words_as<const SPLIT_NUMBERS: bool>(text: &str, spelling: Spelling) -> Vec<String> {
        let mut words = Vec::new();
        let mut scratch = WordScratch::default();
        let rules = WordRules::before();
        for_each_word_as::<SPLIT_NUMBERS>(text, rules, spelling, &mut scratch, |word| {
            words.push(word.to_owned());
        });
        words
    }

    fn words(text: &str) -> Vec<String> {
        words_as::<true>(text, LOWERED)
    }

    /// The rule itself: words of the whole text by the full rules, cut at separators,
    /// trimmed. Spelling is shared; splitting is not.
    fn plain_words(text: &str, split_numbers: bool, spelling: Spelling) -> Vec<String> {
        let mut words = Vec::new();
        let mut scratch = spelling::Scratch::default();
        // Forces the general iterator: the crate has an ASCII path of its own.
        let padded = format!("{text} \u{4e00}");
        let mut segments: Vec<&str> = padded.unicode_words().collect();
        segments.pop();
        for segment in segments {
            let characters: Vec<char> = segment.chars().collect();
            let mut pieces = vec![String::new()];
            for (at, character) in characters.iter().copied().enumerate() {
                let between_digits = at > 0
                    && characters[at - 1].is_numeric()
                    && characters.get(at + 1).is_some_and(|next| next.is_numeric());
                let kept_point =
                    !split_numbers && between_digits && spelling::is_number_point(character);
                if spelling::is_separator(character) && !kept_point {
                    pieces.push(String::new());
                } else if let Some(piece) = pieces.last_mut() {
                    piece.push(character);
                }
            }
            for piece in &pieces {
                let piece = spelling::trim(piece);
                if !piece.is_empty() && piece.len() <= MAX_WORD_BYTES {
                    words.push(spelling.apply(piece, &mut scratch).to_owned());
                }
            }
        }
        words
    }

    #[track_caller]
    fn check_against_plain(text: &str) {
        for spelling in [AS_WRITTEN, LOWERED] {
            let split = words_as::<true>(text, spelling);
            assert_eq!(
                split,
                plain_words(text, true, spelling),
                "split numbers in {text:?}"
            );
            let whole = words_as::<false>(text, spelling);
            assert_eq!(
                whole,
                plain_words(text, false, spelling),
                "whole numbers in {text:?}"
            );
        }
    }

    #[test]
    fn english_words_are_split_by_hand_worked_cases() {
        for (text, expected) in [
            ("", vec![]),
            (" \t\r\n...", vec![]),
            ("Don't stop.", vec!["don't", "stop"]),
            ("don\u{2019}t", vec!["don't"]),
            ("don\u{2018}t", vec!["don't"]),
            (
                "the dogs' dog's 'quoted' 'tis",
                vec!["the", "dogs", "dog's", "quoted", "tis"],
            ),
            ("rock'n'roll o''clock", vec!["rock'n'roll", "o", "clock"]),
            (
                "example.com snake_case __init__",
                vec!["example", "com", "snake", "case", "init"],
            ),
            (
                "x11 386sx a-b a:b a;b",
                vec!["x11", "386sx", "a", "b", "a", "b", "a", "b"],
            ),
            ("a'1 1'a 1'000", vec!["a", "1", "1", "a", "1'000"]),
            ("3.14 1,000 1;2", vec!["3", "14", "1", "000", "1", "2"]),
            ("HELLO World", vec!["hello", "world"]),
            ("user@host.org (c++)", vec!["user", "host", "org", "c"]),
        ] {
            assert_eq!(words(text), expected, "{text:?}");
        }
    }

    #[test]
    fn numbers_stay_whole_when_they_are_not_split() {
        let words = words_as::<false>("3.14 1,000.5 a.1 1.a 1. .5 v1.2 1;2 1:2 ٣٫١٤", LOWERED);
        let expected = [
            "3.14", "1,000.5", "a", "1", "1", "a", "1", "5", "v1.2", "1", "2", "1", "2", "٣٫١٤",
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn other_scripts_are_split_by_hand_worked_cases() {
        for (text, expected) in [
            ("हिन्दी भाषा", vec!["हिन्दी", "भाषा"]),
            ("中文字", vec!["中", "文", "字"]),
            ("カタカナとかな", vec!["カタカナ", "と", "か", "な"]),
            ("한국어 문장", vec!["한국어", "문장"]),
            ("ไทย", vec!["ไ", "ท", "ย"]),
            ("السلام عليكم،", vec!["السلام", "عليكم"]),
            ("L'été n’est", vec!["l'été", "n'est"]),
            ("Straße GROẞ", vec!["straße", "groß"]),
            (
                "İstanbul ISPARTA ılık",
                vec!["i\u{307}stanbul", "isparta", "ılık"],
            ),
            ("ok 👍🏽 👩‍👩‍👧 🇫🇷 ☕", vec!["ok"]),
            ("a\u{200D}☕b", vec!["a", "b"]),
            ("e\u{301}te\u{301} ÉTÉ", vec!["été", "été"]),
            ("٣٫١٤ १२३", vec!["٣", "١٤", "१२३"]),
            ("צה\"ל ג'ירפה", vec!["צה\"ל", "ג'ירפה"]),
            ("col·lecció", vec!["col·lecció"]),
            (
                "co\u{AD}operate \u{FEFF}bom\u{FEFF} 1\u{FE0F}\u{20E3}",
                vec!["cooperate", "bom", "1"],
            ),
            ("10\u{202F}000\u{A0}€", vec!["10", "000"]),
            ("“quoted”—dash", vec!["quoted", "dash"]),
            ("ΟΔΟΣ", vec!["οδος"]),
        ] {
            assert_eq!(words(text), expected, "{text:?}");
        }
    }

    #[test]
    fn very_long_words_are_dropped() {
        let longest = "x".repeat(MAX_WORD_BYTES);
        assert_eq!(words(&longest), [longest.as_str()]);
        assert_eq!(words(&format!("a {longest}x b")), ["a", "b"]);
        let accented = "é".repeat(MAX_WORD_BYTES / 2);
        assert_eq!(words(&accented), [accented.as_str()]);
        assert_eq!(words(&format!("a {accented}x b")), ["a", "b"]);
        check_against_plain(&format!("{longest}x {accented}x.y"));
    }

    #[test]
    fn every_character_in_tight_places_is_split_as_the_plain_rule_says() {
        let mut text = String::new();
        for character in '\0'..=char::MAX {
            // Ideographs, Hangul and the upper planes are large classes: a sample is enough.
            let code = u32::from(character);
            let is_large_class = matches!(code, 0x3400..0xA000 | 0xAC00..0xF900 | 0x2_0000..);
            if is_large_class && !code.is_multiple_of(97) {
                continue;
            }
            for (before, after) in [
                ("a.", "b"),
                ("a'", "b"),
                ("1.", "2"),
                (" ", "'b"),
                ("א\"", "a_"),
            ] {
                text.push_str(before);
                text.push(character);
                text.push_str(after);
                text.push(' ');
            }
            if text.len() > 20_000 {
                check_against_plain(&text);
                text.clear();
            }
        }
        check_against_plain(&text);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn ascii_text_is_split_as_the_plain_rule_says(
            text in r#"([a-c]{0,3}[A-C]?[0-2]{0,2}[.,'_: ;"\-]?){0,30}"#,
        ) {
            check_against_plain(&text);
        }

        #[test]
        fn ascii_noise_is_split_as_the_plain_rule_says(text in "[ -~\t\r\n\0\x7f]{0,60}") {
            check_against_plain(&text);
        }

        #[test]
        fn mixed_text_is_split_as_the_plain_rule_says(
            text in r#"([abZ12.,'_: ;"-]{0,3}[éÉß’‘ʼ·中かカﾞ한ไ٣٫हिा्\u{301}\u{AD}\u{200C}\u{200D}\u{202F}\u{FE0F}☕🇫א״٬־]?){0,30}"#,
        ) {
            check_against_plain(&text);
        }

        #[test]
        fn any_text_is_split_as_the_plain_rule_says(text in "\\PC{0,60}") {
            check_against_plain(&text);
        }
    }
}
