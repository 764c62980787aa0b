//! Average precision.

use super::{SortedSides, harmonic_numbers};

/// The most violated ranking for the loss `1 - average precision`, as in SVM-MAP.
///
/// Fills `coefficients` (one per document) and returns the loss; `relevant_before` is a buffer to work in and holds
/// afterwards, for each other document by falling score, how many relevant ones stand before it.
///
/// # Formula
/// With `s` the scores of the relevant and `t` those of the other documents, both falling, the `j`-th
/// other document may stand before the relevant ones `k, k+1, …, |R|`, which is worth
/// ```text
/// Σ_{i=k}^{|R|} [ (1/|R|) (j/(j+i) - (j-1)/(j+i-1)) - 2 (s_i - t_j)/(|R||N|) ]
///   = (1/|R|) [ j (H_{j+|R|} - H_{j+k-1}) - (j-1) (H_{j+|R|-1} - H_{j+k-2}) ] - 2 (Σ_{i>=k} s_i - (|R|-k+1) t_j)/(|R||N|)
/// ```
/// (`H` are harmonic numbers), whatever the others do. The best `k` never falls with `j` (lemma 1 of the paper),
/// so that finding it for the middle `j` first halves the search range of all others: `O((|R|+|N|) log |N|)` after the sort,
/// where the paper compares all `|R||N|` places.
///
/// # Reference
/// Yue, Finley, Radlinski & Joachims, SIGIR 2007, algorithm 2 and equation 5 (whose score term lacks the division by
/// `|R||N|`); compare Mohapatra, Jawahar & Kumar, NIPS 2014.
///
/// ```
/// use calibrant::ranking::learning::{SortedSides, most_violated_average_precision};
/// // One relevant document with score 0 and another one with score 0: putting it first costs ½ and
/// // nothing in score, so it is the most violated ranking.
/// let (mut sides, mut before, mut c) = (SortedSides::default(), Vec::new(), [0.0; 2]);
/// sides.sort(&[0.0, 0.0], &[true, false]);
/// assert_eq!(most_violated_average_precision(&sides, &mut before, &mut c), 0.5);
/// assert_eq!(c, [2.0, -2.0]); // ψ(true) - ψ(ŷ) = (φ_1 - φ_2) + (φ_1 - φ_2)
/// // With a lead of 0.3 the score costs 0.6 and the loss of ½ is not worth it.
/// sides.sort(&[0.3, 0.0], &[true, false]);
/// assert_eq!(most_violated_average_precision(&sides, &mut before, &mut c), 0.0);
/// ```
pub fn most_violated_average_precision(
    sides: &SortedSides,
    relevant_before: &mut Vec<u32>,
    coefficients: &mut [f64],
) -> f64 {
    let (relevant, others) = (sides.relevant.len(), sides.others.len());
    relevant_before.clear();
    relevant_before.resize(others, relevant as u32);
    if relevant == 0 || others == 0 {
        coefficients.fill(0.0);
        return 0.0;
    }
    let worth = Worth::new(sides);
    // Ranges of other documents whose places are still open, with the least and the greatest place.
    let mut open = vec![(0, others, 0, relevant)];
    while let Some((first, end, low, high)) = open.pop() {
        let middle = first + (end - first) / 2;
        let mut best = (f64::NEG_INFINITY, low);
        for place in low..=high {
            let value = worth.of(middle, place);
            if value > best.0 {
                best = (value, place);
            }
        }
        relevant_before[middle] = best.1 as u32;
        if first < middle {
            open.push((first, middle, low, best.1));
        }
        if middle + 1 < end {
            open.push((middle + 1, end, best.1, high));
        }
    }
    sides.coefficients_into(relevant_before, coefficients);
    loss(relevant, relevant_before)
}

/// The same as [`most_violated_average_precision`] by comparing all places of every document, `O(|R||N|)`
/// as in the paper: what the fast way is tested and timed against.
///
/// ```
/// use calibrant::ranking::learning::{SortedSides, most_violated_average_precision_plain};
/// let (mut sides, mut before, mut c) = (SortedSides::default(), Vec::new(), [0.0; 2]);
/// sides.sort(&[0.0, 0.0], &[true, false]);
/// assert_eq!(most_violated_average_precision_plain(&sides, &mut before, &mut c), 0.5);
/// ```
pub fn most_violated_average_precision_plain(
    sides: &SortedSides,
    relevant_before: &mut Vec<u32>,
    coefficients: &mut [f64],
) -> f64 {
    let Some((relevant, others)) = sides.begin(relevant_before, coefficients) else {
        return 0.0;
    };
    let pair = 2.0 / (relevant as f64 * others as f64);
    for j in 0..others {
        let t = sides.other_scores()[j];
        let (mut value, mut best) = (0.0, (0.0, relevant));
        for i in (0..relevant).rev() {
            // Both count from one in the paper.
            let (rank, before) = ((i + j + 2) as f64, (j + 1) as f64);
            let gain = before / rank - (before - 1.0) / (rank - 1.0);
            value += gain / relevant as f64 - pair * (sides.relevant_scores()[i] - t);
            if value >= best.0 {
                best = (value, i);
            }
        }
        let least = relevant_before.last().copied().unwrap_or(0);
        relevant_before.push((best.1 as u32).max(least));
    }
    sides.coefficients_into(relevant_before, coefficients);
    loss(relevant, relevant_before)
}

