//! Venn-Abers prediction by folds.

use serde::{Deserialize, Serialize};

use super::distinct_scores::merge_ties;
use super::logistic::require_both_classes;
use super::venn_abers::LnSides;
use super::{
    CalibrationMethod, Calibrator, HeldOutScores, IntervalCalibrator, VennAbersCalibrator,
};
use crate::numeric::Random;
use crate::{CalibrationError, Probability};

/// Fits [`VennAbers`](super::VennAbers) to each fold of the held-out scores and merges what they
/// say.
///
/// # Formula
/// ```text
/// p = GM(p₁) / (GM(1 - p₀) + GM(p₁))
/// ```
/// with geometric means over the folds: the log-odds of `p` are the mean of the folds' log-odds.
/// The folds are those that the scores were cross-fitted by, so that the scores of one fold come
/// from one model; else five by chance, among which the weight of an example is dealt out piece by piece, so that a weight
/// of two is the example twice. The interval has the mean log-odds of the folds' ends, so it
/// holds `p`.
///
/// # When it misleads
/// Each fold sees a fifth of the examples: the folds' intervals are wider than one from all, and
/// averaging makes the curve smoother. The guarantee holds for each fold alone, not for what is
/// merged.
///
/// # Reference
/// Vovk, Petej & Fedorova, NeurIPS 2015 (cross Venn-Abers predictors, section 3).
///
/// ```
/// use calibrant_calibration::calibration::{CalibrationMethod, Calibrator, CrossVennAbers, HeldOutScores};
/// let scores = vec![0.0; 10].into_iter().chain(vec![1.0; 10]).collect();
/// let labels = [vec![false; 10], vec![true; 10]].concat();
/// let calibrator = CrossVennAbers.fit(&HeldOutScores::assume(scores, labels)?)?;
/// // By hand: each of five folds has two negatives at 0, so p₀ = 0, p₁ = 1/3 and p = 1/4.
/// assert!((calibrator.probability(0.0).value() - 0.25).abs() < 1e-12);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CrossVennAbers;

/// The intervals of all folds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedCrossVennAbers")]
pub struct CrossVennAbersCalibrator {
    folds: Vec<VennAbersCalibrator>,
    /// The folds' sides, averaged beforehand.
    #[serde(skip)]
    sides: LnSides,
}

impl CrossVennAbersCalibrator {
    fn new(folds: Vec<VennAbersCalibrator>) -> Self {
        Self {
            sides: LnSides::mean_of(&folds),
            folds,
        }
    }

    /// What each fold was fitted to.
    pub fn folds(&self) -> &[VennAbersCalibrator] {
        &self.folds
    }

    fn mean(&self, of: impl Fn(&VennAbersCalibrator) -> f64) -> f64 {
        self.folds.iter().map(of).sum::<f64>() / self.folds.len() as f64
    }
}

impl Calibrator for CrossVennAbersCalibrator {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        self.sides.merged(score)
    }
}

impl IntervalCalibrator for CrossVennAbersCalibrator {
    fn interval(&self, score: f64) -> (Probability, Probability) {
        (
            Probability::from_log_odds(self.mean(|fold| fold.log_odds_interval(score).0)),
            Probability::from_log_odds(self.mean(|fold| fold.log_odds_interval(score).1)),
        )
    }
}

impl CalibrationMethod for CrossVennAbers {
    type Calibrator = CrossVennAbersCalibrator;

    fn fit(&self, held_out: &HeldOutScores) -> Result<CrossVennAbersCalibrator, CalibrationError> {
        // Both labels must be there, but not in every fold.
        require_both_classes("cross Venn-Abers prediction", held_out)?;
        let (sorted, _) = held_out.sorted();
        let parts = if sorted.has_folds() {
            let numbers = sorted.folds();
            let last = numbers.iter().copied().max().unwrap_or(0);
            let part = |number| sorted.filtered(|example| numbers[example] == number);
            (0..=last).map(part).collect()
        } else {
            dealt(&sorted)
        };
        let folds = parts
            .iter()
            .filter(|part| !part.is_empty())
            .map(|part| VennAbersCalibrator::of(&merge_ties(part)?))
            .collect::<Result<Vec<_>, CalibrationError>>()?;
        Ok(CrossVennAbersCalibrator::new(folds))
    }
}

const FOLDS: usize = 5;
/// More pieces of weight than this are not distinguished.
const MOST_PIECES: f64 = 1e7;

