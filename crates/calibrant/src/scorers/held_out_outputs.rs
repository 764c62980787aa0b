//! What a linear scorer's terms say of rows that it did not learn from.

use super::length_damping::LengthDamping;
use super::{LinearClassScorer, Link};
use crate::features::SparseMatrix;
use crate::numeric::log_odds_against_rest;
use crate::parallel;
use crate::problem::Folds;

/// Rows whose scores are worked out before they are written down.
const BLOCK: usize = 4096;

/// What was said of rows, each by a scorer that did not learn from it, before the link is applied: from it the scores follow
/// for any [`LengthDamping`].
#[derive(Debug)]
pub struct HeldOutOutputs<'a> {
    folds: &'a Folds,
    link: Link,
    /// Output after output, for each row what is said before the link.
    outputs: Vec<Vec<f64>>,
    /// For each row, how much of it the scorer knows.
    lengths: Vec<f64>,
    /// For each fold, what its scorer says of an empty row.
    biases: Vec<Vec<f64>>,
}

impl<'a> HeldOutOutputs<'a> {
    /// Nothing said yet; `whole` is the scorer of all rows.
    pub(super) fn new(whole: &LinearClassScorer, folds: &'a Folds, row_count: usize) -> Self {
        Self {
            folds,
            link: whole.link(),
            outputs: vec![vec![0.0; row_count]; whole.output_count()],
            lengths: vec![0.0; row_count],
            biases: Vec::new(),
        }
    }

    /// Takes what the next fold's model says of the fold's rows; it knows the columns that are features.
    pub(super) fn add_fold(
        &mut self,
        model: &LinearClassScorer,
        rows: &SparseMatrix,
        held_out: &[u32],
        is_feature: impl Fn(usize) -> bool + Sync,
    ) {
        let said: Vec<(Vec<f64>, f64)> = parallel::map(held_out, |&row| {
            let row = rows.row(row as usize);
            let mut outputs = vec![0.0; model.output_count()];
            model.outputs_into(row, &mut outputs);
            let known = row.entries().filter(|entry| is_feature(entry.0));
            (outputs, known.map(|(_, value)| value).sum())
        });
        for (&row, (outputs, length)) in held_out.iter().zip(said) {
            self.lengths[row as usize] = length;
            for (column, output) in self.outputs.iter_mut().zip(outputs) {
                column[row as usize] = output;
            }
        }
        self.biases.push(model.biases().to_vec());
    }

    /// How many outputs there are.
    pub fn output_count(&self) -> usize {
        self.outputs.len()
    }

    /// For each row, how much of it the scorer knows.
    pub fn lengths(&self) -> &[f64] {
        &self.lengths
    }

    /// The scores of one row that calibrators see.
    pub(super) fn scores_into(
        &self,
        row: usize,
        damping: Option<LengthDamping>,
        scores: &mut [f64],
    ) {
        let factor = damping.map_or(1.0, |damping| damping.factor(self.lengths[row]));
        let biases = &self.biases[self.folds.of(row)];
        for ((score, outputs), bias) in scores.iter_mut().zip(&self.outputs).zip(biases) {
            *score = bias + factor * (outputs[row] - bias);
        }
        if self.link == Link::AgainstRest {
            let joint = scores.to_vec();
            log_odds_against_rest(&joint, scores);
        }
    }

    /// For some rows the scores of all outputs.
    pub fn scores(&self, rows: &[usize], damping: Option<LengthDamping>) -> Vec<Vec<f64>> {
        parallel::map(rows, |&row| {
            let mut scores = vec![0.0; self.output_count()];
            self.scores_into(row, damping, &mut scores);
            scores
        })
    }

    /// Every row's scores, output after output, in the memory of what was said before the link.
    pub(super) fn into_scores(mut self, damping: Option<LengthDamping>) -> Vec<Vec<f64>> {
        let every: Vec<usize> = (0..self.lengths.len()).collect();
        for rows in every.chunks(BLOCK) {
            let scores = self.scores(rows, damping);
            for (&row, scores) in rows.iter().zip(scores) {
                for (column, score) in self.outputs.iter_mut().zip(scores) {
                    column[row] = score;
                }
            }
        }
        self.outputs
    }
}
