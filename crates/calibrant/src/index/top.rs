//! The best documents of many.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use tantivy::DocId;

/// A document with its score. The larger, the better: a higher score, or with equal scores the later
/// identifier, which is trec_eval's order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scored {
    pub(super) score: f64,
    /// The place of its identifier among all of them in the order of their bytes.
    pub(super) id_rank: u64,
    pub(super) document: DocId,
}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then(self.id_rank.cmp(&other.id_rank))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scored {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Scored {}

/// Keeps the best `limit` of all documents that it is shown.
#[derive(Debug)]
pub(super) struct TopDocuments {
    limit: usize,
    /// The worst of the best is on top.
    heap: BinaryHeap<Reverse<Scored>>,
}

impl TopDocuments {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            heap: BinaryHeap::new(),
        }
    }

    /// Shows a document; its identifier is only asked for if its score may be good enough.
    #[inline]
    pub(super) fn push(&mut self, score: f64, document: DocId, id_rank: impl FnOnce() -> u64) {
        if self.heap.len() < self.limit {
            let id_rank = id_rank();
            self.heap.push(Reverse(Scored {
                score,
                id_rank,
                document,
            }));
            return;
        }
        let Some(mut worst) = self.heap.peek_mut() else {
            return;
        };
        if score.total_cmp(&worst.0.score) == Ordering::Less {
            return;
        }
        let new = Scored {
            score,
            id_rank: id_rank(),
            document,
        };
        if new > worst.0 {
            *worst = Reverse(new);
        }
    }

    /// The score below which no further document is kept; none while there is room.
    pub(super) fn floor(&self) -> Option<f64> {
        let full = self.heap.len() >= self.limit;
        self.heap
            .peek()
            .filter(|_| full)
            .map(|Reverse(worst)| worst.score)
    }

    /// All that were kept, the best first.
    pub(super) fn into_sorted(self) -> Vec<Scored> {
        let mut sorted: Vec<Scored> = self
            .heap
            .into_iter()
            .map(|Reverse(scored)| scored)
            .collect();
        sorted.sort_unstable_by(|left, right| right.cmp(left));
        sorted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_best_are_those_that_sorting_finds(
            scores in prop::collection::vec(0u8..5, 0..60),
            limit in 0usize..20,
        ) {
            let mut top = TopDocuments::new(limit);
            for (number, &score) in scores.iter().enumerate() {
                // Identifiers in another order than documents.
                top.push(f64::from(score), number as u32, || (number as u64 * 37) % 61);
            }
            let found: Vec<u32> = top.into_sorted().iter().map(|scored| scored.document).collect();
            let mut expected: Vec<u32> = (0..scores.len() as u32).collect();
            expected.sort_by_key(|&number| {
                Reverse((scores[number as usize], (u64::from(number) * 37) % 61))
            });
            expected.truncate(limit);
            prop_assert_eq!(found, expected);
        }
    }
}
