//! The file that makes a folder an index: what it holds, and the checksums of everything in it.
//!
//! ```text
//! {"calibrant":"index","version":1,"checksum":"…","index":{settings, counts, files}}
//! ```
//! The checksum is BLAKE3 over the version and the text of `index`, which in turn has the length and the
//! checksum of every other file of the folder.

use std::fs::File;
use std::path::Path;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::build::IndexSettings;
use super::error::IndexError;
use crate::parallel;
use crate::ranking::functions::{Analysis, CollectionStatistics};
use crate::saved::{
    self, INDEX_MANIFEST, SavedKind, SavedProblem, kind_of, map_file, read_text, text_to_bytes,
};
use crate::text::WordRules;

/// The version that this code writes; it reads this one and all before it.
pub const INDEX_VERSION: u32 = SavedKind::Index.version();

/// The file's name.
pub(super) const MANIFEST: &str = INDEX_MANIFEST;

/// What an index says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) calibrant_version: String,
    #[serde(deserialize_with = "saved_settings")]
    pub(super) settings: IndexSettings,
    pub(super) document_count: u64,
    pub(super) analyses: Vec<AnalysisCounts>,
    pub(super) files: Vec<FileEntry>,
}

/// Settings that say nothing of words are of before there was a choice.
fn saved_settings<'d, D: Deserializer<'d>>(deserializer: D) -> Result<IndexSettings, D::Error> {
    let settings = serde_json::Value::deserialize(deserializer)?;
    let is_older = settings.get("words").is_none();
    let mut settings: IndexSettings = serde_json::from_value(settings).map_err(D::Error::custom)?;
    if is_older {
        settings.words = WordRules::before();
    }
    Ok(settings)
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
    parallel::try_map(names, describe)
}

impl Manifest {
    /// The bytes of the file.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, SavedProblem> {
        Ok(text_to_bytes(SavedKind::Index, &saved::describe(self)?))
    }

    /// Checks the bytes of the file, not yet the files that it lists.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, SavedProblem> {
        let json = read_text(SavedKind::Index, bytes)?;
        let manifest: Self = serde_json::from_str(json).map_err(saved::unreadable)?;
        manifest.check().map_err(SavedProblem::damaged)?;
        Ok(manifest)
    }

    /// Reads and checks the manifest of a folder, not yet the files that it lists.
    pub(super) fn read(folder: &Path) -> Result<Self, IndexError> {
        Self::read_in(folder).map_err(IndexError::saved(folder))
    }

    fn read_in(folder: &Path) -> Result<Self, SavedProblem> {
        match std::fs::metadata(folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(SavedProblem::NotFound);
            }
            Err(error) => return Err(SavedProblem::io("open")(error)),
            Ok(found) if !found.is_dir() => {
                let other = map_file(folder).ok().and_then(|map| kind_of(&map));
                return Err(match other {
                    Some(found) => SavedProblem::OtherKind { found },
                    None => SavedProblem::foreign("it is not a folder"),
                });
            }
            Ok(_) => {}
        }
        let of_manifest = |problem| match problem {
            SavedProblem::NotFound => SavedProblem::foreign(format!("it has no file `{MANIFEST}`")),
            SavedProblem::Foreign { .. } | SavedProblem::OtherKind { .. } => {
                SavedProblem::foreign(format!("its `{MANIFEST}` is not a manifest"))
            }
            SavedProblem::Damaged { reason } => {
                SavedProblem::damaged(format!("{MANIFEST}: {reason}"))
            }
            other => other,
        };
        map_file(&folder.join(MANIFEST))
            .and_then(|map| Self::from_bytes(&map))
            .map_err(of_manifest)
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
        let damaged = |name: &str, what: &str| {
            IndexError::damaged(folder, format!("the file `{name}` {what}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_without_words_are_of_before_there_was_a_choice() {
        let read = |settings: &str| {
            let manifest = format!(
                r#"{{"calibrant_version":"0","settings":{settings},"document_count":0,"analyses":[],"files":[]}}"#
            );
            let manifest: Manifest = serde_json::from_str(&manifest).unwrap();
            manifest.settings
        };
        assert_eq!(read("{}").words, WordRules::before());
        let saved = serde_json::to_string(&IndexSettings::default()).unwrap();
        assert_eq!(read(&saved), IndexSettings::default());
    }
}
