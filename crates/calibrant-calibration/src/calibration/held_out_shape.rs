//! Do the classes still look as they did? What a shift of their shares leaves unchanged.

use serde::{Deserialize, Serialize};

use crate::numeric::{chi_square_tail, sigmoid};
use crate::{CalibrationError, Probability};

/// Documents that a cell should hold, at least.
const DOCUMENTS_A_CELL: usize = 25;
const LEAST_CELLS: usize = 4;
const MOST_CELLS: usize = 20;
/// Log-odds beyond which it makes no difference how sure a forecast is. A model of all documents is a little surer than those that
/// held-out documents were scored by, and of classes that are easily distinguished most documents lie out there.
const FAR: f64 = 4.0;
/// Numbers that are kept for all classes together.
const MOST_NUMBERS: usize = 4_000;
/// Below this p-value the documents do not look like a mixture of the classes.
const LEVEL: f64 = 0.01;
/// How much a shift of shares may leave unexplained, as a part of what it explains. Of text models it is up to 0.034 where shares alone
/// have changed, and 0.09 or more where documents were cut short or lost their words (but for one, whose new documents of one class
/// look just like the other).
const PART: f64 = 0.05;

/// How sure held-out forecasts were, for the documents of each class: by cells of the log-odds of the second of
/// two classes, or of the most probable of several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct HeldOutShape {
    /// Log-odds between neighbouring cells, rising.
    edges: Vec<f64>,
    /// Class by class, how many documents lie in each cell.
    classes: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    edges: Vec<f64>,
    classes: Vec<Vec<f64>>,
}

impl TryFrom<Written> for HeldOutShape {
    type Error = &'static str;

    fn try_from(Written { edges, classes }: Written) -> Result<Self, Self::Error> {
        let count = |&count: &f64| count.is_finite() && count >= 0.0;
        let fits = |cells: &Vec<f64>| cells.len() == edges.len() + 1 && cells.iter().all(count);
        let rising = edges.windows(2).all(|pair| pair[0] < pair[1]);
        if classes.len() < 2 || !rising || !classes.iter().all(fits) {
            return Err("the shape of held-out forecasts does not fit together");
        }
        Ok(Self { edges, classes })
    }
}

/// How well a mixture of the classes as they looked in training explains new forecasts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShiftFit {
    /// Chi-square of the cells, which allows for the chance in both sets of documents.
    pub statistic: f64,
    /// Cells less one.
    pub degrees_of_freedom: usize,
    /// How often a statistic as large comes by chance where only the shares have changed.
    pub p_value: f64,
    /// By how much stated probabilities would have to move, on average, beyond what chance moves them.
    pub unexplained: f64,
    /// By how much the change of shares moves them; with more than two classes, of which the most probable may be as certain as before, how
    /// much of the shares moves, times the probability of the most probable class.
    pub explained: f64,
}

impl ShiftFit {
    /// Whether a change of shares is a fair account of the new forecasts: chance could do the rest, or the rest is
    /// small beside what the change explains.
    pub fn is_fair(&self) -> bool {
        self.p_value >= LEVEL || self.unexplained <= PART * self.explained
    }
}

