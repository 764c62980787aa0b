//! A learned ranking.

use super::{FeatureMap, RankParameters, RankSummary, UnknownFeatures};
use crate::Probability;
use crate::corpus::RankingTable;
use crate::parallel;
use crate::ranking::Relevance;

/// A learned ranking: documents are ordered by `w·φ`.
///
/// Made by [`RankModel::fit`]; saved and opened as a file by [`RankModel::save`] and [`RankModel::open`].
#[derive(Debug, Clone)]
pub struct RankModel {
    pub(super) settings: RankParameters,
    pub(super) map: FeatureMap,
    /// One per feature, and the bias behind them for the accuracies.
    pub(super) weights: Vec<f64>,
    pub(super) summary: RankSummary,
    pub(super) relevance: Option<Relevance>,
}

/// What a model makes of one column.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FeatureCurve {
    /// The column's name.
    #[serde(rename = "function")]
    pub feature: String,
    /// What the score gains for each unit of the value, with plain features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slope: Option<f64>,
    /// With bins: a threshold, and what a value above it (and below the next) adds to the score in all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<(f32, f64)>,
}

impl FeatureCurve {
    /// How far the column can move a score: for bins between its lowest and highest step, for plain features by one
    /// unit.
    pub fn reach(&self) -> f64 {
        let levels = self.steps.iter().map(|step| step.1).chain([0.0]);
        let (low, high) = levels.fold((0.0f64, 0.0f64), |(low, high), level| {
            (low.min(level), high.max(level))
        });
        self.slope.map_or(high - low, f64::abs)
    }
}

impl RankModel {
    pub(super) fn new(
        settings: RankParameters,
        map: FeatureMap,
        weights: Vec<f64>,
        summary: RankSummary,
    ) -> Self {
        Self {
            settings,
            map,
            weights,
            summary,
            relevance: None,
        }
    }

    /// What it was fitted with.
    pub fn settings(&self) -> &RankParameters {
        &self.settings
    }

    /// How it came about.
    pub fn summary(&self) -> &RankSummary {
        &self.summary
    }

    /// Which features it looks at.
    pub fn features(&self) -> &FeatureMap {
        &self.map
    }

    /// One weight per feature.
    pub fn weights(&self) -> &[f64] {
        &self.weights[..self.map.dimension()]
    }

    /// What is added to every score; zero unless the loss is one of the accuracies.
    pub fn bias(&self) -> f64 {
        self.weights
            .get(self.map.dimension())
            .copied()
            .unwrap_or(0.0)
    }

    /// The curve from scores to the probability of relevance, if there is one.
    pub fn relevance(&self) -> Option<&Relevance> {
        self.relevance.as_ref()
    }

    /// The probability that each document of a table is relevant to its query, given the scores of [`Self::scores`];
    /// none where the model has no curve for that.
    pub fn probabilities(&self, table: &RankingTable, scores: &[f64]) -> Option<Vec<Probability>> {
        let relevance = self.relevance.as_ref()?;
        let queries = table.queries().iter();
        let of_query = queries.map(|query| relevance.probabilities(&scores[query.rows.clone()]));
        Some(of_query.flatten().collect())
    }

    /// Whether the model knows every column of a table. Columns that it knows and the table lacks are no error:
    /// their values are missing.
    pub fn check_features(&self, table: &RankingTable) -> Result<(), UnknownFeatures> {
        let unknown = self.map.unknown_features(table);
        match unknown.is_empty() {
            true => Ok(()),
            false => Err(UnknownFeatures {
                unknown: unknown.into_iter().map(str::to_owned).collect(),
                known: self.map.columns().to_vec(),
            }),
        }
    }

    /// Columns that the model was fitted on and a table lacks: their values count as missing in every row.
    pub fn missing_features(&self, table: &RankingTable) -> Vec<&str> {
        let there: std::collections::HashSet<&str> =
            table.features().iter().map(String::as_str).collect();
        let known = self.map.columns().iter().map(String::as_str);
        known.filter(|name| !there.contains(name)).collect()
    }

    /// The score of every row of a table; larger ones are to be listed first. Columns are found by name, and one that the model does
    /// not know is an error: with every column passed over, all documents would be equal, and nothing would show it. Columns that the table
    /// lacks are missing in every row (see [`RankModel::missing_features`]).
    pub fn scores(&self, table: &RankingTable) -> Result<Vec<f64>, UnknownFeatures> {
        self.check_features(table)?;
        Ok(self.scores_by_known(table))
    }

    /// As [`RankModel::scores`], but columns that the model does not know are passed over.
    pub fn scores_by_known(&self, table: &RankingTable) -> Vec<f64> {
        /// Rows a task scores; where pieces lie does not change any score.
        const PIECE: usize = 1024;
        let rows = self.map.rows(table);
        let weighted = rows.with_weights(self.weights());
        let bias = self.bias();
        let mut scores = vec![0.0; table.row_count()];
        parallel::map_chunks_mut(&mut scores, PIECE, |piece, scores| {
            let start = piece * PIECE;
            weighted.scores_into(start..start + scores.len(), scores);
            scores.iter_mut().for_each(|score| *score += bias);
        });
        scores
    }

    /// What each column adds to the scores of these rows, in the order of the model's columns: with the bias they add up to the score.
    ///
    /// ```
    /// use calibrant::NoProgress;
    /// use calibrant::ranking::RankingTable;
    /// use calibrant::ranking::learning::{RankModel, RankParameters};
    /// # let names = vec!["bm25".into(), "length".into()];
    /// # let table = RankingTable::new(names, &[("q".into(), 2)], &["a", "b"], vec![1, 0], vec![1.0, 3.0, 0.0, 2.0])?;
    /// # let settings = RankParameters { c: vec![0.05], ..RankParameters::default() };
    /// let model = RankModel::fit_with(&table, None, &settings, &NoProgress)?;
    /// let parts = model.parts(&table, &[0]);
    /// let score = model.scores(&table)?[0];
    /// assert!((parts[0].iter().sum::<f64>() + model.bias() - score).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parts(&self, table: &RankingTable, rows: &[usize]) -> Vec<Vec<f64>> {
        let features = self.map.rows(table);
        let columns = 0..self.map.columns().len();
        let of_row = |&row: &usize| {
            let values = features.expanded(row);
            let part = |column: usize| {
                let own = self.map.features_of(column);
                let pairs = self.weights[own.clone()].iter().zip(&values[own]);
                pairs
                    .map(|(weight, value)| weight * f64::from(*value))
                    .sum()
            };
            columns.clone().map(part).collect()
        };
        rows.iter().map(of_row).collect()
    }

    /// What the model makes of each column, those that move scores most first.
    pub fn curves(&self) -> Vec<FeatureCurve> {
        let plain = self.map.settings().bins == 0;
        let names = self.map.columns().iter().enumerate();
        let mut curves: Vec<FeatureCurve> = names
            .map(|(column, name)| {
                let weights = &self.weights[self.map.features_of(column)];
                let mut level = 0.0;
                let steps = self.map.thresholds(column).iter().zip(weights);
                FeatureCurve {
                    feature: name.clone(),
                    slope: plain.then(|| weights[0]),
                    steps: steps
                        .map(|(&threshold, weight)| {
                            level += weight;
                            (threshold, level)
                        })
                        .collect(),
                }
            })
            .collect();
        curves.sort_by(|a, b| b.reach().total_cmp(&a.reach()));
        curves
    }
}
