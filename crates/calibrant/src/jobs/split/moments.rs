//! Cells that say when something was: dates in the forms that people write, or numbers.

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

/// What comes first in dates such as 3/4/2024.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateOrder {
    /// The third of April.
    Day,
    /// The fourth of March.
    Month,
}

named! {
    DateOrder, "an order of dates";
    Day = "day", "3/4/2024 is in April";
    Month = "month", "3/4/2024 is in March";
}

/// What a cell says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Moment {
    Number(f64),
    /// Seconds since 1970.
    Time(f64),
    /// By what comes first in it, the day or the month; `None` is no date.
    Either(Option<f64>, Option<f64>),
}

/// Why cells cannot be put in their order: the place among them, and the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MomentProblem {
    Unreadable,
    /// A number among dates, or a date among numbers.
    OtherKind,
    /// Day or month may come first.
    Ambiguous,
    /// Here the month comes first, where elsewhere the day does.
    Mixed,
}

/// The moments of a column as numbers that rise with time.
pub(super) fn in_order(
    cells: &[Option<Moment>],
    order: Option<DateOrder>,
) -> Result<Vec<f64>, (usize, MomentProblem)> {
    let order = match order {
        Some(order) => Some(order),
        None => order_of(cells)?,
    };
    let is_number = matches!(cells.iter().flatten().next(), Some(Moment::Number(_)));
    let moments = cells.iter().enumerate().map(|(at, cell)| {
        let moment = match cell {
            None => return Err((at, MomentProblem::Unreadable)),
            Some(Moment::Number(number)) if is_number => Some(*number),
            Some(Moment::Time(seconds)) if !is_number => Some(*seconds),
            Some(Moment::Either(day, month)) if !is_number => match order {
                Some(DateOrder::Month) => *month,
                _ => *day,
            },
            Some(_) => return Err((at, MomentProblem::OtherKind)),
        };
        moment.ok_or((at, MomentProblem::Unreadable))
    });
    moments.collect()
}

/// What comes first in the dates of a column, by those that can be read in one way only.
fn order_of(cells: &[Option<Moment>]) -> Result<Option<DateOrder>, (usize, MomentProblem)> {
    let mut found = None;
    let mut ambiguous = None;
    for (at, cell) in cells.iter().enumerate() {
        let says = match cell {
            Some(Moment::Either(Some(_), None)) => DateOrder::Day,
            Some(Moment::Either(None, Some(_))) => DateOrder::Month,
            Some(Moment::Either(day, month)) if day != month => {
                ambiguous.get_or_insert(at);
                continue;
            }
            _ => continue,
        };
        if *found.get_or_insert(says) != says {
            return Err((at, MomentProblem::Mixed));
        }
    }
    match (found, ambiguous) {
        (None, Some(at)) => Err((at, MomentProblem::Ambiguous)),
        _ => Ok(found),
    }
}

/// Reads a cell.
pub(super) fn read(cell: &str) -> Option<Moment> {
    let cell = cell.trim();
    if let Some(number) = cell.parse().ok().filter(|number: &f64| number.is_finite()) {
        return Some(Moment::Number(number));
    }
    if !cell.is_ascii() {
        return None;
    }
    let (date, time) = divide(cell);
    let seconds = clock(time)?;
    let at = |days: Option<f64>| days.map(|days| days * 86_400.0 + seconds);
    let parts: Vec<&str> = date
        .split(['-', '/', '.', ' ', ','])
        .filter(|part| !part.is_empty())
        .collect();
    let [first, second, third] = *parts.as_slice() else {
        return None;
    };
    let number = |text: &str| text.parse::<u32>().ok();
    // A month by its name stands first or second.
    for (named, day) in [(first, second), (second, first)] {
        if let Some(month) = month_of(named) {
            let time = at(days(year_of(third)?, month, number(day)?))?;
            return Some(Moment::Time(time));
        }
    }
    if first.len() == 4 {
        let time = at(days(year_of(first)?, number(second)?, number(third)?))?;
        return Some(Moment::Time(time));
    }
    let (year, first, second) = (year_of(third)?, number(first)?, number(second)?);
    let (day_first, month_first) = (at(days(year, second, first)), at(days(year, first, second)));
    match (day_first, month_first) {
        (None, None) => None,
        // Between points the day comes first everywhere.
        (day_first, _) if date.contains('.') => day_first.map(Moment::Time),
        either => Some(Moment::Either(either.0, either.1)),
    }
}

/// The date and the time of day; a day of the week is left out.
fn divide(cell: &str) -> (&str, &str) {
    let cell = match cell.split_once([',', ' ']) {
        Some((word, rest)) if is_weekday(word) => rest.trim_start_matches([',', ' ']),
        _ => cell,
    };
    let clock = cell.find(':').map(|colon| {
        let digits = cell[..colon].bytes().rev();
        colon - digits.take_while(u8::is_ascii_digit).count()
    });
    match clock {
        Some(start) => {
            let date = cell[..start].trim_end_matches([' ', 'T', 't', ',']);
            (date, &cell[start..])
        }
        None => (cell.trim_end_matches(['Z', 'z']), ""),
    }
}

fn is_weekday(word: &str) -> bool {
    const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let word = word.to_ascii_lowercase();
    word.len() >= 3 && word.bytes().all(|b| b.is_ascii_alphabetic()) && DAYS.contains(&&word[..3])
}

