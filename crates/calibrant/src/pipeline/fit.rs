//! Training documents to a calibrated model.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::calibrate_classes::CalibrationData;
use super::extractor::FeatureExtractor;
use super::fit_scorer::Training;
use super::model::Calibrators;
use super::summary::{ClassSummary, HeldOutMeasures, TrainingSummary};
use super::training_corpus::PreparedCorpus;
use super::{ClassWeights, Classifier, FitSettings, Model, TrainingCorpus};
use crate::calibration::{CalibrationNote, CalibratorKind, HeldOutScores, SavedCalibrator};
use crate::corpus::{Fields, Folds};
use crate::evaluation::{Forecasts, evaluate_without_chance};
use crate::multiclass::{ClassFactors, ClassLabels};
use crate::{FitError, Progress, Task};

/// Learns a scorer from all documents and calibrates it on scores of documents it had not seen.
///
/// The same documents, settings and seed give the same model, in whatever order the documents
/// come and whatever the number of threads.
pub fn fit(
    corpus: TrainingCorpus,
    fields: Fields,
    settings: &FitSettings,
    progress: &dyn Progress,
) -> Result<Model, FitError> {
    Ok(fit_and_keep(corpus, fields, settings, progress, false)?.0)
}

/// As [`fit`], and hands on the held-out scores of each output that the calibrators were fitted
/// to, for those who want to try others.
pub fn fit_keeping_scores(
    corpus: TrainingCorpus,
    fields: Fields,
    settings: &FitSettings,
    progress: &dyn Progress,
) -> Result<(Model, Vec<HeldOutScores>), FitError> {
    fit_and_keep(corpus, fields, settings, progress, true)
}

