//! Kinds of saved files, and the version of each.

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

/// The file that makes a folder an index.
pub(crate) const INDEX_MANIFEST: &str = "calibrant-index.json";

/// What a saved file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SavedKind {
    /// A model of texts.
    Model,
    /// Several models of texts, whose forecasts are pooled.
    Combination,
    /// A learned ranking.
    Ranking,
    /// A calibrator of scores.
    Calibrator,
    /// The manifest of a search index.
    Index,
    /// Which of several sources of answers answers what.
    Policy,
}

named! {
    SavedKind, "a kind of saved file";
    Model = "model", "A model of texts";
    Combination = "combination", "Several models of texts, whose forecasts are pooled";
    Ranking = "ranking", "A learned ranking";
    Calibrator = "calibrator", "A calibrator of scores";
    Index = "index", "The manifest of a search index";
    Policy = "policy", "Which of several sources of answers answers what";
}

impl SavedKind {
    /// The version that this code writes; it reads this one and all before it.
    pub const fn version(self) -> u32 {
        match self {
            Self::Model | Self::Combination | Self::Ranking => 4,
            Self::Calibrator => 4,
            Self::Index | Self::Policy => 1,
        }
    }

    /// Whether a file of this kind can be opened as `wanted`: a combination predicts as any model does.
    pub fn serves_as(self, wanted: Self) -> bool {
        self == wanted || (self, wanted) == (Self::Combination, Self::Model)
    }

    /// What it is, in a sentence that tells it from the others.
    pub(super) fn described(self) -> &'static str {
        match self {
            Self::Model => "a model of texts",
            Self::Combination => "a combination of models of texts",
            Self::Ranking => "a ranking model",
            Self::Calibrator => "a calibrator of scores",
            Self::Index => "an index",
            Self::Policy => "a policy of several sources",
        }
    }

    /// What it is called where it is looked for, or damaged.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::Model => "model file",
            Self::Combination => "combination",
            Self::Ranking => "ranking model",
            Self::Calibrator => "calibrator file",
            Self::Index => "index",
            Self::Policy => "policy file",
        }
    }

    /// What something else is not.
    pub(super) fn claimed(self) -> &'static str {
        match self {
            Self::Model => "a calibrant model",
            Self::Combination => "a combination of models",
            Self::Ranking => "a ranking model",
            Self::Calibrator => "a calibrator",
            Self::Index => "an index",
            Self::Policy => "a policy",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in SavedKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert!(kind.serves_as(kind));
        }
        assert!("forest".parse::<SavedKind>().is_err());
        assert!(SavedKind::Combination.serves_as(SavedKind::Model));
        assert!(!SavedKind::Model.serves_as(SavedKind::Combination));
    }
}
