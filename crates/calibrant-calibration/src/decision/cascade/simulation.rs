//! How often does a certified policy keep its promise? Sources whose accuracy is known.

use serde::{Deserialize, Serialize};

use crate::numeric::{Random, sigmoid};
use crate::parallel;

use super::path::{Candidate, candidates, families, front};
use super::tiers::check_tiers;
use super::{CascadeError, CascadeSettings, CascadeStep, CascadeTier, certify_cascade};

/// A source that is made up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SimulatedTier {
    /// What it costs to ask it.
    pub cost: f64,
    /// How far apart the scores of the two classes lie, in standard deviations: 2 is right in 84 %, 4 in 98 %.
    pub separation: f64,
    /// Stated log-odds are so many times the true ones: 1 is calibrated.
    pub slope: f64,
}

/// Sources that are made up; a person whose word is the truth comes last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CascadeWorld {
    /// The sources before the person.
    pub tiers: Vec<SimulatedTier>,
    /// What the person costs.
    pub person: f64,
    /// The part of the noise that all sources share: what is hard for one is hard for the others.
    pub shared: f64,
}

/// What a simulation found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CascadeOutcome {
    /// Calibration sets drawn.
    pub draws: usize,
    /// Those whose certified policy is wrong more often than allowed.
    pub broken: usize,
    /// The mean cost of certified policies.
    pub cost: f64,
    /// Their mean share of wrong answers.
    pub risk: f64,
    /// Sets for which the cheapest policy with few enough wrong answers among them, chosen without a test, is wrong more
    /// often than allowed.
    pub untested_broken: usize,
    /// The mean cost of those.
    pub untested_cost: f64,
    /// The mean cost of the untested policies that do keep to what is allowed.
    pub untested_kept_cost: f64,
    /// What "answer where the stated probability of an error is at most the allowed one" costs.
    pub stated_cost: f64,
    /// The share of its answers that are wrong.
    pub stated_risk: f64,
    /// The cheapest policy of all, chosen with the truth of all documents: nobody can do better.
    pub best_cost: f64,
    /// The cheapest single source that keeps to what is allowed.
    pub single_cost: f64,
}

impl CascadeWorld {
    /// So many documents, as the sources answer them.
    pub fn tiers(&self, documents: usize, random: &mut Random) -> Vec<CascadeTier> {
        let mut tiers: Vec<CascadeTier> = self
            .tiers
            .iter()
            .enumerate()
            .map(|(number, tier)| CascadeTier::truth(&format!("tier {number}"), tier.cost))
            .collect();
        let own = (1.0 - self.shared).sqrt();
        for _ in 0..documents {
            let common = self.shared.sqrt() * random.normal();
            for (tier, made) in self.tiers.iter().zip(&mut tiers) {
                // The truth is "yes" without loss of generality: the score is right if it is above zero.
                let score = 0.5 * tier.separation + common + own * random.normal();
                let stated = tier.slope * (tier.separation * score).abs();
                made.confidences.push(sigmoid(stated));
                made.right.push(score > 0.0);
            }
        }
        tiers.push(CascadeTier::truth("person", self.person));
        tiers
    }
}

/// Draws calibration sets, certifies a policy by each, and measures it on many other documents.
pub fn simulate_cascade(
    world: &CascadeWorld,
    documents: usize,
    settings: &CascadeSettings,
    draws: usize,
    seed: u64,
) -> CascadeOutcome {
    const MANY: usize = 40_000;
    let many = world.tiers(MANY, &mut Random::from_seed(seed));
    simulate_with(&many, settings, draws, |draw| {
        world.tiers(documents, &mut random_of(seed, draw))
    })
}

/// The same with documents whose truth is known: calibration sets are drawn from them with replacement, and policies are
/// measured on all of them, so that they are what all documents are like.
pub fn resample_cascade(
    all: &[CascadeTier],
    documents: usize,
    settings: &CascadeSettings,
    draws: usize,
    seed: u64,
) -> Result<CascadeOutcome, CascadeError> {
    let count = check_tiers(all)?;
    let draw_set = |draw: usize| -> Vec<CascadeTier> {
        let mut random = random_of(seed, draw);
        let places: Vec<usize> = (0..documents).map(|_| random.below(count)).collect();
        let drawn = |tier: &CascadeTier| CascadeTier {
            confidences: places
                .iter()
                .filter_map(|&place| tier.confidences.get(place).copied())
                .collect(),
            right: places
                .iter()
                .filter_map(|&place| tier.right.get(place).copied())
                .collect(),
            ..CascadeTier::truth(&tier.name, tier.cost)
        };
        all.iter().map(drawn).collect()
    };
    Ok(simulate_with(all, settings, draws, draw_set))
}

