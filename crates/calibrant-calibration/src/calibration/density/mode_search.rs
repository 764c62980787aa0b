//! Where is the mode of a density with two sides? An exact search.

use std::ops::Range;

use super::ClassScores;

/// Weighted deviations of the examples on one side of a point.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Deviations {
    /// The sum of weights.
    pub(super) weight: f64,
    /// The sum of distances.
    pub(super) first: f64,
    /// The sum of squared distances.
    pub(super) second: f64,
}

impl Deviations {
    /// After the point has moved away from them. Only positive numbers are added, so that nothing
    /// cancels however far the scores are from zero.
    #[inline]
    fn moved(self, gap: f64) -> Self {
        Self {
            weight: self.weight,
            first: self.first + gap * self.weight,
            second: self.second + gap * (2.0 * self.first + gap * self.weight),
        }
    }

    /// With an example at the point itself.
    #[inline]
    fn with(self, weight: f64) -> Self {
        Self {
            weight: self.weight + weight,
            ..self
        }
    }

    /// The tangent of the squared distances at a point this far away, which lies below them.
    #[inline]
    fn tangent(self, away: f64) -> Self {
        Self {
            second: self.second - self.weight * away * away,
            ..self
        }
    }
}

/// How bad a mode is, from the deviations left and right of it: positive, growing with each of
/// them, and nowhere less inside a straight line between two pairs of deviations than at both its
/// ends. Every likelihood that is linear in the deviations and maximised over its other parameters
/// is like that.
pub(super) trait ModeCost {
    fn cost(&self, left: &Deviations, right: &Deviations) -> f64;
}

impl<F: Fn(&Deviations, &Deviations) -> f64> ModeCost for F {
    #[inline]
    fn cost(&self, left: &Deviations, right: &Deviations) -> f64 {
        self(left, right)
    }
}

/// A mode and the deviations from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mode {
    pub(super) at: f64,
    pub(super) left: Deviations,
    pub(super) right: Deviations,
    cost: f64,
}

impl Mode {
    fn new(cost: &impl ModeCost, at: f64, left: Deviations, right: Deviations) -> Self {
        Self {
            at,
            left,
            right,
            cost: cost.cost(&left, &right),
        }
    }

    /// Whether a cost is clearly less.
    fn beaten_by(&self, cost: f64) -> bool {
        cost < self.cost - TOLERANCE * self.cost
    }

    fn improve(&mut self, other: Self) {
        if other.cost < self.cost {
            *self = other;
        }
    }
}

/// Costs nearer to each other than this share of them count as equal.
const TOLERANCE: f64 = 1e-14;
/// Scores between neighbouring marks, at which deviations are kept.
const BLOCK: usize = 512;

/// The best mode, at a score or between two.
///
/// As the mode moves right, deviations on the left grow and those on the right shrink. Over a
/// stretch of scores the cost is therefore at least that of the left deviations at its left end and
/// the right ones at its right end, and a stretch where this exceeds the best cost so far
/// holds nothing better. One pass in either direction gives the deviations at every 512th
/// score; the few stretches near the best of these are looked at score by score.
///
/// Between neighbouring scores distances are linear in the mode, and squared distances convex:
/// they lie above their tangent at the middle of an interval, along which the cost is least at an
/// end. This bound is too low only by a multiple of the interval's squared width, so that halving
/// an interval until the bound meets the best cost takes few steps. Where costs depend
/// on distances alone the bound is met at once: the best mode is a score.
///
/// Linear time after the sort, and exact to 14 digits of the cost.
pub(super) fn best_mode(class: &ClassScores, cost: impl ModeCost) -> Mode {
    let marks = Marks::of(class);
    let scores = class.scores();
    let mut best = Mode::new(&cost, scores[0], marks.left[0], marks.right[0]);
    for ((&at, &left), &right) in marks.at.iter().zip(&marks.left).zip(&marks.right) {
        best.improve(Mode::new(&cost, scores[at], left, right));
    }
    let (mut lefts, mut rights) = (Vec::new(), Vec::new());
    for block in 0..marks.at.len() - 1 {
        if cost.cost(&marks.left[block], &marks.right[block + 1]) >= best.cost {
            continue;
        }
        let (start, end) = (marks.at[block], marks.at[block + 1]);
        lefts.clear();
        walk_right(class, marks.left[block], start..end, |left| {
            lefts.push(left)
        });
        rights.clear();
        walk_left(class, marks.right[block + 1], start..end, |right| {
            rights.push(right)
        });
        rights.reverse();
        for ((&at, &left), &right) in scores[start..].iter().zip(&lefts).zip(&rights) {
            best.improve(Mode::new(&cost, at, left, right));
        }
        for (example, (&left, &right)) in (start..end).zip(lefts.iter().zip(&rights[1..])) {
            let interval = Interval {
                start: scores[example],
                width: scores[example + 1] - scores[example],
                left,
                right,
            };
            interval.search(&cost, &mut best);
        }
    }
    best
}

/// Deviations on the left of each score from the start of a stretch, where they are given, to its end.
#[inline]
fn walk_right(
    class: &ClassScores,
    mut left: Deviations,
    stretch: Range<usize>,
    mut visit: impl FnMut(Deviations),
) {
    visit(left);
    for example in stretch {
        let gap = class.scores()[example + 1] - class.scores()[example];
        left = left.moved(gap).with(class.weight(example + 1));
        visit(left);
    }
}

/// Deviations on the right of each score from the end of a stretch, where they are given, to its start.
#[inline]
fn walk_left(
    class: &ClassScores,
    mut right: Deviations,
    stretch: Range<usize>,
    mut visit: impl FnMut(Deviations),
) {
    visit(right);
    for example in stretch.rev() {
        let gap = class.scores()[example + 1] - class.scores()[example];
        right = right.moved(gap).with(class.weight(example));
        visit(right);
    }
}

