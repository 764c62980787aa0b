//! Labelled documents with what models say of them: the one loop that reads, predicts and keeps.

use std::collections::HashMap;

use super::evaluate::surest_mistake;
use crate::corpus::{Document, ReadError, ReadOptions, ReadSummary, Source, read_batches};
use crate::evaluation::TestSetHash;
use crate::features::{UnknownCells, term_hash};
use crate::parallel;
use crate::pipeline::{
    Acquaintance, LabelMatcher, Model, PredictBuffers, TestDocuments, leading_words,
};
use crate::{Probability, Progress, RowLabels, Task};

/// A model, and what to keep of what it says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask<'a> {
    pub(super) model: &'a Model,
    /// Outputs whose scores are kept.
    pub(super) outputs: &'a [usize],
    /// Where documents of no class are looked for: the thresholds of the classes.
    pub(super) thresholds: Option<&'a [f64]>,
    /// How many of the surest mistakes are kept with their documents.
    pub(super) worst: usize,
    /// Labels that differ in case or space alone are one.
    pub(super) fold: bool,
}

impl<'a> Ask<'a> {
    /// Probabilities alone.
    pub(super) fn plain(model: &'a Model) -> Self {
        Self {
            model,
            outputs: &[],
            thresholds: None,
            worst: 0,
            fold: model.folds_labels(),
        }
    }
}

/// What a model says of documents, in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    /// Document by document, class by class.
    pub(super) probabilities: Vec<Probability>,
    /// Document by document, the scores of the outputs that were asked for.
    pub(super) scores: Vec<f64>,
    /// How far the best class of each document is above its threshold; empty where that was not asked.
    pub(super) above: Vec<f64>,
    /// How many of the documents the model learned from.
    pub(super) known: Acquaintance,
    /// Document by document, whether it is taken for one of these.
    pub(super) learned: Vec<bool>,
    /// Cells that mean nothing to it.
    pub(super) unknown_cells: UnknownCells,
    /// The surest mistakes: log-odds of what was said, the document's place, and the document.
    pub(super) worst: Vec<(f64, usize, Document)>,
    /// How many documents there are.
    count: usize,
    /// How many mistakes are kept.
    most_worst: usize,
}

/// Labelled documents without their texts.
#[derive(Debug, Clone, Default)]
pub(super) struct TestSet {
    /// Labels in the order in which they come up.
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    pub(super) labels: RowLabels,
    pub(super) weights: Vec<f64>,
    /// What decisions about documents cost, as many numbers for each as there are fields for it.
    pub(super) amounts: Vec<f64>,
    /// The identifier of each document that has one.
    pub(super) ids: Vec<Option<String>>,
    /// The number of each document's row in its file.
    pub(super) rows: Vec<u64>,
    /// Which documents belong together.
    pub(super) documents: TestDocuments,
    /// Whether labels came as lists.
    pub(super) any_list: bool,
    /// Whether labels that differ in case or space alone are one.
    fold_labels: bool,
    pub(super) hash: TestSetHash,
}

/// The documents that can be measured, with labels as numbers of classes.
#[derive(Debug, Clone)]
pub(super) struct Matched {
    /// Positions in the test set.
    pub(super) measured: Vec<usize>,
    /// The classes of every document, measured or not.
    pub(super) classes: RowLabels,
    pub(super) matcher: LabelMatcher,
}

/// What is kept of one document beside what models say.
struct Truth {
    labels: Vec<String>,
    is_list: bool,
    weight: f64,
    amounts: Vec<f64>,
    id: Option<String>,
    row: u64,
    group: Option<u64>,
    words: u8,
}

/// Some documents, asked.
struct Batch {
    hash: TestSetHash,
    truths: Vec<Truth>,
    /// For each model what it says, and what it sees of each document.
    said: Vec<(Said, Vec<u128>)>,
}

