//! A simulated inbox of support mail whose true probabilities are known.
//!
//! On real text nobody knows the true probability of a class, so a calibrated
//! classifier can only be judged on average. Here every message is drawn from a
//! model that we wrote down, and the model's own probability of each class can be
//! computed exactly: a classifier's probabilities can be compared with the truth
//! one by one.
//!
//! Words come in bursts, as in real mail: whoever writes "invoice" once writes it
//! again. A classifier that takes words for independent counts the same evidence
//! several times and becomes far too sure of itself.

mod filler;
mod generator;
mod letter;
mod urn;
mod words;
mod world;

pub use generator::{InboxSettings, SimulateError, SimulatedInbox, SimulatedMessage};
