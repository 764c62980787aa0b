//! Numbers as people write them: 1.5, and in much of the world 1,5.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{DecimalSign, ReadError};

/// Reads the numbers of a file's columns. Where nobody said which decimal sign it has, either is taken, and a column that
/// has both is found at the end: 1,234 may then be one or a thousand.
#[derive(Debug, Default)]
pub(super) struct Decimals {
    given: Option<DecimalSign>,
    /// Whether a comma may be a decimal sign although nobody said so.
    commas: bool,
    columns: Vec<Seen>,
}

/// The first lines of a column with either sign.
#[derive(Debug)]
struct Seen {
    comma: AtomicU64,
    point: AtomicU64,
    /// A comma that cannot stand between thousands.
    decimal_comma: AtomicU64,
    /// A point that cannot.
    decimal_point: AtomicU64,
}

const NOWHERE: u64 = u64::MAX;

impl Decimals {
    pub(super) fn new(given: Option<DecimalSign>, columns: usize) -> Self {
        let unseen = |_| Seen {
            comma: AtomicU64::new(NOWHERE),
            point: AtomicU64::new(NOWHERE),
            decimal_comma: AtomicU64::new(NOWHERE),
            decimal_point: AtomicU64::new(NOWHERE),
        };
        Self {
            given,
            commas: false,
            columns: (0..columns).map(unseen).collect(),
        }
    }

    /// Commas divide no fields here, and may stand in numbers.
    pub(super) fn allow_commas(&mut self) {
        self.commas = true;
    }

    /// The sign that was said.
    pub(super) fn given(&self) -> Option<DecimalSign> {
        self.given
    }

    /// The number in a cell, if it is one.
    pub(super) fn number(&self, column: usize, line: u64, cell: &str) -> Option<f64> {
        match self.given {
            Some(DecimalSign::Point) => cell.parse().ok(),
            Some(DecimalSign::Comma) => with_comma(cell),
            None => {
                if let Ok(number) = cell.parse() {
                    if cell.contains('.') {
                        self.saw(column, line, |seen| &seen.point);
                        if !may_be_thousands(cell, '.') {
                            self.saw(column, line, |seen| &seen.decimal_point);
                        }
                    }
                    return Some(number);
                }
                // Points before a comma stand between thousands.
                let number = with_comma(cell).filter(|_| self.commas && cell.contains(','))?;
                self.saw(column, line, |seen| &seen.comma);
                if !may_be_thousands(cell, ',') {
                    self.saw(column, line, |seen| &seen.decimal_comma);
                }
                Some(number)
            }
        }
    }

    fn saw(&self, column: usize, line: u64, sign: impl Fn(&Seen) -> &AtomicU64) {
        if let Some(seen) = self.columns.get(column).filter(|_| self.commas) {
            sign(seen).fetch_min(line, Ordering::Relaxed);
        }
    }

    /// An error if a column has both signs, or if its commas may all stand between thousands; its points, too, if another column has decimal commas.
    pub(super) fn check(&self, file: &str, names: &[String]) -> Result<(), ReadError> {
        let has = |sign: &AtomicU64| sign.load(Ordering::Relaxed) != NOWHERE;
        let has_commas = self.columns.iter().any(|seen| has(&seen.decimal_comma));
        for (seen, name) in self.columns.iter().zip(names) {
            let comma = seen.comma.load(Ordering::Relaxed);
            let point = seen.point.load(Ordering::Relaxed);
            if comma != NOWHERE && point != NOWHERE {
                return Err(ReadError::MixedDecimals {
                    file: file.to_owned(),
                    field: name.clone(),
                    comma_line: comma,
                    point_line: point,
                });
            }
            if comma != NOWHERE && seen.decimal_comma.load(Ordering::Relaxed) == NOWHERE {
                return Err(ReadError::AmbiguousComma {
                    file: file.to_owned(),
                    field: name.clone(),
                    line: comma,
                });
            }
            if has_commas && point != NOWHERE && !has(&seen.decimal_point) {
                return Err(ReadError::AmbiguousPoint {
                    file: file.to_owned(),
                    field: name.clone(),
                    line: point,
                });
            }
        }
        Ok(())
    }
}

/// Whether it could be a whole number with such signs between its thousands.
fn may_be_thousands(cell: &str, sign: char) -> bool {
    let digits = cell.trim_start_matches(['+', '-']);
    let only_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    digits.split_once(sign).is_some_and(|(whole, parts)| {
        (1..=3).contains(&whole.len())
            && !whole.starts_with('0')
            && parts.len() == 3
            && only_digits(whole)
            && only_digits(parts)
    })
}