impl TestSet {
    /// All labels that occur, in order.
    pub(super) fn label_names(&self) -> Vec<String> {
        let mut names = self.names.clone();
        names.sort_unstable();
        names
    }

    /// Reads all documents of a source and asks the models about them, whose answers are added to `said`. Where the
    /// documents are known from an earlier pass over the same source, only the answers are new.
    pub(super) fn read(
        &mut self,
        source: &Source,
        options: &ReadOptions,
        asks: &[Ask<'_>],
        said: &mut [&mut Said],
        progress: &dyn Progress,
    ) -> Result<ReadSummary, ReadError> {
        self.fold_labels = options.fold_labels;
        let first_pass = self.labels.is_empty();
        let grouped = options.fields.group.is_some();
        let mut before = 0;
        read_batches(
            source,
            options,
            progress,
            |documents| Batch::of(&documents, asks),
            |batch| before = self.add(batch, said, (first_pass, grouped, before)),
        )
    }

    /// The same for documents in memory.
    pub(super) fn ask(&mut self, documents: &[Document], asks: &[Ask<'_>], said: &mut [&mut Said]) {
        /// Documents per piece of work; results do not depend on it.
        const PIECE: usize = 256;
        let batches = parallel::map_chunks(documents, PIECE, |piece| Batch::of(piece, asks));
        let grouped = documents.iter().any(|document| document.group.is_some());
        let mut before = 0;
        for batch in batches {
            before = self.add(batch, said, (true, grouped, before));
        }
    }

    /// Adds a batch behind `before` documents; gives how many there are then.
    fn add(
        &mut self,
        batch: Batch,
        said: &mut [&mut Said],
        (first_pass, grouped, before): (bool, bool, usize),
    ) -> usize {
        for ((part, keys), all) in batch.said.into_iter().zip(said) {
            all.append(part);
            let seen = keys.into_iter().zip(&batch.truths);
            for (document, (key, truth)) in (before..).zip(seen) {
                self.documents.see(document, key, truth.words);
            }
        }
        let after = before + batch.truths.len();
        if first_pass {
            self.hash.merge(batch.hash);
            for truth in batch.truths {
                self.push(truth, grouped);
            }
        }
        after
    }

    fn push(&mut self, truth: Truth, grouped: bool) {
        if grouped {
            self.documents.groups.push(truth.group);
        }
        self.any_list |= truth.is_list;
        self.documents.push_labels(&truth.labels);
        let (names, numbers) = (&mut self.names, &mut self.numbers);
        self.labels.push(truth.labels.into_iter().map(|label| {
            *numbers.entry(label).or_insert_with_key(|label| {
                names.push(label.clone());
                names.len() as u32 - 1
            })
        }));
        self.weights.push(truth.weight);
        self.amounts.extend(truth.amounts);
        self.ids.push(truth.id.filter(|id| !id.is_empty()));
        let in_order = self.ids.len() as u64;
        self.rows
            .push(if truth.row == 0 { in_order } else { truth.row });
    }

    /// The amounts of the measured documents.
    pub(super) fn amounts_of(&self, matched: &Matched) -> Vec<f64> {
        let width = self.amounts.len() / self.labels.len().max(1);
        matched.rows(self.amounts.clone(), width)
    }

    /// Labels as numbers of these classes; where models `fold` labels that differ in case or space alone, or that was asked for, such
    /// are one.
    pub(super) fn matched(
        &self,
        task: Task,
        classes: impl IntoIterator<Item = impl Into<String>>,
        fold: bool,
    ) -> Matched {
        let mut matched = Matched {
            measured: Vec::new(),
            classes: RowLabels::new(),
            matcher: LabelMatcher::new(task, classes).folding(fold || self.fold_labels),
        };
        for (document, labels) in self.labels.iter().enumerate() {
            let names = labels
                .iter()
                .map(|&label| self.names[label as usize].as_str());
            let (known, measured) = matched.matcher.classes(names);
            matched.classes.push(known);
            if measured {
                matched.measured.push(document);
            }
        }
        matched
    }
}

impl Matched {
    /// The rows of the measured documents, `width` values each; nothing is copied where all are measured.
    pub(super) fn rows<T: Copy>(&self, all: Vec<T>, width: usize) -> Vec<T> {
        if self.measured.len() == self.classes.len() {
            return all;
        }
        let row = |&document: &usize| &all[document * width..(document + 1) * width];
        self.measured.iter().flat_map(row).copied().collect()
    }

    /// The classes of the measured documents.
    pub(super) fn labels(&self) -> RowLabels {
        self.classes.of_rows(self.measured.iter().copied())
    }
}

impl Said {
    pub(super) fn append(&mut self, later: Self) {
        let moved = later.worst.into_iter();
        let count = self.count;
        self.worst
            .extend(moved.map(|(log_odds, place, document)| (log_odds, place + count, document)));
        self.count += later.count;
        self.most_worst = later.most_worst;
        self.keep_the_surest();
        self.probabilities.extend(later.probabilities);
        self.scores.extend(later.scores);
        self.above.extend(later.above);
        self.known.merge(&later.known);
        self.learned.extend(later.learned);
        self.unknown_cells.merge(later.unknown_cells);
    }

    fn keep_the_surest(&mut self) {
        let sure = |a: &(f64, usize, Document), b: &(f64, usize, Document)| {
            b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
        };
        if self.worst.len() > self.most_worst {
            self.worst.sort_by(sure);
            self.worst.truncate(self.most_worst);
        }
    }

    /// What a model says of some documents, and what it sees of each.
    pub(super) fn of(ask: &Ask<'_>, documents: &[Document]) -> (Self, Vec<u128>) {
        let model = ask.model;
        let width = model.class_count();
        let even = Probability::from_log_odds(0.0);
        let mut said = Self {
            probabilities: vec![even; documents.len() * width],
            count: documents.len(),
            most_worst: ask.worst,
            ..Self::default()
        };
        let mut matcher = LabelMatcher::new(model.task(), model.class_names()).folding(ask.fold);
        let mut buffers = PredictBuffers::default();
        let mut keys = Vec::with_capacity(documents.len());
        let rows = said.probabilities.chunks_exact_mut(width.max(1));
        for (place, (document, classes)) in documents.iter().zip(rows).enumerate() {
            model.count_unknown_cells(document, &mut said.unknown_cells);
            let scores = model.predict_into(document, &mut buffers, classes);
            if let Some(thresholds) = ask.thresholds {
                said.above.push(scores.above_thresholds(thresholds).1);
            }
            let kept = ask.outputs.iter();
            said.scores
                .extend(kept.map(|&output| scores.outputs()[output]));
            let hits = said.known.hits;
            keys.push(model.count_known(document, &mut buffers, &mut said.known));
            said.learned.push(said.known.hits > hits);
            if ask.worst > 0 {
                let labels = document.labels.iter().map(String::as_str);
                let (labels, measured) = matcher.classes(labels);
                let mistake = surest_mistake(model.task(), classes, &labels);
                if let Some((_, log_odds)) = mistake.filter(|_| measured) {
                    said.worst.push((log_odds, place, document.clone()));
                }
            }
        }
        said.keep_the_surest();
        (said, keys)
    }
}

impl Batch {
    fn of(documents: &[Document], asks: &[Ask<'_>]) -> Self {
        let truth = |document: &Document| Truth {
            labels: document.labels.clone(),
            is_list: document.labels_were_list,
            weight: document.weight,
            amounts: document.amounts.clone(),
            id: document.id.clone(),
            row: document.row,
            group: document
                .group
                .as_ref()
                .map(|group| term_hash(group.as_bytes())),
            words: leading_words(document),
        };
        Self {
            said: asks.iter().map(|ask| Said::of(ask, documents)).collect(),
            hash: TestSetHash::of(documents),
            truths: documents.iter().map(truth).collect(),
        }
    }
}
