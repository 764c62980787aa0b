//! What grades above the smallest relevant one are for.

use std::fmt;
use std::str::FromStr;

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

impl GradeUse {
    /// Both.
    pub const ALL: [Self; 2] = [Self::One, Self::Every];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Every => "every",
        }
    }

    /// What it means, in a sentence.
    pub const fn help(self) -> &'static str {
        match self {
            Self::One => "Nothing: a document is relevant or not",
            Self::Every => {
                "Each counts as a question of its own, so better grades are put before lower ones"
            }
        }
    }
}

impl fmt::Display for GradeUse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A name that is not a use of grades.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a use of grades; it must be one or every")]
pub struct UnknownGradeUse(pub String);

impl FromStr for GradeUse {
    type Err = UnknownGradeUse;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|one| one.name() == name);
        found.ok_or_else(|| UnknownGradeUse(name.to_owned()))
    }
}