impl HeldOutShape {
    /// From held-out forecasts of exclusive classes, row by row (of two classes the second may stand alone), with
    /// the true class of each row; `None` where there are too few documents, or too many classes to keep.
    pub fn of(
        class_count: usize,
        probabilities: &[Probability],
        labels: impl Iterator<Item = usize>,
        weights: &[f64],
    ) -> Option<Self> {
        let documents = weights.len();
        let cells = (documents / DOCUMENTS_A_CELL)
            .min(MOST_CELLS)
            .min(MOST_NUMBERS / class_count.max(1));
        if class_count < 2 || cells < LEAST_CELLS || !probabilities.len().is_multiple_of(documents)
        {
            return None;
        }
        let width = probabilities.len() / documents;
        let sureness: Vec<f64> = probabilities.chunks_exact(width).map(sureness).collect();
        let mut sorted = sureness.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let beyond = |end: f64| sorted.partition_point(|s| *s < end);
        let inside = &sorted[beyond(-FAR)..beyond(FAR)];
        let inner = (cells - 2).min(inside.len() / DOCUMENTS_A_CELL);
        let between = (1..=inner).map(|cell| inside[cell * inside.len() / (inner + 1)]);
        let mut edges: Vec<f64> = std::iter::once(-FAR).chain(between).chain([FAR]).collect();
        edges.dedup();
        // Nothing lies below the first, or above the last.
        let (least, most) = (sorted[0], sorted[documents - 1]);
        edges.retain(|edge| *edge > least && *edge <= most);
        let mean = weights.iter().sum::<f64>() / documents as f64;
        let mut classes = vec![vec![0.0; edges.len() + 1]; class_count];
        for ((sureness, label), weight) in sureness.iter().zip(labels).zip(weights) {
            let cell = edges.partition_point(|edge| edge <= sureness);
            classes.get_mut(label)?[cell] += weight / mean;
        }
        for count in classes.iter_mut().flatten() {
            *count = (*count * 1e3).round() / 1e3;
        }
        (edges.len() >= 2).then_some(Self { edges, classes })
    }

    /// Holds new forecasts against a mixture of the classes in these shares.
    ///
    /// # Formula
    /// ```text
    /// q_k = Σ_c π_c h_ck,   χ² = Σ_k (n_k - n q_k)² / (n q_k + n² Σ_c π_c² h_ck/N_c)
    /// unexplained = ∫ |F - Q| dp - what chance makes of that,      explained = ∫ |Q - Q₀| dp
    /// ```
    /// `F` is the distribution of the new forecasts' probabilities, `Q` that of the mixture, `Q₀` that of the mixture in training.
    /// `h_ck` is the share of class `c`'s `N_c` held-out documents in cell `k`, `n_k` the number of new ones. If only
    /// the classes' shares have changed, the new forecasts are a mixture of what the classes showed in training.
    /// If documents of a class look different, they are not, and estimates of shares that take it for granted go astray.
    ///
    /// # When it misleads
    /// It looks at how sure forecasts are and at nothing else: a change that leaves this as it was goes unnoticed.
    /// With very many documents it notices differences that do not matter; [`ShiftFit::is_fair`] allows for those.
    ///
    /// # Reference
    /// Label shift: Lipton, Wang & Smola, ICML 2018. The test is Pearson's, with the variance of the reference added.
    pub fn fit(
        &self,
        old: &[f64],
        new: &[f64],
        probabilities: &[Probability],
        weights: Option<&[f64]>,
    ) -> Result<ShiftFit, CalibrationError> {
        let count = self.classes.len();
        if old.len() != count || new.len() != count {
            return Err(CalibrationError::LengthMismatch {
                left_name: "the classes",
                left: count,
                right_name: "their shares",
                right: new.len(),
            });
        }
        self.fit_rows(old, new, probabilities.chunks_exact(count), weights)
    }

    /// As [`Self::fit`], where of two classes the second stands alone.
    pub fn fit_of_second(
        &self,
        old: f64,
        new: f64,
        probabilities: &[Probability],
        weights: Option<&[f64]>,
    ) -> Result<ShiftFit, CalibrationError> {
        let both = |share: f64| [1.0 - share, share];
        self.fit_rows(
            &both(old),
            &both(new),
            probabilities.chunks_exact(1),
            weights,
        )
    }

