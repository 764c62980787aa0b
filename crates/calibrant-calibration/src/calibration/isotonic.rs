//! Isotonic regression: the rising curve that fits held-out labels best.

use serde::{Deserialize, Serialize};

use super::blocks::Block;
use super::distinct_scores::distinct_scores;
use super::knots::{KnotList, Knots, Place};
use super::{CalibrationMethod, Calibrator, HeldOutScores};
use crate::{CalibrationError, Probability};

/// Fits the most likely probabilities that never fall as the score rises, and nothing else is
/// assumed.
///
/// # Formula
/// ```text
/// maximise Σ w_i (y_i ln g_i + (1-y_i) ln(1-g_i))   subject to g rising with the score
/// ```
/// Examples with one score share one value. The answer is a row of blocks; each has the share of
/// positives among its examples, from its first score to its last. Between blocks the probability
/// is interpolated linearly, beyond the first and the last it stays what it is: the curve of
/// scikit-learn's `IsotonicRegression`.
///
/// That curve says 0 for scores below the lowest positive and 1 for scores above the highest
/// negative, which one surprise would prove infinitely wrong. Here it is kept between a floor and a
/// ceiling:
/// ```text
/// floor = 1 / (w + 1/m)
/// ```
/// for a first block without positives, of weight `w` and followed by a block with a share `m` of
/// positives; the ceiling likewise, with negatives for positives. (Where that neighbour is pure
/// too, `m` is the share of positives among all.) As many examples of the neighbour's kind are
/// mixed into the block as bring one positive: among as many examples again as were held out, about
/// one positive is to be expected below the lowest so far, wherever that is. The floor is about
/// `1/w` for a long block, and near its neighbour's share for one that rests on a few examples.
///
/// # When it misleads
/// With fewer than some hundred examples of the rarer class the blocks follow chance, and a curve
/// with two parameters forecasts better. Scores within one block become equal, so a ranking loses
/// its finer distinctions; [`CentredIsotonic`](super::CentredIsotonic) keeps them.
///
/// # Reference
/// Ayer et al. 1955; Zadrozny & Elkan, KDD 2002, for calibration.
///
/// ```
/// use calibrant_calibration::calibration::{CalibrationMethod, Calibrator, HeldOutScores, Isotonic};
/// let held_out = HeldOutScores::assume(
///     vec![1.0, 2.0, 3.0, 4.0, 5.0],
///     vec![false, true, false, false, true],
/// )?;
/// let curve = Isotonic.fit(&held_out)?;
/// // By hand: 1 0 0 at the scores 2, 3 and 4 does not rise and becomes one block of 1/3.
/// assert!((curve.probability(2.7).value() - 1.0 / 3.0).abs() < 1e-12);
/// // A quarter of the way to the block of the score 5, whose share of positives is 1.
/// assert!((curve.probability(4.25).value() - 0.5).abs() < 1e-12);
/// // The first block has weight 1 and a neighbour of 1/3: 1 / (1 + 3).
/// assert!((curve.probability(-9.0).value() - 0.25).abs() < 1e-12);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Isotonic;

/// Blocks of equal probability, joined by straight lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IsotonicCalibrator {
    knots: Knots,
}

impl IsotonicCalibrator {
    /// The points that the curve joins by straight lines, by rising score.
    pub fn knots(&self) -> impl Iterator<Item = (f64, Probability)> + '_ {
        self.knots.iter()
    }
}

impl Calibrator for IsotonicCalibrator {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        Probability::from_log_odds(match self.knots.place(score) {
            Place::Before => self.knots.ends()[0].1,
            Place::Between(left) => self.knots.linear_in_probability(left, score),
            Place::After => self.knots.ends()[1].1,
        })
    }
}

impl CalibrationMethod for Isotonic {
    type Calibrator = IsotonicCalibrator;

