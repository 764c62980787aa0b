//! Rows that somebody else holds to a calibrated model, without a copy of them.

mod many;

use many::Sample;

use super::choose_cost::with_cost_of_errors;
use super::fit::{Chosen, Held, Learned, calibrate, class_factors, fit, with_usual_weighting};
use super::fit_scorer::TermFit;
use super::summary::TriedCost;
use super::training_corpus::PreparedCorpus;
use super::{FitSettings, Model, RowClasses, SingleModel, TrainingCorpus, TrainingRows};
use crate::corpus::Fields;
use crate::features::{
    FittedWeighting, OrderedRows, RowSource, Vocabulary, Weighting, WeightingSettings,
    tidy_row_into,
};
use crate::problem::{ClassFactors, Folds, Targets};
use crate::progress::{Stage, check};
use crate::scorers::{BorrowedLearner, CrossFit};
use crate::{FitError, Progress, RowLabels};

/// From so many documents a cost of errors is chosen, which draws samples of its own from them.
const MOST_FOR_COST: usize = 6000;

/// Values as they are.
const PLAIN: WeightingSettings = WeightingSettings {
    weighting: Weighting::Tf,
    l2_norm: false,
};

/// Learns a calibrated model from rows of numbers. Linear learners that look at values as they are read the rows where they lie; others
/// count them.
pub(crate) fn fit_training_rows(
    rows: &TrainingRows<'_>,
    settings: &FitSettings,
    progress: &dyn Progress,
) -> Result<Model, FitError> {
    if reads_in_place(settings) {
        return fit_in_place(rows, settings, progress);
    }
    let corpus = TrainingCorpus::of_rows(settings, rows)?;
    fit(corpus, Fields::default(), settings, progress)
}

/// Whether nothing is asked for that needs counts: no weighting, no selection, and every column is a feature.
fn reads_in_place(settings: &FitSettings) -> bool {
    let limits = settings.limits;
    let every_column = limits.min_documents.is_none_or(|least| least <= 1)
        && limits.max_share == 1.0
        && limits.max_features.is_none();
    every_column
        && settings
            .weighting
            .is_none_or(|weighting| weighting == PLAIN)
        && settings.selection.is_none()
        && settings.hash_bits.is_none()
        && settings.rules.is_none()
        && settings.code.is_none()
        && BorrowedLearner::of(&settings.classifier).is_some()
}

/// Whether a model looks at the values of numbered columns as they are, and at nothing beside them.
pub(super) fn reads_columns_as_they_are(model: &SingleModel) -> bool {
    let extractor = model.extractor();
    extractor.weighting().settings() == PLAIN
        && extractor.side_columns().is_none()
        && extractor.vocabulary().is_some()
        && model.settings().rules.is_none()
}

fn fit_in_place(
    training: &TrainingRows<'_>,
    settings: &FitSettings,
    progress: &dyn Progress,
) -> Result<Model, FitError> {
    settings.check()?;
    check(progress)?;
    let mut settings = settings.clone();
    settings.limits.min_documents = Some(1);
    if let Some((row, column)) = training.rows.first_not_finite() {
        return Err(FitError::BadSetting {
            setting: "a feature",
            requirement: "a finite number",
            value: format!("infinite or no number in row {row}, column {column}"),
        });
    }
    let mut corpus = TrainingCorpus::order_of_rows(&settings, training)?;
    let settings = with_usual_weighting(&settings, true);
    let (settings, costs) = choose_cost(&corpus, training, settings, progress)?;
    let mut learned = learn(&mut corpus, training.rows, &settings, progress)?;
    let sample = Sample::of(&corpus, settings.calibrator, &mut learned.fitted.fit)?;
    let chosen = Chosen {
        corpus: Held::Given(Box::new(corpus)),
        settings,
        weightings: Vec::new(),
        costs,
    };
    match sample {
        Some(sample) => sample.calibrate(chosen, learned, progress),
        None => Ok(calibrate(chosen, learned, Fields::default(), progress, false)?.model),
    }
}

