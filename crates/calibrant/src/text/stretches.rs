//! Stretches of text around characters outside ASCII, by Unicode's rules and those of [`WordRules`].

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::spelling::{is_apostrophe, is_mark};
use super::word_rules::WordRules;
use super::{emoji, unspaced};

/// What stands in a stretch.
pub(super) enum Found<'t> {
    /// A word of Unicode's rules, or of a dictionary, not yet cut at separators or trimmed.
    Segment(&'t str),
    /// A name with its sign, as it is written.
    Name(&'t str),
    /// An emoji, as it is written.
    Emoji(&'t str),
}

/// Visits what stands in a stretch, in order, and says where the text behind it begins: a sign may belong to its last word.
pub(super) fn for_each_found<'t>(
    text: &'t str,
    stretch: Range<usize>,
    rules: WordRules,
    mut visit: impl FnMut(Found<'t>),
) -> usize {
    let Range { mut start, end } = stretch;
    let sign = if rules.signs {
        sign_behind(text, start, end)
    } else {
        None
    };
    let plain_end = sign.map_or(end, |(name, _)| name);
    if rules.emoji && text[..start].ends_with(['#', '*']) {
        // The box of a keycap: its sign is no part of the stretch.
        let before = text[..start - 1].chars().next_back();
        start -= usize::from(emoji::length(&text[start - 1..plain_end], before).is_some());
    }
    let segments = |part: &'t str, visit: &mut dyn FnMut(Found<'t>)| {
        part.unicode_words()
            .for_each(|word| visit(Found::Segment(word)));
    };
    let (mut from, mut at) = (start, start);
    let mut before = text[..start].chars().next_back();
    while at < plain_end {
        let rest = &text[at..plain_end];
        if rules.emoji
            && let Some(length) = emoji::length(rest, before)
        {
            segments(&text[from..at], &mut visit);
            visit(Found::Emoji(&rest[..length]));
            (from, at) = (at + length, at + length);
            before = None;
            continue;
        }
        let run = if rules.segmentation.looks_up() {
            unspaced::run_length(rest)
        } else {
            0
        };
        if run > 0 {
            segments(&text[from..at], &mut visit);
            unspaced::for_each_dictionary_word(&rest[..run], |word| visit(Found::Segment(word)));
            (from, at) = (at + run, at + run);
            before = rest[..run].chars().next_back();
            continue;
        }
        before = rest.chars().next();
        at += before.map_or(1, char::len_utf8);
    }
    segments(&text[from..plain_end], &mut visit);
    match sign {
        Some((name, behind)) => {
            visit(Found::Name(&text[name..behind]));
            behind
        }
        None => end,
    }
}

/// Where a name of one or two letters at the end of a stretch begins and its sign ends, if it has one.
fn sign_behind(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let letters = bytes[start..end]
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphabetic());
    let name = end - letters.count();
    let touches = |c: char| {
        (c.is_alphanumeric() || is_mark(c) || is_apostrophe(c)) && !unspaced::is_unspaced(c)
    };
    let before = || text[start..name].chars().rev();
    // A mark is a part of the letter or digit that it stands on, whatever script it comes from.
    let letter = before().find(|&c| !is_mark(c)).or(before().next());
    if letter.is_some_and(touches) {
        return None;
    }
    let behind = sign_end(text, name, end)?;
    Some((name, behind))
}