/// Deviations at some of the scores, the first and the last among them.
struct Marks {
    at: Vec<usize>,
    left: Vec<Deviations>,
    right: Vec<Deviations>,
}

impl Marks {
    fn of(class: &ClassScores) -> Self {
        let scores = class.scores();
        let last = scores.len() - 1;
        let mut at: Vec<usize> = (0..last).step_by(BLOCK).collect();
        at.push(last);
        let mut left = vec![Deviations::default().with(class.weight(0))];
        let mut right = vec![Deviations::default().with(class.weight(last))];
        for stretch in at.windows(2) {
            let mut sums = left[left.len() - 1];
            walk_right(class, sums, stretch[0]..stretch[1], |next| sums = next);
            left.push(sums);
        }
        for stretch in at.windows(2).rev() {
            let mut sums = right[right.len() - 1];
            walk_left(class, sums, stretch[0]..stretch[1], |next| sums = next);
            right.push(sums);
        }
        right.reverse();
        Self { at, left, right }
    }
}

/// The stretch between two neighbouring scores: deviations on the left of its left end and on the
/// right of its right end.
struct Interval {
    start: f64,
    width: f64,
    left: Deviations,
    right: Deviations,
}

impl Interval {
    /// Halves the interval as long as a part of it may hold something better.
    fn search(&self, cost: &impl ModeCost, best: &mut Mode) {
        if !best.beaten_by(cost.cost(&self.left, &self.right)) {
            return;
        }
        let at = |step: f64| (self.left.moved(step), self.right.moved(self.width - step));
        let mut open = vec![(0.0, self.width)];
        while let Some((from, to)) = open.pop() {
            let half = 0.5 * (to - from);
            let middle = from + half;
            let ends = [at(from), at(to)];
            if middle <= from || middle >= to || !best.beaten_by(cost.cost(&ends[0].0, &ends[1].1))
            {
                continue;
            }
            let tangents = ends.map(|(left, right)| (left.tangent(half), right.tangent(half)));
            // A tangent below zero is no sum of squares, so the bound above is used.
            let bounded = tangents
                .iter()
                .all(|(left, right)| left.second >= 0.0 && right.second >= 0.0);
            let mut bounds = tangents.iter().map(|(left, right)| cost.cost(left, right));
            if bounded && !bounds.any(|bound| best.beaten_by(bound)) {
                continue;
            }
            let (left, right) = at(middle);
            best.improve(Mode::new(cost, self.start + middle, left, right));
            open.push((middle, to));
            open.push((from, middle));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Side;
    use super::*;
    use crate::numeric::Random;
    use proptest::prelude::*;

    fn brute(examples: &[(f64, f64)], at: f64) -> (Deviations, Deviations) {
        let side = |left: bool| {
            let mut sums = Deviations::default();
            for &(score, weight) in examples {
                if if left { score <= at } else { score >= at } {
                    let distance = (score - at).abs();
                    sums.weight += weight;
                    sums.first += weight * distance;
                    sums.second += weight * distance * distance;
                }
            }
            sums
        };
        (side(true), side(false))
    }

    fn cubes(left: &Deviations, right: &Deviations) -> f64 {
        left.second.cbrt() + right.second.cbrt()
    }

    fn roots(left: &Deviations, right: &Deviations) -> f64 {
        left.first.sqrt() + right.first.sqrt()
    }

    fn mixed(left: &Deviations, right: &Deviations) -> f64 {
        left.first.sqrt() + right.second.cbrt()
    }

    fn check(examples: &[(f64, f64)], cost: fn(&Deviations, &Deviations) -> f64, steps: usize) {
        let class = ClassScores::new(examples, Side::Left, 1.0).unwrap();
        let found = best_mode(&class, cost);
        let (left, right) = brute(examples, found.at);
        assert!((found.left.first - left.first).abs() <= 1e-9 * (1.0 + left.first));
        assert!((found.right.second - right.second).abs() <= 1e-9 * (1.0 + right.second));
        let (low, high) = (class.scores()[0], *class.scores().last().unwrap());
        let grid = (0..=steps).map(|step| low + (high - low) * step as f64 / steps as f64);
        for at in grid.chain(class.scores().iter().copied()) {
            let (left, right) = brute(examples, at);
            let other = cost(&left, &right);
            assert!(
                found.cost <= other * (1.0 + 1e-12),
                "{} at {} but {other} at {at}",
                found.cost,
                found.at
            );
        }
    }

    proptest! {
        #[test]
        fn no_mode_on_a_fine_grid_is_better(
            examples in prop::collection::vec((-5.0f64..5.0, 0.2f64..3.0), 1..30),
        ) {
            for cost in [cubes, roots, mixed] {
                check(&examples, cost, 2000);
            }
        }

        #[test]
        fn nor_with_many_ties(examples in prop::collection::vec((-4i8..4, 1u8..4), 1..40)) {
            let examples: Vec<(f64, f64)> =
                examples.into_iter().map(|(s, w)| (f64::from(s), f64::from(w))).collect();
            for cost in [cubes, roots, mixed] {
                check(&examples, cost, 500);
            }
        }
    }

    #[test]
    fn many_scores_are_searched_as_thoroughly() {
        let mut random = Random::from_seed(5);
        let heap: Vec<(f64, f64)> = (0..3000).map(|_| (random.normal(), 1.0)).collect();
        // The cost of evenly spread scores hardly depends on the mode.
        let even: Vec<(f64, f64)> = (0..3000).map(|i| (f64::from(i), 1.0)).collect();
        for cost in [cubes, roots, mixed] {
            check(&heap, cost, 500);
            check(&even, cost, 500);
        }
    }
}
