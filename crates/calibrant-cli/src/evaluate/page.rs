//! `calibrant evaluate --html`

use std::path::Path;

use std::time::{SystemTime, UNIX_EPOCH};

use calibrant::jobs::Evaluated;
use calibrant::pipeline::Model;
use calibrant::report::{ClassScores, Report, ReportInput};

use super::file_name;
use crate::arguments::EvaluateArguments;
use crate::error::CliError;
use crate::output::{check_target_of, write_whole};

pub(super) const OPTION: &str = "--html";
/// Mistakes that are told with their texts.
pub(super) const SHOWN_MISTAKES: usize = 12;
/// Classes whose scores are shown: the most frequent ones of the training documents.
pub(super) const SHOWN_CLASSES: usize = 6;

/// A wrong place is refused before any work.
pub(super) fn check_page(arguments: &EvaluateArguments) -> Result<(), CliError> {
    let Some(path) = arguments.html.as_deref() else {
        return Ok(());
    };
    check_target_of(OPTION, path, &arguments.file)?;
    if let (Ok(target), Ok(model)) = (path.canonicalize(), arguments.model.canonicalize())
        && target == model
    {
        return Err(CliError::new(format!(
            "`{}` holds the model and would be overwritten",
            path.display()
        ))
        .hint(format!("choose another {OPTION}")));
    }
    Ok(())
}

/// Writes the report. There is no model where probabilities came as a table.
pub(super) fn write_report(
    arguments: &EvaluateArguments,
    model: Option<&Model>,
    (evaluated, scores): (&Evaluated<'_>, Vec<ClassScores<'_>>),
    notes: Vec<String>,
    path: &Path,
) -> Result<(), CliError> {
    let mut mistakes = evaluated.mistakes.clone();
    if arguments.no_texts {
        for mistake in &mut mistakes {
            mistake.text.clear();
            mistake.words.clear();
        }
    }
    let report = Report::new(ReportInput {
        title: format!("Evaluation of {}", file_name(&arguments.model)),
        facts: facts(arguments, model),
        notes,
        forecasts: &evaluated.forecasts,
        evaluation: &evaluated.report.evaluation,
        scores,
        made: Some(made(arguments)),
        answers: evaluated.report.answered.clone(),
        mistakes,
        other: evaluated.report.other.clone(),
    })?;
    write_whole(OPTION, report.to_html().as_bytes(), path)
}

/// Which files, when, by which version.
pub(super) fn made(arguments: &EvaluateArguments) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let (year, month, day) = civil(now.map_or(0, |since| since.as_secs() / 86_400) as i64);
    let month = MONTHS[(month - 1) as usize % 12];
    format!(
        "{} on {}. {day} {month} {year}, calibrant {}.",
        file_name(&arguments.model),
        test_name(arguments),
        env!("CARGO_PKG_VERSION")
    )
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Year, month and day of a number of days since 1970, by the Gregorian calendar (Hinnant's days from civil, backwards).
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

fn test_name(arguments: &EvaluateArguments) -> String {
    match arguments.file.as_str() {
        "-" => "standard input".to_owned(),
        file => file_name(Path::new(file)),
    }
}

fn facts(arguments: &EvaluateArguments, model: Option<&Model>) -> Vec<(String, String)> {
    let test = test_name(arguments);
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let Some(model) = model else {
        return vec![
            fact("probabilities", file_name(&arguments.model)),
            fact("tested on", test),
        ];
    };
    let summary = model.summary();
    vec![
        fact("model", file_name(&arguments.model)),
        fact(
            "learned from",
            format!(
                "{} documents, {} features, {}",
                summary.documents,
                summary.features,
                model.learner_name()
            ),
        ),
        fact("tested on", test),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // By the calendar: a leap day, a century that is one, a turn of the year.
    fn days_are_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_453), (2025, 12, 31));
        assert_eq!(civil(20_454), (2026, 1, 1));
    }
}
