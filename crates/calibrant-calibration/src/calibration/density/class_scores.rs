//! The sorted scores of one class, as a density is fitted to them.

use super::Side;
use crate::CalibrationError;
use crate::calibration::HeldOutScores;
use crate::numeric::{order_bits, value_of_order_bits};

/// Scores of one class from the least to the greatest, with what a density has to know of the rest.
///
/// ```
/// use calibrant_calibration::calibration::{ClassScores, Side};
/// let scores = ClassScores::new(&[(3.0, 1.0), (0.0, 2.0)], Side::Left, 1.0)?;
/// assert_eq!(scores.scores(), [0.0, 3.0]);
/// assert_eq!(scores.total(), 3.0);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ClassScores {
    scores: Vec<f64>,
    /// None where every example counts once.
    weights: Option<Vec<f64>>,
    total: f64,
    inner: Side,
    spread: f64,
    /// The weight of the example that a side without any deviation is given.
    least_weight: f64,
}

impl ClassScores {
    /// From finite scores with positive weights. `inner` is the side that faces the other class;
    /// `spread` the mean deviation of the scores of both classes, from which a side without any
    /// deviation takes its floor.
    pub fn new(
        examples: &[(f64, f64)],
        inner: Side,
        spread: f64,
    ) -> Result<Self, CalibrationError> {
        if let Some(position) = examples.iter().position(|example| !example.0.is_finite()) {
            return Err(CalibrationError::BadScore {
                position,
                value: examples[position].0,
            });
        }
        super::positive("the spread", spread)?;
        for &(_, weight) in examples {
            super::positive("a weight", weight)?;
        }
        let (scores, weights): (Vec<f64>, Vec<f64>) = examples.iter().copied().unzip();
        let weights = (!weights.iter().all(|&weight| weight == 1.0)).then_some(weights);
        Self::sorted(scores, weights, inner).map(|class| Self { spread, ..class })
    }

    fn sorted(
        scores: Vec<f64>,
        weights: Option<Vec<f64>>,
        inner: Side,
    ) -> Result<Self, CalibrationError> {
        if scores.is_empty() {
            return Err(CalibrationError::NoExamples);
        }
        let (scores, weights) = match weights {
            None => (sort(scores), None),
            Some(weights) => {
                let (scores, weights) = sort_weighted(scores, weights);
                (scores, Some(weights))
            }
        };
        let total = match &weights {
            None => scores.len() as f64,
            Some(weights) => weights.iter().sum(),
        };
        if !f64::is_finite(total) {
            return Err(CalibrationError::Overflow);
        }
        Ok(Self {
            scores,
            weights,
            total,
            inner,
            spread: 1.0,
            least_weight: 0.5,
        })
    }

    /// The scores, from the least to the greatest; there is at least one.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// How much an example counts.
    #[inline]
    pub fn weight(&self, example: usize) -> f64 {
        match &self.weights {
            None => 1.0,
            Some(weights) => weights[example],
        }
    }

    /// Scores and weights.
    pub fn examples(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        (self.scores.iter().enumerate()).map(|(example, &score)| (score, self.weight(example)))
    }

    /// The sum of weights.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// The side that faces the other class.
    pub fn inner(&self) -> Side {
        self.inner
    }

    /// The least that the deviations of one side may add up to: those of half an example that is
    /// as far away as scores are in the mean.
    pub fn least_deviation(&self) -> f64 {
        self.least_weight * self.spread
    }

    /// As [`Self::least_deviation`], for squared deviations.
    pub fn least_square(&self) -> f64 {
        self.least_weight * self.spread * self.spread
    }

    fn all_equal(&self) -> bool {
        self.scores.first() == self.scores.last()
    }
}

/// Both classes of held-out scores, divided by a power of two that makes their numbers ordinary:
/// squares and sums of scores near the ends of `f64` would overflow, or vanish.
pub(super) struct BothClasses {
    pub(super) unit: f64,
    pub(super) positive: ClassScores,
    pub(super) negative: ClassScores,
}

impl BothClasses {
    pub(super) fn of(
        held_out: &HeldOutScores,
        method: &'static str,
    ) -> Result<Self, CalibrationError> {
        let positives = held_out.positives();
        let negatives = held_out.len() - positives;
        if positives < 1 || negatives < 1 {
            return Err(CalibrationError::TooFewExamples {
                method,
                needed: 1,
                positives,
                negatives,
            });
        }
        let (scale, unit) = power_of_two(held_out.scores());
        let counts = [negatives, positives];
        let mut scores = counts.map(Vec::with_capacity);
        for (&score, &label) in held_out.scores().iter().zip(held_out.labels()) {
            scores[usize::from(label)].push(score * scale);
        }
        let mut weights = [None, None];
        if !held_out.weights().iter().all(|&weight| weight == 1.0) {
            let mut parts = counts.map(Vec::with_capacity);
            for (&weight, &label) in held_out.weights().iter().zip(held_out.labels()) {
                parts[usize::from(label)].push(weight);
            }
            weights = parts.map(Some);
        }
        let [negative_scores, positive_scores] = scores;
        let [negative_weights, positive_weights] = weights;
        let mut positive = ClassScores::sorted(positive_scores, positive_weights, Side::Left)?;
        let mut negative = ClassScores::sorted(negative_scores, negative_weights, Side::Right)?;
        let spread = mean_deviation(&positive, &negative);
        let smaller = positive.total.min(negative.total);
        for class in [&mut positive, &mut negative] {
            class.spread = spread;
            if class.all_equal() {
                // Two classes without any deviation must get one width, whatever their sizes:
                // otherwise the larger class would seem likelier than its prior says.
                class.least_weight *= class.total / smaller;
            }
        }
        Ok(Self {
            unit,
            positive,
            negative,
        })
    }

