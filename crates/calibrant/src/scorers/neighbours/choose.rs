//! How many neighbours should vote?

use crate::scorers::ClassScorer;

use super::scorer::NeighbourScorer;
use super::search::{Neighbour, SearchBuffers};
use crate::features::SparseMatrix;
use crate::numeric::Random;
use crate::parallel;

/// The numbers that are tried.
const CANDIDATES: [usize; 9] = [1, 3, 5, 10, 15, 20, 30, 50, 100];
/// How many rows are voted on.
const SAMPLE: usize = 2000;

impl NeighbourScorer {
    /// Sets `k` to the candidate with the least log loss when each row of a sample is voted on by the
    /// others: `p_c = (V_c + π_c) / (V + 1)`, summed over all outputs. No more neighbours are tried than
    /// the largest class has rows; of equals the fewest win.
    pub(super) fn choose_k(&mut self, rows: &SparseMatrix, members: &[u32], seed: u64) {
        let mut sizes = vec![0usize; self.output_count()];
        for row in 0..members.len() as u32 {
            for &output in self.outputs_of(row) {
                sizes[output as usize] += 1;
            }
        }
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let most = largest.min(members.len().saturating_sub(1)).max(1);
        let candidates: Vec<usize> = CANDIDATES.into_iter().filter(|&k| k <= most).collect();
        let Some(&deepest) = candidates.last() else {
            return self.set_k(1);
        };
        let this = &*self;
        let sample = sample(members.len(), seed);
        let losses: Vec<Vec<f64>> = parallel::map_chunks(&sample, 64, |chunk| {
            let mut buffer = SearchBuffers::default();
            let mut sums = vec![0.0; candidates.len()];
            for &row in chunk {
                let query = rows.row(members[row as usize] as usize);
                // One more than needed: the row itself is among its neighbours, and must not vote.
                let found = this.index().search(query, deepest + 1, &mut buffer);
                let others = found.iter().filter(|neighbour| neighbour.row != row);
                this.add_losses(row, others.copied(), &candidates, &mut sums);
            }
            sums
        });
        let total = |place: usize| losses.iter().map(|sums| sums[place]).sum::<f64>();
        let mut best = (f64::INFINITY, candidates[0]);
        for (place, &k) in candidates.iter().enumerate() {
            let loss = total(place);
            if loss < best.0 {
                best = (loss, k);
            }
        }
        self.set_k(best.1);
    }

    /// Adds the loss of a row's forecast by its first `k` neighbours to `sums`, for every `k` asked.
    fn add_losses(
        &self,
        row: u32,
        mut neighbours: impl Iterator<Item = Neighbour>,
        candidates: &[usize],
        sums: &mut [f64],
    ) {
        let mut votes = vec![0.0; self.output_count()];
        let mut all = 0.0;
        let mut voted = 0;
        for (&k, sum) in candidates.iter().zip(sums) {
            for neighbour in neighbours.by_ref().take(k - voted) {
                let vote = self.vote(neighbour);
                all += vote;
                for &output in self.outputs_of(neighbour.row) {
                    votes[output as usize] += vote;
                }
            }
            voted = k;
            let truth = self.outputs_of(row);
            let mut loss = 0.0;
            for (output, (votes, prior)) in votes.iter().zip(self.priors()).enumerate() {
                let probability = (votes + prior) / (all + 1.0);
                loss -= if truth.contains(&(output as u32)) {
                    probability.ln()
                } else {
                    // The part of the others, which cannot be rounded to nothing.
                    (((all - votes).max(0.0) + 1.0 - prior) / (all + 1.0)).ln()
                };
            }
            *sum += self.row_weight(row) * loss;
        }
    }
}

/// Up to [`SAMPLE`] of `count` rows, rising.
fn sample(count: usize, seed: u64) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..count as u32).collect();
    if count > SAMPLE {
        Random::from_seed(seed).shuffle(&mut rows);
        rows.truncate(SAMPLE);
        rows.sort_unstable();
    }
    rows
}
