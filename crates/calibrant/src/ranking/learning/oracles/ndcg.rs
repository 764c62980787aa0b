//! Normalised discounted cumulative gain.

use crate::numeric::order_bits;

/// The most violated ranking for the loss `1 - NDCG@k` of graded documents, exactly.
///
/// # Formula
/// ```text
/// DCG@k = Σ_{rank <= k} (2^grade - 1) / log2(1 + rank)        NDCG@k = DCG@k / the best DCG@k
/// ```
/// Pairs of unequal grade make `ψ`, so documents of one grade stand by falling score, and behind rank
/// `k`, where there is no loss, all documents do. What remains is how the sorted lists of the grades are put
/// together for the first `k` ranks. With `i_a` documents of grade `a` placed so far, placing the next one `u` of grade `a`
/// adds
/// ```text
/// 1/Z Σ_{b ≠ a} Σ_{v of grade b, not placed} (s_u - s_v)  -  (2^a - 1) / (log2(1 + rank) · best DCG@k)
/// ```
/// which depends on the counts alone: dynamic programming over the counts finds the best ranking. There are
/// `C(k + L, L)` of them for `L` grades (286 for `k = 10` and three grades); with two grades it is the
/// algorithm of Chakrabarti et al., with more it remains exact.
///
/// # When it misleads
/// With a small `k` and many documents per query, the loss is complete as soon as `k` bad documents stand on top, and among
/// hundreds there are always `k` with high scores: the bound that is minimised then says hardly more than that nothing can be
/// learned, and weights stay near zero. Learn all ranks (`ndcg`) for judgements like those, even where NDCG@10 is to be measured.
/// The discount is the common one; LETOR's does not discount rank two (see the measures), which makes little difference here.
///
/// # References
/// Chakrabarti, Khanna, Sawant & Bhattacharyya, KDD 2008 (two grades); Järvelin & Kekäläinen 2002 (the measure).
/// Le & Smola 2007 use one weight per rank instead of pairs, which makes it an assignment problem.
///
/// ```
/// use calibrant::ranking::learning::NdcgOracle;
/// let oracle = NdcgOracle::new(&[1, 0], 10)?;
/// let mut c = [0.0; 2];
/// // By hand: the relevant document at rank two has NDCG 1/log2(3) = 0.631; the loss of 0.369 is more
/// // than twice the lead of 0.1.
/// let loss = oracle.most_violated(&[0.1, 0.0], &mut c);
/// assert!((loss - 0.369).abs() < 1e-3);
/// assert_eq!(c, [2.0, -2.0]);
/// # Ok::<(), calibrant::ranking::learning::TooManyOrders>(())
/// ```
#[derive(Debug, Clone)]
pub struct NdcgOracle {
    /// Which of the distinct grades each document has, from zero.
    levels: Vec<u8>,
    /// `(2^grade - 1) / best DCG@k` of each level.
    gains: Vec<f64>,
    /// Documents of each level.
    sizes: Vec<usize>,
    /// How many of each level can be among the first `k`.
    caps: Vec<usize>,
    /// Of each rank that counts.
    discounts: Vec<f64>,
    pair_count: f64,
}

/// The counts of grades among the first ranks are too many to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{documents} documents of {grades} grades can be put together in too many ways; learn NDCG@k with a smaller k, such as ndcg@10"
)]
pub struct TooManyOrders {
    /// Documents of the query.
    pub documents: usize,
    /// How many grades they have.
    pub grades: usize,
}

/// At most this many counts are compared.
const STATE_LIMIT: usize = 1 << 22;

