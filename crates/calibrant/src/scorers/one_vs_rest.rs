//! One linear problem a class, in parallel over classes and folds.

use rayon::prelude::*;

use super::{
    DualFit, DualLearner, LaneData, LinearClassScorer, LinearModel, Link, PreparedRows, Scorer,
    Storage, WeightMatrix,
};
use crate::features::SparseMatrix;
use crate::problem::{ClassFactors, ClassLabels, Folds};
use crate::progress::{check, step};
use crate::solvers::Convergence;
use crate::{FitError, Progress};

/// How many classes are solved side by side: their weights of a feature fill a vector register.
const LANES: usize = 4;

/// One scorer for each output of the labels.
#[derive(Debug, Clone, Copy)]
pub struct OneVsRest<'a> {
    /// The classes of the rows.
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

impl OneVsRest<'_> {
    /// Fits some outputs side by side.
    fn fit_block(
        &self,
        learner: &impl DualLearner,
        rows: &PreparedRows<'_>,
        members: &[u32],
        outputs: &[usize],
        starts: Option<&[Vec<f64>]>,
    ) -> Result<Vec<DualFit>, FitError> {
        let lanes: Vec<LaneData<'_>> = outputs
            .iter()
            .map(|&output| {
                let labels = self.labels.membership(self.labels.class_of_output(output));
                LaneData {
                    labels,
                    factors: self.factors.by_output[output],
                    start: starts.map(|starts| starts[output].as_slice()),
                }
            })
            .collect();
        match lanes.len() {
            1 => learner.fit_lanes::<1>(rows, self.weights, members, &lanes),
            _ => learner.fit_lanes::<LANES>(rows, self.weights, members, &lanes),
        }
    }

    /// Fits all outputs, block by block in parallel.
    fn fit_outputs(
        &self,
        learner: &impl DualLearner,
        rows: &SparseMatrix,
        members: &[u32],
        starts: Option<&[Vec<f64>]>,
        progress: &dyn Progress,
    ) -> Result<Vec<DualFit>, FitError> {
        let prepared = PreparedRows::new(rows);
        let outputs: Vec<usize> = (0..self.labels.output_count()).collect();
        let blocks = outputs
            .par_chunks(LANES)
            .map(|outputs| {
                check(progress)?;
                let fits = self.fit_block(learner, &prepared, members, outputs, starts)?;
                step(progress, outputs.len() as u64)?;
                Ok(fits)
            })
            .collect::<Result<Vec<_>, FitError>>()?;
        Ok(blocks.into_iter().flatten().collect())
    }

    /// Fits all classes on some rows.
    pub(crate) fn fit_members(
        &self,
        learner: &impl DualLearner,
        rows: &SparseMatrix,
        members: &[u32],
        progress: &dyn Progress,
    ) -> Result<(LinearClassScorer, Vec<Convergence>), FitError> {
        let fits = self.fit_outputs(learner, rows, members, None, progress)?;
        let convergence = fits.iter().map(|fit| fit.model.convergence()).collect();
        Ok((self.side_by_side(&fits, rows.column_count()), convergence))
    }

    /// Fits all classes on all rows and without each fold. `without(fold)` gives the rows as a
    /// model that does not know the fold sees them; a fold starts from the whole's solution.
    pub(crate) fn cross_fit(
        &self,
        learner: &impl DualLearner,
        whole: SparseMatrix,
        without: impl Fn(usize) -> SparseMatrix + Sync,
        folds: &Folds,
        progress: &dyn Progress,
    ) -> Result<OneVsRestFit, FitError> {
        let everyone: Vec<u32> = (0..whole.row_count() as u32).collect();
        let fits = self.fit_outputs(learner, &whole, &everyone, None, progress)?;
        let scorer = self.side_by_side(&fits, whole.column_count());
        let mut convergence: Vec<Convergence> =
            fits.iter().map(|fit| fit.model.convergence()).collect();
        let duals: Vec<Vec<f64>> = fits.into_iter().map(|fit| fit.duals).collect();
        drop(whole);

        let one_fold = |fold: usize| -> Result<Vec<(Vec<f64>, Convergence)>, FitError> {
            let (held_out, members): (Vec<u32>, Vec<u32>) = everyone
                .iter()
                .partition(|&&row| folds.of(row as usize) == fold);
            let rows = without(fold);
            let fits = self.fit_outputs(learner, &rows, &members, Some(&duals), progress)?;
            let scored = |fit: DualFit| {
                let scores = held_out
                    .par_iter()
                    .map(|&row| fit.model.score(rows.row(row as usize)))
                    .collect();
                (scores, fit.model.convergence())
            };
            Ok(fits.into_iter().map(scored).collect())
        };
        // As many folds at once as keep all threads busy, and no more: each holds values of its own.
        let threads = rayon::current_num_threads();
        let blocks = duals.len().div_ceil(LANES);
        let at_once = (4 * threads).div_ceil(blocks).min(threads);
        let mut parts = Vec::with_capacity(folds.count());
        for first in (0..folds.count()).step_by(at_once) {
            let some = first..(first + at_once).min(folds.count());
            parts.extend(
                some.into_par_iter()
                    .map(one_fold)
                    .collect::<Result<Vec<_>, _>>()?,
            );
        }

        let mut out_of_fold = vec![vec![0.0; everyone.len()]; duals.len()];
        for (fold, part) in parts.into_iter().enumerate() {
            let held_out: Vec<usize> = (0..everyone.len())
                .filter(|&row| folds.of(row) == fold)
                .collect();
            for (output, (scores, end)) in part.into_iter().enumerate() {
                held_out
                    .iter()
                    .zip(scores)
                    .for_each(|(&row, score)| out_of_fold[output][row] = score);
                if end.relative_gap > convergence[output].relative_gap {
                    convergence[output] = end;
                }
            }
        }
        Ok(OneVsRestFit {
            scorer,
            out_of_fold,
            convergence,
        })
    }

    /// Feature after feature, the classes' weights side by side.
    fn side_by_side(&self, fits: &[DualFit], column_count: usize) -> LinearClassScorer {
        let models: Vec<&LinearModel> = fits.iter().map(|fit| &fit.model).collect();
        let width = models.len();
        let mut weights = vec![0f32; column_count * width];
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
        let biases = models.iter().map(|model| model.bias()).collect();
        let link = if width < self.labels.class_count {
            Link::Mirror
        } else {
            Link::Independent
        };
        LinearClassScorer::from_parts(WeightMatrix::Single(Storage::Owned(weights)), biases, link)
    }
}
