//! Scores that lie close together, taken as one.

use super::HeldOutScores;

/// Cells between the lowest and the highest score.
const CELLS: usize = 512;
/// Scores beyond this are not taken together: their sums might overflow.
const FAR: f64 = 1e100;
/// Nor are those whose range is more than so many mean deviations: a few that lie far out would leave one cell to all the others.
const WIDEST: f64 = 64.0;

/// Examples of one fold and one label whose scores lie in the same of 512 equal cells, taken together: one
/// example with their mean score and all their weight. What it holds are sums, so that parts of the examples could be taken
/// together apart and added up.
///
/// Within a cell a line's loss differs from that at the mean by `w a² p (1-p) v / 2` with the slope `a` and the
/// variance `v` of the scores in the cell: where log-odds go from -15 to 10 over the scores of a class with one document
/// in a hundred, some `1e-7` nats an example.
pub(super) struct Digest {
    low: f64,
    /// By fold, then label, then cell.
    slots: Vec<Slot>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    weight: f64,
    /// `Σ w (s - low)`.
    sum: f64,
    /// How many examples there are.
    count: f64,
}

impl Slot {
    fn add(&mut self, other: Self) {
        self.weight += other.weight;
        self.sum += other.sum;
        self.count += other.count;
    }
}

/// The examples of a digest by rising score.
pub(super) struct Digested {
    pub(super) held_out: HeldOutScores,
    /// How many examples each stands for.
    pub(super) counts: Vec<f64>,
}

impl Digest {
    /// Of examples in an order that does not depend on how they came, with the fold of each. `None` where scores are too far
    /// apart, a few of them far from the others, or all the same.
    pub(super) fn of(
        held_out: &HeldOutScores,
        folds: &[u8],
        order: impl Iterator<Item = usize> + Clone,
    ) -> Option<Self> {
        let scores = held_out.scores();
        let (low, high) = scores.iter().fold((f64::MAX, f64::MIN), |(low, high), &s| {
            (low.min(s), high.max(s))
        });
        let scale = CELLS as f64 / (high - low);
        if low < -FAR || high > FAR || !scale.is_finite() {
            return None;
        }
        let count = scores.len() as f64;
        let mean = order.clone().map(|i| scores[i] / count).sum::<f64>();
        let deviations = order.clone().map(|i| (scores[i] - mean).abs());
        if high - low > WIDEST * deviations.sum::<f64>() / count {
            return None;
        }
        let fold_count = 1 + usize::from(folds.iter().copied().max()?);
        let mut slots = vec![Slot::default(); fold_count * 2 * CELLS];
        for example in order {
            let distance = scores[example] - low;
            let cell = ((distance * scale) as usize).min(CELLS - 1);
            let label = usize::from(held_out.labels()[example]);
            let weight = held_out.weights()[example];
            slots[(2 * usize::from(folds[example]) + label) * CELLS + cell].add(Slot {
                weight,
                sum: weight * distance,
                count: 1.0,
            });
        }
        Some(Self { low, slots })
    }

    /// How many folds there are.
    pub(super) fn fold_count(&self) -> usize {
        self.slots.len() / (2 * CELLS)
    }

