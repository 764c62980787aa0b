#![no_main]

use std::collections::HashMap;

use calibrant::jobs::open_any_bytes;
use safetensors::SafeTensors;
use serde_json::Value;
use serde_json::value::RawValue;

// Models, rankings, combinations, calibrators and manifests of indexes, with the checksum that the bytes should have: without it nothing
// behind it would be reached.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = open_any_bytes(bytes);
    if let Some(mended) = mended_arrays(bytes).or_else(|| mended_text(bytes)) {
        let _ = open_any_bytes(&mended);
    }
});

#[derive(Default)]
struct Parts(blake3::Hasher);

impl Parts {
    fn part(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }
}

fn mended_arrays(bytes: &[u8]) -> Option<Vec<u8>> {
    let (_, header) = SafeTensors::read_metadata(bytes).ok()?;
    let envelope = header.metadata().as_ref()?.get("calibrant")?;
    let envelope: HashMap<String, &RawValue> = serde_json::from_str(envelope).ok()?;
    let version: u32 = serde_json::from_str(envelope.get("version")?.get()).ok()?;
    let model = envelope.get("model")?.get();
    let tensors = SafeTensors::deserialize(bytes).ok()?;
    let mut names: Vec<&str> = tensors.names();
    names.sort_unstable();
    let mut parts = Parts::default();
    parts.part(&version.to_le_bytes());
    parts.part(model.as_bytes());
    for name in &names {
        parts.part(name.as_bytes());
        parts.part(tensors.tensor(name).ok()?.data());
    }
    let checksum = parts.0.finalize().to_hex();
    let envelope = format!(r#"{{"version":{version},"checksum":"{checksum}","model":{model}}}"#);
    let metadata = HashMap::from([("calibrant".to_owned(), envelope)]);
    let views = names.iter().map(|name| Some((*name, tensors.tensor(name).ok()?)));
    let views: Option<Vec<_>> = views.collect();
    safetensors::serialize(views?, Some(metadata)).ok()
}

fn mended_text(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let envelope: HashMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let kind: Value = serde_json::from_str(envelope.get("calibrant")?.get()).ok()?;
    let kind = kind.as_str()?;
    let version: u32 = serde_json::from_str(envelope.get("version")?.get()).ok()?;
    let json = envelope.get(kind)?.get();
    let mut hasher = blake3::Hasher::new();
    if kind == "calibrator" {
        hasher.update(kind.as_bytes());
    }
    hasher.update(&version.to_le_bytes());
    hasher.update(json.as_bytes());
    let checksum = hasher.finalize().to_hex();
    let mended = format!(
        "{{\"calibrant\":\"{kind}\",\"version\":{version},\"checksum\":\"{checksum}\",\"{kind}\":{json}}}\n"
    );
    Some(mended.into_bytes())
}
