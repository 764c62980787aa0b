//! Models as files: safetensors inside, checked before anything is believed.
//!
//! ```text
//! metadata   calibrant = JSON {version, checksum, model: {settings, fields, calibrators, summary, …}}
//!            class_calibrator: all classes together, in place of calibrators
//!            a combination has {fields, pool, members, summary}, a description for each member
//! tensors    vocabulary.bytes U8, vocabulary.ends U32     absent with hashed features
//!            document_frequencies U32
//!            those of the scorer: for linear ones weights F32 or F64 [features, outputs], biases F64
//!            those of a combination's members under `0.`, `1.`, …
//! ```
//! The checksum is BLAKE3 over version, JSON and tensors, so that any change to them is noticed. A
//! file is data only: nothing in it is ever run.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;
use safetensors::SafeTensors;
use safetensors::tensor::TensorView;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::extractor::FeatureExtractor;
use super::single_model::Calibrators;
use super::{CombinedModel, FitSettings, Model, SingleModel, TrainingSummary};
use crate::Task;
use crate::calibration::{SavedCalibrator, SavedMulticlassCalibrator};
use crate::corpus::Fields;
use crate::features::{FittedSideColumns, FittedWeighting, Vocabulary};
use crate::scorers::{Link, NamedTensor, SavedScorer, ScorerDescription, TensorReader};

/// The version that this code writes; it reads this one and all before it.
pub const FORMAT_VERSION: u32 = 2;
const METADATA_KEY: &str = "calibrant";

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

