//! The planes found so far, and the small quadratic program over them.

use super::dot;
use crate::solvers::Factor;

/// Planes `d - w·g` that support an objective from below, with the best mixture of them.
///
/// # Formula
/// ```text
/// max over α of  Σ_k α_k d_k - ½|Σ_k α_k g_k|²   subject to α >= 0,  Σ_{k in group} α_k <= capacity of the group
/// ```
/// Planes stand in groups (all in one, or one per example); what a group's planes leave of its capacity
/// belongs to a plane of zeros. Solved by moving weight between the two planes of a group where
/// this gains most, as sequential minimal optimisation does for support vector machines: the plane with the
/// largest slope `d_k - w·g_k` receives, and the giver is chosen by the gain of the whole step. The
/// gap to the optimum is `Σ_groups (capacity · max(0, largest slope) - Σ α_k slope_k)`. Planes that are nearly
/// dependent make such moves tiny; where very many have not been enough, the planes that hold weight are solved for together.
///
/// Inner products of planes are kept, so that a step costs one pass over numbers of planes, and not over features.
///
/// # References
/// Platt 1999 (minimal steps); Fan, Chen & Lin, JMLR 2005 (choosing the pair by second-order gain).
#[derive(Debug, Clone, Default)]
pub struct PlaneSet {
    planes: Vec<Plane>,
    /// Row `k` holds the products with all planes.
    products: Vec<Vec<f64>>,
    /// Of the products and the mixture at hand.
    slopes: Vec<f64>,
    groups: usize,
}

#[derive(Debug, Clone)]
struct Plane {
    direction: Vec<f64>,
    loss: f64,
    group: usize,
    share: f64,
    idle_rounds: usize,
}

/// How often planes are solved for together, and for how many at most.
const MOST_SOLUTIONS: usize = 20;
const MOST_TOGETHER: usize = 400;
/// What is added to the squared lengths of planes then, as a share of their mean, so that dependent ones can be solved for.
const RIDGE: f64 = 1e-10;

/// Planes that stay without weight for this many rounds are dropped.
const IDLE_LIMIT: usize = 60;

impl PlaneSet {
    /// How many planes there are.
    pub fn len(&self) -> usize {
        self.planes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.planes.is_empty()
    }

    /// Another plane, without weight so far.
    pub(super) fn push(&mut self, direction: Vec<f64>, loss: f64, group: usize) {
        let mut products: Vec<f64> = self
            .planes
            .iter()
            .map(|plane| dot(&plane.direction, &direction))
            .collect();
        for (row, &product) in self.products.iter_mut().zip(&products) {
            row.push(product);
        }
        products.push(dot(&direction, &direction));
        self.products.push(products);
        self.planes.push(Plane {
            direction,
            loss,
            group,
            share: 0.0,
            idle_rounds: 0,
        });
    }

    /// Makes planes of an earlier call fit this one: those of another problem are forgotten, and those
    /// found for another `C` keep their shares of the current capacity.
    pub(super) fn scale_to(&mut self, capacity: f64, groups: usize, dimension: usize) {
        let fits = |plane: &Plane| plane.group < groups && plane.direction.len() == dimension;
        if self.groups != groups || !self.planes.iter().all(fits) {
            *self = Self::default();
        }
        self.groups = groups;
        let mut held = vec![0.0; groups];
        for plane in &self.planes {
            held[plane.group] += plane.share;
        }
        for plane in &mut self.planes {
            let full = held[plane.group];
            if full > 0.0 {
                plane.share *= capacity / full;
            }
        }
    }

    /// Moves weight until the gap of the program is at most `tolerance`, and then once more in each group that is not yet
    /// settled: a move raises the value, though not always the bound that the gap is measured by.
    pub(super) fn optimise(&mut self, capacity: f64, groups: usize, tolerance: f64) {
        let count = self.planes.len();
        self.slopes = (0..count).map(|k| self.slope(k)).collect();
        let members = self.members(groups);
        let mut left: Vec<f64> = members
            .iter()
            .map(|group| capacity - group.iter().map(|&k| self.planes[k].share).sum::<f64>())
            .map(|left| left.max(0.0))
            .collect();
        // Without a tolerance nothing is near enough, and no more than the usual moves are worth their time. The
        // outer gap is computed from the weights that result.
        let solutions = if tolerance > 0.0 { MOST_SOLUTIONS } else { 0 };
        for solution in 0..=solutions {
            let is_done = self.move_between(&members, &mut left, capacity, tolerance);
            if is_done || solution == solutions || !self.solve_together(&members, &mut left) {
                break;
            }
        }
        for plane in &mut self.planes {
            plane.idle_rounds = if plane.share > 0.0 {
                0
            } else {
                plane.idle_rounds + 1
            };
        }
    }

    /// Moves of weight between two planes of a group; whether they have come to an end.
    fn move_between(
        &mut self,
        members: &[Vec<usize>],
        left: &mut [f64],
        capacity: f64,
        tolerance: f64,
    ) -> bool {
        let step_limit = 200 * self.planes.len() + 10_000;
        let mut steps = 0;
        while steps < step_limit {
            let mut gap = 0.0;
            let before = steps;
            for (group, members) in members.iter().enumerate() {
                let found = self.group_gap(members, capacity);
                gap += found;
                let least = 0.5 * tolerance / left.len() as f64;
                if found > least && self.step(members, &mut left[group]) {
                    steps += 1;
                }
            }
            if gap <= tolerance || steps == before {
                return true;
            }
        }
        false
    }

