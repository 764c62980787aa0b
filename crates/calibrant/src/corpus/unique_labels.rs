//! Is this a field of classes at all?

use std::fmt;

/// What a field holds that was taken for the label, where most rows have a value of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LabelKind {
    /// Names of rows, such as `T-1001`.
    Identifiers,
    /// Sentences.
    Texts,
    /// Measurements.
    Numbers,
    /// Days or moments.
    Dates,
}

impl fmt::Display for LabelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LabelKind::Identifiers => "identifiers",
            LabelKind::Texts => "free text",
            LabelKind::Numbers => "numbers",
            LabelKind::Dates => "dates",
        })
    }
}

/// Fewer rows prove nothing: a first try may have a handful of classes once each.
const FEWEST_ROWS: usize = 20;

/// What the labels probably are if they are no classes: where more than half of the rows have a label that no other row has. A class of one
/// document can be neither learned nor tested, so even a corpus of many classes has most of its rows elsewhere: two documents for every class
/// pass.
///
/// `counts` has each label with its rows.
pub(crate) fn unique_labels<'l>(
    counts: impl IntoIterator<Item = (&'l str, usize)> + Clone,
) -> Option<LabelKind> {
    let rows: usize = counts.clone().into_iter().map(|(_, count)| count).sum();
    let singles = counts.into_iter().filter(|&(_, count)| count == 1);
    let mut singles: Vec<&str> = singles.map(|(label, _)| label).collect();
    if rows < FEWEST_ROWS || 2 * singles.len() <= rows {
        return None;
    }
    singles.sort_unstable();
    Some(kind_of(&singles))
}

fn kind_of(labels: &[&str]) -> LabelKind {
    let most = |is: &dyn Fn(&str) -> bool| {
        10 * labels.iter().filter(|label| is(label)).count() >= 9 * labels.len()
    };
    if most(&is_date) {
        return LabelKind::Dates;
    }
    if most(&|label| label.split_whitespace().count() >= 3) {
        return LabelKind::Texts;
    }
    if most(&|label| label.replace(',', ".").parse::<f64>().is_ok()) {
        // Numbers without parts that are all different count rows more often than they measure.
        let whole = most(&|label| label.parse::<i64>().is_ok());
        return match whole {
            true => LabelKind::Identifiers,
            false => LabelKind::Numbers,
        };
    }
    let words = labels.iter().map(|label| label.split_whitespace().count());
    match words.sum::<usize>() >= 3 * labels.len() {
        true => LabelKind::Texts,
        false => LabelKind::Identifiers,
    }
}

/// Three numbers with the same sign between them, as 2026-11-18 or 18.11.2026, and perhaps a time behind them.
fn is_date(label: &str) -> bool {
    let day = label.split([' ', 'T']).next().unwrap_or(label);
    ['-', '.', '/'].iter().any(|&sign| {
        let parts: Vec<&str> = day.split(sign).collect();
        let is_number = |part: &&str| {
            matches!(part.len(), 1 | 2 | 4) && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        parts.len() == 3 && parts.iter().all(is_number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(labels: &[String]) -> Option<LabelKind> {
        unique_labels(labels.iter().map(|label| (label.as_str(), 1)))
    }

    fn forty(label: impl Fn(usize) -> String) -> Vec<String> {
        (0..40).map(label).collect()
    }

    #[test]
    fn the_kind_of_value_is_told() {
        let days = forty(|n| format!("2026-{:02}-{:02}", 1 + n % 12, 1 + n % 28));
        assert_eq!(kind(&days), Some(LabelKind::Dates));
        let moments = forty(|n| format!("{}.3.2026 10:{n:02}", 1 + n % 9));
        assert_eq!(kind(&moments), Some(LabelKind::Dates));
        let texts = forty(|n| format!("my account number {n} is locked"));
        assert_eq!(kind(&texts), Some(LabelKind::Texts));
        let prices = forty(|n| format!("{n},95"));
        assert_eq!(kind(&prices), Some(LabelKind::Numbers));
        assert_eq!(
            kind(&forty(|n| n.to_string())),
            Some(LabelKind::Identifiers)
        );
        assert_eq!(
            kind(&forty(|n| format!("user {n}"))),
            Some(LabelKind::Identifiers)
        );
    }

    #[test]
    fn classes_that_come_again_are_classes_and_few_rows_prove_nothing() {
        let names = forty(|n| format!("class {n}"));
        let with = |count: usize| unique_labels(names.iter().map(|name| (name.as_str(), count)));
        assert_eq!((with(2), with(3)), (None, None));
        // A long tail beside large classes.
        let mut counts: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 1)).collect();
        counts.push(("large", 40));
        assert_eq!(unique_labels(counts), None);
        assert_eq!(kind(&names[..10]), None);
    }
}