/// The one entry of the file's metadata. (Several would be written in random order.)
#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    version: u32,
    checksum: String,
    model: T,
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
        let io = |action| {
            move |source| ModelFileError::Io {
                action,
                path: path.to_owned(),
                source,
            }
        };
        let bytes = self.to_bytes();
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let mut file = tempfile::Builder::new()
            .prefix(".calibrant-")
            .tempfile_in(folder)
            .map_err(io("write a temporary file for"))?;
        file.write_all(&bytes).map_err(io("write"))?;
        publish(file, path).map_err(io("write"))
    }

    /// The model as the bytes of a file. Equal models give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (json, mut tensors) = match self {
            Self::Single(model) => (serde_json::to_string(&model.description()), model.tensors()),
            Self::Combined(model) => (serde_json::to_string(&model.description()), model.tensors()),
        };
        let json = json.unwrap_or_default();
        tensors.sort_by(|a, b| a.name.cmp(&b.name));
        let parts = tensors
            .iter()
            .map(|tensor| (tensor.name.as_str(), tensor.bytes.as_ref()));
        let checksum = checksum(FORMAT_VERSION, &json, parts);
        // Written around the description's own text, which the checksum covers to the letter.
        let envelope =
            format!(r#"{{"version":{FORMAT_VERSION},"checksum":"{checksum}","model":{json}}}"#);
        let metadata = HashMap::from([(METADATA_KEY.to_owned(), envelope)]);
        let views = tensors.iter().filter_map(|tensor| {
            let view = TensorView::new(tensor.dtype, tensor.shape.clone(), &tensor.bytes);
            Some((tensor.name.as_str(), view.ok()?))
        });
        safetensors::serialize(views, Some(metadata)).unwrap_or_default()
    }

    /// Opens a model file by memory map.
    ///
    /// The file must not be changed in place while it is open; [`Model::save`] never does that.
    pub fn open(path: &Path) -> Result<Self, ModelFileError> {
        let io = |action| {
            move |source| ModelFileError::Io {
                action,
                path: path.to_owned(),
                source,
            }
        };
        if path.is_dir() {
            return Err(ModelFileError::NotAModel {
                path: path.to_owned(),
                reason: "it is a folder".into(),
            });
        }
        let file = File::open(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => ModelFileError::NotFound {
                path: path.to_owned(),
            },
            _ => io("open")(source),
        })?;
        if file.metadata().map_err(io("open"))?.len() == 0 {
            return Err(ModelFileError::NotAModel {
                path: path.to_owned(),
                reason: "it is empty".into(),
            });
        }
        // SAFETY: the map is only read. Another process that cuts the file short while it is mapped
        // could end this one by a signal, which no check of ours could prevent; models are replaced
        // by renaming, never written in place.
        let map = unsafe { Mmap::map(&file) }.map_err(io("map"))?;
        Self::from_map(Arc::new(map), path)
    }

    fn from_map(map: Arc<Mmap>, path: &Path) -> Result<Self, ModelFileError> {
        let damaged = |reason: String| ModelFileError::Damaged {
            path: path.to_owned(),
            reason,
        };
        let foreign = |reason: &str| ModelFileError::NotAModel {
            path: path.to_owned(),
            reason: reason.into(),
        };
        if super::calibrator_file::is_calibrator(&map) {
            return Err(ModelFileError::IsCalibrator {
                path: path.to_owned(),
            });
        }
        let (_, header) = SafeTensors::read_metadata(&map).map_err(|error| match error {
            // A header that claims more than the file holds, in a file that begins like ours.
            safetensors::SafeTensorError::MetadataIncompleteBuffer
            | safetensors::SafeTensorError::InvalidHeaderLength
                if looks_like_a_model(&map) =>
            {
                damaged("it is cut short".into())
            }
            error => ModelFileError::NotAModel {
                path: path.to_owned(),
                reason: error.to_string(),
            },
        })?;
        let envelope = header
            .metadata()
            .as_ref()
            .and_then(|metadata| metadata.get(METADATA_KEY));
        let envelope = envelope.ok_or_else(|| foreign("it carries no calibrant metadata"))?;
        let Ok(Envelope {
            version,
            checksum: written,
            model,
        }) = serde_json::from_str::<Envelope<&RawValue>>(envelope)
        else {
            return Err(damaged("its metadata is unreadable".into()));
        };
        if !(1..=FORMAT_VERSION).contains(&version) {
            return Err(ModelFileError::UnknownVersion {
                path: path.to_owned(),
                found: version,
            });
        }
        let tensors = SafeTensors::deserialize(&map).map_err(|error| damaged(error.to_string()))?;
        let mut names: Vec<&str> = tensors.names();
        names.sort_unstable();
        let parts = names
            .iter()
            .filter_map(|name| Some((*name, tensors.tensor(name).ok()?.data())));
        if written != checksum(version, model.get(), parts) {
            return Err(damaged("the checksum does not fit its contents".into()));
        }
        let unreadable =
            |error: serde_json::Error| damaged(format!("the description is unreadable: {error}"));
        // From here on the contents are what calibrant once wrote, or someone took pains to forge
        // the checksum: shapes and bounds are still checked, so that neither can crash a reader.
        let reader = TensorReader::new(&map, &tensors);
        let parts = if is_combination(model.get()) {
            let description = serde_json::from_str(model.get()).map_err(unreadable)?;
            CombinedModel::assemble(description, &reader).map(Self::from)
        } else {
            let description = serde_json::from_str(model.get()).map_err(unreadable)?;
            SingleModel::assemble(description, &reader).map(Self::from)
        };
        parts.ok_or_else(|| damaged("its parts do not fit together".into()))
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
        settings.check().ok()?;
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
        let description = scorer.or(link.map(|link| ScorerDescription::Linear { link }))?;
        let scorer = SavedScorer::from_tensors(description, reader)?;
        let calibrated = match &class_calibrator {
            None => calibrators.len() == scorer.output_count(),
            Some(joint) => {
                calibrators.is_empty()
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
        fits.then(|| Self::new(settings, fields, extractor, scorer, calibrators, summary))
    }
}

/// BLAKE3 over everything that matters, lengths included so that nothing can move between parts.
fn checksum<'a>(
    version: u32,
    json: &str,
    tensors: impl Iterator<Item = (&'a str, &'a [u8])>,
) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(&version.to_le_bytes());
    part(json.as_bytes());
    for (name, data) in tensors {
        part(name.as_bytes());
        part(data);
    }
    hasher.finalize().to_hex().to_string()
}

/// Whether the first bytes are those of a header that calibrant wrote.
pub(super) fn looks_like_a_model(bytes: &[u8]) -> bool {
    bytes.get(8..9) == Some(b"{")
        && memchr::memmem::find(&bytes[..bytes.len().min(64)], b"\"calibrant\"").is_some()
}

/// Gives a finished temporary file its name, in one step: the name stands for what it stood for
/// before, or for the whole new file. What is no ordinary file is refused: renaming over a device
/// such as `/dev/null` would put a file in its place, for everyone.
pub fn publish(file: tempfile::NamedTempFile, path: &Path) -> std::io::Result<()> {
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(std::io::Error::new(
            std::io::ErrorKind::InvalidInput,
            "it is not an ordinary file",
        ));
    }
    file.as_file().sync_all()?;
    set_usual_permissions(file.as_file())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(unix)]
fn set_usual_permissions(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    // A temporary file is private; a model is an ordinary file.
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn set_usual_permissions(_file: &File) -> std::io::Result<()> {
    Ok(())
}