    fn fit_rows<'a>(
        &self,
        old: &[f64],
        new: &[f64],
        rows: impl Iterator<Item = &'a [Probability]>,
        weights: Option<&[f64]>,
    ) -> Result<ShiftFit, CalibrationError> {
        let cells = self.edges.len() + 1;
        let mut counts = vec![0.0; cells];
        let (mut sum, mut squares) = (0.0f64, 0.0f64);
        for (number, row) in rows.enumerate() {
            let weight = weights.map_or(1.0, |weights| weights[number]);
            let sureness = sureness(row);
            counts[self.edges.partition_point(|edge| *edge <= sureness)] += weight;
            sum += weight;
            squares += weight * weight;
        }
        if sum <= 0.0 {
            return Err(CalibrationError::NoExamples);
        }
        // As many documents as the weights are worth.
        let documents = sum * sum / squares;
        let observed: Vec<f64> = counts.iter().map(|count| count / sum).collect();
        let (before, _) = self.mixture(old);
        let (after, variance) = self.mixture(new);
        let gaps = (0..cells).map(|cell| {
            let gap = observed[cell] - after[cell];
            gap * gap / (after[cell] / documents + variance[cell])
        });
        let statistic = gaps.sum();
        let [found, expected, trained] = [&observed, &after, &before].map(|cells| risen(cells));
        // The mean size of a normal deviate is √(2/π).
        let by_chance = |edge: usize| {
            let variance = expected[edge] * (1.0 - expected[edge]) / documents
                + self.variance_below(new, edge);
            (variance * std::f64::consts::FRAC_2_PI).sqrt()
        };
        let unexplained =
            self.over_probabilities(|edge| (found[edge] - expected[edge]).abs() - by_chance(edge));
        let moved = self.over_probabilities(|edge| (expected[edge] - trained[edge]).abs());
        let explained = match new.len() {
            2 => moved,
            _ => {
                let shares = old
                    .iter()
                    .zip(new)
                    .map(|(old, new)| 0.5 * (old - new).abs());
                // The mean of a probability is the integral of how often it is larger.
                let likeliest = self.over_probabilities(|edge| 1.0 - expected[edge]);
                moved.max(shares.sum::<f64>() * likeliest)
            }
        };
        Ok(ShiftFit {
            statistic,
            degrees_of_freedom: cells - 1,
            p_value: chi_square_tail(statistic, cells - 1),
            unexplained: unexplained.max(0.0),
            explained,
        })
    }

    /// The integral over probabilities of what is known at the edges, each of which stands for half the way to its neighbours.
    fn over_probabilities(&self, at: impl Fn(usize) -> f64) -> f64 {
        let place = |edge: usize| match edge {
            0 => 0.0,
            past if past > self.edges.len() => 1.0,
            edge => sigmoid(self.edges[edge - 1]),
        };
        let width = |edge: usize| 0.5 * (place(edge + 2) - place(edge));
        (0..self.edges.len())
            .map(|edge| width(edge) * at(edge))
            .sum()
    }

    /// The variance that the held-out documents leave in the share below an edge.
    fn variance_below(&self, shares: &[f64], edge: usize) -> f64 {
        let of_class = |(class, share): (&Vec<f64>, &f64)| {
            let total = class.iter().sum::<f64>() + 0.5;
            let below = class[..=edge].iter().sum::<f64>() / total;
            share * share * below * (1.0 - below) / total
        };
        self.classes.iter().zip(shares).map(of_class).sum()
    }

    /// The share of each cell, and the variance that the held-out documents leave in it.
    fn mixture(&self, shares: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let cells = self.edges.len() + 1;
        let (mut mean, mut variance) = (vec![0.0; cells], vec![0.0; cells]);
        for (class, &share) in self.classes.iter().zip(shares) {
            // Half a document more in every class, so that no cell is held to be impossible.
            let total = class.iter().sum::<f64>() + 0.5;
            for (cell, count) in class.iter().enumerate() {
                let of_class = (count + 0.5 / cells as f64) / total;
                mean[cell] += share * of_class;
                variance[cell] += share * share * of_class / total;
            }
        }
        (mean, variance)
    }
}

/// The share below each edge.
fn risen(cells: &[f64]) -> Vec<f64> {
    let mut below = 0.0;
    let add = |cell: &f64| {
        below += cell;
        below
    };
    cells.iter().map(add).collect()
}

