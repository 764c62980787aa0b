//! A small checker for the tests: are tags balanced, attributes quoted, entities known?

/// Panics unless the text is one well-formed SVG element without scripts, links to
/// other resources, or numbers that are none.
#[track_caller]
pub(crate) fn check_svg(svg: &str) {
    check_markup(svg, &[]);
    assert!(svg.starts_with("<svg "), "{svg}");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

/// Panics unless all tags but the named void ones are closed in order.
#[track_caller]
pub(crate) fn check_markup(text: &str, void: &[&str]) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text.trim();
    let mut roots = 0;
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start]);
        assert!(
            !open.is_empty() || rest[..start].trim().is_empty(),
            "text outside the root"
        );
        let end = start + tag_length(&rest[start..]);
        let tag = &rest[start + 1..end - 1];
        rest = &rest[end..];
        if tag.starts_with('!') {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name.trim()), "closed in the wrong order");
            continue;
        }
        let name = tag.split([' ', '\n', '/']).next().unwrap_or_default();
        assert!(
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            "<{tag}>"
        );
        assert_ne!(name, "script");
        check_attributes(tag[name.len()..].trim_end_matches('/'));
        if open.is_empty() {
            roots += 1;
        }
        if !tag.ends_with('/') && !void.contains(&name) {
            open.push(name);
        }
    }
    check_text(rest);
    assert!(open.is_empty(), "never closed: {open:?}");
    assert_eq!(roots, 1, "exactly one root");
}

/// The length of a tag that starts here; `>` inside quotes does not end it.
#[track_caller]
fn tag_length(text: &str) -> usize {
    let mut quoted = false;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'>' if !quoted => return index + 1,
            _ => {}
        }
    }
    panic!("a tag without end: {text}")
}

#[track_caller]
fn check_attributes(mut rest: &str) {
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return;
        }
        let (name, after) = rest
            .split_once("=\"")
            .unwrap_or_else(|| panic!("an unquoted attribute: {rest}"));
        assert!(
            name.bytes()
                .all(|byte| byte.is_ascii_alphabetic() || byte == b'-'),
            "{name}"
        );
        assert!(
            !name.starts_with("on") && name != "href" && name != "src",
            "{name}"
        );
        let (value, after) = after
            .split_once('"')
            .unwrap_or_else(|| panic!("an open attribute: {after}"));
        assert!(!value.contains('<'), "{value}");
        check_text(value);
        rest = after;
    }
}

#[track_caller]
fn check_text(text: &str) {
    for part in text.split('&').skip(1) {
        let known = ["lt;", "gt;", "amp;", "quot;", "#39;"]
            .iter()
            .any(|entity| part.starts_with(entity));
        assert!(known, "a bare ampersand before {part:?}");
    }
    let forbidden = |c: char| {
        (c < ' ' && !matches!(c, '\t' | '\n' | '\r')) || matches!(c, '\u{fffe}' | '\u{ffff}')
    };
    assert!(!text.contains(forbidden), "{text:?}");
}

#[test]
fn the_checker_accepts_good_and_refuses_bad_markup() {
    check_markup("<a b=\"c>d\"><e/>x &amp; y</a>", &[]);
    for bad in [
        "<a>",
        "<a></b>",
        "<a b=c/>",
        "<a>&</a>",
        "<a/><b/>",
        "<a><script/></a>",
        "<a onclick=\"x\"/>",
    ] {
        assert!(
            std::panic::catch_unwind(|| check_markup(bad, &[])).is_err(),
            "{bad}"
        );
    }
}
