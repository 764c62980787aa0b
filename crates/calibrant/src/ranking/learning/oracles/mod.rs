//! Losses of rankings, and for each the ranking that breaks its constraint most.
//!
//! A ranking `y` of a query's documents is described by the order of its pairs of unequal grade:
//! ```text
//! ψ(y) = 1/Z Σ over pairs (i, j), i of the higher grade, of y_ij (φ_i - φ_j)     y_ij = 1 where i stands before j, else -1
//! ```
//! with `Z` the number of such pairs (`|R| |N|` where a document is relevant or not). For given scores
//! `s = w·φ` an oracle finds the ranking with the largest `Δ(y) + w·ψ(y)`. It hands back one number a
//! document, `c` with `ψ(true) - ψ(ŷ) = Σ c_d φ_d`, and the loss: rows of features are never looked at here.
//!
//! Documents of one grade stand by falling score in every most violated ranking (Yue et al. 2007,
//! observation 1: exchanging two of them changes no loss here and would lower `w·ψ`), equal scores in the
//! order they were given in. So each oracle chooses only how these sorted lists are put together.

mod accuracy;
mod average_precision;
mod ndcg;
mod pairs;
mod reciprocal_rank;
mod roc_area;

pub(crate) use accuracy::most_violated_labels;
pub use average_precision::{
    most_violated_average_precision, most_violated_average_precision_plain,
};
pub use ndcg::{NdcgOracle, TooManyOrders};
pub use pairs::PairOracle;
pub use reciprocal_rank::most_violated_reciprocal_rank;
pub use roc_area::most_violated_roc_area;

use crate::numeric::order_bits;

/// Documents of a query that are relevant and those that are not, each by falling score.
#[derive(Debug, Clone, Default)]
pub struct SortedSides {
    /// Positions of relevant documents.
    pub relevant: Vec<u32>,
    /// Positions of all others.
    pub others: Vec<u32>,
    relevant_scores: Vec<f64>,
    other_scores: Vec<f64>,
    keys: Vec<(u64, u32)>,
}

impl SortedSides {
    /// Sorts the documents of a query; equal scores keep their order.
    pub fn sort(&mut self, scores: &[f64], relevant: &[bool]) {
        self.keys.clear();
        let keyed = scores.iter().zip(0..);
        self.keys
            .extend(keyed.map(|(&score, position)| (!order_bits(score), position)));
        self.keys.sort_unstable();
        self.relevant.clear();
        self.others.clear();
        self.relevant_scores.clear();
        self.other_scores.clear();
        for &(_, position) in &self.keys {
            let score = scores[position as usize];
            if relevant[position as usize] {
                self.relevant.push(position);
                self.relevant_scores.push(score);
            } else {
                self.others.push(position);
                self.other_scores.push(score);
            }
        }
    }

    /// Scores of the relevant documents, falling.
    pub fn relevant_scores(&self) -> &[f64] {
        &self.relevant_scores
    }

    /// Scores of the other documents, falling.
    pub fn other_scores(&self) -> &[f64] {
        &self.other_scores
    }

    /// How many documents there are on each side, with nothing in `relevant_before`; with one side alone there is one
    /// ranking, which is right, and nothing to begin.
    fn begin(
        &self,
        relevant_before: &mut Vec<u32>,
        coefficients: &mut [f64],
    ) -> Option<(usize, usize)> {
        let (relevant, others) = (self.relevant.len(), self.others.len());
        relevant_before.clear();
        if relevant == 0 || others == 0 {
            relevant_before.resize(others, relevant as u32);
            coefficients.fill(0.0);
            return None;
        }
        Some((relevant, others))
    }

    /// Turns "how many relevant documents stand before the j-th other one" (never falling in `j`) into
    /// the number of each document: `2/Z` for every pair that stands the wrong way round.
    fn coefficients_into(&self, relevant_before: &[u32], coefficients: &mut [f64]) {
        let relevant = self.relevant.len();
        let unit = 2.0 / (relevant as f64 * self.others.len() as f64);
        let mut ahead = 0;
        for (i, &position) in self.relevant.iter().enumerate() {
            while ahead < relevant_before.len() && relevant_before[ahead] as usize <= i {
                ahead += 1;
            }
            coefficients[position as usize] = unit * ahead as f64;
        }
        for (&before, &position) in relevant_before.iter().zip(&self.others) {
            coefficients[position as usize] = -unit * (relevant - before as usize) as f64;
        }
    }
}

/// `H_0 … H_count`, the harmonic numbers.
fn harmonic_numbers(count: usize) -> Vec<f64> {
    let mut sum = 0.0;
    let numbers = (1..=count).map(|i| {
        sum += 1.0 / i as f64;
        sum
    });
    [0.0].into_iter().chain(numbers).collect()
}

#[cfg(test)]
mod testing;
