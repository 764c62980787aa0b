//! Policies in the order in which they are tested, fixed by confidences and costs alone.

use super::CascadeTier;

/// About so many policies are tried for each set of tiers that are asked.
const POLICIES: f64 = 600.0;

/// A policy by numbers: thresholds of the tiers that are asked before the last one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    /// The tier, and its threshold.
    pub(crate) thresholds: Vec<(usize, f64)>,
    /// What it costs for a document, on average.
    pub(crate) cost: f64,
    /// The share of wrong answers, as stated.
    risk: f64,
}

impl Candidate {
    /// The policy that asks nobody but the last tier.
    pub(crate) fn all_to_last(cost: f64) -> Self {
        Self {
            thresholds: Vec::new(),
            cost,
            risk: 0.0,
        }
    }

    /// The policy of these thresholds, not yet measured.
    pub(crate) fn with_thresholds(thresholds: Vec<(usize, f64)>) -> Self {
        Self {
            thresholds,
            cost: 0.0,
            risk: 0.0,
        }
    }

    /// The tier that answers a document.
    pub(crate) fn answers(&self, tiers: &[CascadeTier], document: usize) -> usize {
        let sure = |&&(tier, from): &&(usize, f64)| tiers[tier].confidences[document] >= from;
        let found = self.thresholds.iter().find(sure);
        found.map_or(tiers.len() - 1, |&(tier, _)| tier)
    }

    /// What is paid for a document that this tier answers: all that were asked before it, too.
    pub(crate) fn cost_of(&self, tiers: &[CascadeTier], answered: usize) -> f64 {
        let asked = self.thresholds.iter().filter(|&&(tier, _)| tier < answered);
        asked.map(|&(tier, _)| tiers[tier].cost).sum::<f64>() + tiers[answered].cost
    }
}

/// All sets of tiers before the last one, by number; `least` is the smallest set that counts (0 with the empty one).
pub(crate) fn families(tiers: usize, least: usize) -> Vec<Vec<usize>> {
    let before = tiers - 1;
    (0..1usize << before)
        .map(|bits| (0..before).filter(|tier| bits >> tier & 1 == 1).collect())
        .filter(|family: &Vec<usize>| family.len() >= least)
        .collect()
}

/// A path of policies, and its part of the chance of a miss.
pub(crate) struct Path {
    pub(crate) policies: Vec<Candidate>,
    pub(crate) part: f64,
}

/// The path of all policies together has this part of the chance of a miss where there are others beside it.
pub(crate) const TOGETHER: f64 = 0.8;

/// The paths that are tested: one of the policies of all sets of tiers together, and, in case one source is not as good as it
/// says and ends that path early, one for each set.
pub(crate) fn paths(tiers: &[CascadeTier], least: usize, documents: &[usize]) -> Vec<Path> {
    let families = families(tiers.len(), least);
    let each: Vec<Vec<Candidate>> = families
        .iter()
        .map(|family| candidates(tiers, family, documents))
        .collect();
    let together = Path {
        policies: front(each.concat()),
        part: if each.len() > 1 { TOGETHER } else { 1.0 },
    };
    let part = (1.0 - together.part) / each.len() as f64;
    let apart = each.into_iter().map(|policies| Path {
        policies: front(policies),
        part,
    });
    std::iter::once(together)
        .chain(apart.filter(|path| path.part > 0.0))
        .collect()
}

/// Policies that no other beats both in stated risk and in cost, from the least stated risk on; each is cheaper than all
/// before it.
pub(crate) fn front(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.sort_by(|a, b| a.risk.total_cmp(&b.risk).then(a.cost.total_cmp(&b.cost)));
    let mut least = f64::INFINITY;
    candidates.retain(|candidate| {
        let cheaper = candidate.cost < least;
        least = least.min(candidate.cost);
        cheaper
    });
    candidates
}

/// The policies of one set of tiers. Thresholds are quantiles of the confidences of the given documents. No label is looked
/// at.
pub(crate) fn candidates(
    tiers: &[CascadeTier],
    family: &[usize],
    documents: &[usize],
) -> Vec<Candidate> {
    if documents.is_empty() {
        return Vec::new();
    }
    let levels = POLICIES
        .powf(1.0 / family.len().max(1) as f64)
        .clamp(3.0, 100.0) as usize;
    let grids: Vec<Vec<f64>> = family
        .iter()
        .map(|&tier| quantiles(&tiers[tier].confidences, documents, levels))
        .collect();
    let mut candidates = Vec::new();
    let mut places = vec![0; family.len()];
    loop {
        let chosen = places.iter().zip(&grids).zip(family);
        let thresholds = chosen.map(|((&place, grid), &tier)| (tier, grid[place]));
        candidates.push(measured(tiers, thresholds.collect(), documents));
        // Counts through all combinations, as digits do.
        let Some(digit) = (0..places.len()).find(|&digit| places[digit] + 1 < grids[digit].len())
        else {
            break;
        };
        places[digit] += 1;
        places[..digit].fill(0);
    }
    candidates
}

/// Thresholds that equal shares of the documents reach, from the strictest on.
fn quantiles(confidences: &[f64], documents: &[usize], levels: usize) -> Vec<f64> {
    let mut sorted: Vec<f64> = documents.iter().map(|&place| confidences[place]).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let mut found: Vec<f64> = (1..=levels)
        .filter_map(|level| {
            let place = (sorted.len() * level).div_ceil(levels);
            sorted.get(place.saturating_sub(1)).copied()
        })
        .collect();
    found.dedup();
    found
}

/// What the policy costs and risks on these documents, as stated.
fn measured(
    tiers: &[CascadeTier],
    thresholds: Vec<(usize, f64)>,
    documents: &[usize],
) -> Candidate {
    let mut candidate = Candidate::with_thresholds(thresholds);
    let mut counts = vec![0u64; tiers.len()];
    let mut risk = 0.0;
    for &document in documents {
        let tier = candidate.answers(tiers, document);
        counts[tier] += 1;
        risk += match tiers[tier].confidences.get(document) {
            Some(confidence) if tier + 1 < tiers.len() => 1.0 - confidence,
            _ => 0.0,
        };
    }
    let all = documents.len().max(1) as f64;
    let costs = counts.iter().enumerate();
    let cost = costs.map(|(tier, &count)| count as f64 * candidate.cost_of(tiers, tier));
    candidate.cost = cost.sum::<f64>() / all;
    candidate.risk = risk / all;
    candidate
}
