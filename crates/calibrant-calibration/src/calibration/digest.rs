//! Scores that lie close together, taken as one.

use super::HeldOutScores;

/// Bits of a score's fraction that tell its cell: cells are a 4096th of the score wide.
const FRACTION_BITS: u32 = 12;

/// Examples of one fold and one label whose scores lie in the same cell, taken together: one example with their mean score
/// and all their weight.
///
/// Cells are fixed: the scores that agree in sign, exponent and the first twelve bits of the fraction. What a cell holds are
/// sums, so that parts of the examples could be taken together apart and added up, whatever the parts.
///
/// Within a cell a smooth curve's loss differs from that at the mean by about `w a² p (1-p) v / 2`, with the slope `a` and the variance
/// `v` of the scores in the cell. A score near 1 has cells of 1/4096: some `1e-7` nats per example with a slope of 15.
pub(super) struct Digest {
    /// By rising score.
    pub(super) held_out: HeldOutScores,
    /// How many examples each stands for.
    pub(super) counts: Vec<f64>,
    /// `Σ w²` over these.
    pub(super) squares: Vec<f64>,
}

impl Digest {
    /// Of examples by rising score, with the fold of each. `None` where they are hardly fewer when taken together, or so large
    /// that their sums might overflow.
    pub(super) fn of(sorted: &HeldOutScores, folds: &[u8]) -> Option<Self> {
        let fold_count = 1 + usize::from(folds.iter().copied().max()?);
        let mut digest = Gathered::new(2 * fold_count);
        for (example, (score, label, weight)) in sorted.examples().enumerate() {
            let slot = 2 * usize::from(folds[example]) + usize::from(label);
            digest.add(score, slot, weight);
        }
        digest.close();
        (digest.is_sound() && 2 * digest.scores.len() <= sorted.len()).then(|| Self {
            held_out: HeldOutScores::from_checked_parts(
                digest.scores,
                digest.slots.iter().map(|slot| slot % 2 == 1).collect(),
                digest.weights,
                Some(digest.slots.iter().map(|slot| (slot / 2) as u8).collect()),
            ),
            counts: digest.counts,
            squares: digest.squares,
        })
    }
}

/// The cell of a score; a greater score never has a lower one.
fn cell(score: f64) -> i64 {
    // Zero has two signs.
    let bits = (score + 0.0).to_bits() as i64;
    let rising = bits ^ (((bits >> 63) as u64) >> 1) as i64;
    rising >> (f64::MANTISSA_DIGITS - 1 - FRACTION_BITS)
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    weight: f64,
    /// `Σ w s`.
    sum: f64,
    count: f64,
    /// `Σ w²`.
    squares: f64,
    /// The lowest score and the highest.
    ends: [f64; 2],
}

impl Slot {
    /// Of scores that are all the same it is that, to the bit: ties stay ties.
    fn mean(&self) -> f64 {
        (self.sum / self.weight).clamp(self.ends[0], self.ends[1])
    }
}

/// Examples of cells that are done, and the sums of the one that is not.
struct Gathered {
    scores: Vec<f64>,
    slots: Vec<usize>,
    weights: Vec<f64>,
    counts: Vec<f64>,
    squares: Vec<f64>,
    cell: i64,
    open: Vec<Slot>,
    is_finite: bool,
}

impl Gathered {
    fn new(slot_count: usize) -> Self {
        Self {
            scores: Vec::new(),
            slots: Vec::new(),
            weights: Vec::new(),
            counts: Vec::new(),
            squares: Vec::new(),
            cell: i64::MIN,
            open: vec![Slot::default(); slot_count],
            is_finite: true,
        }
    }

    /// Whether no sum has overflowed.
    fn is_sound(&self) -> bool {
        let mut numbers = self.scores.iter().chain(&self.squares);
        self.is_finite && numbers.all(|number| number.is_finite())
    }

    fn add(&mut self, score: f64, slot: usize, weight: f64) {
        let cell = cell(score);
        if cell != self.cell {
            self.close();
            self.cell = cell;
        }
        let slot = &mut self.open[slot];
        if slot.count == 0.0 {
            slot.ends[0] = score;
        }
        slot.ends[1] = score;
        slot.squares += weight * weight;
        slot.weight += weight;
        slot.sum += weight * score;
        slot.count += 1.0;
    }

