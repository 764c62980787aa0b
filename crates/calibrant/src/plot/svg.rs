//! Writing SVG: escaping, numbers, elements.

use std::fmt::Write;

/// Text made safe for the content and the quoted attributes of XML and HTML.
/// Characters that XML cannot hold at all become the replacement character.
///
/// ```
/// use calibrant::plot::escape;
/// assert_eq!(escape("<b>\"R&D\"</b>"), "&lt;b&gt;&quot;R&amp;D&quot;&lt;/b&gt;");
/// ```
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(character),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            control if control < ' ' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// At most `length` characters of a text, with an ellipsis where it was cut.
pub(super) fn shorten(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(length.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// A coordinate with at most two decimals; what is not finite becomes zero.
pub(super) fn coordinate(value: f64) -> String {
    let value = if value.is_finite() {
        value.clamp(-1e6, 1e6)
    } else {
        0.0
    };
    let mut text = format!("{value:.2}");
    while text.ends_with('0') {
        text.pop();
    }
    if text.ends_with('.') {
        text.pop();
    }
    if text == "-0" { "0".to_owned() } else { text }
}

/// A number for a note: four decimals where that says something.
pub(super) fn plain(value: f64) -> String {
    if !value.is_finite() {
        "–".to_owned()
    } else if value == value.trunc() && value.abs() < 1e15 {
        format!("{value}")
    } else if (1e-3..1e9).contains(&value.abs()) {
        format!("{value:.4}")
    } else {
        format!("{value:.3e}")
    }
}

/// About how wide a text of this size is: letters are half as wide as high, those of East Asian
/// scripts as wide as high.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let ems: f64 = text
        .chars()
        .map(|c| {
            if c >= '\u{1100}' && !('\u{2000}'..'\u{2e80}').contains(&c) {
                1.0
            } else {
                0.55
            }
        })
        .sum();
    ems * size
}

/// As much of a text as fits into a width.
pub(super) fn shorten_to(text: &str, width: f64, size: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = text_width("…", size);
    for character in text.chars() {
        used += text_width(character.encode_utf8(&mut [0; 4]), size);
        if used > width {
            break;
        }
        short.push(character);
    }
    short.push('…');
    short
}

/// As [`shorten_to`], cut in the middle: names of classes often differ at their ends.
pub(super) fn shorten_middle(text: &str, width: f64, size: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let mut kept = letters.len();
    loop {
        kept = kept.saturating_sub(1);
        let front = kept.div_ceil(2);
        let back = letters.len() - (kept - front);
        let mut short: String = letters[..front].iter().collect();
        short.push('…');
        short.extend(&letters[back..]);
        if kept == 0 || text_width(&short, size) <= width {
            return short;
        }
    }
}

/// Where a text is anchored.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// A drawing in the making.
pub(super) struct Svg {
    body: String,
}

impl Svg {
    pub(super) fn new() -> Self {
        Self {
            body: String::new(),
        }
    }

    /// Closes the drawing: one `<svg>` with a title and a description for those who
    /// cannot see it, its colours, and a background.
    pub(super) fn finish(self, width: f64, height: f64, title: &str, description: &str) -> String {
        let (width, height) = (coordinate(width), coordinate(height));
        let (title, description) = (escape(title), escape(description));
        let style = super::theme::FIGURE_STYLE;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"calibrant-plot\" viewBox=\"0 0 {width} {height}\" \
             role=\"img\" aria-label=\"{title}\"><title>{title}</title><desc>{description}</desc>\
             <style>{style}</style><rect class=\"surface\" width=\"{width}\" height=\"{height}\"/>{}</svg>\n",
            self.body
        )
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.path(class, &format!("M{}L{}", pair(from), pair(to)));
    }

    /// A path with data made of numbers only.
    pub(super) fn path(&mut self, class: &str, data: &str) {
        self.push(format_args!("<path class=\"{class}\" d=\"{data}\"/>"));
    }

    /// As [`Self::path`], partly see-through.
    pub(super) fn faded_path(&mut self, class: &str, data: &str, opacity: f64) {
        let opacity = coordinate(opacity);
        self.push(format_args!(
            "<path class=\"{class}\" fill-opacity=\"{opacity}\" d=\"{data}\"/>"
        ));
    }

    pub(super) fn rectangle(&mut self, class: &str, corner: (f64, f64), size: (f64, f64)) {
        let (x, y) = (coordinate(corner.0), coordinate(corner.1));
        let (width, height) = (coordinate(size.0.max(0.0)), coordinate(size.1.max(0.0)));
        self.push(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        ));
    }

    /// A rectangle, partly see-through, with a note that is shown when it is pointed at.
    pub(super) fn faded_rectangle(
        &mut self,
        class: &str,
        corner: (f64, f64),
        size: (f64, f64),
        opacity: f64,
        note: &str,
    ) {
        let (x, y) = (coordinate(corner.0), coordinate(corner.1));
        let (width, height) = (coordinate(size.0.max(0.0)), coordinate(size.1.max(0.0)));
        let (opacity, note) = (coordinate(opacity), escape(note));
        self.push(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
             fill-opacity=\"{opacity}\"><title>{note}</title></rect>"
        ));
    }

    /// Text whose letters have the given size.
    pub(super) fn sized_text(
        &mut self,
        class: &str,
        at: (f64, f64),
        anchor: Anchor,
        text: &str,
        size: f64,
    ) {
        let anchor = anchor.name();
        let (x, y, size) = (coordinate(at.0), coordinate(at.1), coordinate(size));
        let text = escape(text);
        self.push(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" style=\"font-size:{size}px\">{text}</text>"
        ));
    }

    pub(super) fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, text: &str) {
        self.text_turned(class, at, anchor, text, false);
    }

    /// Text that may read upwards.
    pub(super) fn text_turned(
        &mut self,
        class: &str,
        at: (f64, f64),
        anchor: Anchor,
        text: &str,
        turned: bool,
    ) {
        let anchor = anchor.name();
        let (x, y) = (coordinate(at.0), coordinate(at.1));
        let turn = if turned {
            format!(" transform=\"rotate(-90 {x} {y})\"")
        } else {
            String::new()
        };
        let text = escape(text);
        self.push(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\"{turn}>{text}</text>"
        ));
    }

    /// A marker of the series' own shape, so that colour is not needed to tell series
    /// apart, with a note that is shown when it is pointed at.
    pub(super) fn marker(&mut self, series: usize, at: (f64, f64), size: f64, note: &str) {
        let class = format!("s{} mark", series_number(series));
        self.noted_path(&class, &shape(series, at, size), note);
    }

    /// As [`Self::marker`], not filled.
    pub(super) fn hollow_marker(&mut self, series: usize, at: (f64, f64), size: f64, note: &str) {
        let class = format!("s{} hollow", series_number(series));
        self.noted_path(&class, &shape(series, at, size), note);
    }

    /// A round marker in the colour of text.
    pub(super) fn dot(&mut self, at: (f64, f64), size: f64, note: &str) {
        self.noted_path("dot", &shape(0, at, size), note);
    }

    /// A path with a note that is shown when it is pointed at.
    pub(super) fn noted_path(&mut self, class: &str, data: &str, note: &str) {
        if note.is_empty() {
            self.path(class, data);
        } else {
            let note = escape(note);
            self.push(format_args!(
                "<path class=\"{class}\" d=\"{data}\"><title>{note}</title></path>"
            ));
        }
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(element);
    }
}

