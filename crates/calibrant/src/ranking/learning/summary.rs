//! What a fit tells about itself.

use serde::{Deserialize, Serialize};

use super::GradeUse;
use crate::corpus::JudgedShare;

/// How a ranking model came about; kept in its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankSummary {
    /// The calibrant that fitted it.
    pub calibrant_version: String,
    /// Training queries.
    pub queries: usize,
    /// Of them, those that say nothing about the order of documents: all relevant, or none.
    pub skipped_queries: usize,
    /// Training documents, counted for each query.
    pub documents: usize,
    /// Of them, relevant ones.
    pub relevant_documents: usize,
    /// Missing values among the training values.
    pub missing_values: usize,
    /// How much of what was learned from was judged.
    #[serde(default)]
    pub judged: JudgedShare,
    /// Queries that `C` was chosen on, zero if there was no choice.
    pub choice_queries: usize,
    /// How `C` was chosen.
    pub choice: CostChoice,
    /// Every `C` that was tried, rising.
    pub trials: Vec<RankTrial>,
    /// Which of them was chosen.
    pub chosen: usize,
    /// Whether the chosen one is the greatest of all that are ever tried, so that a greater one might be better.
    #[serde(default, rename = "price_at_the_end")]
    pub cost_at_the_end: bool,
    /// Mean average precision, among the documents of the table, of the chosen model on its own training queries.
    pub training_map: f64,
    /// The settings that were left open, in every way that was tried; none where nothing was open.
    #[serde(default)]
    pub settings_tried: Vec<SettingsTried>,
    /// Why the model has no probabilities of relevance, where they were wanted and there was too little to fit them to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_probabilities: Option<String>,
}

/// One way to set what was left open.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingsTried {
    /// Whether every grade is a question of its own.
    pub every_grade: bool,
    /// Bins per column, 0 for slopes.
    pub bins: usize,
    /// Mean average precision on the queries that settings are chosen on, with the best `C`.
    pub held_out_map: f64,
}

/// How `C` was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostChoice {
    /// It was given.
    Given,
    /// By mean average precision on validation queries.
    Validation,
    /// By mean average precision on training queries, each ranked by a model that had not learned from it.
    CrossValidation,
    /// By both together, every query counting once.
    Both,
}

/// One value of `C`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankTrial {
    /// The cost of errors.
    pub c: f64,
    /// Rounds of the solver (few where it began with the planes of a smaller `C`).
    pub rounds: usize,
    /// Planes at the end.
    pub planes: usize,
    /// The objective reached.
    pub primal: f64,
    /// A lower bound for any weights' objective.
    pub dual: f64,
    /// Whether the gap between the two came below the tolerance.
    pub converged: bool,
    /// Mean average precision on the queries that `C` is chosen on.
    pub held_out_map: Option<f64>,
}

impl SettingsTried {
    /// What grades above the smallest relevant one were for.
    pub fn grades(&self) -> GradeUse {
        match self.every_grade {
            true => GradeUse::Every,
            false => GradeUse::One,
        }
    }
}

impl RankSummary {
    /// The value of `C` that was chosen.
    pub fn chosen_trial(&self) -> &RankTrial {
        &self.trials[self.chosen]
    }
}
