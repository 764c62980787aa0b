//! Calibrators of scores as files: one JSON document, checked before anything is believed.
//!
//! ```text
//! {"calibrant":"calibrator","version":3,"checksum":"…","calibrator":{classes, fields, scale, curve, summary}}
//! ```
//! The checksum is BLAKE3 over the version and the calibrator's own text. There is nothing in it to run, and
//! any bytes give a calibrator or an error.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::model_envelope::{looks_like_a_model, publish};
use super::score_calibrator::ScoreCalibrator;

/// The version that this code writes; it reads this one and all before it.
pub const CALIBRATOR_VERSION: u32 = 4;

/// How every such file begins.
const BEGINNING: &[u8] = br#"{"calibrant":"calibrator","#;

/// A larger file is not read: the largest calibrators hold a few numbers for each of their examples.
const MOST_BYTES: u64 = 512 << 20;

/// Why a calibrator could not be saved or opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibratorFileError {
    /// The file is not there.
    #[error("there is no calibrator file at `{}`", path.display())]
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
    /// The file is a model of texts.
    #[error("`{}` is a model of texts, not a calibrator of scores", path.display())]
    IsModel {
        /// The file.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("`{}` is not a calibrator: {reason}", path.display())]
    NotACalibrator {
        /// The file.
        path: PathBuf,
        /// What shows it.
        reason: String,
    },
    /// A later calibrant wrote it.
    #[error("`{}` has calibrator format version {found}; this calibrant reads versions up to {CALIBRATOR_VERSION}", path.display())]
    UnknownVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// It was a calibrator, but it is cut short or changed.
    #[error("the calibrator file `{}` is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
}

#[derive(Deserialize)]
struct Envelope<'a> {
    version: u32,
    checksum: String,
    #[serde(borrow)]
    calibrator: &'a RawValue,
}

/// Whether a file begins as a calibrator does.
pub(super) fn is_calibrator(bytes: &[u8]) -> bool {
    bytes.starts_with(BEGINNING)
}

impl ScoreCalibrator {
    /// Writes to a temporary file beside `path` and renames it, so that `path` holds either what it
    /// held before or the whole calibrator.
    pub fn save(&self, path: &Path) -> Result<(), CalibratorFileError> {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let write = || {
            let mut file = tempfile::Builder::new()
                .prefix(".calibrant-")
                .tempfile_in(folder)?;
            file.write_all(&self.to_bytes())?;
            publish(file, path)
        };
        write().map_err(|source| CalibratorFileError::Io {
            action: "write",
            path: path.to_owned(),
            source,
        })
    }

    /// The calibrator as the bytes of a file. Equal calibrators give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let json = serde_json::to_string(self).unwrap_or_default();
        let checksum = checksum(CALIBRATOR_VERSION, &json);
        let mut bytes = BEGINNING.to_vec();
        // Written around the calibrator's own text, which the checksum covers to the letter.
        bytes.extend_from_slice(
            format!(
                "\"version\":{CALIBRATOR_VERSION},\"checksum\":\"{checksum}\",\"calibrator\":{json}}}\n"
            )
            .as_bytes(),
        );
        bytes
    }

    /// Opens a calibrator file.
    pub fn open(path: &Path) -> Result<Self, CalibratorFileError> {
        let io = |action| {
            move |source: std::io::Error| match source.kind() {
                std::io::ErrorKind::NotFound => CalibratorFileError::NotFound {
                    path: path.to_owned(),
                },
                _ => CalibratorFileError::Io {
                    action,
                    path: path.to_owned(),
                    source,
                },
            }
        };
        let foreign = |reason: &str| CalibratorFileError::NotACalibrator {
            path: path.to_owned(),
            reason: reason.to_owned(),
        };
        if path.is_dir() {
            return Err(foreign("it is a folder"));
        }
        let file = File::open(path).map_err(io("open"))?;
        let mut bytes = Vec::new();
        // The beginning decides before the rest is read, however large the file may be.
        let mut start = file.take(64);
        start.read_to_end(&mut bytes).map_err(io("read"))?;
        if bytes.is_empty() {
            return Err(foreign("it is empty"));
        }
        if looks_like_a_model(&bytes) {
            return Err(CalibratorFileError::IsModel {
                path: path.to_owned(),
            });
        }
        if !is_calibrator(&bytes) {
            return Err(foreign("it does not begin like one"));
        }
        let mut rest = start.into_inner().take(MOST_BYTES);
        rest.read_to_end(&mut bytes).map_err(io("read"))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(foreign("it is far too large"));
        }
        Self::from_bytes(&bytes, path)
    }

    /// The calibrator that these bytes are; `path` is for messages.
    fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self, CalibratorFileError> {
        let damaged = |reason: String| CalibratorFileError::Damaged {
            path: path.to_owned(),
            reason,
        };
        let Envelope {
            version,
            checksum: written,
            calibrator,
        } = serde_json::from_slice(bytes)
            .map_err(|error| damaged(format!("it is no whole JSON document: {error}")))?;
        if !(1..=CALIBRATOR_VERSION).contains(&version) {
            return Err(CalibratorFileError::UnknownVersion {
                path: path.to_owned(),
                found: version,
            });
        }
        if written != checksum(version, calibrator.get()) {
            return Err(damaged("the checksum does not fit its contents".into()));
        }
        serde_json::from_str(calibrator.get())
            .map_err(|error| damaged(format!("the description is unreadable: {error}")))
    }
}

