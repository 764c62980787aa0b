//! Logistic curves with a handful of parameters.

mod expansion;

use std::ops::Range;

use crate::{CalibrationError, parallel};
use expansion::Expansion;

/// Minimises `Σ w_i (softplus(z_i) - t_i z_i)` with `z_i = θ·f_i` by Newton's method with
/// damping, where `t_i` in [0, 1] is a (soft) target.
///
/// `examples()` gives every `(f, t, w)` and is called once a step. The Hessian gets a ridge of
/// 1e-14 of its trace (or 1e-10 if that is too little) so that a direction without data stays put. Ends when the gradient is below
/// `tolerance` (1e-9 is a good answer, 1e-6 a fair one) of the total weight, or when no step
/// improves the value any more (or a hundred were made) and the gradient is below `1e-5` of it;
/// else an error says where it stopped.
///
/// Where there are very many examples, a small share of them is fitted first, unless `start` is
/// already as good as that share could tell: two or three looks at all of them are then enough.
///
/// # Reference
/// Newton's method for Platt's curve: Lin, Lin & Weng, Machine Learning 68 (2007).
pub fn newton_logistic<const D: usize, I>(
    method: &'static str,
    start: [f64; D],
    tolerance: f64,
    examples: impl Fn() -> I + Sync,
) -> Result<[f64; D], CalibrationError>
where
    I: Iterator<Item = ([f64; D], f64, f64)>,
{
    let whole = Parts {
        ranges: std::iter::once(0..0).collect(),
        examples: |_| examples(),
    };
    whole.minimise(method, start, tolerance)
}

/// As [`newton_logistic`] where `examples` gives those of a range below `count`: very many are looked at on all threads.
pub fn newton_logistic_of<const D: usize, I>(
    method: &'static str,
    start: [f64; D],
    tolerance: f64,
    count: usize,
    examples: impl Fn(Range<usize>) -> I + Sync,
) -> Result<[f64; D], CalibrationError>
where
    I: Iterator<Item = ([f64; D], f64, f64)>,
{
    let parts = Parts {
        ranges: parallel::parts_of(count),
        examples,
    };
    parts.minimise(method, start, tolerance)
}

/// The value that [`newton_logistic`] minimises at a point, its gradient and its Hessian (the lower half).
pub fn logistic_expansion<const D: usize>(
    theta: &[f64; D],
    examples: impl Iterator<Item = ([f64; D], f64, f64)>,
) -> (f64, [f64; D], [[f64; D]; D]) {
    let here = Expansion::at(theta, examples);
    (here.value, here.gradient, here.hessian)
}

/// From so many examples on, a share is fitted first.
const MANY: usize = 1 << 16;
/// How many examples of each class that share has.
const SHARE: usize = 1 << 13;

/// Examples in parts that threads look at apart.
struct Parts<F> {
    ranges: Vec<Range<usize>>,
    examples: F,
}

