//! Training documents to a calibrated model.

use std::ops::Deref;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::calibrate_classes::{Calibrated, CalibrationData};
use super::choose_cost::{Ground, with_cost_of_errors};
use super::choose_weighting::{ChosenWeighting, with_weighting};
use super::class_spread::spreads_of_classes;
use super::extractor::FeatureExtractor;
use super::fit_scorer::{FinerFolds, TermFit, Training};
use super::fold_rows::SideRows;
use super::other::known_documents;
use super::rule_columns::rule_columns;
use super::side_factor::with_side_factor;
use super::single_model::{Calibrators, SingleModel};
use super::summary::{ClassSummary, HeldOutMeasures, TrainingSummary, TriedCost, TriedWeighting};
use super::training_corpus::PreparedCorpus;
use super::{ClassWeights, FitSettings, Model, PromiseTables, TrainingCorpus, TrainingKeys};
use crate::calibration::{CalibrationNote, CalibratorKind, HeldOutScores};
use crate::corpus::Fields;
use crate::evaluation::{Forecasts, evaluate_without_chance};
use crate::features::{Beside, FittedSideColumns, SideColumns, SideTable, SparseMatrix};
use crate::problem::{ClassFactors, ClassLabels, Folds, Targets};
use crate::progress::{Stage, check};
use crate::scorers::{CrossFit, Reads};
use crate::{FitError, Probability, Progress, Task};

/// Learns a scorer from all documents and calibrates it on scores of documents it had not seen.
///
/// The same documents, settings and seed give the same model, whatever order the documents
/// come and whatever the number of threads.
pub fn fit(
    corpus: TrainingCorpus,
    fields: Fields,
    settings: &FitSettings,
    progress: &dyn Progress,
) -> Result<Model, FitError> {
    Ok(fit_and_keep(corpus, fields, settings, progress, false)?.model)
}

/// As [`fit`], and hands on the held-out scores of each output that the calibrators were fitted
/// to, for those who want to try others.
pub fn fit_keeping_scores(
    corpus: TrainingCorpus,
    fields: Fields,
    settings: &FitSettings,
    progress: &dyn Progress,
) -> Result<(Model, Vec<HeldOutScores>), FitError> {
    let fitted = fit_and_keep(corpus, fields, settings, progress, true)?;
    Ok((fitted.model, fitted.held_out))
}

/// As [`fit`], and hands on what was said of every training document by models that had not seen it.
pub fn fit_keeping_forecasts(
    corpus: TrainingCorpus,
    fields: Fields,
    settings: &FitSettings,
    progress: &dyn Progress,
) -> Result<(Model, HeldOutForecasts), FitError> {
    let fitted = fit_and_keep(corpus, fields, settings, progress, false)?;
    let held_out = HeldOutForecasts {
        rows: fitted.rows,
        copies: fitted.copies,
        forecasts: Forecasts {
            probabilities: fitted.forecasts,
            ..fitted.truth
        },
    };
    Ok((fitted.model, held_out))
}

/// What models that had not seen a training document say of it: neither the document nor its copies, nor what belongs to its group,
/// had a part in the scorer or the curves behind its probabilities.
#[derive(Debug, Clone)]
pub struct HeldOutForecasts {
    /// The row of the corpus, counted from 0 in the order of reading. Rows that are equal in content and labels are one.
    pub rows: Vec<u32>,
    /// How many rows of the corpus it stands for.
    pub copies: Vec<u32>,
    /// What was said of each, with its labels.
    pub forecasts: Forecasts,
}

impl TrainingCorpus {
    /// As [`fit`], keeping the corpus, which can be [extended](Self::extend) and fitted again.
    pub fn fit(
        &self,
        fields: Fields,
        settings: &FitSettings,
        progress: &dyn Progress,
    ) -> Result<Model, FitError> {
        settings.check()?;
        let fields = with_text_named(fields, self);
        let corpus = Held::Given(Box::new(self.prepare(settings)?));
        Ok(fit_held(corpus, fields, settings, progress, false)?.model)
    }
}

