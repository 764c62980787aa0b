//! What a pool says of documents that its models had not seen.

use crate::calibration::{LogOddsPool, MemberForecasts};
use crate::evaluation::Forecasts;
use crate::problem::Folds;
use crate::{FitError, Probability};

/// For each fold the pool of all other documents.
pub(super) fn pools_without_folds(
    forecasts: &MemberForecasts,
    fold_count: usize,
    fold_of: impl Fn(usize) -> usize,
) -> Result<Vec<LogOddsPool>, FitError> {
    (0..fold_count)
        .map(|fold| Ok(LogOddsPool::fit(forecasts, |row| fold_of(row) != fold)?))
        .collect()
}

/// As [`pools_without_folds`] where rows are those of the folds.
pub(super) fn pools_without(
    forecasts: &MemberForecasts,
    folds: &Folds,
) -> Result<Vec<LogOddsPool>, FitError> {
    pools_without_folds(forecasts, folds.count(), |row| folds.of(row))
}

/// What is said of each document by the pool that `pool_of` names for it.
pub(super) fn pooled<'p>(
    class_names: Vec<String>,
    forecasts: &MemberForecasts,
    pool_of: impl Fn(usize) -> &'p LogOddsPool,
) -> Forecasts {
    let (task, class_count) = (forecasts.task(), forecasts.class_count());
    let even = Probability::from_log_odds(0.0);
    let mut probabilities = vec![even; forecasts.len() * class_count];
    let mut buffer = Vec::new();
    for (row, classes) in probabilities.chunks_exact_mut(class_count).enumerate() {
        pool_of(row).pool_into(task, forecasts.evidence(row), &mut buffer, classes);
    }
    Forecasts {
        task,
        class_names,
        probabilities,
        labels: forecasts.labels().iter().collect(),
        weights: Some(forecasts.weights().to_vec()),
    }
}
