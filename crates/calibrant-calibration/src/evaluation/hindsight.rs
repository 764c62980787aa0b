//! The best that a threshold could have done, chosen with the truth at hand.

use serde::{Deserialize, Serialize};

use crate::numeric::StableSum;

/// The threshold that would have been cheapest on these documents: what to hold decisions by expected cost against.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HindsightThreshold {
    /// Which probability it is a threshold of.
    pub of: ThresholdOf,
    /// From this probability on; above 1 where nothing reaches it.
    pub threshold: f64,
    /// What that costs in the mean.
    pub mean_cost: f64,
    /// The share, by weight, of what reaches the threshold.
    pub share: f64,
}

/// What a threshold is put on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdOf {
    /// The probability of what is most probable: that is the answer from the threshold on, and a person is asked below it.
    MostProbable,
    /// The probability of the second of two classes (or of "yes"): that is the answer from the threshold on.
    Second,
}

/// One decision: its probability, its weight, and the weighted costs from the threshold on and below it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) probability: f64,
    pub(super) weight: f64,
    pub(super) from: f64,
    pub(super) below: f64,
}

/// The cheapest of all thresholds that tell the candidates apart; of equals the largest.
///
/// # When it misleads
/// It is chosen on the documents that it is measured on, and so looks better than any threshold that could have been known.
pub(super) fn best_threshold(
    of: ThresholdOf,
    mut candidates: Vec<Candidate>,
) -> Option<HindsightThreshold> {
    candidates.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let total = |of: fn(&Candidate) -> f64| {
        let sum: StableSum = candidates.iter().map(of).collect();
        sum.total()
    };
    let weight = total(|candidate| candidate.weight);
    if candidates.is_empty() || weight <= 0.0 {
        return None;
    }
    let mut cost = total(|candidate| candidate.below);
    let mut reached = 0.0;
    let nobody = HindsightThreshold {
        of,
        threshold: 2.0,
        mean_cost: cost / weight,
        share: 0.0,
    };
    let mut best = nobody;
    for (place, candidate) in candidates.iter().enumerate() {
        cost += candidate.from - candidate.below;
        reached += candidate.weight;
        let next = candidates.get(place + 1);
        if next.is_some_and(|next| next.probability == candidate.probability) {
            continue;
        }
        let mean_cost = cost / weight;
        if mean_cost < best.mean_cost - 1e-12 * best.mean_cost.abs() {
            best = HindsightThreshold {
                of,
                threshold: candidate.probability,
                mean_cost,
                share: reached / weight,
            };
        }
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(probability: f64, from: f64, below: f64) -> Candidate {
        Candidate {
            probability,
            weight: 1.0,
            from,
            below,
        }
    }

    #[test] // By hand: answers cost 0, 0, 5, 0, a person 1 each; to answer two and ask twice costs 2, all answers 5.
    fn the_threshold_is_the_cheapest_cut() {
        let candidates = vec![
            candidate(0.6, 0.0, 1.0),
            candidate(0.9, 0.0, 1.0),
            candidate(0.7, 5.0, 1.0),
            candidate(0.8, 0.0, 1.0),
        ];
        let best = best_threshold(ThresholdOf::MostProbable, candidates).unwrap();
        assert_eq!(
            (best.threshold, best.mean_cost, best.share),
            (0.8, 0.5, 0.5)
        );
        assert_eq!(best_threshold(ThresholdOf::Second, Vec::new()), None);
    }

    #[test]
    fn equal_probabilities_are_not_told_apart() {
        let candidates = vec![candidate(0.7, 0.0, 1.0), candidate(0.7, 5.0, 1.0)];
        let best = best_threshold(ThresholdOf::MostProbable, candidates).unwrap();
        assert_eq!(
            (best.threshold, best.mean_cost, best.share),
            (2.0, 1.0, 0.0)
        );
    }

    #[test]
    fn it_is_as_cheap_as_the_best_of_all_cuts_tried_one_by_one() {
        let mut random = crate::numeric::Random::from_seed(3);
        for _ in 0..50 {
            let candidates: Vec<Candidate> = (0..20)
                .map(|_| Candidate {
                    probability: (8.0 * random.uniform()).round() / 8.0,
                    weight: 0.5 + random.uniform(),
                    from: 3.0 * random.uniform(),
                    below: 3.0 * random.uniform(),
                })
                .collect();
            let weight: f64 = candidates.iter().map(|c| c.weight).sum();
            let at = |threshold: f64| -> f64 {
                let costs = candidates.iter().map(|c| match c.probability >= threshold {
                    true => c.from,
                    false => c.below,
                });
                costs.sum::<f64>() / weight
            };
            let cuts = (0..=9).map(|cut| f64::from(cut) / 8.0);
            let least = cuts.map(at).fold(f64::INFINITY, f64::min);
            let best = best_threshold(ThresholdOf::Second, candidates.clone()).unwrap();
            assert!((best.mean_cost - least).abs() < 1e-12);
            assert!((at(best.threshold) - least).abs() < 1e-12);
        }
    }
}
