//! Many sorted scores in bounded room, so that no threshold read from them is too low.

use crate::CalibrationError;
use serde::{Deserialize, Serialize};

/// Scores from the least to the largest; where there are too many, one stands for those just below it.
///
/// A score that stands for others is the largest of them, so that a threshold is the wanted one or a little above it: sets
/// may get a class too many, never one too few. The largest scores, on which high coverages rest, are all kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Thinned {
    scores: Vec<f64>,
    /// How many scores each stands for; empty where each stands for itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    counts: Vec<u64>,
}

impl Thinned {
    /// Sorts the scores and keeps at most `most` of them, the larger half as it is.
    pub(super) fn new(mut scores: Vec<f64>, most: usize) -> Self {
        scores.sort_unstable_by(f64::total_cmp);
        if scores.len() <= most.max(2) {
            return Self {
                scores,
                counts: Vec::new(),
            };
        }
        let whole = most.max(2) / 2;
        let (low, high) = scores.split_at(scores.len() - whole);
        let step = low.len().div_ceil(most.max(2) - whole);
        let mut thinned = Self::default();
        // From the top down in even steps; what is left over is at the bottom, where it matters least.
        let mut end = low.len();
        while end > 0 {
            let begin = end.saturating_sub(step);
            thinned.scores.push(low[end - 1]);
            thinned.counts.push((end - begin) as u64);
            end = begin;
        }
        thinned.scores.reverse();
        thinned.counts.reverse();
        thinned.scores.extend_from_slice(high);
        thinned.counts.resize(thinned.scores.len(), 1);
        thinned
    }

    /// With at most `most` scores, rounded up to six digits: for files.
    pub(super) fn compact(&self, most: usize) -> Self {
        let entries: Vec<(f64, u64)> = self.iter().collect();
        let whole = (most.max(2) / 2).min(entries.len());
        let low = entries.len() - whole;
        let step = low.div_ceil((most.max(2) - whole).max(1)).max(1);
        let step = if entries.len() <= most { 1 } else { step };
        let mut kept: Vec<(f64, u64)> = Vec::new();
        // From the top down; the largest of a step stands for it.
        let sizes = (0..).map(|place| if place < whole { 1 } else { step });
        let mut end = entries.len();
        for size in sizes {
            if end == 0 {
                break;
            }
            let begin = end.saturating_sub(size);
            let count = entries[begin..end].iter().map(|entry| entry.1).sum();
            kept.push((rounded_up(entries[end - 1].0), count));
            end = begin;
        }
        kept.reverse();
        let even = kept.iter().all(|entry| entry.1 == 1);
        Self {
            scores: kept.iter().map(|entry| entry.0).collect(),
            counts: match even {
                true => Vec::new(),
                false => kept.iter().map(|entry| entry.1).collect(),
            },
        }
    }

    /// Each score with how many it stands for.
    pub(super) fn iter(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let count = |place: usize| self.counts.get(place).copied().unwrap_or(1);
        let scores = self.scores.iter().enumerate();
        scores.map(move |(place, &score)| (score, count(place)))
    }

    /// How many scores there were.
    pub(super) fn len(&self) -> u64 {
        match self.counts.is_empty() {
            true => self.scores.len() as u64,
            false => self.counts.iter().sum(),
        }
    }

    /// What was read can be used.
    pub(super) fn check(&self) -> Result<(), CalibrationError> {
        let bad = self.scores.iter().position(|score| !score.is_finite());
        if let Some(position) = bad {
            let value = self.scores[position];
            return Err(CalibrationError::BadScore { position, value });
        }
        if !self.counts.is_empty() && self.counts.len() != self.scores.len() {
            return Err(CalibrationError::LengthMismatch {
                left_name: "scores",
                left: self.scores.len(),
                right_name: "counts",
                right: self.counts.len(),
            });
        }
        // No more than an f64 counts exactly, so that nothing overflows.
        let most = 1u64 << 40;
        let fine = self.counts.iter().all(|&count| (1..=most).contains(&count));
        let sorted = self.scores.is_sorted();
        match sorted && fine {
            true => Ok(()),
            false => Err(CalibrationError::BadSetting {
                setting: "table of scores",
                requirement: "sorted, with counts above zero",
                value: "otherwise".to_owned(),
            }),
        }
    }
}

/// The next number of six digits that is not below it.
pub(super) fn rounded_up(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let digits = 5 - value.abs().log10().floor() as i32;
    // Beyond what powers of ten can hold, a number stays as it is.
    if !(-200..=200).contains(&digits) {
        return value;
    }
    let scale = 10f64.powi(digits.abs());
    let up = match digits >= 0 {
        true => (value * scale).ceil() / scale,
        false => (value / scale).ceil() * scale,
    };
    up.max(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rounding_is_upwards_and_small() {
        assert_eq!(rounded_up(0.123_456_1), 0.123_457);
        assert_eq!(rounded_up(-0.123_456_1), -0.123_456);
        assert_eq!(rounded_up(0.25), 0.25);
        for value in [
            1.0,
            -1.0,
            0.1,
            1e-9,
            -3.3e-300,
            123_456_789.0,
            f64::MIN_POSITIVE,
        ] {
            let up = rounded_up(value);
            assert!(
                up >= value && (up - value).abs() <= 1.1e-5 * value.abs(),
                "{value} {up}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_quantile_of_a_thinned_table_is_below_the_true_one(
            scores in prop::collection::vec(-20i8..20, 1..300), most in 2usize..40,
        ) {
            let mut scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
            let thinned = Thinned::new(scores.clone(), most);
            scores.sort_by(f64::total_cmp);
            prop_assert_eq!(thinned.len(), scores.len() as u64);
            prop_assert!(thinned.iter().count() <= most);
            thinned.check().unwrap();
            let mut rank = 0;
            let mut before = 0;
            for (score, count) in thinned.iter() {
                rank += count as usize;
                prop_assert!(scores[before..rank].iter().all(|&own| own <= score));
                prop_assert_eq!(score, scores[rank - 1]);
                before = rank;
            }
            // Made smaller still, no quantile is below the true one either.
            let compact = thinned.compact(most / 2);
            compact.check().unwrap();
            prop_assert_eq!(compact.len(), scores.len() as u64);
            prop_assert!(compact.iter().count() <= (most / 2).max(2));
            let mut rank = 0;
            for (score, count) in compact.iter() {
                rank += count as usize;
                prop_assert!(scores[..rank].iter().all(|&own| own <= score));
            }
            // The largest are as they were.
            let kept = scores.len().min(most / 2);
            let last: Vec<f64> = thinned.iter().map(|(score, _)| score).collect();
            prop_assert_eq!(&last[last.len() - kept..], &scores[scores.len() - kept..]);
        }
    }
}
