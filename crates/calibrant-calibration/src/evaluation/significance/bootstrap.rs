//! The difference of two means, drawn again and again.

use serde::{Deserialize, Serialize};

use crate::evaluation::units::{FEWEST_UNITS, Units};
use crate::numeric::{Random, StableSum, stable_hash, student_reach};
use crate::parallel;

/// Where the difference of two systems' mean losses may lie.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootstrapDifference {
    /// How often the documents were drawn again.
    pub resamples: usize,
    /// How much of the differences the interval holds, such as 0.95.
    pub confidence: f64,
    /// The lower end of the interval.
    pub lower: f64,
    /// Its upper end.
    pub upper: f64,
    /// Twice the share of differences on the rarer side of zero, counting the one that was measured.
    pub p_value: f64,
}

/// An interval for the difference `mean(first) - mean(second)` of losses on the same documents.
///
/// # Formula
/// Documents are drawn with replacement, as many as there are, `B` times; each time the weighted
/// means are taken over the drawn ones, both from the same draw. The interval runs between the
/// quantiles `(1 - confidence)/2` and `(1 + confidence)/2` of the `B` differences, and
/// ```text
/// p = min(1, 2 · (1 + min(#{d <= 0}, #{d >= 0})) / (B + 1))
/// ```
/// A document is drawn with all its decisions, so that decisions that hang together stay together.
/// More than 16,384 documents are first dealt into as many heaps by chance, and heaps are drawn: the
/// spread comes out the same to about half a per cent, at a cost that no longer grows.
///
/// Weights are taken into account; documents without a finite weight above zero are left out, and all count
/// alike where `weights` is empty. The order of the documents leaves no trace.
///
/// # When it misleads
/// With few documents, or when a handful carries the mean, the interval is too narrow: what was not
/// seen cannot be drawn. A p-value below `2/(B + 1)` cannot come out.
///
/// # Reference
/// Efron & Tibshirani, An Introduction to the Bootstrap, 1993, chapters 13 and 16.
///
/// ```
/// use calibrant_calibration::evaluation::bootstrap_difference;
/// let (first, second) = ([0.5, 0.25, 0.75], [1.0, 0.75, 1.25]);
/// let found = bootstrap_difference(&first, &second, &[], 999, 0.95, 1);
/// // By hand: every document differs by -0.5, so every draw does.
/// assert!((found.lower + 0.5).abs() < 1e-12 && (found.upper + 0.5).abs() < 1e-12);
/// assert!((found.p_value - 2.0 / 1000.0).abs() < 1e-15);
/// ```
pub fn bootstrap_difference(
    first: &[f64],
    second: &[f64],
    weights: &[f64],
    resamples: usize,
    confidence: f64,
    seed: u64,
) -> BootstrapDifference {
    Resamples::draw(&[first, second], weights, &[], resamples, seed).difference(0, 1, confidence)
}

/// With so many degrees of freedom Student's distribution is the normal one.
const MANY_DEGREES: f64 = 1e9;
/// More documents than this are dealt into this many heaps.
const MOST_HEAPS: usize = 1 << 14;

/// The means of several columns of losses, over the same draws of documents.
pub(in crate::evaluation) struct Resamples {
    /// By draw, then by column.
    means: Vec<Vec<f64>>,
    /// By column, over all documents.
    measured: Vec<f64>,
    /// As many groups of equal weight as were drawn; `None` for documents that stand for themselves.
    groups: Option<f64>,
}

impl Resamples {
    /// Draws documents, or the groups of documents that `groups` names; see [`bootstrap_difference`]. The same,
    /// whatever the number of threads.
    pub(in crate::evaluation) fn draw(
        columns: &[&[f64]],
        weights: &[f64],
        groups: &[Option<u64>],
        resamples: usize,
        seed: u64,
    ) -> Self {
        let heaps = Heaps::deal(columns, weights, groups, seed);
        let draw = |number: usize| heaps.draw(Random::from_seed(seed ^ (number as u64 + 1) << 20));
        Self {
            means: parallel::map_indices(resamples, draw),
            measured: heaps.means(&vec![1; heaps.weights.len()]),
            groups: heaps.groups,
        }
    }

    /// Whether enough was drawn to tell how far differences vary.
    pub(in crate::evaluation) fn can_tell(&self) -> bool {
        self.groups.is_none_or(|groups| groups >= FEWEST_UNITS)
    }

    /// By how much differences lie further from the measured one than they were drawn, where groups were: draws of `n`
    /// vary too little by `√((n-1)/n)`, and how much they vary is known as Student's distribution knows it.
    fn stretch(&self, confidence: f64) -> f64 {
        self.groups.map_or(1.0, |groups| {
            let degrees = (groups - 1.0).max(1.0);
            let normal = student_reach(confidence, MANY_DEGREES);
            (groups / degrees).sqrt() * student_reach(confidence, degrees) / normal
        })
    }

