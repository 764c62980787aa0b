//! Several models whose forecasts are pooled in log-odds.

use serde::{Deserialize, Serialize};

use super::document_key::{first_half, has_words, marked};
use super::model_file::Description;
use super::training_keys::{found_in_any, read_recalibration_keys, recalibration_tensors};
use super::{ModelRecalibration, PredictBuffers, SingleModel, TrainingKeys, TrainingSummary};
use crate::Probability;
use crate::calibration::{LogOddsPool, evidence};
use crate::corpus::{ContentRef, Fields};
use crate::saved::{NamedTensor, TensorReader};

/// Several fitted models of the same classes as one: see [`LogOddsPool`].
#[derive(Debug)]
pub struct CombinedModel {
    pub(super) members: Vec<CombinedMember>,
    pub(super) pool: LogOddsPool,
    pub(super) fields: Fields,
    pub(super) summary: TrainingSummary,
    /// What decided its weights; `None` where no member keeps such a filter.
    pub(super) training_keys: Option<TrainingKeys>,
    /// What is kept of held-out forecasts: see [`PromiseTables`](super::PromiseTables).
    pub(super) promises: Option<Vec<u8>>,
    /// What new labels made of its probabilities.
    pub(super) recalibration: Option<ModelRecalibration>,
    /// The documents that these came with, one filter a time; none where no filter was to be kept.
    pub(super) recalibration_keys: Vec<TrainingKeys>,
}

/// Documents are the same where no model can distinguish them; `keys` has the document's for each model.
pub(super) fn shared_key(keys: impl IntoIterator<Item = u128>) -> u128 {
    let mut hasher = blake3::Hasher::new();
    let mut words = false;
    for key in keys {
        hasher.update(&key.to_le_bytes());
        words |= has_words(key);
    }
    marked(first_half(&hasher), words)
}

/// One of the models of a combination.
#[derive(Debug)]
pub struct CombinedMember {
    pub(super) name: String,
    pub(super) log_loss: f64,
    pub(super) model: SingleModel,
}

impl CombinedMember {
    /// What it was called when it was combined.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its own log loss on the documents that decided the weights.
    pub fn log_loss(&self) -> f64 {
        self.log_loss
    }

    /// The model.
    pub fn model(&self) -> &SingleModel {
        &self.model
    }
}

/// Buffers for one prediction.
#[derive(Debug, Default)]
pub(super) struct CombinedBuffers {
    members: Vec<PredictBuffers>,
    evidence: Vec<f64>,
    sums: Vec<f64>,
}

impl CombinedBuffers {
    /// Those of its models; none before the first prediction.
    pub(super) fn members(&self) -> &[PredictBuffers] {
        &self.members
    }
}

/// More models than anyone combines, and few enough to be opened.
pub(super) const MOST_MEMBERS: usize = 100;

/// What a file keeps as JSON. Members are plain models: a combination cannot hold another.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CombinedDescription {
    fields: Fields,
    pool: LogOddsPool,
    members: Vec<MemberDescription>,
    summary: TrainingSummary,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recalibration: Option<ModelRecalibration>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberDescription {
    name: String,
    log_loss: f64,
    model: Description,
}

impl CombinedModel {
    /// The models, in the order in which they were given.
    pub fn members(&self) -> &[CombinedMember] {
        &self.members
    }

    /// Their weights, and the intercepts of the classes.
    pub fn pool(&self) -> &LogOddsPool {
        &self.pool
    }

    /// What new labels made of its probabilities; `None` where there were none.
    pub fn recalibration(&self) -> Option<&ModelRecalibration> {
        self.recalibration.as_ref()
    }

    /// The fields that all its models read.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// What the documents were like that decided the weights.
    pub fn summary(&self) -> &TrainingSummary {
        &self.summary
    }

