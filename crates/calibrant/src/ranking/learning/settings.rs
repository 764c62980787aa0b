//! What can be chosen about learning a ranking.

use serde::{Deserialize, Serialize};

use super::{BIN_LIMIT, FeatureSettings, QueryScale, RankFitError, RankLoss};
use crate::FitError;

/// Settings of [`RankModel::fit`](super::RankModel::fit).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankSettings {
    /// What the ranking is to be good at.
    pub loss: RankLoss,
    /// Values of `C`, the price of errors against large weights; of several, the one with the best mean average
    /// precision on queries that were not learned from is chosen.
    pub c: Vec<f64>,
    /// Which features are made of the table's columns.
    pub features: FeatureSettings,
    /// The least grade of a relevant document.
    pub relevant_from: i32,
    /// Whether every grade from `relevant_from` on counts as a question of its own (see [`RankProblem::new`](super::RankProblem::new)): with grades 0, 1
    /// and 2, average precision is learned with documents from 1 on relevant and, as much, with those of 2 alone. Without it, and in every
    /// measure, a document is relevant or not.
    #[serde(default)]
    pub every_grade: bool,
    /// Learning ends when the objective is within this part of the least possible one.
    pub tolerance: f64,
    /// In how many parts queries are divided to choose `C`. Without a number: five where there is no validation
    /// table, none where there is one; with a number, validation queries and held-out training queries count together.
    pub folds: Option<usize>,
    /// Where the division into parts begins.
    pub seed: u64,
}

impl Default for RankSettings {
    fn default() -> Self {
        Self {
            loss: RankLoss::default(),
            c: vec![0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0],
            features: FeatureSettings::default(),
            relevant_from: 1,
            every_grade: false,
            tolerance: 1e-3,
            folds: None,
            seed: 0,
        }
    }
}

impl RankSettings {
    /// The features that are made: `acc3` and `acc4` are defined by theirs.
    pub fn effective_features(&self) -> FeatureSettings {
        let scale = match self.loss {
            RankLoss::PercentileAccuracy => QueryScale::Percentile,
            RankLoss::MinMaxAccuracy => QueryScale::MinMax,
            _ => self.features.scale,
        };
        FeatureSettings {
            scale,
            ..self.features
        }
    }

    /// Whether every setting makes sense.
    pub(crate) fn check(&self) -> Result<(), RankFitError> {
        let bad = |setting, requirement, value: String| {
            Err(RankFitError::Setting(FitError::BadSetting {
                setting,
                requirement,
                value,
            }))
        };
        if self.c.is_empty() {
            return bad("C", "at least one number", "none".into());
        }
        if let Some(c) = self.c.iter().find(|c| !(1e-12..=1e12).contains(*c)) {
            return bad("C", "a number from 1e-12 to 1e12", c.to_string());
        }
        if !(1e-9..1.0).contains(&self.tolerance) {
            return bad(
                "the tolerance",
                "at least 1e-9 and below 1",
                self.tolerance.to_string(),
            );
        }
        if self.features.bins > BIN_LIMIT {
            return bad("bins", "at most 10000", self.features.bins.to_string());
        }
        if let Some(folds) = self.folds.filter(|folds| *folds < 2) {
            return bad("folds", "at least 2", folds.to_string());
        }
        Ok(())
    }
}
