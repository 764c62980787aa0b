//! What acting on forecasts is worth, for every threshold.

use super::SortedForecasts;
use crate::Probability;
use crate::numeric::StableSum;
use serde::{Deserialize, Serialize};

/// What it is worth to act from a probability on, in true positives per document.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NetBenefit {
    /// The probability from which on one acts.
    pub threshold: f64,
    /// The net benefit of acting by the forecasts.
    pub benefit: f64,
    /// That of acting always. Acting never has none.
    pub accept_all: f64,
}

/// The net benefit of acting on forecasts at each of the thresholds (from 0 to 1, 1 excluded; others are left out).
///
/// # Formula
/// Who acts from the probability `t` on holds a false positive to be worth `t / (1 - t)` of a true one:
/// ```text
/// benefit(t) = TP/n - FP/n · t/(1-t)        accept all: π - (1-π) · t/(1-t)        accept none: 0
/// ```
///
/// # When it misleads
/// It is in units of true positives, and only thresholds that somebody would use count. A curve below those of all or
/// none is worse than no model at all.
///
/// # Reference
/// Vickers and Elkin, Medical Decision Making 2006.
///
/// ```
/// use calibrant_calibration::{Probability, evaluation::decision_curve};
/// let at = |x: f64, y| (Probability::from_log_odds(x), y, 1.0);
/// let points = [at(2.0, true), at(1.0, false), at(-1.0, true), at(-2.0, false)];
/// let curve = decision_curve(&points, &[0.5, 0.2]);
/// // By hand at 0.5: one true and one false positive of four. At 0.2 (odds 1/4): two and one.
/// assert!((curve[0].benefit - 0.0).abs() < 1e-15);
/// assert!((curve[1].benefit - (2.0 - 0.25) / 4.0).abs() < 1e-15);
/// assert!((curve[1].accept_all - (0.5 - 0.5 * 0.25)).abs() < 1e-15);
/// ```
pub fn decision_curve(points: &[(Probability, bool, f64)], thresholds: &[f64]) -> Vec<NetBenefit> {
    let sorted = SortedForecasts::new(points);
    let (yes, no) = sorted.outcomes(0..sorted.len());
    let all = yes + no;
    if all <= 0.0 {
        return Vec::new();
    }
    let at = |threshold: f64| {
        let below = |log_odds: &f64| Probability::from_log_odds(*log_odds).value() < threshold;
        let from = sorted.log_odds.partition_point(below);
        let (hits, alarms) = sorted.outcomes(from..sorted.len());
        let odds = threshold / (1.0 - threshold);
        NetBenefit {
            threshold,
            benefit: (hits - alarms * odds) / all,
            accept_all: (yes - no * odds) / all,
        }
    };
    usable(thresholds).map(at).collect()
}

/// The net benefit that calibrated probabilities promise of documents whose truth is not known, at each of the thresholds (as
/// [`decision_curve`]).
///
/// # Formula
/// ```text
/// benefit(t) = (1/n) Σ_{p_i ≥ t} ( p_i - (1 - p_i) · t/(1-t) )
/// ```
/// every term of which is at least 0: by its own word, a model is never worse than doing nothing.
///
/// # When it misleads
/// It believes the probabilities; where these are no longer calibrated it promises what will not come. Held against
/// [`decision_curve`] on documents whose truth is known, it shows by how much.
///
/// ```
/// use calibrant_calibration::{Probability, evaluation::expected_decision_curve};
/// let p = |value: f64| Probability::from_log_odds((value / (1.0 - value)).ln());
/// // By hand at 0.5: 0.8 - 0.2 from the first, nothing from the second.
/// let curve = expected_decision_curve(&[p(0.8), p(0.3)], &[0.5]);
/// assert!((curve[0].benefit - 0.3).abs() < 1e-12);
/// assert!((curve[0].accept_all - (1.1 - 0.9) / 2.0).abs() < 1e-12);
/// ```
pub fn expected_decision_curve(
    probabilities: &[Probability],
    thresholds: &[f64],
) -> Vec<NetBenefit> {
    if probabilities.is_empty() {
        return Vec::new();
    }
    let count = probabilities.len() as f64;
    let at = |threshold: f64| {
        let odds = threshold / (1.0 - threshold);
        let (mut benefit, mut all) = (StableSum::default(), StableSum::default());
        for p in probabilities {
            let worth = p.value() - p.complement().value() * odds;
            all.add(worth);
            if p.value() >= threshold {
                benefit.add(worth);
            }
        }
        NetBenefit {
            threshold,
            benefit: benefit.total() / count,
            accept_all: all.total() / count,
        }
    };
    usable(thresholds).map(at).collect()
}

/// Thresholds at which a false positive has a price.
fn usable(thresholds: &[f64]) -> impl Iterator<Item = f64> + '_ {
    thresholds
        .iter()
        .copied()
        .filter(|threshold| (0.0..1.0).contains(threshold))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    fn sample(count: usize) -> Vec<(Probability, bool, f64)> {
        let mut random = Random::from_seed(4);
        let one = |_| {
            let p = Probability::from_log_odds(2.0 * random.normal());
            (p, random.uniform() < p.value(), 1.0)
        };
        (0..count).map(one).collect()
    }

    #[test] // As the package dcurves has it: rates by share of positives, test by test.
    fn benefits_are_those_of_rates_and_prevalence() {
        let points = sample(500);
        let thresholds: Vec<f64> = (0..100).map(|step| f64::from(step) / 100.0).collect();
        let prevalence = points.iter().filter(|point| point.1).count() as f64 / 500.0;
        for found in decision_curve(&points, &thresholds) {
            let t = found.threshold;
            let rate = |truth: bool| {
                let own: Vec<_> = points.iter().filter(|point| point.1 == truth).collect();
                own.iter().filter(|point| point.0.value() >= t).count() as f64 / own.len() as f64
            };
            let expected =
                rate(true) * prevalence - rate(false) * (1.0 - prevalence) * t / (1.0 - t);
            assert!((found.benefit - expected).abs() < 1e-12);
            let all = prevalence - (1.0 - prevalence) * t / (1.0 - t);
            assert!((found.accept_all - all).abs() < 1e-12);
        }
    }

    #[test]
    fn calibrated_forecasts_promise_what_comes() {
        let points = sample(40_000);
        let stated: Vec<Probability> = points.iter().map(|point| point.0).collect();
        let thresholds = [0.05, 0.2, 0.5, 0.8];
        let (real, promised) = (
            decision_curve(&points, &thresholds),
            expected_decision_curve(&stated, &thresholds),
        );
        for (real, promised) in real.iter().zip(&promised) {
            // Four standard errors, roughly.
            let room = 4.0 * 0.3 / (1.0 - real.threshold) / 200.0;
            assert!(
                (real.benefit - promised.benefit).abs() < room,
                "{real:?} {promised:?}"
            );
            assert!(promised.benefit >= promised.accept_all.max(0.0));
        }
    }

    #[test]
    fn nothing_gives_nothing() {
        assert!(decision_curve(&[], &[0.5]).is_empty());
        assert!(expected_decision_curve(&[], &[0.5]).is_empty());
        assert!(decision_curve(&sample(5), &[1.0, -0.5, f64::NAN]).is_empty());
    }
}
