//! What all model files share: safetensors with a checksum, written in one step and checked when opened.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use safetensors::SafeTensors;
use safetensors::tensor::TensorView;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{FORMAT_VERSION, ModelFileError};
use crate::scorers::{NamedTensor, TensorReader};

const METADATA_KEY: &str = "calibrant";

/// The one entry of the file's metadata. (Several would be written in random order.)
#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    version: u32,
    checksum: String,
    model: T,
}

/// Writes to a temporary file beside `path` and renames it.
pub(crate) fn save(bytes: &[u8], path: &Path) -> Result<(), ModelFileError> {
    let io = |action| {
        move |source| ModelFileError::Io {
            action,
            path: path.to_owned(),
            source,
        }
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".calibrant-")
        .tempfile_in(folder)
        .map_err(io("write a temporary file for"))?;
    file.write_all(bytes).map_err(io("write"))?;
    publish(file, path).map_err(io("write"))
}

/// A description and its arrays as the bytes of a file. Equal ones give equal bytes.
pub(crate) fn to_bytes(json: &str, mut tensors: Vec<NamedTensor<'_>>) -> Vec<u8> {
    tensors.sort_by(|a, b| a.name.cmp(&b.name));
    let parts = tensors
        .iter()
        .map(|tensor| (tensor.name.as_str(), tensor.bytes.as_ref()));
    let checksum = checksum(FORMAT_VERSION, json, parts);
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

/// Opens a model file by memory map, checks it and hands its description and arrays on.
pub(crate) fn open<T>(
    path: &Path,
    assemble: impl FnOnce(&str, &TensorReader<'_>) -> Result<T, ModelFileError>,
) -> Result<T, ModelFileError> {
    let io = |action| {
        move |source| ModelFileError::Io {
            action,
            path: path.to_owned(),
            source,
        }
    };
    let foreign = |reason: &str| ModelFileError::NotAModel {
        path: path.to_owned(),
        reason: reason.into(),
    };
    if path.is_dir() {
        return Err(foreign("it is a folder"));
    }
    let file = File::open(path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => ModelFileError::NotFound {
            path: path.to_owned(),
        },
        _ => io("open")(source),
    })?;
    if file.metadata().map_err(io("open"))?.len() == 0 {
        return Err(foreign("it is empty"));
    }
    // SAFETY: the map is only read. Another process that cuts the file short while it is mapped
    // could end this one by a signal, which no check of ours could prevent; models are replaced
    // by renaming, never written in place.
    let map = Arc::new(unsafe { Mmap::map(&file) }.map_err(io("map"))?);
    let damaged = |reason: String| ModelFileError::Damaged {
        path: path.to_owned(),
        reason,
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
        error => foreign(&error.to_string()),
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
    // From here on the contents are what calibrant once wrote, or someone took pains to forge
    // the checksum: shapes and bounds are still checked, so that neither can crash a reader.
    assemble(model.get(), &TensorReader::new(&map, &tensors))
}

/// Only a ranking model has this key.
pub(crate) fn is_ranking(json: &str) -> bool {
    #[derive(Deserialize)]
    struct Glance {
        #[serde(default)]
        ranking: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_str(json).is_ok_and(|glance: Glance| glance.ranking.is_some())
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
