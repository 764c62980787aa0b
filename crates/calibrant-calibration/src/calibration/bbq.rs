//! Bayesian binning: many histograms, each as believable as it makes the labels likely.

use serde::{Deserialize, Serialize};

use super::distinct_scores::{DistinctScore, class_weights, distinct_scores, edge_between};
use super::steps::Steps;
use super::{CalibrationMethod, Calibrator, HeldOutScores, Turning};
use crate::numeric::ln_gamma;
use crate::{CalibrationError, Probability};

/// Averages histograms with different numbers of bins ("BBQ", Bayesian binning into quantiles).
///
/// # Formula
/// ```text
/// P(s) = Σ_M weight_M P_M(s),              M = n^⅓/10, ..., 10 n^⅓ bins of equal mass
/// P_M(s) = (n₁ + α) / (n₁ + n₀ + α + β)    for the bin of s, with n₁ positives and n₀ negatives
/// weight_M ∝ Π_bins B(n₁ + α, n₀ + β) / B(α, β)
/// ```
/// `B` is the beta function: the product is the probability of all labels if each bin's share of
/// positives was drawn from a beta distribution with `α = 2b`, `β = 2(1-b)`. Its mean `b` is the
/// share of positives among all. (The paper takes the middle of the bin, since its scores are
/// probabilities; ours may be any numbers.) Weights of examples count as so many examples.
/// Histograms that are a billion times less likely than the best are left out, and since a mean of
/// step functions is a step function, one is all that is kept.
///
/// # When it misleads
/// The curve need not rise, and with a rare class the equal-mass bins are too wide where the
/// positives lie. [`Isotonic`](super::Isotonic) does better on both.
///
/// # Reference
/// Naeini, Cooper & Hauskrecht, AAAI 2015.
///
/// ```
/// use calibrant_calibration::calibration::{Bbq, CalibrationMethod, Calibrator, HeldOutScores};
/// let held_out = HeldOutScores::assume(vec![0.0, 1.0], vec![false, true])?;
/// let steps = Bbq.fit(&held_out)?;
/// // By hand: with one bin P = 1/2, and the labels have probability B(2,2)/B(1,1) = 1/6; with two
/// // bins P = 1/3 at the score 0, and they have (B(1,2)/B(1,1))² = 1/4. So P = (1/6·1/2 + 1/4·1/3) / (1/6 + 1/4).
/// assert!((steps.probability(0.0).value() - 0.4).abs() < 1e-12);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bbq;

/// The mean of all histograms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BbqCalibrator {
    steps: Steps,
}

impl Turning for BbqCalibrator {
    fn turns(&self) -> Vec<f64> {
        self.steps.edges().to_vec()
    }
}

impl BbqCalibrator {
    /// How many different stretches of scores there are.
    pub fn step_count(&self) -> usize {
        self.steps.len()
    }
}

impl Calibrator for BbqCalibrator {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        Probability::from_log_odds(self.steps.right_at_edges(score))
    }
}

/// How many examples the prior of a bin is worth.
const PRIOR_WEIGHT: f64 = 2.0;
/// The range of bin counts reaches this factor below and above the cube root.
const RANGE: f64 = 10.0;
/// Log of how much less likely than the best a histogram may be.
const LEAST_LN_RATIO: f64 = -20.723_265_836_946_41;

impl CalibrationMethod for Bbq {
    type Calibrator = BbqCalibrator;

