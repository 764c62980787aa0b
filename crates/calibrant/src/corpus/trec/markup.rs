//! Takes the tags off a document: SGML as in TREC collections, or HTML.

/// The text of a document without tags, comments and what is not meant to be read, and the title in it.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct PlainText {
    pub(super) text: String,
    pub(super) title: Option<String>,
    /// What stands between `<DOCNO>` and `</DOCNO>`.
    pub(super) number: Option<String>,
}

/// Elements whose content is not text of the document.
const HIDDEN: [&str; 6] = ["docno", "dochdr", "docid", "docoldno", "script", "style"];

/// Elements that hold a title.
const TITLES: [&str; 4] = ["title", "headline", "ti", "hl"];

/// A longer tag is not a tag: so a stray `<` does not swallow the text behind it.
const LONGEST_TAG: usize = 4096;

/// Removes the markup. Any text has a result, in time that grows with its length alone.
pub(super) fn plain_text(source: &str) -> PlainText {
    let mut plain = PlainText::default();
    let mut rest = source;
    // Where the title began in the text, while it lasts.
    let mut title_start: Option<usize> = None;
    // Elements whose end was looked for once and not found, so that it is not looked for again.
    let mut endless: Vec<&'static str> = Vec::new();
    while let Some(at) = rest.find(['<', '&']) {
        plain.text.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('&') {
            let (decoded, after) = entity(rest);
            plain.text.push(decoded);
            rest = after;
            continue;
        }
        if rest.starts_with("<!--") && !endless.contains(&"--") {
            match rest.find("-->") {
                Some(end) => {
                    rest = &rest[end + 3..];
                    plain.text.push(' ');
                    continue;
                }
                None => endless.push("--"),
            }
        }
        let Some((tag, after)) = tag(rest) else {
            plain.text.push('<');
            rest = &rest[1..];
            continue;
        };
        rest = after;
        plain.text.push(' ');
        let hidden = HIDDEN
            .into_iter()
            .find(|name| tag.eq_ignore_ascii_case(name));
        if let Some(name) = hidden.filter(|name| !endless.contains(name)) {
            match find_end(rest, name) {
                Some((content, after)) => {
                    if name == "docno" && plain.number.is_none() {
                        plain.number = Some(content.trim().to_owned());
                    }
                    rest = after;
                }
                None => endless.push(name),
            }
            continue;
        }
        if TITLES.iter().any(|name| tag.eq_ignore_ascii_case(name)) && plain.title.is_none() {
            title_start = title_start.or(Some(plain.text.len()));
        } else if let (Some(start), Some(name)) = (title_start, tag.strip_prefix('/'))
            && TITLES.iter().any(|title| name.eq_ignore_ascii_case(title))
        {
            let title = &plain.text[start..];
            let title: Vec<&str> = title.split_whitespace().collect();
            plain.title = Some(title.join(" ")).filter(|title| !title.is_empty());
            title_start = None;
        }
    }
    plain.text.push_str(rest);
    plain
}

/// The name of the tag at the start of the text (with `/` if it closes an element), and the text behind the tag.
fn tag(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('<')?;
    let first = *inner.as_bytes().first()?;
    if !(first.is_ascii_alphabetic() || matches!(first, b'/' | b'!' | b'?')) {
        return None;
    }
    let bytes = inner.as_bytes();
    let end = bytes[..bytes.len().min(LONGEST_TAG)]
        .iter()
        .position(|&byte| matches!(byte, b'>' | b'<'))?;
    if bytes[end] == b'<' {
        return None;
    }
    let name = inner[1..end]
        .find(|c: char| !c.is_ascii_alphanumeric())
        .map_or(end, |at| at + 1);
    Some((&inner[..name], &inner[end + 1..]))
}

/// The content up to the tag that closes the element, and the text behind that tag.
fn find_end<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let mut from = 0;
    loop {
        let open = from + text[from..].find("</")?;
        let behind = &text[open + 2..];
        let matches = behind
            .get(..name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name));
        if matches {
            let tail = &behind[name.len()..];
            let close = tail.trim_start();
            if let Some(after) = close.strip_prefix('>') {
                return Some((&text[..open], after));
            }
        }
        from = open + 2;
    }
}

/// The character that an entity at the start of the text stands for, and the text behind it. `&` alone is itself.
fn entity(text: &str) -> (char, &str) {
    let plain = ('&', &text[1..]);
    // `&#x10FFFF;` is the longest that is understood.
    let head = &text.as_bytes()[1..text.len().min(12)];
    let Some(end) = head.iter().position(|&byte| byte == b';') else {
        return plain;
    };
    // The bytes before the semicolon may be any; only ASCII is looked up.
    let Some(name) = text.get(1..1 + end) else {
        return plain;
    };
    let after = &text[end + 2..];
    let decoded = match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        _ => name.strip_prefix('#').and_then(|number| {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }),
    };
    decoded.map_or(plain, |character| (character, after))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(source: &str) -> String {
        let plain = plain_text(source).text;
        plain.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn tags_comments_and_scripts_are_taken_off() {
        for (source, expected) in [
            ("<TEXT>\nOne <b>two</b>three\n</TEXT>", "One two three"),
            ("a <!-- hidden <b> --> b <!-- open", "a b <!-- open"),
            ("x<script src='a'>var y = '<b>';</SCRIPT >z", "x z"),
            ("<DOCHDR>http://x</DOCHDR>text", "text"),
            ("1 < 2 and 3 > 2, a<b", "1 < 2 and 3 > 2, a<b"),
            (
                "R&amp;D &lt;b&gt; &#233;&#xe9; &unknown; AT&T &",
                "R&D <b> éé &unknown; AT&T &",
            ),
            ("<style>no end", "no end"),
            ("<!DOCTYPE html><?xml version='1'?>t", "t"),
            ("é&é;", "é&é;"),
        ] {
            assert_eq!(words(source), expected, "{source}");
        }
    }

    #[test]
    fn the_first_title_and_the_number_are_kept() {
        let plain = plain_text("<DOCNO> A-1 </DOCNO><TITLE>Of\n <i>cats</i></TITLE><hl>other</hl>");
        assert_eq!(plain.title.as_deref(), Some("Of cats"));
        assert_eq!(plain.number.as_deref(), Some("A-1"));
        assert!(plain.text.contains("Of") && plain.text.contains("other"));
        assert_eq!(plain_text("<title> </title>x").title, None);
        assert_eq!(plain_text("<title>x").title, None);
    }

    #[test]
    fn hostile_texts_take_no_more_than_a_moment() {
        for piece in ["<", "<!--", "<script>", "</", "&", "<a", "<title>", "&#x1"] {
            let _ = plain_text(&piece.repeat(200_000));
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_result(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "<", ">", "/", "docno", "script", "title", "!--", "--", "&", "#", "x", ";", "é", "日", " ", "amp",
                ]),
                0..60,
            ),
        ) {
            let _ = plain_text(&pieces.concat());
        }

        #[test]
        fn text_without_markup_is_left_alone(text in "[^<&]{0,80}") {
            prop_assert_eq!(plain_text(&text).text, text);
        }
    }
}
