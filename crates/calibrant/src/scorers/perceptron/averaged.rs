//! The mean of the weights over all visits.

use super::train::{Examples, Mistakes};
use crate::FitError;
use crate::parallel;
use crate::saved::Storage;
use crate::scorers::{LinearClassScorer, Link, WeightMatrix};

/// A mistake on visit `t` of `T` (counted from 0) is part of the weights from then on: its share of the
/// mean is `(T - t)/T`. So the mean follows from the list of mistakes alone, without keeping sums up to
/// date on the way.
pub(super) fn average(
    examples: &Examples<'_>,
    mistakes: &[Mistakes],
) -> Result<LinearClassScorer, FitError> {
    let columns = examples.problem.rows.column_count();
    let means: Vec<(Vec<f64>, f64)> = parallel::map(mistakes, |mistakes| {
        let mut weights = vec![0f64; columns];
        let mut bias = 0.0;
        for mistake in &mistakes.list {
            let share = (mistakes.visits - mistake.at) as f64 / mistakes.visits as f64;
            let step = share * mistake.step;
            bias += step;
            for (column, value) in examples.problem.rows.row(mistake.row as usize).entries() {
                weights[column] += step * value;
            }
        }
        (weights, bias)
    });
    let width = means.len();
    let mut weights = vec![0f32; columns * width];
    for (output, (of_output, _)) in means.iter().enumerate() {
        for (column, &weight) in of_output.iter().enumerate() {
            weights[column * width + output] = weight as f32;
        }
    }
    let biases: Vec<f64> = means.into_iter().map(|(_, bias)| bias).collect();
    let finite = biases.iter().all(|bias| bias.is_finite())
        && weights.iter().all(|weight| weight.is_finite());
    if !finite {
        return Err(FitError::Overflow);
    }
    let link = Link::of(examples.problem.labels);
    let weights = WeightMatrix::Single(Storage::Owned(weights));
    Ok(LinearClassScorer::from_parts(weights, biases, link))
}
