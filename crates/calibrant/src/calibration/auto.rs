//! Which calibrator? The one that forecasts held-out labels best.

use serde::{Deserialize, Serialize};

use super::{AsymmetricLaplaceMethod, CalibrationMethod, Calibrator, HeldOutScores, Platt, SavedCalibrator};
use crate::FitError;

/// A calibration method by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalibratorKind {
    /// The method with the least cross-validated log loss, class by class.
    Auto,
    /// Platt's curve.
    Platt,
    /// Two asymmetric Laplace densities.
    AsymmetricLaplace,
    /// The score itself, read as log-odds.
    None,
}

impl CalibratorKind {
    /// The methods that [`CalibratorKind::Auto`] chooses from, the simplest first.
    pub const CANDIDATES: [Self; 2] = [Self::Platt, Self::AsymmetricLaplace];

    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Platt => "platt",
            Self::AsymmetricLaplace => "asymmetric_laplace",
            Self::None => "none",
        }
    }

    /// Fits the method, which must not be [`CalibratorKind::Auto`], to held-out scores.
    fn fit(self, held_out: &HeldOutScores) -> Result<SavedCalibrator, FitError> {
        Ok(match self {
            Self::Platt | Self::Auto => SavedCalibrator::Platt(Platt.fit(held_out)?),
            Self::AsymmetricLaplace => SavedCalibrator::AsymmetricLaplace(AsymmetricLaplaceMethod.fit(held_out)?),
            Self::None => SavedCalibrator::Identity,
        })
    }

    /// Fits the method; `Auto` tries every candidate and keeps the best.
    pub fn choose(self, held_out: &HeldOutScores) -> Result<Choice, FitError> {
        if self != Self::Auto {
            return Ok(Choice { chosen: self, calibrator: self.fit(held_out)?, tried: Vec::new() });
        }
        let folds = held_out.folds();
        let mut tried: Vec<Tried> = Vec::new();
        for method in Self::CANDIDATES {
            if let Ok(log_loss) = method.cross_validated_log_loss(held_out, &folds) {
                tried.push(Tried { method, log_loss });
            }
        }
        // A later, more flexible candidate must be better, not merely as good.
        let chosen = tried.iter().fold(None::<&Tried>, |best, tried| match best {
            Some(best) if tried.log_loss >= best.log_loss => Some(best),
            _ => Some(tried),
        });
        let chosen = chosen.map_or(Self::Platt, |tried| tried.method);
        Ok(Choice { chosen, calibrator: chosen.fit(held_out)?, tried })
    }

    /// Mean log loss (nats) on each fold of curves fitted to the other folds.
    fn cross_validated_log_loss(self, held_out: &HeldOutScores, folds: &[u8]) -> Result<f64, FitError> {
        let (mut loss, mut total) = (0.0, 0.0);
        for fold in 0..=folds.iter().copied().max().unwrap_or(0) {
            let rest = held_out.filtered(|example| folds[example] != fold);
            let calibrator = self.fit(&rest)?;
            for (example, (score, label, weight)) in held_out.examples().enumerate() {
                if folds[example] == fold {
                    loss += weight * calibrator.probability(score).log_loss(label);
                    total += weight;
                }
            }
        }
        Ok(loss / total)
    }
}

/// A method and how well it forecast.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tried {
    /// The method.
    pub method: CalibratorKind,
    /// Its cross-validated log loss, in nats an example.
    pub log_loss: f64,
}

/// What was chosen, and against what.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The method.
    pub chosen: CalibratorKind,
    /// The fitted calibrator.
    pub calibrator: SavedCalibrator,
    /// All candidates with their losses; empty where there was no choice.
    pub tried: Vec<Tried>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::{Random, sigmoid};

    fn exponential(random: &mut Random, rate: f64) -> f64 {
        -(1.0 - random.uniform()).ln() / rate
    }

    #[test]
    fn bent_log_odds_choose_the_densities() {
        let mut random = Random::from_seed(3);
        let (mut scores, mut labels) = (Vec::new(), Vec::new());
        for i in 0..4000 {
            let positive = i % 10 == 0;
            let (mode, left, right) = if positive { (0.5, 1.5, 1.0) } else { (-1.0, 1.0, 3.0) };
            let to_the_left = random.uniform() < right / (left + right);
            scores.push(if to_the_left { mode - exponential(&mut random, left) } else { mode + exponential(&mut random, right) });
            labels.push(positive);
        }
        let choice = CalibratorKind::Auto.choose(&HeldOutScores::assume(scores, labels).unwrap()).unwrap();
        assert_eq!(choice.chosen, CalibratorKind::AsymmetricLaplace);
        assert!(choice.tried[1].log_loss < choice.tried[0].log_loss);
    }

    #[test]
    fn straight_log_odds_choose_platt() {
        let mut random = Random::from_seed(4);
        let scores: Vec<f64> = (0..4000).map(|_| 6.0 * random.uniform() - 3.0).collect();
        let labels = scores.iter().map(|s| random.uniform() < sigmoid(1.5 * s - 0.5)).collect();
        let choice = CalibratorKind::Auto.choose(&HeldOutScores::assume(scores, labels).unwrap()).unwrap();
        assert_eq!(choice.chosen, CalibratorKind::Platt);
    }
}
