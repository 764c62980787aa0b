//! Several ways for many classes as one, each with its weight.

use serde::{Deserialize, Serialize};

use super::{ClassBuffers, HeldOutClassScores, SavedMulticlassCalibrator as Saved, bounded};
use crate::Probability;
use crate::numeric::exp_of_negative;
use crate::parallel;
use crate::solvers::sum_in_parts;

/// Several calibrators of the same classes, weighed rather than chosen from.
///
/// # Formula
/// ```text
/// P(c) ∝ Π_m P_m(c)^{w_m},     w_m ≥ 0,  Σ w_m = 1
/// ```
/// The weights have the least log loss over held-out examples, each forecast by members that were fitted without
/// its fold. Since they sum to one, members that are each calibrated are at most made more cautious. A
/// member whose weight would be below 0.05 is left out. Each of `n` examples counts as one of the best wrong class to the share
/// `1/(n + 2)`, as in [`super::SharedCurve`]: where there was no error, the surest member is not the best.
///
/// # Reference
/// Genest & Zidek, Statistical Science 1 (1986), on logarithmic opinion pools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct PoolCalibrator {
    members: Vec<PoolMember>,
}

/// One of several calibrators, and how much it counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolMember {
    /// Its share: the shares of all members sum to one.
    pub weight: f64,
    /// What it says.
    pub calibrator: Saved,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    members: Vec<PoolMember>,
}

impl TryFrom<Unchecked> for PoolCalibrator {
    type Error = &'static str;

    fn try_from(read: Unchecked) -> Result<Self, Self::Error> {
        Self::new(read.members)
            .ok_or("a pool has members of the same classes whose weights sum to one")
    }
}

/// Members with less weight than this are left out of a pool.
pub(super) const LEAST_WEIGHT: f64 = 0.05;
/// Examples that the weights are found with; more would tell nothing.
const EXAMPLES: usize = 4000;
/// Beyond this a forecast says no more: nothing that is calibrated comes near.
const LEAST_LN: f64 = -1e4;

impl PoolCalibrator {
    /// Members of the same classes, none of them a pool itself, whose weights sum to one.
    pub fn new(members: Vec<PoolMember>) -> Option<Self> {
        let classes = members.first()?.calibrator.class_count();
        let alike = members.iter().all(|member| {
            member.calibrator.class_count() == classes
                && (0.0..=1.0).contains(&member.weight)
                && !matches!(
                    member.calibrator,
                    Saved::Pool(_) | Saved::TwoPasses(_) | Saved::Bounded(_)
                )
        });
        let total: f64 = members.iter().map(|member| member.weight).sum();
        (alike && (total - 1.0).abs() < 1e-6).then_some(Self { members })
    }

    /// The members with their weights.
    pub fn members(&self) -> &[PoolMember] {
        &self.members
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.members[0].calibrator.class_count()
    }

    pub(super) fn ln_weights_into(&self, scores: &[f64], buffer: &mut ClassBuffers) {
        let mut sum = std::mem::take(&mut buffer.pooled);
        sum.clear();
        sum.resize(scores.len(), 0.0);
        for member in &self.members {
            member.calibrator.ln_weights_into(scores, buffer);
            // What all classes have in common does not matter; near zero it costs no digits.
            let top = buffer.ln_weights.iter().copied().fold(f64::MIN, f64::max);
            for (sum, weight) in sum.iter_mut().zip(&buffer.ln_weights) {
                *sum += member.weight * (weight - top);
            }
        }
        buffer.ln_weights.clear();
        buffer
            .ln_weights
            .extend(sum.iter().map(|&weight| bounded(weight)));
        buffer.pooled = sum;
    }
}

/// What members say of examples they were not fitted to: for each member, example after example.
pub(super) struct Rivals<'a> {
    pub(super) held_out: &'a HeldOutClassScores,
    pub(super) forecasts: Vec<Vec<Probability>>,
}

