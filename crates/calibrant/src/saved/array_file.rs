//! Descriptions with arrays: safetensors with one metadata entry.
//!
//! ```text
//! metadata   calibrant = JSON {version, checksum, model: the description}
//! tensors    the arrays, by name
//! ```
//! The checksum is BLAKE3 over version, description and arrays, so that any change to them is noticed. The
//! description tells the kind: a ranking has the one key `ranking`, a combination has `members`.

use std::collections::HashMap;
use std::sync::Arc;

use memmap2::Mmap;
use safetensors::SafeTensors;
use safetensors::tensor::TensorView;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{NamedTensor, SavedKind, SavedProblem, TensorReader, text_file};

const METADATA_KEY: &str = "calibrant";

/// The one entry of the file's metadata. (Several would be written in random order.)
#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    version: u32,
    checksum: String,
    model: T,
}

/// A description and its arrays as the bytes of a file. Equal ones give equal bytes.
pub(crate) fn arrays_to_bytes(
    kind: SavedKind,
    json: &str,
    mut tensors: Vec<NamedTensor<'_>>,
) -> Result<Vec<u8>, SavedProblem> {
    tensors.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(pair) = tensors.windows(2).find(|pair| pair[0].name == pair[1].name) {
        return Err(SavedProblem::unsaveable(format_args!(
            "two arrays are called `{}`",
            pair[0].name
        )));
    }
    let version = kind.version();
    let parts = tensors
        .iter()
        .map(|tensor| (tensor.name.as_str(), tensor.bytes.as_ref()));
    let checksum = checksum(version, json, parts);
    // Written around the description's own text, which the checksum covers to the letter.
    let envelope = format!(r#"{{"version":{version},"checksum":"{checksum}","model":{json}}}"#);
    let metadata = HashMap::from([(METADATA_KEY.to_owned(), envelope)]);
    let views = tensors.iter().map(|tensor| {
        let view = TensorView::new(tensor.dtype, tensor.shape.clone(), &tensor.bytes);
        Ok((tensor.name.as_str(), view?))
    });
    let views: Vec<_> = views
        .collect::<Result<_, safetensors::SafeTensorError>>()
        .map_err(SavedProblem::unsaveable)?;
    safetensors::serialize(views, Some(metadata)).map_err(SavedProblem::unsaveable)
}

/// Checks the bytes of a file and hands on its kind, its description and its arrays.
pub(crate) fn read_arrays<T>(
    map: &Arc<Mmap>,
    wanted: SavedKind,
    assemble: impl FnOnce(SavedKind, &str, &TensorReader<'_>) -> Result<T, SavedProblem>,
) -> Result<T, SavedProblem> {
    if let Some(found) = text_file::kind_of(map) {
        return Err(SavedProblem::OtherKind { found });
    }
    let (_, header) = SafeTensors::read_metadata(map).map_err(|error| match error {
        // A header that claims more than the file holds, in a file that begins like ours.
        safetensors::SafeTensorError::MetadataIncompleteBuffer
        | safetensors::SafeTensorError::InvalidHeaderLength
            if looks_like_arrays(map) =>
        {
            SavedProblem::damaged("it is cut short")
        }
        error => SavedProblem::foreign(error.to_string()),
    })?;
    let envelope = envelope_of(&header)
        .ok_or_else(|| SavedProblem::foreign("it carries no calibrant metadata"))?;
    let Ok(Envelope {
        version,
        checksum: written,
        model,
    }) = serde_json::from_str::<Envelope<&RawValue>>(envelope)
    else {
        return Err(SavedProblem::damaged("its metadata is unreadable"));
    };
    let found = kind_of_description(model.get());
    let newest = found.version();
    if !(1..=newest).contains(&version) {
        return Err(SavedProblem::UnknownVersion {
            found: version,
            newest,
        });
    }
    let tensors =
        SafeTensors::deserialize(map).map_err(|error| SavedProblem::damaged(error.to_string()))?;
    let mut names: Vec<&str> = tensors.names();
    names.sort_unstable();
    let parts = names
        .iter()
        .filter_map(|name| Some((*name, tensors.tensor(name).ok()?.data())));
    if written != checksum(version, model.get(), parts) {
        return Err(SavedProblem::damaged(
            "the checksum does not match its contents",
        ));
    }
    if !found.serves_as(wanted) {
        return Err(SavedProblem::OtherKind { found });
    }
    // From here on the contents are what calibrant once wrote, or someone took pains to forge
    // the checksum: shapes and bounds are still checked, so that neither can crash a reader.
    assemble(found, model.get(), &TensorReader::new(map, &tensors))
}

/// The kind that such bytes say they are; of those that are cut short, that they are a model.
pub(super) fn kind_of(bytes: &[u8]) -> Option<SavedKind> {
    let Ok((_, header)) = SafeTensors::read_metadata(bytes) else {
        return looks_like_arrays(bytes).then_some(SavedKind::Model);
    };
    let envelope = envelope_of(&header)?;
    let envelope = serde_json::from_str::<Envelope<&RawValue>>(envelope);
    Some(envelope.map_or(SavedKind::Model, |envelope| {
        kind_of_description(envelope.model.get())
    }))
}

/// Whether the first bytes are those of a header that calibrant wrote.
pub(super) fn looks_like_arrays(bytes: &[u8]) -> bool {
    bytes.get(8..9) == Some(b"{")
        && memchr::memmem::find(&bytes[..bytes.len().min(64)], b"\"calibrant\"").is_some()
}

fn envelope_of(header: &safetensors::tensor::Metadata) -> Option<&String> {
    header.metadata().as_ref()?.get(METADATA_KEY)
}

/// Only a ranking has `ranking`, and only a combination has `members`.
fn kind_of_description(json: &str) -> SavedKind {
    #[derive(Deserialize)]
    struct Glance {
        #[serde(default)]
        ranking: Option<serde::de::IgnoredAny>,
        #[serde(default)]
        members: Option<serde::de::IgnoredAny>,
    }
    match serde_json::from_str(json) {
        Ok(Glance {
            ranking: Some(_), ..
        }) => SavedKind::Ranking,
        Ok(Glance {
            members: Some(_), ..
        }) => SavedKind::Combination,
        _ => SavedKind::Model,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::saved::in_memory;

    fn read(
        bytes: &[u8],
        wanted: SavedKind,
    ) -> Result<(SavedKind, String, Vec<u32>), SavedProblem> {
        read_arrays(&in_memory(bytes)?, wanted, |kind, json, arrays| {
            let numbers = arrays.vector::<u32>("numbers").unwrap_or_default();
            Ok((kind, json.to_owned(), numbers))
        })
    }

    #[test]
    fn what_was_written_is_read() {
        let numbers = NamedTensor::vector("numbers", &[1u32, 2, 3]);
        for (kind, json) in [
            (SavedKind::Model, r#"{"a":1}"#),
            (SavedKind::Ranking, r#"{"ranking":{}}"#),
            (SavedKind::Combination, r#"{"members":[]}"#),
        ] {
            let bytes = arrays_to_bytes(kind, json, vec![numbers.clone()]).unwrap();
            assert_eq!(kind_of(&bytes), Some(kind));
            let found = read(&bytes, kind).unwrap();
            assert_eq!(found, (kind, json.to_owned(), vec![1, 2, 3]));
            let other = match kind {
                SavedKind::Ranking => SavedKind::Model,
                _ => SavedKind::Ranking,
            };
            assert!(
                matches!(read(&bytes, other), Err(SavedProblem::OtherKind { found }) if found == kind)
            );
        }
    }

    #[test]
    fn arrays_that_cannot_be_written_are_an_error_and_not_left_out() {
        let short = NamedTensor {
            shape: vec![7],
            ..NamedTensor::vector("numbers", &[1u32, 2, 3])
        };
        let twice = vec![
            NamedTensor::vector("numbers", &[1u32]),
            NamedTensor::vector("numbers", &[2u32]),
        ];
        for tensors in [vec![short], twice] {
            let outcome = arrays_to_bytes(SavedKind::Model, "{}", tensors);
            assert!(matches!(outcome, Err(SavedProblem::Unsaveable { .. })));
        }
    }
}
