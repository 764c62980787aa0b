//! Long work: on other threads, while this one listens for Ctrl-C and shows progress.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use calibrant::Progress;
use pyo3::prelude::*;

use crate::pool;

/// How often signals are looked for and progress is shown.
const PAUSE: Duration = Duration::from_millis(60);

/// What the work has come to, as its threads report it.
#[derive(Default)]
struct Seen {
    stage: String,
    total: Option<u64>,
    done: u64,
}

/// Keeps what it is told until somebody looks, and ends the work when it is told to.
#[derive(Default)]
pub(crate) struct Watched {
    seen: Mutex<Seen>,
    unwanted: AtomicBool,
}

impl Watched {
    fn with_seen<T>(&self, change: impl FnOnce(&mut Seen) -> T) -> T {
        let mut seen = self
            .seen
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        change(&mut seen)
    }
}

impl Progress for Watched {
    fn begin(&self, stage: &str, total: Option<u64>) {
        self.with_seen(|seen| {
            *seen = Seen {
                stage: stage.to_owned(),
                total,
                done: 0,
            };
        });
    }

    fn advance(&self, amount: u64) -> ControlFlow<()> {
        if amount > 0 {
            self.with_seen(|seen| seen.done += amount);
        }
        match self.unwanted.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn end(&self) {
        self.with_seen(|seen| seen.done = seen.total.unwrap_or(seen.done));
    }
}

/// Does long work. This thread waits, runs the handlers of signals, and tells `progress(stage, done, total)` now and then; an
/// exception in either ends the work, and is raised when the work has ended.
pub(crate) fn watch<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&dyn Progress) -> T + Send,
) -> PyResult<T> {
    let pool = pool::pool()?;
    let watched = Watched::default();
    let show = progress.map(|progress| progress.clone().unbind());
    let (outcome, raised) = py.detach(|| {
        std::thread::scope(|scope| {
            let (alive, ended) = channel::<()>();
            let watched = &watched;
            let worker = scope.spawn(move || {
                // Whoever listens learns by its end that the work has ended, in a panic as well.
                let _alive = alive;
                pool.install(|| work(watched))
            });
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(PAUSE) {
                if raised.is_none()
                    && let Err(error) = look(watched, show.as_ref())
                {
                    watched.unwanted.store(true, Ordering::Relaxed);
                    raised = Some(error);
                }
            }
            (worker.join(), raised)
        })
    });
    match raised {
        Some(error) => Err(error),
        None => outcome.map_err(pool::broken),
    }
}

fn look(watched: &Watched, show: Option<&Py<PyAny>>) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        let Some(show) = show else {
            return Ok(());
        };
        let (stage, done, total) =
            watched.with_seen(|seen| (seen.stage.clone(), seen.done, seen.total));
        show.call1(py, (stage, done, total)).map(drop)
    })
}
