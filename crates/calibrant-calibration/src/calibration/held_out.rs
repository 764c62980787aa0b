//! Scores of examples that the scorer did not learn from.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::numeric::{Random, order_bits, rising_order, sort_keys_then};
use crate::{CalibrationError, parallel};

/// Scores of examples the scorer did not learn from: by cross-fitting, from a validation set, or
/// on the caller's word. Calibrators accept nothing else, so training scores cannot reach them by
/// mistake:
///
/// ```compile_fail
/// use calibrant_calibration::calibration::{CalibrationMethod, Platt};
/// let training_scores = vec![1.0, -1.0, 2.0];
/// Platt.fit(&training_scores); // not held out: does not compile
/// ```
/// ```
/// use calibrant_calibration::calibration::HeldOutScores;
/// let held_out = HeldOutScores::assume(vec![1.0, -1.0, 2.0], vec![true, false, true])?;
/// assert_eq!(held_out.positives(), 2);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone)]
pub struct HeldOutScores {
    scores: Vec<f64>,
    labels: Vec<bool>,
    // Shared: the outputs of a classifier have the same examples, and may be thousands.
    weights: Arc<[f64]>,
    folds: Option<Arc<[u8]>>,
}

impl HeldOutScores {
    /// Takes the caller's word that these examples were not learned from.
    pub fn assume(scores: Vec<f64>, labels: Vec<bool>) -> Result<Self, CalibrationError> {
        let weights = vec![1.0; scores.len()];
        Self::checked(scores, labels, weights.into())
    }

    /// As [`Self::assume`], with a positive weight for each example.
    pub fn assume_weighted(
        scores: Vec<f64>,
        labels: Vec<bool>,
        weights: Vec<f64>,
    ) -> Result<Self, CalibrationError> {
        Self::checked(scores, labels, weights.into())
    }

    /// As [`Self::assume_weighted`] and [`Self::with_folds`], of weights and folds that many outputs have in common and share: a
    /// thousand classes of a million documents would have 9 GB of copies.
    ///
    /// ```
    /// use calibrant_calibration::calibration::HeldOutScores;
    /// use std::sync::Arc;
    /// let (weights, folds): (Arc<[f64]>, Arc<[u8]>) = ([1.0, 2.0].into(), [0, 1].into());
    /// let first = HeldOutScores::sharing(vec![0.5, 1.5], vec![true, false], &weights, &folds)?;
    /// let second = HeldOutScores::sharing(vec![2.5, 0.5], vec![false, true], &weights, &folds)?;
    /// assert!(std::ptr::eq(first.weights(), second.weights()));
    /// # Ok::<(), calibrant_calibration::CalibrationError>(())
    /// ```
    pub fn sharing(
        scores: Vec<f64>,
        labels: Vec<bool>,
        weights: &Arc<[f64]>,
        folds: &Arc<[u8]>,
    ) -> Result<Self, CalibrationError> {
        let checked = Self::checked(scores, labels, Arc::clone(weights))?;
        Ok(Self {
            folds: Some(one_each(Arc::clone(folds), checked.len())?),
            ..checked
        })
    }

    /// The fold of each example: the examples of a fold were scored without each other, and are left
    /// out together where calibrators are compared.
    pub fn with_folds(self, folds: Vec<u8>) -> Result<Self, CalibrationError> {
        Ok(Self {
            folds: Some(one_each(folds.into(), self.len())?),
            ..self
        })
    }

    /// From parts that were checked before.
    pub(super) fn from_checked_parts(
        scores: Vec<f64>,
        labels: Vec<bool>,
        weights: Vec<f64>,
        folds: Option<Vec<u8>>,
    ) -> Self {
        Self {
            scores,
            labels,
            weights: weights.into(),
            folds: folds.map(Arc::from),
        }
    }

    fn checked(
        scores: Vec<f64>,
        labels: Vec<bool>,
        weights: Arc<[f64]>,
    ) -> Result<Self, CalibrationError> {
        let mismatch = |right_name, right| CalibrationError::LengthMismatch {
            left_name: "scores",
            left: scores.len(),
            right_name,
            right,
        };
        if labels.len() != scores.len() {
            return Err(mismatch("labels", labels.len()));
        }
        if weights.len() != scores.len() {
            return Err(mismatch("weights", weights.len()));
        }
        if let Some(position) = scores.iter().position(|score| !score.is_finite()) {
            return Err(CalibrationError::BadScore {
                position,
                value: scores[position],
            });
        }
        if let Some(weight) = weights
            .iter()
            .find(|weight| !(weight.is_finite() && **weight > 0.0))
        {
            return Err(CalibrationError::BadSetting {
                setting: "a weight",
                requirement: "a positive number",
                value: weight.to_string(),
            });
        }
        Ok(Self {
            scores,
            labels,
            weights,
            folds: None,
        })
    }

    /// The scores.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// The truth of each example.
    pub fn labels(&self) -> &[bool] {
        &self.labels
    }

    /// How much each example counts.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// How many examples there are.
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// How many examples are positive.
    pub fn positives(&self) -> usize {
        self.labels.iter().filter(|&&label| label).count()
    }