    fn fit(&self, held_out: &HeldOutScores) -> Result<IsotonicCalibrator, CalibrationError> {
        let distinct = distinct_scores(held_out, "isotonic regression")?;
        let blocks = Block::all(&distinct);
        let mut knots = KnotList::default();
        for (number, block) in blocks.iter().enumerate() {
            if let Some(before) = number.checked_sub(1).map(|before| &blocks[before]) {
                // The line between blocks joins the shares as they were counted; the floor and the
                // ceiling end where it crosses them.
                for pure in [before, block] {
                    if pure.is_pure() {
                        let score = crossing(before, block, pure.probability());
                        if before.last < score && score < block.first {
                            knots.add(score, pure.log_odds());
                        }
                    }
                }
            }
            knots.add(block.first, block.log_odds());
            knots.add(block.last, block.log_odds());
        }
        Ok(IsotonicCalibrator {
            knots: knots.finish()?,
        })
    }
}

/// The score at which the line between two blocks has this height.
fn crossing(before: &Block, block: &Block, height: f64) -> f64 {
    let t = (height - before.counted()) / (block.counted() - before.counted());
    // By parts, so that scores near the ends of f64 do not overflow.
    before.last * (1.0 - t) + block.first * t
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::{Random, sigmoid};

    fn fit(scores: &[f64], labels: &[bool]) -> IsotonicCalibrator {
        let held_out = HeldOutScores::assume(scores.to_vec(), labels.to_vec()).unwrap();
        Isotonic.fit(&held_out).unwrap()
    }

    #[test]
    fn perfectly_separated_scores_get_a_floor_and_a_ceiling() {
        let curve = fit(
            &[1.0, 2.0, 3.0, 4.0, 5.0],
            &[false, false, false, true, true],
        );
        // By hand: both blocks are pure, so m = 2/5 for the floor and 3/5 for the ceiling.
        let (floor, ceiling) = (1.0 / (3.0 + 2.5), 1.0 - 1.0 / (2.0 + 5.0 / 3.0));
        for (score, expected) in [
            (f64::NEG_INFINITY, floor),
            (3.0, floor),
            (3.1, floor),
            (3.5, 0.5),
            (3.9, ceiling),
            (1e308, ceiling),
        ] {
            let found = curve.probability(score).value();
            assert!(
                (found - expected).abs() < 1e-12,
                "{score}: {found} {expected}"
            );
        }
        assert_eq!(curve.knots().count(), 6);
    }

    #[test]
    fn a_weight_counts_as_so_many_examples() {
        let scores = [1.0, 2.0, 2.0, 3.0, 4.0, 5.0];
        let labels = [false, true, false, false, true, true];
        let weights = [2.0, 3.0, 1.0, 4.0, 1.0, 2.0];
        let weighted =
            HeldOutScores::assume_weighted(scores.to_vec(), labels.to_vec(), weights.to_vec());
        let (mut many, mut their_labels) = (Vec::new(), Vec::new());
        for example in 0..scores.len() {
            for _ in 0..weights[example] as usize {
                many.push(scores[example]);
                their_labels.push(labels[example]);
            }
        }
        assert_eq!(
            Isotonic.fit(&weighted.unwrap()).unwrap(),
            fit(&many, &their_labels)
        );
    }

    #[test]
    fn the_floor_forecasts_better_than_other_floors() {
        // The average loss over fresh examples below the lowest positive, for the floor times a
        // factor: one must not be far from the best.
        let mut random = Random::from_seed(12);
        let factors = [0.1, 0.3, 1.0, 3.0, 10.0];
        let mut losses = [0.0; 5];
        let mut draw = |count: usize| -> (Vec<f64>, Vec<bool>) {
            (0..count)
                .map(|_| {
                    let score = 2.0 * random.normal();
                    (score, random.uniform() < sigmoid(2.0 * score - 2.0))
                })
                .unzip()
        };
        for _ in 0..300 {
            let (scores, labels) = draw(300);
            let curve = fit(&scores, &labels);
            let (end, floor) = curve.knots().next().unwrap();
            let lowest = scores
                .iter()
                .zip(&labels)
                .filter(|(_, label)| **label)
                .map(|(&score, _)| score)
                .fold(f64::INFINITY, f64::min);
            assert!(end <= lowest);
            let (fresh, truths) = draw(300);
            for (score, truth) in fresh.into_iter().zip(truths) {
                if score < lowest {
                    for (loss, factor) in losses.iter_mut().zip(factors) {
                        let log_odds = floor.log_odds() + f64::ln(factor);
                        *loss += Probability::from_log_odds(log_odds).log_loss(truth);
                    }
                }
            }
        }
        let best = losses.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(losses[2], best, "{losses:?}");
    }
}
