//! Probabilities as somebody wrote them down.

use std::collections::HashMap;

use calibrant::Probability;

use super::test_set::TestSet;
use crate::error::CliError;

/// What a system states about every document of the test set, in the order of the test set.
pub(super) struct Stated {
    /// Its classes, in its own order.
    pub(super) classes: Vec<String>,
    /// Document by document, then by class.
    pub(super) probabilities: Vec<Probability>,
}

/// How far outside 0 to 1 rounding may have carried a probability.
const SLACK: f64 = 1e-6;

/// A probability that was written as a plain number, and whether it was an end, 0 or 1.
///
/// Nothing is ever quite certain: 0 is taken for the smallest number above it that a double can hold,
/// 1 for the largest below it, so that what was written as larger stays larger.
pub(super) fn plain_number(text: &str) -> Option<(Probability, bool)> {
    let value: f64 = text.trim().parse().ok()?;
    if !(-SLACK..=1.0 + SLACK).contains(&value) {
        return None;
    }
    let smallest = f64::from_bits(1);
    let largest = 1.0 - f64::EPSILON / 2.0;
    let kept = value.clamp(smallest, largest);
    Some((
        Probability::from_ln(kept.ln(), (-kept).ln_1p()),
        kept != value,
    ))
}

/// A probability that was written as log-odds, which lose nothing.
pub(super) fn log_odds(text: &str) -> Option<Probability> {
    let value: f64 = text.trim().parse().ok()?;
    (!value.is_nan()).then(|| Probability::from_log_odds(value))
}

/// Rows in the order of a file, to be put into that of the test set.
pub(super) struct Rows {
    pub(super) file: String,
    pub(super) classes: Vec<String>,
    pub(super) probabilities: Vec<Probability>,
    /// The identifier of each row, if rows are joined by it.
    pub(super) ids: Option<Vec<String>>,
    pub(super) row_count: usize,
}

impl Rows {
    /// One row for each document, by identifier if rows have one, else by their order.
    pub(super) fn arrange(self, test_set: &TestSet) -> Result<Stated, CliError> {
        let documents = test_set.labels.len();
        let Some(ids) = &self.ids else {
            if self.row_count != documents {
                return Err(CliError::new(format!(
                    "`{}` speaks of {} documents, but the test set has {documents}",
                    self.file, self.row_count
                ))
                .hint("rows must stand in the order of the test set (after --where); --id FIELD joins them by an identifier instead"));
            }
            return Ok(Stated {
                classes: self.classes,
                probabilities: self.probabilities,
            });
        };
        let mut row_of: HashMap<&str, usize> = HashMap::with_capacity(ids.len());
        for (row, id) in ids.iter().enumerate() {
            if row_of.insert(id, row).is_some() {
                return Err(CliError::new(format!(
                    "`{}` has two rows with the identifier `{id}`",
                    self.file
                ))
                .hint("identifiers must be unique; without --id rows are taken in their order"));
            }
        }
        let class_count = self.classes.len();
        let mut probabilities = Vec::with_capacity(documents * class_count);
        let mut seen: HashMap<&str, ()> = HashMap::with_capacity(documents);
        for (document, id) in test_set.ids.iter().enumerate() {
            let id = id.as_deref().ok_or_else(|| {
                CliError::new(format!(
                    "document {} of the test set has no identifier",
                    document + 1
                ))
                .hint("without --id rows are taken in their order")
            })?;
            if seen.insert(id, ()).is_some() {
                return Err(CliError::new(format!(
                    "the test set has two documents with the identifier `{id}`"
                ))
                .hint("identifiers must be unique; without --id rows are taken in their order"));
            }
            let row = row_of.get(id).ok_or_else(|| {
                CliError::new(format!("`{}` has no row with the identifier `{id}`", self.file))
                    .hint("--id names the field of the test set; the file needs a column of that name, or `id`")
            })?;
            probabilities
                .extend_from_slice(&self.probabilities[row * class_count..][..class_count]);
        }
        Ok(Stated {
            classes: self.classes,
            probabilities,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_keep_their_order_and_never_reach_the_ends() {
        let written = [
            "0",
            "1e-300",
            "0.25",
            "0.5",
            "0.9999999999999998",
            "1",
            "1.0000001",
        ];
        let read: Vec<(Probability, bool)> =
            written.iter().map(|w| plain_number(w).unwrap()).collect();
        assert!(read.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        assert!(read.iter().all(|(p, _)| p.log_odds().abs() < 800.0));
        assert_eq!(read.iter().filter(|(_, end)| *end).count(), 3);
        assert!((read[2].0.log_odds() - (1.0f64 / 3.0).ln()).abs() < 1e-15);
        for bad in ["", "x", "nan", "1.1", "-0.1", "inf", "50%"] {
            assert!(plain_number(bad).is_none(), "{bad}");
        }
    }
}