    pub(in crate::evaluation) fn difference(
        &self,
        first: usize,
        second: usize,
        confidence: f64,
    ) -> BootstrapDifference {
        let measured = self.measured[first] - self.measured[second];
        let stretch = self.stretch(confidence);
        let drawn = self.means.iter().map(|means| means[first] - means[second]);
        let mut differences: Vec<f64> = match stretch == 1.0 {
            true => drawn.collect(),
            false => drawn.map(|d| measured + stretch * (d - measured)).collect(),
        };
        differences.sort_unstable_by(f64::total_cmp);
        let resamples = differences.len();
        let below = differences.iter().filter(|&&d| d <= 0.0).count();
        let above = differences.iter().filter(|&&d| d >= 0.0).count();
        let rarer = below.min(above) as f64;
        BootstrapDifference {
            resamples,
            confidence,
            lower: quantile(&differences, (1.0 - confidence) / 2.0),
            upper: quantile(&differences, (1.0 + confidence) / 2.0),
            p_value: (2.0 * (1.0 + rarer) / (resamples as f64 + 1.0)).min(1.0),
        }
    }
}

/// The value that a share of the sorted values lies below, between two of them in proportion; zero
/// of none.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    let step = place - below as f64;
    if step == 0.0 {
        sorted[below]
    } else {
        sorted[below] + step * (sorted[above] - sorted[below])
    }
}

/// Documents, or heaps of them, that are drawn as one.
struct Heaps {
    columns: usize,
    /// The weight of each heap.
    weights: Vec<f64>,
    /// Heap by heap the weighted losses of every column.
    losses: Vec<f64>,
    /// As many groups of equal weight as there are; `None` where each document stands for itself.
    groups: Option<f64>,
}

impl Heaps {
    fn deal(columns: &[&[f64]], weights: &[f64], groups: &[Option<u64>], seed: u64) -> Self {
        let documents = columns.iter().map(|column| column.len()).min().unwrap_or(0);
        let counts = |weight: f64| weight.is_finite() && weight > 0.0;
        let largest = weights
            .iter()
            .copied()
            .filter(|&w| counts(w))
            .fold(0.0, f64::max);
        let weight_of = |document: usize| match weights.get(document) {
            Some(&weight) if counts(weight) => weight / largest,
            Some(_) => 0.0,
            None => f64::from(u8::from(weights.is_empty())),
        };
        // Sorted by what they hold, not by where they stand, and then shuffled by the seed. The keys
        // of the columns are added, so that the order of the systems leaves no trace either.
        let key = |document: usize| {
            let hash = |value: f64| stable_hash(&value.to_bits().to_le_bytes());
            let losses = columns.iter().map(|column| hash(column[document]));
            let group = groups.get(document).copied().flatten().unwrap_or(0);
            let own = hash(weight_of(document)).rotate_left(1);
            losses.fold(own.wrapping_add(group), u64::wrapping_add)
        };
        let mut order: Vec<(u64, usize)> = (0..documents)
            .filter(|&document| weight_of(document) > 0.0)
            .map(|document| (key(document), document))
            .collect();
        order.sort_unstable();
        let group_of = |&(_, document): &(u64, usize)| groups.get(document).copied().flatten();
        let units = Units::of(order.iter().map(group_of));
        let mut dealt: Vec<usize> = (0..units.count()).collect();
        Random::from_seed(seed).shuffle(&mut dealt);
        let heap_count = dealt.len().min(MOST_HEAPS);
        let mut heaps = Self {
            columns: columns.len(),
            weights: vec![0.0; heap_count],
            losses: vec![0.0; heap_count * columns.len()],
            groups: (!units.all_alone())
                .then(|| units.worth(|in_order| weight_of(order[in_order].1))),
        };
        for (place, &unit) in dealt.iter().enumerate() {
            let heap = place % heap_count;
            for &in_order in units.documents(unit) {
                let document = order[in_order as usize].1;
                let weight = weight_of(document);
                heaps.weights[heap] += weight;
                let losses = &mut heaps.losses[heap * columns.len()..][..columns.len()];
                for (loss, column) in losses.iter_mut().zip(columns) {
                    *loss += weight * column[document];
                }
            }
        }
        heaps
    }

    /// The means over one draw.
    fn draw(&self, mut random: Random) -> Vec<f64> {
        let count = self.weights.len();
        let mut times = vec![0u32; count];
        for _ in 0..count {
            times[random.below(count)] += 1;
        }
        self.means(&times)
    }