    pub(super) fn predict_into(
        &self,
        content: ContentRef<'_>,
        buffers: &mut PredictBuffers,
        classes: &mut [Probability],
    ) {
        assert_eq!(classes.len(), self.summary.classes.len());
        buffers.clear();
        let buffer = &mut buffers.combined;
        buffer
            .members
            .resize_with(self.members.len(), PredictBuffers::default);
        buffer.evidence.clear();
        for (member, buffers) in self.members.iter().zip(&mut buffer.members) {
            member.model.predict_into(content, buffers, classes);
            let stated = classes.iter();
            buffer
                .evidence
                .extend(stated.map(|&probability| evidence(self.summary.task, probability)));
        }
        self.pool.pool_into(
            self.summary.task,
            &buffer.evidence,
            &mut buffer.sums,
            classes,
        );
        if let Some(own) = &self.recalibration {
            let sums = &mut buffer.sums;
            own.correction.apply(self.summary.task, sums, classes);
        }
    }

    /// The document's key, and whether one of the models, or the pool, learned from it.
    pub(super) fn acquaintance(
        &self,
        content: ContentRef<'_>,
        buffers: &mut PredictBuffers,
    ) -> (u128, Option<(bool, f64)>) {
        let models = self.members.iter().map(|member| &member.model);
        let keys: Vec<u128> = models
            .clone()
            .map(|model| model.document_key(content, buffers))
            .collect();
        let of_models = models.zip(&keys);
        let of_models = of_models.filter_map(|(model, &key)| model.acquaintance(key));
        let shared = shared_key(keys.iter().copied());
        let own = self.training_keys.iter().chain(&self.recalibration_keys);
        let own = own.filter_map(|keys| keys.look_up(shared));
        (shared, found_in_any(of_models.chain(own)))
    }

    pub(super) fn description(&self) -> CombinedDescription {
        let member = |member: &CombinedMember| MemberDescription {
            name: member.name.clone(),
            log_loss: member.log_loss,
            model: member.model.description(),
        };
        CombinedDescription {
            fields: self.fields.clone(),
            pool: self.pool.clone(),
            members: self.members.iter().map(member).collect(),
            summary: self.summary.clone(),
            recalibration: self.recalibration.clone(),
        }
    }

    pub(super) fn tensors(&self) -> Vec<NamedTensor<'_>> {
        let mut tensors = Vec::new();
        for (number, member) in self.members.iter().enumerate() {
            let prefix = number.to_string();
            let own = member.model.tensors().into_iter();
            tensors.extend(own.map(|tensor| tensor.under(&prefix)));
        }
        if let Some(keys) = &self.training_keys {
            tensors.push(NamedTensor::vector("training_keys", keys.bytes()));
        }
        if let Some(promises) = &self.promises {
            tensors.push(NamedTensor::vector("promises", promises));
        }
        tensors.extend(recalibration_tensors(&self.recalibration_keys));
        tensors
    }

    /// What [`Self::description`] and [`Self::tensors`] came from; `None` if they do not fit together.
    pub(super) fn assemble(
        description: CombinedDescription,
        reader: &TensorReader<'_>,
    ) -> Option<Self> {
        let CombinedDescription {
            fields,
            pool,
            members,
            summary,
            recalibration,
        } = description;
        let fits = (1..=MOST_MEMBERS).contains(&members.len())
            && pool.is_sound(members.len(), summary.classes.len())
            && recalibration
                .as_ref()
                .is_none_or(|own| own.is_sound(summary.classes.len()))
            && summary.known_documents.is_none();
        fits.then_some(())?;
        let mut opened = Vec::new();
        for (number, member) in members.into_iter().enumerate() {
            let model = SingleModel::assemble(member.model, &reader.under(&number.to_string()))?;
            let labels = |summary: &TrainingSummary| -> Vec<String> {
                let classes = summary.classes.iter();
                classes.map(|class| class.label.clone()).collect()
            };
            let same = model.task() == summary.task && labels(&model.summary) == labels(&summary);
            same.then_some(())?;
            opened.push(CombinedMember {
                name: member.name,
                log_loss: member.log_loss,
                model,
            });
        }
        let keys = reader.vector::<u8>("training_keys");
        let times = recalibration.as_ref().map_or(0, |own| own.times);
        Some(Self {
            members: opened,
            pool,
            fields,
            summary,
            training_keys: keys.and_then(TrainingKeys::from_bytes),
            promises: reader.vector::<u8>("promises"),
            recalibration_keys: read_recalibration_keys(reader, times),
            recalibration,
        })
    }
}