    fn fit(&self, held_out: &HeldOutScores) -> Result<BbqCalibrator, CalibrationError> {
        let distinct = distinct_scores(held_out, "Bayesian binning")?;
        let binning = EqualMassBins::new(&distinct);
        let root = (held_out.len() as f64).cbrt();
        let most = ((RANGE * root).ceil() as usize).min(distinct.len());
        let fewest = ((root / RANGE).floor() as usize).clamp(1, most);

        let mut tried: Vec<(f64, usize)> = Vec::new();
        let (mut ends, mut last_ends) = (Vec::new(), Vec::new());
        for bin_count in fewest..=most {
            binning.ends(bin_count, &mut ends);
            // Ties can make one histogram of several numbers of bins; it counts once.
            if ends != last_ends {
                tried.push((binning.ln_likelihood(&ends), bin_count));
                std::mem::swap(&mut ends, &mut last_ends);
            }
        }
        let best = tried.iter().map(|tried| tried.0).fold(f64::MIN, f64::max);
        tried.retain(|tried| tried.0 - best >= LEAST_LN_RATIO);

        let mut all_ends: Vec<u32> = Vec::new();
        for &(_, bin_count) in &tried {
            binning.ends(bin_count, &mut ends);
            all_ends.extend_from_slice(&ends);
        }
        all_ends.sort_unstable();
        all_ends.dedup();
        // Summed as positive numbers, P and 1 - P apart, so that nothing cancels.
        let mut sums = vec![(0.0, 0.0); all_ends.len()];
        for &(ln_likelihood, bin_count) in &tried {
            let weight = (ln_likelihood - best).exp();
            binning.ends(bin_count, &mut ends);
            let mut step = 0;
            for (start, &end) in starts(&ends).zip(&ends) {
                let (positive, negative) = binning.posterior(start, end);
                let total = positive + negative;
                let (p, q) = (weight * (positive / total), weight * (negative / total));
                while step < all_ends.len() && all_ends[step] <= end {
                    sums[step].0 += p;
                    sums[step].1 += q;
                    step += 1;
                }
            }
        }
        let edges = all_ends
            .iter()
            .map(|&end| end as usize)
            .filter(|&end| end < distinct.len())
            .map(|end| edge_between(distinct[end - 1].score, distinct[end].score))
            .collect();
        let log_odds = sums
            .into_iter()
            .map(|(p, q)| Probability::from_log_odds((p / q).ln()).log_odds())
            .collect();
        let steps = Steps::new(edges, log_odds).ok_or(CalibrationError::Overflow)?;
        Ok(BbqCalibrator { steps })
    }
}

/// Where each bin starts: where the one before ends.
fn starts(ends: &[u32]) -> impl Iterator<Item = u32> + '_ {
    std::iter::once(0).chain(ends.iter().copied())
}

/// What every histogram needs, summed once.
struct EqualMassBins {
    /// For each distinct score, the share of the weight up to its middle.
    middles: Vec<f64>,
    /// How many middles lie below each of equally spaced places, so that a search is short.
    signposts: Vec<u32>,
    /// The weight of positives and of negatives before each distinct score, and of all at the end.
    before: Vec<(f64, f64)>,
    /// The prior's weights of positives and of negatives, and the log of their beta function.
    prior: (f64, f64),
    ln_prior: f64,
}

impl EqualMassBins {
    fn new(distinct: &[DistinctScore]) -> Self {
        let (negative, positive) = class_weights(distinct);
        let total = positive + negative;
        let prior = (
            PRIOR_WEIGHT * (positive / total),
            PRIOR_WEIGHT * (negative / total),
        );
        let mut sum = (0.0, 0.0);
        let mut before = Vec::with_capacity(distinct.len() + 1);
        before.push(sum);
        before.extend(distinct.iter().map(|point| {
            sum = (sum.0 + point.positive, sum.1 + point.negative);
            sum
        }));
        let middles: Vec<f64> = before
            .windows(2)
            .map(|pair| ((pair[0].0 + pair[0].1) + (pair[1].0 + pair[1].1)) / 2.0 / total)
            .collect();
        Self {
            signposts: signposts(&middles),
            middles,
            before,
            ln_prior: ln_beta(prior.0, prior.1),
            prior,
        }
    }

    /// The positions after the last score of each bin: a score belongs to the bin in which the
    /// middle of its weight lies, and empty bins are none.
    fn ends(&self, bin_count: usize, ends: &mut Vec<u32>) {
        ends.clear();
        let mut last = 0;
        for bin in 1..bin_count {
            // The nudge keeps rounding from deciding where a middle lies on an edge.
            let edge = (bin as f64 - 1e-9) / bin_count as f64;
            let end = self.first_not_below(edge);
            if end > last && end < self.middles.len() {
                ends.push(end as u32);
                last = end;
            }
        }
        ends.push(self.middles.len() as u32);
    }

    /// The position of the first middle that is not below a place between 0 and 1.
    fn first_not_below(&self, place: f64) -> usize {
        let last = self.signposts.len() - 1;
        let near = ((place * last as f64) as usize).min(last);
        // One further on either side, so that rounding cannot lead astray.
        let start = self.signposts[near.saturating_sub(1)] as usize;
        let end = self.signposts[(near + 2).min(last)] as usize;
        start + self.middles[start..end].partition_point(|&middle| middle < place)
    }

    /// Weights of positives and of negatives between two positions, the prior's among them.
    fn posterior(&self, start: u32, end: u32) -> (f64, f64) {
        let (start, end) = (self.before[start as usize], self.before[end as usize]);
        (
            end.0 - start.0 + self.prior.0,
            end.1 - start.1 + self.prior.1,
        )
    }

