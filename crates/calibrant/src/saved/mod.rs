//! How is something kept in a file? Kind, version, checksum, description, arrays; and files that are whole or not there.
//!
//! | kind | container | description |
//! |---|---|---|
//! | model, combination, ranking | safetensors, one metadata entry `calibrant` | JSON in that entry |
//! | calibrator, index manifest, policy | one JSON document | JSON under the kind's name |
//!
//! Both containers say their version and the BLAKE3 checksum of all that follows. They are checked here and nowhere
//! else: any bytes give a [`SavedFileError`], or a description and arrays that are what was written. What they
//! mean is checked by the types that are saved.
//!
//! [`AtomicFile`] writes beside a file's place and takes the place in one step; [`remove_temporary_files`] is for
//! programs that are asked to stop while one is being written.

mod array_file;
mod atomic_file;
mod error;
mod kind;
mod source;
mod storage;
mod temporary;
mod tensors;
mod text_file;

pub use atomic_file::{
    AtomicFile, TargetWriter, WriteError, check_writable, is_same_file, write_file,
};
pub use error::{SavedFileError, SavedProblem};
pub use kind::SavedKind;
pub(crate) use storage::Storage;
pub use temporary::remove_temporary_files;
#[cfg(feature = "index")]
pub(crate) use temporary::{TemporaryFolder, uninterrupted};
pub(crate) use tensors::{NamedTensor, Stored, TensorReader};

pub(crate) use array_file::{arrays_to_bytes, read_arrays};
pub(crate) use kind::INDEX_MANIFEST;
pub(crate) use source::{in_memory, map_file};
pub(crate) use text_file::{read_text, text_to_bytes};

use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What kind of file these bytes are, by what they say of themselves; nothing is checked. `None` where calibrant never
/// wrote them.
///
/// ```
/// use calibrant::saved::{SavedKind, kind_of};
/// assert_eq!(kind_of(br#"{"calibrant":"calibrator","version":4}"#), Some(SavedKind::Calibrator));
/// assert_eq!(kind_of(b"id,label,text\n"), None);
/// ```
pub fn kind_of(bytes: &[u8]) -> Option<SavedKind> {
    text_file::kind_of(bytes).or_else(|| array_file::kind_of(bytes))
}

/// A description as JSON that can be read back. JSON has no infinities, and what holds one would otherwise be
/// written as something else, to be refused only when the file is opened.
pub(crate) fn describe<T: Serialize + DeserializeOwned>(value: &T) -> Result<String, SavedProblem> {
    let unsaveable = |error: serde_json::Error| SavedProblem::Unsaveable {
        reason: error.to_string(),
    };
    let json = serde_json::to_string(value).map_err(unsaveable)?;
    let back: T = serde_json::from_str(&json).map_err(unsaveable)?;
    match serde_json::to_string(&back).map_err(unsaveable)? == json {
        true => Ok(json),
        false => Err(SavedProblem::Unsaveable {
            reason: "it holds a number that is not finite".to_owned(),
        }),
    }
}

/// What a description that cannot be parsed is called.
pub(crate) fn unreadable(error: serde_json::Error) -> SavedProblem {
    SavedProblem::damaged(format!("the description is unreadable: {error}"))
}

/// What can be kept in a file: how it is written, and what it is made of again.
pub(crate) trait Saveable: Sized {
    /// What it is opened as.
    const KIND: SavedKind;

    /// The bytes of a file. Equal values give equal bytes.
    fn write(&self) -> Result<Vec<u8>, SavedProblem>;

    /// From the bytes of a file; any bytes give a value or a problem.
    fn read(map: &Arc<Mmap>) -> Result<Self, SavedProblem>;
}