    /// `ln((N₊ + 1) / (N₋ + 1))`.
    pub(super) fn ln_prior_odds(&self) -> f64 {
        ((self.positive.total + 1.0) / (self.negative.total + 1.0)).ln()
    }
}

/// A power of two that brings the largest score near one, and its inverse.
fn power_of_two(scores: &[f64]) -> (f64, f64) {
    // Without their sign, floats order as their bits do.
    let largest = scores
        .iter()
        .map(|score| score.to_bits() & !(1 << 63))
        .max()
        .unwrap_or(0);
    if largest == 0 {
        return (1.0, 1.0);
    }
    let exponent = ((largest >> 52) as i32 - 1022).clamp(-1000, 1000);
    (2f64.powi(-exponent), 2f64.powi(exponent))
}

/// The mean distance of all scores from their mean; one where they are all equal.
fn mean_deviation(positive: &ClassScores, negative: &ClassScores) -> f64 {
    let total = positive.total + negative.total;
    // Each class is sorted, so that the sums do not depend on the order examples came in.
    let mean_of = |value: &dyn Fn(&ClassScores) -> f64| (value(positive) + value(negative)) / total;
    let mean = mean_of(&|class| class.examples().map(|(score, weight)| weight * score).sum());
    let deviation = mean_of(&|class| {
        class
            .examples()
            .map(|(score, weight)| weight * (score - mean).abs())
            .sum()
    });
    // The mean of equal numbers may differ from them by rounding, which is no deviation.
    let one_value = positive.all_equal()
        && negative.all_equal()
        && positive.scores.first() == negative.scores.first();
    if deviation > 0.0 && deviation.is_finite() && !one_value {
        deviation
    } else {
        1.0
    }
}

fn sort(scores: Vec<f64>) -> Vec<f64> {
    if scores.is_sorted() {
        return scores;
    }
    let mut keys: Vec<u64> = scores.into_iter().map(order_bits).collect();
    keys.sort_unstable();
    keys.into_iter().map(value_of_order_bits).collect()
}

/// Ties stand by weight, so that sums do not depend on the order examples came in.
fn sort_weighted(scores: Vec<f64>, weights: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    let mut keys: Vec<(u64, u64)> = scores
        .iter()
        .zip(&weights)
        .map(|(&score, &weight)| (order_bits(score), weight.to_bits()))
        .collect();
    if keys.is_sorted() {
        return (scores, weights);
    }
    keys.sort_unstable();
    keys.into_iter()
        .map(|(score, weight)| (value_of_order_bits(score), f64::from_bits(weight)))
        .unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_score_comes_near_one() {
        for size in [1e308, 3.0, 1.0, 1e-7, 1e-300, 5e-324, f64::MAX] {
            let (scale, unit) = power_of_two(&[0.0, -size]);
            assert_eq!(scale * unit, 1.0);
            let scaled = size * scale;
            assert!(scaled > 1e-30 && scaled < 1e9, "{size} {scaled}");
        }
        assert_eq!(power_of_two(&[3.0]), (0.25, 4.0));
        assert_eq!(power_of_two(&[0.0]), (1.0, 1.0));
    }

    #[test]
    fn the_order_of_examples_does_not_matter() {
        let rising = [(-1.0, 2.0), (0.5, 0.1), (0.5, 0.3), (2.0, 1.0)];
        let mut falling = rising;
        falling.reverse();
        let [a, b] =
            [rising, falling].map(|examples| ClassScores::new(&examples, Side::Left, 1.0).unwrap());
        assert!(a.examples().eq(b.examples()));
        assert!(a.examples().eq(rising));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for examples in [
            vec![(f64::NAN, 1.0)],
            vec![(0.0, 0.0)],
            vec![(0.0, 1e308), (1.0, 1e308)],
            vec![],
        ] {
            assert!(ClassScores::new(&examples, Side::Left, 1.0).is_err());
        }
        assert!(ClassScores::new(&[(0.0, 1.0)], Side::Left, f64::NAN).is_err());
    }
}
