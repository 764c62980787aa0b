//! What stands in a cell, as text: what the same sheet saved as CSV would have, with all digits of numbers. Beside it, what kind of
//! thing it is, so that a row that is kept has the cells of its sheet.

use calamine::{DataRef, ExcelDateTime};

use super::super::Cell;
use super::super::plan::Value;

/// A cell of a sheet.
#[derive(Debug, Clone)]
pub(super) struct SheetCell {
    /// As it is read.
    pub(super) value: Value<'static>,
    kind: Kind,
}

/// What a sheet says of a cell beyond its text.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Text or a number, as the value says.
    Plain,
    Truth,
    /// A date, a time or both.
    Moment,
}

impl SheetCell {
    /// As it stands in the sheet.
    pub(super) fn kept(&self) -> Cell<'static> {
        match (&self.value, self.kind) {
            (Value::Text(text), Kind::Truth) => Cell::Truth(text == TRUE),
            (Value::Text(text), Kind::Moment) => Cell::Moment(text.clone()),
            (Value::Text(text), Kind::Plain) => Cell::Text(text.clone()),
            (Value::Scalar(printed), _) => Cell::Number(printed.clone().into()),
            _ => Cell::Empty,
        }
    }
}

const TRUE: &str = "TRUE";

/// Of Excel. Nothing where there is nothing in it.
pub(super) fn of_excel(data: &DataRef<'_>) -> Option<SheetCell> {
    match data {
        DataRef::Empty => None,
        DataRef::Int(number) => Some(plain(Value::Scalar(number.to_string()))),
        DataRef::Float(number) => Some(number_cell(*number)),
        DataRef::String(text) => text_cell(text),
        DataRef::SharedString(text) => text_cell(text),
        DataRef::Bool(yes) => Some(truth(*yes)),
        DataRef::DateTime(moment) => match excel_moment(*moment) {
            Some(text) => moment_cell(&text),
            None => Some(number_cell(moment.as_f64())),
        },
        DataRef::DateTimeIso(text) => moment_cell(date(text)),
        DataRef::DurationIso(text) => moment_cell(&clock(text)),
        DataRef::Error(error) => text_cell(&error.to_string()),
    }
}

fn plain(value: Value<'static>) -> SheetCell {
    let kind = Kind::Plain;
    SheetCell { value, kind }
}

pub(super) fn text_cell(text: &str) -> Option<SheetCell> {
    (!text.is_empty()).then(|| plain(Value::Text(text.to_owned().into())))
}

/// Numbers that are whole have no decimals: the 3 of a sheet is the 3 of its CSV.
pub(super) fn number_cell(number: f64) -> SheetCell {
    plain(Value::Scalar(match number.abs() < 1e15 {
        // The sign of zero is nobody's business.
        true => format!("{}", number + 0.0),
        false => format!("{number:?}"),
    }))
}

pub(super) fn truth(yes: bool) -> SheetCell {
    SheetCell {
        value: Value::Text(if yes { TRUE } else { "FALSE" }.into()),
        kind: Kind::Truth,
    }
}

/// A date, a time or both, in the notation of ISO 8601.
pub(super) fn moment_cell(written: &str) -> Option<SheetCell> {
    let cell = text_cell(written)?;
    let kind = Kind::Moment;
    Some(SheetCell { kind, ..cell })
}

/// Days without their midnight.
pub(super) fn date(written: &str) -> &str {
    written.strip_suffix("T00:00:00").unwrap_or(written)
}

/// `PT07H30M05S` as 07:30:05; what is written otherwise stays as it is.
pub(super) fn clock(written: &str) -> String {
    let parts = || {
        let (negative, rest) = match written.strip_prefix('-') {
            Some(rest) => ("-", rest),
            None => ("", written),
        };
        let (hours, rest) = rest.strip_prefix("PT")?.split_once('H')?;
        let (minutes, rest) = rest.split_once('M')?;
        let (whole, parts) = match rest.strip_suffix('S')?.split_once('.') {
            Some((whole, parts)) => (whole, parts.trim_end_matches('0')),
            None => (rest.strip_suffix('S')?, ""),
        };
        let number = |text: &str| text.parse::<u32>().ok();
        let (hours, minutes, seconds) = (number(hours)?, number(minutes)?, number(whole)?);
        let point = if parts.is_empty() { "" } else { "." };
        Some(format!(
            "{negative}{hours:02}:{minutes:02}:{seconds:02}{point}{parts}"
        ))
    };
    parts().unwrap_or_else(|| written.to_owned())
}

