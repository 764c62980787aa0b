//! A line for each of many classes, as a member of a pool.

use super::one_vs_rest::CalibratedClass;
use crate::calibration::{
    CalibrationMethod, Calibrator, CalibratorKind, ChoiceRules, HeldOutScores, Platt,
    PlattCalibrator, SavedCalibrator, Tried,
};
use crate::{CalibrationError, Probability};

/// Fits a class's own curve where that is one member of a pool. A line is fitted to all scores; the lines that only
/// forecast their fold are fitted to [`Cells`] of them. `order` names the examples in one that does not depend on
/// how they came.
pub(super) fn own_member(
    held_out: &HeldOutScores,
    kind: CalibratorKind,
    order: &[u32],
) -> Result<CalibratedClass, CalibrationError> {
    let rules = ChoiceRules::default();
    match (kind, held_out.given_folds()) {
        (CalibratorKind::Platt, Some(folds)) if held_out.len() >= MANY => {
            match Cells::of(held_out, folds, order) {
                Some(cells) => cells.line(held_out, folds, order),
                None => Ok(CalibratedClass::own(kind.choose_by(held_out, rules)?)),
            }
        }
        _ => Ok(CalibratedClass::own(kind.choose_by(held_out, rules)?)),
    }
}

/// Examples from which on cells save time.
const MANY: usize = 2000;
/// Cells between the lowest and the highest score.
const CELLS: usize = 512;
/// Scores beyond this are not taken together: their sums might overflow.
const FAR: f64 = 1e100;
/// Nor are those whose range is more than so many mean deviations: a few that lie far out would leave one cell to all the others.
const WIDEST: f64 = 64.0;

/// Examples of one fold and one label whose scores lie in the same of [`CELLS`] equal cells, taken together: one
/// example with their mean score and all their weight.
///
/// Within a cell a line's loss differs from that at the mean by `w a² p (1-p) v / 2` with the slope `a` and the
/// variance `v` of the scores in the cell: where log-odds go from -15 to 10 over the scores of a class with one document
/// in a hundred, some `1e-7` nats per example.
struct Cells {
    low: f64,
    /// By fold, then label, then cell.
    slots: Vec<Slot>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    weight: f64,
    /// `Σ w (s - low)`.
    sum: f64,
}

impl Cells {
    /// `None` where scores are too far apart, a few of them far from the others, or all the same.
    fn of(held_out: &HeldOutScores, folds: &[u8], order: &[u32]) -> Option<Self> {
        let scores = held_out.scores();
        let (low, high) = scores.iter().fold((f64::MAX, f64::MIN), |(low, high), &s| {
            (low.min(s), high.max(s))
        });
        let scale = CELLS as f64 / (high - low);
        if low < -FAR || high > FAR || !scale.is_finite() {
            return None;
        }
        let count = scores.len() as f64;
        let mean = order
            .iter()
            .map(|&i| scores[i as usize] / count)
            .sum::<f64>();
        let deviations = order.iter().map(|&i| (scores[i as usize] - mean).abs());
        if high - low > WIDEST * deviations.sum::<f64>() / count {
            return None;
        }
        let fold_count = 1 + usize::from(folds.iter().copied().max()?);
        let mut slots = vec![Slot::default(); fold_count * 2 * CELLS];
        for &example in order {
            let example = example as usize;
            let distance = scores[example] - low;
            let cell = ((distance * scale) as usize).min(CELLS - 1);
            let label = usize::from(held_out.labels()[example]);
            let slot = &mut slots[(2 * usize::from(folds[example]) + label) * CELLS + cell];
            let weight = held_out.weights()[example];
            slot.weight += weight;
            slot.sum += weight * distance;
        }
        Some(Self { low, slots })
    }

