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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            // The largest are as they were.
            let kept = scores.len().min(most / 2);
            let last: Vec<f64> = thinned.iter().map(|(score, _)| score).collect();
            prop_assert_eq!(&last[last.len() - kept..], &scores[scores.len() - kept..]);
        }
    }
}