    /// Log of the probability of all labels.
    fn ln_likelihood(&self, ends: &[u32]) -> f64 {
        let of_bin = |(start, &end)| {
            let (positive, negative) = self.posterior(start, end);
            ln_beta(positive, negative) - self.ln_prior
        };
        starts(ends).zip(ends).map(of_bin).sum()
    }
}

/// For each of equally spaced places from 0 to 1, one for every few middles, how many lie below.
fn signposts(middles: &[f64]) -> Vec<u32> {
    let count = middles.len().div_ceil(8);
    let mut below = 0;
    let mut signposts: Vec<u32> = (0..count)
        .map(|sign| {
            let place = sign as f64 / count as f64;
            while below < middles.len() && middles[below] < place {
                below += 1;
            }
            below as u32
        })
        .collect();
    signposts.push(middles.len() as u32);
    signposts
}

/// Log of the beta function.
fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::{Random, log_sum_exp, sigmoid};

    #[test]
    fn the_mean_is_that_of_all_histograms_one_by_one() {
        let mut random = Random::from_seed(21);
        let scores: Vec<f64> = (0..80).map(|_| (4.0 * random.normal()).round()).collect();
        let labels: Vec<bool> = scores
            .iter()
            .map(|s| random.uniform() < sigmoid(*s))
            .collect();
        let held_out = HeldOutScores::assume(scores.clone(), labels.clone()).unwrap();
        let steps = Bbq.fit(&held_out).unwrap();
        let base = labels.iter().filter(|label| **label).count() as f64 / 80.0;

        // Straight from the definition: the bin of an example is where its tied group's middle lies.
        let middle = |score: f64| {
            let below = scores.iter().filter(|&&s| s < score).count() as f64;
            let tied = scores.iter().filter(|&&s| s == score).count() as f64;
            (below + tied / 2.0) / 80.0
        };
        let mut distinct = scores.clone();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let mut seen: Vec<Vec<usize>> = Vec::new();
        let mut histograms: Vec<(f64, Vec<f64>)> = Vec::new();
        for bin_count in 1..=distinct.len().min(44) {
            let bin = |score: f64| {
                ((middle(score) * bin_count as f64 + 1e-9) as usize).min(bin_count - 1)
            };
            let bins: Vec<usize> = distinct.iter().map(|&score| bin(score)).collect();
            let changes = (1..bins.len())
                .filter(|&i| bins[i] != bins[i - 1])
                .collect();
            if seen.last() == Some(&changes) {
                continue;
            }
            seen.push(changes);
            let counts = |bin_number: usize| {
                let of_bin = || (0..80).filter(|&i| bin(scores[i]) == bin_number);
                let positive = of_bin().filter(|&i| labels[i]).count() as f64;
                (positive, of_bin().count() as f64 - positive)
            };
            let ln_likelihood = (0..bin_count)
                .map(counts)
                .map(|(a, b)| {
                    ln_beta(a + 2.0 * base, b + 2.0 - 2.0 * base)
                        - ln_beta(2.0 * base, 2.0 - 2.0 * base)
                })
                .sum();
            let values = distinct
                .iter()
                .map(|&score| counts(bin(score)))
                .map(|(a, b)| (a + 2.0 * base) / (a + b + 2.0))
                .collect();
            histograms.push((ln_likelihood, values));
        }
        let total = log_sum_exp(&histograms.iter().map(|h| h.0).collect::<Vec<_>>());
        for (place, &score) in distinct.iter().enumerate() {
            let expected: f64 = histograms
                .iter()
                .map(|(ln_likelihood, values)| (ln_likelihood - total).exp() * values[place])
                .sum();
            let found = steps.probability(score).value();
            assert!(
                (found - expected).abs() < 1e-7,
                "{score}: {found} {expected}"
            );
        }
    }

    #[test]
    fn the_truth_is_found_and_little_is_kept() {
        let mut random = Random::from_seed(22);
        let scores: Vec<f64> = (0..20_000).map(|_| random.uniform()).collect();
        let labels = scores.iter().map(|s| random.uniform() < *s).collect();
        let steps = Bbq
            .fit(&HeldOutScores::assume(scores, labels).unwrap())
            .unwrap();
        for score in [0.1, 0.3, 0.5, 0.7, 0.9] {
            assert!((steps.probability(score).value() - score).abs() < 0.05);
        }
        assert!(steps.step_count() < 2000, "{}", steps.step_count());
    }
}
