//! What to do, given the probabilities: costs of decisions, thresholds, and "none of these".
//!
//! [`CostMatrix`] says what each decision costs for each truth, and which is cheapest by the stated probabilities;
//! [`Threshold`]s are chosen by the mistakes they make; [`OtherRule`] says when a document belongs to none of the classes.
//! [`estimate_prevalence`] says how many of each class there are, [`certify_cascade`] which of several sources answers what.

mod cascade;
mod cost_matrix;
mod other;
mod prevalence;
mod threshold;

pub use cascade::{
    CascadeBasis, CascadeError, CascadeOutcome, CascadePolicy, CascadeReport, CascadeSettings,
    CascadeStep, CascadeTier, CascadeWorld, SimulatedTier, SingleSource, TierReport, TierRule,
    certify_cascade, resample_cascade, simulate_cascade,
};
pub use cost_matrix::{CostError, CostMatrix};
pub use other::{KnownDocuments, OtherError, OtherRule, ThresholdCosts, share_with_other};
pub use prevalence::{
    ClassPrevalence, ENOUGH_DISAGREEMENTS, LabelledPool, PlanSettings, PlannedStratum, PpiMean,
    Prevalence, PrevalenceCoverage, PrevalenceError, PrevalenceMethod, PrevalenceReason,
    PrevalenceSettings, PrevalenceTarget, PrevalenceWorld, SampleDesign, SamplePlan, Stratum,
    allocate_labels, draw_sample, estimate_prevalence, plan_sample, ppi_lambda, ppi_mean,
    resample_prevalence, simulate_prevalence, stratified_exact_interval, stratified_interval,
};
pub use threshold::{Threshold, balanced_threshold, least_cost_threshold};
