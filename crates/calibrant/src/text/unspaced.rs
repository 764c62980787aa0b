//! Runs of scripts that put no spaces between words.

use std::sync::LazyLock;

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};

use super::spelling::is_mark;

/// Longer runs are looked up in parts of this many bytes, so that no text needs memory in proportion to its length.
const LONGEST_RUN: usize = 4 << 10;

static DICTIONARY: LazyLock<WordSegmenterBorrowed<'static>> =
    LazyLock::new(|| WordSegmenter::new_dictionary(WordBreakInvariantOptions::default()));

/// Calls `visit` with the words of a run, in order.
pub(super) fn for_each_dictionary_word<'t>(run: &'t str, mut visit: impl FnMut(&'t str)) {
    let mut rest = run;
    while !rest.is_empty() {
        let mut end = rest.len().min(LONGEST_RUN);
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let part = &rest[..end];
        let mut start = 0;
        for end in DICTIONARY.segment_str(part).skip(1) {
            visit(&part[start..end]);
            start = end;
        }
        rest = &rest[part.len()..];
    }
}

/// Calls `visit` with every two neighbouring characters, with their marks, of each run in `text`.
pub(super) fn for_each_pair(text: &str, mut visit: impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let Some(next) = first_of_a_script(&bytes[at..]) else {
            return;
        };
        at += next;
        let length = run_length(&text[at..]);
        if length == 0 {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        }
        pairs_of_run(&text[at..at + length], &mut visit);
        at += length;
    }
}

/// Where the first byte is with which characters of these scripts begin; most text has none. Whole blocks are looked at, as their largest byte
/// is found many bytes at a time.
fn first_of_a_script(bytes: &[u8]) -> Option<usize> {
    const LEAST: u8 = 0xE0;
    const BLOCK: usize = 64;
    // In scripts of as many bytes a character it is often the next one: no block is worth its while.
    if *bytes.first()? >= LEAST {
        return Some(0);
    }
    let without = |block: &&[u8]| block.iter().fold(0, |most, &byte| byte.max(most)) < LEAST;
    let skipped = bytes.chunks(BLOCK).take_while(without).count() * BLOCK;
    let rest = bytes.get(skipped..)?;
    Some(skipped + rest.iter().position(|&byte| byte >= LEAST)?)
}

fn pairs_of_run(run: &str, visit: &mut impl FnMut(&str)) {
    // Where the character before the last began, and the last.
    let (mut before, mut last) = (None, 0);
    for (at, character) in run.char_indices().skip(1) {
        if is_mark(character) {
            continue;
        }
        if let Some(before) = before {
            visit(&run[before..at]);
        }
        before = Some(last);
        last = at;
    }
    if let Some(before) = before {
        visit(&run[before..]);
    }
}

/// How many bytes of a run `text` begins with: characters of these scripts, and marks behind the first.
pub(super) fn run_length(text: &str) -> usize {
    let mut characters = text.char_indices();
    match characters.next() {
        Some((_, first)) if is_unspaced(first) && !is_mark(first) => {}
        _ => return 0,
    }
    characters
        .find(|(_, character)| !is_unspaced(*character) && !is_mark(*character))
        .map_or(text.len(), |(end, _)| end)
}

/// Letters and marks of the scripts that are written without spaces between words.
pub(super) fn is_unspaced(character: char) -> bool {
    matches!(
        character,
        '\u{4E00}'..='\u{9FFF}' // ideographs
            | '\u{3041}'..='\u{3096}' | '\u{309D}'..='\u{309F}' // hiragana
            | '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' // katakana
            | '\u{E01}'..='\u{E3A}' | '\u{E40}'..='\u{E4E}' // Thai
            | '\u{3005}' | '\u{3007}' | '\u{3400}'..='\u{4DBF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}'
            | '\u{E81}'..='\u{ECE}' | '\u{EDC}'..='\u{EDF}' // Lao
            | '\u{1780}'..='\u{17D3}' | '\u{17D7}' | '\u{17DC}' | '\u{17DD}' // Khmer
            | '\u{1000}'..='\u{103F}' | '\u{1050}'..='\u{108F}' | '\u{109A}'..='\u{109D}' // Myanmar
            | '\u{A9E0}'..='\u{A9EF}' | '\u{A9FA}'..='\u{A9FE}' | '\u{AA60}'..='\u{AA76}' | '\u{AA7A}'..='\u{AA7F}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_words(run: &str, expected: &[&str]) {
        let mut words = Vec::new();
        for_each_dictionary_word(run, |word| words.push(word));
        assert_eq!(words, expected);
        assert_eq!(run_length(run), run.len(), "{run}");
    }

    #[test]
    fn dictionaries_find_words_by_hand() {
        check_words("我们喜欢音乐", &["我们", "喜欢", "音乐"]);
        check_words("電子郵件", &["電子郵件"]);
        check_words("東京都に住む", &["東京", "都", "に", "住む"]);
        check_words("カタカナ", &["カタカナ"]);
        check_words("ภาษาไทย", &["ภาษา", "ไทย"]);
        check_words("สวัสดีครับ", &["สวัสดี", "ครับ"]);
        check_words("ພາສາລາວ", &["ພາສາ", "ລາວ"]);
        check_words("ភាសាខ្មែរ", &["ភាសាខ្មែរ"]);
        check_words("မြန်မာစာ", &["မြန်မာ", "စာ"]);
    }

    #[test]
    fn pairs_are_neighbours_with_their_marks() {
        let pairs = |text: &str| {
            let mut pairs = Vec::new();
            for_each_pair(text, |pair| pairs.push(pair.to_owned()));
            pairs
        };
        assert_eq!(pairs("我们喜 欢"), ["我们", "们喜"]);
        assert_eq!(pairs("a中b文字é"), ["文字"]);
        assert_eq!(pairs("ไม่ดี"), ["ไม่", "ม่ดี"]);
        assert_eq!(pairs("カナ"), ["カナ"]);
        assert!(pairs("plain Straße 한국어 中 ไ ３").is_empty());
    }

    #[test]
    fn very_long_runs_are_cut() {
        let run = "中文".repeat(20_000);
        let mut bytes = 0;
        for_each_dictionary_word(&run, |word| {
            assert!(word.len() <= LONGEST_RUN);
            bytes += word.len();
        });
        assert_eq!(bytes, run.len());
    }

    #[test]
    fn runs_are_letters_and_marks() {
        for character in '\0'..=char::MAX {
            let assigned = character.is_alphanumeric() || is_mark(character);
            let is_large = matches!(
                character,
                '\u{F900}'..|'\u{E81}'..='\u{ECE}'| '\u{A9E0}'..='\u{AA7F}'
            );
            assert!(
                !is_unspaced(character) || assigned || is_large,
                "{character:?}"
            );
            // Pairs are looked for from this byte on.
            let first = character.to_string().as_bytes()[0];
            assert!(!is_unspaced(character) || first >= 0xE0, "{character:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn blocks_find_what_a_look_at_every_byte_finds(bytes in proptest::collection::vec(0x00u8..0xE4, 0..300)) {
            let byte_by_byte = bytes.iter().position(|&byte| byte >= 0xE0);
            proptest::prop_assert_eq!(first_of_a_script(&bytes), byte_by_byte);
        }
    }
}
