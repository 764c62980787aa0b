//! Threads that survive a fork: a pool per process.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
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
    /// The pool before this one: it may be asked for again.
    before: Option<&'static OwnPool>,
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
    let known: Option<&'static OwnPool> = unsafe { known.as_ref() };
    let mut next = known;
    while let Some(one) = next {
        if one.process == process && one.threads == threads {
            return Ok(&one.pool);
        }
        next = one.before;
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
        before: known.filter(|known| known.process == process),
    }));
    POOL.store(own, Ordering::Release);
    Ok(&own.pool)
}

/// Does work on the threads of this process, with the interpreter released.
pub(crate) fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = own()?;
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(|| pool.install(work))));
    done.map_err(broken)
}

/// A panic is a defect of ours, or somebody has changed an array while it was read: an exception like others, not one that nobody
/// catches.
pub(crate) fn broken(panic: Box<dyn Any + Send>) -> PyErr {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or(panic.downcast_ref::<&str>().copied());
    errors::general(format!(
        "calibrant broke off ({}); was an array changed while it was read?",
        text.unwrap_or("without a reason")
    ))
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

/// Uses so many threads from now on.
///
/// Parameters
/// ----------
/// count : int
///     How many; 0 leaves it to the machine, or to ``RAYON_NUM_THREADS``.
#[pyfunction]
pub(crate) fn set_num_threads(count: usize) {
    THREADS.store(count, Ordering::Release);
}

/// How many threads work is shared out to.
///
/// Returns
/// -------
/// int
#[pyfunction]
pub(crate) fn num_threads() -> PyResult<usize> {
    Ok(own()?.current_num_threads())
}