    /// The examples of all folds, or of all but one, whatever their folds.
    pub(super) fn examples(&self, left_out: Option<usize>) -> HeldOutScores {
        let (mut scores, mut labels, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for place in 0..2 * CELLS {
            let folds = self.slots.iter().skip(place).step_by(2 * CELLS).enumerate();
            let kept = folds.filter(|(fold, _)| Some(*fold) != left_out);
            let mut all = Slot::default();
            kept.for_each(|(_, slot)| all.add(*slot));
            if all.count > 0.0 {
                scores.push(self.low + all.sum / all.weight);
                labels.push(place >= CELLS);
                weights.push(all.weight);
            }
        }
        HeldOutScores::from_checked_parts(scores, labels, weights, None)
    }

    /// The examples by rising score, fold by fold.
    pub(super) fn by_fold(&self) -> Digested {
        let slots = self.slots.iter().enumerate();
        let mut found: Vec<(f64, usize, Slot)> = slots
            .filter(|(_, slot)| slot.count > 0.0)
            .map(|(place, &slot)| (self.low + slot.sum / slot.weight, place, slot))
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let of = |place: usize| (place / (2 * CELLS), place / CELLS % 2 == 1);
        Digested {
            held_out: HeldOutScores::from_checked_parts(
                found.iter().map(|found| found.0).collect(),
                found.iter().map(|found| of(found.1).1).collect(),
                found.iter().map(|found| found.2.weight).collect(),
                Some(found.iter().map(|found| of(found.1).0 as u8).collect()),
            ),
            counts: found.iter().map(|found| found.2.count).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    fn held_out(count: usize) -> HeldOutScores {
        let mut random = Random::from_seed(5);
        let scores: Vec<f64> = (0..count).map(|_| 0.3 * random.normal() - 0.9).collect();
        let labels = scores.iter().map(|s| random.normal() < *s).collect();
        let weights = (0..count).map(|_| 0.5 + random.uniform()).collect();
        HeldOutScores::assume_weighted(scores, labels, weights).unwrap()
    }

    #[test]
    fn a_digest_keeps_weights_means_and_counts_of_each_label_and_fold() {
        let held_out = held_out(3000);
        let folds: Vec<u8> = (0..3000).map(|example| (example % 5) as u8).collect();
        let digest = Digest::of(&held_out, &folds, 0..3000).unwrap();
        assert_eq!(digest.fold_count(), 5);
        let Digested {
            held_out: few,
            counts,
        } = digest.by_fold();
        assert!(
            few.scores().is_sorted() && few.len() < 2500,
            "{}",
            few.len()
        );
        for fold in 0..5u8 {
            for side in [true, false] {
                let sums = |of: &HeldOutScores, folds: &[u8], count: &dyn Fn(usize) -> f64| {
                    let own = |&(example, (_, label, _)): &(usize, (f64, bool, f64))| {
                        folds[example] == fold && label == side
                    };
                    let each = of.examples().enumerate().filter(own);
                    each.fold([0.0; 3], |[sum, weight, found], (example, (s, _, w))| {
                        [sum + w * s, weight + w, found + count(example)]
                    })
                };
                let all = sums(&held_out, &folds, &|_| 1.0);
                let taken = sums(&few, few.given_folds().unwrap(), &|example| counts[example]);
                for (a, b) in all.iter().zip(taken) {
                    assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} {b}");
                }
            }
        }
    }

    #[test]
    fn a_fold_that_is_left_out_leaves_nothing_behind() {
        let held_out = held_out(3000);
        let folds: Vec<u8> = (0..3000).map(|example| (example % 5) as u8).collect();
        let digest = Digest::of(&held_out, &folds, 0..3000).unwrap();
        let rest = held_out.filtered(|example| folds[example] != 3);
        let few = digest.examples(Some(3));
        assert!(few.len() < 1000, "{}", few.len());
        for side in [true, false] {
            let sums = |of: &HeldOutScores| {
                let side = of.examples().filter(|(_, label, _)| *label == side);
                side.fold((0.0, 0.0), |sum, (score, _, weight)| {
                    (sum.0 + weight, sum.1 + weight * score)
                })
            };
            let (all, few) = (sums(&rest), sums(&few));
            assert!((all.0 - few.0).abs() < 1e-9 && (all.1 - few.1).abs() < 1e-9);
        }
    }

    #[test]
    fn scores_that_a_digest_would_blur_have_none() {
        let folds = vec![0; 4];
        for scores in [
            [1.0; 4],
            [0.0, 1.0, 2.0, 1e120],
            [0.0, 1e-9, 2e-9, f64::MAX],
        ] {
            let few = HeldOutScores::assume(scores.to_vec(), vec![true, false, true, false]);
            assert!(Digest::of(&few.unwrap(), &folds, 0..4).is_none());
        }
        let mut scores: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
        scores.push(1e6);
        let labels = (0..1001).map(|i| i % 2 == 0).collect();
        let one_far = HeldOutScores::assume(scores, labels).unwrap();
        assert!(Digest::of(&one_far, &vec![0; 1001], 0..1001).is_none());
    }
}