    /// The best mixture of the planes that hold weight, by Newton's method: those that would have less than none are
    /// left out one after the other, and a group that would have more than its capacity keeps to it. Whether anything moved.
    ///
    /// # Formula
    /// With `P` the products and `s` the slopes of these planes and `E` telling which of the groups without capacity
    /// they belong to, the move is `p = P⁻¹(s - Eλ)` with `λ = (E'P⁻¹E)⁻¹ E'P⁻¹s`, so that `E'p = 0`.
    fn solve_together(&mut self, members: &[Vec<usize>], left: &mut [f64]) -> bool {
        let mut free: Vec<usize> = (0..self.planes.len())
            .filter(|&k| self.planes[k].share > 0.0)
            .collect();
        let mut moved = false;
        while !free.is_empty() && free.len() <= MOST_TOGETHER {
            let Some(way) = self.way_together(&free, left) else {
                break;
            };
            let mut rise = vec![0.0; members.len()];
            for (&k, way) in free.iter().zip(&way) {
                rise[self.planes[k].group] += way;
            }
            // How far until a plane or a group is empty, and which.
            let planes = free.iter().zip(&way).enumerate();
            let of_planes = planes
                .filter(|(_, (_, way))| **way < 0.0)
                .map(|(place, (&k, way))| (self.planes[k].share / -way, Some(place), 0));
            let of_groups = (0..members.len())
                .filter(|&group| left[group] > 0.0 && rise[group] > 0.0)
                .map(|group| (left[group] / rise[group], None, group));
            let first = of_planes
                .chain(of_groups)
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .filter(|limit| limit.0 < 1.0);
            let length = first.map_or(1.0, |limit| limit.0);
            for (&k, way) in free.iter().zip(&way) {
                let share = &mut self.planes[k].share;
                *share = (*share + length * way).max(0.0);
            }
            for (left, rise) in left.iter_mut().zip(&rise).filter(|(left, _)| **left > 0.0) {
                *left = (*left - length * rise).max(0.0);
            }
            moved = true;
            self.slopes = (0..self.planes.len()).map(|k| self.slope(k)).collect();
            match first {
                Some((_, Some(place), _)) => self.planes[free.remove(place)].share = 0.0,
                Some((_, None, group)) => left[group] = 0.0,
                None => break,
            }
        }
        moved
    }

    /// Newton's move for some planes, or `None` where rounding leaves nothing of it.
    fn way_together(&self, free: &[usize], left: &[f64]) -> Option<Vec<f64>> {
        let products = free
            .iter()
            .flat_map(|&a| free.iter().map(move |&b| self.product(a, b)));
        let lengths: f64 = free.iter().map(|&k| self.product(k, k)).sum();
        let ridge = RIDGE * lengths / free.len() as f64;
        let factor = Factor::of(products.collect(), &vec![ridge; free.len()]);
        let mut way: Vec<f64> = free.iter().map(|&k| self.slopes[k]).collect();
        factor.solve(&mut way);
        let mut full: Vec<usize> = free.iter().map(|&k| self.planes[k].group).collect();
        full.sort_unstable();
        full.dedup();
        full.retain(|&group| left[group] <= 0.0);
        let is_in = |&k: &usize, group: usize| f64::from(self.planes[k].group == group);
        let shifts: Vec<Vec<f64>> = full
            .iter()
            .map(|&group| {
                let mut shift: Vec<f64> = free.iter().map(|k| is_in(k, group)).collect();
                factor.solve(&mut shift);
                shift
            })
            .collect();
        let sum_in = |values: &[f64], group: usize| -> f64 {
            let pairs = free.iter().zip(values);
            pairs.map(|(k, value)| is_in(k, group) * value).sum()
        };
        let sums = full
            .iter()
            .flat_map(|&group| shifts.iter().map(move |shift| sum_in(shift, group)));
        let sums = Factor::of(sums.collect(), &vec![0.0; full.len()]);
        let mut amounts: Vec<f64> = full.iter().map(|&group| sum_in(&way, group)).collect();
        sums.solve(&mut amounts);
        for (shift, amount) in shifts.iter().zip(&amounts) {
            for (way, shift) in way.iter_mut().zip(shift) {
                *way -= amount * shift;
            }
        }
        // Rounding must not add capacity.
        for &group in &full {
            let planes: f64 = free.iter().map(|k| is_in(k, group)).sum();
            let too_much = sum_in(&way, group) / planes;
            for (k, way) in free.iter().zip(&mut way) {
                *way -= is_in(k, group) * too_much;
            }
        }
        let gain: f64 = free
            .iter()
            .zip(&way)
            .map(|(&k, way)| self.slopes[k] * way)
            .sum();
        (gain > 0.0 && way.iter().all(|way| way.is_finite())).then_some(way)
    }

