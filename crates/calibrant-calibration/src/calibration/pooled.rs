//! A calibrator for classes that are too rare to have one of their own.

use serde::{Deserialize, Serialize};

use super::platt::Standard;
use super::rising_line::{likeliest_rising, usual_slope};
use super::share::{shift_to_total, wanted_total};
use super::{HeldOutScores, PlattCalibrator};
use crate::parallel;

/// Log-odds as a function of the score and of how common the class is, learned from the rarer
/// classes together.
///
/// # Formula
/// ```text
/// ln P/(1-P) = a s + b + c ln(prior odds of the class),   ln a ~ Normal(ln a₀, 0.85²)
/// ```
/// A class that is left to this curve has too few positives to tell how its scores behave, but
/// other rare classes of the same model tell how such scores behave in general. What slopes of such classes are like counts
/// for as much as a few positives do; so the curve rises, even where the few that there are run the other way.
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

/// Steps shorter than this end the search for a curve that is kept, and for one that only forecasts its fold.
const TOLERANCE: f64 = 1e-9;
const FOLD_TOLERANCE: f64 = 1e-5;

impl PooledCurve {
    /// How many positives the pool should have; the rarest classes come first.
    const WANTED_POSITIVES: usize = 200;

    /// Fits the curve to the rarest classes that have at least two positives (so that every
    /// held-out positive was scored by a model that had seen another), until there are enough
    /// positives. `None` where no class has two.
    pub fn fit(classes: &[HeldOutScores]) -> Option<Self> {
        Self::of(&Pool::of(classes, None)?, None)
    }

    /// From a curve that is near, if there is one.
    fn of(pool: &Pool<'_>, near: Option<&Self>) -> Option<Self> {
        let Pool { classes, .. } = pool;
        let count = classes.len() as f64;
        let prior_mean = classes.iter().map(|class| class.prior).sum::<f64>() / count;
        let distinct = classes
            .iter()
            .any(|class| (class.prior - prior_mean).abs() > 1e-9);
        let positive: f64 = classes.iter().map(|class| class.weights.0).sum();
        let negative: f64 = classes.iter().map(|class| class.weights.1).sum();
        let targets = (1.0 / (negative + 2.0), (positive + 1.0) / (positive + 2.0));
        let examples: usize = classes.iter().map(|class| class.examples).sum();
        let unit = examples as f64 / (positive + negative);
        let most = classes.iter().map(|class| class.positives).max()?;
        let (usual, scale) = (usual_slope(most), pool.scale());
        let start = match near {
            Some(near) => {
                let line = scale.redo(&PlattCalibrator {
                    slope: near.slope,
                    intercept: near.intercept + near.prior_factor * prior_mean,
                });
                let factor = if distinct { near.prior_factor } else { 0.0 };
                [line.slope.ln(), line.intercept, factor]
            }
            None => [usual.ln(), ((positive + 1.0) / (negative + 1.0)).ln(), 0.0],
        };
        let tolerance = if near.is_some() {
            FOLD_TOLERANCE
        } else {
            TOLERANCE
        };
        let [ln_slope, intercept, prior_factor] = likeliest_rising(usual, start, tolerance, || {
            let (scale, left_out) = (&scale, pool.left_out);
            classes.iter().flat_map(move |class| {
                let beside = if distinct {
                    class.prior - prior_mean
                } else {
                    0.0
                };
                kept(class.held_out, left_out).map(move |(score, label, weight)| {
                    let target = if label { targets.1 } else { targets.0 };
                    ([scale.apply(score), beside], target, unit * weight)
                })
            })
        });
        let curve = scale.undo(ln_slope.exp(), intercept);
        let prior_factor = if distinct { prior_factor } else { 1.0 };
        let found = Self {
            slope: curve.slope,
            intercept: curve.intercept - prior_factor * prior_mean,
            prior_factor,
        };
        let sound = found.slope > 0.0 && found.slope.is_finite() && found.intercept.is_finite();
        sound.then_some(found)
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

/// The curve of all examples and, for each fold, one that has not seen it.
#[derive(Debug, Clone, Default)]
pub(super) struct CrossFittedPool {
    pub(super) whole: Option<PooledCurve>,
    pub(super) without: Vec<Option<PooledCurve>>,
}

impl CrossFittedPool {
    pub(super) fn fit(classes: &[HeldOutScores], folds: &[u8]) -> Self {
        let whole = PooledCurve::fit(classes);
        let last = folds.iter().copied().max().unwrap_or(0);
        let without = parallel::map_indices(usize::from(last) + 1, |fold| {
            let pool = Pool::of(classes, Some((folds, fold as u8)))?;
            PooledCurve::of(&pool, whole.as_ref())
        });
        Self { whole, without }
    }
}

/// Folds, and the one that is left out.
type LeftOut<'a> = Option<(&'a [u8], u8)>;

/// The classes that a curve is fitted to.
struct Pool<'a> {
    classes: Vec<PooledClass<'a>>,
    left_out: LeftOut<'a>,
}

struct PooledClass<'a> {
    held_out: &'a HeldOutScores,
    examples: usize,
    positives: usize,
    /// Of positives and of negatives.
    weights: (f64, f64),
    /// Log of the prior odds.
    prior: f64,
}