/// The log-odds of the second of two classes, or of the most probable of several.
fn sureness(row: &[Probability]) -> f64 {
    match row {
        [one] | [_, one] => one.log_odds(),
        several => several
            .iter()
            .map(|p| p.log_odds())
            .fold(f64::NEG_INFINITY, f64::max),
    }
}

/// How far the shares of classes move, in one sentence that says what to check; nothing for small moves. `checked`
/// says that a [`HeldOutShape`] has been asked whether the documents still look alike.
pub fn large_moves(classes: &[&str], old: &[f64], new: &[f64], checked: bool) -> Option<String> {
    /// How many classes are named.
    const SHOWN: usize = 5;
    let shares = classes.iter().zip(old).zip(new);
    let moved: Vec<String> = shares
        .filter(|((_, old), new)| is_large_move(**old, **new))
        .map(|((class, old), new)| format!("`{class}` moves from {old:.4} to {new:.4}"))
        .collect();
    if moved.is_empty() {
        return None;
    }
    let more = match moved.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let unchecked = match checked {
        true => "",
        false => ", which could not be checked with this model",
    };
    Some(format!(
        "the share of {}{more}. That is right only if documents of each class look as they did in training and only their \
         numbers have changed{unchecked}: label a few dozen of them, drawn at random, and count them; known shares can be \
         given",
        moved[..moved.len().min(SHOWN)].join(", of ")
    ))
}

