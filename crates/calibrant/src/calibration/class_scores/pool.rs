//! Several ways for many classes as one, each with its weight.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{ClassRoom, HeldOutClassScores, SavedMulticlassCalibrator as Saved, bounded};
use crate::Probability;
use crate::numeric::log_sum_exp;
use crate::solvers::sum_in_parts;

/// Several calibrators of the same classes, weighed rather than chosen from.
///
/// # Formula
/// ```text
/// P(c) ∝ Π_m P_m(c)^{w_m},     w_m ≥ 0,  Σ w_m = 1
/// ```
/// The weights have the least log loss over held-out examples, each forecast by members that were fitted without
/// its fold. Since they sum to one, members that are each calibrated are at most made more cautious. A
/// member whose weight would be below 0.05 is left out.
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
                && !matches!(member.calibrator, Saved::Pool(_))
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

    pub(super) fn ln_weights_into(&self, scores: &[f64], room: &mut ClassRoom) {
        let mut sum = std::mem::take(&mut room.pooled);
        sum.clear();
        sum.resize(scores.len(), 0.0);
        for member in &self.members {
            member.calibrator.ln_weights_into(scores, room);
            // What all classes have in common does not matter; near zero it costs no digits.
            let top = room.ln_weights.iter().copied().fold(f64::MIN, f64::max);
            for (sum, weight) in sum.iter_mut().zip(&room.ln_weights) {
                *sum += member.weight * (weight - top);
            }
        }
        room.ln_weights.clear();
        room.ln_weights
            .extend(sum.iter().map(|&weight| bounded(weight)));
        room.pooled = sum;
    }
}

/// What members say of examples they were not fitted to: for each member, example after example.
pub(super) struct Rivals<'a> {
    pub(super) held_out: &'a HeldOutClassScores,
    pub(super) forecasts: Vec<Vec<Probability>>,
}

impl Rivals<'_> {
    /// The weights of least log loss on all examples, or on all but a fold's. Those below the least
    /// weight are zero.
    pub(super) fn weights(&self, left_out: Option<usize>) -> Vec<f64> {
        let every = self.held_out.len().div_ceil(EXAMPLES);
        let rows: Vec<usize> = (0..self.held_out.len())
            .step_by(every)
            .filter(|&row| Some(self.held_out.fold_of(row)) != left_out)
            .collect();
        let mut allowed: Vec<usize> = (0..self.forecasts.len()).collect();
        loop {
            let mut weights = vec![0.0; self.forecasts.len()];
            for &member in &allowed {
                weights[member] = 1.0 / allowed.len() as f64;
            }
            self.descend(&rows, &allowed, &mut weights);
            let weakest = allowed
                .iter()
                .copied()
                .min_by(|&a, &b| weights[a].total_cmp(&weights[b]));
            match weakest {
                Some(member) if allowed.len() > 1 && weights[member] < LEAST_WEIGHT => {
                    allowed.retain(|&other| other != member);
                }
                _ => return weights,
            }
        }
    }

    /// Moves weight between every two members until nothing is gained. The loss is convex.
    fn descend(&self, rows: &[usize], allowed: &[usize], weights: &mut [f64]) {
        for _ in 0..50 {
            let mut moved = 0.0f64;
            for (place, &to) in allowed.iter().enumerate() {
                for &from in &allowed[..place] {
                    moved = moved.max(self.exchange(rows, weights, from, to).abs());
                }
            }
            if moved < 1e-4 {
                break;
            }
        }
    }

    /// Moves the best amount of weight from one member to another, by Newton's method between bounds.
    fn exchange(&self, rows: &[usize], weights: &mut [f64], from: usize, to: usize) -> f64 {
        let (mut low, mut high) = (-weights[to], weights[from]);
        let mut amount = 0.0;
        for _ in 0..40 {
            let (slope, curve) = self.slopes(rows, weights, (from, to), amount);
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
            if step < 1e-5 {
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
        rows: &[usize],
        weights: &[f64],
        (from, to): (usize, usize),
        amount: f64,
    ) -> (f64, f64) {
        let classes = self.held_out.class_count();
        let ln = |member: usize, row: usize, class: usize| {
            self.forecasts[member][row * classes + class]
                .ln()
                .max(LEAST_LN)
        };
        let sums = sum_in_parts(
            rows.len(),
            || (0.0, 0.0, vec![0.0; classes]),
            |(slope, curve, sums), places| {
                for &row in &rows[places] {
                    let difference = |class| ln(to, row, class) - ln(from, row, class);
                    for (class, sum) in sums.iter_mut().enumerate() {
                        let parts = weights
                            .iter()
                            .enumerate()
                            .filter(|(_, weight)| **weight > 0.0);
                        let said: f64 = parts.map(|(m, weight)| weight * ln(m, row, class)).sum();
                        *sum = said + amount * difference(class);
                    }
                    let total = log_sum_exp(sums);
                    let (mut mean, mut square) = (0.0, 0.0);
                    for (class, sum) in sums.iter().enumerate() {
                        let (p, d) = ((sum - total).exp(), difference(class));
                        mean += p * d;
                        square += p * d * d;
                    }
                    let weight = self.held_out.weights()[row];
                    let label = self.held_out.labels()[row] as usize;
                    *slope += weight * (mean - difference(label));
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

    /// What the members say together of each example, by weights that were found without its fold.
    pub(super) fn pooled(&self) -> Vec<Probability> {
        let classes = self.held_out.class_count();
        let of_fold: Vec<Vec<f64>> = (0..self.held_out.fold_count())
            .map(|fold| self.weights(Some(fold)))
            .collect();
        let mut forecasts = self.forecasts[0].clone();
        forecasts
            .par_chunks_exact_mut(classes)
            .enumerate()
            .for_each_init(ClassRoom::default, |room, (row, out)| {
                let weights = &of_fold[self.held_out.fold_of(row)];
                room.fill((0..classes).map(|class| {
                    let said = self.forecasts.iter().zip(weights);
                    let said = said.filter(|(_, weight)| **weight > 0.0);
                    said.map(|(p, weight)| weight * p[row * classes + class].ln().max(LEAST_LN))
                        .sum()
                }));
                room.probabilities_into(out);
            });
        forecasts
    }
}
