//! Where an emoji begins and ends.
//!
//! # Reference
//! Unicode Technical Standard #51, emoji sequences: presentation, modifier, flag, tag, keycap, zero-width joiner.

use super::spelling::is_apostrophe;

const JOINER: char = '\u{200D}';
const KEYCAP: char = '\u{20E3}';
const PICTURE: char = '\u{FE0F}';

/// How many bytes the emoji at the beginning of `text` has; none if there is none. `before` is the character ahead.
pub(super) fn length(text: &str, before: Option<char>) -> Option<usize> {
    let mut end = element(text, before)?;
    while let Some(next) = text[end..].strip_prefix(JOINER) {
        let Some(length) = element(next, Some(JOINER)) else {
            break;
        };
        end += JOINER.len_utf8() + length;
    }
    Some(end)
}

/// Writes an emoji without the selectors of its presentation; a sign that is no emoji without keeps its own.
pub(super) fn push_folded(emoji: &str, out: &mut String) {
    let mut needs_selector = false;
    for character in emoji.chars() {
        if !is_selector(character) || (needs_selector && character == PICTURE) {
            out.push(character);
        }
        needs_selector = is_sign(character);
    }
}

/// One part between joiners.
fn element(text: &str, before: Option<char>) -> Option<usize> {
    let mut characters = text.chars();
    let first = characters.next()?;
    let mut rest = characters.clone();
    let second = rest.next();
    if is_flag_letter(first) {
        return second
            .filter(|&second| is_flag_letter(second))
            .map(|_| 2 * first.len_utf8());
    }
    if first.is_ascii() {
        return keycap(text, before);
    }
    if is_sign(first) {
        return second
            .filter(|&second| second == PICTURE)
            .map(|_| first.len_utf8() + PICTURE.len_utf8());
    }
    if !is_picture(first) && !is_skin_tone(first) {
        return None;
    }
    let behind = |c: &char| is_selector(*c) || is_skin_tone(*c) || is_tag(*c);
    let tail: usize = characters.take_while(behind).map(char::len_utf8).sum();
    Some(first.len_utf8() + tail)
}

/// A digit, `#` or `*` in a box, which is not the end of a longer word.
fn keycap(text: &str, before: Option<char>) -> Option<usize> {
    let behind = text.strip_prefix(|c: char| c.is_ascii_digit() || matches!(c, '#' | '*'))?;
    let boxed = behind.strip_prefix(PICTURE).unwrap_or(behind);
    let rest = boxed.strip_prefix(KEYCAP)?;
    let stands_alone = !before.is_some_and(|c| c.is_alphanumeric() || is_apostrophe(c));
    stands_alone.then(|| text.len() - rest.len())
}

fn is_selector(character: char) -> bool {
    matches!(character, '\u{FE0E}' | PICTURE)
}

fn is_flag_letter(character: char) -> bool {
    matches!(character, '\u{1F1E6}'..='\u{1F1FF}')
}

fn is_skin_tone(character: char) -> bool {
    matches!(character, '\u{1F3FB}'..='\u{1F3FF}')
}

/// Spells the region of a flag such as Scotland's.
fn is_tag(character: char) -> bool {
    matches!(character, '\u{E0020}'..='\u{E007F}')
}

/// Signs of ordinary typography, pictures only if a selector says so.
fn is_sign(character: char) -> bool {
    matches!(
        character,
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2194}'
            ..='\u{2199}'
                | '\u{21A9}'
                | '\u{21AA}'
                | '\u{2934}'
                | '\u{2935}'
                | '\u{3030}'
                | '\u{303D}'
    )
}

