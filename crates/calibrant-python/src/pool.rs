//! Threads that survive a fork: a pool per process.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors;

/// A pool and the process that its threads live in. A forked child inherits the memory of the pool without its threads: whoever
/// asked it for work would wait for ever.
struct OwnPool {
    process: u32,
    threads: usize,
    pool: ThreadPool,
}

static POOL: AtomicPtr<OwnPool> = AtomicPtr::new(std::ptr::null_mut());
/// How many threads were asked for; 0 leaves it to the machine (or `RAYON_NUM_THREADS`).
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// The pool of this process. One of another process, or of another number of threads, is forgotten, never freed: somebody may still be
/// at work in it.
fn own() -> PyResult<&'static ThreadPool> {
    let (process, threads) = (std::process::id(), THREADS.load(Ordering::Acquire));
    let known = POOL.load(Ordering::Acquire);
    // SAFETY: what the pointer shows was leaked from a box and is never freed or changed.
    if let Some(known) = unsafe { known.as_ref() }
        && known.process == process
        && known.threads == threads
    {
        return Ok(&known.pool);
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|number| format!("calibrant-{number}"))
        .build()
        .map_err(errors::general)?;
    let own = Box::leak(Box::new(OwnPool {
        process,
        threads,
        pool,
    }));
    POOL.store(own, Ordering::Release);
    Ok(&own.pool)
}

/// Does work on the threads of this process, with the interpreter released.
pub(crate) fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = own()?;
    Ok(py.detach(|| pool.install(work)))
}

/// As [`run`], on this thread where there is too little to share out.
pub(crate) fn run_unless_small<T: Send>(
    py: Python<'_>,
    is_small: bool,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    match is_small {
        true => Ok(work()),
        false => run(py, work),
    }
}

pub(crate) fn pool() -> PyResult<&'static ThreadPool> {
    own()
}

/// Uses so many threads from now on; 0 leaves it to the machine.
#[pyfunction]
pub(crate) fn set_num_threads(count: usize) {
    THREADS.store(count, Ordering::Release);
}

/// How many threads work is shared out to.
#[pyfunction]
pub(crate) fn num_threads() -> PyResult<usize> {
    Ok(own()?.current_num_threads())
}