    fn members(&self, groups: usize) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); groups];
        for (k, plane) in self.planes.iter().enumerate() {
            members[plane.group].push(k);
        }
        members
    }

    fn product(&self, a: usize, b: usize) -> f64 {
        self.products[a][b]
    }

    fn slope(&self, k: usize) -> f64 {
        let mixed: f64 = self
            .planes
            .iter()
            .enumerate()
            .filter(|(_, plane)| plane.share > 0.0)
            .map(|(other, plane)| plane.share * self.product(k, other))
            .sum();
        self.planes[k].loss - mixed
    }

    fn group_gap(&self, members: &[usize], capacity: f64) -> f64 {
        let mut largest = 0.0f64;
        let mut mixed = 0.0;
        for &k in members {
            largest = largest.max(self.slopes[k]);
            mixed += self.planes[k].share * self.slopes[k];
        }
        capacity * largest - mixed
    }

    /// One move of weight within a group; `left` is what the plane of zeros holds. Whether anything moved.
    fn step(&mut self, members: &[usize], left: &mut f64) -> bool {
        // `None` is the plane of zeros: slope, products and loss are zero.
        let mut to = None;
        let mut top = 0.0;
        for &k in members {
            if self.slopes[k] > top {
                (to, top) = (Some(k), self.slopes[k]);
            }
        }
        let length = to.map_or(0.0, |k| self.product(k, k));
        let mut from = None;
        let mut best = 0.0;
        let givers = members
            .iter()
            .copied()
            .filter(|&k| self.planes[k].share > 0.0 && Some(k) != to)
            .map(Some)
            .chain((*left > 0.0 && to.is_some()).then_some(None));
        for giver in givers {
            let slope = giver.map_or(0.0, |k| self.slopes[k]);
            if slope >= top {
                continue;
            }
            let bend = self.bend(to, giver, length);
            let capacity = giver.map_or(*left, |k| self.planes[k].share);
            let step = move_size(top - slope, bend, capacity);
            let gain = step * (top - slope) - 0.5 * step * step * bend;
            if gain > best {
                best = gain;
                from = Some((giver, step, step >= capacity));
            }
        }
        let Some((giver, step, all)) = from else {
            return false;
        };
        match giver {
            Some(k) if all => self.planes[k].share = 0.0,
            Some(k) => self.planes[k].share -= step,
            None => *left = if all { 0.0 } else { *left - step },
        }
        match to {
            Some(k) => self.planes[k].share += step,
            None => *left += step,
        }
        for (plane, amount) in [(giver, step), (to, -step)] {
            let Some(row) = plane.map(|k| &self.products[k]) else {
                continue;
            };
            for (slope, product) in self.slopes.iter_mut().zip(row) {
                *slope += amount * product;
            }
        }
        true
    }

    /// `|g_to - g_from|²`.
    fn bend(&self, to: Option<usize>, from: Option<usize>, length: f64) -> f64 {
        let other = from.map_or(0.0, |k| self.product(k, k));
        let both = match (to, from) {
            (Some(a), Some(b)) => self.product(a, b),
            _ => 0.0,
        };
        (length + other - 2.0 * both).max(0.0)
    }

    /// `Σ α_k g_k`, and the value of the program there.
    pub(super) fn mixture(&self, dimension: usize) -> (Vec<f64>, f64) {
        let mut weights = vec![0.0; dimension];
        let mut value = 0.0;
        for plane in self.planes.iter().filter(|plane| plane.share > 0.0) {
            value += plane.share * plane.loss;
            for (weight, g) in weights.iter_mut().zip(&plane.direction) {
                *weight += plane.share * g;
            }
        }
        value -= 0.5 * dot(&weights, &weights);
        (weights, value)
    }

    /// The largest slope of a group's planes at `weights`, or zero.
    pub(super) fn slack_of(&self, weights: &[f64], group: usize) -> f64 {
        self.planes
            .iter()
            .filter(|plane| plane.group == group)
            .map(|plane| plane.loss - dot(weights, &plane.direction))
            .fold(0.0, f64::max)
    }

    /// Forgets planes that have long been without weight.
    pub(super) fn drop_idle(&mut self) {
        let keep: Vec<bool> = self
            .planes
            .iter()
            .map(|plane| plane.idle_rounds <= IDLE_LIMIT)
            .collect();
        if keep.iter().all(|&keep| keep) {
            return;
        }
        let kept = |values: Vec<f64>| -> Vec<f64> {
            let with = values.into_iter().zip(&keep);
            with.filter_map(|(value, &keep)| keep.then_some(value))
                .collect()
        };
        let products = std::mem::take(&mut self.products);
        self.products = products
            .into_iter()
            .zip(&keep)
            .filter_map(|(row, &keep)| keep.then(|| kept(row)))
            .collect();
        self.planes.retain(|plane| plane.idle_rounds <= IDLE_LIMIT);
        self.slopes.clear();
    }
}

/// How much to move: to the top of the parabola, or all there is.
fn move_size(slope: f64, bend: f64, capacity: f64) -> f64 {
    if slope >= bend * capacity {
        capacity
    } else {
        slope / bend
    }
}
