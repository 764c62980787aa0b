//! At which ranks thresholds are tested, and at which level, so that all tests together err as seldom as asked for.

use super::AnswerTable;
use crate::numeric::binomial_at_most;

/// About so many looks up to so many errors in all: sums of many errors take long.
const MOST_LOOKS: [(f64, u32); 3] = [(400.0, 90), (4_000.0, 40), (f64::INFINITY, 16)];
/// Steps of the search for a level; each halves the doubt about its logarithm.
const STEPS: u32 = 9;
/// Sums less likely than this are not followed; what is left out counts as crossed.
const TINY: f64 = 1e-13;

/// The ranks at which one looks (how many examples are above a threshold, ties counted as they fall), with a level for each look from which on answers may be too often wrong.
///
/// # Formula
/// With `S_k` the errors among the `k` surest examples, the hypothesis `H_j` says that the threshold at the `j`-th look is the first
/// that is not good enough. It is rejected if, at some look `i ≥ j` of rank `k_i`,
/// ```text
/// P(Bin(k_i, r) ≤ S_{k_i}) ≤ level_j · k_j / k_i
/// ```
/// where `level_j` is the largest for which a walk of independent errors of probability `r` does that at any look from `j` on with probability `δ`
/// at most (found by following the distribution of the walk). A look is granted if the hypotheses of all looks up to it are rejected.
///
/// Why that holds: one of the hypotheses is true at most. If it is `H_j`, the examples above its threshold are a random sample of documents of which at least the share `r` is
/// answered wrongly, and everything below it is wrong with probability `r` or more, so that errors are at least as many as those of the walk.
#[derive(Debug, Clone)]
pub(super) struct Looks {
    /// Rising.
    pub(super) ranks: Vec<u64>,
    /// For each look the level of the hypothesis that begins there.
    levels: Vec<f64>,
}

/// The distribution of a sum from its first number on; what is outside is too unlikely to count.
struct Masses {
    first: usize,
    masses: Vec<f64>,
}

impl Looks {
    /// For so many examples, of which a share `share` at most may be wrong but for probability `miss`.
    pub(super) fn new(examples: u64, share: f64, miss: f64) -> Self {
        Self::at(ranks(least(share, miss), examples, share), share, miss)
    }

    /// At the numbers of examples that can be above a threshold of this table where [`Self::new`] would look: confidences that
    /// tie are above it together or not at all. Labels have no say in it.
    pub(super) fn of(examples: &AnswerTable, share: f64, miss: f64) -> Self {
        let least = least(share, miss);
        let ranks = ranks(least, examples.examples(), share);
        Self::at(counts(&ranks, examples, least), share, miss)
    }

    /// Whether the table has a threshold for each look.
    pub(super) fn fit(&self, examples: &AnswerTable) -> bool {
        let has = |&rank: &u64| examples.above(rank).1 == rank;
        self.ranks.iter().all(has)
    }

    fn at(ranks: Vec<u64>, share: f64, miss: f64) -> Self {
        let walk = Walk::new(&ranks, share, miss);
        let levels = (0..ranks.len()).map(|first| walk.level(first)).collect();
        Self { ranks, levels }
    }

    /// At which level look `look` is tested against the hypothesis that begins at look `first`.
    pub(super) fn level(&self, first: usize, look: usize) -> f64 {
        self.levels[first] * decay(self.ranks[first], self.ranks[look])
    }
}

/// The fewest examples that pass, none of them wrong.
fn least(share: f64, miss: f64) -> u64 {
    ((miss.ln() / (1.0 - share).ln()).ceil() as u64).max(1)
}

/// How many examples are above thresholds at these ranks, where that is enough for a test.
fn counts(ranks: &[u64], examples: &AnswerTable, least: u64) -> Vec<u64> {
    let counts = ranks.iter().map(|&rank| examples.above(rank).1);
    let mut counts: Vec<u64> = counts.filter(|&count| count >= least).collect();
    counts.dedup();
    counts
}

/// What part of its level a hypothesis has for a later look: most of it is spent soon.
fn decay(first: u64, rank: u64) -> f64 {
    first as f64 / rank as f64
}