impl Rivals<'_> {
    /// The weights of least log loss on all examples, and on all but each fold's. Those below the least
    /// weight are zero.
    pub(super) fn weights(&self) -> (Vec<f64>, Vec<Vec<f64>>) {
        let said = Said::of(self);
        let even = vec![1.0 / self.forecasts.len() as f64; self.forecasts.len()];
        let whole = said.weights(None, &even);
        let folds = 0..self.held_out.fold_count();
        let without = folds.map(|fold| said.weights(Some(fold), &whole)).collect();
        (whole, without)
    }

    /// What the members say together of each example, by weights that were found without its fold.
    pub(super) fn pooled(&self, without: &[Vec<f64>]) -> Vec<Probability> {
        let classes = self.held_out.class_count();
        let mut forecasts = self.forecasts[0].clone();
        parallel::for_each_row_mut(
            &mut forecasts,
            classes,
            ClassBuffers::default,
            |buffer, row, out| {
                let weights = &without[self.held_out.fold_of(row)];
                let sum = &mut buffer.ln_weights;
                sum.clear();
                sum.resize(classes, 0.0);
                for (said, &weight) in self.forecasts.iter().zip(weights) {
                    if weight > 0.0 {
                        let said = &said[row * classes..][..classes];
                        let each = sum.iter_mut().zip(said);
                        each.for_each(|(sum, p)| *sum += weight * p.ln().max(LEAST_LN));
                    }
                }
                buffer.probabilities_into(out);
            },
        );
        forecasts
    }
}

/// Log-probabilities of the examples that the weights are found with.
struct Said {
    classes: usize,
    members: usize,
    /// For each example and member one per class.
    ln: Vec<f64>,
    labels: Vec<usize>,
    /// The likeliest wrong class of each example, as the first member has it.
    runners_up: Vec<usize>,
    /// To what share an example counts as one of that class.
    slip: f64,
    weights: Vec<f64>,
    folds: Vec<usize>,
}

/// A step of a weight that is smaller ends the search: from there Newton's method would find the rest in one more,
/// and a weight that is off by that much costs less than a millionth of a nat an example.
const SMALL_STEP: f64 = 1e-3;

impl Said {
    fn of(rivals: &Rivals<'_>) -> Self {
        let (held_out, forecasts) = (rivals.held_out, &rivals.forecasts);
        let every = held_out.len().div_ceil(EXAMPLES);
        let rows: Vec<usize> = (0..held_out.len()).step_by(every).collect();
        let (classes, members) = (held_out.class_count(), forecasts.len());
        let mut ln = vec![0.0; rows.len() * members * classes];
        parallel::for_each_row_mut(
            &mut ln,
            members * classes,
            || (),
            |(), number, place| {
                let row = rows[number];
                for (place, said) in place.chunks_exact_mut(classes).zip(forecasts) {
                    let said = &said[row * classes..][..classes];
                    let each = place.iter_mut().zip(said);
                    each.for_each(|(ln, p)| *ln = p.ln().max(LEAST_LN));
                }
            },
        );
        let label = |&row: &usize| held_out.labels()[row] as usize;
        let runner_up = |row: &usize| {
            let (own, said) = (label(row), &forecasts[0][row * classes..][..classes]);
            let wrong = (0..classes).filter(|&class| class != own);
            let best = wrong.max_by(|&a, &b| said[a].log_odds().total_cmp(&said[b].log_odds()));
            best.unwrap_or(own)
        };
        Self {
            classes,
            members,
            ln,
            labels: rows.iter().map(label).collect(),
            runners_up: rows.iter().map(runner_up).collect(),
            slip: 1.0 / (held_out.weights().iter().sum::<f64>() + 2.0),
            weights: rows.iter().map(|&row| held_out.weights()[row]).collect(),
            folds: rows.iter().map(|&row| held_out.fold_of(row)).collect(),
        }
    }