/// BLAKE3 over everything that matters.
fn checksum(version: u32, json: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"calibrator");
    hasher.update(&version.to_le_bytes());
    hasher.update(json.as_bytes());
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::super::score_calibrator::testing::{class_fit, one_score_fit};
    use super::*;
    use proptest::prelude::*;

    fn write(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn refused(bytes: &[u8]) -> CalibratorFileError {
        ScoreCalibrator::open(write(bytes).path()).expect_err("must be refused")
    }

    #[test]
    fn what_is_saved_is_opened_and_saved_again_to_the_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.calibrant");
        for calibrator in [one_score_fit().calibrator, class_fit().calibrator] {
            calibrator.save(&path).unwrap();
            let opened = ScoreCalibrator::open(&path).unwrap();
            assert_eq!(opened, calibrator);
            assert_eq!(opened.to_bytes(), std::fs::read(&path).unwrap());
        }
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "temporary files were left behind");
        assert!(calibrator_refuses_folder(folder.path()));
    }

    fn calibrator_refuses_folder(path: &Path) -> bool {
        one_score_fit().calibrator.save(path).is_err() && ScoreCalibrator::open(path).is_err()
    }

    #[test]
    fn other_files_are_called_what_they_are() {
        use CalibratorFileError as Error;
        assert!(matches!(refused(b""), Error::NotACalibrator { .. }));
        assert!(matches!(
            refused(b"a,b\n1,2\n"),
            Error::NotACalibrator { .. }
        ));
        let bytes = one_score_fit().calibrator.to_bytes();
        assert!(matches!(
            refused(&bytes[..bytes.len() / 2]),
            Error::Damaged { .. }
        ));
        let text = String::from_utf8(bytes).unwrap();
        let version = |number: u32| format!("\"version\":{number}");
        let later = text.replace(
            &version(CALIBRATOR_VERSION),
            &version(CALIBRATOR_VERSION + 1),
        );
        assert!(matches!(
            refused(later.as_bytes()),
            Error::UnknownVersion { found, .. } if found == CALIBRATOR_VERSION + 1
        ));
        let changed = text.replace("\"slope\":", "\"slope\":1");
        assert!(matches!(refused(changed.as_bytes()), Error::Damaged { .. }));
        let missing = ScoreCalibrator::open(Path::new("no such file"));
        assert!(matches!(missing, Err(Error::NotFound { .. })));
    }

    /// A forged file: the checksum fits, the contents need not.
    fn forged(json: &str) -> Vec<u8> {
        let mut bytes = BEGINNING.to_vec();
        let checksum = checksum(CALIBRATOR_VERSION, json);
        let rest = format!(
            "\"version\":{CALIBRATOR_VERSION},\"checksum\":\"{checksum}\",\"calibrator\":{json}}}"
        );
        bytes.extend_from_slice(rest.as_bytes());
        bytes
    }

    #[test]
    fn parts_that_do_not_fit_together_are_refused() {
        let json = serde_json::to_string(&class_fit().calibrator).unwrap();
        assert!(ScoreCalibrator::open(write(&forged(&json)).path()).is_ok());
        for (from, to) in [
            (r#"["a","b","c"]"#, r#"["a","b"]"#),
            (r#"["a","b","c"]"#, r#"["a","b","b"]"#),
            (r#""class_weights":[8.0,"#, r#""class_weights":[-8.0,"#),
            (r#""class_weights":[8.0,"#, r#""class_weights":["#),
            (r#""scores":["fa","#, r#""scores":["#),
            (
                r#""score_is":"number""#,
                r#""score_is":"probability","lowest":0.0,"highest":1.0"#,
            ),
        ] {
            assert!(json.contains(from), "{from} in {json}");
            let error = refused(&forged(&json.replace(from, to)));
            assert!(matches!(error, CalibratorFileError::Damaged { .. }), "{to}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn a_changed_byte_is_noticed(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut bytes = one_score_fit().calibrator.to_bytes();
            let at = at.index(bytes.len() - 1); // The last is a line break, which says nothing.
            prop_assume!(bytes[at] != byte);
            bytes[at] = byte;
            let outcome = ScoreCalibrator::from_bytes(&bytes, Path::new("x"));
            // Only the fixed beginning is not covered, and `open` compares that.
            prop_assert!(outcome.is_err() || at < BEGINNING.len());
        }

        #[test]
        fn any_contents_give_a_calibrator_or_an_error(contents in "\\PC{0,60}") {
            let _ = ScoreCalibrator::from_bytes(&forged(&contents), Path::new("x"));
        }
    }
}
