//! Fitted models and documents that none of them has seen to a combination.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::combined_model::{MOST_MEMBERS, shared_key};
use super::distinct::{Distinct, Documents, Identities, Orders};
use super::document_key::key_of_group;
use super::fit::{WeightShares, check_survives};
use super::observations::leading_words;
use super::pooled::{pooled, pools_without};
use super::training_corpus::key_of_document;
use super::{
    Acquaintance, ClassSummary, CombinedMember, CombinedModel, HeldOutMeasures, LabelMatcher,
    Model, PredictBuffers, PromiseTables, SingleModel, TrainingKeys, TrainingSummary,
};
use crate::calibration::{CalibrationNote, CalibratorKind, LogOddsPool, MemberForecasts};
use crate::corpus::{ContentRef, Document, Fields};
use crate::evaluation::{Evaluation, Forecasts, evaluate_without_chance};
use crate::problem::ClassLabels;
use crate::{FitError, Probability, Task};

/// How a combination is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CombineSettings {
    /// Folds of the cross-validation that says what to expect.
    pub folds: usize,
    /// For the folds.
    pub seed: u64,
}

impl Default for CombineSettings {
    fn default() -> Self {
        Self { folds: 5, seed: 0 }
    }
}

/// Why models cannot be combined.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CombineError {
    /// Too few or too many.
    #[error("{found} models were given; a combination has 1 to {MOST_MEMBERS}")]
    MemberCount {
        /// How many were given.
        found: usize,
    },
    /// A combination of combinations.
    #[error("`{member}` is a combination already")]
    Nested {
        /// Which model.
        member: String,
    },
    /// One label per document or several.
    #[error("`{first}` is {first_task} and `{other}` is {other_task}")]
    Tasks {
        /// The first model.
        first: String,
        /// Its task.
        first_task: Task,
        /// Another model.
        other: String,
        /// That one's task.
        other_task: Task,
    },
    /// Different classes.
    #[error("the classes of `{first}` and `{other}` differ: {difference}")]
    Classes {
        /// The first model.
        first: String,
        /// Another model.
        other: String,
        /// What one has and the other lacks.
        difference: String,
    },
    /// Different parts of the documents.
    #[error("`{first}` reads {first_fields} and `{other}` reads {other_fields}")]
    Fields {
        /// The first model.
        first: String,
        /// What it reads.
        first_fields: String,
        /// Another model.
        other: String,
        /// What that one reads.
        other_fields: String,
    },
    /// Something is wrong with the documents.
    #[error(transparent)]
    Fit(#[from] FitError),
}

/// Models that can be combined.
#[derive(Debug)]
pub struct Combiner {
    names: Vec<String>,
    members: Vec<SingleModel>,
}

/// What the models say about some documents.
#[derive(Debug)]
pub struct ForecastBatch {
    documents: Vec<Labelled>,
    known: Vec<Acquaintance>,
    /// Document after document, member after member, class after class.
    probabilities: Vec<Probability>,
}

#[derive(Debug)]
struct Labelled {
    key: u128,
    /// Zero for none.
    group: u128,
    /// What all models together see of it.
    document: u128,
    words: u8,
    labels: Vec<String>,
    weight: f64,
}

/// What the models say about all documents.
#[derive(Debug, Default)]
pub struct HeldOutDocuments {
    rows: Vec<Row>,
    /// Labels that no model knows, with how many documents have them.
    pub unknown_labels: BTreeMap<String, usize>,
    /// Documents that take no part because their only label is unknown (one label per document).
    pub left_out: usize,
    /// For each model, how many of the documents it had learned from: none, if all is well.
    pub known: Vec<Acquaintance>,
}

#[derive(Debug)]
pub(super) struct Row {
    key: u128,
    group: u128,
    document: u128,
    words: u8,
    pub(super) labels: Vec<u32>,
    weight: f64,
    pub(super) probabilities: Vec<Probability>,
}

