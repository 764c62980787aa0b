//! How far a class's stated log-odds may be off.

use crate::calibration::LogOddsSpread;
use crate::evaluation::Forecasts;

/// Beyond so many forecasts of all classes it is not looked at: it would take longer than it is worth.
const MOST_FORECASTS: usize = 20_000_000;

/// From held-out forecasts of the class; the members are the documents that have it.
pub(super) fn spread_of_class(
    forecasts: &Forecasts,
    class: usize,
    members: &[u32],
) -> Option<LogOddsSpread> {
    let width = forecasts.class_names.len();
    if forecasts.probabilities.len() > MOST_FORECASTS {
        return None;
    }
    let documents = forecasts.labels.len();
    let mut has = vec![false; documents];
    for &member in members {
        has[member as usize] = true;
    }
    let weights = forecasts.weights.as_deref();
    let total: f64 = weights.map_or(documents as f64, |weights| weights.iter().sum());
    // Only ratios of weights count: a document's mean weight is one.
    let scale = documents as f64 / total;
    let rows = forecasts.probabilities.chunks_exact(width.max(1));
    let cases = rows.zip(has).enumerate().map(|(row, (stated, has))| {
        let weight = weights.map_or(1.0, |weights| weights[row] * scale);
        (stated[class].log_odds(), has, weight)
    });
    LogOddsSpread::of_one_group(cases)
}
