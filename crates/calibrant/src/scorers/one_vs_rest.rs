//! One linear problem per output, in parallel over outputs and folds.

use super::learner::{CrossFit, Fitted, FoldSource};
use super::linear::{DualFit, DualLearner, LaneData, PreparedRows};
use super::{LinearClassScorer, Link, Storage, WeightMatrix};
use crate::features::SparseMatrix;
use crate::parallel;
use crate::problem::{ClassLabels, Problem, Targets};
use crate::progress::step;
use crate::solvers::Convergence;
use crate::{FitError, NoProgress, Progress};

/// How many classes are solved side by side: their weights of a feature fill a vector register.
const LANES: usize = 4;

/// Fits some outputs side by side.
fn fit_block(
    learner: &impl DualLearner,
    prepared: &PreparedRows<'_>,
    problem: &Problem<'_>,
    outputs: &[usize],
    starts: Option<&[Vec<f64>]>,
    progress: &dyn Progress,
) -> Result<Vec<DualFit>, FitError> {
    let labels = problem.labels;
    let lanes: Vec<LaneData<'_>> = outputs
        .iter()
        .map(|&output| LaneData {
            labels: labels.membership(labels.class_of_output(output)),
            factors: problem.factors.by_output[output],
            start: starts.map(|starts| starts[output].as_slice()),
        })
        .collect();
    let Problem {
        weights, members, ..
    } = *problem;
    match lanes.len() {
        1 => learner.fit_lanes::<1>(prepared, weights, members, &lanes, progress),
        _ => learner.fit_lanes::<LANES>(prepared, weights, members, &lanes, progress),
    }
}

/// Fits all outputs, block by block in parallel.
fn fit_outputs(
    learner: &impl DualLearner,
    problem: &Problem<'_>,
    starts: Option<&[Vec<f64>]>,
    progress: &dyn Progress,
) -> Result<Vec<DualFit>, FitError> {
    let prepared = PreparedRows::new(problem.rows);
    let outputs: Vec<usize> = (0..problem.labels.output_count()).collect();
    let blocks: Vec<&[usize]> = outputs.chunks(LANES).collect();
    let blocks = parallel::try_map(&blocks, |outputs| {
        let fits = fit_block(learner, &prepared, problem, outputs, starts, progress)?;
        step(progress, outputs.len() as u64)?;
        Ok::<_, FitError>(fits)
    })?;
    Ok(blocks.into_iter().flatten().collect())
}

/// Fits all classes on some rows.
pub(super) fn fit(learner: &impl DualLearner, problem: &Problem<'_>) -> Result<Fitted, FitError> {
    let fits = fit_outputs(learner, problem, None, &NoProgress)?;
    let scorer = side_by_side(&fits, problem.labels, problem.rows.column_count());
    Ok(Fitted {
        scorer: scorer.into(),
        convergence: ends(&fits),
    })
}

fn ends(fits: &[DualFit]) -> Vec<Convergence> {
    fits.iter().map(|fit| fit.model.convergence).collect()
}

/// Fits all classes on all rows and without each fold, which starts from the whole's solution.
pub(super) fn cross_fit(
    learner: &impl DualLearner,
    whole: SparseMatrix,
    targets: &Targets<'_>,
    source: &dyn FoldSource,
) -> Result<CrossFit, FitError> {
    let (folds, progress) = (source.folds(), source.progress());
    let everyone: Vec<u32> = (0..whole.row_count() as u32).collect();
    let fits = fit_outputs(learner, &targets.among(&whole, &everyone), None, progress)?;
    let scorer = side_by_side(&fits, targets.labels, whole.column_count());
    let mut convergence = ends(&fits);
    let duals: Vec<Vec<f64>> = fits.into_iter().map(|fit| fit.duals).collect();
    drop(whole);

    let one_fold = |fold: usize| -> Result<Vec<(Vec<f64>, Convergence)>, FitError> {
        let (members, held_out) = folds.split(fold);
        let rows = source.revalued_without(fold);
        let problem = targets.among(&rows, &members);
        let fits = fit_outputs(learner, &problem, Some(&duals), progress)?;
        let scored = |fit: DualFit| {
            let scores = parallel::map(&held_out, |&row| fit.model.score(rows.row(row as usize)));
            (scores, fit.model.convergence)
        };
        Ok(fits.into_iter().map(scored).collect())
    };
    // As many folds at once as keep all threads busy, and no more: each holds values of its own.
    let threads = rayon::current_num_threads();
    let blocks = duals.len().div_ceil(LANES);
    let at_once = (4 * threads).div_ceil(blocks).min(threads);
    let mut out_of_fold = vec![vec![0.0; everyone.len()]; duals.len()];
    for first in (0..folds.count()).step_by(at_once) {
        let some = first..(first + at_once).min(folds.count());
        let parts = parallel::try_map_indices(some.len(), |number| one_fold(first + number))?;
        for (fold, part) in some.zip(parts) {
            let (_, held_out) = folds.split(fold);
            for (output, (scores, end)) in part.into_iter().enumerate() {
                for (&row, score) in held_out.iter().zip(scores) {
                    out_of_fold[output][row as usize] = score;
                }
                if end.relative_gap > convergence[output].relative_gap {
                    convergence[output] = end;
                }
            }
        }
    }
    Ok(CrossFit {
        scorer: scorer.into(),
        out_of_fold,
        convergence,
    })
}

/// Feature after feature, the classes' weights side by side.
fn side_by_side(fits: &[DualFit], labels: &ClassLabels, column_count: usize) -> LinearClassScorer {
    let width = fits.len();
    let mut weights = vec![0f32; column_count * width];
    let chunk = 4096;
    parallel::map_chunks_mut(&mut weights, chunk * width, |number, weights| {
        for (output, fit) in fits.iter().enumerate() {
            let column = &fit.model.weights[number * chunk..][..weights.len() / width];
            for (offset, &weight) in column.iter().enumerate() {
                weights[offset * width + output] = weight;
            }
        }
    });
    let biases = fits.iter().map(|fit| fit.model.bias).collect();
    let weights = WeightMatrix::Single(Storage::Owned(weights));
    LinearClassScorer::from_parts(weights, biases, Link::of(labels))
}