impl Combiner {
    /// Checks that the models, each with a name for messages, answer the same question.
    pub fn new(models: Vec<(String, Model)>) -> Result<Self, CombineError> {
        if !(1..=MOST_MEMBERS).contains(&models.len()) {
            return Err(CombineError::MemberCount {
                found: models.len(),
            });
        }
        let (mut names, mut members): (Vec<String>, Vec<SingleModel>) = (Vec::new(), Vec::new());
        for (name, model) in models {
            let Model::Single(model) = model else {
                return Err(CombineError::Nested { member: name });
            };
            if let (Some(first), Some(first_name)) = (members.first(), names.first()) {
                check_alike(first_name, first, &name, &model)?;
            }
            names.push(name);
            members.push(*model);
        }
        Ok(Self { names, members })
    }

    /// The names of the models.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The fields that all models read.
    pub fn fields(&self) -> &Fields {
        self.members[0].fields()
    }

    fn class_count(&self) -> usize {
        self.members[0].class_count()
    }

    fn task(&self) -> Task {
        self.members[0].task()
    }

    fn folds_labels(&self) -> bool {
        let mut members = self.members.iter();
        members.any(|member| member.settings().fold_labels)
    }

    /// Asks every model about documents that none of them has seen; batches can be asked in parallel.
    pub fn forecast(&self, documents: Vec<Document>) -> ForecastBatch {
        let class_count = self.class_count();
        let width = self.members.len() * class_count;
        let even = Probability::from_log_odds(0.0);
        let mut probabilities = vec![even; documents.len() * width];
        let rows = documents.iter().zip(probabilities.chunks_exact_mut(width));
        let mut buffers = PredictBuffers::default();
        let mut known = vec![Acquaintance::default(); self.members.len()];
        let mut seen = Vec::with_capacity(documents.len());
        let mut keys = Vec::with_capacity(self.members.len());
        for (document, row) in rows {
            let members = self.members.iter().zip(&mut known);
            keys.clear();
            for ((member, known), classes) in members.zip(row.chunks_exact_mut(class_count)) {
                let content = ContentRef::from(document);
                member.predict_into(content, &mut buffers, classes);
                let key = member.document_key(content, &mut buffers);
                known.count(member.acquaintance(key));
                keys.push(key);
            }
            seen.push(shared_key(keys.iter().copied()));
        }
        ForecastBatch::new(documents, seen, known, probabilities)
    }

    /// Adds a batch to those before it.
    pub fn add(&self, batch: ForecastBatch, to: &mut HeldOutDocuments) {
        let names = self.members[0].class_names();
        let matcher = LabelMatcher::new(self.task(), names).folding(self.folds_labels());
        add_rows(batch, matcher, self.members.len(), to);
    }

    /// Finds the weights with the least log loss. The order of the documents does not matter.
    pub fn combine(
        self,
        documents: HeldOutDocuments,
        settings: &CombineSettings,
    ) -> Result<Model, CombineError> {
        let (task, class_count) = (self.task(), self.class_count());
        let rows = documents.rows;
        if rows.is_empty() {
            return Err(FitError::NoDocuments.into());
        }
        let (distinct, remembered) = distinct(&rows, settings.folds);
        let labels = ClassLabels {
            task,
            class_count,
            of_row: distinct.classes,
        };
        let mut forecasts = MemberForecasts::new(task, self.members.len(), class_count);
        for (&row, weight) in distinct.rows.iter().zip(&distinct.documents.weights) {
            let Row {
                labels,
                probabilities,
                ..
            } = &rows[row as usize];
            let members: Vec<&[Probability]> = probabilities.chunks_exact(class_count).collect();
            forecasts
                .push(&members, labels, *weight)
                .map_err(FitError::from)?;
        }
        drop(rows);
        let folds = distinct
            .documents
            .folds(&labels, settings.folds, settings.seed)
            .map_err(FitError::from)?;
        let pool = LogOddsPool::fit(&forecasts, |_| true).map_err(FitError::from)?;
        let pools = pools_without(&forecasts, &folds)?;
        let pooled = self.pooled(&forecasts, |row| &pools[folds.of(row)]);
        let measured = evaluate_without_chance(&pooled).map_err(FitError::from)?;
        let counts = (&distinct.documents, documents.left_out);
        let mut summary = self.summary(&forecasts, &measured, counts, settings);
        summary.held_out_shape = super::summary::shape_of(&pooled);
        let mut log_losses = Vec::new();
        for member in 0..self.members.len() {
            let alone = LogOddsPool::of_one(member, self.members.len(), class_count);
            let alone = self.pooled(&forecasts, |_| &alone);
            let measured = evaluate_without_chance(&alone).map_err(FitError::from)?;
            log_losses.push(measured.log_loss);
        }
        let promises = PromiseTables::kept(&pooled, &summary);
        check_survives(&summary)?;
        check_survives(&pool)?;
        check_survives(&log_losses)?;
        let fields = self.fields().clone();
        let keeps_keys = self
            .members
            .iter()
            .any(|member| member.training_keys.is_some());
        let training_keys = keeps_keys.then_some(remembered);
        let members = self.names.into_iter().zip(self.members).zip(log_losses);
        let members = members.map(|((name, model), log_loss)| CombinedMember {
            name,
            log_loss,
            model,
        });
        let combined = CombinedModel {
            members: members.collect(),
            pool,
            fields,
            summary,
            training_keys,
            promises: None,
            recalibration: None,
            recalibration_keys: Vec::new(),
        };
        Ok(Model::from(combined.with_promises(promises)))
    }

