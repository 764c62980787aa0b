//! A model from arrays, and its answers to arrays.

use super::content::Readable;
use super::{ExplainError, PredictError};
use crate::corpus::ContentRef;
use crate::features::{RowSource, tidy_row_into};
use crate::parallel;
use crate::pipeline::{
    Explanation, FitSettings, Model, PredictBuffers, RowScorer, TrainingRows, fit_training_rows,
};
use crate::{FitError, Probability, Progress};

/// Rows that a thread predicts before it takes others.
const ROWS_AT_ONCE: usize = 256;

/// Learns a calibrated model from rows of numbers: the same folds by content, copies, groups and relative weights as
/// for documents.
///
/// Features go by the number of their column. Values are taken as they are unless the settings ask for a weighting. A linear SVM and
/// logistic regression then read the rows where they lie, every column being a feature, and find what they would find in a file
/// of the same numbered features to the solver's tolerance; whatever else is asked for counts the rows, and gives the same model as such a file.
/// Classes come in the order of their names ([`Model::class_names`]), which need not be that of their numbers.
///
/// ```
/// use calibrant::NoProgress;
/// use calibrant::features::Csr;
/// use calibrant::jobs::{fit_rows, predict_rows};
/// use calibrant::pipeline::{FitSettings, TrainingRows};
/// // Forty rows of one entry: column 0 for the first class, column 1 for the second.
/// let starts: Vec<i64> = (0..=40).collect();
/// let columns: Vec<i32> = (0..40).map(|row| row % 2).collect();
/// let values: Vec<f64> = (0..40).map(|row| 1.0 + f64::from(row) / 100.0).collect();
/// let classes: Vec<u32> = (0..40).map(|row| row % 2).collect();
/// let rows = Csr::new(&starts, &columns, &values)?;
/// let model = fit_rows(&TrainingRows::new(&rows, &classes), &FitSettings::default(), &NoProgress)?;
/// let forecasts = predict_rows(&model, &rows)?;
/// assert_eq!(forecasts.len(), 80); // row after row, class after class
/// assert!(forecasts[0].value() > 0.9 && forecasts[1].value() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fit_rows(
    rows: &TrainingRows<'_>,
    settings: &FitSettings,
    progress: &dyn Progress,
) -> Result<Model, FitError> {
    fit_training_rows(rows, settings, progress)
}

/// The probability of every class, row after row, in the order of [`Model::class_names`]. A model that was fitted on text
/// is an error: it has no numbered features.
pub fn predict_rows(model: &Model, rows: &dyn RowSource) -> Result<Vec<Probability>, PredictError> {
    Readable::of(model).check(ContentRef::Features(&[]))?;
    let width = model.class_count();
    let direct = RowScorer::of(model, rows);
    let mut forecasts = vec![Probability::from_log_odds(0.0); rows.row_count() * width];
    parallel::map_chunks_mut(
        &mut forecasts,
        width.max(1) * ROWS_AT_ONCE,
        |part, forecasts| {
            if let Some(direct) = &direct {
                return direct.predict_into(rows, part * ROWS_AT_ONCE, forecasts);
            }
            let (mut buffers, mut entries) = (PredictBuffers::default(), Vec::new());
            for (offset, classes) in forecasts.chunks_exact_mut(width).enumerate() {
                tidy_row_into(rows, part * ROWS_AT_ONCE + offset, &mut entries);
                model.predict_into(&entries[..], &mut buffers, classes);
            }
        },
    );
    Ok(forecasts)
}

/// Explains the probability of a class (a number below [`Model::class_count`]) for one row. Features go by the names of
/// their columns, by the numbers where there is no name. A model that was fitted on text is an error.
///
/// # Panics
/// If there is no such row or class.
pub fn explain_row(
    model: &Model,
    rows: &dyn RowSource,
    row: usize,
    class: usize,
    column_names: &[String],
) -> Result<Explanation, ExplainError> {
    Readable::of(model).check(ContentRef::Features(&[]))?;
    let mut entries = Vec::new();
    tidy_row_into(rows, row, &mut entries);
    let mut explanation = model.explain(&entries[..], class);
    for term in &mut explanation.terms {
        let number: Option<usize> = term.term.parse().ok();
        if let Some(name) = number.and_then(|number| column_names.get(number)) {
            term.term.clone_from(name);
        }
    }
    Ok(explanation)
}
