//! Work on all threads, with results in order.
//!
//! Every function here ends in one that knows neither types nor closures (`join`): iterators of rayon are compiled
//! anew for every closure, hundreds of functions each, which once was half of what there was to compile.
//!
//! What is computed for an index must follow from the index alone. Then results are the same to the last bit on any number of
//! threads, which only decides how many indices are handed out together. Work runs on the threads of the pool that it is
//! called in, calls may be nested, and a panic goes on in the caller.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Pieces for each thread, so that none has long to wait for the last; few enough that handing them out costs nothing
/// however small the work on one index is.
const PIECES: usize = 64;

/// The same where every piece has a buffer of its own.
const PIECES_WITH_BUFFER: usize = 16;

/// What `of` gives for each number below `count`.
pub fn map_indices<T: Send>(count: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    gather(count, PIECES, &|range| range.map(&of).collect())
}

/// The same with a buffer that serves many indices.
pub fn map_indices_with<B, T: Send>(
    count: usize,
    buffer: impl Fn() -> B + Sync,
    of: impl Fn(&mut B, usize) -> T + Sync,
) -> Vec<T> {
    gather(count, PIECES_WITH_BUFFER, &|range| {
        let mut buffer = buffer();
        range.map(|index| of(&mut buffer, index)).collect()
    })
}

/// What `of` gives for each number below `count`, or the first error in their order. Numbers behind an error may be left out.
pub fn try_map_indices<T: Send, E: Send>(
    count: usize,
    of: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let failed = AtomicUsize::new(usize::MAX);
    let found = gather(count, PIECES, &|range| {
        let mut found = Vec::with_capacity(range.len());
        for index in range {
            if failed.load(Ordering::Relaxed) < index {
                break;
            }
            found.push(of(index));
            if found.last().is_some_and(Result::is_err) {
                failed.fetch_min(index, Ordering::Relaxed);
            }
        }
        found
    });
    found.into_iter().collect()
}

/// What `of` gives for each item.
pub fn map<S: Sync, T: Send>(items: &[S], of: impl Fn(&S) -> T + Sync) -> Vec<T> {
    map_indices(items.len(), |index| of(&items[index]))
}

/// What `of` gives for each item, or the first error in their order. Items behind an error may be left out.
pub fn try_map<S: Sync, T: Send, E: Send>(
    items: &[S],
    of: impl Fn(&S) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    try_map_indices(items.len(), |index| of(&items[index]))
}

/// What `of` makes of each item.
pub fn map_owned<S: Send, T: Send>(items: Vec<S>, of: impl Fn(S) -> T + Sync) -> Vec<T> {
    let items = ready(items);
    map_indices(items.len(), |index| of(taken(&items[index])))
}

/// The same with a buffer that serves many items.
pub fn map_owned_with<S: Send, B, T: Send>(
    items: Vec<S>,
    buffer: impl Fn() -> B + Sync,
    of: impl Fn(&mut B, S) -> T + Sync,
) -> Vec<T> {
    let items = ready(items);
    map_indices_with(items.len(), buffer, |buffer, index| {
        of(buffer, taken(&items[index]))
    })
}

/// Items of which each can be taken once, by any thread.
fn ready<S>(items: Vec<S>) -> Vec<Mutex<Option<S>>> {
    let items = items.into_iter();
    items.map(|item| Mutex::new(Some(item))).collect()
}

fn taken<S>(item: &Mutex<Option<S>>) -> S {
    let mut item = item.lock().unwrap_or_else(PoisonError::into_inner);
    item.take().expect("every index comes once")
}

/// What `of` gives for each part of `0..count`; all are of the same size, the last may be smaller.
///
/// # Panics
/// If `size` is 0 and `count` is not.
pub fn map_ranges<T: Send>(
    count: usize,
    size: usize,
    of: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let parts = if count == 0 { 0 } else { count.div_ceil(size) };
    map_indices(
        parts,
        |part| of(part * size..((part + 1) * size).min(count)),
    )
}

/// From so many indices on there are several parts.
const LONG: usize = 1 << 16;
/// The indices of each.
const PART: usize = 1 << 14;

/// The parts of `0..count`, which is one part unless it is long. They do not depend on the number of threads, so that what is summed up in
/// each, and then in their order, does not either.
pub fn parts_of(count: usize) -> Vec<Range<usize>> {
    let size = if count < LONG { count.max(1) } else { PART };
    let starts = (0..count).step_by(size);
    starts
        .map(|start| start..(start + size).min(count))
        .collect()
}

/// What `of` gives for these parts.
pub fn map_parts<T: Send>(count: usize, of: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    map(&parts_of(count), |part| of(part.clone()))
}

/// The same for the parts of a slice.
pub fn map_chunks<S: Sync, T: Send>(
    items: &[S],
    size: usize,
    of: impl Fn(&[S]) -> T + Sync,
) -> Vec<T> {
    map_ranges(items.len(), size, |range| of(&items[range]))
}