/// `1 - average precision` of the ranking.
fn loss(relevant: usize, relevant_before: &[u32]) -> f64 {
    let mut ahead = 0;
    let mut sum = 0.0;
    for i in 0..relevant {
        while ahead < relevant_before.len() && relevant_before[ahead] as usize <= i {
            ahead += 1;
        }
        sum += ahead as f64 / (i + 1 + ahead) as f64;
    }
    sum / relevant as f64
}

/// What a place is worth to one of the other documents, in constant time.
struct Worth<'a> {
    harmonic: Vec<f64>,
    /// Sums of the relevant scores from each place on.
    tails: Vec<f64>,
    other_scores: &'a [f64],
    relevant: usize,
    pair: f64,
}

impl<'a> Worth<'a> {
    fn new(sides: &'a SortedSides) -> Self {
        let scores = sides.relevant_scores();
        let mut tails = vec![0.0; scores.len() + 1];
        for i in (0..scores.len()).rev() {
            tails[i] = tails[i + 1] + scores[i];
        }
        Self {
            harmonic: harmonic_numbers(scores.len() + sides.others.len()),
            tails,
            other_scores: sides.other_scores(),
            relevant: scores.len(),
            pair: 2.0 / (scores.len() as f64 * sides.others.len() as f64),
        }
    }

    /// For other document `other` (from zero) behind the first `place` relevant ones.
    fn of(&self, other: usize, place: usize) -> f64 {
        let h = &self.harmonic;
        let (j, r, k) = (other + 1, self.relevant, place + 1);
        let precision =
            j as f64 * (h[j + r] - h[j + k - 1]) - (j - 1) as f64 * (h[j + r - 1] - h[j + k - 2]);
        let behind = (r - place) as f64;
        let score = self.tails[place] - behind * self.other_scores[other];
        precision / r as f64 - self.pair * score
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_interleavings, sides_of};
    use super::*;
    use proptest::prelude::*;

    fn average_precision(order: &[bool]) -> f64 {
        let (mut found, mut sum) = (0, 0.0);
        for (rank, _) in order.iter().enumerate().filter(|(_, relevant)| **relevant) {
            found += 1;
            sum += f64::from(found) / (rank + 1) as f64;
        }
        sum / f64::from(found)
    }

    proptest! {
        #[test]
        fn no_interleaving_is_more_violated(
            documents in prop::collection::vec((-1.5f64..1.5, any::<bool>()), 2..9),
            coarse in any::<bool>(),
        ) {
            let mut before = Vec::new();
            check_interleavings(&documents, coarse, |order| 1.0 - average_precision(order), |sides, coefficients| {
                most_violated_average_precision(sides, &mut before, coefficients)
            })?;
        }

        #[test]
        fn the_plain_way_finds_rankings_as_violated(
            documents in prop::collection::vec((-0.2f64..0.2, any::<bool>()), 2..60),
        ) {
            let (scores, relevant): (Vec<f64>, Vec<bool>) = documents.into_iter().unzip();
            let sides = sides_of(&scores, &relevant);
            let mut before = Vec::new();
            let value = |loss: f64, c: &[f64]| loss - c.iter().zip(&scores).map(|(c, s)| c * s).sum::<f64>();
            let mut fast = vec![0.0; scores.len()];
            let fast_loss = most_violated_average_precision(&sides, &mut before, &mut fast);
            let mut plain = vec![0.0; scores.len()];
            let plain_loss = most_violated_average_precision_plain(&sides, &mut before, &mut plain);
            let (fast, plain) = (value(fast_loss, &fast), value(plain_loss, &plain));
            prop_assert!((fast - plain).abs() < 1e-11, "{} {}", fast, plain);
        }
    }

    #[test] // By hand, relevance of the paper's first table by falling score: (1 + 2/6 + 3/7) / 3.
    fn the_toy_ranking_has_the_average_precision_worked_out_by_hand() {
        // The paper prints nine values for eight documents; these are the eight.
        let order = [true, false, false, false, false, true, true, false];
        assert!((average_precision(&order) - 0.587).abs() < 5e-4);
        // How many relevant documents stand before each of the others.
        let before = [1, 1, 1, 1, 3];
        assert!((1.0 - loss(3, &before) - 0.587).abs() < 5e-4);
    }
}