/// Which of the colours a series has; they come round again after six.
pub(super) fn series_number(series: usize) -> usize {
    series % 6 + 1
}

/// `x y` for path data.
pub(super) fn pair(at: (f64, f64)) -> String {
    format!("{} {}", coordinate(at.0), coordinate(at.1))
}

/// Path data of the shape of a series: circle, square, diamond or triangle.
fn shape(series: usize, (x, y): (f64, f64), size: f64) -> String {
    let (wide, tall) = (1.2 * size, 1.3 * size);
    match series % 4 {
        0 => format!(
            "M{}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0z",
            pair((x - size, y)),
            r = coordinate(size),
            d = coordinate(2.0 * size)
        ),
        1 => polygon(&[
            (x - size, y - size),
            (x + size, y - size),
            (x + size, y + size),
            (x - size, y + size),
        ]),
        2 => polygon(&[(x, y - tall), (x + tall, y), (x, y + tall), (x - tall, y)]),
        _ => polygon(&[(x, y - wide), (x + wide, y + size), (x - wide, y + size)]),
    }
}

fn polygon(corners: &[(f64, f64)]) -> String {
    let corners: Vec<String> = corners.iter().map(|&corner| pair(corner)).collect();
    format!("M{}z", corners.join("L"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn coordinates_are_short_and_always_numbers() {
        for (value, expected) in [
            (1.0, "1"),
            (0.125, "0.12"),
            (-0.001, "0"),
            (100.0, "100"),
            (f64::NAN, "0"),
            (f64::INFINITY, "0"),
            (1e300, "1000000"),
        ] {
            assert_eq!(coordinate(value), expected);
        }
    }

    #[test]
    fn texts_are_cut_to_a_width() {
        assert_eq!(shorten_to("wheat", 40.0, 12.0), "wheat"); // 5 letters of 6.6
        assert_eq!(shorten_to("wheat", 30.0, 12.0), "whe…");
        assert_eq!(
            shorten_middle("talk.politics.misc", 66.5, 12.0),
            "talk.…misc"
        );
        assert_eq!(shorten_to("小麦粉", 30.0, 12.0), "小…"); // letters as wide as high
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(shorten("größe", 5), "größe");
        assert_eq!(shorten("größere", 4), "grö…");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn escaped_text_holds_no_markup(text in any::<String>()) {
            let escaped = escape(&text);
            prop_assert!(!escaped.contains(['<', '>', '"', '\'']));
            prop_assert!(!escaped.chars().any(|c| c < ' ' && !c.is_ascii_whitespace()));
        }
    }
}