/// A number with a decimal comma, perhaps with points between its thousands.
fn with_comma(cell: &str) -> Option<f64> {
    let (whole, parts) = match cell.split_once(',') {
        Some((whole, parts)) => (whole, Some(parts)),
        None => (cell, None),
    };
    let digits = whole.trim_start_matches(['+', '-']);
    let mut groups = digits.split('.');
    let first = groups.next().unwrap_or_default();
    let mut rest = groups.clone();
    let grouped = groups.next().is_some();
    let in_threes =
        |group: &str| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit());
    if grouped && !((1..=3).contains(&first.len()) && rest.all(in_threes)) {
        return None;
    }
    let whole = whole.replace('.', "");
    match parts {
        Some(parts) if parts.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{whole}.{parts}").parse().ok()
        }
        Some(_) => None,
        None => whole.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;
    use super::super::{Fields, Format, Layout, ReadOptions};
    use super::*;

    #[test]
    fn commas_are_read_as_people_mean_them() {
        for (cell, number) in [
            ("1,5", Some(1.5)),
            ("-0,25", Some(-0.25)),
            ("1.234,5", Some(1234.5)),
            ("12.345.678", Some(12_345_678.0)),
            ("7", Some(7.0)),
            ("1,5e3", Some(1500.0)),
            ("1,2,3", None),
            ("1.23,4", None),
            ("1.5", None),
            (",", None),
            ("1,", None),
            ("a,5", None),
        ] {
            assert_eq!(with_comma(cell), number, "{cell}");
        }
    }

    fn table(text: &str, decimal: Option<DecimalSign>) -> Result<Vec<Option<f64>>, ReadError> {
        let options = ReadOptions {
            fields: Fields {
                numeric: vec!["length".into()],
                ..Fields::default()
            },
            format: Some(Format::Csv),
            layout: Layout {
                decimal,
                ..Layout::default()
            },
            ..ReadOptions::default()
        };
        let (documents, _) = read(text.as_bytes(), &options)?;
        let numbers = documents.iter().map(|document| {
            let record = document.content.as_record().unwrap();
            record.numbers[0]
        });
        Ok(numbers.collect())
    }

    #[test]
    fn the_sign_is_that_of_the_column() {
        let comma = table("length;label\n1,5;a\n;b\n2;a\n", None).unwrap();
        assert_eq!(comma, [Some(1.5), None, Some(2.0)]);
        let point = table("length;label\n1.5;a\n2;a\n", None).unwrap();
        assert_eq!(point, [Some(1.5), Some(2.0)]);
        // 1,234 alone may be a thousand; beside 0,250 it cannot.
        let thousands = table("length;label\n1,234;a\n950;b\n", None).unwrap_err();
        assert!(
            matches!(thousands, ReadError::AmbiguousComma { line: 2, .. }),
            "{thousands}"
        );
        let small = table("length;label\n1,234;a\n0,250;b\n", None).unwrap();
        assert_eq!(small, [Some(1.234), Some(0.25)]);
        let both = table("length;label\n2;a\n1,500;a\n1.5;a\n", None).unwrap_err();
        assert!(
            matches!(
                both,
                ReadError::MixedDecimals {
                    comma_line: 3,
                    point_line: 4,
                    ..
                }
            ),
            "{both}"
        );
        for sign in [Some(DecimalSign::Comma), None] {
            let said = table("length;label\n1.500,5;a\n", sign).unwrap();
            assert_eq!(said, [Some(1500.5)]);
        }
        // 5.179 beside a column of decimal commas may be five thousand; beside 0.5 it cannot.
        let two = |text: &str| {
            let options = ReadOptions {
                fields: Fields {
                    numeric: vec!["length".into(), "share".into()],
                    ..Fields::default()
                },
                format: Some(Format::Csv),
                ..ReadOptions::default()
            };
            read(text.as_bytes(), &options)
        };
        let points = two("length;share;label\n237;0,5;a\n5.179;0,7;b\n").unwrap_err();
        assert!(
            matches!(points, ReadError::AmbiguousPoint { line: 3, .. }),
            "{points}"
        );
        assert!(two("length;share;label\n0.5;0,5;a\n5.179;0,7;b\n").is_ok());
        assert!(two("length;share;label\n237;5;a\n5.179;7;b\n").is_ok());
        // Numbers of JSON are numbers, whatever is said of text.
        let options = ReadOptions {
            fields: Fields {
                numeric: vec!["length".into()],
                ..Fields::default()
            },
            format: Some(Format::JsonLines),
            layout: Layout {
                decimal: Some(DecimalSign::Comma),
                ..Layout::default()
            },
            ..ReadOptions::default()
        };
        let json = b"{\"length\":1.234,\"label\":\"a\"}\n{\"length\":\"1,5\",\"label\":\"a\"}\n";
        let (documents, _) = read(json, &options).unwrap();
        let numbers = documents
            .iter()
            .map(|document| document.content.as_record().unwrap().numbers[0]);
        assert_eq!(numbers.collect::<Vec<_>>(), [Some(1.234), Some(1.5)]);
        // Between commas a quoted number may be a thousand as well: it must be said.
        let quoted = "length,label\n\"1,5\",a\n";
        assert!(table(quoted, None).is_err());
        assert_eq!(
            table(quoted, Some(DecimalSign::Comma)).unwrap(),
            [Some(1.5)]
        );
    }
}
