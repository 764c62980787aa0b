//! Forecasts of yes or no, sorted once for all measures.

use crate::Probability;
use crate::numeric::{StableSum, order_bits, sort_keys, value_of_order_bits};
use std::ops::Range;

/// A forecast, whether it came true, and how much it counts.
pub(super) type Point = (Probability, bool, f64);

/// Forecasts of yes or no from the lowest probability to the highest, each with whether it came true
/// and how much it counts. Every measure of such forecasts is a method.
///
/// Made once in `O(n log n)`; nearly every measure is then one pass over columns. The order in which
/// forecasts were given leaves no trace. Forecasts whose weight is not positive and finite are left out.
///
/// ```
/// use calibrant_calibration::{Probability, evaluation::SortedForecasts};
/// let (low, high) = (Probability::from_log_odds(-1.0), Probability::from_log_odds(1.0));
/// let forecasts = SortedForecasts::new(&[(high, true, 1.0), (low, false, 3.0), (low, true, 0.0)]);
/// assert_eq!(forecasts.len(), 2); // the last one counts for nothing
/// assert_eq!(forecasts.weight(), 4.0);
/// assert_eq!(forecasts.positive_share(), 0.25);
/// ```
#[derive(Debug, Clone)]
pub struct SortedForecasts {
    /// Rising.
    pub(super) log_odds: Vec<f64>,
    /// The probability of the less likely outcome, at most one half: both sides of a forecast follow
    /// from it without cancellation.
    pub(super) surprise: Vec<f64>,
    pub(super) happened: Vec<bool>,
    /// Divided by the largest, so that neither sums nor squares overflow.
    pub(super) weights: Vec<f64>,
    /// The sum of the divided weights.
    pub(super) total: f64,
    /// What weights were divided by.
    pub(super) scale: f64,
    /// Whether all weights are equal (then all are 1).
    pub(super) even: bool,
}

impl SortedForecasts {
    /// Sorts forecasts given as probability, whether it came true, and weight.
    pub fn new(points: &[(Probability, bool, f64)]) -> Self {
        Self::gather(points.iter().copied())
    }

    /// Sorts forecasts given as columns; `None` if the columns are not equally long.
    pub fn from_columns(
        probabilities: &[Probability],
        happened: &[bool],
        weights: Option<&[f64]>,
    ) -> Option<Self> {
        let count = probabilities.len();
        if happened.len() != count || weights.is_some_and(|weights| weights.len() != count) {
            return None;
        }
        Some(Self::gather((0..count).map(|i| {
            let weight = weights.map_or(1.0, |weights| weights[i]);
            (probabilities[i], happened[i], weight)
        })))
    }

    pub(super) fn gather(points: impl Iterator<Item = Point> + Clone) -> Self {
        let counts = |weight: f64| weight.is_finite() && weight > 0.0;
        let weights = || points.clone().map(|point| point.2).filter(|&w| counts(w));
        let scale = weights().fold(0.0, f64::max);
        // One whole number holds all of a forecast, in the order that is wanted: by log-odds, then by
        // weight, then by outcome. (Draws for a perfect forecaster go through equal log-odds in this
        // order, so the outcome comes last, where it cannot touch them.)
        let mut keys: Vec<u128> = points
            .filter(|point| counts(point.2))
            .map(|(probability, happened, weight)| (probability, happened, weight / scale))
            .filter(|point| point.2 > 0.0)
            .map(|(probability, happened, weight)| {
                let rest = weight.to_bits() << 1 | u64::from(happened);
                u128::from(order_bits(probability.log_odds())) << 64 | u128::from(rest)
            })
            .collect();
        sort_keys(&mut keys);
        let mut sorted = Self {
            log_odds: Vec::with_capacity(keys.len()),
            surprise: Vec::with_capacity(keys.len()),
            happened: Vec::with_capacity(keys.len()),
            weights: Vec::with_capacity(keys.len()),
            total: 0.0,
            scale,
            even: true,
        };
        for key in keys {
            let log_odds = value_of_order_bits((key >> 64) as u64);
            let weight = f64::from_bits((key as u64) >> 1);
            let surprise = Probability::from_log_odds(-log_odds.abs()).value();
            sorted.log_odds.push(log_odds);
            sorted.surprise.push(surprise);
            sorted.happened.push(key & 1 == 1);
            sorted.weights.push(weight);
            sorted.even &= weight == 1.0;
        }
        sorted.total = sorted
            .weights
            .iter()
            .copied()
            .collect::<StableSum>()
            .total();
        sorted
    }

