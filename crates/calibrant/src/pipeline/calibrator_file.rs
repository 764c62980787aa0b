//! Calibrators of scores as files: one JSON document, checked before anything is believed.
//!
//! ```text
//! {"calibrant":"calibrator","version":3,"checksum":"…","calibrator":{classes, fields, scale, curve, summary}}
//! ```
//! The checksum is BLAKE3 over the version and the calibrator's own text. There is nothing in it to run, and
//! any bytes give a calibrator or an error.

use std::sync::Arc;

use memmap2::Mmap;

use super::score_calibrator::ScoreCalibrator;
use crate::saved::{
    self, Saveable, SavedKind, SavedProblem, read_text, saved_in_files, text_to_bytes,
};

/// The version that this code writes; it reads this one and all before it.
pub(crate) const CALIBRATOR_VERSION: u32 = SavedKind::Calibrator.version();

saved_in_files!(ScoreCalibrator, "calibrator");

impl Saveable for ScoreCalibrator {
    const KIND: SavedKind = SavedKind::Calibrator;

    fn write(&self) -> Result<Vec<u8>, SavedProblem> {
        Ok(text_to_bytes(Self::KIND, &saved::describe(self)?))
    }

    fn read(map: &Arc<Mmap>) -> Result<Self, SavedProblem> {
        serde_json::from_str(read_text(Self::KIND, map)?).map_err(saved::unreadable)
    }
}

#[cfg(test)]
mod tests {
    use super::super::score_calibrator::testing::{class_fit, one_score_fit};
    use std::path::Path;

    use super::*;
    use proptest::prelude::*;

    fn refused(bytes: &[u8]) -> SavedProblem {
        let error = ScoreCalibrator::from_bytes(bytes).expect_err("must be refused");
        error.problem
    }

    #[test]
    fn what_is_saved_is_opened_and_saved_again_to_the_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.calibrant");
        for calibrator in [one_score_fit().calibrator, class_fit().calibrator] {
            calibrator.save(&path).unwrap();
            let opened = ScoreCalibrator::open(&path).unwrap();
            assert_eq!(opened, calibrator);
            assert_eq!(opened.to_bytes().unwrap(), std::fs::read(&path).unwrap());
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
        use SavedProblem as Error;
        assert!(matches!(refused(b""), Error::Foreign { .. }));
        assert!(matches!(refused(b"a,b\n1,2\n"), Error::Foreign { .. }));
        let bytes = one_score_fit().calibrator.to_bytes().unwrap();
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
        let missing = ScoreCalibrator::open(Path::new("no such file")).unwrap_err();
        assert!(matches!(missing.problem, Error::NotFound));
    }

    /// A forged file: the checksum fits, the contents need not.
    fn forged(json: &str) -> Vec<u8> {
        text_to_bytes(SavedKind::Calibrator, json)
    }

    #[test]
    fn parts_that_do_not_fit_together_are_refused() {
        let json = serde_json::to_string(&class_fit().calibrator).unwrap();
        assert!(ScoreCalibrator::from_bytes(&forged(&json)).is_ok());
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
            assert!(matches!(error, SavedProblem::Damaged { .. }), "{to}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn a_changed_byte_is_noticed(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut bytes = one_score_fit().calibrator.to_bytes().unwrap();
            let at = at.index(bytes.len() - 1); // The last is a line break, which says nothing.
            prop_assume!(bytes[at] != byte);
            bytes[at] = byte;
            prop_assert!(ScoreCalibrator::from_bytes(&bytes).is_err());
        }

        #[test]
        fn any_contents_give_a_calibrator_or_an_error(contents in "\\PC{0,60}") {
            let _ = ScoreCalibrator::from_bytes(&forged(&contents));
        }
    }
}