/// The random numbers of one draw.
fn random_of(seed: u64, draw: usize) -> Random {
    Random::from_seed(seed ^ (draw as u64 + 1).wrapping_mul(0x9E37_79B9))
}

/// Calibration sets that are drawn by number, and many documents that stand for all.
fn simulate_with(
    many: &[CascadeTier],
    settings: &CascadeSettings,
    draws: usize,
    draw_set: impl Fn(usize) -> Vec<CascadeTier> + Sync,
) -> CascadeOutcome {
    let one = |draw: usize| {
        let set = draw_set(draw);
        let certified = match certify_cascade(&set, settings) {
            Ok(found) => measure(many, |document| {
                let mut step = found.policy.first();
                let mut cost = 0.0;
                loop {
                    match step {
                        CascadeStep::Ask(tier) => {
                            cost += many[tier].cost;
                            let confidence = many[tier].confidences.get(document);
                            step = found.policy.after(tier, confidence.copied().unwrap_or(1.0));
                        }
                        CascadeStep::Answer(tier) => return (tier, cost),
                    }
                }
            }),
            Err(_) => (0.0, many[many.len() - 1].cost),
        };
        let untested = cheapest_kept(&set, settings.risk);
        Draw {
            certified,
            untested: measure_candidate(many, &untested),
        }
    };
    let all: Vec<Draw> = parallel::map_indices(draws, one);
    let kept: Vec<f64> = all
        .iter()
        .filter(|draw| draw.untested.0 <= settings.risk)
        .map(|draw| draw.untested.1)
        .collect();
    let by_statement = Candidate::with_thresholds(
        (0..many.len() - 1)
            .map(|tier| (tier, 1.0 - settings.risk))
            .collect(),
    );
    let stated = measure_candidate(many, &by_statement);
    let single = many.iter().filter(|tier| {
        let wrong = tier.right.iter().filter(|right| !**right).count();
        wrong as f64 <= settings.risk * tier.right.len() as f64
    });
    CascadeOutcome {
        draws,
        broken: all
            .iter()
            .filter(|draw| draw.certified.0 > settings.risk)
            .count(),
        cost: mean(all.iter().map(|draw| draw.certified.1)),
        risk: mean(all.iter().map(|draw| draw.certified.0)),
        untested_broken: draws - kept.len(),
        untested_cost: mean(all.iter().map(|draw| draw.untested.1)),
        untested_kept_cost: mean(kept.iter().copied()),
        stated_cost: stated.1,
        stated_risk: stated.0,
        best_cost: measure_candidate(many, &cheapest_kept(many, settings.risk)).1,
        single_cost: single.map(|tier| tier.cost).fold(f64::INFINITY, f64::min),
    }
}

/// What one calibration set gave: shares of wrong answers and costs.
struct Draw {
    certified: (f64, f64),
    untested: (f64, f64),
}

/// The mean; not a number where there is nothing.
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// The share of wrong answers and the cost.
fn measure(many: &[CascadeTier], answer: impl Fn(usize) -> (usize, f64)) -> (f64, f64) {
    let documents = many[0].confidences.len();
    let (mut wrong, mut paid) = (0usize, 0.0);
    for document in 0..documents {
        let (tier, cost) = answer(document);
        wrong += usize::from(!many[tier].is_right(document));
        paid += cost;
    }
    let all = documents.max(1) as f64;
    (wrong as f64 / all, paid / all)
}

fn measure_candidate(many: &[CascadeTier], candidate: &Candidate) -> (f64, f64) {
    measure(many, |document| {
        let tier = candidate.answers(many, document);
        (tier, candidate.cost_of(many, tier))
    })
}

/// The cheapest policy on the paths that has few enough wrong answers on these very documents.
fn cheapest_kept(tiers: &[CascadeTier], risk: f64) -> Candidate {
    let documents = tiers[0].confidences.len();
    // A path of a few thousand documents is as good, and quicker.
    let some: Vec<usize> = (0..documents.min(4_000)).collect();
    let mut best = Candidate::all_to_last(tiers[tiers.len() - 1].cost);
    for family in families(tiers.len(), 1) {
        for candidate in front(candidates(tiers, &family, &some)) {
            if candidate.cost < best.cost && measure_candidate(tiers, &candidate).0 <= risk {
                best = candidate;
            }
        }
    }
    best
}
