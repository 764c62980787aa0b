//! Many held-out scores as few, for comparing methods.

use super::HeldOutScores;
use crate::numeric::order_bits;

/// Examples of one label and one fold whose scores agree in their leading bits, taken together: one
/// example with their mean score and all their weight.
///
/// The cells are fixed beforehand (sign, exponent and the first bits of the mantissa), so that digests of
/// parts of the examples can be added cell by cell, in any order. Within a cell a curve is nearly
/// straight: what it loses there differs from the loss at the mean by
///
/// ```text
/// w a² p (1-p) v / 2
/// ```
/// with the slope `a` and the variance `v` of the scores in the cell. The cells are so narrow that `v` is
/// at most 1/20,000 of the variance of all scores: a curve that takes log-odds over the range of the
/// scores from -5 to 5 is mistaken by some hundred-thousandths of a nat where it is least sure, and the
/// same for every method that is compared.
#[derive(Debug, Clone)]
pub(super) struct Digest {
    /// The mean scores, rising, with their label, weight and fold.
    pub(super) examples: HeldOutScores,
    /// How the examples behind each count together.
    pub(super) parts: LossParts,
}

/// What sums over examples need of those that were taken together.
#[derive(Debug, Clone)]
pub(super) struct LossParts {
    weights: Vec<f64>,
    /// `Σ w²` of the examples behind.
    squares: Vec<f64>,
    /// How many examples there are behind all.
    count: f64,
}

impl LossParts {
    /// Each example for itself.
    pub(super) fn of(held_out: &HeldOutScores) -> Self {
        Self {
            weights: held_out.weights().to_vec(),
            squares: held_out.weights().iter().map(|w| w * w).collect(),
            count: held_out.len() as f64,
        }
    }

    /// How many examples there are.
    pub(super) fn count(&self) -> f64 {
        self.count
    }

    /// The weight of all.
    pub(super) fn total(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The sum of losses that are given for a weight of one.
    pub(super) fn sum(&self, losses: &[f64]) -> f64 {
        self.weights
            .iter()
            .zip(losses)
            .map(|(w, loss)| w * loss)
            .sum()
    }

    /// How much less the (weighted) losses are than others, in the mean over examples, and the standard
    /// error of that.
    pub(super) fn mean_gain(&self, losses: &[f64], others: &[f64]) -> (f64, f64) {
        let gains = || others.iter().zip(losses).map(|(other, loss)| other - loss);
        let sum: f64 = self
            .weights
            .iter()
            .zip(gains())
            .map(|(w, gain)| w * gain)
            .sum();
        let squares: f64 = self
            .squares
            .iter()
            .zip(gains())
            .map(|(w, gain)| w * gain * gain)
            .sum();
        let mean = sum / self.count;
        let spread = (squares - self.count * mean * mean).max(0.0);
        (mean, spread.sqrt() / self.count)
    }
}

/// Fewer examples are compared as they are.
const LEAST_EXAMPLES: usize = 2000;
/// The bits of the mantissa that make a cell, the fewest first.
const MANTISSA_BITS: [u32; 4] = [6, 8, 10, 12];
/// How much of the variance of all scores may be lost inside the cells.
const LOST_VARIANCE: f64 = 5e-5;

impl Digest {
    /// Of examples by rising score, each with its fold; `None` where it would hardly be smaller.
    pub(super) fn of(sorted: &HeldOutScores, folds: &[u8]) -> Option<Self> {
        if sorted.len() < LEAST_EXAMPLES {
            return None;
        }
        MANTISSA_BITS
            .iter()
            .map(|&bits| Self::with_bits(sorted, folds, bits))
            .find(|(_, lost)| *lost <= LOST_VARIANCE)
            .map(|(digest, _)| digest)
            .filter(|digest| 2 * digest.examples.len() <= sorted.len())
    }

    /// With cells of so many bits, and the share of the variance that is lost.
    fn with_bits(sorted: &HeldOutScores, folds: &[u8], bits: u32) -> (Self, f64) {
        let fold_count = folds
            .iter()
            .copied()
            .max()
            .map_or(1, |fold| usize::from(fold) + 1);
        let (mut scores, mut labels, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        let (mut slot_folds, mut squares) = (Vec::new(), Vec::new());
        let mut slots = vec![Slot::default(); 2 * fold_count];
        let mut lost = 0.0;
        let cell_of = |score: f64| order_bits(score) >> (52 - bits);
        let examples: Vec<usize> = (0..sorted.len()).collect();
        let same_cell =
            |&a: &usize, &b: &usize| cell_of(sorted.scores()[a]) == cell_of(sorted.scores()[b]);
        for cell in examples.chunk_by(same_cell) {
            // Distances from the first score of the cell have the digits that sums of scores would lose.
            let first = sorted.scores()[cell[0]];
            for &example in cell {
                let label = usize::from(sorted.labels()[example]);
                let slot = &mut slots[2 * usize::from(folds[example]) + label];
                slot.add(sorted.scores()[example] - first, sorted.weights()[example]);
            }
            let mut filled: Vec<usize> = (0..slots.len())
                .filter(|&k| slots[k].weight > 0.0)
                .collect();
            filled.sort_by(|&a, &b| slots[a].mean().total_cmp(&slots[b].mean()));
            for k in filled {
                let slot = std::mem::take(&mut slots[k]);
                scores.push(first + slot.mean());
                labels.push(k % 2 == 1);
                weights.push(slot.weight);
                slot_folds.push((k / 2) as u8);
                squares.push(slot.squares);
                lost += slot.scatter();
            }
        }
        let digest = Self {
            parts: LossParts {
                weights: weights.clone(),
                squares,
                count: sorted.len() as f64,
            },
            examples: HeldOutScores::from_checked_parts(scores, labels, weights, Some(slot_folds)),
        };
        let share = lost / scatter(sorted);
        (
            digest,
            if share.is_finite() {
                share
            } else {
                f64::INFINITY
            },
        )
    }
}

/// `Σ w (s - mean)²` of all scores.
fn scatter(held_out: &HeldOutScores) -> f64 {
    let first = held_out.scores()[0];
    let mut all = Slot::default();
    for (&score, &weight) in held_out.scores().iter().zip(held_out.weights()) {
        all.add(score - first, weight);
    }
    all.scatter()
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    weight: f64,
    squares: f64,
    /// `Σ w d` and `Σ w d²` of the distances `d`.
    first: f64,
    second: f64,
}

impl Slot {
    fn add(&mut self, distance: f64, weight: f64) {
        self.weight += weight;
        self.squares += weight * weight;
        self.first += weight * distance;
        self.second += weight * distance * distance;
    }