/// The same for parts that are changed, with the number of each.
pub fn map_chunks_mut<S: Send, T: Send>(
    items: &mut [S],
    size: usize,
    of: impl Fn(usize, &mut [S]) -> T + Sync,
) -> Vec<T> {
    let chunks: Vec<(usize, &mut [S])> = items.chunks_mut(size).enumerate().collect();
    map_owned(chunks, |(number, chunk)| of(number, chunk))
}

/// Fills the rows of a matrix, `width` values each: `fill` gets a buffer, which serves many rows, the number of the row and its
/// values. What is left behind the last whole row stays as it is.
pub fn for_each_row_mut<B, S: Send>(
    values: &mut [S],
    width: usize,
    buffer: impl Fn() -> B + Sync,
    fill: impl Fn(&mut B, usize, &mut [S]) + Sync,
) {
    let rows = values.len() / width;
    let size = piece_size(rows, PIECES_WITH_BUFFER);
    map_chunks_mut(
        &mut values[..rows * width],
        size * width,
        |number, chunk| {
            let mut buffer = buffer();
            for (offset, row) in chunk.chunks_exact_mut(width).enumerate() {
                fill(&mut buffer, number * size + offset, row);
            }
        },
    );
}

/// What `of` gives for each number below `count`, written where it stays: for very many numbers, which would take longer to move than
/// to make. `unset` is what a place holds before.
pub fn fill<T: Copy + Send>(count: usize, unset: T, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut all = vec![unset; count];
    let size = piece_size(count, PIECES);
    map_chunks_mut(&mut all, size, |number, chunk| {
        for (offset, place) in chunk.iter_mut().enumerate() {
            *place = of(number * size + offset);
        }
    });
    all
}

/// Does two things, at once where a thread is free.
pub fn both<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    let (mut first, mut second) = (Some(first), Some(second));
    let (mut of_first, mut of_second) = (None, None);
    join(
        &mut || of_first = first.take().map(|first| first()),
        &mut || of_second = second.take().map(|second| second()),
    );
    let done = of_first.zip(of_second);
    done.expect("both are called")
}

/// How many of `count` indices make a piece, where each thread is to have so many pieces.
fn piece_size(count: usize, pieces: usize) -> usize {
    count.div_ceil(pieces * rayon::current_num_threads()).max(1)
}