/// Settles the cost of errors on some of the documents, which are counted for it.
fn choose_cost(
    corpus: &PreparedCorpus,
    training: &TrainingRows<'_>,
    settings: FitSettings,
    progress: &dyn Progress,
) -> Result<(FitSettings, Vec<TriedCost>), FitError> {
    if settings.classifier.asked_cost().is_some() {
        return Ok((settings, Vec::new()));
    }
    // They are in the order of hashes: any part that is evenly taken is drawn at random.
    let step = corpus.rows.len().div_ceil(MOST_FOR_COST).max(1);
    let places: Vec<usize> = (0..corpus.rows.len()).step_by(step).collect();
    let numbers: Vec<u32> = places.iter().map(|&place| corpus.rows[place]).collect();
    let labels = &corpus.labels.of_row;
    let classes: RowLabels = places.iter().map(|&place| labels[place].to_vec()).collect();
    let weights: Vec<f64> = places
        .iter()
        .map(|&place| corpus.documents.weights[place])
        .collect();
    let units = corpus.documents.units();
    let groups: Vec<u64> = places.iter().map(|&place| units[place].into()).collect();
    let rows = OrderedRows::new(training.rows, &numbers);
    let some = TrainingRows {
        rows: &rows,
        classes: RowClasses::Several(&classes),
        class_names: &corpus.class_names,
        weights: Some(&weights),
        groups: corpus.documents.together.is_some().then_some(&groups[..]),
    };
    let of_some = FitSettings {
        task: Some(corpus.labels.task),
        classes: None,
        training_keys: false,
        allow_unique_labels: true,
        ..settings.clone()
    };
    let counted = TrainingCorpus::of_rows(&of_some, &some)?.into_prepared(&of_some);
    let Ok(counted) = counted else {
        let classifier = settings.classifier.with_settled_cost();
        let settled = FitSettings {
            classifier,
            ..settings
        };
        return Ok((settled, Vec::new()));
    };
    let (chosen, tried) =
        with_cost_of_errors(&counted, &Fields::default(), of_some, None, progress);
    let settings = FitSettings {
        classifier: chosen.classifier,
        ..settings
    };
    Ok((settings, tried))
}

/// The scorer of all rows, and a score of each from one that has not seen it.
fn learn(
    corpus: &mut PreparedCorpus,
    rows: &dyn RowSource,
    settings: &FitSettings,
    progress: &dyn Progress,
) -> Result<Learned, FitError> {
    let folds = corpus
        .documents
        .folds(&corpus.labels, settings.folds, settings.seed)?;
    // They have served, and are half of what is kept of a row.
    corpus.documents.keys = Vec::new();
    let factors = {
        let (labels, names) = (&corpus.labels, &corpus.class_names);
        class_factors(settings, labels, names, &corpus.documents.weights)?
    };
    // Weights that say nothing are made again once the solvers, which need most room, are done.
    let even = corpus.documents.weights.iter().all(|&weight| weight == 1.0);
    if even {
        corpus.documents.weights = Vec::new();
    }
    let learned = cross_fitted(corpus, rows, settings, &factors, &folds, progress);
    if even {
        corpus.documents.weights = vec![1.0; corpus.rows.len()];
    }
    let (fit, column_count) = learned?;
    let rows = OrderedRows::new(rows, &corpus.rows);
    let weighting = frequencies(&rows, &corpus.documents.is_first());
    Ok(Learned {
        side: None,
        folds,
        fitted: TermFit {
            fit,
            weighting,
            vocabulary: Some(numbered(column_count)),
        },
    })
}

/// The scorer of all rows with held-out scores, and how many columns there are.
fn cross_fitted(
    corpus: &PreparedCorpus,
    rows: &dyn RowSource,
    settings: &FitSettings,
    factors: &ClassFactors,
    folds: &Folds,
    progress: &dyn Progress,
) -> Result<(CrossFit, usize), FitError> {
    let (labels, weights) = (&corpus.labels, &corpus.documents.weights);
    let rows = OrderedRows::new(rows, &corpus.rows);
    if rows.column_count() == 0 {
        return Err(FitError::NoFeatures);
    }
    let targets = Targets::new(labels, weights, factors);
    let solutions = labels.output_count() * (1 + folds.count());
    let stage = Stage::begin(progress, "fitting", Some(solutions as u64));
    let fit = BorrowedLearner::of(&settings.classifier)
        .ok_or(FitError::NoFeatures)?
        .cross_fit(&rows, &targets, folds, progress)?;
    drop(stage);
    Ok((fit, rows.column_count()))
}

/// In how many documents each column comes.
fn frequencies(rows: &dyn RowSource, is_first: &[bool]) -> FittedWeighting {
    let mut frequencies = vec![0u32; rows.column_count()];
    let (mut count, mut total) = (0, 0.0);
    let mut entries = Vec::new();
    for row in (0..rows.row_count()).filter(|&row| is_first[row]) {
        tidy_row_into(rows, row, &mut entries);
        for &(column, value) in &entries {
            frequencies[column as usize] += u32::from(value != 0.0);
            total += f64::from(value);
        }
        count += 1;
    }
    FittedWeighting::from_parts(PLAIN, count, total, frequencies)
}

/// Features that go by the numbers of their columns, in their order.
fn numbered(column_count: usize) -> Vocabulary {
    let names: Vec<String> = (0..column_count).map(|column| column.to_string()).collect();
    Vocabulary::from_terms(names.iter().map(String::as_str))
}

#[cfg(test)]
mod tests;
