//! What a page shows beside what a program printed.

/// Whether output is as shown. A line `...` stands for any lines, or none; `[..]` for any text within a line.
/// Blanks at the ends of lines and empty lines at the end do not count, nor do the last of ten digits or more: logarithms
/// of another system's library may differ there.
pub(super) fn matches(shown: &[String], printed: &str) -> bool {
    let mut printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
    while printed.last().is_some_and(|line| line.is_empty()) {
        printed.pop();
    }
    let mut shown: Vec<&str> = shown.iter().map(|line| line.trim_end()).collect();
    while shown.last().is_some_and(|line| line.is_empty()) {
        shown.pop();
    }
    lines_match(&shown, &printed)
}

fn lines_match(shown: &[&str], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((&"...", rest)) => (0..=printed.len()).any(|gap| lines_match(rest, &printed[gap..])),
        Some((first, rest)) => printed
            .split_first()
            .is_some_and(|(line, others)| line_matches(first, line) && lines_match(rest, others)),
    }
}

fn line_matches(shown: &str, printed: &str) -> bool {
    let Some((before, after)) = shown.split_once("[..]") else {
        return shown == printed || same_but_for_last_digits(shown, printed);
    };
    let Some(rest) = printed.strip_prefix(before) else {
        return false;
    };
    rest.char_indices()
        .map(|(at, _)| at)
        .chain([rest.len()])
        .any(|at| line_matches(after, &rest[at..]))
}

/// Whether lines are the same but for numbers of ten digits or more that differ by a thousand-millionth at most.
fn same_but_for_last_digits(shown: &str, printed: &str) -> bool {
    let (shown, printed) = (pieces(shown), pieces(printed));
    let alike = |(one, other): (&&str, &&str)| {
        let digits = one.chars().filter(char::is_ascii_digit).count();
        match (one.parse::<f64>(), other.parse::<f64>()) {
            _ if one == other => true,
            (Ok(one), Ok(other)) => {
                digits >= 10 && (one - other).abs() <= 1e-9 * one.abs().max(1.0)
            }
            _ => false,
        }
    };
    shown.len() == printed.len() && shown.iter().zip(&printed).all(alike)
}

/// A line cut where numbers begin and end.
fn pieces(line: &str) -> Vec<&str> {
    let is_number = |letter: char| letter.is_ascii_digit() || "+-.e".contains(letter);
    let mut cuts = vec![0];
    let mut before = None;
    for (at, letter) in line.char_indices() {
        if before.is_some_and(|before| before != is_number(letter)) {
            cuts.push(at);
        }
        before = Some(is_number(letter));
    }
    cuts.push(line.len());
    cuts.windows(2).map(|cut| &line[cut[0]..cut[1]]).collect()
}

#[test]
fn dots_stand_for_what_varies_and_for_nothing_else() {
    let check = |shown: &[&str], printed: &str| {
        let shown: Vec<String> = shown.iter().map(|&line| line.to_owned()).collect();
        matches(&shown, printed)
    };
    assert!(check(&["one", "two"], "one  \ntwo\n\n"));
    assert!(!check(&["one"], "one\ntwo\n"));
    assert!(!check(&["one", "two"], "one\n"));
    assert!(check(&["one", "...", "four"], "one\ntwo\nthree\nfour\n"));
    assert!(check(&["one", "..."], "one\n"));
    assert!(!check(&["...", "three"], "one\ntwo\n"));
    assert!(check(&["took [..] s, [..] MB"], "took 0.2 s, 3 MB\n"));
    assert!(!check(&["took [..] s"], "took 0.2 minutes\n"));
    assert!(check(&["a,0.123456789012"], "a,0.123456789013"));
    assert!(!check(&["a,0.123456789012"], "a,0.123456799012"));
    assert!(!check(&["a,0.1234"], "a,0.1235"));
}