/// What a fit gives.
pub(super) struct Fitted {
    pub(super) model: Model,
    /// Held-out scores of each output, if they were asked for.
    held_out: Vec<HeldOutScores>,
    /// Row after row, class after class: forecasts by scorers and curves that had not seen the row's fold.
    pub(super) forecasts: Vec<Probability>,
    /// Classes, labels and weights of these rows, without the probabilities.
    truth: Forecasts,
    /// For each row, one of the file that says the same.
    rows: Vec<u32>,
    /// For each row, how many of the file it stands for.
    copies: Vec<u32>,
}

fn fit_and_keep(
    corpus: TrainingCorpus,
    fields: Fields,
    settings: &FitSettings,
    progress: &dyn Progress,
    keep_scores: bool,
) -> Result<Fitted, FitError> {
    settings.check()?;
    let fields = with_text_named(fields, &corpus);
    let corpus = Held::Given(Box::new(corpus.into_prepared(settings)?));
    fit_held(corpus, fields, settings, progress, keep_scores)
}

/// Documents that are in order already, which several fits can share: the order depends on limits,
/// classes and task alone.
pub(super) fn fit_prepared(
    corpus: &PreparedCorpus,
    fields: Fields,
    settings: &FitSettings,
    progress: &dyn Progress,
    keep_scores: bool,
) -> Result<Fitted, FitError> {
    fit_held(Held::Lent(corpus), fields, settings, progress, keep_scores)
}

/// Documents to learn from, lent or given. Of those that were given, what has served for the last time is let go.
pub(super) enum Held<'a> {
    Lent(&'a PreparedCorpus),
    Given(Box<PreparedCorpus>),
}

impl Deref for Held<'_> {
    type Target = PreparedCorpus;

    fn deref(&self) -> &PreparedCorpus {
        match self {
            Held::Lent(corpus) => corpus,
            Held::Given(corpus) => corpus,
        }
    }
}

impl Held<'_> {
    /// Once the folds are known.
    fn forget_keys(&mut self) {
        if let Held::Given(corpus) = self {
            corpus.documents.keys = Vec::new();
        }
    }

    /// Once every fold has been scored.
    fn forget_counts(&mut self) {
        if let Held::Given(corpus) = self {
            corpus.arranged.counts = SparseMatrix::new(0).into();
        }
    }
}

/// What was learned before anything is calibrated.
pub(super) struct Learned {
    pub(super) side: Option<FittedSideColumns>,
    pub(super) folds: Folds,
    pub(super) fitted: TermFit,
}

/// Scorers of all documents, with scores of each document from a scorer that has not seen it.
fn learn(
    corpus: &mut Held<'_>,
    fields: &Fields,
    settings: &FitSettings,
    progress: &dyn Progress,
) -> Result<Learned, FitError> {
    let (documents, labels) = (&corpus.documents, &corpus.labels);
    let folds = documents.folds(labels, settings.folds, settings.seed);
    let is_cheap = settings.classifier.learner().has_cheap_folds() && settings.code.is_none();
    let finer = folds.as_ref().ok().filter(|_| is_cheap);
    let numbers = corpus.arranged.counts.column_count() * labels.class_count;
    let finer = finer.map(|folds| documents.finer_folds(folds, labels, numbers, settings.seed));
    corpus.forget_keys();
    let PreparedCorpus {
        arranged,
        side: table,
        documents,
        labels,
        class_names,
        ..
    } = &**corpus;
    let weights = &documents.weights;
    let is_first = documents.is_first();
    let has_terms = arranged.counts.entry_count() > 0;
    let side = side_columns(settings, fields, table, &is_first, has_terms)?;
    let term_columns = arranged.counts.column_count();
    if term_columns == 0 && side.is_none() {
        return Err(FitError::NoFeatures);
    }
    let rule_columns = rule_columns(settings, labels, class_names, term_columns)?;
    let folds = folds?;
    let factors = class_factors(settings, labels, class_names, weights)?;
    let training = Training {
        settings,
        targets: Targets {
            rule_columns: &rule_columns,
            ..Targets::new(labels, weights, &factors)
        },
        folds: &folds,
        finer: finer.as_ref().map(|folds| FinerFolds { folds, documents }),
        is_first: &is_first,
        side: side.as_ref().map(|fitted| SideRows { table, fitted }),
        progress,
    };
    let fitted = training.fit(&arranged.counts, arranged.vocabulary.as_ref())?;
    Ok(Learned {
        side,
        folds,
        fitted,
    })
}

