//! A calibrator for classes that are too rare to have one of their own.

use serde::{Deserialize, Serialize};

use super::platt::{Standard, TOLERANCE};
use super::share::{shift_to_total, wanted_total};
use super::{HeldOutScores, PlattCalibrator};
use crate::FitError;
use crate::solvers::newton_logistic;

/// Log-odds as a function of the score and of how common the class is, learned from the rarer
/// classes together.
///
/// # Formula
/// ```text
/// ln P/(1-P) = a s + b + c ln(prior odds of the class)
/// ```
/// A class that is left to this curve has too few positives to tell how its scores behave, but
/// other rare classes of the same model tell how such scores behave in general.
///
/// # When it misleads
/// It says what holds for rare classes on the average; a rare class unlike the others is
/// calibrated for them, not for itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PooledCurve {
    slope: f64,
    intercept: f64,
    prior_factor: f64,
}

impl PooledCurve {
    /// How many positives the pool should have; the rarest classes come first.
    const WANTED_POSITIVES: usize = 200;

    /// Fits the curve to the rarest classes that have at least two positives (so that every
    /// held-out positive was scored by a model that had seen another), until there are enough
    /// positives. `None` where no class has two.
    pub fn fit(classes: &[HeldOutScores]) -> Result<Option<Self>, FitError> {
        let mut usable: Vec<&HeldOutScores> = classes
            .iter()
            .filter(|class| class.positives() >= 2 && class.positives() < class.len())
            .collect();
        usable.sort_by_key(|class| class.positives());
        let mut positives = 0;
        usable.retain(|class| {
            let wanted = positives < Self::WANTED_POSITIVES;
            positives += if wanted { class.positives() } else { 0 };
            wanted
        });
        if usable.is_empty() {
            return Ok(None);
        }
        let scales: Vec<Standard> = usable.iter().map(|class| Standard::of(class)).collect();
        // One scale for all: the classes' scores come from one kind of model.
        let scale = Standard::mean(&scales);
        let priors: Vec<f64> = usable.iter().map(|class| class.ln_prior_odds()).collect();
        let prior_mean = priors.iter().sum::<f64>() / priors.len() as f64;
        let distinct = priors.iter().any(|prior| (prior - prior_mean).abs() > 1e-9);
        let totals = usable.iter().fold((0.0, 0.0), |sum, class| {
            let (positive, negative) = class.class_weights();
            (sum.0 + positive, sum.1 + negative)
        });
        let targets = (1.0 / (totals.1 + 2.0), (totals.0 + 1.0) / (totals.0 + 2.0));
        let start = [((totals.0 + 1.0) / (totals.1 + 1.0)).ln(), 0.0, 0.0];
        let [intercept, slope, prior_factor] =
            newton_logistic("the pooled curve", start, TOLERANCE, || {
                usable.iter().zip(&priors).flat_map(|(class, prior)| {
                    let prior = if distinct { prior - prior_mean } else { 0.0 };
                    let scale = &scale;
                    class.examples().map(move |(score, label, weight)| {
                        let target = if label { targets.1 } else { targets.0 };
                        ([1.0, scale.apply(score), prior], target, weight)
                    })
                })
            })?;
        let curve = scale.undo(slope, intercept);
        let prior_factor = if distinct { prior_factor } else { 1.0 };
        Ok(Some(Self {
            slope: curve.slope,
            intercept: curve.intercept - prior_factor * prior_mean,
            prior_factor,
        }))
    }

    /// The curve for a class: its probabilities add up to the weight of its positives, whatever the prior would have
    /// them add up to.
    pub fn for_class(&self, held_out: &HeldOutScores) -> PlattCalibrator {
        let start = self.intercept + self.prior_factor * held_out.ln_prior_odds();
        let said = held_out
            .examples()
            .map(|(score, _, weight)| (self.slope * score + start, weight));
        PlattCalibrator {
            slope: self.slope,
            intercept: start + shift_to_total(said, wanted_total(held_out)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::Calibrator;
    use crate::numeric::{Random, sigmoid};

    /// Scores whose log-odds are `2 s + ln prior odds` by construction.
    fn class(prior_odds: f64, count: usize, seed: u64) -> HeldOutScores {
        let mut random = Random::from_seed(seed);
        let scores: Vec<f64> = (0..count).map(|_| 4.0 * random.uniform() - 2.0).collect();
        let labels = scores
            .iter()
            .map(|s| random.uniform() < sigmoid(2.0 * s + prior_odds.ln()))
            .collect();
        HeldOutScores::assume(scores, labels).unwrap()
    }

    #[test]
    fn the_pool_recovers_the_common_slope_and_follows_the_prior() {
        let classes: Vec<HeldOutScores> = (0..30)
            .map(|i| class(0.002 * 1.2f64.powi(i), 2000, i as u64))
            .collect();
        let curve = PooledCurve::fit(&classes).unwrap().unwrap();
        let rare = curve.for_class(&classes[1]);
        assert!((rare.slope - 2.0).abs() < 0.4, "{rare:?}");
        assert!(rare.probability(0.0) < curve.for_class(&classes[29]).probability(0.0));
        for class in &classes {
            let line = curve.for_class(class);
            let stated: f64 = class
                .scores()
                .iter()
                .map(|&s| line.probability(s).value())
                .sum();
            assert!((stated - class.positives() as f64).abs() < 1e-6, "{stated}");
        }
    }

    #[test]
    fn without_any_usable_class_there_is_no_pool() {
        let one = HeldOutScores::assume(vec![0.1, 0.2, 0.3], vec![true, false, false]).unwrap();
        assert_eq!(PooledCurve::fit(&[one]).unwrap(), None);
    }
}
