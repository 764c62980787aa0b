//! Isotonic regression that keeps different scores different.

use serde::{Deserialize, Serialize};

use super::blocks::Block;
use super::distinct_scores::{DistinctScore, distinct_scores};
use super::knots::{KnotList, Knots, Place};
use super::{CalibrationMethod, Calibrator, HeldOutScores};
use crate::{CalibrationError, Probability};

/// Fits the blocks of [`Isotonic`](super::Isotonic), but takes each as one point and joins the
/// points, so that the ranking by score is kept.
///
/// # Formula
/// ```text
/// block with scores s_i and weights w_i:   point (Σ w_i s_i / Σ w_i,  ln m/(1-m)),   m its share of positives
/// between points:                          log-odds linear in the score
/// ```
/// A share of 0 or 1 is softened as in [`Isotonic`](super::Isotonic). The log-odds and not the
/// probabilities are interpolated because scores tend to be linear in log-odds: on scores of naive
/// Bayes and of support vector machines for news topics the loss is a hundredth less (and a
/// hundredth less than with level blocks).
///
/// Beyond the outer points there is nothing to go by. The log-odds go on rising, ever more slowly
/// and by no more than a tenth, so that even there a higher score has a higher probability:
/// ```text
/// ln P/(1-P) = (log-odds of the point) ± 0.1 d / (d + σ)
/// ```
/// with `d` the distance to the point and `σ` the mean deviation of the held-out scores.
///
/// # When it misleads
/// As [`Isotonic`](super::Isotonic) it needs some hundred examples of the rarer class. Where the
/// truth is a step, it is a slope here.
///
/// # Reference
/// Oron & Flournoy, Statistics in Biopharmaceutical Research 9 (2017): centred isotonic regression.
///
/// ```
/// use calibrant_calibration::calibration::{CalibrationMethod, Calibrator, CentredIsotonic, HeldOutScores};
/// let held_out = HeldOutScores::assume(
///     vec![0.0, 2.0, 3.0, 5.0, 7.0],
///     vec![true, false, false, true, false],
/// )?;
/// let curve = CentredIsotonic.fit(&held_out)?;
/// // By hand: blocks 1 0 0 and 1 0, so the points are (5/3, ln 1/2) and (6, 0).
/// assert!((curve.probability(5.0 / 3.0).value() - 1.0 / 3.0).abs() < 1e-12);
/// let halfway = 0.5 * (5.0 / 3.0 + 6.0);
/// assert!((curve.probability(halfway).log_odds() + 0.5 * 2f64.ln()).abs() < 1e-12);
/// assert!(curve.probability(9.0) > curve.probability(8.0));
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CentredIsotonic;

/// Points joined by straight lines in log-odds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedCentredIsotonic")]
pub struct CentredIsotonicCalibrator {
    knots: Knots,
    /// The mean deviation of the scores, which is how fast the ends flatten out.
    spread: f64,
}

/// How far the log-odds go beyond the outer points.
const REACH: f64 = 0.1;

impl CentredIsotonicCalibrator {
    /// The points that the curve joins, by rising score.
    pub fn knots(&self) -> impl Iterator<Item = (f64, Probability)> + '_ {
        self.knots.iter()
    }

    /// How far the log-odds have gone on at a distance beyond an outer point.
    #[inline]
    fn beyond(&self, distance: f64) -> f64 {
        if self.spread > 0.0 && distance > 0.0 {
            REACH / (1.0 + self.spread / distance)
        } else {
            0.0
        }
    }
}

impl Calibrator for CentredIsotonicCalibrator {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        let [first, last] = self.knots.ends();
        Probability::from_log_odds(match self.knots.place(score) {
            Place::Before => first.1 - self.beyond(first.0 - score),
            Place::Between(left) => self.knots.linear_in_log_odds(left, score),
            Place::After => last.1 + self.beyond(score - last.0),
        })
    }
}

impl CalibrationMethod for CentredIsotonic {
    type Calibrator = CentredIsotonicCalibrator;

    fn fit(&self, held_out: &HeldOutScores) -> Result<CentredIsotonicCalibrator, CalibrationError> {
        let distinct = distinct_scores(held_out, "centred isotonic regression")?;
        let mut knots = KnotList::default();
        let mut start = 0;
        for block in Block::all(&distinct) {
            let centre = mean(&distinct[start..block.end]);
            knots.add(centre.clamp(block.first, block.last), block.log_odds());
            start = block.end;
        }
        Ok(CentredIsotonicCalibrator {
            knots: knots.finish()?,
            spread: mean_deviation(&distinct),
        })
    }
}

/// The weighted mean score, by parts so that scores near the ends of f64 do not overflow.
fn mean(distinct: &[DistinctScore]) -> f64 {
    if let [only] = distinct {
        return only.score;
    }
    let total: f64 = distinct.iter().map(DistinctScore::weight).sum();
    distinct
        .iter()
        .map(|point| point.weight() / total * point.score)
        .sum()
}

fn mean_deviation(distinct: &[DistinctScore]) -> f64 {
    let centre = mean(distinct);
    let total: f64 = distinct.iter().map(DistinctScore::weight).sum();
    distinct
        .iter()
        .map(|point| point.weight() / total * (point.score - centre).abs())
        .sum::<f64>()
        .min(f64::MAX)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedCentredIsotonic {
    knots: Knots,
    spread: f64,
}

impl TryFrom<SavedCentredIsotonic> for CentredIsotonicCalibrator {
    type Error = &'static str;

    fn try_from(saved: SavedCentredIsotonic) -> Result<Self, Self::Error> {
        let SavedCentredIsotonic { knots, spread } = saved;
        if spread.is_finite() && spread >= 0.0 {
            Ok(Self { knots, spread })
        } else {
            Err("the spread of the scores must be a number that is not negative")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::{Random, sigmoid};

    #[test]
    fn different_scores_never_merge() {
        let mut random = Random::from_seed(8);
        let scores: Vec<f64> = (0..500).map(|_| 2.0 * random.normal()).collect();
        let labels = scores
            .iter()
            .map(|s| random.uniform() < sigmoid(s - 1.0))
            .collect();
        let curve = CentredIsotonic
            .fit(&HeldOutScores::assume(scores, labels).unwrap())
            .unwrap();
        let grid: Vec<Probability> = (-400..400)
            .map(|i| curve.probability(f64::from(i) / 20.0))
            .collect();
        assert!(grid.windows(2).all(|pair| pair[0] < pair[1]));
        let (_, last) = curve.knots().last().unwrap();
        assert!(curve.probability(f64::MAX).log_odds() <= last.log_odds() + 0.1);
    }
}