/// What was chosen before anything is learned for good.
pub(super) struct Chosen<'a> {
    pub(super) corpus: Held<'a>,
    pub(super) settings: FitSettings,
    pub(super) weightings: Vec<TriedWeighting>,
    pub(super) costs: Vec<TriedCost>,
}

/// Settles what the settings leave open: the weighting of terms, the cost of errors, the factor of side columns.
fn choose<'a>(
    mut corpus: Held<'a>,
    fields: &Fields,
    settings: &FitSettings,
    progress: &dyn Progress,
) -> Result<Chosen<'a>, FitError> {
    let ChosenWeighting {
        settings,
        narrowed,
        tried: weightings,
        lead,
        sampled,
    } = with_weighting(&corpus, fields, settings.clone(), progress);
    if let Some(narrowed) = narrowed {
        corpus = Held::Given(Box::new(narrowed));
    }
    let settings = with_usual_weighting(&settings, corpus.numbered_features);
    let lead = lead.map(|lead| (lead, Ground::of(sampled)));
    let (mut settings, costs) = with_cost_of_errors(&corpus, fields, settings, lead, progress);
    settings.limits = corpus.limits;
    let settings = with_side_factor(&corpus, fields, settings, progress)?;
    Ok(Chosen {
        corpus,
        settings,
        weightings,
        costs,
    })
}

/// Whoever asks for predictions need not know what belongs together.
fn without_group(fields: Fields) -> Fields {
    Fields {
        group: None,
        ..fields
    }
}

fn fit_held(
    corpus: Held<'_>,
    fields: Fields,
    settings: &FitSettings,
    progress: &dyn Progress,
    keep_scores: bool,
) -> Result<Fitted, FitError> {
    settings.check()?;
    check(progress)?;
    let fields = without_group(fields);
    let mut chosen = choose(corpus, &fields, settings, progress)?;
    let learned = learn(&mut chosen.corpus, &fields, &chosen.settings, progress)?;
    chosen.corpus.forget_counts();
    calibrate(chosen, learned, fields, progress, keep_scores)
}

/// What was learned becomes a model.
pub(super) fn calibrate(
    chosen: Chosen<'_>,
    learned: Learned,
    fields: Fields,
    progress: &dyn Progress,
    keep_scores: bool,
) -> Result<Fitted, FitError> {
    let Chosen {
        corpus,
        settings,
        weightings,
        costs,
    } = chosen;
    let Learned {
        side,
        folds,
        mut fitted,
    } = learned;
    // Trials that were ended look like trials that failed.
    let stage = Stage::begin(progress, "calibrating", None);
    stage.step(0)?;
    let calibration = CalibrationData {
        settings: &settings,
        labels: &corpus.labels,
        weights: &corpus.documents.weights,
        folds: &folds,
        link: fitted.fit.scorer.link(),
    };
    let held_out = match keep_scores {
        true => calibration.held_out(fitted.fit.out_of_fold.clone())?,
        false => Vec::new(),
    };
    let mut calibrated = calibration.calibrate(std::mem::take(&mut fitted.fit.out_of_fold))?;
    let forecasts = corpus.forecasts(std::mem::take(&mut calibrated.forecasts));
    let outcome = Outcome {
        corpus: &corpus,
        settings: &settings,
        folds: &folds,
        fit: &fitted.fit,
        calibrated: &calibrated,
        forecasts: &forecasts,
    };
    let summary = TrainingSummary {
        weightings,
        costs,
        ..outcome.summary()?
    };
    stage.step(0)?;
    drop(stage);
    let extractor = FeatureExtractor {
        analyzer: settings.analyzer.compile()?,
        space: settings.column_space(),
        vocabulary: fitted.vocabulary,
        weighting: fitted.weighting,
        side,
        rules: settings.rule_matcher()?,
    };
    let calibrators = calibrated.into_calibrators();
    check_parts(&extractor, &summary, &calibrators)?;
    let fields = with_vector_lengths(fields, &extractor);
    let training_keys = corpus.training_keys(&settings);
    let scorer = fitted.fit.scorer;
    let promises = PromiseTables::kept(&forecasts, &summary);
    let model = SingleModel::new(settings, fields, extractor, scorer, calibrators, summary);
    let model = model.kept(training_keys, promises);
    let mut truth = forecasts;
    Ok(Fitted {
        model: Model::from(model),
        held_out,
        forecasts: std::mem::take(&mut truth.probabilities),
        truth,
        rows: corpus.rows.clone(),
        copies: corpus.documents.copies(),
    })
}

