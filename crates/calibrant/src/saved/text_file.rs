//! Descriptions without arrays: one JSON document.
//!
//! ```text
//! {"calibrant":KIND,"version":…,"checksum":"…",KIND:the description}
//! ```
//! The checksum is BLAKE3 over the version and the description's own text.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{SavedKind, SavedProblem};

/// The kinds that are kept so.
const KINDS: [SavedKind; 3] = [SavedKind::Calibrator, SavedKind::Index, SavedKind::Policy];

#[derive(Deserialize)]
struct Envelope<'a> {
    version: u32,
    checksum: String,
    #[serde(borrow, rename = "calibrator", alias = "index", alias = "policy")]
    description: &'a RawValue,
}

/// How every file of a kind begins.
fn beginning(kind: SavedKind) -> String {
    format!(r#"{{"calibrant":"{kind}","#)
}

/// A larger file is not read: the largest calibrators hold a few numbers for each of their examples, and an
/// index lists a few dozen files.
fn most_bytes(kind: SavedKind) -> usize {
    match kind {
        SavedKind::Index | SavedKind::Policy => 1 << 20,
        _ => 512 << 20,
    }
}

/// The kind that such bytes say they are.
pub(super) fn kind_of(bytes: &[u8]) -> Option<SavedKind> {
    KINDS
        .into_iter()
        .find(|&kind| bytes.starts_with(beginning(kind).as_bytes()))
}

/// The bytes of a file. Equal descriptions give equal bytes.
pub(crate) fn text_to_bytes(kind: SavedKind, json: &str) -> Vec<u8> {
    let version = kind.version();
    let checksum = checksum(kind, version, json);
    // Written around the description's own text, which the checksum covers to the letter.
    let beginning = beginning(kind);
    format!("{beginning}\"version\":{version},\"checksum\":\"{checksum}\",\"{kind}\":{json}}}\n")
        .into_bytes()
}

/// Checks the bytes of a file; its description.
pub(crate) fn read_text(kind: SavedKind, bytes: &[u8]) -> Result<&str, SavedProblem> {
    match super::kind_of(bytes) {
        Some(found) if found == kind => {}
        Some(found) => return Err(SavedProblem::OtherKind { found }),
        None if bytes.is_empty() => return Err(SavedProblem::foreign("it is empty")),
        None => return Err(SavedProblem::foreign("it does not begin like one")),
    }
    if bytes.len() > most_bytes(kind) {
        return Err(SavedProblem::foreign("it is far too large"));
    }
    let envelope: Envelope<'_> = serde_json::from_slice(bytes).map_err(|error| {
        SavedProblem::damaged(format!("it is not a whole JSON document: {error}"))
    })?;
    let (found, newest) = (envelope.version, kind.version());
    if !(1..=newest).contains(&found) {
        return Err(SavedProblem::UnknownVersion { found, newest });
    }
    if envelope.checksum != checksum(kind, found, envelope.description.get()) {
        return Err(SavedProblem::damaged(
            "the checksum does not match its contents",
        ));
    }
    Ok(envelope.description.get())
}

/// BLAKE3 over everything that matters.
fn checksum(kind: SavedKind, version: u32, json: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    // Manifests never had their kind in it.
    if kind != SavedKind::Index {
        hasher.update(kind.name().as_bytes());
    }
    hasher.update(&version.to_le_bytes());
    hasher.update(json.as_bytes());
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_as_what_it_is() {
        for kind in KINDS {
            let bytes = text_to_bytes(kind, r#"{"a":[1,2]}"#);
            assert_eq!(kind_of(&bytes), Some(kind));
            assert_eq!(read_text(kind, &bytes).unwrap(), r#"{"a":[1,2]}"#);
            let other = KINDS[usize::from(kind == KINDS[0])];
            assert!(
                matches!(read_text(other, &bytes), Err(SavedProblem::OtherKind { found }) if found == kind)
            );
        }
    }

    #[test]
    fn a_huge_file_is_refused_before_it_is_parsed() {
        let mut bytes = text_to_bytes(SavedKind::Index, "{}");
        bytes.resize(2 << 20, b' ');
        assert!(matches!(
            read_text(SavedKind::Index, &bytes),
            Err(SavedProblem::Foreign { .. })
        ));
    }
}
