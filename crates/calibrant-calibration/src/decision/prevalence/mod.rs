//! How many of each class are there really? Few labels, drawn at random, and predictions of all documents.
//!
//! [`estimate_prevalence`] gives the share of each class with an interval, and says how it was found:
//! [`ppi_mean`] where labels disagree with predictions often enough, [`stratified_interval`] elsewhere,
//! [`stratified_exact_interval`] where a guarantee is asked for that holds whatever the truth is.
//! [`plan_sample`] says beforehand how many labels a wanted width takes, and [`draw_sample`] which documents to label.
//! [`simulate_prevalence`] and [`resample_prevalence`] count how often the intervals hold the truth.

mod draw;
mod error;
mod estimate;
mod plan;
mod pool;
mod ppi;
mod settings;
mod simulation;
mod strata;
mod stratified;
mod stratified_exact;
#[cfg(test)]
mod tests;

pub use draw::draw_sample;
pub use error::PrevalenceError;
pub use estimate::{
    ClassPrevalence, ENOUGH_DISAGREEMENTS, Prevalence, PrevalenceReason, estimate_prevalence,
};
pub use plan::{PlanSettings, PlannedStratum, SamplePlan, allocate_labels, plan_sample};
pub use pool::{LabelledPool, SampleDesign};
pub use ppi::{PpiMean, ppi_lambda, ppi_mean};
pub use settings::{PrevalenceMethod, PrevalenceSettings, PrevalenceTarget};
pub use simulation::{
    PrevalenceCoverage, PrevalenceWorld, resample_prevalence, simulate_prevalence,
};
pub use strata::Stratum;
pub use stratified::stratified_interval;
pub use stratified_exact::stratified_exact_interval;