impl PreparedCorpus {
    /// The filter of what is learned from, where it is to be kept.
    fn training_keys(&self, settings: &FitSettings) -> Option<TrainingKeys> {
        let learned = self.learned.of(settings.effective_weighting().weighting);
        learned.filter(|_| settings.training_keys).cloned()
    }

    /// What was said of the documents, with the truth.
    fn forecasts(&self, probabilities: Vec<Probability>) -> Forecasts {
        Forecasts {
            task: self.labels.task,
            class_names: self.class_names.clone(),
            probabilities,
            labels: self.labels.of_row.clone(),
            weights: Some(self.documents.weights.clone()),
        }
    }
}

impl Calibrated {
    /// What predictions need of it.
    fn into_calibrators(self) -> Calibrators {
        let outputs = self.outputs.into_iter();
        Calibrators {
            of_outputs: outputs.map(|output| output.calibrator).collect(),
            joint: self.joint,
        }
    }
}

/// What a fit came to, to be summed up.
struct Outcome<'a> {
    corpus: &'a PreparedCorpus,
    settings: &'a FitSettings,
    folds: &'a Folds,
    fit: &'a CrossFit,
    calibrated: &'a Calibrated,
    forecasts: &'a Forecasts,
}

impl Outcome<'_> {
    fn summary(&self) -> Result<TrainingSummary, FitError> {
        let PreparedCorpus {
            documents, labels, ..
        } = self.corpus;
        let outputs = &self.calibrated.outputs;
        let evaluation = evaluate_without_chance(self.forecasts)?;
        Ok(TrainingSummary {
            task: labels.task,
            documents: documents.row_count(),
            copies: documents.copy_count(),
            groups: documents.group_count(),
            documents_left_out: self.corpus.left_out,
            features: self.fit.scorer.feature_count(),
            numbered_features: self.corpus.numbered_features,
            folds: self.settings.folds,
            classes: self.classes(),
            multiclass: self.calibrated.multiclass.clone(),
            known_documents: known_documents(self.settings, labels, &documents.weights, outputs),
            held_out: HeldOutMeasures::from(&evaluation),
            measured: None,
            held_out_shape: super::summary::shape_of(self.forecasts),
            weightings: Vec::new(),
            costs: Vec::new(),
            search: Vec::new(),
            search_default: None,
            search_gain: None,
            calibrant_version: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }

    fn classes(&self) -> Vec<ClassSummary> {
        let PreparedCorpus {
            documents,
            labels,
            class_names,
            ..
        } = self.corpus;
        let weights = &documents.weights;
        let members = labels.members();
        // Where a row stands for several, the number of rows says no more what share they have.
        let shares = (documents.copy_count() > 0)
            .then(|| WeightShares::of(weights))
            .or_else(|| WeightShares::of_unequal(weights));
        let spreads = spreads_of_classes(self.forecasts, &members, &documents.units());
        let of_class = |(class, label): (usize, &String)| {
            // Two exclusive classes share an output.
            let output = class.min(labels.output_count() - 1);
            let own = self.calibrated.outputs.get(output);
            let own = own.filter(|_| self.calibrated.joint.is_none());
            ClassSummary {
                label: label.clone(),
                positives: documents.rows_of(&members[class]),
                prior: shares.map(|shares| shares.share(&members[class], weights)),
                calibrator: own.map_or(CalibratorKind::None, |own| own.kind),
                calibration: own.map_or(CalibrationNote::Joint, |own| own.note),
                in_one_fold: in_one_fold(&members[class], self.folds),
                own_weight: own.and_then(|own| own.calibrator.own_weight()),
                tried: own.map(|own| own.tried.clone()).unwrap_or_default(),
                spread: spreads[class],
                convergence: self.fit.convergence.get(output).copied(),
            }
        };
        class_names.iter().enumerate().map(of_class).collect()
    }
}

/// Whether several documents are all in one fold.
pub(super) fn in_one_fold(members: &[u32], folds: &Folds) -> bool {
    let folds = folds.assignment();
    let mut of_members = members.iter().map(|&row| folds[row as usize]);
    let first = of_members.next();
    members.len() > 1 && of_members.all(|fold| Some(fold) == first)
}

/// Where text was found without being asked for by name, it is asked for from now on.
pub(super) fn with_text_named(fields: Fields, corpus: &TrainingCorpus) -> Fields {
    if fields.has_side_columns() && fields.text.is_empty() && corpus.has_text() {
        let text = vec!["text".to_owned()];
        return Fields { text, ..fields };
    }
    fields
}

/// New files must have vectors of the same lengths.
fn with_vector_lengths(fields: Fields, extractor: &FeatureExtractor) -> Fields {
    let side = extractor.side_columns();
    let vector_lengths = side.map(FittedSideColumns::vector_lengths);
    Fields {
        vector_lengths: vector_lengths.unwrap_or_default(),
        ..fields
    }
}

/// Learns the columns beside the text, if there are any.
fn side_columns(
    settings: &FitSettings,
    fields: &Fields,
    table: &SideTable,
    is_first: &[bool],
    has_terms: bool,
) -> Result<Option<FittedSideColumns>, FitError> {
    let names = SideColumns {
        numeric: fields.numeric.clone(),
        categorical: fields.categorical.clone(),
        rules: match settings.rule_set()? {
            Some(rules) => rules.categories().map(str::to_owned).collect(),
            None => Vec::new(),
        },
        vector: fields.vector.clone(),
    };
    if let Some((column, first, other)) = table.ragged_vectors() {
        return Err(FitError::RaggedVectors {
            field: names.vector.get(column).cloned().unwrap_or_default(),
            first,
            other,
        });
    }
    if names.rules.len() > table.rule_count() {
        return Err(FitError::BadSetting {
            setting: "the documents",
            requirement: "counted with the rules, by a `DocumentCounter` of the same settings",
            value: "without them".into(),
        });
    }
    let mut named = fields.side_names();
    let reads = settings.reads();
    if let (Reads::Rules, Some(field)) = (reads, named.next()) {
        return Err(FitError::RulesAlone {
            field: field.clone(),
        });
    }
    let beside = Beside {
        unit_length: has_terms && settings.effective_weighting().l2_norm,
        factor: settings.side_factor.unwrap_or(1.0),
        vector_factor: vector_factor(settings, has_terms),
        by_similarity: settings.classifier.learner().by_similarity(),
        presence_only: reads == Reads::Presence,
        rules_are_scores: reads == Reads::Rules,
    };
    let fitted = if is_first.iter().all(|&first| first) {
        FittedSideColumns::fit(&names, table, beside)
    } else {
        // Each document once, whatever labels it has.
        let rows = (0..).zip(is_first).filter(|(_, first)| **first);
        let rows: Vec<u32> = rows.map(|(row, _)| row).collect();
        FittedSideColumns::fit(&names, &table.rearranged(&rows), beside)
    };
    let mut numbers = names.numeric.iter().chain(&names.vector);
    if let (Reads::Counts | Reads::Presence, Some(field)) = (reads, numbers.next()) {
        return Err(FitError::NumbersForCounts {
            field: field.clone(),
        });
    }
    if reads == Reads::TermCounts && fitted.column_count() > 0 {
        return Err(FitError::BadSetting {
            setting: "log-count ratios",
            requirement: "left out where there are columns beside the text, which are not counts",
            value: "given".into(),
        });
    }
    Ok((fitted.column_count() > 0).then_some(fitted))
}

/// The length of vectors, where text has the length 1: of eight the one with the least log loss on two corpora (`bench/vectors.py`),
/// alone and beside words. At the usual cost of errors longer vectors are learned by heart.
const VECTOR_LENGTH: f64 = 0.5;

/// The length that vectors are brought to.
fn vector_factor(settings: &FitSettings, has_terms: bool) -> f64 {
    let usual = match has_terms {
        // To a learner that compares rows as wholes they count as much as it chose.
        true if settings.classifier.learner().by_similarity() => {
            settings.side_factor.unwrap_or(1.0)
        }
        _ => VECTOR_LENGTH,
    };
    settings.vector_factor.unwrap_or(usual)
}

/// What part of the weight some rows have.
#[derive(Clone, Copy)]
pub(super) struct WeightShares {
    largest: f64,
    /// In units of the largest, so that it cannot overflow.
    total: f64,
}

impl WeightShares {
    pub(super) fn of(weights: &[f64]) -> Self {
        let largest = weights.iter().copied().fold(0.0, f64::max);
        let total = weights.iter().map(|weight| weight / largest).sum();
        Self { largest, total }
    }

    /// Nothing where all weigh alike.
    pub(super) fn of_unequal(weights: &[f64]) -> Option<Self> {
        let differ = weights.windows(2).any(|pair| pair[0] != pair[1]);
        differ.then(|| Self::of(weights))
    }

    /// The share of the weight that these rows have.
    pub(super) fn share(&self, rows: &[u32], weights: &[f64]) -> f64 {
        let own = rows.iter().map(|&row| weights[row as usize] / self.largest);
        own.sum::<f64>() / self.total
    }
}

/// Whether all that is saved as JSON can be read again.
fn check_parts(
    extractor: &FeatureExtractor,
    summary: &TrainingSummary,
    calibrators: &Calibrators,
) -> Result<(), FitError> {
    check_survives(&extractor.side)?;
    check_survives(summary)?;
    check_survives(&calibrators.of_outputs)?;
    check_survives(&calibrators.joint)
}

/// JSON has no infinities: what holds one is better refused now than when it is opened.
pub(super) fn check_survives<T: Serialize + DeserializeOwned>(value: &T) -> Result<(), FitError> {
    serde_json::to_string(value)
        .and_then(|json| serde_json::from_str::<T>(&json))
        .map(|_| ())
        .map_err(|_| FitError::Overflow)
}

/// Numbered features come with values of their own, which are kept as they are unless a weighting
/// was asked for.
pub(super) fn with_usual_weighting(settings: &FitSettings, numbered_features: bool) -> FitSettings {
    let mut settings = settings.clone();
    let keeps_values = settings.reads() != Reads::Presence;
    if settings.weighting.is_none() && numbered_features && keeps_values {
        settings.weighting = Some(crate::features::WeightingSettings {
            weighting: crate::features::Weighting::Tf,
            l2_norm: false,
        });
    }
    settings.weighting = Some(settings.effective_weighting());
    settings.classifier = settings.classifier.with_seed(settings.seed);
    settings
}

/// How much the sides of each output's problem count.
pub(super) fn class_factors(
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