    /// Score, truth and weight of each example.
    pub fn examples(&self) -> impl Iterator<Item = (f64, bool, f64)> + Clone + '_ {
        self.examples_of(0..self.len())
    }

    /// The same of a range.
    pub(super) fn examples_of(
        &self,
        range: Range<usize>,
    ) -> impl Iterator<Item = (f64, bool, f64)> + Clone + '_ {
        self.scores[range.clone()]
            .iter()
            .zip(&self.labels[range.clone()])
            .zip(&self.weights[range])
            .map(|((&score, &label), &weight)| (score, label, weight))
    }

    /// The total weight of positives and of negatives.
    pub fn class_weights(&self) -> (f64, f64) {
        let sums = parallel::map_parts(self.len(), |part| {
            let mut sums = [0.0; 2];
            for (&label, weight) in self.labels[part.clone()].iter().zip(&self.weights[part]) {
                sums[usize::from(label)] += weight;
            }
            sums
        });
        let add = |(positive, negative), part: [f64; 2]| (positive + part[1], negative + part[0]);
        sums.into_iter().fold((0.0, 0.0), add)
    }

    /// Log of the prior odds `(N₊ + 1) / (N₋ + 1)`, which is what `(N₊ + 1) / (N + 2)` amounts to.
    pub fn ln_prior_odds(&self) -> f64 {
        let (positive, negative) = self.class_weights();
        ((positive + 1.0) / (negative + 1.0)).ln()
    }

    /// The folds that the examples came with.
    pub(super) fn given_folds(&self) -> Option<&[u8]> {
        self.folds.as_deref()
    }

    /// The examples in another order.
    pub(super) fn in_order(&self, order: &[u32]) -> Self {
        let at = |place: usize| order[place] as usize;
        let even = self.weights.windows(2).all(|pair| pair[0] == pair[1]);
        Self {
            scores: parallel::fill(order.len(), 0.0, |place| self.scores[at(place)]),
            labels: parallel::fill(order.len(), false, |place| self.labels[at(place)]),
            weights: match even && order.len() == self.len() {
                true => Arc::clone(&self.weights),
                false => parallel::fill(order.len(), 0.0, |place| self.weights[at(place)]).into(),
            },
            folds: self
                .folds
                .as_ref()
                .map(|folds| order.iter().map(|&i| folds[i as usize]).collect()),
        }
    }

    /// Whether the examples came with folds.
    pub(super) fn has_folds(&self) -> bool {
        self.folds.is_some()
    }

    /// The fold of each example: as it was cross-fitted, else one of five by chance, equally many of
    /// each label. Chance runs over the examples by rising score, so that it does not depend on the
    /// order they came in. (Folds in turn along the score would leave each fold evenly spread between
    /// the others, where a curve that follows every example looks better than it is.)
    pub(super) fn folds(&self) -> Vec<u8> {
        if let Some(folds) = &self.folds {
            return folds.to_vec();
        }
        let mut random = Random::from_seed(0x666f_6c64);
        let positives = self.positives();
        let mut dealt = [self.len() - positives, positives].map(|count| {
            let mut folds: Vec<u8> = (0..count).map(|i| (i % 5) as u8).collect();
            random.shuffle(&mut folds);
            folds.into_iter()
        });
        let mut folds = vec![0; self.len()];
        let mut deal = |example: usize| {
            let next = dealt[usize::from(self.labels[example])].next();
            folds[example] = next.unwrap_or(0);
        };
        if self.scores.is_sorted() {
            (0..self.len()).for_each(deal);
        } else {
            let order = rising_order(&self.scores);
            order.into_iter().for_each(|example| deal(example as usize));
        }
        folds
    }

    /// The examples by rising score (then label and weight), and where each stood before.
    #[doc(hidden)] // For the crate `calibrant`, which draws samples along the score.
    pub fn sorted(&self) -> (Self, Vec<u32>) {
        let key = |example: usize| (order_bits(self.scores[example]), example as u32);
        let mut keys = parallel::fill(self.len(), (0, 0), key);
        // Ties stand in an order that does not depend on the one they came in.
        let tie = |&(_, example): &(u64, u32)| {
            let example = example as usize;
            (self.labels[example], self.weights[example].to_bits())
        };
        sort_keys_then(&mut keys, |keys| {
            for tied in keys.chunk_by_mut(|a, b| a.0 == b.0) {
                if tied.len() > 1 {
                    tied.sort_by_key(tie);
                }
            }
        });
        let order = parallel::fill(keys.len(), 0, |place| keys[place].1);
        let sorted = self.in_order(&order);
        (sorted, order)
    }

    /// The examples by rising score; borrowed where they stand so already. Methods that need
    /// sorted scores call this, so that trying many of them sorts once.
    pub(super) fn rising(&self) -> Cow<'_, Self> {
        if self.scores.is_sorted() {
            Cow::Borrowed(self)
        } else {
            Cow::Owned(self.sorted().0)
        }
    }

    /// The examples that `keep` holds for.
    pub(super) fn filtered(&self, keep: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.len()).filter(|&example| keep(example)).collect();
        Self {
            scores: kept.iter().map(|&i| self.scores[i]).collect(),
            labels: kept.iter().map(|&i| self.labels[i]).collect(),
            weights: kept.iter().map(|&i| self.weights[i]).collect(),
            folds: None,
        }
    }
}

/// Folds, if there is one for each example.
pub(super) fn one_each<F: AsRef<[u8]>>(folds: F, examples: usize) -> Result<F, CalibrationError> {
    if folds.as_ref().len() == examples {
        return Ok(folds);
    }
    Err(CalibrationError::LengthMismatch {
        left_name: "examples",
        left: examples,
        right_name: "folds",
        right: folds.as_ref().len(),
    })
}
