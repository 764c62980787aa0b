//! Held-out scores of all classes to their calibrators.

use rayon::prelude::*;

use super::summary::CalibrationNote;
use crate::calibration::{
    Calibrator, CalibratorKind, HeldOutScores, PlattCalibrator, PooledCurve, SavedCalibrator, Tried,
};
use crate::numeric::log_odds_against_rest;
use crate::{FitError, Probability, Task};

/// The calibrator of one output and how it came about.
pub(super) struct CalibratedOutput {
    pub(super) calibrator: SavedCalibrator,
    pub(super) kind: CalibratorKind,
    pub(super) note: CalibrationNote,
    pub(super) tried: Vec<Tried>,
    /// What is said of each training document by curves that were fitted without its fold.
    pub(super) forecasts: Vec<Probability>,
}

/// Calibrates every output. One with fewer positives than folds borrows the curve of the rarer
/// classes together; where there is none to borrow, its prior has to do.
pub(super) fn calibrate_outputs(
    held_out: &[HeldOutScores],
    kind: CalibratorKind,
    fold_count: usize,
) -> Result<Vec<CalibratedOutput>, FitError> {
    let is_rare = |scores: &HeldOutScores| {
        let positives = scores.positives();
        positives.min(scores.len() - positives) < fold_count
    };
    let pool = if kind != CalibratorKind::None && held_out.len() > 1 && held_out.iter().any(is_rare)
    {
        PooledCurve::fit(held_out)?
    } else {
        None
    };
    held_out
        .par_iter()
        .map(|scores| {
            if kind != CalibratorKind::None && is_rare(scores) {
                return Ok(rare(scores, pool.as_ref()));
            }
            let choice = kind.choose(scores)?;
            Ok(CalibratedOutput {
                calibrator: choice.calibrator,
                kind: choice.chosen,
                note: CalibrationNote::Own,
                tried: choice.tried,
                forecasts: choice.cross_validated,
            })
        })
        .collect()
}

fn rare(scores: &HeldOutScores, pool: Option<&PooledCurve>) -> CalibratedOutput {
    let prior = scores.ln_prior_odds();
    let (curve, note) = match pool {
        Some(pool) => (pool.for_class(prior), CalibrationNote::Pooled),
        None => (
            PlattCalibrator {
                slope: 0.0,
                intercept: prior,
            },
            CalibrationNote::PriorOnly,
        ),
    };
    let calibrator = SavedCalibrator::Platt(curve);
    let forecasts = scores
        .scores()
        .iter()
        .map(|&score| calibrator.probability(score))
        .collect();
    CalibratedOutput {
        calibrator,
        kind: CalibratorKind::Platt,
        note,
        tried: Vec::new(),
        forecasts,
    }
}

/// Turns the probabilities of outputs into probabilities of classes.
///
/// With several labels a document each stands for itself. With one label, two classes share an
/// output, and more are brought to a sum of one: `q_c = p_c / Σ p_k`, in log space.
pub(super) fn combine(
    task: Task,
    outputs: &[Probability],
    classes: &mut [Probability],
    room: &mut Vec<f64>,
) {
    match (task, outputs) {
        (Task::SingleLabel, &[second]) if classes.len() == 2 => {
            classes[0] = second.complement();
            classes[1] = second;
        }
        (Task::SingleLabel, _) => {
            room.clear();
            room.extend(outputs.iter().map(|p| p.ln()));
            let (weights, log_odds) = {
                room.resize(2 * outputs.len(), 0.0);
                room.split_at_mut(outputs.len())
            };
            log_odds_against_rest(weights, log_odds);
            classes
                .iter_mut()
                .zip(log_odds)
                .for_each(|(class, log_odds)| *class = Probability::from_log_odds(*log_odds));
        }
        (Task::MultiLabel, _) => classes.copy_from_slice(outputs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // 0.6 : 0.3 : 0.1 of one-against-rest probabilities 0.6, 0.3, 0.1 already sum to one.
    fn exclusive_classes_are_brought_to_a_sum_of_one() {
        let of = |p: f64| Probability::from_log_odds((p / (1.0 - p)).ln());
        let mut classes = [of(0.5); 3];
        combine(
            Task::SingleLabel,
            &[of(0.6), of(0.3), of(0.6)],
            &mut classes,
            &mut Vec::new(),
        );
        let values: Vec<f64> = classes.iter().map(|p| p.value()).collect();
        assert!((values[0] - 0.4).abs() < 1e-12 && (values[1] - 0.2).abs() < 1e-12);
        assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
