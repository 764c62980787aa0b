//! What models see of the documents that were learned from.

use std::collections::HashSet;

use super::TrainingKeys;
use crate::features::Weighting;

/// All documents that were learned from, for models to remember them by.
///
/// A model that sees which terms a document has, and not how often, has another key for it than one that counts them:
/// several models may be fitted to the same documents, and each looks them up by its own.
#[derive(Debug, Default)]
pub(super) struct LearnedKeys {
    by_counts: Option<TrainingKeys>,
    by_presence: Option<TrainingKeys>,
}

impl LearnedKeys {
    /// Of documents that go by how often their terms come.
    pub(super) fn by_counts(keys: TrainingKeys) -> Self {
        Self {
            by_counts: Some(keys),
            by_presence: None,
        }
    }

    /// As a model with this weighting knows them; nothing where the documents were not counted for it.
    pub(super) fn of(&self, weighting: Weighting) -> Option<&TrainingKeys> {
        match weighting {
            Weighting::Binary => self.by_presence.as_ref(),
            _ => self.by_counts.as_ref(),
        }
    }
}

/// Keys of rows of the file, one per row in every list.
pub(super) struct RowKeys<'a> {
    /// Rows with equal ones are one document.
    pub(super) documents: &'a [u128],
    /// What models see, where that is something else.
    pub(super) seen: Option<&'a [u128]>,
    /// What models see that go by the presence of terms where these go by their counts, or the other way round; empty
    /// where nobody asked for it.
    pub(super) seen_otherwise: &'a [u128],
    /// Whether `seen`, or `documents`, go by the presence of terms.
    pub(super) presence_only: bool,
}

impl RowKeys<'_> {
    /// Those of the rows that became documents, whose keys are given; observations of a pattern that comes by chance have none.
    pub(super) fn learned(&self, known: &[u128]) -> LearnedKeys {
        let own = match self.seen {
            None => TrainingKeys::of(known),
            Some(seen) => self.of_documents(known, seen),
        };
        let otherwise = (self.seen_otherwise.len() == self.documents.len())
            .then(|| self.of_documents(known, self.seen_otherwise));
        let (by_counts, by_presence) = match self.presence_only {
            false => (Some(own), otherwise),
            true => (otherwise, Some(own)),
        };
        LearnedKeys {
            by_counts,
            by_presence,
        }
    }

    /// Rows of one document may differ in what other models see: all of them were learned from.
    fn of_documents(&self, known: &[u128], seen: &[u128]) -> TrainingKeys {
        let known: HashSet<u128> = known.iter().copied().collect();
        let rows = self.documents.iter().zip(seen);
        let learned = rows.filter(|(document, _)| known.contains(document));
        let mut keys: Vec<u128> = learned.map(|(_, &seen)| seen).collect();
        keys.sort_unstable();
        keys.dedup();
        TrainingKeys::of(&keys)
    }
}