impl<const D: usize, I, F> Parts<F>
where
    I: Iterator<Item = ([f64; D], f64, f64)>,
    F: Fn(Range<usize>) -> I + Sync,
{
    fn minimise(
        &self,
        method: &'static str,
        start: [f64; D],
        tolerance: f64,
    ) -> Result<[f64; D], CalibrationError> {
        let start = self.coarse_start(start).unwrap_or(start);
        descend(method, start, tolerance, &|theta| self.at(theta))
    }

    fn of(&self, part: usize) -> I {
        (self.examples)(self.ranges[part].clone())
    }

    fn map<T: Send>(&self, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
        parallel::map_indices(self.ranges.len(), of)
    }

    fn at(&self, theta: &[f64; D]) -> Expansion<D> {
        let parts = self.map(|part| Expansion::at(theta, self.of(part)));
        parts
            .into_iter()
            .fold(Expansion::default(), Expansion::plus)
    }

    /// The answer for a share of the examples: up to [`SHARE`] of those with targets below one half
    /// and as many of the others, evenly spaced, each standing for those it was chosen from. `None`
    /// where there are few, or where `start` is no further from the share's answer than chance.
    fn coarse_start(&self, start: [f64; D]) -> Option<[f64; D]> {
        let sizes = (0..self.ranges.len()).map(|part| self.of(part).size_hint().0);
        if sizes.sum::<usize>() < MANY {
            return None;
        }
        let share = self.share();
        let share = || share.iter().copied();
        let here = Expansion::at(&start, share());
        let step = here.newton_step(None)?;
        // Twice the gain that a step promises is about as large as there are parameters, in units of
        // an example's weight, if only chance separates the two answers.
        let unit = here.weight / share().count() as f64;
        if dot(&here.gradient, &step) <= 4.0 * D as f64 * unit {
            return None;
        }
        let at = |theta: &[f64; D]| Expansion::at(theta, share());
        descend("the first guess", start, 1e-4, &at).ok()
    }

    fn share(&self) -> Vec<([f64; D], f64, f64)> {
        let counts = self.map(|part| {
            let mut counts = [0usize; 2];
            self.of(part)
                .for_each(|(_, target, _)| counts[usize::from(target > 0.5)] += 1);
            counts
        });
        let total = |class: usize| counts.iter().map(|counts| counts[class]).sum::<usize>();
        let strides = [0, 1].map(|class| total(class).div_ceil(SHARE).max(1));
        let share = self.map(|part| {
            // How many of the class are passed over until the next one is taken.
            let mut left = [0, 1].map(|class| {
                let before: usize = counts[..part].iter().map(|counts| counts[class]).sum();
                before.next_multiple_of(strides[class]) - before
            });
            let mut share = Vec::new();
            for (features, target, weight) in self.of(part) {
                let class = usize::from(target > 0.5);
                if left[class] == 0 {
                    share.push((features, target, weight * strides[class] as f64));
                    left[class] = strides[class];
                }
                left[class] -= 1;
            }
            share
        });
        share.concat()
    }
}

/// Newton's method from a start.
///
/// A step that does not lower the value is tried again with a share of the largest possible
/// curvature added to the one at hand: where all examples are far from undecided, the latter is
/// next to nothing and a plain step would lead anywhere. With all of it added a step cannot fail
/// (Böhning & Lindsay 1988).
fn descend<const D: usize>(
    method: &'static str,
    start: [f64; D],
    tolerance: f64,
    at: &impl Fn(&[f64; D]) -> Expansion<D>,
) -> Result<[f64; D], CalibrationError> {
    let mut theta = start;
    let mut here = at(&theta);
    if here.value.is_nan() || here.value > here.weight * std::f64::consts::LN_2 {
        // Worse than calling every example undecided: nothing is known, and little curvature to
        // find the way by.
        theta = [0.0; D];
        here = at(&theta);
    }
    let (mut damping, mut bound) = (0.0, None);
    let finish = |iterations, theta, here: &Expansion<D>| {
        let gradient = here.gradient_size();
        if gradient <= 1e-5 * here.weight {
            Ok(theta)
        } else {
            Err(CalibrationError::NotConverged {
                method,
                iterations,
                gradient,
            })
        }
    };
    let most = 100;
    for iteration in 0..most {
        let size = here.gradient_size();
        if size <= tolerance * here.weight {
            return Ok(theta);
        }
        // Near the answer the value's gain drowns in rounding; the gradient still tells.
        let better = |there: &Expansion<D>, slope: f64| {
            let level = there.value <= here.value + 1e-12 * (1.0 + here.value.abs());
            let flatter = level && there.gradient_size() < 0.5 * size;
            there.value < here.value + 1e-4 * slope || flatter
        };
        let moved = loop {
            // The curvature where every example is undecided; it is nowhere larger.
            let bound =
                (damping > 0.0).then(|| *bound.get_or_insert_with(|| at(&[0.0; D]).hessian));
            if let Some(step) = here.newton_step(bound.as_ref().map(|bound| (damping, bound))) {
                let tried = std::array::from_fn(|i| theta[i] - step[i]);
                let there = at(&tried);
                if better(&there, -dot(&here.gradient, &step)) {
                    let steep = dot(&here.gradient, &step);
                    break Some(extend(&theta, step, steep, (tried, there), at));
                }
            }
            if damping >= 1.0 {
                break None;
            }
            damping = (16.0 * damping).max(1.0 / 4096.0);
        };
        let Some(moved) = moved else {
            // The value cannot be told from its neighbours any more.
            return finish(iteration, theta, &here);
        };
        (theta, here) = moved;
        damping = if damping > 1.0 / 4096.0 {
            damping / 256.0
        } else {
            0.0
        };
    }
    finish(most, theta, &here)
}

