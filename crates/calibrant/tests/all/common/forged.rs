//! Saved files with contents that were changed and checksums that fit all the same.

use std::collections::{BTreeMap, HashMap};

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::Value;

/// The parts of a file with arrays, to be changed and put together again with a right checksum.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) version: u32,
    pub(crate) description: Value,
    pub(crate) tensors: BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>,
}

impl Parts {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let (_, header) = SafeTensors::read_metadata(bytes).unwrap();
        let envelope = &header.metadata().as_ref().unwrap()["calibrant"];
        let envelope: Value = serde_json::from_str(envelope).unwrap();
        let tensors = SafeTensors::deserialize(bytes).unwrap();
        let tensors = tensors.tensors().into_iter().map(|(name, view)| {
            let part = (view.dtype(), view.shape().to_vec(), view.data().to_vec());
            (name, part)
        });
        Self {
            version: envelope["version"].as_u64().unwrap() as u32,
            description: envelope["model"].clone(),
            tensors: tensors.collect(),
        }
    }

    /// `None` if not even the container can be written.
    pub(crate) fn file(&self) -> Option<Vec<u8>> {
        self.file_of(&self.description.to_string())
    }

    /// As [`Parts::file`], around a description that need not be JSON.
    pub(crate) fn file_of(&self, json: &str) -> Option<Vec<u8>> {
        let mut hasher = blake3::Hasher::new();
        let mut part = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        part(&self.version.to_le_bytes());
        part(json.as_bytes());
        for (name, (_, _, data)) in &self.tensors {
            part(name.as_bytes());
            part(data);
        }
        let checksum = hasher.finalize().to_hex();
        let version = self.version;
        let envelope = format!(r#"{{"version":{version},"checksum":"{checksum}","model":{json}}}"#);
        let views = self
            .tensors
            .iter()
            .map(|(name, (dtype, shape, data))| {
                Some((name, TensorView::new(*dtype, shape.clone(), data).ok()?))
            })
            .collect::<Option<Vec<_>>>()?;
        let metadata = HashMap::from([("calibrant".to_owned(), envelope)]);
        safetensors::serialize(views, Some(metadata)).ok()
    }
}

/// A file without arrays around any description, with a right checksum.
pub(crate) fn text_file(kind: &str, version: u32, json: &str) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    if kind != "index" {
        hasher.update(kind.as_bytes());
    }
    hasher.update(&version.to_le_bytes());
    hasher.update(json.as_bytes());
    let checksum = hasher.finalize().to_hex();
    let text = format!(
        "{{\"calibrant\":\"{kind}\",\"version\":{version},\"checksum\":\"{checksum}\",\"{kind}\":{json}}}\n"
    );
    text.into_bytes()
}