    /// The means if each heap were there so many times.
    fn means(&self, times: &[u32]) -> Vec<f64> {
        let mut sums = vec![0.0; self.columns];
        let mut weight = StableSum::default();
        let heaps = self.losses.chunks_exact(self.columns.max(1));
        for ((&times, losses), &of_heap) in times.iter().zip(heaps).zip(&self.weights) {
            if times > 0 {
                let times = f64::from(times);
                weight.add(times * of_heap);
                for (sum, loss) in sums.iter_mut().zip(losses) {
                    *sum += times * loss;
                }
            }
        }
        let weight = weight.total();
        if weight > 0.0 {
            sums.iter_mut().for_each(|sum| *sum /= weight);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::normal_cdf;

    fn noisy(count: usize, shift: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let mut random = Random::from_seed(seed);
        let first: Vec<f64> = (0..count).map(|_| 3.0 + random.normal()).collect();
        let second = first
            .iter()
            .map(|loss| loss + shift + 0.5 * random.normal())
            .collect();
        (first, second)
    }

    /// The mean difference and its standard error.
    fn by_textbook(first: &[f64], second: &[f64]) -> (f64, f64) {
        let n = first.len() as f64;
        let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
        let mean = differences.iter().sum::<f64>() / n;
        let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / n;
        (mean, (variance / n).sqrt())
    }

    #[track_caller]
    fn check_interval(count: usize) {
        let (first, second) = noisy(count, 0.02, 4);
        let found = bootstrap_difference(&first, &second, &[], 4_000, 0.95, 9);
        let (mean, error) = by_textbook(&first, &second);
        // A quantile of 4,000 draws is known to about 4 % of a standard error.
        assert!(
            (found.lower - (mean - 1.96 * error)).abs() < 0.15 * error,
            "{found:?}"
        );
        assert!(
            (found.upper - (mean + 1.96 * error)).abs() < 0.15 * error,
            "{found:?}"
        );
    }

    #[test]
    fn the_interval_is_that_of_the_textbook_for_a_mean_of_many() {
        check_interval(2_000);
        check_interval(100_000); // dealt into heaps
    }

    #[test]
    fn the_p_value_is_that_of_the_normal_curve_for_a_mean_of_many() {
        let (first, second) = noisy(2_000, 0.02, 4);
        let (mean, error) = by_textbook(&first, &second);
        let expected = 2.0 * normal_cdf(-(mean / error).abs());
        let found = bootstrap_difference(&first, &second, &[], 4_000, 0.95, 9).p_value;
        assert!((found - expected).abs() < 0.03, "{found} {expected}");
    }

    #[test] // Losses of only three values must not be dealt out evenly, which would hide their spread.
    fn heaps_keep_the_spread_of_coarse_losses() {
        let mut random = Random::from_seed(2);
        let first: Vec<f64> = (0..60_000).map(|_| random.below(2) as f64).collect();
        let second: Vec<f64> = first
            .iter()
            .map(|&a| if random.below(10) == 0 { 1.0 - a } else { a })
            .collect();
        let (_, error) = by_textbook(&first, &second);
        let found = bootstrap_difference(&first, &second, &[], 4_000, 0.95, 1);
        let width = found.upper - found.lower;
        assert!(
            (width / (2.0 * 1.96 * error) - 1.0).abs() < 0.06,
            "{width} {error}"
        );
    }

    #[test]
    fn order_and_side_do_not_matter_and_the_seed_does() {
        let (mut first, mut second) = noisy(300, 0.01, 1);
        let mut weights: Vec<f64> = (1..=300).map(f64::from).collect();
        let one = bootstrap_difference(&first, &second, &weights, 200, 0.9, 5);
        let other_side = bootstrap_difference(&second, &first, &weights, 200, 0.9, 5);
        assert!((one.lower + other_side.upper).abs() < 1e-12);
        assert_eq!(one.p_value, other_side.p_value);
        let other_seed = bootstrap_difference(&first, &second, &weights, 200, 0.9, 6);
        assert_ne!(one, other_seed);
        first.reverse();
        second.reverse();
        weights.reverse();
        assert_eq!(
            bootstrap_difference(&first, &second, &weights, 200, 0.9, 5),
            one
        );
    }

    #[test]
    fn weights_count_and_their_unit_does_not() {
        let (first, second) = ([1.0, 0.0, 9.0], [0.0, 0.0, 0.0]);
        let found = bootstrap_difference(&first, &second, &[1.0, 0.0, 0.0], 50, 0.95, 1);
        assert_eq!((found.lower, found.upper), (1.0, 1.0)); // only the first document is there
        let small = bootstrap_difference(&first, &second, &[1.0, 2.0, 4.0], 50, 0.95, 1);
        let large = bootstrap_difference(&first, &second, &[1e300, 2e300, 4e300], 50, 0.95, 1);
        assert_eq!(small, large);
    }

    #[test]
    fn nothing_breaks_at_the_ends() {
        for (first, weights, resamples) in [
            (&[][..], &[][..], 10),
            (&[1.0], &[], 0),
            (&[1.0], &[0.0], 10),
            (&[1e300], &[f64::NAN], 10),
            (&[1.0, 2.0], &[1.0], 10),
        ] {
            let found = bootstrap_difference(first, first, weights, resamples, 0.95, 1);
            assert_eq!((found.lower, found.upper, found.p_value), (0.0, 0.0, 1.0));
        }
    }
}