fn is_large_move(old: f64, new: f64) -> bool {
    let odds = |share: f64| share / (1.0 - share);
    let ratio = odds(new) / odds(old);
    let common = old.max(new) >= 0.02;
    (new - old).abs() >= 0.1 || (common && !(1.0 / 3.0..=3.0).contains(&ratio))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::estimate_priors;
    use crate::numeric::Random;

    /// Scores of two classes one to either side of a centre, with the true posterior at this share in training.
    fn drawn(count: usize, share: f64, drift: f64, seed: u64) -> (Vec<Probability>, Vec<usize>) {
        let mut random = Random::from_seed(seed);
        let prior = (TRAINING / (1.0 - TRAINING)).ln();
        let (mut probabilities, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let label = random.uniform() < share;
            let score = random.normal() + if label { 1.0 } else { -1.0 } + drift;
            let p = Probability::from_log_odds(prior + 2.0 * score);
            probabilities.extend([p.complement(), p]);
            labels.push(usize::from(label));
        }
        (probabilities, labels)
    }

    const TRAINING: f64 = 0.34;

    fn fits(share: f64, drift: f64, count: usize) -> Vec<(f64, ShiftFit)> {
        (0..60)
            .map(|seed| {
                let (held_out, labels) = drawn(2_000, TRAINING, 0.0, 2 * seed);
                let weights = vec![1.0; 2_000];
                let shape = HeldOutShape::of(2, &held_out, labels.into_iter(), &weights).unwrap();
                let (new, _) = drawn(count, share, drift, 2 * seed + 1);
                let old = [1.0 - TRAINING, TRAINING];
                let estimate = estimate_priors(&old, &new, None).unwrap();
                let fit = shape.fit(&old, &estimate.new, &new, None).unwrap();
                (estimate.new[1], fit)
            })
            .collect()
    }

    #[test] // Of 60 draws at the 1 % level, four or more rejections come once in a thousand.
    fn a_change_of_shares_alone_is_found_fair() {
        for (share, count) in [(0.34, 500), (0.09, 500), (0.09, 5_000), (0.7, 5_000)] {
            let fits = fits(share, 0.0, count);
            let rejected = fits.iter().filter(|fit| fit.1.p_value < 0.01).count();
            assert!(rejected <= 3, "{share} {count}: {rejected}");
            assert!(fits.iter().filter(|fit| !fit.1.is_fair()).count() <= 3);
            let mean = fits.iter().map(|fit| fit.0).sum::<f64>() / 60.0;
            assert!((mean - share).abs() < 0.02, "{mean} {share}");
        }
    }

    /// The true share stays at 0.34; the estimate goes astray, and that is noticed: of few documents not always, since bells that have
    /// moved look much like bells of other heights.
    #[test]
    fn classes_that_look_different_are_not_a_change_of_shares() {
        for (drift, count, most) in [(-0.7, 500, 22), (-0.7, 5_000, 3), (0.7, 5_000, 12)] {
            let fits = fits(TRAINING, drift, count);
            let astray = fits
                .iter()
                .filter(|fit| (fit.0 - TRAINING).abs() > 0.1)
                .count();
            assert!(astray >= 55, "{drift} {count}: {astray}");
            let fair = fits.iter().filter(|fit| fit.1.is_fair()).count();
            assert!(fair <= most, "{drift} {count}: {fair} {:?}", fits[0]);
        }
    }

    /// Forecasts far out that are surer, or less sure, than before say nothing new.
    #[test]
    fn a_model_that_is_surer_of_what_it_was_sure_of_is_the_same() {
        let mut random = Random::from_seed(8);
        let mut sure = |share: f64, far: f64, count: usize| {
            let (mut probabilities, mut labels) = (Vec::new(), Vec::new());
            for _ in 0..count {
                let label = usize::from(random.uniform() < share);
                let near = random.below(4) == 0;
                let size = if near {
                    0.4 * random.normal() + 1.2
                } else {
                    far + random.uniform()
                };
                let p = Probability::from_log_odds(size * [-1.0, 1.0][label]);
                probabilities.extend([p.complement(), p]);
                labels.push(label);
            }
            (probabilities, labels)
        };
        let (held_out, labels) = sure(0.5, 5.0, 2_000);
        let shape = HeldOutShape::of(2, &held_out, labels.into_iter(), &[1.0; 2_000]).unwrap();
        let (new, _) = sure(0.1, 8.0, 2_000);
        let found = shape.fit(&[0.5, 0.5], &[0.9, 0.1], &new, None).unwrap();
        assert!(found.p_value > 0.01 && found.is_fair(), "{found:?}");
        // By hand: 0.4 of the documents go from the upper end, where the mean is about 0.94, to the lower.
        assert!((found.explained - 0.35).abs() < 0.03, "{found:?}");
    }

    #[test]
    fn what_is_written_is_read_back_and_small_sets_have_no_shape() {
        let (probabilities, labels) = drawn(300, 0.5, 0.0, 3);
        let weights = vec![1.0; 300];
        let of = |count: usize| {
            let labels = labels[..count].iter().copied();
            HeldOutShape::of(2, &probabilities[..2 * count], labels, &weights[..count])
        };
        let shape = of(300).unwrap();
        let json = serde_json::to_string(&shape).unwrap();
        assert_eq!(serde_json::from_str::<HeldOutShape>(&json).unwrap(), shape);
        assert_eq!(of(60), None);
        let wrong = json.replacen("[[", "[[1.0,", 1);
        assert!(serde_json::from_str::<HeldOutShape>(&wrong).is_err());
        // The second class alone says the same.
        let second: Vec<Probability> = probabilities.iter().skip(1).step_by(2).copied().collect();
        let whole = shape
            .fit(&[0.5, 0.5], &[0.6, 0.4], &probabilities, None)
            .unwrap();
        assert_eq!(shape.fit_of_second(0.5, 0.4, &second, None).unwrap(), whole);
    }

    #[test]
    fn only_large_moves_are_worth_a_word() {
        for (old, new, said) in [
            (0.34, 0.09, true),
            (0.3, 0.32, false),
            (0.01, 0.04, true),
            (0.001, 0.004, false),
        ] {
            let found = large_moves(&["x"], &[old], &[new], true);
            assert_eq!(found.is_some(), said, "{old} {new}");
        }
    }
}
