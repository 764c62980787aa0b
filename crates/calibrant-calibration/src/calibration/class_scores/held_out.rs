//! Scores of all classes for examples that the scorer did not learn from.

use std::borrow::Cow;

use super::shared_curve::{Labels, Link, ScoreRows};
use super::tame;
use crate::CalibrationError;
use crate::calibration::HeldOutScores;
use crate::calibration::held_out::one_each;
use crate::numeric::order_bits;

/// Scores of examples the scorer did not learn from, one per class; exactly one class is right.
///
/// ```
/// use calibrant_calibration::calibration::HeldOutClassScores;
/// let held_out = HeldOutClassScores::assume(vec![2.0, 0.0, -1.0, 0.5, 1.5, 0.0], 3, vec![0, 1])?;
/// assert_eq!(held_out.row(1), [0.5, 1.5, 0.0]);
/// assert_eq!(held_out.of_class(1).labels(), [false, true]);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone)]
pub struct HeldOutClassScores {
    scores: Vec<f64>,
    class_count: usize,
    labels: Vec<u32>,
    weights: Vec<f64>,
    folds: Option<Vec<u8>>,
}

impl HeldOutClassScores {
    /// Takes the caller's word that these examples were not learned from. Scores lie row after row.
    pub fn assume(
        scores: Vec<f64>,
        class_count: usize,
        labels: Vec<u32>,
    ) -> Result<Self, CalibrationError> {
        let weights = vec![1.0; labels.len()];
        Self::checked(scores, class_count, labels, weights)
    }

    /// As [`Self::assume`], with a positive weight for each example.
    pub fn assume_weighted(
        scores: Vec<f64>,
        class_count: usize,
        labels: Vec<u32>,
        weights: Vec<f64>,
    ) -> Result<Self, CalibrationError> {
        Self::checked(scores, class_count, labels, weights)
    }

    /// The fold of each example: the examples of a fold are left out together where calibrators are compared.
    pub fn with_folds(self, folds: Vec<u8>) -> Result<Self, CalibrationError> {
        Ok(Self {
            folds: Some(one_each(folds, self.len())?),
            ..self
        })
    }

    fn checked(
        mut scores: Vec<f64>,
        class_count: usize,
        labels: Vec<u32>,
        weights: Vec<f64>,
    ) -> Result<Self, CalibrationError> {
        let bad = |setting, requirement, value: String| CalibrationError::BadSetting {
            setting,
            requirement,
            value,
        };
        if class_count < 2 {
            let value = class_count.to_string();
            return Err(bad("the number of classes", "at least 2", value));
        }
        if labels.len().checked_mul(class_count) != Some(scores.len()) {
            return Err(CalibrationError::LengthMismatch {
                left_name: "scores (one per class and example)",
                left: scores.len(),
                right_name: "labels times classes",
                right: labels.len().saturating_mul(class_count),
            });
        }
        if weights.len() != labels.len() {
            return Err(CalibrationError::LengthMismatch {
                left_name: "labels",
                left: labels.len(),
                right_name: "weights",
                right: weights.len(),
            });
        }
        if let Some(position) = scores.iter().position(|score| !score.is_finite()) {
            return Err(CalibrationError::BadScore {
                position,
                value: scores[position],
            });
        }
        if let Some(label) = labels.iter().find(|&&label| label as usize >= class_count) {
            let value = label.to_string();
            return Err(bad("a label", "below the number of classes", value));
        }
        if let Some(weight) = weights
            .iter()
            .find(|weight| !(weight.is_finite() && **weight > 0.0))
        {
            return Err(bad("a weight", "a positive number", weight.to_string()));
        }
        if !weights.iter().sum::<f64>().is_finite() {
            return Err(CalibrationError::Overflow);
        }
        scores.iter_mut().for_each(|score| *score = tame(*score));
        Ok(Self {
            scores,
            class_count,
            labels,
            weights,
            folds: None,
        })
    }

    /// All scores, row after row.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// The scores of one example.
    pub fn row(&self, example: usize) -> &[f64] {
        &self.scores[example * self.class_count..][..self.class_count]
    }