impl<'a> Pool<'a> {
    fn of(classes: &'a [HeldOutScores], left_out: LeftOut<'a>) -> Option<Self> {
        let counted = classes.iter().map(|held_out| {
            let mut class = PooledClass {
                held_out,
                examples: 0,
                positives: 0,
                weights: (0.0, 0.0),
                prior: 0.0,
            };
            for (_, label, weight) in kept(held_out, left_out) {
                class.examples += 1;
                if label {
                    class.positives += 1;
                    class.weights.0 += weight;
                } else {
                    class.weights.1 += weight;
                }
            }
            class.prior = ((class.weights.0 + 1.0) / (class.weights.1 + 1.0)).ln();
            class
        });
        let mut usable: Vec<PooledClass<'_>> = counted
            .filter(|class| class.positives >= 2 && class.positives < class.examples)
            .collect();
        usable.sort_by_key(|class| class.positives);
        let mut positives = 0;
        usable.retain(|class| {
            let wanted = positives < PooledCurve::WANTED_POSITIVES;
            positives += if wanted { class.positives } else { 0 };
            wanted
        });
        (!usable.is_empty()).then_some(Self {
            classes: usable,
            left_out,
        })
    }

    /// One for all: the classes' scores come from one kind of model.
    fn scale(&self) -> Standard {
        let each = self.classes.iter().map(|class| {
            let examples = kept(class.held_out, self.left_out);
            Standard::of_values(examples.map(|(score, _, weight)| (score, weight)))
        });
        Standard::mean(&each.collect::<Vec<_>>())
    }
}

fn kept<'a>(
    held_out: &'a HeldOutScores,
    left_out: LeftOut<'a>,
) -> impl Iterator<Item = (f64, bool, f64)> + Clone + 'a {
    let stays = move |place: usize| left_out.is_none_or(|(folds, fold)| folds[place] != fold);
    held_out
        .examples()
        .enumerate()
        .filter(move |(place, _)| stays(*place))
        .map(|(_, example)| example)
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
        let curve = PooledCurve::fit(&classes).unwrap();
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
        assert_eq!(PooledCurve::fit(&[one]), None);
    }

    /// The positives of every class have the least scores: a curve that only followed them would fall.
    #[test]
    fn a_pool_whose_scores_run_backwards_rises_all_the_same() {
        let backwards = |positives: usize| {
            let scores = (0..60).map(|i| f64::from(i) / 10.0).collect();
            let labels = (0..60).map(|i| i < positives).collect();
            HeldOutScores::assume(scores, labels).unwrap()
        };
        let classes: Vec<HeldOutScores> = (1..5).map(backwards).collect();
        let curve = PooledCurve::fit(&classes).unwrap();
        for class in &classes {
            let line = curve.for_class(class);
            assert!(line.slope > 0.0, "{line:?}");
            let stated: f64 = class
                .scores()
                .iter()
                .map(|&s| line.probability(s).value())
                .sum();
            assert!((stated - class.positives() as f64).abs() < 1e-6, "{stated}");
        }
    }

    #[test] // Against the derivatives of the posterior, by differences.
    fn the_slope_is_the_likeliest_given_what_slopes_are_like() {
        let classes: Vec<HeldOutScores> = (0..3).map(|i| class(0.02, 200, 40 + i)).collect();
        let curve = PooledCurve::fit(&classes).unwrap();
        let pool = Pool::of(&classes, None).unwrap();
        let scale = pool.scale();
        let prior_mean = pool.classes.iter().map(|c| c.prior).sum::<f64>() / 3.0;
        let positive: f64 = pool.classes.iter().map(|c| c.weights.0).sum();
        let negative: f64 = pool.classes.iter().map(|c| c.weights.1).sum();
        let most = pool.classes.iter().map(|c| c.positives).max().unwrap();
        let value = |slope: f64, intercept: f64, factor: f64| -> f64 {
            let line = PlattCalibrator { slope, intercept };
            let standard = scale.redo(&line).slope;
            let off = (standard / usual_slope(most)).ln() / crate::calibration::rising_line::SPREAD;
            let mut sum = 0.5 * off * off;
            for class in &pool.classes {
                for (score, label, _) in class.held_out.examples() {
                    let target = if label {
                        (positive + 1.0) / (positive + 2.0)
                    } else {
                        1.0 / (negative + 2.0)
                    };
                    let z = slope * score + intercept + factor * (class.prior - prior_mean);
                    sum += crate::numeric::softplus(z) - target * z;
                }
            }
            sum
        };
        let at = [
            curve.slope,
            curve.intercept + curve.prior_factor * prior_mean,
            curve.prior_factor,
        ];
        let least = value(at[0], at[1], at[2]);
        for place in 0..3 {
            for step in [-1e-3, 1e-3] {
                let mut other = at;
                other[place] += step;
                assert!(
                    value(other[0], other[1], other[2]) > least,
                    "{place} {step}"
                );
            }
        }
    }

    /// What is said of a fold must not know its labels: with other labels there, the same is said.
    #[test]
    fn the_pool_without_a_fold_does_not_know_its_labels() {
        let folds: Vec<u8> = (0..400).map(|row| (row % 4) as u8).collect();
        let classes: Vec<HeldOutScores> = (0..5).map(|i| class(0.03, 400, 60 + i)).collect();
        let turned: Vec<HeldOutScores> = classes
            .iter()
            .map(|class| {
                let labels = class.labels().iter().zip(&folds);
                let labels = labels.map(|(&label, &fold)| if fold == 1 { !label } else { label });
                HeldOutScores::assume(class.scores().to_vec(), labels.collect()).unwrap()
            })
            .collect();
        // Both start from elsewhere, and meet.
        let (one, other) = (
            CrossFittedPool::fit(&classes, &folds).without[1].unwrap(),
            CrossFittedPool::fit(&turned, &folds).without[1].unwrap(),
        );
        assert!((one.slope - other.slope).abs() < 1e-4, "{one:?} {other:?}");
        let whole = CrossFittedPool::fit(&turned, &folds).whole.unwrap();
        assert!((one.slope - whole.slope).abs() > 0.1, "{one:?} {whole:?}");
    }
}
