//! Models as files: safetensors inside, checked before anything is believed.
//!
//! ```text
//! metadata   calibrant = JSON {version, checksum, model: {settings, fields, calibrators, summary, …}}
//!            class_calibrator: all classes together, in place of calibrators
//!            a combination has {fields, pool, members, summary}, a description for each member
//! tensors    vocabulary.bytes U8, vocabulary.ends U32     absent with hashed features
//!            document_frequencies U32
//!            those of the scorer: for linear ones weights F32 or F64 [features, outputs], biases F64
//!            training_keys U8     a filter of the documents learned from; absent in old models and where not wanted
//!            those of a combination's members under `0.`, `1.`, …
//! a ranking model has one key, `ranking`; see `ranking/learning/model_file.rs`
//! ```
//! The checksum is BLAKE3 over version, JSON and tensors, so that any change to them is noticed. A
//! file is data only: nothing in it is ever run.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::extractor::FeatureExtractor;
use super::model_envelope;
use super::single_model::Calibrators;
use super::{CombinedModel, FitSettings, Model, SingleModel, TrainingKeys, TrainingSummary};
use crate::Task;
use crate::calibration::{SavedCalibrator, SavedMulticlassCalibrator};
use crate::corpus::Fields;
use crate::features::{FittedSideColumns, FittedWeighting, Vocabulary};
use crate::scorers::{
    LinearDescription, Link, NamedTensor, SavedScorer, ScorerDescription, TensorReader,
};

/// The version that this code writes; it reads this one and all before it.
pub const FORMAT_VERSION: u32 = 4;

/// Why a model could not be saved or opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// The file is not there.
    #[error("there is no model file at `{}`", path.display())]
    NotFound {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The file is something else.
    #[error("`{}` is not a calibrant model: {reason}", path.display())]
    NotAModel {
        /// The file.
        path: PathBuf,
        /// What shows it.
        reason: String,
    },
    /// It turns scores into probabilities, not texts.
    #[error("`{}` is a calibrator of scores, not a model of texts", path.display())]
    IsCalibrator {
        /// The file.
        path: PathBuf,
    },
    /// It ranks documents by numbers, and does not classify texts.
    #[error("`{}` is a ranking model, not a model of texts", path.display())]
    IsRanking {
        /// The file.
        path: PathBuf,
    },
    /// It classifies texts, and does not rank documents by numbers.
    #[error("`{}` is a model of texts, not a ranking model", path.display())]
    IsTextModel {
        /// The file.
        path: PathBuf,
    },
    /// A later calibrant wrote it.
    #[error("`{}` has model format version {found}; this calibrant reads versions up to {FORMAT_VERSION}", path.display())]
    UnknownVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// It was a model, but it is cut short or changed.
    #[error("the model file `{}` is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
}

/// The part of a model that is kept as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
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
}

impl Model {
    /// Writes the model to a temporary file beside `path` and renames it, so that `path` holds either
    /// what it held before or the whole model.
    pub fn save(&self, path: &Path) -> Result<(), ModelFileError> {
        model_envelope::save(&self.to_bytes(), path)
    }

    /// The model as the bytes of a file. Equal models give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (json, tensors) = match self {
            Self::Single(model) => (serde_json::to_string(&model.description()), model.tensors()),
            Self::Combined(model) => (serde_json::to_string(&model.description()), model.tensors()),
        };
        model_envelope::to_bytes(&json.unwrap_or_default(), tensors)
    }

    /// Opens a model file by memory map.
    ///
    /// The file must not be changed in place while it is open; [`Model::save`] never does that.
    pub fn open(path: &Path) -> Result<Self, ModelFileError> {
        model_envelope::open(path, |json, reader| {
            let damaged = |reason: String| ModelFileError::Damaged {
                path: path.to_owned(),
                reason,
            };
            let unreadable = |error: serde_json::Error| {
                damaged(format!("the description is unreadable: {error}"))
            };
            if model_envelope::is_ranking(json) {
                return Err(ModelFileError::IsRanking {
                    path: path.to_owned(),
                });
            }
            let parts = if is_combination(json) {
                let description = serde_json::from_str(json).map_err(unreadable)?;
                CombinedModel::assemble(description, reader).map(Self::from)
            } else {
                let description = serde_json::from_str(json).map_err(unreadable)?;
                SingleModel::assemble(description, reader).map(Self::from)
            };
            parts.ok_or_else(|| damaged("its parts do not fit together".into()))
        })
    }
}

/// Only a combination has members.
fn is_combination(json: &str) -> bool {
    #[derive(Deserialize)]
    struct Glance {
        #[serde(default)]
        members: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_str(json).is_ok_and(|glance: Glance| glance.members.is_some())
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
        } = description;
        let analyzer = settings.analyzer.compile().ok()?;
        settings.check_saved().ok()?;
        let frequencies = reader.vector::<u32>("document_frequencies")?;
        let vocabulary = match settings.hash_bits {
            Some(bits) => (frequencies.len() == 1 << bits).then_some(None)?,
            None => {
                let bytes = reader.vector::<u8>("vocabulary.bytes")?;
                let ends = reader.vector::<u32>("vocabulary.ends")?;
                (ends.len() == frequencies.len()).then_some(())?;
                Some(Vocabulary::from_parts(
                    String::from_utf8(bytes).ok()?,
                    ends,
                )?)
            }
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
        let calibrated = match &class_calibrator {
            None => calibrators.len() == scorer.output_count(),
            Some(joint) => {
                (calibrators.is_empty() || calibrators.len() == scorer.output_count())
                    && joint.class_count() == scorer.class_count()
                    && summary.task == Task::SingleLabel
            }
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
            && calibrated
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
        let calibrators = Calibrators {
            of_outputs: calibrators,
            joint: class_calibrator,
        };
        // Old models have none, and what cannot be read is as good as none.
        let keys = reader.vector::<u8>("training_keys");
        let keys = keys.and_then(TrainingKeys::from_bytes);
        fits.then(|| {
            Self::new(settings, fields, extractor, scorer, calibrators, summary)
                .with_training_keys(keys)
        })
    }
}