fn month_of(word: &str) -> Option<u32> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let word = word.to_ascii_lowercase();
    let found = MONTHS.iter().position(|month| month.starts_with(&word));
    found.filter(|_| word.len() >= 3).map(|at| at as u32 + 1)
}

fn year_of(text: &str) -> Option<i64> {
    (text.len() == 4).then(|| text.parse().ok()).flatten()
}

/// Days from the beginning of 1970 to a date of the Gregorian calendar (Howard Hinnant's formula); `None` where there is no such day.
fn days(year: i64, month: u32, day: u32) -> Option<f64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let most = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=most).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let month = i64::from((month + 9) % 12);
    let of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    let of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    Some((era * 146_097 + of_era - 719_468) as f64)
}

/// Seconds since midnight of universal time; nothing is midnight.
fn clock(text: &str) -> Option<f64> {
    if text.is_empty() {
        return Some(0.0);
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.')));
    let (clock, rest) = text.split_at(end.unwrap_or(text.len()));
    let mut parts = clock.split(':');
    let mut next = |most: f64| -> Option<Option<f64>> {
        match parts.next() {
            None => Some(None),
            Some(part) => {
                let number: f64 = part.parse().ok()?;
                (number < most).then_some(Some(number))
            }
        }
    };
    let (hours, minutes, seconds) = (next(24.0)??, next(60.0)??, next(61.0)?.unwrap_or(0.0));
    if parts.next().is_some() {
        return None;
    }
    let (half, zone) = match rest.trim_start().split_at_checked(2) {
        Some((half, zone)) if half.eq_ignore_ascii_case("am") => (Some(0.0), zone),
        Some((half, zone)) if half.eq_ignore_ascii_case("pm") => (Some(12.0), zone),
        _ => (None, rest),
    };
    let hours = match half {
        Some(half) if (1.0..=12.0).contains(&hours) => hours % 12.0 + half,
        Some(_) => return None,
        None => hours,
    };
    Some(hours * 3600.0 + minutes * 60.0 + seconds - zone_of(zone.trim())?)
}

/// Seconds ahead of universal time.
fn zone_of(zone: &str) -> Option<f64> {
    let zone = zone.trim_end_matches(|c: char| c == ')' || c.is_ascii_whitespace());
    // A name in brackets says the same again.
    let zone = zone.split(" (").next().unwrap_or(zone);
    let sign = match zone.as_bytes() {
        [] => return Some(0.0),
        [b'+', ..] => 1.0,
        [b'-', ..] => -1.0,
        _ => {
            let known = ["z", "utc", "gmt"].contains(&zone.to_ascii_lowercase().as_str());
            return known.then_some(0.0);
        }
    };
    let digits = zone[1..].replace(':', "");
    let (hours, minutes) = match digits.len() {
        2 => (digits.as_str(), "0"),
        4 => digits.split_at(2),
        _ => return None,
    };
    let (hours, minutes): (f64, f64) = (hours.parse().ok()?, minutes.parse().ok()?);
    Some(sign * (hours * 3600.0 + minutes * 60.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_the_forms_that_people_write() {
        // By Python: datetime(2024, 3, 4, 15, 30, tzinfo=utc).timestamp().
        let expected = Some(Moment::Time(1_709_566_200.0));
        for written in [
            "2024-03-04T15:30:00Z",
            "2024-03-04 15:30",
            "2024/03/04 15:30:00.000",
            "2024-03-04T16:30:00+01:00",
            "2024-03-04T10:30:00-0500",
            "4.3.2024 15:30",
            "04.03.2024, 15:30:00",
            "Mon, 4 Mar 2024 15:30:00 +0000",
            "Mar 4, 2024 3:30 PM",
            "4-Mar-2024 15:30",
            "Mon, 04 Mar 2024 15:30:00 GMT",
        ] {
            assert_eq!(read(written), expected, "{written}");
        }
        assert_eq!(read("1970-01-01"), Some(Moment::Time(0.0)));
        assert_eq!(read("29 February 2000"), Some(Moment::Time(951_782_400.0)));
        assert_eq!(read("20240304"), Some(Moment::Number(20_240_304.0)));
        for wrong in [
            "",
            "soon",
            "2024-13-01",
            "2023-02-29",
            "1/2/24",
            "2024-03-04 25:00",
            "2024-03",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_order_of_day_and_month_is_that_of_the_column() {
        let column =
            |cells: &[&str]| -> Vec<Option<Moment>> { cells.iter().map(|c| read(c)).collect() };
        let sorted = |cells: &[&str], order| in_order(&column(cells), order);
        let day = sorted(&["3/4/2024", "25/4/2024"], None).unwrap();
        assert!(day[1] - day[0] == 22.0 * 86_400.0);
        let month = sorted(&["3/4/2024", "3/25/2024"], None).unwrap();
        assert!(month[1] - month[0] == 21.0 * 86_400.0);
        let unclear = sorted(&["4/4/2024", "3/4/2024"], None);
        assert_eq!(unclear, Err((1, MomentProblem::Ambiguous)));
        assert!(sorted(&["4/4/2024", "3/4/2024"], Some(DateOrder::Day)).is_ok());
        let mixed = sorted(&["25/4/2024", "4/25/2024"], None);
        assert_eq!(mixed, Err((1, MomentProblem::Mixed)));
        assert_eq!(
            sorted(&["1", "2024-01-01"], None),
            Err((1, MomentProblem::OtherKind))
        );
        assert_eq!(
            sorted(&["1", "x"], None),
            Err((1, MomentProblem::Unreadable))
        );
    }
}
