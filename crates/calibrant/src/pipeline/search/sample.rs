//! A part of the documents that looks like all of them.

use std::sync::Arc;

use super::views::PreparedView;
use crate::features::{ArrangedCounts, DocumentFrequencyLimits};
use crate::pipeline::FitSettings;
use crate::pipeline::training_corpus::PreparedCorpus;
use crate::problem::ClassLabels;

/// Keeps the sample's draw apart from that of the folds.
const OTHER_DRAW: u64 = 0x5A3D_1E0F;

/// Some of the documents, in every view.
pub(super) struct Part {
    pub(super) rows: Vec<u32>,
    pub(super) corpora: Vec<PreparedCorpus>,
}

impl Part {
    fn of(views: &[PreparedView], settings: &FitSettings, rows: Vec<u32>) -> Self {
        // All views have the same rows.
        let corpora = views.iter();
        let corpora = corpora.map(|view| part(&view.corpus, settings, &rows));
        Self {
            corpora: corpora.collect(),
            rows,
        }
    }

    /// As [`sample`] in every view, whole groups alone: what is chosen on them is judged by the others.
    pub(super) fn sample(
        views: &[PreparedView],
        settings: &FitSettings,
        wanted: usize,
    ) -> Option<Self> {
        let corpus = &views[0].corpus;
        let parts = part_count(corpus, wanted)?.min(255);
        Some(Self::of(views, settings, rows(corpus, settings, parts, 0)?))
    }

    /// Two halves, every class in proportion; both have a document of every class, be it the same. Nothing where there
    /// are too few documents.
    pub(super) fn halves(views: &[PreparedView], settings: &FitSettings) -> Option<[Self; 2]> {
        let corpus = &views[0].corpus;
        let half = |number| {
            Some(Self::of(
                views,
                settings,
                rows(corpus, settings, 2, number)?,
            ))
        };
        Some([half(0)?, half(1)?])
    }
}

/// About `wanted` documents, every class in proportion and with one document at least, drawn by what
/// the documents say. Nothing where there are fewer than twice as many. Whole groups where there are enough of them, else some
/// documents of each.
pub(in crate::pipeline) fn sample(
    corpus: &PreparedCorpus,
    settings: &FitSettings,
    wanted: usize,
) -> Option<PreparedCorpus> {
    let parts = part_count(corpus, wanted)?;
    let whole_groups = u8::try_from(parts).ok();
    let whole_groups = whole_groups.and_then(|_| rows(corpus, settings, parts, 0));
    // Documents are numbered in the order of their hashes: every so many is a fair part.
    let is_nth = |row: u32| (corpus.documents.of_row(row as usize) as usize).is_multiple_of(parts);
    let rows = whole_groups.unwrap_or_else(|| with_every_class(corpus, is_nth));
    Some(part(corpus, settings, &rows))
}

/// How many parts of about so many documents there are, if there are several.
fn part_count(corpus: &PreparedCorpus, wanted: usize) -> Option<usize> {
    let parts = corpus.labels.of_row.len() / wanted.max(1);
    (parts >= 2).then_some(parts)
}

/// One of several parts of equal size, with a document at least of every class; rows rise.
fn rows(
    corpus: &PreparedCorpus,
    settings: &FitSettings,
    parts: usize,
    number: usize,
) -> Option<Vec<u32>> {
    let seed = settings.seed ^ OTHER_DRAW;
    let drawn = corpus.documents.folds(&corpus.labels, parts, seed).ok()?;
    let takes_part = |row: u32| drawn.of(row as usize) == number;
    Some(with_every_class(corpus, takes_part))
}

/// The rows that take part, and a document of every class that would be missing.
fn with_every_class(corpus: &PreparedCorpus, takes_part: impl Fn(u32) -> bool) -> Vec<u32> {
    let labels = &corpus.labels;
    let rows = 0..labels.of_row.len() as u32;
    let mut rows: Vec<u32> = rows.filter(|&row| takes_part(row)).collect();
    let mut is_there = vec![false; labels.class_count];
    for &row in &rows {
        for &class in &labels.of_row[row as usize] {
            is_there[class as usize] = true;
        }
    }
    let members = labels.members();
    let missing = members.iter().zip(&is_there).filter(|class| !class.1);
    rows.extend(missing.filter_map(|(members, _)| members.first()));
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// Some of the rows, which rise.
fn part(corpus: &PreparedCorpus, settings: &FitSettings, rows: &[u32]) -> PreparedCorpus {
    let labels = &corpus.labels;
    let documents = corpus.documents.part(rows);
    let least = settings.limits.least(documents.count);
    let counts = &corpus.arranged.counts;
    let same: Vec<u32> = (0..counts.column_count() as u32).collect();
    let mut counts = counts.rearranged(rows, &same, counts.column_count());
    if settings.hash_bits.is_none() {
        let is_first = documents.is_first();
        let (frequencies, _) = counts.document_frequencies(|row| is_first[row]);
        let least = least.max(1);
        let kept: Vec<u32> = same
            .into_iter()
            .filter(|&column| frequencies[column as usize] >= least)
            .collect();
        counts = counts.with_columns(&kept);
    }
    let of = |row: &u32| *row as usize;
    PreparedCorpus {
        arranged: ArrangedCounts {
            // No model of the sample is kept, so its columns need no names.
            vocabulary: None,
            counts,
        },
        side: corpus.side.rearranged(rows),
        rows: rows.iter().map(|row| corpus.rows[of(row)]).collect(),
        documents,
        // Nor does anybody ask what it learned from.
        learned: Arc::default(),
        labels: ClassLabels {
            of_row: labels.of_row.of_rows(rows.iter().map(of)),
            ..*labels
        },
        class_names: corpus.class_names.clone(),
        left_out: corpus.left_out,
        numbered_features: corpus.numbered_features,
        limits: DocumentFrequencyLimits {
            min_documents: Some(least),
            ..corpus.limits
        },
    }
}