/// Deals examples, which stand by rising score, into five parts by chance: each label's weight is a line of pieces of
/// weight one, every piece belongs to a part, and an example is where its stretch of the line lies.
fn dealt(sorted: &HeldOutScores) -> Vec<HeldOutScores> {
    let (positive, negative) = sorted.class_weights();
    let piece = (positive.max(negative) / MOST_PIECES).max(1.0);
    let mut random = Random::from_seed(0x666f_6c64);
    let lines = [negative, positive].map(|weight| {
        let pieces = (weight / piece - 1e-9).ceil().max(1.0) as usize;
        let mut line: Vec<usize> = (0..pieces).map(|place| place % FOLDS).collect();
        random.shuffle(&mut line);
        line
    });
    let mut parts = vec![(Vec::new(), Vec::new(), Vec::new()); FOLDS];
    let mut at = [0.0f64; 2];
    for (score, label, weight) in sorted.examples() {
        let (line, at) = (&lines[usize::from(label)], &mut at[usize::from(label)]);
        let end = *at + weight / piece;
        let mut of_part = [0.0; FOLDS];
        let mut place = *at;
        while place < end - 1e-9 {
            let number = (place + 1e-9).floor();
            let next = (number + 1.0).min(end);
            let part = line[(number as usize).min(line.len() - 1)];
            of_part[part] += (next - place) * piece;
            place = next;
        }
        *at = end;
        for ((scores, labels, weights), weight) in parts.iter_mut().zip(of_part) {
            if weight > 0.0 {
                scores.push(score);
                labels.push(label);
                weights.push(weight);
            }
        }
    }
    parts
        .into_iter()
        .map(|(scores, labels, weights)| {
            HeldOutScores::from_checked_parts(scores, labels, weights, None)
        })
        .collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedCrossVennAbers {
    folds: Vec<VennAbersCalibrator>,
}

impl TryFrom<SavedCrossVennAbers> for CrossVennAbersCalibrator {
    type Error = &'static str;

    fn try_from(saved: SavedCrossVennAbers) -> Result<Self, Self::Error> {
        if saved.folds.is_empty() {
            return Err("cross Venn-Abers prediction needs at least one fold");
        }
        Ok(Self::new(saved.folds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::VennAbers;

    #[test]
    fn a_weight_of_two_is_the_example_twice() {
        let examples = (0..60).map(|i| {
            (
                f64::from(i * 7 % 60),
                i * 7 % 60 + i * 11 % 40 > 50,
                1 + i % 3,
            )
        });
        let weighted: Vec<_> = examples.collect();
        let parts = |of: &dyn Fn(i32) -> usize, weight: &dyn Fn(i32) -> f64| {
            let rows = weighted
                .iter()
                .flat_map(|&(s, y, w)| vec![(s, y, weight(w)); of(w)]);
            let rows: Vec<_> = rows.collect();
            let held_out = HeldOutScores::assume_weighted(
                rows.iter().map(|row| row.0).collect(),
                rows.iter().map(|row| row.1).collect(),
                rows.iter().map(|row| row.2).collect(),
            );
            CrossVennAbers.fit(&held_out.unwrap()).unwrap()
        };
        let once = parts(&|_| 1, &f64::from);
        let repeated = parts(&|w| w as usize, &|_| 1.0);
        for score in [-1.0, 3.0, 20.5, 30.0, 59.0, 99.0] {
            let gap = once.probability(score).log_odds() - repeated.probability(score).log_odds();
            assert!(gap.abs() < 1e-9, "{score}: {gap}");
        }
    }

    #[test]
    fn the_folds_are_merged_by_geometric_means() {
        let scores: Vec<f64> = (0..60).map(|i| f64::from(i * 7 % 60)).collect();
        let labels: Vec<bool> = (0..60).map(|i| i * 7 % 60 + i * 11 % 40 > 50).collect();
        let held_out = HeldOutScores::assume(scores.clone(), labels.clone()).unwrap();
        let numbers = held_out.folds();
        let parts: Vec<VennAbersCalibrator> = (0..5)
            .map(|number| {
                VennAbers
                    .fit(&held_out.filtered(|example| numbers[example] == number))
                    .unwrap()
            })
            .collect();
        let calibrator = CrossVennAbers.fit(&held_out).unwrap();
        for score in [-1.0, 3.0, 20.5, 30.0, 59.0, 99.0] {
            let ends: Vec<(f64, f64)> = parts
                .iter()
                .map(|part| part.interval(score))
                .map(|(low, high)| (low.value(), high.value()))
                .collect();
            let above = ends.iter().map(|end| end.1).product::<f64>().powf(0.2);
            let below = ends
                .iter()
                .map(|end| 1.0 - end.0)
                .product::<f64>()
                .powf(0.2);
            let found = calibrator.probability(score);
            assert!((found.value() - above / (below + above)).abs() < 1e-12);
            let (low, high) = calibrator.interval(score);
            assert!(low <= found && found <= high);
        }
    }
}