impl NdcgOracle {
    /// For documents with these grades (those below zero count as zero) and the first `cutoff` ranks.
    pub fn new(grades: &[i32], cutoff: usize) -> Result<Self, TooManyOrders> {
        // Beyond this, gains are no longer finite.
        let grade = |&grade: &i32| grade.clamp(0, 512);
        let mut distinct: Vec<i32> = grades.iter().map(grade).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let too_many = TooManyOrders {
            documents: grades.len(),
            grades: distinct.len(),
        };
        if distinct.len() > 22 {
            return Err(too_many);
        }
        let levels: Vec<u8> = grades
            .iter()
            .map(|value| distinct.partition_point(|other| *other < grade(value)) as u8)
            .collect();
        let mut sizes = vec![0; distinct.len()];
        levels.iter().for_each(|&level| sizes[level as usize] += 1);
        let cutoff = cutoff.min(grades.len());
        let caps: Vec<usize> = sizes.iter().map(|&size: &usize| size.min(cutoff)).collect();
        let states = caps
            .iter()
            .try_fold(1usize, |states, cap| states.checked_mul(cap + 1));
        if states.is_none_or(|states| states > STATE_LIMIT) {
            return Err(too_many);
        }
        let best: f64 = distinct
            .iter()
            .zip(&sizes)
            .rev()
            .flat_map(|(&grade, &size)| std::iter::repeat_n(gain(grade), size))
            .zip(1..=cutoff)
            .map(|(gain, rank)| gain * discount(rank))
            .sum();
        let scale = if best > 0.0 { 1.0 / best } else { 0.0 };
        let count = grades.len() as f64;
        let equal: f64 = sizes.iter().map(|&size| (size * size) as f64).sum();
        Ok(Self {
            levels,
            gains: distinct.iter().map(|&grade| gain(grade) * scale).collect(),
            sizes,
            caps,
            discounts: (1..=cutoff).map(discount).collect(),
            pair_count: (count * count - equal) / 2.0,
        })
    }

    /// How many pairs of unequal grade there are.
    pub fn pair_count(&self) -> f64 {
        self.pair_count
    }

    /// Fills the documents' numbers and returns the loss.
    pub fn most_violated(&self, scores: &[f64], coefficients: &mut [f64]) -> f64 {
        coefficients.fill(0.0);
        if self.pair_count == 0.0 || self.discounts.is_empty() {
            return 0.0;
        }
        let lists = Lists::new(self, scores);
        let order = lists.best_order(self, scores);
        self.describe(&order, coefficients)
    }

    /// The numbers and the loss of a ranking.
    fn describe(&self, order: &[u32], coefficients: &mut [f64]) -> f64 {
        let unit = 2.0 / self.pair_count;
        let mut passed = vec![0usize; self.sizes.len()];
        let mut loss = 1.0;
        for (place, &document) in order.iter().enumerate() {
            let level = self.levels[document as usize] as usize;
            if let Some(discount) = self.discounts.get(place) {
                loss -= self.gains[level] * discount;
            }
            let lower: usize = passed[..level].iter().sum();
            let higher: usize = (level + 1..passed.len())
                .map(|above| self.sizes[above] - passed[above])
                .sum();
            coefficients[document as usize] = unit * (lower as f64 - higher as f64);
            passed[level] += 1;
        }
        loss.max(0.0)
    }
}

fn gain(grade: i32) -> f64 {
    2f64.powi(grade) - 1.0
}

fn discount(rank: usize) -> f64 {
    1.0 / (1.0 + rank as f64).log2()
}

/// Each grade's documents by falling score.
struct Lists {
    documents: Vec<Vec<u32>>,
    scores: Vec<Vec<f64>>,
    /// Sums of the scores from each place on.
    tails: Vec<Vec<f64>>,
    /// All documents by falling score.
    by_score: Vec<u32>,
}

impl Lists {
    fn new(oracle: &NdcgOracle, scores: &[f64]) -> Self {
        let mut keys: Vec<(u64, u32)> = scores
            .iter()
            .zip(0..)
            .map(|(&score, position)| (!order_bits(score), position))
            .collect();
        keys.sort_unstable();
        let by_score: Vec<u32> = keys.into_iter().map(|(_, position)| position).collect();
        let mut documents: Vec<Vec<u32>> = vec![Vec::new(); oracle.sizes.len()];
        for &document in &by_score {
            documents[oracle.levels[document as usize] as usize].push(document);
        }
        let of_documents =
            |list: &Vec<u32>| -> Vec<f64> { list.iter().map(|&d| scores[d as usize]).collect() };
        let list_scores: Vec<Vec<f64>> = documents.iter().map(of_documents).collect();
        let tails = list_scores.iter().map(|list| tail_sums(list)).collect();
        Self {
            documents,
            scores: list_scores,
            tails,
            by_score,
        }
    }

