//! Models as files: safetensors inside, checked before anything is believed.
//!
//! ```text
//! metadata   calibrant = JSON {version, checksum, model: {settings, fields, calibrators, summary, …}}
//!            class_calibrator: all classes together, instead of calibrators
//!            recalibration: what new labels made of the probabilities; absent where there were none
//!            a combination has {fields, pool, members, summary}, a description for each member
//! tensors    vocabulary.bytes U8, vocabulary.ends U32     absent with hashed features
//!            document_frequencies U32
//!            those of the scorer: for linear ones weights F32 or F64 [features, outputs], biases F64
//!            training_keys U8     a filter of the documents learned from; absent in old models and where not wanted
//!            recalibration_keys.0, .1, … U8     the same of the documents of each recalibration
//!            promises U8          JSON: tables of held-out forecasts, for sets and certified answers; absent in old models
//!            those of a combination's members under `0.`, `1.`, …
//! ```
//! The checksum is BLAKE3 over version, JSON and tensors, so that any change to them is noticed. A
//! file is data only: nothing in it is ever run.

use std::sync::Arc;

use memmap2::Mmap;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::extractor::FeatureExtractor;
use super::single_model::Calibrators;
use super::training_keys::{read_recalibration_keys, recalibration_tensors};
use super::{
    CombinedModel, FitSettings, Model, ModelRecalibration, SingleModel, TrainingKeys,
    TrainingSummary,
};
use crate::Task;
use crate::calibration::{SavedCalibrator, SavedMulticlassCalibrator};
use crate::corpus::Fields;
use crate::features::{FittedSideColumns, FittedWeighting, Vocabulary};
use crate::saved::{
    self, NamedTensor, Saveable, SavedKind, SavedProblem, TensorReader, arrays_to_bytes,
    read_arrays, saved_in_files,
};
use crate::scorers::{LinearDescription, Link, SavedScorer, ScorerDescription};
use crate::text::Analyzer;

/// The version that this code writes; it reads this one and all before it.
pub const FORMAT_VERSION: u32 = SavedKind::Model.version();

/// The part of a model that is kept as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    #[serde(
        serialize_with = "settings_to_save",
        deserialize_with = "saved_settings"
    )]
    settings: FitSettings,
    fields: Fields,
    /// In files of version 1, whose scorers are all linear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    link: Option<Link>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scorer: Option<ScorerDescription>,
    calibrators: Vec<SavedCalibrator>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    class_calibrator: Option<SavedMulticlassCalibrator>,
    document_count: u64,
    total_length: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    side: Option<FittedSideColumns>,
    summary: TrainingSummary,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recalibration: Option<ModelRecalibration>,
}

fn settings_to_save<S: Serializer>(
    settings: &FitSettings,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    settings.analyzer.save_with(settings, serializer)
}

/// What the words of a model were before there was a choice, they stay.
fn saved_settings<'d, D: Deserializer<'d>>(deserializer: D) -> Result<FitSettings, D::Error> {
    let mut settings = serde_json::Value::deserialize(deserializer)?;
    let saved = settings
        .get_mut("analyzer")
        .map(serde_json::Value::take)
        .unwrap_or_else(|| serde_json::json!({}));
    if let Some(object) = settings.as_object_mut() {
        object.remove("analyzer");
    }
    Ok(FitSettings {
        analyzer: Analyzer::of_saved_value(saved).map_err(D::Error::custom)?,
        ..serde_json::from_value(settings).map_err(D::Error::custom)?
    })
}

saved_in_files!(Model, "model");

impl Saveable for Model {
    const KIND: SavedKind = SavedKind::Model;

    fn write(&self) -> Result<Vec<u8>, SavedProblem> {
        match self {
            Self::Single(model) => {
                let json = saved::describe(&model.description())?;
                arrays_to_bytes(SavedKind::Model, &json, model.tensors())
            }
            Self::Combined(model) => {
                let json = saved::describe(&model.description())?;
                arrays_to_bytes(SavedKind::Combination, &json, model.tensors())
            }
        }
    }

    fn read(map: &Arc<Mmap>) -> Result<Self, SavedProblem> {
        read_arrays(map, SavedKind::Model, |kind, json, reader| {
            let parts = if kind == SavedKind::Combination {
                let description = serde_json::from_str(json).map_err(saved::unreadable)?;
                CombinedModel::assemble(description, reader).map(Self::from)
            } else {
                let description = serde_json::from_str(json).map_err(saved::unreadable)?;
                SingleModel::assemble(description, reader).map(Self::from)
            };
            parts.ok_or_else(|| SavedProblem::damaged("its parts do not fit together"))
        })
    }
}