/// What `piece` gives for the pieces of `0..count`, one behind the other.
fn gather<T: Send>(
    count: usize,
    pieces: usize,
    piece: &(dyn Fn(Range<usize>) -> Vec<T> + Sync),
) -> Vec<T> {
    let size = piece_size(count, pieces);
    let mut found: Vec<Mutex<Vec<T>>> = Vec::new();
    found.resize_with(count.div_ceil(size), Mutex::default);
    for_each(0..found.len(), &|number| {
        let values = piece(number * size..((number + 1) * size).min(count));
        *found[number].lock().unwrap_or_else(PoisonError::into_inner) = values;
    });
    let mut all = Vec::with_capacity(count);
    for values in found {
        all.append(&mut values.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    all
}

/// Calls `work` with every number of a range, each on whichever thread is free.
fn for_each(numbers: Range<usize>, work: &(dyn Fn(usize) + Sync)) {
    match numbers.len() {
        0 => {}
        1 => work(numbers.start),
        length => {
            let middle = numbers.start + length / 2;
            join(&mut || for_each(numbers.start..middle, work), &mut || {
                for_each(middle..numbers.end, work)
            });
        }
    }
}

fn join(first: &mut (dyn FnMut() + Send), second: &mut (dyn FnMut() + Send)) {
    rayon::join(first, second);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// From none to more than pieces for all threads.
    const COUNTS: [usize; 14] = [0, 1, 2, 3, 7, 63, 64, 65, 127, 128, 129, 1000, 4097, 20_001];

    fn on<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(work)
    }

    /// With each count, on one thread and on several.
    fn check(case: impl Fn(usize) + Send + Sync) {
        for threads in [1, 2, 5] {
            on(threads, || COUNTS.iter().for_each(|&count| case(count)));
        }
    }

    #[test]
    fn results_stand_in_order() {
        check(|count| {
            let squares: Vec<usize> = (0..count).map(|i| i * i).collect();
            let items: Vec<String> = squares.iter().map(usize::to_string).collect();
            assert_eq!(map_indices(count, |i| i * i), squares);
            assert_eq!(fill(count, 0, |i| i * i), squares);
            assert_eq!(map(&items, Clone::clone), items);
            assert_eq!(map_owned(items.clone(), |item| item), items);
            let with = map_owned_with(items.clone(), || (), |(), item| item);
            assert_eq!(with, items);
            let with = map_indices_with(count, Vec::new, |buffer, i| {
                buffer.push(i);
                buffer[buffer.len() - 1] * i
            });
            assert_eq!(with, squares);
            let all = try_map(&items, |item| item.parse::<usize>());
            assert_eq!(all.unwrap(), squares);
        });
    }

    #[test]
    fn parts_are_those_of_a_slice() {
        check(|count| {
            let numbers: Vec<usize> = (0..count).collect();
            for size in [1, 2, 10, 64, 5000] {
                let expected: Vec<Vec<usize>> = numbers.chunks(size).map(<[_]>::to_vec).collect();
                assert_eq!(map_chunks(&numbers, size, <[_]>::to_vec), expected);
                assert_eq!(
                    map_ranges(count, size, |range| range.collect::<Vec<_>>()),
                    expected
                );
                let mut changed = numbers.clone();
                let sizes = map_chunks_mut(&mut changed, size, |number, chunk| {
                    chunk.iter_mut().for_each(|value| *value += number);
                    chunk.len()
                });
                let each = numbers.iter().map(|&i| i + i / size);
                assert_eq!(changed, each.collect::<Vec<_>>());
                assert_eq!(sizes, expected.iter().map(Vec::len).collect::<Vec<_>>());
            }
        });
    }

    #[test]
    fn the_parts_of_what_is_long_are_the_same_on_any_number_of_threads() {
        for (count, parts) in [(0, 0), (1, 1), (LONG - 1, 1), (LONG, 4), (LONG + 1, 5)] {
            for threads in [1, 2, 5] {
                let ends = on(threads, || map_parts(count, |part| (part.start, part.end)));
                assert_eq!(ends.len(), parts, "{count}");
                assert!(ends.windows(2).all(|pair| pair[0].1 == pair[1].0));
                assert_eq!(ends.last().map_or(0, |last| last.1), count);
            }
        }
    }

    #[test]
    fn rows_are_filled_and_the_rest_is_left() {
        check(|count| {
            for width in [1, 3, 8] {
                let mut values = vec![usize::MAX; count];
                for_each_row_mut(&mut values, width, Vec::new, |buffer, row, values| {
                    buffer.push(row);
                    values.fill(row);
                });
                let whole = count / width * width;
                assert!((0..whole).all(|place| values[place] == place / width));
                assert!(values[whole..].iter().all(|&value| value == usize::MAX));
            }
        });
    }

    #[test]
    fn the_first_error_in_order_is_given() {
        check(|count| {
            for every in [1, 5, 999] {
                let first = (0..count).find(|i| i % every == every - 1);
                let found = try_map_indices(count, |i| {
                    // The first one comes late.
                    if Some(i) == first {
                        std::thread::yield_now();
                    }
                    if i % every == every - 1 {
                        Err(i)
                    } else {
                        Ok(i)
                    }
                });
                assert_eq!(found.err(), first);
            }
        });
    }

    #[test]
    fn what_is_behind_an_error_is_left_out() {
        let calls = AtomicUsize::new(0);
        let call = |i: usize| {
            calls.fetch_add(1, Ordering::Relaxed);
            if i == 10 { Err(()) } else { Ok(()) }
        };
        assert!(on(1, || try_map_indices(10_000, call)).is_err());
        assert_eq!(calls.into_inner(), 11);
    }

    #[test]
    fn calls_may_be_nested() {
        for threads in [1, 3] {
            let found = on(threads, || {
                map_indices(50, |i| map_indices(i, |j| i * j).into_iter().sum::<usize>())
            });
            assert!(
                found
                    .iter()
                    .enumerate()
                    .all(|(i, &sum)| 2 * sum == i * i * i.saturating_sub(1))
            );
        }
    }

    #[test]
    fn both_are_done() {
        for threads in [1, 2] {
            let mut count = 0;
            let word = String::from("word");
            let found = on(threads, || both(|| count += 1, || word));
            assert_eq!((found.1.as_str(), count), ("word", 1));
        }
    }

    #[test]
    fn the_threads_are_those_of_the_pool() {
        let seen = Mutex::new(BTreeSet::new());
        on(3, || {
            map_indices(500, |_| {
                assert_eq!(rayon::current_num_threads(), 3);
                seen.lock().unwrap().insert(rayon::current_thread_index());
            });
        });
        let seen = seen.into_inner().unwrap();
        assert!(!seen.contains(&None) && seen.len() <= 3);
    }

    #[test]
    fn a_panic_goes_on_in_the_caller_and_nothing_leaks() {
        let alive = AtomicUsize::new(0);
        struct Counted<'a>(&'a AtomicUsize);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        let work = || {
            map_indices(1000, |i| {
                assert!(i != 700, "seven hundred");
                alive.fetch_add(1, Ordering::Relaxed);
                Counted(&alive)
            })
        };
        let caught = catch_unwind(AssertUnwindSafe(|| on(2, work).len()));
        let message = caught.unwrap_err();
        assert_eq!(message.downcast_ref::<&str>(), Some(&"seven hundred"));
        assert_eq!(alive.load(Ordering::Relaxed), 0);
    }
}