    /// The whole of the most violated ranking.
    fn best_order(&self, oracle: &NdcgOracle, scores: &[f64]) -> Vec<u32> {
        let end = self.best_counts(oracle);
        let mut taken = vec![false; scores.len()];
        let mut order = Vec::with_capacity(scores.len());
        let mut next = vec![0; oracle.sizes.len()];
        for level in end {
            let document = self.documents[level][next[level]];
            next[level] += 1;
            taken[document as usize] = true;
            order.push(document);
        }
        let rest = self.by_score.iter().copied();
        order.extend(rest.filter(|&document| !taken[document as usize]));
        order
    }

    /// The grades of the first ranks, from the first on.
    fn best_counts(&self, oracle: &NdcgOracle) -> Vec<usize> {
        let levels = oracle.sizes.len();
        let strides: Vec<usize> = (0..levels)
            .map(|level| oracle.caps[level + 1..].iter().map(|cap| cap + 1).product())
            .collect();
        let states: usize = oracle.caps.iter().map(|cap| cap + 1).product();
        let leads: Vec<LeadTable> = (0..levels)
            .flat_map(|a| (a + 1..levels).map(move |b| (a, b)))
            .map(|(a, b)| LeadTable::new(self, oracle, a, b))
            .collect();
        let mut values = vec![0.0; states];
        let mut last = vec![0u8; states];
        let mut counts = vec![0usize; levels];
        let (mut index, mut total) = (0, 0);
        let mut best = (f64::NEG_INFINITY, 0);
        // All counts with a sum up to the cutoff, in the order of their index: what a count is reached
        // from always stands before it.
        loop {
            if total > 0 {
                let mut value = f64::NEG_INFINITY;
                for level in (0..levels).filter(|&level| counts[level] > 0) {
                    let before = values[index - strides[level]];
                    let found = before + self.step(oracle, &counts, level, total);
                    if found > value {
                        value = found;
                        last[index] = level as u8;
                    }
                }
                values[index] = value;
            }
            if total == oracle.discounts.len() {
                let rest: f64 = leads.iter().map(|table| table.of(&counts)).sum();
                let value = values[index] + rest / oracle.pair_count;
                if value > best.0 {
                    best = (value, index);
                }
            }
            let mut level = levels;
            loop {
                if level == 0 {
                    return walk_back(best.1, oracle.discounts.len(), &last, &strides);
                }
                level -= 1;
                if counts[level] < oracle.caps[level] && total < oracle.discounts.len() {
                    counts[level] += 1;
                    total += 1;
                    index += strides[level];
                    break;
                }
                total -= counts[level];
                index -= counts[level] * strides[level];
                counts[level] = 0;
            }
        }
    }

    /// What the last document of `level` adds, having been placed at rank `rank`.
    fn step(&self, oracle: &NdcgOracle, counts: &[usize], level: usize, rank: usize) -> f64 {
        let score = self.scores[level][counts[level] - 1];
        let mut lead = 0.0;
        for (other, &count) in counts.iter().enumerate() {
            if other != level {
                lead += (oracle.sizes[other] - count) as f64 * score - self.tails[other][count];
            }
        }
        lead / oracle.pair_count - oracle.gains[level] * oracle.discounts[rank - 1]
    }
}

/// The levels on the way to a state, first one first.
fn walk_back(mut index: usize, steps: usize, last: &[u8], strides: &[usize]) -> Vec<usize> {
    let mut way: Vec<usize> = (0..steps)
        .map(|_| {
            let level = last[index] as usize;
            index -= strides[level];
            level
        })
        .collect();
    way.reverse();
    way
}