    /// How many forecasts count.
    pub fn len(&self) -> usize {
        self.log_odds.len()
    }

    /// Whether there is nothing to measure.
    pub fn is_empty(&self) -> bool {
        self.log_odds.is_empty()
    }

    /// The sum of the weights (at most the largest number there is).
    pub fn weight(&self) -> f64 {
        (self.total * self.scale).min(f64::MAX)
    }

    /// The weighted share that came true; 0 without forecasts.
    pub fn positive_share(&self) -> f64 {
        self.mean(|i| f64::from(u8::from(self.happened[i])))
    }

    /// The stated probability of forecast `i`.
    #[inline]
    pub(super) fn stated(&self, i: usize) -> f64 {
        if self.log_odds[i] > 0.0 {
            (1.0 - self.surprise[i]).min(1.0 - f64::EPSILON / 2.0)
        } else {
            self.surprise[i]
        }
    }

    /// `y - p` of forecast `i`, without cancellation when `p` is close to one.
    #[inline]
    pub(super) fn gap(&self, i: usize) -> f64 {
        let expected = self.happened[i] == (self.log_odds[i] > 0.0);
        let size = if expected {
            self.surprise[i]
        } else {
            1.0 - self.surprise[i]
        };
        if self.happened[i] { size } else { -size }
    }

    /// The variance `w² p (1-p)` that forecast `i` adds to a weighted sum of outcomes.
    #[inline]
    pub(super) fn variance(&self, i: usize) -> f64 {
        let weight = self.weights[i];
        weight * weight * self.surprise[i] * (1.0 - self.surprise[i])
    }