    fn pooled<'p>(
        &self,
        forecasts: &MemberForecasts,
        pool_of: impl Fn(usize) -> &'p LogOddsPool,
    ) -> Forecasts {
        pooled(
            self.members[0].class_names().map(str::to_owned).collect(),
            forecasts,
            pool_of,
        )
    }

    fn summary(
        &self,
        forecasts: &MemberForecasts,
        measured: &Evaluation,
        (documents, left_out): (&Documents, usize),
        settings: &CombineSettings,
    ) -> TrainingSummary {
        let mut rows_of = vec![Vec::new(); self.class_count()];
        for (row, labels) in forecasts.labels().iter().enumerate() {
            for &label in labels {
                rows_of[label as usize].push(row as u32);
            }
        }
        let weights = forecasts.weights();
        let shares = (documents.copy_count() > 0)
            .then(|| WeightShares::of(weights))
            .or_else(|| WeightShares::of_unequal(weights));
        let first = self.members[0].summary();
        let classes = first.classes.iter().zip(&rows_of).map(|(class, rows)| {
            let share = shares.map(|shares| shares.share(rows, weights));
            ClassSummary {
                label: class.label.clone(),
                positives: documents.rows_of(rows),
                prior: share,
                calibrator: CalibratorKind::None,
                calibration: CalibrationNote::Joint,
                in_one_fold: false,
                own_weight: None,
                spread: None,
                tried: Vec::new(),
                convergence: None,
            }
        });
        let features = self.members.iter().map(|member| member.summary().features);
        TrainingSummary {
            task: self.task(),
            documents: documents.row_count(),
            copies: documents.copy_count(),
            groups: documents.group_count(),
            documents_left_out: left_out,
            features: features.sum(),
            numbered_features: self
                .members
                .iter()
                .any(|member| member.summary().numbered_features),
            folds: settings.folds,
            classes: classes.collect(),
            multiclass: None,
            known_documents: None,
            held_out: HeldOutMeasures::from(measured),
            measured: None,
            held_out_shape: None,
            weightings: Vec::new(),
            costs: Vec::new(),
            search: Vec::new(),
            search_default: None,
            search_gain: None,
            calibrant_version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Adds documents with what so many models say of them, and matches their labels to classes.
pub(super) fn add_rows(
    batch: ForecastBatch,
    mut matcher: LabelMatcher,
    members: usize,
    to: &mut HeldOutDocuments,
) {
    let width = members * matcher.class_count();
    to.known.resize(members, Acquaintance::default());
    for (all, batch) in to.known.iter_mut().zip(&batch.known) {
        all.merge(batch);
    }
    let rows = batch.documents.into_iter();
    for (document, stated) in rows.zip(batch.probabilities.chunks_exact(width)) {
        let (labels, measured) = matcher.classes(document.labels.iter().map(String::as_str));
        if !measured {
            continue;
        }
        to.rows.push(Row {
            key: document.key,
            document: document.document,
            words: document.words,
            group: document.group,
            labels,
            weight: document.weight,
            probabilities: stated.to_vec(),
        });
    }
    to.left_out += matcher.left_out;
    for (label, count) in matcher.unknown_labels {
        *to.unknown_labels.entry(label).or_default() += count;
    }
}

impl ForecastBatch {
    /// Documents, what the models see of each, how many they know, and what they say.
    pub(super) fn new(
        documents: Vec<Document>,
        seen: Vec<u128>,
        known: Vec<Acquaintance>,
        probabilities: Vec<Probability>,
    ) -> Self {
        let documents = documents
            .into_iter()
            .zip(seen)
            .map(|(document, seen)| Labelled {
                key: key_of_document(&document),
                group: document.group.as_deref().map_or(0, key_of_group),
                document: seen,
                words: leading_words(&document.content),
                labels: document.labels,
                weight: document.weight,
            })
            .collect();
        Self {
            documents,
            known,
            probabilities,
        }
    }
}

impl HeldOutDocuments {
    pub(super) fn into_rows(self) -> Vec<Row> {
        self.rows
    }
}

/// Copies become weights, as in fitting; beside them what a model is to remember of the documents.
pub(super) fn distinct(rows: &[Row], folds: usize) -> (Distinct, TrainingKeys) {
    let orders: Vec<u128> = rows.iter().map(|row| row.key).collect();
    let documents: Vec<u128> = rows.iter().map(|row| row.document).collect();
    let words: Vec<u8> = rows.iter().map(|row| row.words).collect();
    let weights: Vec<f64> = rows.iter().map(|row| row.weight).collect();
    let mut groups: Vec<u128> = rows.iter().map(|row| row.group).collect();
    if groups.iter().all(|&group| group == 0) {
        groups.clear();
    }
    let identities = Identities {
        orders: Orders::Listed(&orders),
        words: &words,
        groups: &groups,
        weights: &weights,
        folds,
    };
    let classes_of = |row: u32| Some(rows[row as usize].labels.clone());
    let kept = identities.keep(&documents, classes_of);
    let remembered = TrainingKeys::of_each(&|take| kept.for_each_remembered(&documents, take));
    (kept.in_order(&identities, classes_of), remembered)
}

/// Whether two models answer the same question about the same parts of a document.
fn check_alike(
    first: &str,
    first_model: &SingleModel,
    other: &str,
    other_model: &SingleModel,
) -> Result<(), CombineError> {
    let named = || (first.to_owned(), other.to_owned());
    if first_model.task() != other_model.task() {
        let (first, other) = named();
        return Err(CombineError::Tasks {
            first,
            first_task: first_model.task(),
            other,
            other_task: other_model.task(),
        });
    }
    let labels = |model: &SingleModel| -> Vec<String> {
        let classes = model.summary().classes.iter();
        classes.map(|class| class.label.clone()).collect()
    };
    let (ours, theirs) = (labels(first_model), labels(other_model));
    if ours != theirs {
        let mut differences = Vec::new();
        for (name, own, rest) in [(first, &ours, &theirs), (other, &theirs, &ours)] {
            let only: Vec<&str> = own
                .iter()
                .filter(|label| !rest.contains(label))
                .map(String::as_str)
                .collect();
            if !only.is_empty() {
                let more = if only.len() > 10 { ", …" } else { "" };
                let shown = only[..only.len().min(10)].join(", ");
                differences.push(format!("only `{name}` has {shown}{more}"));
            }
        }
        if differences.is_empty() {
            differences.push("they are in another order".to_owned());
        }
        let (first, other) = named();
        return Err(CombineError::Classes {
            first,
            other,
            difference: differences.join("; "),
        });
    }
    let read = |model: &SingleModel| {
        let fields = model.fields();
        (
            fields.text.clone(),
            fields.numeric.clone(),
            fields.categorical.clone(),
            (fields.vector.clone(), fields.vector_lengths.clone()),
            fields.asked.clone(),
        )
    };
    if read(first_model) != read(other_model) {
        let (first, other) = named();
        return Err(CombineError::Fields {
            first,
            first_fields: shown(first_model.fields()),
            other,
            other_fields: shown(other_model.fields()),
        });
    }
    Ok(())
}

/// What a model reads of a document.
fn shown(fields: &Fields) -> String {
    let text = match fields.text.as_slice() {
        [] => "the default text".to_owned(),
        names => format!("text {}", names.join(", ")),
    };
    let beside: Vec<&str> = fields
        .side_names()
        .chain(&fields.asked)
        .map(String::as_str)
        .collect();
    if beside.is_empty() {
        text
    } else {
        format!("{text} and {}", beside.join(", "))
    }
}