    fn close(&mut self) {
        let mut found: Vec<(f64, usize, Slot)> = self
            .open
            .iter()
            .enumerate()
            .filter(|(_, slot)| slot.count > 0.0)
            .map(|(place, &slot)| (slot.mean(), place, slot))
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (score, place, slot) in found {
            self.is_finite &= slot.sum.is_finite();
            self.scores.push(score);
            self.slots.push(place);
            self.weights.push(slot.weight);
            self.counts.push(slot.count);
            self.squares.push(slot.squares);
        }
        self.open.fill(Slot::default());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::numeric::Random;

    proptest! {
        #[test]
        fn cells_rise_with_scores_and_are_narrow(a in -1e6f64..1e6, b in -1e6f64..1e6) {
            prop_assert_eq!(a.total_cmp(&b).is_le(), cell(a) < cell(b) || (cell(a) == cell(b) && a <= b));
            // By hand: twelve bits of the fraction are 1/4096 of the power of two below.
            let beside = a * (1.0 + 1.0 / 2048.0);
            prop_assert!(a.abs() < 1e-300 || cell(a) != cell(beside));
        }
    }

    #[test]
    fn both_zeros_are_one() {
        assert_eq!(cell(0.0), cell(-0.0));
        assert!(cell(-1e-300) < cell(0.0) && cell(0.0) < cell(1e-300));
    }

    #[test]
    fn sums_and_folds_stay_and_scores_rise() {
        let mut random = Random::from_seed(5);
        let scores: Vec<f64> = (0..40_000).map(|_| 0.1 * random.normal() - 0.9).collect();
        let labels: Vec<bool> = scores.iter().map(|s| random.normal() < *s).collect();
        let weights: Vec<f64> = scores.iter().map(|_| 0.5 + random.uniform()).collect();
        let folds: Vec<u8> = scores.iter().map(|_| random.below(5) as u8).collect();
        let held_out = HeldOutScores::assume_weighted(scores, labels, weights).unwrap();
        let (sorted, order) = held_out.with_folds(folds).unwrap().sorted();
        assert_eq!(order.len(), 40_000);
        let folds = sorted.folds();
        let digest = Digest::of(&sorted, &folds).unwrap();
        assert!(digest.held_out.scores().is_sorted());
        assert!(digest.held_out.len() < 20_000);
        assert_eq!(digest.counts.iter().sum::<f64>(), 40_000.0);
        let digested = digest.held_out.given_folds().unwrap();
        for fold in 0..5 {
            for side in [false, true] {
                let sums = |examples: &HeldOutScores, folds: &[u8]| {
                    let of_side = examples.examples().zip(folds);
                    let of_side =
                        of_side.filter(|((_, label, _), of)| **of == fold && *label == side);
                    of_side.fold([0.0, 0.0], |[weight, sum], ((s, _, w), _)| {
                        [weight + w, sum + w * s]
                    })
                };
                let [whole, parts] = [sums(&sorted, &folds), sums(&digest.held_out, digested)];
                for (whole, part) in whole.iter().zip(parts) {
                    assert!((whole - part).abs() < 1e-9 * whole.abs(), "{whole} {part}");
                }
            }
        }
    }

    #[test]
    fn equal_scores_stay_equal() {
        let scores: Vec<f64> = (0..30_000).map(|i| f64::from(1 + i % 19) / 20.0).collect();
        let labels = (0..30_000).map(|i| i * i % 7 < 3).collect();
        let weights = (0..30_000).map(|i| 0.1 + f64::from(i % 13)).collect();
        let held_out = HeldOutScores::assume_weighted(scores, labels, weights).unwrap();
        let (sorted, _) = held_out.sorted();
        let digest = Digest::of(&sorted, &sorted.folds()).unwrap();
        let mut distinct = digest.held_out.scores().to_vec();
        distinct.dedup();
        let stated: Vec<f64> = (1..20).map(|i| f64::from(i) / 20.0).collect();
        assert_eq!(distinct, stated);
    }

    #[test]
    fn sums_that_overflow_are_no_digest() {
        let scores = (0..40)
            .map(|i| if i < 20 { 1e308 } else { 1.2e308 })
            .collect();
        let labels = (0..40).map(|i| i % 2 == 0).collect();
        let held_out = HeldOutScores::assume(scores, labels).unwrap();
        assert!(Digest::of(&held_out, &[0; 40]).is_none());
    }

    #[test]
    fn what_is_far_apart_stays_as_it_is() {
        let scores: Vec<f64> = (0..100).map(|i| 1.01f64.powi(i)).collect();
        let labels = (0..100).map(|i| i % 3 == 0).collect();
        let held_out = HeldOutScores::assume(scores, labels).unwrap();
        assert!(Digest::of(&held_out, &[0; 100]).is_none());
    }
}