    /// The best weights without a fold, from weights that are near.
    fn weights(&self, left_out: Option<usize>, near: &[f64]) -> Vec<f64> {
        let mut allowed: Vec<usize> = (0..self.members).collect();
        let mut weights = near.to_vec();
        loop {
            self.descend(left_out, &allowed, &mut weights);
            let weakest = allowed
                .iter()
                .copied()
                .min_by(|&a, &b| weights[a].total_cmp(&weights[b]));
            match weakest {
                Some(member) if allowed.len() > 1 && weights[member] < LEAST_WEIGHT => {
                    allowed.retain(|&other| other != member);
                    weights[member] = 0.0;
                    let total: f64 = weights.iter().sum();
                    weights.iter_mut().for_each(|weight| *weight /= total);
                }
                _ => return weights,
            }
        }
    }

    /// Moves weight between every two members until nothing is gained. The loss is convex.
    fn descend(&self, left_out: Option<usize>, allowed: &[usize], weights: &mut [f64]) {
        for _ in 0..50 {
            let mut moved = 0.0f64;
            for (place, &to) in allowed.iter().enumerate() {
                for &from in &allowed[..place] {
                    moved = moved.max(self.exchange(left_out, weights, from, to).abs());
                }
            }
            // Between two there is no more than one way to go.
            if moved < SMALL_STEP || allowed.len() <= 2 {
                break;
            }
        }
    }

    /// Moves the best amount of weight from one member to another, by Newton's method between bounds.
    fn exchange(
        &self,
        left_out: Option<usize>,
        weights: &mut [f64],
        from: usize,
        to: usize,
    ) -> f64 {
        let (mut low, mut high) = (-weights[to], weights[from]);
        let mut amount = 0.0;
        for _ in 0..40 {
            let (slope, curve) = self.slopes(left_out, weights, (from, to), amount);
            if slope > 0.0 {
                high = amount;
            } else {
                low = amount;
            }
            let newton = amount - slope / curve;
            let inside = newton > low && newton < high; // not so for NaN
            let next = if inside { newton } else { 0.5 * (low + high) };
            let step = (next - amount).abs();
            amount = next;
            if step < SMALL_STEP {
                break;
            }
        }
        weights[from] = (weights[from] - amount).max(0.0);
        weights[to] = (weights[to] + amount).max(0.0);
        amount
    }

    /// The first two derivatives of the loss by the amount that is moved.
    fn slopes(
        &self,
        left_out: Option<usize>,
        weights: &[f64],
        (from, to): (usize, usize),
        amount: f64,
    ) -> (f64, f64) {
        let mut weights = weights.to_vec();
        weights[from] -= amount;
        weights[to] += amount;
        let classes = self.classes;
        let sums = sum_in_parts(
            self.labels.len(),
            || (0.0, 0.0, vec![0.0; classes]),
            |(slope, curve, sums), rows| {
                for row in rows.filter(|&row| Some(self.folds[row]) != left_out) {
                    let ln = &self.ln[row * self.members * classes..][..self.members * classes];
                    sums.fill(0.0);
                    for (said, weight) in ln.chunks_exact(classes).zip(&weights) {
                        let each = sums.iter_mut().zip(said);
                        each.for_each(|(sum, ln)| *sum += weight * ln);
                    }
                    let top = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    sums.iter_mut()
                        .for_each(|sum| *sum = exp_of_negative(*sum - top));
                    let (ones, others) = (&ln[from * classes..][..classes], &ln[to * classes..]);
                    let (mut total, mut mean, mut square) = (0.0, 0.0, 0.0);
                    for ((p, one), other) in sums.iter().zip(ones).zip(others) {
                        let difference = other - one;
                        total += p;
                        mean += p * difference;
                        square += p * difference * difference;
                    }
                    let (mean, square) = (mean / total, square / total);
                    let of = |class: usize| others[class] - ones[class];
                    let (own, second) = (of(self.labels[row]), of(self.runners_up[row]));
                    let weight = self.weights[row];
                    *slope += weight * (mean - own + self.slip * (own - second));
                    *curve += weight * (square - mean * mean);
                }
            },
            |total, part| {
                total.0 += part.0;
                total.1 += part.1;
            },
        );
        (sums.0, sums.1)
    }
}