/// From the first rank that could pass, in even ratios, to all.
fn ranks(least: u64, examples: u64, share: f64) -> Vec<u64> {
    let errors = examples as f64 * share;
    let looks = MOST_LOOKS.iter().find(|(most, _)| errors <= *most);
    let looks = looks.map_or(1, |&(_, looks)| looks);
    let ratio = (examples as f64 / least as f64).powf(1.0 / f64::from(looks));
    let ratio = ratio.max(1.02);
    let (mut ranks, mut rank) = (Vec::new(), least);
    while rank < examples {
        ranks.push(rank);
        rank = ((rank as f64 * ratio).ceil() as u64).max(rank + 1);
    }
    // Fewer examples than could pass: there is nothing to look at.
    if least <= examples {
        ranks.push(examples);
    }
    ranks
}

/// Independent errors of one probability, followed from look to look.
struct Walk<'a> {
    ranks: &'a [u64],
    miss: f64,
    /// By look, the probability of at most so many errors, as far as it is `miss` at most.
    at_most: Vec<Vec<f64>>,
    /// By look, the errors between the one before and it.
    between: Vec<Masses>,
    /// By look, all errors up to it.
    until: Vec<Masses>,
}

impl<'a> Walk<'a> {
    fn new(ranks: &'a [u64], share: f64, miss: f64) -> Self {
        let at_most = |&rank: &u64| {
            let errors = (0..=rank).map(|errors| binomial_at_most(errors, rank, share));
            errors.take_while(|&mass| mass <= miss).collect()
        };
        let before = std::iter::once(&0).chain(ranks);
        let between = ranks.iter().zip(before);
        Self {
            ranks,
            miss,
            at_most: ranks.iter().map(at_most).collect(),
            between: between
                .map(|(&rank, &before)| Masses::binomial(rank - before, share))
                .collect(),
            until: ranks
                .iter()
                .map(|&rank| Masses::binomial(rank, share))
                .collect(),
        }
    }

    /// The largest level with which the walk crosses its bounds from look `first` on seldom enough.
    fn level(&self, first: usize) -> f64 {
        if self.crossing(first, self.miss) <= self.miss {
            return self.miss;
        }
        // All looks together never take more than one part for each.
        let looks = (self.ranks.len() - first) as f64;
        let (mut low, mut high) = ((self.miss / looks).ln(), self.miss.ln());
        for _ in 0..STEPS {
            let middle = f64::midpoint(low, high);
            match self.crossing(first, middle.exp()) <= self.miss {
                true => low = middle,
                false => high = middle,
            }
        }
        low.exp()
    }

    /// How likely the walk has few enough errors at some look from `first` on; never too small.
    fn crossing(&self, first: usize, level: f64) -> f64 {
        // By look, how many errors are few enough: so many first numbers.
        let bounds: Vec<usize> = (first..self.ranks.len())
            .map(|look| {
                let level = level * decay(self.ranks[first], self.ranks[look]);
                self.at_most[look].partition_point(|&mass| mass <= level)
            })
            .collect();
        // A walk above the last bound, which is the largest, can cross none.
        let end = bounds.iter().copied().max().unwrap_or(0);
        let mut state = self.until[first].below(end);
        let mut crossed = state.take_below(bounds[0]) + TINY;
        for (look, &bound) in (first + 1..).zip(&bounds[1..]) {
            state = state.plus(&self.between[look], end);
            crossed += state.take_below(bound) + TINY;
        }
        crossed
    }
}

impl Masses {
    fn binomial(trials: u64, share: f64) -> Self {
        let mean = trials as f64 * share;
        // Chernoff: beyond this there is less than `TINY`, on each side.
        let reach = (-2.0 * TINY.ln() * mean).sqrt() - TINY.ln();
        let first = (mean - reach).max(0.0) as u64;
        let last = ((mean + reach).ceil() as u64).min(trials);
        let odds = share / (1.0 - share);
        let mut masses = Vec::new();
        let mut mass = binomial_mass(first, trials, share);
        for errors in first..=last {
            masses.push(mass);
            mass *= (trials - errors) as f64 / (errors + 1) as f64 * odds;
        }
        Self {
            first: first as usize,
            masses,
        }
    }

