//! Which class was taken for which.

use super::forecasts::Row;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Documents of one class that were decided to be of one class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ConfusionCell {
    /// The true class, a position in the class names.
    pub truth: usize,
    /// The most probable class.
    pub decision: usize,
    /// How many documents.
    pub documents: usize,
    /// The sum of their weights.
    pub weight: f64,
}

/// The confusion matrix of single-label forecasts: its cells that are not empty, by truth and then by
/// decision. (With a thousand classes nearly all of a million cells are empty.)
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConfusionMatrix {
    /// The cells.
    pub cells: Vec<ConfusionCell>,
}

impl ConfusionMatrix {
    pub(super) fn new(rows: &[Row<'_>]) -> Self {
        let mut cells: BTreeMap<(usize, usize), (usize, f64)> = BTreeMap::new();
        for row in rows {
            let truth = row.labels.first().map_or(0, |&label| label as usize);
            let cell = cells.entry((truth, row.top_class())).or_default();
            cell.0 += 1;
            cell.1 += row.weight;
        }
        let cells = cells
            .into_iter()
            .map(|((truth, decision), (documents, weight))| ConfusionCell {
                truth,
                decision,
                documents,
                weight,
            })
            .collect();
        Self { cells }
    }

    /// The weight of one cell.
    pub fn weight(&self, truth: usize, decision: usize) -> f64 {
        let found = self
            .cells
            .iter()
            .find(|cell| (cell.truth, cell.decision) == (truth, decision));
        found.map_or(0.0, |cell| cell.weight)
    }

    /// The cells off the diagonal, the heaviest first.
    pub fn confusions(&self) -> Vec<ConfusionCell> {
        let mut cells: Vec<ConfusionCell> = self.cells.clone();
        cells.retain(|cell| cell.truth != cell.decision);
        cells.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        cells
    }
}