fn fit_and_keep(
    corpus: TrainingCorpus,
    fields: Fields,
    settings: &FitSettings,
    progress: &dyn Progress,
    keep_scores: bool,
) -> Result<(Model, Vec<HeldOutScores>), FitError> {
    settings.check()?;
    let settings = with_usual_weighting(settings, &corpus);
    let analyzer = settings.analyzer.compile()?;
    let PreparedCorpus {
        arranged,
        keys,
        weights,
        labels,
        class_names,
        left_out,
    } = corpus.prepare(&settings)?;
    let folds = Folds::stratified(
        &keys,
        &labels.of_row,
        labels.class_count,
        settings.folds,
        settings.seed,
    )?;
    let factors = class_factors(&settings, &labels, &class_names, &weights)?;
    let training = Training {
        settings: &settings,
        labels: &labels,
        weights: &weights,
        factors: &factors,
        folds: &folds,
        progress,
    };
    let mut fit = training.fit(arranged.counts, arranged.vocabulary)?;

    progress.begin("calibrating", None);
    let calibration = CalibrationData {
        settings: &settings,
        labels: &labels,
        weights: &weights,
        folds: &folds,
        link: fit.scorer.link(),
    };
    let held_out = if keep_scores {
        calibration.held_out(fit.out_of_fold.clone())?
    } else {
        Vec::new()
    };
    let calibrated = calibration.calibrate(std::mem::take(&mut fit.out_of_fold))?;
    let outputs = calibrated.outputs;
    let members = labels.members();
    let forecasts = Forecasts {
        task: labels.task,
        class_names,
        probabilities: calibrated.forecasts,
        labels: labels.of_row.clone(),
        weights: Some(weights),
    };
    let evaluation = evaluate_without_chance(&forecasts)?;
    let weights = forecasts.weights.as_deref().unwrap_or_default();
    let unequal = UnequalWeights::of(weights);
    let class_names = forecasts.class_names;
    let classes = class_names
        .iter()
        .enumerate()
        .map(|(class, label)| {
            // Two exclusive classes share an output.
            let output = class.min(labels.output_count() - 1);
            let own = outputs.get(output);
            ClassSummary {
                label: label.clone(),
                positives: members[class].len(),
                prior: unequal.map(|unequal| unequal.share(&members[class], weights)),
                calibrator: own.map_or(CalibratorKind::None, |own| own.kind),
                calibration: own.map_or(CalibrationNote::Joint, |own| own.note),
                tried: own.map(|own| own.tried.clone()).unwrap_or_default(),
                convergence: fit.convergence.get(output).copied(),
            }
        })
        .collect();
    let summary = TrainingSummary {
        task: labels.task,
        documents: labels.of_row.len(),
        documents_left_out: left_out,
        features: fit.weighting.document_frequencies().len(),
        folds: settings.folds,
        classes,
        multiclass: calibrated.multiclass,
        held_out: HeldOutMeasures::from(&evaluation),
        calibrant_version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    progress.end();
    let extractor = FeatureExtractor {
        analyzer,
        space: settings.column_space(),
        vocabulary: fit.vocabulary,
        weighting: fit.weighting,
    };
    let calibrators: Vec<SavedCalibrator> = outputs
        .into_iter()
        .map(|output| output.calibrator)
        .collect();
    check_survives(&summary)?;
    check_survives(&calibrators)?;
    check_survives(&calibrated.joint)?;
    let model = Model::new(
        settings,
        fields,
        extractor,
        fit.scorer,
        Calibrators {
            of_outputs: calibrators,
            joint: calibrated.joint,
        },
        summary,
    );
    Ok((model, held_out))
}

/// Totals of weights that are not all alike.
#[derive(Clone, Copy)]
struct UnequalWeights {
    largest: f64,
    /// In units of the largest, so that it cannot overflow.
    total: f64,
}

impl UnequalWeights {
    fn of(weights: &[f64]) -> Option<Self> {
        let differ = weights.windows(2).any(|pair| pair[0] != pair[1]);
        differ.then(|| {
            let largest = weights.iter().copied().fold(0.0, f64::max);
            let total = weights.iter().map(|weight| weight / largest).sum();
            Self { largest, total }
        })
    }

    /// The share of the weight that these rows have.
    fn share(&self, rows: &[u32], weights: &[f64]) -> f64 {
        let own = rows.iter().map(|&row| weights[row as usize] / self.largest);
        own.sum::<f64>() / self.total
    }
}

/// JSON has no infinities: what holds one is better refused now than when it is opened.
fn check_survives<T: Serialize + DeserializeOwned>(value: &T) -> Result<(), FitError> {
    serde_json::to_string(value)
        .and_then(|json| serde_json::from_str::<T>(&json))
        .map(|_| ())
        .map_err(|_| FitError::Overflow)
}

/// Numbered features come with values of their own, which are left as they are unless a weighting
/// was asked for.
fn with_usual_weighting(settings: &FitSettings, corpus: &TrainingCorpus) -> FitSettings {
    let mut settings = settings.clone();
    if settings.weighting.is_none() && corpus.has_features() {
        settings.weighting = Some(crate::features::WeightingSettings {
            weighting: crate::features::Weighting::Tf,
            l2_norm: false,
        });
    }
    settings.weighting = Some(settings.effective_weighting());
    let seed = settings.seed;
    match &mut settings.classifier {
        Classifier::LinearSvm(learner) => learner.seed = seed,
        Classifier::LogisticRegression(learner) => learner.seed = seed,
        Classifier::NearestNeighbours(learner) => learner.seed = seed,
        Classifier::Perceptron(learner) => learner.seed = seed,
        Classifier::NaiveBayes(_) | Classifier::Rocchio(_) => {}
    }
    settings
}

/// How much the sides of each output's problem count; naive Bayes has no sides to weigh.
fn class_factors(
    settings: &FitSettings,
    labels: &ClassLabels,
    class_names: &[String],
    weights: &[f64],
) -> Result<ClassFactors, FitError> {
    let total: f64 = weights.iter().sum();
    let mut class_totals = vec![0.0; labels.class_count];
    for (classes, weight) in labels.of_row.iter().zip(weights.iter()) {
        classes
            .iter()
            .for_each(|&class| class_totals[class as usize] += weight);
    }
    if let ClassWeights::Given(given) = &settings.class_weights
        && let Some(unknown) = given.keys().find(|class| !class_names.contains(class))
    {
        return Err(FitError::UnknownClass {
            class: unknown.clone(),
            available: class_names.join(", "),
        });
    }
    let given = |class: usize| match &settings.class_weights {
        ClassWeights::Given(given) => given.get(&class_names[class]).copied().unwrap_or(1.0),
        ClassWeights::Equal | ClassWeights::Balanced => 1.0,
    };
    if matches!(settings.classifier, Classifier::NaiveBayes(_)) {
        if settings.class_weights != ClassWeights::Equal {
            return Err(FitError::BadSetting {
                setting: "the class weights",
                requirement: "equal for naive Bayes (give example weights instead)",
                value: "given".into(),
            });
        }
        return Ok(ClassFactors {
            by_output: vec![(1.0, 1.0); labels.output_count()],
        });
    }
    let by_output = (0..labels.output_count())
        .map(|output| {
            let class = labels.class_of_output(output);
            match settings.class_weights {
                ClassWeights::Equal => (1.0, 1.0),
                ClassWeights::Balanced => {
                    let positive = class_totals[class];
                    let side = |amount: f64| {
                        if amount > 0.0 {
                            total / (2.0 * amount)
                        } else {
                            1.0
                        }
                    };
                    (side(positive), side(total - positive))
                }
                ClassWeights::Given(_)
                    if labels.task == Task::SingleLabel && labels.class_count == 2 =>
                {
                    (given(1), given(0))
                }
                ClassWeights::Given(_) => (given(class), 1.0),
            }
        })
        .collect();
    Ok(ClassFactors { by_output })
}
