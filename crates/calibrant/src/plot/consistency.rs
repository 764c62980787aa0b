//! What a perfect forecaster would show in a bin of a reliability diagram.

use crate::Probability;

/// The normal quantile that leaves 5 % above it.
const Z: f64 = 1.644_853_626_951_472_6;
/// Above this variance (in forecasts) the counts are as good as normally distributed.
const HEAVY: f64 = 200.0;

/// The forecasts of one bin, summed up.
///
/// # Formula
/// If every forecast came true with its own probability `p`, the weight `Σ w y` would have the
/// mean `Σ w p` and the variance `Σ w² p(1-p)`. In units of `u = Σ w² p(1-p) / Σ w p(1-p)`,
/// which is the weight itself where all are equal, that is a sum of coins. It is compared with
/// the binomial distribution of the same mean `m` and variance `v`, whose neighbouring terms are
/// in the ratio
/// ```text
/// P(k+1) / P(k) = (m - k r) / ((k+1)(1 - r))     with r = 1 - v/m
/// ```
/// and which becomes Poisson's where all probabilities are small.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Consistency {
    weight: f64,
    mean: f64,
    complement: f64,
    spread: f64,
    squared_spread: f64,
}

impl Consistency {
    pub(super) fn add(&mut self, probability: Probability, weight: f64) {
        let (p, q) = (probability.value(), probability.complement().value());
        self.weight += weight;
        self.mean += weight * p;
        self.complement += weight * q;
        self.spread += weight * p * q;
        self.squared_spread += weight * weight * p * q;
    }

    /// The range from 5 % to 95 % of the share that would come true. With few forecasts it is
    /// wide, and its ends are shares that can really occur.
    pub(super) fn range(&self) -> (f64, f64) {
        let unit = self.squared_spread / self.spread;
        let variance = self.spread / unit;
        let stated = self.mean / self.weight;
        if !(unit.is_finite() && unit > 0.0 && variance.is_finite() && variance > 1e-12) {
            let stated = if stated.is_finite() { stated } else { 0.5 };
            return (stated, stated);
        }
        let count = self.weight / unit;
        // Counted from the rarer side, where nothing cancels.
        let flipped = self.mean > self.complement;
        let mean = if flipped { self.complement } else { self.mean } / unit;
        let (low, high) = if variance > HEAVY {
            let half = Z * variance.sqrt();
            (mean - half, mean + half)
        } else {
            count_range(mean, variance)
        };
        let (low, high) = (
            (low / count).clamp(0.0, 1.0),
            (high / count).clamp(0.0, 1.0),
        );
        if flipped {
            (1.0 - high, 1.0 - low)
        } else {
            (low, high)
        }
    }
}

/// The counts at 5 % and 95 % of the binomial distribution with this mean and variance.
fn count_range(mean: f64, variance: f64) -> (f64, f64) {
    let rate = (1.0 - variance / mean).max(0.0);
    let rest = 1.0 - rate;
    let middle = mean.floor();
    // Relative to the term in the middle, outwards until nothing is left; a variance of at
    // most `HEAVY` means a few hundred terms.
    let mut above = vec![1.0f64];
    let mut k = middle;
    while let Some(&last) = above.last() {
        let next = last * (mean - k * rate) / ((k + 1.0) * rest);
        if next.is_nan() || next < 1e-12 || above.len() > 2_000 {
            break;
        }
        above.push(next);
        k += 1.0;
    }
    let mut below = Vec::new();
    let (mut k, mut last) = (middle, 1.0f64);
    while k > 0.0 {
        last *= k * rest / (mean - (k - 1.0) * rate);
        if last.is_nan() || last < 1e-12 || below.len() > 2_000 {
            break;
        }
        below.push(last);
        k -= 1.0;
    }
    let total: f64 = above.iter().chain(&below).sum();
    let first = middle - below.len() as f64;
    let mut sum = 0.0;
    let (mut low, mut high) = (None, first);
    for (step, term) in below.iter().rev().chain(&above).enumerate() {
        sum += term / total;
        let count = first + step as f64;
        if low.is_none() && sum >= 0.05 {
            low = Some(count);
        }
        high = count;
        if sum >= 0.95 {
            break;
        }
    }
    (low.unwrap_or(first), high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;
    use proptest::prelude::*;

    fn of(probabilities: &[f64]) -> Consistency {
        let mut sums = Consistency::default();
        for p in probabilities {
            sums.add(Probability::from_log_odds((p / (1.0 - p)).ln()), 1.0);
        }
        sums
    }

    #[test] // By hand: of 10 fair coins 2 or fewer are heads in 5.5 %, 7 or fewer in 94.5 %, 8 in 98.9 %.
    fn fair_coins_agree_with_the_binomial_table() {
        let (low, high) = of(&[0.5; 10]).range();
        assert!((low - 0.2).abs() < 1e-12 && (high - 0.8).abs() < 1e-12);
        // By hand: Poisson with mean 2 has P(0) = 0.135, P(<=4) = 0.947, P(<=5) = 0.983.
        let (low, high) = of(&[1e-4; 20_000]).range();
        assert!(low == 0.0 && (high * 20_000.0 - 5.0).abs() < 1e-6, "{high}");
    }

    #[test]
    fn mixed_probabilities_agree_with_drawing() {
        let mut random = Random::from_seed(8);
        for (count, centre) in [(40, 0.0), (300, -4.0), (300, 4.0), (2_000, -1.0)] {
            let odds: Vec<f64> = (0..count).map(|_| centre + 2.0 * random.normal()).collect();
            let p: Vec<f64> = odds
                .iter()
                .map(|&x| Probability::from_log_odds(x).value())
                .collect();
            let mut drawn: Vec<usize> = (0..20_000)
                .map(|_| p.iter().filter(|&&p| random.uniform() < p).count())
                .collect();
            drawn.sort_unstable();
            let (low, high) = of(&p).range();
            let n = count as f64;
            let step = 1.01 / n; // a quantile may fall on either side of a count
            assert!(
                (low - drawn[1_000] as f64 / n).abs() <= step,
                "{count} {centre}"
            );
            assert!(
                (high - drawn[19_000] as f64 / n).abs() <= step,
                "{count} {centre}"
            );
        }
    }

    #[test]
    fn certain_and_absent_forecasts_have_no_width() {
        assert_eq!(Consistency::default().range(), (0.5, 0.5));
        let mut sums = Consistency::default();
        sums.add(Probability::from_log_odds(1e15), 1.0);
        let (low, high) = sums.range();
        assert!(low == high && low > 0.999);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_range_holds_the_mean_and_is_a_share(
            forecasts in prop::collection::vec((-40.0f64..40.0, 1e-3f64..1e3), 1..60)
        ) {
            let mut sums = Consistency::default();
            for &(x, w) in &forecasts {
                sums.add(Probability::from_log_odds(x), w);
            }
            let (low, high) = sums.range();
            prop_assert!(0.0 <= low && low <= high && high <= 1.0, "{} {}", low, high);
        }

        #[test]
        fn a_common_factor_of_the_weights_does_not_matter(x in -6.0f64..6.0, factor in 1e-6f64..1e6) {
            let (mut one, mut other) = (Consistency::default(), Consistency::default());
            for i in 0..50 {
                let p = Probability::from_log_odds(x + 0.01 * f64::from(i));
                one.add(p, 1.0);
                other.add(p, factor);
            }
            let (a, b) = (one.range(), other.range());
            prop_assert!((a.0 - b.0).abs() < 0.021 && (a.1 - b.1).abs() < 0.021, "{:?} {:?}", a, b);
        }
    }
}
