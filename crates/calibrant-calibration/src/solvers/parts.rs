//! Sums over many rows, on all threads, with the same rounding whatever their number.

use std::ops::Range;

use crate::parallel;

/// Adds up what parts of `0..count` give. Where the parts lie depends on `count` alone and their
/// sums are added in order, so that the result is the same to the last bit on any number of threads.
pub fn sum_in_parts<T: Send>(
    count: usize,
    zero: impl Fn() -> T + Sync,
    sum: impl Fn(&mut T, Range<usize>) + Sync,
    mut add: impl FnMut(&mut T, T),
) -> T {
    let parts = parallel::map_ranges(count, part_size(count), |part| {
        let mut total = zero();
        sum(&mut total, part);
        total
    });
    parts.into_iter().fold(zero(), |mut total, part| {
        add(&mut total, part);
        total
    })
}

/// At most 64 parts, none so small that handing it out costs more than its work.
pub(super) fn part_size(count: usize) -> usize {
    count.div_ceil(64).max(256)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_the_same_on_one_thread_and_on_many() {
        let value = |i: usize| 1.0 / (1.0 + i as f64);
        let sum = || {
            sum_in_parts(
                100_001,
                || 0.0,
                |total, range| range.for_each(|i| *total += value(i)),
                |total: &mut f64, part| *total += part,
            )
        };
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(sum)
        };
        assert_eq!(with(1), with(5));
        // The harmonic number: ln n + γ + 1/2n.
        let n = 100_001f64;
        assert!((with(2) - (n.ln() + 0.577_215_664_901_532_9 + 0.5 / n)).abs() < 1e-9);
        assert_eq!(sum_in_parts(0, || 7, |_, _| (), |_, _| ()), 7);
    }
}