/// Gives what is [`Saveable`] its four ways in and out of files; the second word is what messages and help call it.
macro_rules! saved_in_files {
    ($type:ident, $what:literal) => {
        impl $type {
            #[doc = concat!("Writes the ", $what, " to a temporary file beside `path` and renames it, so that `path` holds either what it held before or the whole ", $what, ".")]
            pub fn save(&self, path: &std::path::Path) -> Result<(), $crate::saved::SavedFileError> {
                $crate::saved::save(self, path)
            }

            #[doc = concat!("The ", $what, " as the bytes of a file. Equal ones give equal bytes.")]
            pub fn to_bytes(&self) -> Result<Vec<u8>, $crate::saved::SavedFileError> {
                $crate::saved::to_bytes(self)
            }

            #[doc = concat!("Opens the file of a ", $what, "; any other gives an error. Files are opened by memory map and must not be changed in place while they are in use; [`Self::save`] never does that.")]
            pub fn open(path: &std::path::Path) -> Result<Self, $crate::saved::SavedFileError> {
                $crate::saved::open(path)
            }

            #[doc = concat!("The ", $what, " that [`Self::to_bytes`] gave, or that a file holds; the bytes are copied.")]
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, $crate::saved::SavedFileError> {
                $crate::saved::from_bytes(bytes)
            }
        }
    };
}

pub(crate) use saved_in_files;

/// The bytes of a file.
pub(crate) fn to_bytes<T: Saveable>(value: &T) -> Result<Vec<u8>, SavedFileError> {
    value
        .write()
        .map_err(|problem| SavedFileError::new(T::KIND, problem))
}

/// From the bytes of a file, which are copied.
pub(crate) fn from_bytes<T: Saveable>(bytes: &[u8]) -> Result<T, SavedFileError> {
    in_memory(bytes)
        .and_then(|map| T::read(&map))
        .map_err(|problem| SavedFileError::new(T::KIND, problem))
}

/// Saves in one step: `path` holds what it held before, or the whole file.
pub(crate) fn save<T: Saveable>(value: &T, path: &Path) -> Result<(), SavedFileError> {
    let bytes = value.write();
    let outcome = bytes.and_then(|bytes| {
        write_file(path, &bytes).map_err(|error| SavedProblem::Io {
            action: error.action,
            source: error.source,
        })
    });
    outcome.map_err(|problem| SavedFileError::new(T::KIND, problem).at(path))
}

/// Opens a file by memory map.
pub(crate) fn open<T: Saveable>(path: &Path) -> Result<T, SavedFileError> {
    map_file(path)
        .and_then(|map| T::read(&map))
        .map_err(|problem| SavedFileError::new(T::KIND, problem).at(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Serialize, Deserialize)]
    struct Numbers {
        required: f64,
        optional: Option<f64>,
    }

    #[test]
    fn what_would_not_come_back_is_not_described() {
        let numbers = |required, optional| Numbers { required, optional };
        assert!(describe(&numbers(1.0, None)).is_ok());
        assert!(describe(&numbers(1.0, Some(0.1))).is_ok());
        for bad in [f64::NAN, f64::INFINITY] {
            let problem = describe(&numbers(bad, None)).unwrap_err();
            assert!(matches!(problem, SavedProblem::Unsaveable { .. }));
        }
    }

    impl Saveable for Numbers {
        const KIND: SavedKind = SavedKind::Calibrator;

        fn write(&self) -> Result<Vec<u8>, SavedProblem> {
            Ok(text_to_bytes(Self::KIND, &describe(self)?))
        }

        fn read(map: &Arc<Mmap>) -> Result<Self, SavedProblem> {
            serde_json::from_str(read_text(Self::KIND, map)?).map_err(unreadable)
        }
    }

    #[test]
    fn a_failed_description_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        let mut numbers = Numbers {
            required: 1.5,
            optional: None,
        };
        save(&numbers, &path).unwrap();
        let old = std::fs::read(&path).unwrap();
        numbers.required = f64::INFINITY;
        let error = save(&numbers, &path).unwrap_err();
        assert!(error.to_string().contains("kept"), "{error}");
        assert!(to_bytes(&numbers).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), old);
        assert_eq!(open::<Numbers>(&path).unwrap().required, 1.5);
        assert_eq!(from_bytes::<Numbers>(&old).unwrap().required, 1.5);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
