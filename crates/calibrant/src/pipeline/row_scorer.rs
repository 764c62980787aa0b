//! Linear models that read borrowed rows where they lie.

use super::SingleModel;
use super::single_model::PredictBuffers;
use super::{Model, fit_borrowed};
use crate::Probability;
use crate::features::RowSource;
use crate::scorers::{LinearClassScorer, Link};
use crate::solvers::DenseScores;

/// A linear model with its weights in the order of columns, for many rows.
pub(crate) struct RowScorer<'m> {
    model: &'m SingleModel,
    biases: &'m [f64],
    weights: Weights,
}

enum Weights {
    /// One output.
    One(Vec<f64>),
    /// Four outputs at a time side by side.
    Lanes(Vec<Vec<[f64; 4]>>),
    Dense(DenseScores),
}

impl<'m> RowScorer<'m> {
    /// `None` where the model is of another kind, or there are too few rows for it to be worth while.
    pub(crate) fn of(model: &'m Model, rows: &dyn RowSource) -> Option<Self> {
        let Model::Single(model) = model else {
            return None;
        };
        let scorer = model.scorer().as_linear()?;
        let is_plain = scorer.damping().is_none() && scorer.link() != Link::AgainstRest;
        if !is_plain || !fit_borrowed::reads_columns_as_they_are(model) {
            return None;
        }
        let features = features_of_columns(model, rows.column_count());
        let outputs = scorer.output_count();
        let weight = |column: usize, output: usize| match features[column] {
            u32::MAX => 0.0,
            feature => scorer.weight(feature as usize, output),
        };
        let weights = match rows.as_dense() {
            Some(view) => Weights::Dense(DenseScores::new(view, outputs, weight)),
            None if rows.entry_count() < features.len() => return None,
            None => sparse_weights(scorer, features.len(), weight),
        };
        Some(Self {
            model,
            biases: scorer.biases(),
            weights,
        })
    }

    /// Fills the forecasts of some rows, row after row.
    pub(crate) fn predict_into(
        &self,
        rows: &dyn RowSource,
        first: usize,
        forecasts: &mut [Probability],
    ) {
        let width = self.model.class_count();
        let (outputs, count) = (self.biases.len(), forecasts.len() / width.max(1));
        let mut scores = vec![0.0; count * outputs];
        match &self.weights {
            Weights::One(weights) => {
                for (row, score) in (first..).zip(&mut scores) {
                    *score = rows.dot(row, weights);
                }
            }
            Weights::Lanes(blocks) => {
                for (row, scores) in (first..).zip(scores.chunks_mut(outputs)) {
                    for (scores, weights) in scores.chunks_mut(4).zip(blocks) {
                        let found = rows.dot_lanes(row, weights);
                        scores.copy_from_slice(&found[..scores.len()]);
                    }
                }
            }
            Weights::Dense(weights) => {
                let numbers: Vec<u32> = (first as u32..(first + count) as u32).collect();
                if let Some(view) = rows.as_dense() {
                    weights.fill(view, &numbers, &mut scores);
                }
            }
        }
        let mut buffers = PredictBuffers::default();
        for (scores, classes) in scores.chunks_mut(outputs).zip(forecasts.chunks_mut(width)) {
            for (score, bias) in scores.iter_mut().zip(self.biases) {
                *score += bias;
            }
            buffers.scores.clear();
            buffers.scores.extend_from_slice(scores);
            self.model.probabilities_into(&mut buffers, classes);
        }
    }
}

fn sparse_weights(
    scorer: &LinearClassScorer,
    columns: usize,
    weight: impl Fn(usize, usize) -> f64,
) -> Weights {
    let outputs = scorer.output_count();
    if outputs == 1 {
        return Weights::One((0..columns).map(|column| weight(column, 0)).collect());
    }
    let block = |first: usize| {
        let lanes = |column: usize| {
            std::array::from_fn(|lane| match first + lane {
                output if output < outputs => weight(column, output),
                _ => 0.0,
            })
        };
        (0..columns).map(lanes).collect()
    };
    Weights::Lanes((0..outputs).step_by(4).map(block).collect())
}

/// For each column of the rows its feature; the largest number where it has none.
fn features_of_columns(model: &SingleModel, column_count: usize) -> Vec<u32> {
    let mut features = vec![u32::MAX; column_count];
    let Some(vocabulary) = model.extractor().vocabulary() else {
        return features;
    };
    for feature in 0..model.extractor().term_count() as u32 {
        let term = vocabulary.term(feature);
        // As it is written by whoever numbers features: `01` and `+1` are other names.
        let is_plain = term == "0" || !term.starts_with(['0', '+']);
        let number: Option<usize> = term.parse().ok();
        if let Some(column) = number.filter(|_| is_plain)
            && let Some(place) = features.get_mut(column)
        {
            *place = feature;
        }
    }
    features
}