/// Nothing where the number of days is none of a calendar.
fn excel_moment(moment: ExcelDateTime) -> Option<String> {
    let days = moment.as_f64();
    if !(0.0..2_958_466.0).contains(&days) {
        return None;
    }
    if moment.is_duration() {
        let seconds = (days * 86_400.0).round() as u64;
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        return Some(format!("{hours:02}:{minutes:02}:{seconds:02}"));
    }
    let (year, month, day, hour, minute, second, milli) = moment.to_ymd_hms_milli();
    let parts = match milli {
        0 => String::new(),
        milli => format!(".{milli:03}"),
    };
    let time = format!("{hour:02}:{minute:02}:{second:02}{parts}");
    // Less than a day is a time of day.
    if days < 1.0 {
        return Some(time);
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    Some(match (hour, minute, second, milli) {
        (0, 0, 0, 0) => date,
        _ => format!("{date}T{time}"),
    })
}

#[cfg(test)]
mod tests {
    use calamine::{CellErrorType, ExcelDateTimeType};

    use super::*;

    fn shown(data: DataRef<'_>) -> String {
        match of_excel(&data).map(|cell| cell.value) {
            Some(Value::Text(text)) => text.into_owned(),
            Some(Value::Scalar(printed)) => printed,
            other => format!("{other:?}"),
        }
    }

    fn moment(days: f64, kind: ExcelDateTimeType) -> String {
        shown(DataRef::DateTime(ExcelDateTime::new(days, kind, false)))
    }

    #[test]
    fn cells_are_what_the_sheet_shows() {
        for (number, text) in [
            (3.0, "3"),
            (-0.0, "0"),
            (1.5, "1.5"),
            (1e14, "100000000000000"),
            (1e20, "1e20"),
            (0.1, "0.1"),
        ] {
            assert_eq!(shown(DataRef::Float(number)), text);
        }
        assert_eq!(shown(DataRef::Bool(true)), "TRUE");
        assert_eq!(shown(DataRef::Error(CellErrorType::NA)), "#N/A");
        assert_eq!(shown(DataRef::Empty), "None");
        assert_eq!(shown(DataRef::SharedString("")), "None");
    }

    #[test]
    fn kept_cells_are_what_the_sheet_has() {
        let kept = |data: DataRef<'_>| of_excel(&data).map(|cell| cell.kept());
        assert_eq!(kept(DataRef::Bool(true)), Some(Cell::Truth(true)));
        assert_eq!(kept(DataRef::Float(3.0)), Some(Cell::Number("3".into())));
        assert_eq!(
            kept(DataRef::SharedString("TRUE")),
            Some(Cell::text("TRUE"))
        );
        let day = |days| {
            let kind = ExcelDateTimeType::DateTime;
            kept(DataRef::DateTime(ExcelDateTime::new(days, kind, false)))
        };
        assert_eq!(day(45943.0), Some(Cell::Moment("2025-10-13".into())));
        assert_eq!(day(-1.0), Some(Cell::Number("-1".into())));
    }

    #[test]
    fn moments_are_iso_text() {
        use ExcelDateTimeType::{DateTime, TimeDelta};
        // By hand: day 45943 of Excel is 13 October 2025.
        assert_eq!(moment(45943.0, DateTime), "2025-10-13");
        assert_eq!(moment(45943.5, DateTime), "2025-10-13T12:00:00");
        assert_eq!(moment(0.3125, DateTime), "07:30:00");
        assert_eq!(moment(1.5, TimeDelta), "36:00:00");
        assert_eq!(moment(-1.0, DateTime), "-1");
        assert_eq!(clock("PT07H30M05S"), "07:30:05");
        assert_eq!(clock("PT26H00M00.250S"), "26:00:00.25");
        assert_eq!(clock("soon"), "soon");
        assert_eq!(date("2025-10-13T00:00:00"), "2025-10-13");
    }
}
