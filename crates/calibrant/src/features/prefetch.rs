//! Memory asked for before it is needed.
//!
//! Learners visit rows in random order: where the rows do not fit into the processor's cache, each
//! visit would wait for memory several times in a row (where the row lies, its columns, the weights
//! at those columns). Told early enough, the processor fetches the next rows while it works on this one.

/// Asks for the cache line of an entry. A hint and nothing else: no result depends on it, an index
/// beyond the end does no harm, and on processors that we have no instruction for nothing happens.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = slice.as_ptr().wrapping_add(index);
        // SAFETY: the instruction reads nothing that the program can see and never faults, whatever the
        // address is; it is part of SSE, which every x86-64 processor has.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_index_may_be_asked_for() {
        let numbers = [1u32, 2, 3];
        for index in [0, 2, 3, 1_000_000, usize::MAX] {
            prefetch(&numbers, index);
        }
        prefetch::<u64>(&[], 7);
        assert_eq!(numbers, [1, 2, 3]);
    }
}
