//! What grades above the smallest relevant one are for.

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

/// What grades above the smallest relevant one are for, with losses that know relevant and not relevant alone (`map`, `roc`, `rr`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GradeUse {
    /// Nothing: a document is relevant or not.
    One,
    /// Each grade is a question of its own, so that better grades are put before lower ones.
    Every,
}

named! {
    GradeUse, "a use of grades";
    One = "one", "Nothing: a document is relevant or not";
    Every = "every", "Each counts as a question of its own, so better grades are put before lower ones";
}
