//! The best rising sequence: isotonic regression.

/// Neighbouring points that share one fitted value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pool {
    /// The position after its last point.
    pub end: usize,
    /// The sum of weights.
    pub weight: f64,
    /// The sum of weight × value.
    pub sum: f64,
}

impl Pool {
    /// The fitted value, the weighted mean of the points.
    #[inline]
    pub fn mean(&self) -> f64 {
        self.sum / self.weight
    }
}

/// The rising sequence that is nearest to the values, as pools of points with one value each.
///
/// # Formula
/// ```text
/// minimise Σ w_i (y_i - g_i)²   subject to g_1 <= g_2 <= ... <= g_n
/// ```
/// Points come as `(value, weight)` with positive weights, in the order of what they are to rise
/// with; tied points must have been merged by the caller. The means of the pools strictly rise.
/// One pass: a new point forms a pool, and as long as the pool before it is not lower the two
/// become one. For values 0 and 1 the answer is also the most likely rising sequence of
/// probabilities.
///
/// # Reference
/// Ayer, Brunk, Ewing, Reid & Silverman, Annals of Mathematical Statistics 26 (1955).
///
/// ```
/// use calibrant_calibration::solvers::pool_adjacent_violators;
/// let pools = pool_adjacent_violators([(1.0, 1.0), (3.0, 1.0), (2.0, 1.0), (4.0, 2.0)]);
/// let means: Vec<f64> = pools.iter().map(|pool| pool.mean()).collect();
/// assert_eq!(means, [1.0, 2.5, 4.0]); // 3 before 2 violates: both become 2.5
/// assert_eq!(pools[1].end, 3);
/// ```
pub fn pool_adjacent_violators(points: impl IntoIterator<Item = (f64, f64)>) -> Vec<Pool> {
    let points = points.into_iter();
    pool_weighted_sums(points.map(|(value, weight)| (weight * value, weight)))
}

/// As [`pool_adjacent_violators`] for points that come as `(weight × value, weight)`: whole sums,
/// such as the number of positives among tied examples, are kept exact.
pub fn pool_weighted_sums(points: impl IntoIterator<Item = (f64, f64)>) -> Vec<Pool> {
    let mut pools: Vec<Pool> = Vec::new();
    for (position, (sum, weight)) in points.into_iter().enumerate() {
        let mut last = Pool {
            end: position + 1,
            weight,
            sum,
        };
        while let Some(before) = pools.last() {
            // before.mean() >= last.mean(), without the division.
            if before.sum * last.weight < last.sum * before.weight {
                break;
            }
            last.weight += before.weight;
            last.sum += before.sum;
            pools.pop();
        }
        pools.push(last);
    }
    pools
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The min-max formula: g_i = max over j <= i of min over k >= i of the mean of j..=k.
        #[test]
        fn the_pools_are_the_min_max_means(points in prop::collection::vec((-4i8..4, 1u8..4), 1..14)) {
            let points: Vec<(f64, f64)> = points.into_iter().map(|(y, w)| (f64::from(y), f64::from(w))).collect();
            let mean = |j: usize, k: usize| {
                let part = &points[j..=k];
                part.iter().map(|p| p.0 * p.1).sum::<f64>() / part.iter().map(|p| p.1).sum::<f64>()
            };
            let pools = pool_adjacent_violators(points.iter().copied());
            prop_assert!(pools.windows(2).all(|pair| pair[0].mean() < pair[1].mean()));
            let mut start = 0;
            for pool in &pools {
                for i in start..pool.end {
                    let expected = (0..=i)
                        .map(|j| (i..points.len()).map(|k| mean(j, k)).fold(f64::INFINITY, f64::min))
                        .fold(f64::NEG_INFINITY, f64::max);
                    prop_assert!((pool.mean() - expected).abs() < 1e-9);
                }
                start = pool.end;
            }
            prop_assert_eq!(start, points.len());
        }
    }
}
