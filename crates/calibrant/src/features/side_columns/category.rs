//! One spelling for numbers that are categories.

use std::borrow::Cow;

/// More digits than any identifier or count has; beyond them a number stays as it was written.
const MOST_DIGITS: usize = 40;

/// Integral numbers as their digits: `1`, `1.0`, `1.00`, `1.` and `1e0` are all `1`.
///
/// One empty cell is enough for a table to turn whole numbers into `1.0`, and the categories of two files
/// into strangers. A leading zero or plus is left alone: `01` and `+1` are codes, not numbers. So is
/// everything else, such as `1.50`.
///
/// ```
/// use calibrant::features::one_spelling;
/// for written in ["12", "12.0", "12.", "1.2e1", "120e-1"] {
///     assert_eq!(one_spelling(written), "12");
/// }
/// assert_eq!(one_spelling("-0.0"), "0");
/// for kept in ["012", "+12", "12.5", "1.2.0", "v1.0", "1e", ".0", "-"] {
///     assert_eq!(one_spelling(kept), kept);
/// }
/// ```
pub fn one_spelling(cell: &str) -> Cow<'_, str> {
    match digits_of(cell) {
        Some(digits) if digits != cell => Cow::Owned(digits),
        _ => Cow::Borrowed(cell),
    }
}

/// The digits of an integral number, with its sign.
fn digits_of(cell: &str) -> Option<String> {
    // Most categories are words: no further look at those.
    if !cell.ends_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let (sign, number) = match cell.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", cell),
    };
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (number, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_code = whole.len() > 1 && whole.starts_with('0');
    if whole.is_empty() || is_code || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let mut digits = format!("{whole}{fraction}");
    let point = usize::try_from(i64::try_from(whole.len()).ok()? + i64::from(exponent)).ok()?;
    if point > MOST_DIGITS || digits.len() > MOST_DIGITS {
        return None;
    }
    while digits.len() < point {
        digits.push('0');
    }
    if digits[point..].bytes().any(|digit| digit != b'0') {
        return None;
    }
    digits.truncate(point);
    let digits = digits.trim_start_matches('0');
    Some(if digits.is_empty() {
        "0".to_owned()
    } else {
        format!("{sign}{digits}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_way_to_write_an_integer_is_the_integer(
            number in -1_000_000i64..1_000_000,
            zeros in 0usize..5,
            exponent in 0i32..4,
        ) {
            let plain = number.to_string();
            let zeros = "0".repeat(zeros);
            let tens = number * 10i64.pow(exponent as u32);
            for (written, expected) in [
                (plain.clone(), number),
                (format!("{plain}.{zeros}"), number),
                (format!("{plain}{zeros}e-{}", zeros.len()), number),
                (format!("{plain}.0E{exponent}"), tens),
            ] {
                let spelled = one_spelling(&written).into_owned();
                prop_assert_eq!(spelled, expected.to_string(), "{}", written);
            }
        }

        #[test]
        fn whatever_is_written_has_one_spelling_only(cell in "[-+.eE0-9 a]{0,12}") {
            let once = one_spelling(&cell).into_owned();
            prop_assert_eq!(one_spelling(&once).into_owned(), once.clone());
            // What is changed was that number.
            if once != cell {
                prop_assert_eq!(once.parse::<f64>().unwrap(), cell.parse::<f64>().unwrap());
            }
        }
    }
}