    /// The examples of all folds, or of all but one.
    fn examples(&self, left_out: Option<usize>) -> HeldOutScores {
        let (mut scores, mut labels, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for place in 0..2 * CELLS {
            let folds = self.slots.iter().skip(place).step_by(2 * CELLS).enumerate();
            let kept = folds.filter(|(fold, _)| Some(*fold) != left_out);
            let (weight, sum) = kept.fold((0.0, 0.0), |(weight, sum), (_, slot)| {
                (weight + slot.weight, sum + slot.sum)
            });
            if weight > 0.0 {
                scores.push(self.low + sum / weight);
                labels.push(place >= CELLS);
                weights.push(weight);
            }
        }
        HeldOutScores::from_checked_parts(scores, labels, weights, None)
    }

    /// The line, and what lines fitted without its fold say of each example.
    fn line(
        &self,
        held_out: &HeldOutScores,
        folds: &[u8],
        order: &[u32],
    ) -> Result<CalibratedClass, CalibrationError> {
        let near = Platt.fit(&self.examples(None))?;
        let without = (0..self.slots.len() / (2 * CELLS))
            .map(|fold| Platt.fit_from(&self.examples(Some(fold)), Some(&near)))
            .collect::<Result<Vec<PlattCalibrator>, CalibrationError>>()?;
        let line = Platt.fit_from(&held_out.in_order(order), Some(&near))?;
        let said = held_out.scores().iter().zip(folds);
        let forecasts: Vec<Probability> = said
            .map(|(&score, &fold)| without[usize::from(fold)].probability(score))
            .collect();
        let (mut loss, mut total) = (0.0, 0.0);
        for &example in order {
            let example = example as usize;
            let weight = held_out.weights()[example];
            loss += weight * forecasts[example].log_loss(held_out.labels()[example]);
            total += weight;
        }
        Ok(CalibratedClass {
            calibrator: SavedCalibrator::Platt(line).held(held_out),
            kind: CalibratorKind::Platt,
            note: super::CalibrationNote::Own,
            tried: vec![Tried {
                method: CalibratorKind::Platt,
                log_loss: Some(loss / total),
            }],
            forecasts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::{Random, sigmoid};

    /// Scores around -0.9, few of them positive, as a linear SVM gives them for one class of many.
    fn held_out(count: usize) -> HeldOutScores {
        let mut random = Random::from_seed(5);
        let scores: Vec<f64> = (0..count).map(|_| 0.3 * random.normal() - 0.9).collect();
        let labels = scores
            .iter()
            .map(|s| random.uniform() < sigmoid(7.0 * s))
            .collect();
        let weights = (0..count).map(|_| 0.5 + random.uniform()).collect();
        let folds = (0..count).map(|_| random.below(5) as u8).collect();
        let held_out = HeldOutScores::assume_weighted(scores, labels, weights).unwrap();
        held_out.with_folds(folds).unwrap()
    }

    fn rising(held_out: &HeldOutScores) -> Vec<u32> {
        let mut order: Vec<u32> = (0..held_out.len() as u32).collect();
        order.sort_by(|&a, &b| {
            held_out.scores()[a as usize].total_cmp(&held_out.scores()[b as usize])
        });
        order
    }

    #[test]
    fn a_line_is_that_of_all_scores_and_folds_are_forecast_as_well() {
        let held_out = held_out(6000);
        let quick = own_member(&held_out, CalibratorKind::Platt, &rising(&held_out)).unwrap();
        let exact = CalibratorKind::Platt.choose(&held_out).unwrap();
        let of = |saved: &SavedCalibrator| match saved.curve() {
            SavedCalibrator::Platt(line) => *line,
            other => panic!("{other:?}"),
        };
        let (a, b) = (of(&quick.calibrator), of(&exact.calibrator));
        assert!((a.slope / b.slope - 1.0).abs() < 1e-4, "{a:?} {b:?}");
        assert!((a.intercept - b.intercept).abs() < 1e-3, "{a:?} {b:?}");
        let (quick, exact) = (quick.tried[0].log_loss, exact.tried[0].log_loss);
        let (quick, exact) = (quick.unwrap(), exact.unwrap());
        assert!((quick - exact).abs() < 1e-6, "{quick} {exact}");
    }

    #[test]
    fn cells_keep_weights_and_means_of_each_label() {
        let held_out = held_out(3000);
        let folds = held_out.given_folds().unwrap();
        let cells = Cells::of(&held_out, folds, &rising(&held_out)).unwrap();
        let rest = held_out.filtered(|example| folds[example] != 3);
        let few = cells.examples(Some(3));
        assert!(few.len() < 600, "{}", few.len());
        for side in [true, false] {
            let sums = |of: &HeldOutScores| {
                let side = of.examples().filter(|(_, label, _)| *label == side);
                side.fold((0.0, 0.0), |sum, (score, _, weight)| {
                    (sum.0 + weight, sum.1 + weight * score)
                })
            };
            let (all, few) = (sums(&rest), sums(&few));
            assert!((all.0 - few.0).abs() < 1e-9 && (all.1 - few.1).abs() < 1e-9);
        }
    }

    #[test]
    fn the_order_of_examples_changes_no_bit() {
        let held_out = held_out(2500);
        let turned: Vec<u32> = (0..2500).rev().collect();
        let back = held_out.in_order(&turned);
        let fit = |of: &HeldOutScores| own_member(of, CalibratorKind::Platt, &rising(of)).unwrap();
        let (one, other) = (fit(&held_out), fit(&back));
        assert_eq!(one.calibrator, other.calibrator);
        assert!(one.forecasts.iter().eq(other.forecasts.iter().rev()));
    }

    #[test]
    fn one_score_far_out_does_not_blur_the_others() {
        let held_out = held_out(4000);
        let mut scores = held_out.scores().to_vec();
        scores[17] = 1e4;
        let far = HeldOutScores::assume(scores, held_out.labels().to_vec()).unwrap();
        let far = far.with_folds(held_out.given_folds().unwrap().to_vec());
        let far = far.unwrap();
        let quick = own_member(&far, CalibratorKind::Platt, &rising(&far)).unwrap();
        let exact = CalibratorKind::Platt.choose(&far).unwrap();
        let [quick, exact] = [quick.tried[0], exact.tried[0]].map(|tried| tried.log_loss.unwrap());
        assert!((quick - exact).abs() < 1e-6);
    }

    #[test]
    fn scores_that_are_the_same_or_too_far_apart_are_left_as_they_are() {
        let labels: Vec<bool> = (0..3000).map(|i| i % 3 == 0).collect();
        let order: Vec<u32> = (0..3000).collect();
        for scores in [
            vec![2.0; 3000],
            (0..3000).map(|i| f64::from(i) * 1e300).collect(),
        ] {
            let held_out = HeldOutScores::assume(scores, labels.clone()).unwrap();
            assert!(Cells::of(&held_out, &[0; 3000], &order).is_none());
        }
    }
}
