//! What may be relevant in a list, drawn many times.

use crate::calibration::{LogOddsSpread, MovedLogOdds};
use crate::numeric::{Random, softplus};

/// How many truths are imagined of a list.
const TRUTHS: usize = 1000;
/// Of very long lists fewer are, so that no more documents are looked at than this.
const MOST_LOOKS: usize = 200_000_000;
const FEWEST_TRUTHS: usize = 200;
/// Fewer truths with a relevant document say nothing of how sure a stop is.
const ENOUGH: usize = 50;

/// Imagined truths that have a relevant document: a bit for each document of the list, truth after truth.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ImaginedTruths {
    bits: Vec<u64>,
    /// How many words the bits of one truth take.
    width: usize,
}

impl ImaginedTruths {
    /// Takes stated log-odds in the order of the list. There are none where too few tell anything.
    pub(super) fn new(log_odds: &[f64], spread: &LogOddsSpread) -> Self {
        let count = (MOST_LOOKS / log_odds.len().max(1)).clamp(FEWEST_TRUTHS, TRUTHS);
        let mut random = Random::from_seed(0);
        let mut truths = Self {
            bits: Vec::new(),
            width: log_odds.len().div_ceil(64).max(1),
        };
        let mut truth = Vec::new();
        for _ in 0..count {
            let moved = spread.draw(&mut random);
            truth.clear();
            truth.resize(truths.width, 0);
            for (place, &stated) in log_odds.iter().enumerate() {
                let draw = random.uniform();
                if draw < probability(moved, stated) {
                    truth[place / 64] |= 1 << (place % 64);
                }
            }
            truths.push(&truth);
        }
        if truths.count() < ENOUGH && !log_odds.is_empty() {
            truths.bits.clear();
            truths.imagine_some(log_odds, spread, count, &mut random);
        }
        truths
    }

    /// Where hardly any truth has a relevant document: truths that have one are drawn, each from a way of moving the log-odds that
    /// is taken as often as it gives such a truth.
    fn imagine_some(
        &mut self,
        log_odds: &[f64],
        spread: &LogOddsSpread,
        count: usize,
        random: &mut Random,
    ) {
        let ways: Vec<(MovedLogOdds, f64)> = (0..count)
            .map(|_| {
                let moved = spread.draw(random);
                (moved, -ln_none(moved, log_odds).exp_m1())
            })
            .collect();
        let total: f64 = ways.iter().map(|(_, some)| some).sum();
        let squares: f64 = ways.iter().map(|(_, some)| some * some).sum();
        // So many ways count, if those that count little are left out.
        let effective = total * total / squares;
        if effective.is_nan() || effective < ENOUGH as f64 {
            return;
        }
        // At even steps along their sum.
        let step = total / count as f64;
        let (mut next, mut sum) = (step * random.uniform(), 0.0);
        for (moved, some) in ways {
            sum += some;
            while next < sum {
                next += step;
                let truth = some_truth(moved, log_odds, random);
                self.push(&truth);
            }
        }
    }

    fn push(&mut self, truth: &[u64]) {
        if truth.iter().any(|&word| word != 0) {
            self.bits.extend_from_slice(truth);
        }
    }

    fn count(&self) -> usize {
        self.bits.len() / self.width
    }

    /// The rank in each truth at which the recall is reached, rising.
    pub(super) fn stops(&self, recall: f64) -> Vec<usize> {
        let stop = |truth: &[u64]| {
            let relevant: u32 = truth.iter().map(|word| word.count_ones()).sum();
            // A hair less, so that 0.9 of ten is nine.
            let wanted = (recall * f64::from(relevant) - 1e-9).ceil() as u32;
            rank_of(truth, wanted.min(relevant))
        };
        let mut stops: Vec<usize> = self.bits.chunks_exact(self.width).map(stop).collect();
        stops.sort_unstable();
        stops
    }
}

fn probability(moved: MovedLogOdds, stated: f64) -> f64 {
    1.0 / (1.0 + (-moved.of(stated)).exp())
}

/// The logarithm of the probability that nothing is relevant.
fn ln_none(moved: MovedLogOdds, log_odds: &[f64]) -> f64 {
    let each = log_odds.iter();
    -each.map(|&stated| softplus(moved.of(stated))).sum::<f64>()
}

/// A truth with a relevant document at least.
fn some_truth(moved: MovedLogOdds, log_odds: &[f64], random: &mut Random) -> Vec<u64> {
    let mut truth = vec![0; log_odds.len().div_ceil(64).max(1)];
    let mut ln_none_left = ln_none(moved, log_odds);
    let mut found = false;
    for (place, &stated) in log_odds.iter().enumerate() {
        let alone = probability(moved, stated);
        // Until one is found, given that one is left; the last is it for certain.
        let likely = match found {
            true => alone,
            false if place + 1 == log_odds.len() => 1.0,
            false => alone / -ln_none_left.exp_m1(),
        };
        ln_none_left += softplus(moved.of(stated));
        if random.uniform() < likely {
            truth[place / 64] |= 1 << (place % 64);
            found = true;
        }
    }
    truth
}

/// The rank, from 1, of the document that is the so-manyeth relevant one; 0 for none.
fn rank_of(truth: &[u64], wanted: u32) -> usize {
    let mut left = wanted;
    for (place, &word) in truth.iter().enumerate() {
        let here = word.count_ones();
        if left > here {
            left -= here;
            continue;
        }
        let mut word = word;
        for _ in 1..left {
            word &= word - 1;
        }
        return match wanted {
            0 => 0,
            _ => 64 * place + word.trailing_zeros() as usize + 1,
        };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranks_are_found_in_words(relevant in prop::collection::vec(any::<bool>(), 1..300)) {
            let mut truth = vec![0u64; relevant.len().div_ceil(64)];
            let mut ranks = Vec::new();
            for (place, _) in relevant.iter().enumerate().filter(|(_, is)| **is) {
                truth[place / 64] |= 1 << (place % 64);
                ranks.push(place + 1);
            }
            prop_assert_eq!(rank_of(&truth, 0), 0);
            for (number, &rank) in ranks.iter().enumerate() {
                prop_assert_eq!(rank_of(&truth, number as u32 + 1), rank);
            }
        }
    }

    /// By hand: given one of two documents at 1 and 3 in a thousand, the first is it in a quarter of all cases (and both hardly ever).
    #[test]
    fn truths_of_a_list_with_hardly_anything_are_those_with_something() {
        let log_odds = [0.001f64, 0.003].map(|p| (p / (1.0 - p)).ln());
        let truths = ImaginedTruths::new(&log_odds, &LogOddsSpread::none());
        assert_eq!(truths.count(), TRUTHS);
        let first = truths.stops(1.0).iter().filter(|&&stop| stop == 1).count();
        let share = first as f64 / TRUTHS as f64;
        // Three standard errors of a quarter.
        assert!((share - 0.25).abs() < 0.042, "{share}");
    }
}
