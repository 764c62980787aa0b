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

    /// Every method there is, in the order that help texts list them.
    pub const ALL: [Self; 5] = [
        Self::Auto,
        Self::Platt,
        Self::AsymmetricLaplace,
        Self::ThreePiece,
        Self::None,
    ];

    /// The method of this name, with hyphens or underscores.
    ///
    /// ```
    /// use calibrant::calibration::CalibratorKind;
    /// let kind = CalibratorKind::from_name("three-piece");
    /// assert_eq!(kind, Some(CalibratorKind::ThreePiece));
    /// assert_eq!(CalibratorKind::from_name("guess"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.replace('-', "_");
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether the probability never turns back as the score grows.
    pub fn is_monotone(self) -> bool {
        match self {
            Self::Auto | Self::AsymmetricLaplace => false,
            Self::Platt | Self::ThreePiece | Self::None => true,
        }
    }

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
            (Self::ThreePiece, Some(SavedCalibrator::Platt(start))) => {
                SavedCalibrator::ThreePiece(ThreePiece.fit_bending(held_out, *start)?)
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
        self.choose_by(held_out, ChoiceRules::default())
    }

    /// As [`Self::choose`], among the methods that the rules allow.
    pub fn choose_by(
        self,
        held_out: &HeldOutScores,
        rules: ChoiceRules,
    ) -> Result<Choice, FitError> {
        if rules.monotone && self != Self::Auto && !self.is_monotone() {
            return Err(FitError::BadSetting {
                setting: "the calibration method",
                requirement: "a monotone one",
                value: self.name().to_owned(),
            });
        }
        // Sorted once, so that no method has to sort again and the order of examples cannot matter.
        let (sorted, order) = held_out.sorted();
        let mut choice = self.choose_sorted(&sorted, rules)?;
        let mut forecasts = choice.cross_validated.clone();
        for (&example, &forecast) in order.iter().zip(&choice.cross_validated) {
            forecasts[example as usize] = forecast;
        }
        choice.cross_validated = forecasts;
        Ok(choice)
    }

    fn choose_sorted(
        self,
        held_out: &HeldOutScores,
        rules: ChoiceRules,
    ) -> Result<Choice, FitError> {
        let folds = held_out.folds();
        let candidates = if self == Self::Auto {
            let mut candidates = Self::CANDIDATES.to_vec();
            candidates.retain(|method| !rules.monotone || method.is_monotone());
            candidates
        } else {
            vec![self]
        };
        let total: f64 = held_out.weights().iter().sum();
        let mut tried = Vec::new();
        let mut best: Option<(Choice, Vec<f64>)> = None;
        let mut straight = None;
        let mut failure = None;
        for method in candidates {
            let tested = method
                .fit(held_out, straight.as_ref())
                .and_then(|calibrator| {
                    Ok((
                        calibrator,
                        method.cross_validate(held_out, &folds, &calibrator)?,
                    ))
                });
            let (calibrator, cross_validated) = match tested {
                Ok(tested) => tested,
                Err(error) => {
                    failure = Some(error);
                    continue;
                }
            };
            if method == Self::Platt {
                straight = Some(calibrator);
            }
            let losses: Vec<f64> = held_out
                .examples()
                .zip(&cross_validated)
                .map(|((_, label, weight), forecast)| weight * forecast.log_loss(label))
                .collect();
            tried.push(Tried {
                method,
                log_loss: losses.iter().sum::<f64>() / total,
            });
            if best
                .as_ref()
                .is_none_or(|(_, others)| surely_better(&losses, others))
            {
                let choice = Choice {
                    chosen: method,
                    calibrator,
                    tried: Vec::new(),
                    cross_validated,
                };
                best = Some((choice, losses));
            }
        }
        match (best, failure) {
            (Some((choice, _)), _) => Ok(Choice { tried, ..choice }),
            (None, Some(error)) => Err(error),
            (None, None) => Err(FitError::NoDocuments),
        }
    }

    /// What curves fitted to the other folds say of each fold; they start from the whole's curve.
    fn cross_validate(
        self,
        held_out: &HeldOutScores,
        folds: &[u8],
        whole: &SavedCalibrator,
    ) -> Result<Vec<Probability>, FitError> {
        let mut forecasts = vec![Probability::from_log_odds(0.0); held_out.len()];
        for fold in 0..=folds.iter().copied().max().unwrap_or(0) {
            let rest = held_out.filtered(|example| folds[example] != fold);
            let calibrator = self.fit(&rest, Some(whole))?;
            for (example, &score) in held_out.scores().iter().enumerate() {
                if folds[example] == fold {
                    forecasts[example] = calibrator.probability(score);
                }
            }
        }
        Ok(forecasts)
    }
}

/// Whether losses are less than those of a simpler method by more than the standard error of
/// the difference: a smaller gain may be luck, and flexible curves have more of it.
pub(super) fn surely_better(losses: &[f64], simpler: &[f64]) -> bool {
    let count = losses.len() as f64;
    let gains = || {
        simpler
            .iter()
            .zip(losses)
            .map(|(simpler, loss)| simpler - loss)
    };
    let mean = gains().sum::<f64>() / count;
    let squares = gains().map(|gain| (gain - mean).powi(2)).sum::<f64>();
    mean > squares.sqrt() / count
}

/// What a choice must keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChoiceRules {
    /// Only methods whose probability never turns back as the score grows.
    pub monotone: bool,
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
    fn every_name_is_found_again_and_rules_are_kept() {
        for kind in CalibratorKind::ALL {
            assert_eq!(CalibratorKind::from_name(kind.name()), Some(kind));
        }
        let scores: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
        let labels = (0..100).map(|i| i % 7 < i / 15).collect();
        let held_out = HeldOutScores::assume(scores, labels).unwrap();
        let rules = ChoiceRules { monotone: true };
        let choice = CalibratorKind::Auto.choose_by(&held_out, rules).unwrap();
        assert!(choice.tried.iter().all(|tried| tried.method.is_monotone()));
        let refused = CalibratorKind::AsymmetricLaplace.choose_by(&held_out, rules);
        assert!(matches!(refused, Err(FitError::BadSetting { .. })));
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