/// Unicode's Extended_Pictographic without the signs above and without what is a letter to Unicode (`ℹ`, `Ⓜ`, `🅰`).
fn is_picture(character: char) -> bool {
    matches!(
        character,
        '\u{231A}' | '\u{231B}' | '\u{2328}' | '\u{2388}' | '\u{23CF}'
            | '\u{23E9}'..='\u{23F3}' | '\u{23F8}'..='\u{23FA}' | '\u{25AA}' | '\u{25AB}' | '\u{25B6}' | '\u{25C0}'
            | '\u{25FB}'..='\u{25FE}' | '\u{2600}'..='\u{2605}' | '\u{2607}'..='\u{2612}' | '\u{2614}'..='\u{2685}'
            | '\u{2690}'..='\u{2705}' | '\u{2708}'..='\u{2712}' | '\u{2714}' | '\u{2716}' | '\u{271D}' | '\u{2721}'
            | '\u{2728}' | '\u{2733}' | '\u{2734}' | '\u{2744}' | '\u{2747}' | '\u{274C}' | '\u{274E}'
            | '\u{2753}'..='\u{2755}' | '\u{2757}' | '\u{2763}'..='\u{2767}' | '\u{2795}'..='\u{2797}' | '\u{27A1}'
            | '\u{27B0}' | '\u{27BF}' | '\u{2B05}'..='\u{2B07}' | '\u{2B1B}' | '\u{2B1C}' | '\u{2B50}' | '\u{2B55}'
            | '\u{3297}' | '\u{3299}' | '\u{1F000}'..='\u{1F0FF}' | '\u{1F10D}'..='\u{1F10F}' | '\u{1F12F}'
            | '\u{1F16C}'..='\u{1F16F}' | '\u{1F18E}' | '\u{1F191}'..='\u{1F19A}' | '\u{1F1AD}'..='\u{1F1E5}'
            | '\u{1F201}'..='\u{1F20F}' | '\u{1F21A}' | '\u{1F22F}' | '\u{1F232}'..='\u{1F23A}'
            | '\u{1F23C}'..='\u{1F23F}' | '\u{1F249}'..='\u{1F3FA}' | '\u{1F400}'..='\u{1F53D}'
            | '\u{1F546}'..='\u{1F64F}' | '\u{1F680}'..='\u{1F6FF}' | '\u{1F774}'..='\u{1F77F}'
            | '\u{1F7D5}'..='\u{1F7FF}' | '\u{1F80C}'..='\u{1F80F}' | '\u{1F848}'..='\u{1F84F}'
            | '\u{1F85A}'..='\u{1F85F}' | '\u{1F888}'..='\u{1F88F}' | '\u{1F8AE}'..='\u{1F8FF}'
            | '\u{1F90C}'..='\u{1F93A}' | '\u{1F93C}'..='\u{1F945}' | '\u{1F947}'..='\u{1FAFF}'
            | '\u{1FC00}'..='\u{1FFFD}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let found = length(text, None).map(|length| {
            let mut folded = String::new();
            push_folded(&text[..length], &mut folded);
            folded
        });
        assert_eq!(found.as_deref(), expected, "{text:?}");
    }

    #[test]
    fn sequences_are_one_emoji_by_hand() {
        for whole in [
            "😀",
            "👍🏽",
            "🇫🇷",
            "👩\u{200D}👩\u{200D}👧",
            "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
            "#\u{20E3}",
            "7\u{20E3}",
            "🪿",
            "★",
        ] {
            check(whole, Some(whole));
            check(&format!("{whole}a"), Some(whole));
        }
        // The selector makes no other term, but for signs that are no picture without it.
        check("❤\u{FE0F}", Some("❤"));
        check("❤\u{FE0E}", Some("❤"));
        check("❤\u{FE0F}\u{200D}🔥", Some("❤\u{200D}🔥"));
        check("*\u{FE0F}\u{20E3}", Some("*\u{20E3}"));
        check("©\u{FE0F}", Some("©\u{FE0F}"));
        // Two flags, a joiner before a letter.
        check("🇫🇷🇩🇪", Some("🇫🇷"));
        check("☕\u{200D}a", Some("☕"));
    }

    #[test]
    fn what_is_no_emoji_by_hand() {
        for text in [
            "",
            "a",
            "1",
            "#",
            "©",
            "™",
            "→",
            "🇫",
            "ℹ",
            "中",
            "\u{FE0F}",
            "1\u{FE0F}",
            "€",
        ] {
            check(text, None);
        }
        assert_eq!(length("2\u{20E3}", Some('1')), None);
        assert_eq!(length("2\u{20E3}", Some(' ')), Some(4));
    }

    #[test]
    fn letters_are_left_to_the_words() {
        for character in '\0'..=char::MAX {
            let is_emoji = is_picture(character) || is_skin_tone(character) || is_sign(character);
            assert!(!is_emoji || !character.is_alphanumeric(), "{character:?}");
        }
    }
}
