//! What may be relevant in a list, drawn many times.

use crate::calibration::LogOddsSpread;
use crate::numeric::Random;

/// How many truths are imagined of a list.
const TRUTHS: usize = 1000;
/// Of very long lists fewer are, so that no more documents are looked at than this.
const MOST_LOOKS: usize = 200_000_000;
const FEWEST_TRUTHS: usize = 200;

/// For each imagined truth with a relevant document the ranks, from 1, of its relevant documents.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ImaginedTruths {
    relevant: Vec<Vec<u32>>,
}

impl ImaginedTruths {
    /// Takes stated log-odds in the order of the list.
    pub(super) fn new(log_odds: &[f64], spread: &LogOddsSpread) -> Self {
        let count = (MOST_LOOKS / log_odds.len().max(1)).clamp(FEWEST_TRUTHS, TRUTHS);
        let mut random = Random::from_seed(0);
        let mut imagine = || {
            let moved = spread.draw(&mut random);
            let places = (1..).zip(log_odds);
            let relevant = places.filter_map(|(rank, &stated)| {
                let draw = random.uniform();
                let probability = 1.0 / (1.0 + (-moved.of(stated)).exp());
                (draw < probability).then_some(rank)
            });
            relevant.collect::<Vec<u32>>()
        };
        let drawn = (0..count).map(|_| imagine());
        Self {
            relevant: drawn.filter(|ranks| !ranks.is_empty()).collect(),
        }
    }

    /// The rank in each truth at which the recall is reached, rising.
    pub(super) fn stops(&self, recall: f64) -> Vec<usize> {
        let stop = |ranks: &Vec<u32>| {
            // A hair less, so that 0.9 of ten is nine.
            let wanted = (recall * ranks.len() as f64 - 1e-9).ceil() as usize;
            match wanted {
                0 => 0,
                wanted => ranks[wanted.min(ranks.len()) - 1] as usize,
            }
        };
        let mut stops: Vec<usize> = self.relevant.iter().map(stop).collect();
        stops.sort_unstable();
        stops
    }
}
