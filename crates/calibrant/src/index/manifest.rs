//! The file that makes a folder an index: what it holds, and the checksums of everything in it.
//!
//! ```text
//! {"calibrant":"index","version":1,"checksum":"…","index":{settings, counts, files}}
//! ```
//! The checksum is BLAKE3 over the version and the text of `index`, which in turn has the length and the
//! checksum of every other file of the folder.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::build::IndexSettings;
use super::error::IndexError;
use crate::ranking::functions::{Analysis, CollectionStatistics};

/// The version that this code writes; it reads this one and all before it.
pub const INDEX_VERSION: u32 = 1;

/// The file's name.
pub(super) const MANIFEST: &str = "calibrant-index.json";

/// How it begins.
const BEGINNING: &str = r#"{"calibrant":"index","#;

/// A larger one is none of ours: a few dozen files are listed.
const MOST_BYTES: u64 = 1 << 20;

/// What an index says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) calibrant_version: String,
    pub(super) settings: IndexSettings,
    pub(super) document_count: u64,
    pub(super) analyses: Vec<AnalysisCounts>,
    pub(super) files: Vec<FileEntry>,
}

/// What one analysis of the collection comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnalysisCounts {
    /// Which analysis.
    pub analysis: Analysis,
    /// Documents and terms, repeats included.
    pub collection: CollectionStatistics,
    /// Distinct terms.
    pub term_count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileEntry {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) checksum: String,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    version: u32,
    checksum: String,
    #[serde(borrow)]
    index: &'a RawValue,
}

/// Whether a file of the folder belongs to the index. Locks of the search engine do not.
fn is_part(name: &str) -> bool {
    name != MANIFEST && !name.ends_with(".lock")
}

/// The names of all files of a folder that belong to an index, sorted.
pub(super) fn part_names(folder: &Path) -> Result<Vec<String>, IndexError> {
    let entries = std::fs::read_dir(folder).map_err(IndexError::io("read", folder))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(IndexError::io("read", folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_part(&name) {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Length and checksum of each file, several at once.
pub(super) fn describe_files(
    folder: &Path,
    names: &[String],
) -> Result<Vec<FileEntry>, IndexError> {
    let describe = |name: &String| {
        let path = folder.join(name);
        let mut hasher = blake3::Hasher::new();
        let read = File::open(&path).and_then(|file| hasher.update_reader(file).map(|_| ()));
        read.map_err(IndexError::io("read", &path))?;
        Ok(FileEntry {
            name: name.clone(),
            bytes: hasher.count(),
            checksum: hasher.finalize().to_hex().to_string(),
        })
    };
    names.par_iter().map(describe).collect()
}

impl Manifest {
    /// The bytes of the file.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let body = serde_json::to_string(self).unwrap_or_default();
        let checksum = checksum(INDEX_VERSION, &body);
        format!(
            "{BEGINNING}\"version\":{INDEX_VERSION},\"checksum\":\"{checksum}\",\"index\":{body}}}\n"
        )
        .into_bytes()
    }

    /// Reads and checks the manifest of a folder, not yet the files that it lists.
    pub(super) fn read(folder: &Path) -> Result<Self, IndexError> {
        let not_an_index = |reason: &str| IndexError::NotAnIndex {
            path: folder.to_owned(),
            reason: reason.to_owned(),
        };
        let damaged = |reason: String| IndexError::Damaged {
            path: folder.to_owned(),
            reason,
        };
        match std::fs::metadata(folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(IndexError::NotFound {
                    path: folder.to_owned(),
                });
            }
            Err(error) => return Err(IndexError::io("open", folder)(error)),
            Ok(found) if !found.is_dir() => return Err(not_an_index("it is not a folder")),
            Ok(_) => {}
        }
        let path = folder.join(MANIFEST);
        let file = match File::open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(not_an_index("it has no file `calibrant-index.json`"));
            }
            outcome => outcome.map_err(IndexError::io("open", &path))?,
        };
        let mut bytes = Vec::new();
        file.take(MOST_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(IndexError::io("read", &path))?;
        if bytes.len() as u64 > MOST_BYTES || !bytes.starts_with(BEGINNING.as_bytes()) {
            return Err(not_an_index("its `calibrant-index.json` is none"));
        }
        let envelope: Envelope<'_> = serde_json::from_slice(&bytes)
            .map_err(|error| damaged(format!("calibrant-index.json: {error}")))?;
        if envelope.version == 0 || envelope.version > INDEX_VERSION {
            return Err(IndexError::UnknownVersion {
                path: folder.to_owned(),
                found: envelope.version,
            });
        }
        if checksum(envelope.version, envelope.index.get()) != envelope.checksum {
            return Err(damaged(
                "the checksum of calibrant-index.json is wrong".to_owned(),
            ));
        }
        let manifest: Self = serde_json::from_str(envelope.index.get())
            .map_err(|error| damaged(format!("calibrant-index.json: {error}")))?;
        manifest
            .check()
            .map_err(|reason| damaged(reason.to_owned()))?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), &'static str> {
        let names = self.analyses.iter().map(|counts| counts.analysis);
        if !names.eq(Analysis::ALL) {
            return Err("it does not have the three analyses");
        }
        if self.document_count == 0 || self.document_count > u64::from(u32::MAX) {
            return Err("its number of documents is impossible");
        }
        let same =
            |counts: &AnalysisCounts| counts.collection.document_count == self.document_count;
        if !self.analyses.iter().all(same) {
            return Err("its numbers of documents contradict each other");
        }
        // Names come from the file: they must not lead out of the folder.
        let plain = |entry: &FileEntry| {
            Path::new(&entry.name).file_name() == Some(std::ffi::OsStr::new(&entry.name))
        };
        if !self.files.iter().all(plain) {
            return Err("it lists files outside its folder");
        }
        Ok(())
    }

    /// Compares the files of the folder with the list: their lengths, and with `contents` their checksums.
    pub(super) fn check_files(&self, folder: &Path, contents: bool) -> Result<(), IndexError> {
        let damaged = |name: &str, what: &str| IndexError::Damaged {
            path: folder.to_owned(),
            reason: format!("the file `{name}` {what}"),
        };
        for entry in &self.files {
            match std::fs::metadata(folder.join(&entry.name)) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    return Err(damaged(&entry.name, "is missing"));
                }
                Err(error) => {
                    return Err(IndexError::io("read", &folder.join(&entry.name))(error));
                }
                Ok(found) if !found.is_file() || found.len() != entry.bytes => {
                    return Err(damaged(&entry.name, "has another length"));
                }
                Ok(_) => {}
            }
        }
        if contents {
            let names: Vec<String> = self.files.iter().map(|entry| entry.name.clone()).collect();
            let found = describe_files(folder, &names)?;
            for (entry, found) in self.files.iter().zip(found) {
                if *entry != found {
                    return Err(damaged(&entry.name, "was changed"));
                }
            }
        }
        Ok(())
    }
}

fn checksum(version: u32, body: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&version.to_le_bytes());
    hasher.update(body.as_bytes());
    hasher.finalize().to_hex().to_string()
}