fn tail_sums(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; values.len() + 1];
    for i in (0..values.len()).rev() {
        sums[i] = sums[i + 1] + values[i];
    }
    sums
}

/// `Σ |s_u - s_v|` over what two grades have left.
struct LeadTable {
    a: usize,
    b: usize,
    width: usize,
    sums: Vec<f64>,
}

impl LeadTable {
    fn new(lists: &Lists, oracle: &NdcgOracle, a: usize, b: usize) -> Self {
        let width = oracle.caps[b] + 1;
        let mut sums = vec![0.0; (oracle.caps[a] + 1) * width];
        let (own, other, tails) = (&lists.scores[a], &lists.scores[b], &lists.tails[b]);
        let mut row = vec![0.0; width];
        for u in (0..=own.len()).rev() {
            if let Some(&score) = own.get(u) {
                let turn = other.partition_point(|&value| value >= score);
                for (start, sum) in row.iter_mut().enumerate() {
                    let above = turn.max(start);
                    let higher = tails[start] - tails[above] - (above - start) as f64 * score;
                    let lower = (other.len() - above) as f64 * score - tails[above];
                    *sum += higher + lower;
                }
            }
            if u <= oracle.caps[a] {
                sums[u * width..][..width].copy_from_slice(&row);
            }
        }
        Self { a, b, width, sums }
    }

    fn of(&self, counts: &[usize]) -> f64 {
        self.sums[counts[self.a] * self.width + counts[self.b]]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::permutations;
    use super::*;
    use proptest::prelude::*;

    fn dcg(grades: impl Iterator<Item = i32>, cutoff: usize) -> f64 {
        let ranked = grades.zip(1..).filter(|(_, rank)| *rank <= cutoff);
        ranked
            .map(|(grade, rank)| gain(grade) * discount(rank))
            .sum()
    }

    proptest! {
        #[test]
        fn no_permutation_is_more_violated(
            documents in prop::collection::vec((-1.0f64..1.0, 0i32..4), 2..8),
            cutoff in 1usize..9,
            coarse in any::<bool>(),
            spread in prop::sample::select(vec![0.1, 1.0]),
        ) {
            let scores: Vec<f64> = documents.iter().map(|d| spread * if coarse { (2.0 * d.0).round() } else { d.0 }).collect();
            let grades: Vec<i32> = documents.iter().map(|d| d.1).collect();
            let oracle = NdcgOracle::new(&grades, cutoff).unwrap();
            prop_assume!(oracle.pair_count() > 0.0);
            let mut coefficients = vec![0.0; scores.len()];
            let loss = oracle.most_violated(&scores, &mut coefficients);
            let found = loss - coefficients.iter().zip(&scores).map(|(c, s)| c * s).sum::<f64>();
            let mut ideal = grades.clone();
            ideal.sort_unstable_by(|a, b| b.cmp(a));
            let ideal = dcg(ideal.into_iter(), cutoff);
            let mut best = f64::NEG_INFINITY;
            for order in permutations(scores.len()) {
                let mut wrong = 0.0;
                for (place, &first) in order.iter().enumerate() {
                    for &second in &order[place + 1..] {
                        if grades[first] < grades[second] {
                            wrong += 2.0 * (scores[second] - scores[first]);
                        }
                    }
                }
                let ndcg = dcg(order.iter().map(|&d| grades[d]), cutoff) / ideal;
                best = best.max(1.0 - ndcg - wrong / oracle.pair_count());
            }
            prop_assert!((found - best).abs() < 1e-10, "{} {}", found, best);
        }
    }

    #[test]
    fn more_orders_than_can_be_compared_are_refused() {
        let grades: Vec<i32> = (0..500).map(|i| i % 5).collect();
        assert!(NdcgOracle::new(&grades, 500).is_err());
        assert!(NdcgOracle::new(&grades, 10).is_ok());
        let grades: Vec<i32> = (0..500).collect();
        assert!(NdcgOracle::new(&grades, 1).is_err());
    }
}
