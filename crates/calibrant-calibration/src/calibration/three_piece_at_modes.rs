//! Three linear pieces with bends where two densities have their modes.

use super::{
    AsymmetricLaplace, CalibrationMethod, Density, DensityCalibrator, HeldOutScores, Platt,
    PlattCalibrator, ThreePiece, ThreePieceCalibrator,
};
use crate::CalibrationError;

/// As [`ThreePiece`], with the bends at the modes of two asymmetric Laplace densities.
///
/// # Formula
/// ```text
/// ln P/(1-P) = b + a s + a₁ max(0, s - k₁) + a₂ max(0, s - k₂),   k₁ <= k₂ the modes
/// ```
/// Two [`AsymmetricLaplace`] densities have log-odds of this form. Here only the places of the
/// bends are theirs; slopes and intercept are fitted to the labels, so that the densities need not
/// be right. A bend that would make the curve fall is taken out again, as there; modes that coincide
/// make one bend.
///
/// # When it misleads
/// The negatives' mode often lies where there are hardly any positives, and the slope below it
/// then rests on a few of them.
///
/// # Reference
/// Bennett, SIGIR 2003, names it as future work in section 5.
///
/// ```
/// use calibrant_calibration::calibration::{CalibrationMethod, HeldOutScores, ThreePieceAtModes};
/// // Negatives heap up at -1, positives at 1.
/// let near = |mode: f64, i: i32| mode + f64::from(i % 11 - 5) * f64::from(i % 11 - 5).abs() / 10.0;
/// let scores = (0..220).map(|i| near(if i % 2 == 0 { -1.0 } else { 1.0 }, i)).collect();
/// let labels = (0..220).map(|i| i % 2 == 1).collect();
/// let curve = ThreePieceAtModes.fit(&HeldOutScores::assume(scores, labels)?)?;
/// let bends: Vec<f64> = curve.bends.iter().filter(|bend| bend.1 != 0.0).map(|bend| bend.0).collect();
/// assert!(bends.iter().all(|at| (at.abs() - 1.0).abs() < 1e-9));
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreePieceAtModes;

impl CalibrationMethod for ThreePieceAtModes {
    type Calibrator = ThreePieceCalibrator;

    fn fit(&self, held_out: &HeldOutScores) -> Result<ThreePieceCalibrator, CalibrationError> {
        self.fit_bending(held_out, Platt.fit(held_out)?)
    }
}

impl ThreePieceAtModes {
    /// Fits by bending Platt's curve of the same examples.
    pub(super) fn fit_bending(
        &self,
        held_out: &HeldOutScores,
        platt: PlattCalibrator,
    ) -> Result<ThreePieceCalibrator, CalibrationError> {
        let densities = DensityCalibrator::<AsymmetricLaplace>::fit(held_out)?;
        let mut modes = [densities.negative.mode(), densities.positive.mode()];
        modes.sort_by(f64::total_cmp);
        ThreePiece.fit_bending_at(held_out, platt, modes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::Calibrator;
    use crate::numeric::Random;

    #[test]
    fn the_bends_of_two_asymmetric_laplace_densities_are_found() {
        let truth = DensityCalibrator {
            positive: AsymmetricLaplace::new(0.5, 1.5, 1.0).unwrap(),
            negative: AsymmetricLaplace::new(-1.0, 1.0, 3.0).unwrap(),
            ln_prior_odds: (0.2f64 / 0.8).ln(),
        };
        let mut random = Random::from_seed(12);
        let (mut scores, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..40_000 {
            let label = random.uniform() < 0.2;
            let density = if label {
                truth.positive
            } else {
                truth.negative
            };
            let (left, right) = density.rates();
            let distance = -random.open_uniform().ln();
            let to_the_left = random.uniform() < right / (left + right);
            scores.push(if to_the_left {
                density.mode() - distance / left
            } else {
                density.mode() + distance / right
            });
            labels.push(label);
        }
        let held_out = HeldOutScores::assume(scores, labels).unwrap();
        let curve = ThreePieceAtModes.fit(&held_out).unwrap();
        let loss = |calibrator: &dyn Calibrator| {
            held_out
                .examples()
                .map(|(score, label, _)| calibrator.probability(score).log_loss(label))
                .sum::<f64>()
                / held_out.len() as f64
        };
        let straight = Platt.fit(&held_out).unwrap();
        assert!(loss(&curve) < loss(&straight) - 1e-3);
        // The truth falls on the left (slope -0.5), which a rising curve cannot; elsewhere it is met.
        for score in [-0.8, -0.3, 0.2, 0.45] {
            let (ours, theirs) = (curve.probability(score), truth.probability(score));
            assert!(
                (ours.log_odds() - theirs.log_odds()).abs() < 0.25,
                "{score} {curve:?}"
            );
        }
    }

    #[test]
    fn modes_that_coincide_make_one_bend_or_none() {
        let scores = vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 2.0, -2.0];
        let labels = (0..10).map(|i| i % 2 == 0).collect();
        let curve = ThreePieceAtModes
            .fit(&HeldOutScores::assume(scores, labels).unwrap())
            .unwrap();
        assert!(curve.bends.iter().filter(|bend| bend.1 != 0.0).count() <= 1);
        assert!(curve.probability(0.5).log_odds().is_finite());
    }
}