/// Goes on in the direction of a step, twice as far each time, as long as it leads down nearly as
/// steeply as at its beginning: far from the answer many a plain step covers a small part of the way.
fn extend<const D: usize>(
    theta: &[f64; D],
    step: [f64; D],
    steep: f64,
    reached: ([f64; D], Expansion<D>),
    at: &impl Fn(&[f64; D]) -> Expansion<D>,
) -> ([f64; D], Expansion<D>) {
    let (mut place, mut here) = reached;
    let mut length = 1.0;
    while dot(&here.gradient, &step) > 0.5 * steep && length < 1e9 {
        length *= 2.0;
        let tried = std::array::from_fn(|i| theta[i] - length * step[i]);
        let there = at(&tried);
        // Written so that not-a-number ends it, too.
        if there.value < here.value {
            (place, here) = (tried, there);
        } else {
            break;
        }
    }
    (place, here)
}

fn dot<const D: usize>(a: &[f64; D], b: &[f64; D]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::sigmoid;

    #[test] // One parameter, targets all 3/4: the curve must pass through ln 3 there.
    fn a_constant_target_gives_its_log_odds() {
        let examples = || (0..10).map(|_| ([1.0], 0.75, 2.0));
        let [theta] = newton_logistic("test", [0.0], 1e-9, examples).unwrap();
        assert!((theta - 3f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn parts_on_any_number_of_threads_give_the_answer_of_the_whole() {
        let mut random = crate::numeric::Random::from_seed(2);
        let examples: Vec<([f64; 2], f64, f64)> = (0..3 * MANY + 5)
            .map(|i| {
                let score = random.normal();
                let target = f64::from(u8::from(random.uniform() < sigmoid(2.0 * score - 1.0)));
                ([1.0, score], target, 1.0 + (i % 3) as f64)
            })
            .collect();
        let all = || examples.iter().copied();
        let whole = newton_logistic("test", [0.0; 2], 1e-9, all).unwrap();
        let of = |part: Range<usize>| examples[part].iter().copied();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let fit = || newton_logistic_of("test", [0.0; 2], 1e-9, examples.len(), of);
            pool.build().unwrap().install(fit).unwrap()
        };
        let parts = on(1);
        assert_eq!(parts, on(3));
        // The same share is fitted first: only sums are rounded otherwise.
        let apart = |(a, b): (f64, f64)| (a - b).abs();
        assert!(whole.into_iter().zip(parts).map(apart).fold(0.0, f64::max) < 1e-12);
        let gradient = Expansion::at(&whole, all()).gradient_size();
        assert!(gradient < 1e-9 * (2 * examples.len()) as f64);
    }

    #[test]
    fn a_start_far_away_is_no_obstacle() {
        // Every example is as good as decided at the start, half of them wrongly.
        let examples =
            || (-20..=20).map(|i| ([1.0, f64::from(i)], f64::from(u8::from(i % 3 == 0)), 1.0));
        let answer = newton_logistic("test", [0.0; 2], 1e-9, examples).unwrap();
        for start in [[-700.0, 0.0], [0.0, 30.0], [300.0, -900.0], [1e6, 1e6]] {
            let found = newton_logistic("test", start, 1e-9, examples).unwrap();
            for (found, expected) in found.iter().zip(answer) {
                assert!((found - expected).abs() < 1e-7, "{found} {expected}");
            }
        }
    }

    #[test]
    fn the_gradient_vanishes_at_the_answer() {
        let features = |i: i32| [1.0, f64::from(i) / 10.0 - 2.0, f64::from((i * 7) % 5)];
        let target = |i: i32| f64::from(u8::from(i % 3 != 0));
        let examples = || (0..40).map(|i| (features(i), target(i), 1.0));
        let theta = newton_logistic("test", [0.0; 3], 1e-9, examples).unwrap();
        for axis in 0..3 {
            let gradient: f64 = (0..40)
                .map(|i| (sigmoid(dot(&theta, &features(i))) - target(i)) * features(i)[axis])
                .sum();
            assert!(gradient.abs() < 1e-7, "{gradient}");
        }
    }
}
