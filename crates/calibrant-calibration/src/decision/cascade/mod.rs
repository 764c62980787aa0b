//! Several sources of answers, cheap ones first: who answers what, so that few answers are wrong and little is paid?
//!
//! A [`CascadeTier`] is a source (a model, a language model, a person) with a cost for each document that it is asked, and what it
//! said of documents whose truth is known. [`certify_cascade`] finds the thresholds of a [`CascadePolicy`]: the cheapest
//! for which a test shows that answers are wrong at most as often as allowed. [`simulate_cascade`] and
//! [`resample_cascade`] count how often that is so.

mod certify;
mod path;
mod policy;
mod simulation;
#[cfg(test)]
mod tests;
mod tiers;

pub use certify::{
    CascadeBasis, CascadeReport, CascadeSettings, SingleSource, TierReport, certify_cascade,
};
pub use policy::{CascadePolicy, CascadeStep, TierRule};
pub use simulation::{
    CascadeOutcome, CascadeWorld, SimulatedTier, resample_cascade, simulate_cascade,
};
pub use tiers::{CascadeError, CascadeTier};
