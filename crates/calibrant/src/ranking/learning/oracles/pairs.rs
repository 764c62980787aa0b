//! Pairs of unequal grade: the ranking support vector machine.

use crate::numeric::order_bits;

/// The hinge loss of all pairs of unequal grade, in `O(n log n)`.
///
/// # Formula
/// ```text
/// Σ over pairs (i, j), i of the higher grade, of v max(0, 1 - (s_i - s_j))
/// ```
/// with one weight `v` for every pair. What is needed for its slope is only, for each document, how many of lower grade
/// have a score above `s_i - 1`, and how many of higher grade one below `s_i + 1`: two pointers over the sorted
/// scores and a tree of counts over grades.
///
/// # When it misleads
/// A query counts as often as it has pairs, so a few queries with many documents decide.
///
/// # Reference
/// Herbrich, Graepel & Obermayer 2000; Joachims, KDD 2002; Joachims, KDD 2006, for counting instead of listing pairs.
///
/// ```
/// use calibrant::ranking::learning::PairOracle;
/// let oracle = PairOracle::new(&[2, 1, 0]);
/// assert_eq!(oracle.pair_count(), 3);
/// let mut c = [0.0; 3];
/// // By hand: leads are 0.5 (2 over 1), 2 (1 over 0) and 2.5 (2 over 0): one pair is nearer than 1.
/// assert_eq!(oracle.most_violated(&[2.5, 2.0, 0.0], 1.0, &mut c), 1.0);
/// assert_eq!(c, [1.0, -1.0, 0.0]);
/// ```
#[derive(Debug, Clone)]
pub struct PairOracle {
    /// Which of the distinct grades each document has, from zero.
    levels: Vec<u32>,
    level_count: usize,
    pair_count: u64,
}

impl PairOracle {
    /// For documents with these grades.
    pub fn new(grades: &[i32]) -> Self {
        let mut distinct = grades.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let levels: Vec<u32> = grades
            .iter()
            .map(|grade| distinct.partition_point(|other| other < grade) as u32)
            .collect();
        let mut counts = vec![0u64; distinct.len()];
        levels.iter().for_each(|&level| counts[level as usize] += 1);
        let count = grades.len() as u64;
        let equal: u64 = counts.iter().map(|count| count * count).sum();
        Self {
            levels,
            level_count: distinct.len(),
            pair_count: (count * count - equal) / 2,
        }
    }

    /// How many pairs of unequal grade there are.
    pub fn pair_count(&self) -> u64 {
        self.pair_count
    }

    /// Fills the documents' numbers and returns the loss, each pair with the weight `weight`.
    pub fn most_violated(&self, scores: &[f64], weight: f64, coefficients: &mut [f64]) -> f64 {
        let mut order: Vec<(u64, u32)> = scores
            .iter()
            .zip(0..)
            .map(|(&score, position)| (order_bits(score), position))
            .collect();
        order.sort_unstable();
        let mut wrong = 0u64;
        // Documents of lower grade with a score above `s - 1`: from the greatest score down.
        let mut seen = LevelCounts::new(self.level_count);
        let mut next = order.len();
        for &(_, document) in order.iter().rev() {
            let limit = scores[document as usize] - 1.0;
            while next > 0 && scores[order[next - 1].1 as usize] > limit {
                next -= 1;
                seen.add(self.levels[order[next].1 as usize]);
            }
            let count = seen.below(self.levels[document as usize]);
            wrong += count;
            coefficients[document as usize] = weight * count as f64;
        }
        // Documents of higher grade with a score below `s + 1`: from the least score up.
        let mut seen = LevelCounts::new(self.level_count);
        let mut next = 0;
        for &(_, document) in &order {
            // The same comparison as above, of the same two numbers, so that both agree on every pair.
            while next < order.len()
                && scores[order[next].1 as usize] - 1.0 < scores[document as usize]
            {
                seen.add(self.levels[order[next].1 as usize]);
                next += 1;
            }
            let count = next as u64 - seen.below(self.levels[document as usize] + 1);
            coefficients[document as usize] -= weight * count as f64;
        }
        weight * wrong as f64
    }
}

/// Counts by level, with sums over all lower levels in logarithmic time (a Fenwick tree).
struct LevelCounts {
    tree: Vec<u64>,
}

impl LevelCounts {
    fn new(levels: usize) -> Self {
        Self {
            tree: vec![0; levels + 1],
        }
    }

    fn add(&mut self, level: u32) {
        let mut node = level as usize + 1;
        while node < self.tree.len() {
            self.tree[node] += 1;
            node += node & node.wrapping_neg();
        }
    }

    fn below(&self, level: u32) -> u64 {
        let mut node = level as usize;
        let mut sum = 0;
        while node > 0 {
            sum += self.tree[node];
            node &= node - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counting_gives_what_listing_pairs_gives(
            documents in prop::collection::vec((-2.0f64..2.0, -2i32..4), 0..40),
            coarse in any::<bool>(),
        ) {
            let scores: Vec<f64> = documents.iter().map(|d| if coarse { (2.0 * d.0).round() / 2.0 } else { d.0 }).collect();
            let grades: Vec<i32> = documents.iter().map(|d| d.1).collect();
            let oracle = PairOracle::new(&grades);
            let mut found = vec![0.0; scores.len()];
            let loss = oracle.most_violated(&scores, 0.5, &mut found);
            let mut expected = vec![0.0; scores.len()];
            let (mut pairs, mut wrong) = (0, 0.0);
            for i in 0..scores.len() {
                for j in 0..scores.len() {
                    if grades[i] > grades[j] {
                        pairs += 1;
                        if scores[i] - 1.0 < scores[j] {
                            wrong += 0.5;
                            expected[i] += 0.5;
                            expected[j] -= 0.5;
                        }
                    }
                }
            }
            prop_assert_eq!(oracle.pair_count(), pairs);
            prop_assert_eq!(loss, wrong);
            prop_assert_eq!(found, expected);
        }
    }
}