    /// Without what is at `end` or beyond.
    fn below(&self, end: usize) -> Self {
        let count = end.saturating_sub(self.first).min(self.masses.len());
        Self {
            first: self.first,
            masses: self.masses[..count].to_vec(),
        }
    }

    /// Takes out what is below `end`; gives how much it was.
    fn take_below(&mut self, end: usize) -> f64 {
        let count = end.saturating_sub(self.first).min(self.masses.len());
        let taken = self.masses.drain(..count).sum();
        self.first += count;
        taken
    }

    /// The sum with something independent, below `end`.
    fn plus(&self, other: &Self, end: usize) -> Self {
        let first = self.first + other.first;
        let width = (self.masses.len() + other.masses.len()).saturating_sub(1);
        let mut masses = vec![0.0; width.min(end.saturating_sub(first))];
        for (place, mass) in self.masses.iter().enumerate() {
            let sums = masses.iter_mut().skip(place);
            for (sum, other) in sums.zip(&other.masses) {
                *sum += mass * other;
            }
        }
        Self { first, masses }
    }
}

fn binomial_mass(count: u64, trials: u64, share: f64) -> f64 {
    let (count_f, rest) = (count as f64, (trials - count) as f64);
    let ln =
        crate::numeric::ln_binomial(trials, count) + count_f * share.ln() + rest * (-share).ln_1p();
    ln.exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    #[test] // Against all paths of a short walk.
    fn crossing_is_the_sum_over_all_paths() {
        let (ranks, share, miss) = ([4u64, 7, 9], 0.35, 0.4);
        let walk = Walk::new(&ranks, share, miss);
        for level in [0.05, 0.1, 0.2, 0.3, 0.4] {
            for first in 0..3 {
                let mut expected = 0.0;
                for path in 0..1u32 << 9 {
                    let errors = path.count_ones();
                    let chance =
                        f64::powi(share, errors as i32) * f64::powi(1.0 - share, 9 - errors as i32);
                    let crosses = (first..3).any(|look| {
                        let own = u64::from((path & ((1 << ranks[look]) - 1)).count_ones());
                        binomial_at_most(own, ranks[look], share)
                            <= level * decay(ranks[first], ranks[look])
                    });
                    expected += if crosses { chance } else { 0.0 };
                }
                let found = walk.crossing(first, level);
                assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        }
    }

    #[test]
    fn levels_are_used_up_and_no_more() {
        for (examples, share, miss) in [(2_000, 0.02, 0.05), (400, 0.1, 0.1), (30_000, 0.01, 0.05)]
        {
            let looks = Looks::new(examples, share, miss);
            let walk = Walk::new(&looks.ranks, share, miss);
            for first in 0..looks.ranks.len() {
                let crossing = walk.crossing(first, looks.levels[first]);
                assert!(crossing <= miss && crossing > 0.5 * miss, "{crossing}");
            }
            let last = looks.ranks.len() - 1;
            assert_eq!(looks.levels[last], miss);
            assert_eq!(looks.ranks[last], examples);
        }
    }

    #[test] // A fair walk, many times.
    fn a_walk_of_just_too_many_errors_crosses_as_often_as_computed() {
        let (examples, share, miss) = (600, 0.05, 0.1);
        let looks = Looks::new(examples, share, miss);
        let walk = Walk::new(&looks.ranks, share, miss);
        let expected = walk.crossing(0, looks.levels[0]);
        let mut random = Random::from_seed(4);
        let runs = 4_000;
        let crossed = (0..runs).filter(|_| {
            let (mut errors, mut look, mut crossed) = (0, 0, false);
            for rank in 1..=examples {
                errors += u64::from(random.uniform() < share);
                if rank == looks.ranks[look] {
                    crossed |= binomial_at_most(errors, rank, share) <= looks.level(0, look);
                    look += 1;
                }
            }
            crossed
        });
        let found = crossed.count() as f64 / f64::from(runs);
        assert!((found - expected).abs() < 0.02, "{found} {expected}");
    }

    #[test]
    fn too_few_examples_have_no_look() {
        assert!(Looks::new(148, 0.02, 0.05).ranks.is_empty());
        assert_eq!(Looks::new(149, 0.02, 0.05).ranks, [149]);
    }
}
