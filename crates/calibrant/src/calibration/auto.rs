//! Which calibrator? The one that forecasts held-out labels best.

use serde::{Deserialize, Serialize};

use super::{
    AsymmetricLaplaceMethod, CalibrationMethod, Calibrator, HeldOutScores, Platt, SavedCalibrator,
    ThreePiece,
};
use crate::{FitError, Probability};

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
    /// A line with two bends.
    ThreePiece,
    /// The score itself, read as log-odds.
    None,
}

impl CalibratorKind {
    /// The methods that [`CalibratorKind::Auto`] chooses from, the simplest first.
    pub const CANDIDATES: [Self; 3] = [Self::Platt, Self::AsymmetricLaplace, Self::ThreePiece];

    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Platt => "platt",
            Self::AsymmetricLaplace => "asymmetric_laplace",
            Self::ThreePiece => "three_piece",
            Self::None => "none",
        }
    }

    /// Fits the method, which must not be [`CalibratorKind::Auto`], to held-out scores, from a
    /// calibrator that is near if there is one.
    fn fit(
        self,
        held_out: &HeldOutScores,
        start: Option<&SavedCalibrator>,
    ) -> Result<SavedCalibrator, FitError> {
        Ok(match (self, start) {
            (Self::ThreePiece, Some(SavedCalibrator::ThreePiece(start))) => {
                SavedCalibrator::ThreePiece(ThreePiece.fit_from(held_out, start)?)
            }
            (Self::ThreePiece, _) => SavedCalibrator::ThreePiece(ThreePiece.fit(held_out)?),
            (Self::AsymmetricLaplace, _) => {
                SavedCalibrator::AsymmetricLaplace(AsymmetricLaplaceMethod.fit(held_out)?)
            }
            (Self::None, _) => SavedCalibrator::Identity,
            (Self::Platt | Self::Auto, Some(SavedCalibrator::Platt(start))) => {
                SavedCalibrator::Platt(Platt.fit_from(held_out, Some(start))?)
            }
            (Self::Platt | Self::Auto, _) => SavedCalibrator::Platt(Platt.fit(held_out)?),
        })
    }

    /// Fits the method; `Auto` tries every candidate, the simplest first, and goes
    /// on to a later one only where it is surely better. Either way the choice
    /// comes with forecasts for every example by curves that were fitted to the other folds.
    pub fn choose(self, held_out: &HeldOutScores) -> Result<Choice, FitError> {
        let folds = held_out.folds();
        let candidates = if self == Self::Auto {
            Self::CANDIDATES.to_vec()
        } else {
            vec![self]
        };
        let mut tried = Vec::new();
        let mut best: Option<(CalibratorKind, SavedCalibrator, Vec<Probability>)> = None;
        let mut failure = None;
        for method in candidates {
            let tested = method.fit(held_out, None).and_then(|calibrator| {
                let (log_loss, forecasts) = method.cross_validate(held_out, &folds, &calibrator)?;
                Ok((calibrator, log_loss, forecasts))
            });
            match tested {
                Ok((calibrator, log_loss, forecasts)) => {
                    tried.push(Tried { method, log_loss });
                    let better = best
                        .as_ref()
                        .is_none_or(|(_, _, others)| surely_better(held_out, &forecasts, others));
                    if better {
                        best = Some((method, calibrator, forecasts));
                    }
                }
                Err(error) => failure = Some(error),
            }
        }
        match (best, failure) {
            (Some((chosen, calibrator, cross_validated)), _) => Ok(Choice {
                chosen,
                calibrator,
                tried,
                cross_validated,
            }),
            (None, Some(error)) => Err(error),
            (None, None) => Err(FitError::NoDocuments),
        }
    }

    /// Mean log loss (nats) on each fold of curves fitted to the other folds, and their forecasts.
    fn cross_validate(
        self,
        held_out: &HeldOutScores,
        folds: &[u8],
        whole: &SavedCalibrator,
    ) -> Result<(f64, Vec<Probability>), FitError> {
        let (mut loss, mut total) = (0.0, 0.0);
        let mut forecasts = vec![Probability::from_log_odds(0.0); held_out.len()];
        for fold in 0..=folds.iter().copied().max().unwrap_or(0) {
            let rest = held_out.filtered(|example| folds[example] != fold);
            let calibrator = self.fit(&rest, Some(whole))?;
            for (example, (score, label, weight)) in held_out.examples().enumerate() {
                if folds[example] == fold {
                    forecasts[example] = calibrator.probability(score);
                    loss += weight * forecasts[example].log_loss(label);
                    total += weight;
                }
            }
        }
        Ok((loss / total, forecasts))
    }
}

/// Whether forecasts are better than those of a simpler method by more than the standard error of
/// the difference: a smaller gain may be luck, and flexible curves have more of it.
fn surely_better(
    held_out: &HeldOutScores,
    forecasts: &[Probability],
    simpler: &[Probability],
) -> bool {
    let gains = || {
        held_out.examples().zip(forecasts.iter().zip(simpler)).map(
            |((_, label, weight), (this, other))| {
                (other.log_loss(label) - this.log_loss(label), weight)
            },
        )
    };
    let total: f64 = held_out.weights().iter().sum();
    let mean = gains().map(|(gain, weight)| weight * gain).sum::<f64>() / total;
    let variance = gains()
        .map(|(gain, weight)| (weight / total * (gain - mean)).powi(2))
        .sum::<f64>();
    mean > variance.sqrt()
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
    /// All candidates with their losses.
    pub tried: Vec<Tried>,
    /// For each example, what a curve fitted to the other folds says of it.
    pub cross_validated: Vec<Probability>,
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
            let (mode, left, right) = if positive {
                (0.5, 1.5, 1.0)
            } else {
                (-1.0, 1.0, 3.0)
            };
            let to_the_left = random.uniform() < right / (left + right);
            scores.push(if to_the_left {
                mode - exponential(&mut random, left)
            } else {
                mode + exponential(&mut random, right)
            });
            labels.push(positive);
        }
        let choice = CalibratorKind::Auto
            .choose(&HeldOutScores::assume(scores, labels).unwrap())
            .unwrap();
        assert_eq!(choice.chosen, CalibratorKind::AsymmetricLaplace);
        assert!(choice.tried[1].log_loss < choice.tried[0].log_loss);
    }

    #[test]
    fn straight_log_odds_choose_platt() {
        let mut random = Random::from_seed(4);
        let scores: Vec<f64> = (0..4000).map(|_| 6.0 * random.uniform() - 3.0).collect();
        let labels = scores
            .iter()
            .map(|s| random.uniform() < sigmoid(1.5 * s - 0.5))
            .collect();
        let choice = CalibratorKind::Auto
            .choose(&HeldOutScores::assume(scores, labels).unwrap())
            .unwrap();
        assert_eq!(choice.chosen, CalibratorKind::Platt);
    }
}
