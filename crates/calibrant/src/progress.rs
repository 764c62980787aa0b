//! How long work tells a front end how far it is.

/// Receives the progress of long work. The library only reports; whether and how
/// it is shown is the front end's business.
pub trait Progress: Sync {
    /// A stage begins; `total` is in the units that [`Progress::advance`] counts.
    fn begin(&self, stage: &str, total: Option<u64>);
    /// `amount` more units of the current stage are done.
    fn advance(&self, amount: u64);
    /// The current stage is over.
    fn end(&self);
}

/// Shows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _stage: &str, _total: Option<u64>) {}
    fn advance(&self, _amount: u64) {}
    fn end(&self) {}
}
