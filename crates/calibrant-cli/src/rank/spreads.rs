//! How far stated probabilities may be off in one query: by the model that stated them, or as is usual.

use std::collections::HashMap;
use std::path::Path;

use calibrant::calibration::LogOddsSpread;
use calibrant::jobs::{Saved, open_any};

use super::outlook::Forecast;
use crate::error::CliError;
use crate::output::{note, warn};

/// Where a spread comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Ranker,
    Classifier,
    Usual,
}

impl Origin {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ranker => "ranker",
            Self::Classifier => "classifier",
            Self::Usual => "default",
        }
    }
}

/// The spreads of queries.
pub(super) enum Spreads {
    /// No model was given.
    Usual,
    /// One for all queries; none where the model says nothing.
    Ranker(Option<LogOddsSpread>),
    /// One for each class.
    Classifier(HashMap<String, Option<LogOddsSpread>>),
}

impl Spreads {
    pub(super) fn new(model: Option<&Path>) -> Result<Self, CliError> {
        let Some(path) = model else {
            return Ok(Self::Usual);
        };
        match open_any(path)? {
            Saved::Ranking(model) => {
                let relevance = model.relevance();
                Ok(Self::Ranker(relevance.and_then(|r| r.spread()).copied()))
            }
            Saved::Model(model) => {
                let classes = model.summary().classes.iter();
                let named = classes.map(|class| (class.label.clone(), class.spread));
                Ok(Self::Classifier(named.collect()))
            }
            other => Err(CliError::new(format!(
                "`{}` is a {}, which does not rank documents",
                path.display(),
                other.kind()
            ))
            .hint("give the ranking or the classifier that stated these probabilities")),
        }
    }

    pub(super) fn of(&self, query: &str) -> (LogOddsSpread, Origin) {
        let found = match self {
            Self::Usual => None,
            Self::Ranker(spread) => spread.map(|spread| (spread, Origin::Ranker)),
            Self::Classifier(classes) => classes
                .get(query)
                .copied()
                .flatten()
                .map(|spread| (spread, Origin::Classifier)),
        };
        found.unwrap_or((LogOddsSpread::usual(), Origin::Usual))
    }

    /// Says what certainties rest on.
    pub(super) fn tell(&self, forecasts: &[Forecast<'_>]) {
        let usual = |one: &&Forecast<'_>| one.origin == Origin::Usual;
        let count = forecasts.iter().filter(usual).count();
        let default = "a default learned on the queries of other collections (Cranfield, MED, OHSUMED, MQ2007-agg)";
        match self {
            Self::Usual => note(&format!(
                "how sure a stop is rests on {default}; --model takes it from the model that stated these probabilities"
            )),
            Self::Ranker(Some(_)) => {
                note("how sure a stop is rests on the ranker's held-out queries")
            }
            Self::Ranker(None) => warn(&format!(
                "the ranker does not say how far its probabilities may be off (too few queries, or an older version); how sure a stop is rests on {default}"
            )),
            Self::Classifier(_) if count == 0 => {
                note("how sure a stop is rests on the classifier's held-out documents");
            }
            Self::Classifier(_) => warn(&format!(
                "of {count} queries the classifier has no class of that name that says how far its probabilities may be off; how sure their stop is rests on {default}"
            )),
        }
    }
}