    /// The right class of each example.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// How much each example counts.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.class_count
    }

    /// How many examples there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// One class against the rest.
    ///
    /// # Panics
    /// If there is no such class.
    pub fn of_class(&self, class: usize) -> HeldOutScores {
        assert!(class < self.class_count);
        let column = self.scores[class..].iter().step_by(self.class_count);
        let labels = self.labels.iter().map(|&label| label as usize == class);
        HeldOutScores::from_checked_parts(
            column.copied().collect(),
            labels.collect(),
            self.weights.clone(),
            self.folds.clone(),
        )
    }

    /// The examples class by class, within a class by rising scores, with a fold for each; and where
    /// each stood before. What is fitted to them does not depend on the order they came in.
    pub(super) fn arranged(&self) -> (Cow<'_, Self>, Vec<u32>) {
        let key = |example: u32| {
            let example = example as usize;
            (self.labels[example], order_bits(self.row(example)[0]))
        };
        // Rarely more than the first score is looked at.
        let rest = |example: u32| {
            let example = example as usize;
            let scores = self.row(example)[1..]
                .iter()
                .map(|&score| order_bits(score));
            (scores, self.weights[example].to_bits())
        };
        let compare = |a: u32, b: u32| {
            let (a, b) = (rest(a), rest(b));
            a.0.cmp(b.0).then(a.1.cmp(&b.1))
        };
        let mut keyed: Vec<((u32, u64), u32)> = (0..self.len() as u32)
            .map(|example| (key(example), example))
            .collect();
        keyed.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0)
                .then_with(|| compare(a.1, b.1))
                .then(a.1.cmp(&b.1))
        });
        let order: Vec<u32> = keyed.into_iter().map(|(_, example)| example).collect();
        if self.folds.is_some() && order.is_sorted() {
            return (Cow::Borrowed(self), order);
        }
        let mut scores = Vec::with_capacity(self.scores.len());
        order
            .iter()
            .for_each(|&example| scores.extend_from_slice(self.row(example as usize)));
        let labels: Vec<u32> = order.iter().map(|&i| self.labels[i as usize]).collect();
        let weights = order.iter().map(|&i| self.weights[i as usize]).collect();
        let folds = match &self.folds {
            Some(folds) => order.iter().map(|&i| folds[i as usize]).collect(),
            // Five in turn over the examples of each class.
            None => labels
                .chunk_by(|a, b| a == b)
                .flat_map(|class| (0..class.len()).map(|place| (place % 5) as u8))
                .collect(),
        };
        let arranged = Self {
            scores,
            class_count: self.class_count,
            labels,
            weights,
            folds: Some(folds),
        };
        (Cow::Owned(arranged), order)
    }

    /// As [`Self::arranged`], where nobody needs them as they came.
    pub(super) fn into_arranged(self) -> (Self, Vec<u32>) {
        match self.arranged() {
            (Cow::Owned(arranged), order) => (arranged, order),
            (Cow::Borrowed(_), order) => (self, order),
        }
    }

    /// How many folds there are; five where none were given.
    pub(super) fn fold_count(&self) -> usize {
        self.folds.as_ref().map_or(5, |folds| {
            1 + usize::from(folds.iter().copied().max().unwrap_or(0))
        })
    }

    /// The fold of an arranged example.
    pub(super) fn fold_of(&self, example: usize) -> usize {
        self.folds
            .as_ref()
            .map_or(0, |folds| usize::from(folds[example]))
    }

    /// The same as rows of scores; of arranged examples, which have folds.
    pub(super) fn score_rows(&self) -> ScoreRows<'_> {
        ScoreRows {
            link: Link::Softmax,
            class_count: self.class_count,
            scores: &self.scores,
            labels: Labels::One(&self.labels),
            weights: &self.weights,
            folds: self.folds.as_deref().unwrap_or_default(),
        }
    }

    /// All examples.
    pub(super) fn whole(&self) -> Part<'_> {
        Part {
            held_out: self,
            left_out: None,
        }
    }

    /// All examples but those of a fold.
    pub(super) fn without(&self, fold: usize) -> Part<'_> {
        Part {
            held_out: self,
            left_out: Some(fold),
        }
    }
}

/// Examples to fit to: all, or all but a fold. Nothing is copied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) held_out: &'a HeldOutClassScores,
    left_out: Option<usize>,
}

impl Part<'_> {
    pub(super) fn class_count(&self) -> usize {
        self.held_out.class_count
    }

    /// How many places for examples there are, those left out included.
    pub(super) fn places(&self) -> usize {
        self.held_out.len()
    }

    /// The label and weight of an example, or `None` if it is left out.
    #[inline]
    pub(super) fn example(&self, place: usize) -> Option<(usize, f64)> {
        let stays = self
            .left_out
            .is_none_or(|fold| self.held_out.fold_of(place) != fold);
        stays.then(|| {
            let label = self.held_out.labels[place] as usize;
            (label, self.held_out.weights[place])
        })
    }

    /// Scores, label and weight of every example among some that stays.
    pub(super) fn examples_of(
        &self,
        places: std::ops::Range<usize>,
    ) -> impl Iterator<Item = (&[f64], usize, f64)> + '_ {
        places.filter_map(|place| {
            let (label, weight) = self.example(place)?;
            Some((self.held_out.row(place), label, weight))
        })
    }

    /// The total weight of each class.
    pub(super) fn class_weights(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.class_count()];
        for place in 0..self.places() {
            if let Some((label, weight)) = self.example(place) {
                totals[label] += weight;
            }
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused() {
        let assume = HeldOutClassScores::assume;
        assert!(assume(vec![1.0], 1, vec![0]).is_err());
        assert!(assume(vec![1.0; 5], 3, vec![0, 1]).is_err());
        assert!(assume(vec![1.0; 6], 3, vec![0, 3]).is_err());
        assert!(assume(vec![f64::NAN; 6], 3, vec![0, 2]).is_err());
        let weighted = HeldOutClassScores::assume_weighted;
        assert!(weighted(vec![1.0; 6], 3, vec![0, 2], vec![1.0]).is_err());
        assert!(weighted(vec![1.0; 6], 3, vec![0, 2], vec![1.0, 0.0]).is_err());
        assert!(weighted(vec![1.0; 6], 3, vec![0, 2], vec![1e308; 2]).is_err());
    }

    #[test]
    fn arranged_examples_do_not_depend_on_the_order_they_came_in() {
        let rows = [[2.0, 1.0], [0.0, 1.0], [2.0, 0.5], [-1.0, 1.0]];
        let labels = [0, 1, 0, 1];
        let make = |order: [usize; 4]| {
            let scores = order.iter().flat_map(|&i| rows[i]).collect();
            let labels = order.iter().map(|&i| labels[i]).collect();
            HeldOutClassScores::assume(scores, 2, labels).unwrap()
        };
        let (one, other) = (make([0, 1, 2, 3]), make([3, 1, 0, 2]));
        let (a, order) = one.arranged();
        assert_eq!(order, [2, 0, 3, 1]);
        let (b, _) = other.arranged();
        assert_eq!((a.scores(), a.labels()), (b.scores(), b.labels()));
        assert_eq!(a.folds, b.folds);
    }
}