    fn mean(&self) -> f64 {
        self.first / self.weight
    }

    fn scatter(&self) -> f64 {
        (self.second - self.first * self.first / self.weight).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::{Random, sigmoid};

    /// Scores around -0.9, some of them positive, as a linear SVM gives them for one class of many.
    fn scores(count: usize, shift: f64) -> (HeldOutScores, Vec<u8>) {
        let mut random = Random::from_seed(5);
        let mut scores: Vec<f64> = (0..count)
            .map(|_| shift - 0.9 + 0.3 * random.normal())
            .collect();
        scores.sort_by(f64::total_cmp);
        let labels = scores
            .iter()
            .map(|s| random.uniform() < sigmoid(6.0 * (s - shift)))
            .collect();
        let folds = (0..count).map(|_| random.below(5) as u8).collect();
        let weights = (0..count).map(|_| 0.5 + random.uniform()).collect();
        (
            HeldOutScores::assume_weighted(scores, labels, weights).unwrap(),
            folds,
        )
    }

    #[test]
    fn a_digest_is_small_and_keeps_weights_means_and_gains() {
        let (held_out, folds) = scores(20_000, 0.0);
        let digest = Digest::of(&held_out, &folds).unwrap();
        assert!(digest.examples.len() < 6000, "{}", digest.examples.len());
        assert!(digest.examples.scores().is_sorted());
        let (all, few) = (held_out.class_weights(), digest.examples.class_weights());
        assert!((all.0 - few.0).abs() < 1e-8 && (all.1 - few.1).abs() < 1e-8);
        // Losses of two curves, and how sure the difference is, from all scores and from few.
        let curve = |slope: f64| {
            move |(s, label, _): (f64, bool, f64)| {
                crate::Probability::from_log_odds(slope * s).log_loss(label)
            }
        };
        let losses =
            |of: &HeldOutScores, slope| of.examples().map(curve(slope)).collect::<Vec<f64>>();
        let exact = LossParts::of(&held_out);
        let (gain, error) = exact.mean_gain(&losses(&held_out, 6.0), &losses(&held_out, 4.0));
        let few = &digest.examples;
        let (few_gain, few_error) = digest.parts.mean_gain(&losses(few, 6.0), &losses(few, 4.0));
        assert!((gain - few_gain).abs() < 3e-6, "{gain} {few_gain}");
        assert!(
            (error / few_error - 1.0).abs() < 1e-3,
            "{error} {few_error}"
        );
        let sums = (
            exact.sum(&losses(&held_out, 6.0)),
            digest.parts.sum(&losses(few, 6.0)),
        );
        assert!((sums.0 - sums.1).abs() < 3e-5 * 20_000.0, "{sums:?}");
    }

    #[test]
    fn gains_are_those_of_the_definition() {
        let held_out =
            HeldOutScores::assume(vec![0.0, 1.0, 2.0, 3.0], vec![true, false, true, false])
                .unwrap();
        let parts = LossParts::of(&held_out);
        // By hand: gains 1, 2, 3, 6 with mean 3 and squared distances 4 + 1 + 0 + 9 = 14.
        let (mean, error) = parts.mean_gain(&[0.0; 4], &[1.0, 2.0, 3.0, 6.0]);
        assert!((mean - 3.0).abs() < 1e-15 && (error - 14f64.sqrt() / 4.0).abs() < 1e-15);
    }

    #[test]
    fn scores_far_from_zero_get_narrower_cells_or_none() {
        // Around 1000 a cell of few bits would hold all of them.
        let (held_out, folds) = scores(20_000, 1000.0);
        if let Some(digest) = Digest::of(&held_out, &folds) {
            assert!(digest.examples.len() > 500);
        }
        let (few, folds) = scores(1000, 0.0);
        assert!(Digest::of(&few, &folds).is_none());
        let same = HeldOutScores::assume(vec![2.0; 5000], (0..5000).map(|i| i % 3 == 0).collect())
            .unwrap();
        assert!(Digest::of(&same, &[0; 5000]).is_none());
    }
}
