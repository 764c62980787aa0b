//! The line of a LETOR file that names its columns.

use std::collections::HashMap;

use super::LARGEST_FEATURE;
use crate::corpus::{Line, ReadError};

/// How the line begins: `# features: 1=bm25.stems 2=length`.
const START: &str = "features:";
/// How it began before: `# functions: bm25.stems length`.
const OLD_START: &str = "functions:";

/// The names of columns, as far as files give any.
#[derive(Debug, Default)]
pub(super) struct LetorHeader {
    names: Vec<Option<String>>,
    /// Where the last of them stands: file and line.
    place: (String, u64),
    /// Names in order, which count only if every column turns out to have one: other programs may begin a remark alike.
    in_order: Option<Vec<String>>,
}

impl LetorHeader {
    /// Takes the names of a comment, if it is a header; the number of columns that it speaks of. Files that are read one after the
    /// other, or were joined to one, may each have a header, and all must agree.
    pub(super) fn comment(&mut self, line: &Line<'_>) -> Result<usize, ReadError> {
        let text = line.text.trim_ascii_start().trim_start_matches('#');
        let text = text.trim_ascii_start();
        if let Some(words) = text.strip_prefix(OLD_START) {
            let names: Vec<String> = words.split_ascii_whitespace().map(str::to_owned).collect();
            if self.in_order.as_ref().is_some_and(|known| *known != names) {
                return Err(line.problem("the columns are named differently before"));
            }
            self.place = (line.file.to_owned(), line.number);
            self.in_order = (!names.is_empty()).then_some(names);
            return Ok(0);
        }
        let numbered = text.strip_prefix(START).and_then(|words| {
            let words = words.split_ascii_whitespace();
            words.map(named_column).collect::<Option<Vec<_>>>()
        });
        let mut width = 0;
        for (number, name) in numbered.unwrap_or_default() {
            width = width.max(number);
            if self.names.len() < number {
                self.names.resize(number, None);
            }
            match &self.names[number - 1] {
                Some(known) if *known != name => {
                    return Err(line.problem(format!(
                        "column {number} is named `{name}` here and `{known}` before"
                    )));
                }
                _ => self.names[number - 1] = Some(name),
            }
            self.place = (line.file.to_owned(), line.number);
        }
        Ok(width)
    }

    /// The names of `width` columns: a column without one is called by its number, from 1.
    pub(super) fn finish(self, width: usize) -> Result<Vec<String>, ReadError> {
        let in_order = self.in_order.filter(|names| names.len() == width);
        let names = match (self.names.is_empty(), in_order) {
            (true, Some(names)) => names.into_iter().map(Some).collect(),
            _ => self.names,
        };
        let mut names = names.into_iter();
        let all: Vec<String> = (1..=width)
            .map(|number| names.next().flatten().unwrap_or_else(|| number.to_string()))
            .collect();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (place, name) in all.iter().enumerate() {
            if let Some(first) = places.insert(name, place) {
                let line = Line {
                    file: &self.place.0,
                    number: self.place.1,
                    text: "",
                };
                return Err(line.problem(format!(
                    "columns {} and {} are both named `{name}`",
                    first + 1,
                    place + 1
                )));
            }
        }
        Ok(all)
    }
}

/// `7=name`; `None` for anything else.
fn named_column(word: &str) -> Option<(usize, String)> {
    let (number, name) = word.split_once('=')?;
    let number: usize = number.parse().ok()?;
    let fits = (1..=LARGEST_FEATURE).contains(&number) && !name.is_empty();
    fits.then(|| Some((number, decoded(name)?)))?
}

/// The header of these columns; none where they are called by their numbers anyway.
pub(super) fn header_of(names: &[String]) -> Option<String> {
    let numbered = (1..).zip(names);
    let own: Vec<String> = numbered
        .filter(|(number, name)| *number.to_string() != **name)
        .map(|(number, name)| format!("{number}={}", encoded(name)))
        .collect();
    (!own.is_empty()).then(|| format!("# {START} {}", own.join(" ")))
}

/// A name as one word: white space, control characters and `%` by the numbers of their bytes, as in addresses.
fn encoded(name: &str) -> String {
    let mut word = String::with_capacity(name.len());
    for char in name.chars() {
        if !(char.is_whitespace() || char.is_control() || char == '%') {
            word.push(char);
            continue;
        }
        for byte in char.encode_utf8(&mut [0; 4]).bytes() {
            word.push_str(&format!("%{byte:02X}"));
        }
    }
    word
}

fn decoded(word: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(lines: &[&str], width: usize) -> Result<Vec<String>, String> {
        let mut header = LetorHeader::default();
        for (number, text) in (1..).zip(lines) {
            let file = "f";
            let line = Line { file, number, text };
            header.comment(&line).map_err(|error| error.to_string())?;
        }
        header.finish(width).map_err(|error| error.to_string())
    }

    #[test]
    fn names_come_back_whatever_they_are() {
        let given = ["bm25.stems:k1=0.9,b=0.4", "2", "50 % of\tß", "%"].map(str::to_owned);
        let line = header_of(&given).unwrap();
        assert!(line.starts_with("# features: 1=bm25.stems:k1=0.9,b=0.4 3=50%20%25%20of%09ß"));
        assert_eq!(names(&[&line], 4).unwrap(), given);
        assert_eq!(header_of(&["1".to_owned(), "2".to_owned()]), None);
    }

    #[test]
    fn headers_agree_and_remarks_are_no_headers() {
        assert_eq!(names(&["# features: 2=b"], 3).unwrap(), ["1", "b", "3"]);
        assert_eq!(
            names(&["# features: 46", "# features: 0=x", "#"], 1).unwrap(),
            ["1"]
        );
        assert_eq!(names(&["# functions: a b"], 2).unwrap(), ["a", "b"]);
        assert_eq!(
            names(&["# functions: see below"], 3).unwrap(),
            ["1", "2", "3"]
        );
        let twice = names(&["# features: 1=a", "# features: 1=a 2=b"], 2);
        assert_eq!(twice.unwrap(), ["a", "b"]);
        let error = names(&["# features: 1=a", "# features: 1=b"], 1).unwrap_err();
        assert!(
            error.contains("line 2") && error.contains("`b` here and `a` before"),
            "{error}"
        );
        let error = names(&["# features: 1=2"], 2).unwrap_err();
        assert!(
            error.contains("columns 1 and 2 are both named `2`"),
            "{error}"
        );
        assert!(names(&["# functions: a b", "# functions: b a"], 2).is_err());
    }
}
