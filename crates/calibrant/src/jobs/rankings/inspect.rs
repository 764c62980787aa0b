//! What a ranking model is made of.

use std::path::Path;

use serde::Serialize;

use crate::pipeline::{FORMAT_VERSION, ModelFileError};
use crate::ranking::Relevance;
use crate::ranking::learning::{FeatureCurve, RankModel, RankParameters, RankSummary};

/// A ranking model as a person wants to see it.
#[derive(Debug, Clone, Serialize)]
pub struct RankInspection {
    /// Always `ranking`.
    pub kind: &'static str,
    /// The version of the file format.
    pub format_version: u32,
    /// The size of the file.
    pub file_bytes: u64,
    /// What it was learned with.
    pub settings: RankParameters,
    /// How it came about.
    pub summary: RankSummary,
    /// What is added to every score.
    pub bias: f64,
    /// What it makes of each column, those that move scores most first.
    #[serde(rename = "functions")]
    pub curves: Vec<FeatureCurve>,
    /// The curve from scores to probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<Relevance>,
    /// How many columns it looks at.
    #[serde(skip)]
    pub column_count: usize,
    /// How many features are made of them.
    #[serde(skip)]
    pub feature_count: usize,
}

impl RankInspection {
    /// Opens a model and looks at it.
    pub fn open(path: &Path) -> Result<Self, ModelFileError> {
        let model = RankModel::open(path)?;
        let file_bytes = std::fs::metadata(path).map_or(0, |found| found.len());
        Ok(Self::new(&model, file_bytes))
    }

    /// Looks at a model whose file has so many bytes.
    pub fn new(model: &RankModel, file_bytes: u64) -> Self {
        Self {
            kind: "ranking",
            format_version: FORMAT_VERSION,
            file_bytes,
            settings: model.settings().clone(),
            summary: model.summary().clone(),
            bias: model.bias(),
            curves: model.curves(),
            relevance: model.relevance().cloned(),
            column_count: model.features().columns().len(),
            feature_count: model.features().dimension(),
        }
    }
}
