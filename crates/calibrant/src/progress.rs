//! How long-running work reports its progress, and learns that it is no longer wanted.

use std::ops::ControlFlow;

/// Receives the progress of long work and may end it. The library only reports; whether and how it is shown is the front end's business.
///
/// Work asks often enough to end soon after it is told to (between batches of a file, folds, classes, passes of solvers and trials), returns an error
/// that says so (such as [`FitError::Cancelled`](crate::FitError::Cancelled)) and leaves nothing half-written. Who once answered
/// [`ControlFlow::Break`] must go on doing so until the work has returned, since several threads may ask.
///
/// ```
/// use calibrant::corpus::{ReadError, ReadOptions, Source, read_all};
/// use calibrant::Progress;
/// use std::ops::ControlFlow;
///
/// struct Unwanted;
/// impl Progress for Unwanted {
///     fn begin(&self, _stage: &str, _total: Option<u64>) {}
///     fn advance(&self, _amount: u64) -> ControlFlow<()> {
///         ControlFlow::Break(())
///     }
///     fn end(&self) {}
/// }
///
/// let source = Source::bytes("mail.csv", *b"label,text\nham,See you\n");
/// let outcome = read_all(&source, &ReadOptions::default(), &Unwanted);
/// assert!(matches!(outcome, Err(ReadError::Cancelled)));
/// ```
pub trait Progress: Sync {
    /// A stage begins; `total` is in the units that [`Progress::advance`] counts.
    fn begin(&self, stage: &str, total: Option<u64>);

    /// `amount` more units of the current stage are done (0 where work only asks whether to go on). The answer says whether
    /// the work is to go on.
    fn advance(&self, amount: u64) -> ControlFlow<()>;

    /// The current stage is over, whether it was finished or not.
    fn end(&self);
}

/// Shows nothing and never ends anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _stage: &str, _total: Option<u64>) {}
    fn advance(&self, _amount: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    fn end(&self) {}
}

/// The work was ended by whoever watched its [`Progress`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// Asks whether to go on without having done anything.
pub(crate) fn check(progress: &dyn Progress) -> Result<(), Cancelled> {
    step(progress, 0)
}

/// Reports what was done, and asks whether to go on.
pub(crate) fn step(progress: &dyn Progress, amount: u64) -> Result<(), Cancelled> {
    match progress.advance(amount) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Cancelled),
    }
}

/// A stage of work, over when it is dropped: whatever happens, the front end hears of its end.
pub(crate) struct Stage<'a>(&'a dyn Progress);

impl<'a> Stage<'a> {
    pub(crate) fn begin(progress: &'a dyn Progress, name: &str, total: Option<u64>) -> Self {
        progress.begin(name, total);
        Self(progress)
    }

    /// Reports what was done, and asks whether to go on.
    pub(crate) fn step(&self, amount: u64) -> Result<(), Cancelled> {
        step(self.0, amount)
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Work inside a stage of other work: it can be ended, and is not shown.
pub(crate) struct Unshown<'a>(pub(crate) &'a dyn Progress);

impl Progress for Unshown<'_> {
    fn begin(&self, _stage: &str, _total: Option<u64>) {}
    fn advance(&self, _amount: u64) -> ControlFlow<()> {
        self.0.advance(0)
    }
    fn end(&self) {}
}

/// Ends work after so many questions; for tests.
#[cfg(test)]
pub(crate) struct EndsAfter(std::sync::atomic::AtomicI64);

#[cfg(test)]
impl EndsAfter {
    pub(crate) fn questions(count: i64) -> Self {
        Self(count.into())
    }
}

#[cfg(test)]
impl Progress for EndsAfter {
    fn begin(&self, _stage: &str, _total: Option<u64>) {}
    fn advance(&self, _amount: u64) -> ControlFlow<()> {
        match self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) > 0 {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
    fn end(&self) {}
}
