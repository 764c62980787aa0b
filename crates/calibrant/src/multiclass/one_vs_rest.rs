//! One linear problem a class, in parallel over classes and folds.

use rayon::prelude::*;

use super::ClassLabels;
use crate::corpus::Folds;
use crate::features::SparseMatrix;
use crate::scorers::{
    DualLearner, LinearClassScorer, LinearModel, Link, PreparedRows, Storage, WeightMatrix,
};
use crate::solvers::Convergence;
use crate::{FitError, Progress};

/// How much more the positives and the negatives of each class count in training.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassFactors {
    /// `(positives, negatives)` for each output.
    pub by_output: Vec<(f64, f64)>,
}

impl ClassFactors {
    fn weights(&self, output: usize, labels: &[bool], weights: &[f64]) -> Vec<f64> {
        let (positive, negative) = self.by_output[output];
        labels
            .iter()
            .zip(weights)
            .map(|(&label, weight)| weight * if label { positive } else { negative })
            .collect()
    }
}

/// Fits one scorer for each output of the labels.
#[derive(Debug, Clone, Copy)]
pub struct OneVsRest<'a> {
    /// The rows.
    pub rows: &'a SparseMatrix,
    /// Their classes.
    pub labels: &'a ClassLabels,
    /// How much each row counts.
    pub weights: &'a [f64],
    /// How much more the sides of each problem count.
    pub factors: &'a ClassFactors,
}

/// The scorer of all classes with what cross-fitting gave.
#[derive(Debug)]
pub struct OneVsRestFit {
    /// The model of all rows.
    pub scorer: LinearClassScorer,
    /// For each output, the score of each row from a model that did not learn from it.
    pub out_of_fold: Vec<Vec<f64>>,
    /// For each output, the worst end of a solver over the whole and the folds.
    pub convergence: Vec<Convergence>,
}

impl OneVsRestFit {
    pub(crate) fn into_parts(self) -> (LinearClassScorer, Vec<Vec<f64>>, Vec<Convergence>) {
        (self.scorer, self.out_of_fold, self.convergence)
    }
}

impl OneVsRest<'_> {
    /// Fits all classes and their folds; folds start from the solution of the whole.
    pub(crate) fn cross_fit(
        &self,
        learner: &impl DualLearner,
        folds: &Folds,
        progress: &dyn Progress,
    ) -> Result<OneVsRestFit, FitError> {
        let prepared = PreparedRows::new(self.rows);
        let fits = (0..self.labels.output_count())
            .into_par_iter()
            .map(|output| {
                let labels = self.labels.membership(self.labels.class_of_output(output));
                let weights = self.factors.weights(output, &labels, self.weights);
                let fit = learner.cross_fit_prepared(&prepared, &labels, &weights, folds);
                progress.advance(1);
                fit
            })
            .collect::<Result<Vec<_>, _>>()?;
        let mut models = Vec::with_capacity(fits.len());
        let mut out_of_fold = Vec::with_capacity(fits.len());
        let mut convergence = Vec::with_capacity(fits.len());
        for (model, scores, end) in fits {
            models.push(model);
            out_of_fold.push(scores);
            convergence.push(end);
        }
        Ok(OneVsRestFit {
            scorer: self.side_by_side(&models),
            out_of_fold,
            convergence,
        })
    }

    /// Fits all classes on some rows.
    pub(crate) fn fit_members(
        &self,
        learner: &impl DualLearner,
        members: &[u32],
    ) -> Result<(LinearClassScorer, Vec<Convergence>), FitError> {
        let prepared = PreparedRows::new(self.rows);
        let models = (0..self.labels.output_count())
            .into_par_iter()
            .map(|output| {
                let labels = self.labels.membership(self.labels.class_of_output(output));
                let weights = self.factors.weights(output, &labels, self.weights);
                learner.fit_prepared(&prepared, &labels, &weights, members)
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok((
            self.side_by_side(&models),
            models.iter().map(LinearModel::convergence).collect(),
        ))
    }

    /// Feature after feature, the classes' weights side by side.
    fn side_by_side(&self, models: &[LinearModel]) -> LinearClassScorer {
        let width = models.len();
        let mut weights = vec![0f32; self.rows.column_count() * width];
        let chunk = 4096;
        weights
            .par_chunks_mut(chunk * width)
            .enumerate()
            .for_each(|(number, weights)| {
                for (output, model) in models.iter().enumerate() {
                    let column = &model.weights()[number * chunk..][..weights.len() / width];
                    for (offset, &weight) in column.iter().enumerate() {
                        weights[offset * width + output] = weight;
                    }
                }
            });
        let biases = models.iter().map(LinearModel::bias).collect();
        let link = if width < self.labels.class_count {
            Link::Mirror
        } else {
            Link::Independent
        };
        LinearClassScorer::from_parts(WeightMatrix::Single(Storage::Owned(weights)), biases, link)
    }
}