    /// The weighted mean of something; 0 without forecasts.
    pub(super) fn mean(&self, of: impl Fn(usize) -> f64) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        self.sum(0..self.len(), |i| self.weights[i] * of(i)) / self.total
    }

    pub(super) fn sum(&self, range: Range<usize>, of: impl Fn(usize) -> f64) -> f64 {
        range.map(of).collect::<StableSum>().total()
    }

    /// Stretches of equal log-odds, rising.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut start = 0;
        std::iter::from_fn(move || {
            let first = *self.log_odds.get(start)?;
            let mut end = start + 1;
            while end < self.log_odds.len() && self.log_odds[end] == first {
                end += 1;
            }
            let block = start..end;
            start = end;
            Some(block)
        })
    }

    /// The weights of what came true and of what did not.
    #[inline]
    pub(super) fn outcomes(&self, range: Range<usize>) -> (f64, f64) {
        let (mut yes, mut no) = (0.0, 0.0);
        for i in range {
            if self.happened[i] {
                yes += self.weights[i];
            } else {
                no += self.weights[i];
            }
        }
        (yes, no)
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::numeric::Random;
    use proptest::prelude::*;

    pub(in crate::evaluation) fn at(p: f64) -> Probability {
        Probability::from_log_odds((p / (1.0 - p)).ln())
    }

    /// Forecasts around `centre`; those of a forecaster whose log-odds are `slope` times too large.
    pub(in crate::evaluation) fn drawn(
        seed: u64,
        count: usize,
        (centre, spread): (f64, f64),
        slope: f64,
        weighted: bool,
    ) -> Vec<Point> {
        let mut random = Random::from_seed(seed);
        (0..count)
            .map(|_| {
                let log_odds = centre + spread * random.normal();
                let truth = Probability::from_log_odds(log_odds / slope).value();
                let weight = if weighted {
                    0.3 + random.uniform()
                } else {
                    1.0
                };
                let happened = random.uniform() < truth;
                (Probability::from_log_odds(log_odds), happened, weight)
            })
            .collect()
    }

    /// The same forecasts with outcomes drawn from the stated probabilities.
    pub(in crate::evaluation) fn redraw(points: &mut [Point], random: &mut Random) {
        for point in points {
            point.1 = random.uniform() < point.0.value();
        }
    }

    /// Anything at all, degenerate sets among it.
    pub(in crate::evaluation) fn any_points() -> impl Strategy<Value = Vec<Point>> {
        let log_odds = prop_oneof![
            4 => (-4i8..5).prop_map(f64::from),
            4 => -8.0..8.0f64,
            1 => any::<f64>(),
            1 => Just(1e308), 1 => Just(-1e308), 1 => Just(0.0),
        ];
        let weight = prop_oneof![6 => Just(1.0), 2 => 0.1..3.0f64, 1 => any::<f64>()];
        proptest::collection::vec((log_odds, any::<bool>(), weight), 0..40).prop_map(|points| {
            let point = |(x, happened, weight)| (Probability::from_log_odds(x), happened, weight);
            points.into_iter().map(point).collect()
        })
    }

    /// Points with whole weights, and the same points repeated instead.
    pub(in crate::evaluation) fn whole_and_repeated()
    -> impl Strategy<Value = (Vec<Point>, Vec<Point>)> {
        let point = (-5i8..6, any::<bool>(), 1u8..4);
        proptest::collection::vec(point, 1..40).prop_map(|points| {
            let whole: Vec<Point> = points
                .iter()
                .map(|&(x, y, w)| (Probability::from_log_odds(f64::from(x)), y, f64::from(w)))
                .collect();
            let repeated = whole
                .iter()
                .flat_map(|&(p, y, w)| std::iter::repeat_n((p, y, 1.0), w as usize))
                .collect();
            (whole, repeated)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::testing::*;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn columns_and_points_are_the_same() {
        let points = drawn(1, 50, (0.0, 2.0), 1.0, true);
        let (p, rest): (Vec<_>, Vec<_>) = points.iter().map(|&(p, y, w)| (p, (y, w))).unzip();
        let (y, w): (Vec<_>, Vec<_>) = rest.into_iter().unzip();
        let (a, b) = (
            SortedForecasts::new(&points),
            SortedForecasts::from_columns(&p, &y, Some(&w)).unwrap(),
        );
        assert_eq!((a.log_odds, a.happened), (b.log_odds, b.happened));
        assert!(SortedForecasts::from_columns(&p, &y[1..], None).is_none());
    }

    proptest! {
        #[test]
        fn forecasts_come_back_sorted_and_whole(points in any_points()) {
            let sorted = SortedForecasts::new(&points);
            prop_assert!(sorted.log_odds.windows(2).all(|pair| pair[0] <= pair[1]));
            let mut backwards = points.clone();
            backwards.reverse();
            let again = SortedForecasts::new(&backwards);
            prop_assert_eq!(&sorted.log_odds, &again.log_odds);
            prop_assert_eq!(&sorted.happened, &again.happened);
            prop_assert_eq!(&sorted.weights, &again.weights);
            for i in 0..sorted.len() {
                let p = sorted.stated(i);
                prop_assert!(p > 0.0 && p < 1.0);
                let gap = f64::from(u8::from(sorted.happened[i])) - p;
                prop_assert!((sorted.gap(i) - gap).abs() < 1e-15);
            }
            let blocks: Vec<_> = sorted.blocks().collect();
            prop_assert_eq!(blocks.iter().map(|b| b.len()).sum::<usize>(), sorted.len());
        }
    }
}
