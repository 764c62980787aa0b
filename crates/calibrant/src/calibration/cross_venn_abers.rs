//! Venn-Abers prediction by folds.

use serde::{Deserialize, Serialize};

use super::distinct_scores::{merge_ties, refuse_one_class};
use super::venn_abers::LnSides;
use super::{
    CalibrationMethod, Calibrator, HeldOutScores, IntervalCalibrator, VennAbersCalibrator,
};
use crate::{FitError, Probability};

/// Fits [`VennAbers`](super::VennAbers) to each fold of the held-out scores and merges what they
/// say.
///
/// # Formula
/// ```text
/// p = GM(p₁) / (GM(1 - p₀) + GM(p₁))
/// ```
/// with geometric means over the folds: the log-odds of `p` are the mean of the folds' log-odds.
/// The folds are those that the scores were cross-fitted by, so that the scores of one fold come
/// from one model; else five in turn. The interval has the mean log-odds of the folds' ends, so it
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
/// use calibrant::calibration::{CalibrationMethod, Calibrator, CrossVennAbers, HeldOutScores};
/// let scores = vec![0.0; 10].into_iter().chain(vec![1.0; 10]).collect();
/// let labels = [vec![false; 10], vec![true; 10]].concat();
/// let calibrator = CrossVennAbers.fit(&HeldOutScores::assume(scores, labels)?)?;
/// // By hand: each of five folds has two negatives at 0, so p₀ = 0, p₁ = 1/3 and p = 1/4.
/// assert!((calibrator.probability(0.0).value() - 0.25).abs() < 1e-12);
/// # Ok::<(), calibrant::FitError>(())
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

    fn fit(&self, held_out: &HeldOutScores) -> Result<CrossVennAbersCalibrator, FitError> {
        // Both labels must be there, but not in every fold.
        refuse_one_class(held_out, "cross Venn-Abers prediction")?;
        let (sorted, _) = held_out.sorted();
        let numbers = sorted.folds();
        let mut folds = Vec::new();
        for number in 0..=numbers.iter().copied().max().unwrap_or(0) {
            let fold = sorted.filtered(|example| numbers[example] == number);
            if !fold.is_empty() {
                folds.push(VennAbersCalibrator::of(&merge_ties(&fold)?)?);
            }
        }
        Ok(CrossVennAbersCalibrator::new(folds))
    }
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
