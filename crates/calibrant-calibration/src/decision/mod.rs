//! What to do, given the probabilities: costs of decisions, thresholds, sets, abstaining, and "none of these".
//!
//! [`DecisionCosts`] says what each action costs for each truth, and [`CostMatrix`] which is cheapest by the stated probabilities;
//! [`Threshold`]s are chosen by the mistakes they make; [`OtherRule`] says when a document belongs to none of the classes;
//! [`PriorPlan`] decides whether classes are as common as in training no longer.
//! [`SetTable`] gives sets that hold the true class with a stated probability, [`Certify`] a threshold above which few answers
//! are wrong with a stated certainty, [`Suspects`] the labels that are most likely wrong, [`best_f_beta`] the decisions of largest
//! expected F.
//! [`estimate_prevalence`] says how many of each class there are, [`certify_cascade`] which of several sources answers what.

mod ask_budget;
mod cascade;
mod certified;
mod cost_entry;
mod cost_error;
mod cost_matrix;
mod decision_costs;
mod f_beta;
mod other;
mod prevalence;
mod prior;
mod sets;
mod stated;
mod suspects;
mod threshold;

pub use ask_budget::{AskBudget, AskBudgetError};
pub use cascade::{
    CascadeBasis, CascadeError, CascadePolicy, CascadeReport, CascadeSettings, CascadeStep,
    CascadeTier, SingleSource, TierReport, TierRule, certify_cascade,
};
#[doc(hidden)] // Simulations, for experiments and tests.
pub use cascade::{
    CascadeOutcome, CascadeWorld, SimulatedTier, resample_cascade, simulate_cascade,
};
#[doc(hidden)] // For experiments and tests.
pub use certified::CertifyPlan;
pub use certified::{AnswerTable, Certified, CertifiedThreshold, Certify, bounded_risk_p_value};
pub use cost_entry::{AmountError, CostAmount, CostEntry};
pub use cost_error::CostError;
pub use cost_matrix::{CostMatrix, Decided};
pub use decision_costs::{ASK, DecisionCosts};
pub use f_beta::{BestF, best_f_beta, best_f_beta_by_label};
pub use other::{KnownDocuments, OtherError, OtherRule, ThresholdCosts, share_with_other};
pub use prevalence::{
    ClassPrevalence, LabelledPool, PlanSettings, PlannedStratum, PpiMean, Prevalence,
    PrevalenceError, PrevalenceMethod, PrevalenceReason, PrevalenceSettings, PrevalenceTarget,
    SampleDesign, SamplePlan, Stratum, allocate_labels, draw_sample, estimate_prevalence,
    plan_sample, ppi_lambda, ppi_mean, stratified_exact_interval, stratified_interval,
};
#[doc(hidden)] // Simulations, for experiments and tests.
pub use prevalence::{
    ENOUGH_DISAGREEMENTS, PrevalenceCoverage, PrevalenceWorld, resample_prevalence,
    simulate_prevalence,
};
pub use prior::{
    AdaptPrior, DecidedPrior, PriorChoice, PriorError, PriorPlan, PriorReport, TrainedShares,
};
pub use sets::{
    CalibrationRows, CalibrationSource, Guarantee, LabelSetRule, LabelSetTable, LastClass, Penalty,
    SetBuffers, SetKind, SetReport, SetRule, SetSettings, SetTable, set_draw,
};
pub use suspects::{
    ConfidentJoint, LabelSuspect, Suspect, Suspects, Yield, suspect_labels, wrong_among,
};
pub use threshold::{Threshold, balanced_threshold, least_cost_threshold};