/// Where the sign behind the name that stands from `start` to `end` ends, if it has one and may keep it.
pub(super) fn sign_end(text: &str, start: usize, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_name =
        (1..=2).contains(&(end - start)) && bytes[start..end].iter().all(u8::is_ascii_alphabetic);
    if !is_name {
        return None;
    }
    let behind = match bytes.get(end..)? {
        [b'+', b'+', ..] => end + 2,
        [b'#', ..] => end + 1,
        _ => return None,
    };
    let is_free = text[behind..].chars().next().is_none_or(|next| match next {
        '+' | '#' | '\u{FE0F}' | '\u{20E3}' => false,
        digit if digit.is_numeric() => bytes[end] == b'+',
        letter => !letter.is_alphanumeric() || unspaced::is_unspaced(letter),
    });
    is_free.then_some(behind)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::{Analyzer, Segmentation};

    fn terms(rules: WordRules, text: &str) -> Vec<String> {
        let analyzer = Analyzer {
            words: rules,
            ..Analyzer::default()
        };
        analyzer.compile().unwrap().terms(text)
    }

    const SINGLE: WordRules = WordRules {
        segmentation: Segmentation::Characters,
        emoji: true,
        signs: true,
    };

    #[test]
    fn names_keep_their_signs_by_hand() {
        for (text, expected) in [
            ("C++ and C#, F#; g++", vec!["c++", "and", "c#", "f#", "g++"]),
            ("(C++)", vec!["c++"]),
            ("C++11 C#8 A#4", vec!["c++", "11", "c", "8", "a", "4"]),
            (
                "a++b C#major i+++j c## C+ abc++",
                vec!["a", "b", "c", "major", "i", "j", "c", "c", "abc"],
            ),
            ("C++", vec!["c++"]),
            ("x11++ 1++ don't++", vec!["x11", "1", "don't"]),
            ("用C++写 C#程序", vec!["用", "c++", "写", "c#", "程", "序"]),
            ("éc++ c++é", vec!["éc", "c", "é"]),
            ("#c #1", vec!["c", "1"]),
        ] {
            assert_eq!(terms(SINGLE, text), expected, "{text:?}");
        }
    }

    #[test]
    fn emoji_are_terms_by_hand() {
        for (text, expected) in [
            ("ok👍🏽ok", vec!["ok", "👍🏽", "ok"]),
            ("I ❤️ you ❤", vec!["i", "❤", "you", "❤"]),
            ("😀😀 🇫🇷🇩🇪", vec!["😀", "😀", "🇫🇷", "🇩🇪"]),
            (
                "press #️⃣ or 1️⃣, 12",
                vec!["press", "#\u{20E3}", "or", "1\u{20E3}", "12"],
            ),
            ("c#️⃣", vec!["c"]),
            ("中😀文", vec!["中", "😀", "文"]),
            ("a\u{200D}☕b © ™", vec!["a", "☕", "b"]),
        ] {
            assert_eq!(terms(SINGLE, text), expected, "{text:?}");
        }
    }

    #[test]
    fn analyzers_of_saved_models_keep_their_words() {
        let old = Analyzer::of_saved_value(serde_json::json!({})).unwrap();
        let text = "C++ 😀 1️⃣ 中文字 カタカナ ไทย";
        let expected = ["c", "1", "中", "文", "字", "カタカナ", "ไ", "ท", "ย"];
        assert_eq!(old.compile().unwrap().terms(text), expected);
        let saved = serde_json::to_string(&Analyzer::default()).unwrap();
        assert_eq!(
            serde_json::from_str::<Analyzer>(&saved).unwrap(),
            Analyzer::default()
        );
        assert!(
            serde_json::from_str::<Analyzer>(r#"{"words":{"segmentation":"letters"}}"#).is_err()
        );
    }

    #[test]
    fn pairs_stand_beside_words_and_not_beside_their_like() {
        let rules = |segmentation| WordRules {
            segmentation,
            ..WordRules::default()
        };
        let words = terms(rules(Segmentation::Dictionary), "我们喜欢C++");
        assert_eq!(words, ["我们", "喜欢", "c++"]);
        let both = terms(rules(Segmentation::DictionaryPairs), "我们喜欢C++");
        assert_eq!(both, ["我们", "们喜", "喜欢", "我们", "喜欢", "c++"]);
        let pairs = terms(rules(Segmentation::Pairs), "我们喜");
        assert_eq!(pairs, ["我们", "们喜", "我", "们", "喜"]);
        let analyzer = Analyzer {
            words: rules(Segmentation::Pairs),
            word_ngrams: crate::text::NgramRange { min: 1, max: 2 },
            ..Analyzer::default()
        };
        let found = analyzer.compile().unwrap().terms("我们喜");
        assert_eq!(found, ["我", "们", "我 们", "喜", "们 喜"]);
    }

    fn any_rules() -> impl Strategy<Value = WordRules> {
        let segmentation = proptest::sample::select(Segmentation::ALL.to_vec());
        (segmentation, any::<bool>(), any::<bool>()).prop_map(|(segmentation, emoji, signs)| {
            WordRules {
                segmentation,
                emoji,
                signs,
            }
        })
    }

    const MIXED: &str = "([a-cC12'.+#*_ ]{0,3}[é中文字かカーไทม่☕😀🏽❤🇫🇷\u{301}\u{200D}\u{FE0F}\u{20E3}©]{0,3}){0,12}";

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn what_is_found_stands_in_order_inside_the_text(text in MIXED, rules in any_rules()) {
            let mut last = 0;
            let behind = for_each_found(&text, 0..text.len(), rules, |found| {
                let (Found::Segment(part) | Found::Name(part) | Found::Emoji(part)) = found;
                let start = part.as_ptr() as usize - text.as_ptr() as usize;
                assert!(start >= last && start + part.len() <= text.len(), "{part:?} of {text:?}");
                assert!(!part.is_empty());
                last = start + part.len();
            });
            prop_assert_eq!(behind, text.len());
        }

        #[test]
        fn words_between_spaces_are_found_alone(text in MIXED, rules in any_rules()) {
            let mut alone: Vec<String> = text.split(' ').flat_map(|part| terms(rules, part)).collect();
            let mut together = terms(rules, &text);
            // Pairs come before the words of a text.
            alone.sort_unstable();
            together.sort_unstable();
            prop_assert_eq!(together, alone);
        }

        #[test]
        fn beside_emoji_and_signs_words_are_as_before(text in "\\PC{0,40}|([a-cC12'.+#*_ ]{0,3}[é中かカーไม่☕😀❤🇫\u{301}\u{200D}\u{FE0F}©]?){0,20}") {
            let before = terms(WordRules::before(), &text);
            let now: Vec<String> = terms(SINGLE, &text)
                .into_iter()
                .filter(|term| emoji::length(term, None) != Some(term.len()))
                .map(|term| term.trim_end_matches(['+', '#']).to_owned())
                .collect();
            prop_assert_eq!(now, before);
        }

        #[test]
        fn signs_are_kept_alike_within_ascii_and_behind_other_scripts(text in "[a-cC]{1,3}[+#]{0,3}[a1 .]?[a-c+#]{0,3}") {
            let mut expected = vec!["中".to_owned()];
            expected.extend(terms(SINGLE, &text));
            prop_assert_eq!(terms(SINGLE, &format!("中{text}")), expected);
        }
    }
}