impl SingleModel {
    /// What is kept as JSON.
    pub(super) fn description(&self) -> Description {
        let (document_count, total_length) = self.extractor.weighting.collection_size();
        Description {
            settings: self.settings.clone(),
            fields: self.fields.clone(),
            link: None,
            scorer: Some(self.scorer.description()),
            calibrators: self.calibrators.of_outputs.clone(),
            class_calibrator: self.calibrators.joint.clone(),
            document_count,
            total_length,
            side: self.extractor.side.clone(),
            summary: self.summary.clone(),
            recalibration: self.recalibration.clone(),
        }
    }

    /// What is kept as tensors.
    pub(super) fn tensors(&self) -> Vec<NamedTensor<'_>> {
        let frequencies = self.extractor.weighting.document_frequencies();
        let mut tensors = self.scorer.tensors();
        tensors.push(NamedTensor::vector("document_frequencies", frequencies));
        if let Some(vocabulary) = &self.extractor.vocabulary {
            let (bytes, ends) = vocabulary.parts();
            tensors.push(NamedTensor::vector("vocabulary.bytes", bytes.as_bytes()));
            tensors.push(NamedTensor::vector("vocabulary.ends", ends));
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

    pub(super) fn assemble(description: Description, reader: &TensorReader<'_>) -> Option<Self> {
        let Description {
            settings,
            fields,
            link,
            scorer,
            calibrators,
            class_calibrator,
            document_count,
            total_length,
            side,
            summary,
            recalibration,
        } = description;
        let analyzer = settings.analyzer.compile().ok()?;
        settings.check_saved().ok()?;
        let frequencies = reader.vector::<u32>("document_frequencies")?;
        let vocabulary = match settings.hash_bits {
            Some(bits) => (frequencies.len() == 1 << bits).then_some(None)?,
            None => Some(read_vocabulary(reader, frequencies.len())?),
        };
        let weighting = FittedWeighting::from_parts(
            settings.effective_weighting(),
            document_count,
            total_length,
            frequencies,
        );
        let description = scorer.or(link.map(|link| {
            ScorerDescription::Linear(LinearDescription {
                link,
                damping: None,
            })
        }))?;
        let scorer = SavedScorer::from_tensors(description, reader)?;
        let calibrators = Calibrators {
            of_outputs: calibrators,
            joint: class_calibrator,
        };
        let rule_names: Vec<String> = match settings.rule_set().ok()? {
            Some(rules) => rules.categories().map(str::to_owned).collect(),
            None => Vec::new(),
        };
        let side_columns = side.as_ref().map_or(0, FittedSideColumns::column_count);
        let columns = weighting.document_frequencies().len() + side_columns;
        let fits = scorer.feature_count() == columns
            && side.as_ref().is_none_or(FittedSideColumns::is_sound)
            && rule_names == side.as_ref().map_or(&[][..], FittedSideColumns::rules)
            && scorer.class_count() == summary.classes.len()
            && calibrators.fit(&scorer, summary.task)
            && recalibration
                .as_ref()
                .is_none_or(|own| own.is_sound(summary.classes.len()))
            && summary
                .known_documents
                .as_ref()
                .is_none_or(|known| known.fits(summary.classes.len()))
            && (scorer.link() != Link::Mirror || summary.task == Task::SingleLabel);
        let extractor = FeatureExtractor {
            analyzer,
            space: settings.column_space(),
            vocabulary,
            weighting,
            side,
            rules: settings.rule_matcher().ok()?,
        };
        // Old models have none, and what cannot be read is as good as none.
        let keys = reader.vector::<u8>("training_keys");
        let keys = keys.and_then(TrainingKeys::from_bytes);
        let times = recalibration.as_ref().map_or(0, |own| own.times);
        let recalibration_keys = read_recalibration_keys(reader, times);
        fits.then(|| {
            Self::new(settings, fields, extractor, scorer, calibrators, summary)
                .with_training_keys(keys)
                .with_promises(reader.vector::<u8>("promises"))
                .with_recalibration(recalibration, recalibration_keys)
        })
    }
}

fn read_vocabulary(reader: &TensorReader<'_>, terms: usize) -> Option<Vocabulary> {
    let bytes = reader.vector::<u8>("vocabulary.bytes")?;
    let ends = reader.vector::<u32>("vocabulary.ends")?;
    (ends.len() == terms).then_some(())?;
    Vocabulary::from_parts(String::from_utf8(bytes).ok()?, ends)
}

impl Calibrators {
    /// Whether they can belong to this scorer.
    fn fit(&self, scorer: &SavedScorer, task: Task) -> bool {
        let of_each = self.of_outputs.len() == scorer.output_count();
        match &self.joint {
            None => of_each,
            Some(joint) => {
                (self.of_outputs.is_empty() || of_each)
                    && joint.class_count() == scorer.class_count()
                    && task == Task::SingleLabel
            }
        }
    }
}
