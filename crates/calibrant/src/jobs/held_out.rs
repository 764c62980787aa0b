//! Labelled documents that fitted models have not learned from, with what the models say of them: where a combination and a
//! recalibration begin.

use std::collections::BTreeMap;

use crate::Progress;
use crate::corpus::{Document, ReadError, ReadOptions, ReadSummary, Source, read_batches};
use crate::pipeline::{ForecastBatch, HeldOutDocuments};

/// Documents with forecasts, and what was read for them.
pub(super) struct HeldOut {
    pub(super) documents: HeldOutDocuments,
    pub(super) read: ReadSummary,
    /// Labels that no model knows, with how many documents have them.
    pub(super) unknown_labels: BTreeMap<String, usize>,
    /// Documents that took no part because their only label is unknown.
    pub(super) left_out: usize,
}

/// Why there is nothing to go by.
pub(super) enum NotHeldOut {
    Read(ReadError),
    Cancelled,
    /// A model has learned from most of the documents.
    LearnedFrom {
        /// Which of the models.
        member: usize,
        /// How many documents it knows.
        count: usize,
        /// How many there are.
        documents: usize,
    },
}

/// Reads documents, asks the models by `forecast` on several threads, and adds what they say by `add`, in the order of the file. A model that
/// has learned from most of the documents is refused unless `even_if_learned_from`.
pub(super) fn read_held_out(
    source: &Source,
    options: &ReadOptions,
    even_if_learned_from: bool,
    progress: &dyn Progress,
    forecast: impl Fn(Vec<Document>) -> ForecastBatch + Sync,
    add: impl Fn(ForecastBatch, &mut HeldOutDocuments),
) -> Result<HeldOut, NotHeldOut> {
    let mut documents = HeldOutDocuments::default();
    let sink = |batch| add(batch, &mut documents);
    let read = read_batches(source, options, progress, forecast, sink);
    let read = read.map_err(NotHeldOut::Read)?;
    for (member, known) in documents.known.iter().enumerate() {
        match known.learned_from() {
            Some(count) if 2 * count > known.documents && !even_if_learned_from => {
                return Err(NotHeldOut::LearnedFrom {
                    member,
                    count,
                    documents: known.documents,
                });
            }
            _ => {}
        }
    }
    crate::progress::check(progress).map_err(|_| NotHeldOut::Cancelled)?;
    Ok(HeldOut {
        unknown_labels: documents.unknown_labels.clone(),
        left_out: documents.left_out,
        documents,
        read,
    })
}
