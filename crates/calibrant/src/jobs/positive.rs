//! Which of two labels is the positive one?

/// Pairs of labels of which everybody knows which is meant, the positive first.
const USUAL_PAIRS: [(&str, &str); 9] = [
    ("1", "0"),
    ("1", "-1"),
    ("true", "false"),
    ("t", "f"),
    ("yes", "no"),
    ("y", "n"),
    ("positive", "negative"),
    ("pos", "neg"),
    ("+", "-"),
];

/// Whether everybody knows that the first of two labels is the positive one.
///
/// ```
/// use calibrant::jobs::is_usual;
/// assert!(is_usual("Yes", "no") && is_usual("1.0", "-1") && !is_usual("0", "1"));
/// assert!(!is_usual("spam", "ham") && !is_usual("ham", "spam"));
/// ```
pub fn is_usual(positive: &str, negative: &str) -> bool {
    let (positive, negative) = (plain(positive), plain(negative));
    USUAL_PAIRS.contains(&(positive.as_str(), negative.as_str()))
}

/// Lower case, and `1.0` or `+1` as `1`.
fn plain(label: &str) -> String {
    match label.parse::<f64>() {
        Ok(number) if number.is_finite() => number.to_string(),
        _ => label.to_lowercase(),
    }
}
